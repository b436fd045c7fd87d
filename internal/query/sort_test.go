package query_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

func requireInOrder(t *testing.T, by, first, second document.Object) {
	t.Helper()
	sort := query.Must(query.CompileSort(by))
	require.NoError(t, newCall(t).CheckSort(sort, first))
	require.NoError(t, newCall(t).CheckSort(sort, second))
	require.Negative(t, newCall(t).Compare(sort, first, second), "%s: %s before %s", by, first, second)
	require.Positive(t, newCall(t).Compare(sort, second, first))
}

func TestSort_ArraysByExtremeElement(t *testing.T) {
	t.Parallel()
	docs := []document.Object{
		document.O("_id", "two", "v", 2),
		document.O("_id", "list", "v", document.A(3, 1)),
		document.O("_id", "missing"),
		document.O("_id", "empty", "v", document.A()),
		document.O("_id", "null", "v", nil),
		document.O("_id", "text", "v", "x"),
	}
	require.Equal(t, []string{"empty", "missing", "null", "list", "two", "text"}, sorted(t, docs, document.O("v", 1)))
	require.Equal(t, []string{"text", "list", "two", "missing", "null", "empty"}, sorted(t, docs, document.O("v", -1)))
}

func sorted(t *testing.T, docs []document.Object, source document.Object) []string {
	t.Helper()
	order := query.Must(query.CompileSort(source))
	docs = slices.Clone(docs)
	newCall(t).Sort(order, docs)
	var ids []string
	for _, doc := range docs {
		ids = append(ids, document.Get(doc, "_id", ""))
	}
	return ids
}

func TestSort_RefusesDirection(t *testing.T) {
	t.Parallel()
	for field, source := range map[string]document.Object{
		"a":   document.O("b", 1, "a", 2),
		"b":   document.O("b", "asc"),
		"c":   document.O("c", nil),
		"d":   document.O("d", 1.5),
		"e":   document.O("e", true),
		"f":   document.O("f", document.O("$meta", "textScore")),
		"$g":  document.O("$g", 1),
		"h..": document.O("h..", 1),
	} {
		requireInvalid(t, failure(query.CompileSort(source)), field)
	}
}

func TestSort_TwoPathsThroughOneArray(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		sort          document.Object
		first, second string
	}{
		{document.O("a.x", 1, "a.y", 1), `{"a":[{"x":1,"y":3}]}`, `{"a":[{"x":1,"y":5},{"x":2,"y":0}]}`},
		{document.O("a.x", 1, "a.y", -1), `{"a":[{"x":1,"y":5},{"x":1,"y":9}]}`, `{"a":[{"x":1,"y":6},{"x":2,"y":99}]}`},
		{document.O("a.x", -1, "a.y", 1), `{"a":[{"x":2,"y":5},{"x":1,"y":0}]}`, `{"a":{"x":2,"y":6}}`},
		{document.O("a.x", 1, "a.y", 1), `{"a":[{"x":1,"y":[7,2]}]}`, `{"a":[{"x":1,"y":3}]}`},
		{document.O("a.b.x", 1, "a.b.y", 1), `{"a":[{"b":[{"x":1,"y":1}]},{"b":[{"x":0,"y":9}]}]}`, `{"a":{"b":{"x":1,"y":0}}}`},
		{document.O("a.x", 1, "a.y", 1), `{"a":[]}`, `{"a":[{"x":1,"y":1}]}`},
		{document.O("a.x", 1, "b", 1), `{"a":[{"x":1},3],"b":9}`, `{"a":[{"x":1},{"x":2}],"b":0}`},
		{document.O("a.x", 1), `{"a":[5,{"x":7}]}`, `{"a":{"x":1}}`},
		{document.O("a.x", -1), `{"a":[5,{"x":7}]}`, `{"a":{"x":1}}`},
		{document.O("a", 1, "a.x", 1), `{"a":[{"x":1}]}`, `{"a":[{"x":2}]}`},
	} {
		requireInOrder(t, test.sort, parse(t, test.first), parse(t, test.second))
	}
}

func TestSort_NumberNamesAnElement(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		sort          document.Object
		first, second string
	}{
		{document.O("b.0.x", 1), `{"b":[{"x":1},{"x":9}]}`, `{"b":[{"x":5},{"x":0}]}`},
		{document.O("b.0.x", 1), `{"b":[{"y":1},{"x":9}]}`, `{"b":[{"x":5}]}`},
		{document.O("b.0.x", -1), `{"b":[{"x":5},{"x":1}]}`, `{"b":[{"x":2},{"x":9}]}`},
		{document.O("b.1", 1), `{"b":[9,1]}`, `{"b":[0,2]}`},
		{document.O("b.1", 1), `{"b":[9]}`, `{"b":[0,2]}`},
		{document.O("b.1", 1), `{"b":[0,9]}`, `{"b":[0,[1]]}`},
		{document.O("b.1", 1), `{"b":[0,[1,9]]}`, `{"b":[0,[2,0]]}`},
		{document.O("b.0.x", 1), `{"b":[{"x":[7,1]}]}`, `{"b":[{"x":2}]}`},
		{document.O("b.0.x", 1), `{"b":[{"x":[]}]}`, `{"b":[{"x":null}]}`},
		{document.O("b.0.x", 1), `{"b":[[{"x":3},{"x":1}]]}`, `{"b":[{"x":2}]}`},
		{document.O("b.0.0", 1), `{"b":[[1,0],[0]]}`, `{"b":[[2]]}`},
		{document.O("b.1.x", 1), `{"b":[{"1":{"x":1}}]}`, `{"b":{"1":{"x":2}}}`},
		{document.O("b.0.x", 1, "b.y", 1), `{"b":[{"x":1,"y":5},{"x":0,"y":3}]}`, `{"b":[{"x":1,"y":4}]}`},
		{document.O("b.y", 1, "b.0.x", -1), `{"b":[{"x":3,"y":5},{"x":9,"y":4}]}`, `{"b":[{"x":2,"y":4}]}`},
		{document.O("b.0.x.p", 1, "b.0.x.q", 1), `{"b":[{"x":[{"p":1,"q":5}]}]}`, `{"b":[{"x":[{"p":1,"q":6},{"p":2,"q":0}]}]}`},
		{document.O("b.0", 1, "b.0.x", 1), `{"b":[[{"x":1}]]}`, `{"b":[[{"x":2}]]}`},
	} {
		requireInOrder(t, test.sort, parse(t, test.first), parse(t, test.second))
	}
}

func TestSort_IndexIsAFieldToo(t *testing.T) {
	t.Parallel()
	sort := query.Must(query.CompileSort(document.O("b.0", 1)))
	requireInvalid(t, newCall(t).CheckSort(sort, parse(t, `{"b":[3,{"0":1}]}`)), "b.0")
	require.NoError(t, newCall(t).CheckSort(sort, parse(t, `{"b":[3,{"1":1}]}`)))
}

func TestSort_ArraysSideBySide(t *testing.T) {
	t.Parallel()
	for doc, sort := range map[string]document.Object{
		`{"a":[1],"b":[2]}`:                  document.O("a", 1, "b", 1),
		`{"a":[],"b":[]}`:                    document.O("b", 1, "a", 1),
		`{"a":{"x":[1],"y":[2]}}`:            document.O("a.x", 1, "a.y", 1),
		`{"a":[{"x":[1],"y":[2]}]}`:          document.O("a.x", 1, "a.y", 1),
		`{"a":[{"x":1}],"c":1,"b":{"y":[]}}`: document.O("a.x", 1, "c", 1, "b.y", 1),
		`{"a":[{"x":1}],"b":[1]}`:            document.O("a.0.x", 1, "b", 1),
		`{"a":[{"x":[1]},{"x":[2]}]}`:        document.O("a.0.x", 1, "a.1.x", 1),
		`{"a":[{"x":[1]},{"y":[2]}]}`:        document.O("a.0.x", 1, "a.y", 1),
	} {
		compiled := query.Must(query.CompileSort(sort))
		keys := compiled.Keys()
		requireInvalid(t, newCall(t).CheckSort(compiled, parse(t, doc)), keys[len(keys)-1].Path)
		require.Zero(t, newCall(t).Compare(compiled, parse(t, doc), parse(t, doc)))
	}
	compiled := query.Must(query.CompileSort(document.O("a", 1, "b", 1)))
	for _, doc := range []string{`{"a":[1],"b":2}`, `{"a":1,"b":[2]}`, `{"c":[1],"d":[2]}`, `{}`} {
		require.NoError(t, newCall(t).CheckSort(compiled, parse(t, doc)))
	}
}

func TestSort_TooManyPaths(t *testing.T) {
	t.Parallel()
	source := document.O()
	for i := range 33 {
		source = source.With(string(rune('A'+i)), 1)
	}
	requireInvalid(t, failure(query.CompileSort(source)), "")
	require.NoError(t, failure(query.CompileSort(source.Without("A"))))
}
