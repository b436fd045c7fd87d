package query_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
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

func TestExpr_AgreesWithFilter(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		operator := []string{"$eq", "$ne", "$gt", "$gte", "$lt", "$lte"}[r.IntN(6)]
		value, operand := randomScalar(r), randomScalar(r)
		_, isText := value.(string)
		if _, operandIsText := operand.(string); isText != operandIsText {
			continue
		}
		plain, err := query.CompileFilter(document.O("a", document.O(operator, operand)))
		require.NoError(t, err)
		expr, err := query.CompileFilter(document.O("$expr", document.O(operator, document.A("$a", document.O("$literal", operand)))))
		require.NoError(t, err)
		doc := document.O("a", value)
		require.Equal(t, plain.Match(doc), expr.Match(doc), "%s %v of %v", operator, operand, value)
	}
}

func TestExpression_ComparesLikeCompare(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	values := []any{nil, true, "x", int64(1), 1.5, document.A(1, "x"), document.O("a", 1), document.A(), document.O(), now}
	filter, err := query.CompileFilter(document.O("$expr", document.O("$eq", document.A(
		document.O("$cmp", document.A("$a", "$b")), "$order",
	))))
	require.NoError(t, err)
	for range 500 {
		a, b := values[r.IntN(len(values))], values[r.IntN(len(values))]
		require.True(t, filter.Match(document.O("a", a, "b", b, "order", document.Compare(a, b))), "%v and %v", a, b)
	}
}
