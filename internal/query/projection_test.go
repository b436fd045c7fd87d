package query_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

// project applies a projection to a document that a filter matches, all in JSON.
func project(t *testing.T, projection, filter, doc string) (string, error) {
	t.Helper()
	compiled, err := query.CompileProjection(parse(t, projection))
	if err != nil {
		return "", err
	}
	matching := query.Must(query.CompileFilter(parse(t, filter)))
	require.True(t, matching.Match(parse(t, doc)))
	o, err := newCall(t).Project(compiled, matching, parse(t, doc))
	return o.String(), err
}

func TestProjection_ChoosesFields(t *testing.T) {
	t.Parallel()
	const doc = `{"_id":1,"z":1,"a":{"x":1,"y":{"k":2,"l":3}},"list":[{"x":1,"y":2},3,[{"x":4},5],[6]],"n":null}`
	for _, test := range []struct{ name, projection, want string }{
		{"nothing named", `{}`, doc},
		{"inclusion keeps the document's order", `{"n":1,"z":true}`, `{"_id":1,"z":1,"n":null}`},
		{"any number but 0 includes", `{"n":-2.5}`, `{"_id":1,"n":null}`},
		{"a field that is missing is left out", `{"none":1,"a.none":1}`, `{"_id":1,"a":{}}`},
		{"without _id", `{"_id":0,"z":1}`, `{"z":1}`},
		{"the _id alone", `{"_id":1}`, `{"_id":1}`},
		{"all but the _id", `{"_id":false}`, strings.Replace(doc, `"_id":1,`, "", 1)},
		{"exclusion", `{"a":0,"list":false}`, `{"_id":1,"z":1,"n":null}`},
		{"exclusion beside the _id", `{"_id":1,"a":0,"list":0}`, `{"_id":1,"z":1,"n":null}`},
		{"dotted inclusion", `{"a.y.k":1}`, `{"_id":1,"a":{"y":{"k":2}}}`},
		{"nested inclusion", `{"a":{"y":{"k":1},"x":1}}`, `{"_id":1,"a":{"x":1,"y":{"k":2}}}`},
		{"dotted and nested", `{"a.y":{"k":1},"a":{"x":1}}`, `{"_id":1,"a":{"x":1,"y":{"k":2}}}`},
		{"dotted exclusion", `{"a.y.k":0,"list":0,"n":0}`, `{"_id":1,"z":1,"a":{"x":1,"y":{"l":3}}}`},
		{"nested exclusion", `{"a":{"y":0},"list":0,"n":0}`, `{"_id":1,"z":1,"a":{"x":1}}`},
		{"inclusion in arrays", `{"list.x":1}`, `{"_id":1,"list":[{"x":1},[{"x":4}],[]]}`},
		{"exclusion in arrays", `{"list.x":0,"a":0,"n":0}`, `{"_id":1,"z":1,"list":[{"y":2},3,[{},5],[6]]}`},
		{"inclusion in a scalar", `{"z.k":1}`, `{"_id":1}`},
		{"exclusion in a scalar", `{"z.k":0,"a":0,"list":0}`, `{"_id":1,"z":1,"n":null}`},
		{"a number is no index", `{"list.0":1}`, `{"_id":1,"list":[{},[{}],[]]}`},
		{"a part of the _id", `{"_id.k":1,"z":1}`, `{"z":1}`},
		{"literals follow behind", `{"b":"text","z":1,"c":null}`, `{"_id":1,"z":1,"b":"text","c":null}`},
		{"a literal in the place of a field", `{"a":"text","z":1}`, `{"_id":1,"z":1,"a":"text"}`},
		{"a literal in an object", `{"a":{"x":1,"new":"text"}}`, `{"_id":1,"a":{"x":1,"new":"text"}}`},
		{"a literal in an object that is missing", `{"b.c":["text"]}`, `{"_id":1,"b":{"c":["text"]}}`},
		{"a literal in an array", `{"list":{"x":"t"}}`, `{"_id":1,"list":[{"x":"t"},{"x":"t"},[{"x":"t"},{"x":"t"}],[{"x":"t"}]]}`},
		{"a literal in a scalar", `{"z":{"k":"t"},"n":1}`, `{"_id":1,"z":{"k":"t"},"n":null}`},
		{"a field's value", `{"b":"$a.y","c":"$none","z":"$n"}`, `{"_id":1,"b":{"k":2,"l":3},"z":null}`},
		{"an expression", `{"sum":{"$add":["$z","$a.x"]},"a":{"x":{"$multiply":["$z",5]}}}`, `{"_id":1,"a":{"x":5},"sum":2}`},
		{"the whole document", `{"z":"$$ROOT._id"}`, `{"_id":1,"z":1}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := project(t, test.projection, `{}`, doc)
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
}

func TestProjection_CutsArrays(t *testing.T) {
	t.Parallel()
	const doc = `{"_id":1,"n":1,"l":[1,2,3,4],"o":[{"k":1,"l":[1,2]},{"k":2,"l":[3]},7,[{"l":[8,9]}]],"p":{"l":[5,6]}}`
	for _, test := range []struct{ name, projection, filter, want string }{
		{"$slice keeps the other fields", `{"l":{"$slice":1},"o":0,"p":0}`, `{}`, `{"_id":1,"n":1,"l":[1]}`},
		{"$slice alone", `{"_id":0,"l":{"$slice":-1},"o":{"$slice":0},"p.l":{"$slice":1}}`, `{}`, `{"n":1,"l":[4],"o":[],"p":{"l":[5]}}`},
		{"$slice beside an inclusion", `{"l":{"$slice":2},"n":1}`, `{}`, `{"_id":1,"n":1,"l":[1,2]}`},
		{"$slice beside the _id is an inclusion", `{"l":{"$slice":2},"_id":1}`, `{}`, `{"_id":1,"l":[1,2]}`},
		{"$slice skips", `{"l":{"$slice":[1,2]},"n":1}`, `{}`, `{"_id":1,"n":1,"l":[2,3]}`},
		{"$slice skips from the end", `{"l":{"$slice":[-3,2]},"n":1}`, `{}`, `{"_id":1,"n":1,"l":[2,3]}`},
		{"$slice cuts fractions off", `{"l":{"$slice":[1.9,2.9]},"n":1}`, `{}`, `{"_id":1,"n":1,"l":[2,3]}`},
		{"$slice beyond 32 bits", `{"l":{"$slice":[-1e300,1e300]},"n":1}`, `{}`, `{"_id":1,"n":1,"l":[1,2,3,4]}`},
		{"$slice in the objects of an array", `{"o.l":{"$slice":1},"n":1}`, `{}`, `{"_id":1,"n":1,"o":[{"l":[1]},{"l":[3]},[{"l":[8,9]}]]}`},
		{"$elemMatch is behind the other fields", `{"l":{"$elemMatch":{"$gt":2}},"p":1}`, `{}`, `{"_id":1,"p":{"l":[5,6]},"l":[3]}`},
		{"$elemMatch is an inclusion, whatever becomes of the _id", `{"o":{"$elemMatch":{"k":2}},"_id":0}`, `{}`, `{"o":[{"k":2,"l":[3]}]}`},
		{"$elemMatch stays in its place in an exclusion", `{"l":{"$elemMatch":{"$gt":2}},"o":0}`, `{}`, `{"_id":1,"n":1,"l":[3],"p":{"l":[5,6]}}`},
		{"$elemMatch of nothing", `{"l":{"$elemMatch":{"$gt":9}},"n":1}`, `{}`, `{"_id":1,"n":1}`},
		{"$elemMatch of what is no array", `{"n":{"$elemMatch":{"$gt":0}},"p":0,"o":0}`, `{}`, `{"_id":1,"l":[1,2,3,4]}`},
		{"$elemMatch beside $slice", `{"l":{"$slice":1},"o":{"$elemMatch":{"k":2}}}`, `{}`, `{"_id":1,"n":1,"l":[1],"o":[{"k":2,"l":[3]}],"p":{"l":[5,6]}}`},
		{"positional", `{"l.$":1}`, `{"l":{"$gt":2}}`, `{"_id":1,"l":[3]}`},
		{"positional of the condition that is asked last", `{"l.$":1}`, `{"$and":[{"l":{"$gt":1}},{"l":{"$lt":5}}]}`, `{"_id":1,"l":[2]}`},
		{"positional beside fields and $slice", `{"o.$":true,"n":1,"l":{"$slice":1}}`, `{"o.k":2}`, `{"_id":1,"n":1,"l":[1],"o":[{"k":2,"l":[3]}]}`},
		{"positional of an element, not of an array in it", `{"o.$":1}`, `{"o":{"$elemMatch":{"l":3}}}`, `{"_id":1,"o":[{"k":2,"l":[3]}]}`},
		{"positional in an object", `{"p.l.$":1}`, `{"p.l":6}`, `{"_id":1,"p":{"l":[6]}}`},
		{"positional in a nested form", `{"p":{"l.$":1}}`, `{"p.l":6}`, `{"_id":1,"p":{"l":[6]}}`},
		{"positional cuts the first array on the path", `{"o.l.$":1}`, `{"o.l":3}`, `{"_id":1,"o":[{"l":[3]}]}`},
		{"positional where there is no array", `{"n.$":1}`, `{"n":1}`, `{"_id":1,"n":1}`},
		{"positional of another array's element", `{"l.$":1}`, `{"o.k":2}`, `{"_id":1,"l":[2]}`},
		{"positional beside an object like an operator", `{"l.$":1}`, `{"l":3,"$or":[{"n":1},{"p":{"l":{"$near":1}}}]}`, `{"_id":1,"l":[3]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := project(t, test.projection, test.filter, doc)
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
}

func TestProjection_Refuses(t *testing.T) {
	t.Parallel()
	for projection, field := range map[string]string{
		`{"a":1,"b":0}`:                              "b",
		`{"a":0,"b":1}`:                              "b",
		`{"a":0,"b":"text"}`:                         "b",
		`{"a":0,"b":{"c":1}}`:                        "b.c",
		`{"a":1,"a.b":1}`:                            "a.b",
		`{"a.b":1,"a":1}`:                            "a",
		`{"a":{"b":1},"a.b.c":1}`:                    "a.b.c",
		`{"a.b":1,"a":{"b":1}}`:                      "a.b",
		`{"a":1,"a":{"b":1},"b":{"a":1},"b.a":1}`:    "b.a",
		`{"a":{}}`:                                   "a",
		`{"a.":1}`:                                   "a.",
		`{".a":1}`:                                   ".a",
		`{"":1}`:                                     "",
		`{"$a":1}`:                                   "$a",
		`{"a.$b":1}`:                                 "a.$b",
		`{"$":1}`:                                    "$",
		`{"a.$.b":1}`:                                "a.$.b",
		`{"a.$":0}`:                                  "a.$",
		`{"a.$":"text"}`:                             "a.$",
		`{"a.$":{"b":1}}`:                            "a.$",
		`{"a.$":1,"b.$":1}`:                          "b.$",
		`{"a.$":1,"b":0}`:                            "b",
		`{"b":0,"a.$":1}`:                            "a.$",
		`{"a.$":1,"a":1}`:                            "a",
		`{"a.$":1,"b":{"$elemMatch":{"c":1}}}`:       "b.$elemMatch",
		`{"b":{"$elemMatch":{"c":1}},"a.$":1}`:       "a.$",
		`{"a.b":{"$elemMatch":{"c":1}}}`:             "a.b.$elemMatch",
		`{"a":{"b":{"$elemMatch":{"c":1}}}}`:         "a.b.$elemMatch",
		`{"a":{"$elemMatch":[]}}`:                    "a.$elemMatch",
		`{"a":{"$elemMatch":{"b":{"$bad":1}}}}`:      "a.$elemMatch.b.$bad",
		`{"a":{"$elemMatch":{"b":{"$near":[0,0]}}}}`: "a.$elemMatch",
		`{"a":{"$elemMatch":{"$or":[{"$expr":true}]}}}`: "a.$elemMatch",
		`{"a":{"$elemMatch":{"b":1},"c":1}}`:            "a.$elemMatch",
		`{"a":{"$slice":"1"}}`:                          "a.$slice",
		`{"a":{"$slice":[1,0]}}`:                        "a.$slice",
		`{"a":{"$slice":[1,0.5]}}`:                      "a.$slice",
		`{"a":{"$slice":[1]}}`:                          "a.$slice",
		`{"a":{"$slice":[1,2,3]}}`:                      "a.$slice",
		`{"a":{"$meta":"textScore"}}`:                   "a.$meta",
		`{"a":{"$none":1}}`:                             "a.$none",
		`{"a":{"b":{"$add":1,"$subtract":1}}}`:          "a.b.$add",
		`{"a":0,"b":{"$add":[1,2]}}`:                    "b",
		`{"a":"$b..c"}`:                                 "a",
		`{"a":{"$slice":1},"a.b":1}`:                    "a.b",
		`{"a":{"b":{"` + strings.Repeat("a.", document.MaxNesting-2) + `a":1}}}`: "a.b." + strings.Repeat("a.", document.MaxNesting-2) + "a",
	} {
		requireInvalid(t, failure(query.CompileProjection(parse(t, projection))), field)
	}
	requireInvalid(t, failure(query.CompileProjection(document.O("a", make(chan int)))), "a")
}

func TestProjection_PositionNotInFilter(t *testing.T) {
	t.Parallel()
	const doc = `{"_id":1,"a":[1,2,3],"b":[1,2,3,4],"c":{"x":[7]}}`
	for _, test := range []struct{ projection, filter, field string }{
		{`{"a.$":1}`, `{}`, "a.$"},
		{`{"a.$":1}`, `{"_id":1}`, "a.$"},
		{`{"a.$":1}`, `{"a.0":1}`, "a.$"},
		{`{"a.$":1}`, `{"a":{"$not":{"$gt":5}}}`, "a.$"},
		{`{"a.$":1}`, `{"$or":[{"a":1},{"_id":1}]}`, "a.$"},
		{`{"a.$":1}`, `{"b":4}`, "a.$"},
		{`{"a.$":1}`, `{"$and":[{"a":1},{"$expr":true}]}`, "a.$"},
		{`{"c":{"x.$":1}}`, `{"_id":1}`, "c.x.$"},
	} {
		requireInvalid(t, failure(project(t, test.projection, test.filter, doc)), test.field)
	}
}

func TestProjection_ExpressionFails(t *testing.T) {
	t.Parallel()
	requireInvalid(t, failure(project(t, `{"a":{"b":{"$add":["$b",1]}}}`, `{}`, `{"_id":1,"b":"text"}`)), "a.b.$add")
}

func TestProjection_None(t *testing.T) {
	t.Parallel()
	for _, source := range []document.Object{{}, document.O()} {
		projection := query.Must(query.CompileProjection(source))
		require.Nil(t, projection)
		require.True(t, projection.Source().IsZero())
		require.False(t, projection.IsPositional())
		o := document.O("_id", 1)
		same, err := newCall(t).Project(projection, nil, o)
		require.NoError(t, err)
		require.Equal(t, o, same)
	}
}

func TestProjection_AllShapes(t *testing.T) {
	t.Parallel()
	projection := query.Must(query.CompileProjection(parse(t, `{"b":1,"c.d":1}`)))
	var shapes document.Shapes
	for doc, want := range map[string]string{
		`{"_id":1,"a":1,"b":2,"c":{"d":3,"e":4}}`: `{"_id":1,"b":2,"c":{"d":3}}`,
		`{"b":2,"c":5,"_id":1}`:                   `{"b":2,"_id":1}`,
		`{"a":1}`:                                 `{}`,
	} {
		for range 3 {
			got, err := newCall(t).Project(projection, nil, shapes.Share(parse(t, doc)))
			require.NoError(t, err)
			require.Equal(t, want, got.String())
		}
	}
}

func TestProjection_ManyNames(t *testing.T) {
	t.Parallel()
	chosen, whole := document.O(), document.O("_id", 1)
	for name := range strings.SplitSeq("abcdefghijklmnopqrstuvwxyz", "") {
		whole = whole.With(name, 1)
		if name != "q" {
			chosen = chosen.With(name, 1)
		}
	}
	projection := query.Must(query.CompileProjection(chosen))
	got, err := newCall(t).Project(projection, nil, whole)
	require.NoError(t, err)
	require.Equal(t, whole.Without("q").String(), got.String())
}
