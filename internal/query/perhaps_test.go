package query_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

func TestFilter_MisspeltOperator(t *testing.T) {
	t.Parallel()
	for meant, filter := range map[string]document.Object{
		"$gt":         document.O("age", document.O("$gtt", 18)),
		"$elemMatch":  document.O("items", document.O("$elementMatch", document.O("n", 1))),
		"$nin":        document.O("state", document.O("$notin", document.A("done"))),
		"$exists":     document.O("name", document.O("$exist", true)),
		"$regex":      document.O("name", document.O("$regexp", "^A")),
		"$nearSphere": document.O("at", document.O("$nearsphere", document.A(1, 2))),
		"$or":         document.O("$OR", document.A(document.O("n", 1))),
		"$and":        document.O("$ands", document.A(document.O("n", 1))),
	} {
		_, err := query.CompileFilter(filter)
		require.ErrorContains(t, err, ": perhaps "+meant+" is meant", filter)
	}
}

func TestFilter_MisspeltOperatorLikeNone(t *testing.T) {
	t.Parallel()
	_, err := query.CompileFilter(document.O("age", document.O("$greater", 18)))
	require.EqualError(t, err, "invalid argument: age.$greater: $greater is no operator that can stand here, or is not supported")
}
