package document_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
)

// randomScalar returns a number or a string.
func randomScalar(r *rand.Rand) any {
	switch r.IntN(3) {
	case 0:
		return int64(r.IntN(7) - 3)
	case 1:
		return float64(r.IntN(13)-6) / 2
	default:
		return []string{"", "a", "b", "ab"}[r.IntN(4)]
	}
}

func TestExprAgreesWithTheFilterOnValuesOfOneType(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		operator := []string{"$eq", "$ne", "$gt", "$gte", "$lt", "$lte"}[r.IntN(6)]
		value, operand := randomScalar(r), randomScalar(r)
		_, isText := value.(string)
		if _, operandIsText := operand.(string); isText != operandIsText {
			continue
		}
		plain, err := document.CompileFilter(document.O("a", document.O(operator, operand)))
		require.NoError(t, err)
		expr, err := document.CompileFilter(document.O("$expr", document.O(operator, document.A("$a", document.O("$literal", operand)))))
		require.NoError(t, err)
		doc := document.O("a", value)
		require.Equal(t, plain.Match(doc), expr.Match(doc), "%s %v of %v", operator, operand, value)
	}
}

func TestComparisonsAreThoseOfCompare(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	values := []any{nil, true, "x", int64(1), 1.5, document.A(1, "x"), document.O("a", 1), document.A(), document.O(), now}
	filter, err := document.CompileFilter(document.O("$expr", document.O("$eq", document.A(
		document.O("$cmp", document.A("$a", "$b")), "$order",
	))))
	require.NoError(t, err)
	for range 500 {
		a, b := values[r.IntN(len(values))], values[r.IntN(len(values))]
		require.True(t, filter.Match(document.O("a", a, "b", b, "order", document.Compare(a, b))), "%v and %v", a, b)
	}
}

func TestAPipelineSetsWhatTheOperatorSets(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	paths := []string{"a", "b", "o.a", "o.b", "o.c.d", "new.x"}
	for range 1000 {
		before := document.O("_id", 1, "a", randomScalar(r), "o", document.O("a", randomScalar(r), "c", document.O("e", 1)))
		path, value := paths[r.IntN(len(paths))], randomScalar(r)
		operator, err := document.CompileUpdate(document.Set(path, value))
		require.NoError(t, err)
		pipeline, err := document.CompilePipeline(document.A(document.O("$set", document.O(path, document.O("$literal", value)))))
		require.NoError(t, err)
		want, wantModified, err := document.Change{Update: operator}.Apply(nil, before)
		require.NoError(t, err)
		got, modified, err := document.Change{Update: pipeline}.Apply(nil, before)
		require.NoError(t, err)
		require.Equal(t, want.String(), got.String(), "%s to %v in %s", path, value, before)
		require.Equal(t, wantModified, modified)
	}
}

func TestAProjectionIsTheSameInAPipeline(t *testing.T) {
	t.Parallel()
	doc := parse(t, `{"_id":1,"a":{"b":1,"c":[{"d":1,"e":2},3,[{"d":4}]]},"n":5,"l":[1,{"d":2}]}`)
	for _, source := range []string{
		`{"a":1}`, `{"a.b":1,"n":true}`, `{"a":{"c":{"d":1}}}`, `{"l.d":1}`, `{"a":0}`, `{"a.c.d":0,"l":0}`, `{"_id":1}`,
		`{"n":"$a.b","x":{"$add":["$n",1]}}`, `{"a":{"c":{"x":"$n"}}}`, `{"l":{"$slice":["$l",1]}}`, `{"n.x":"$n"}`,
	} {
		projection, err := document.CompileProjection(parse(t, source))
		require.NoError(t, err, source)
		want, err := projection.Apply(nil, doc)
		require.NoError(t, err)
		pipeline, err := document.CompilePipeline(document.A(document.O("$project", parse(t, source))))
		require.NoError(t, err, source)
		got, _, err := document.Change{Update: pipeline}.Apply(nil, doc)
		require.NoError(t, err)
		require.Equal(t, want.String(), got.String(), source)
	}
}
