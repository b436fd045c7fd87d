package member

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

func TestEnsureIndexes_LookUps(t *testing.T) {
	t.Parallel()
	database := memstore.New()
	require.NoError(t, EnsureIndexes(t.Context(), database))
	require.NoError(t, EnsureIndex(t.Context(), database, "meta.plan"))
	for i := range 50 {
		n := strconv.Itoa(i)
		require.NoError(t, database.Collection(kind.Collection).Insert(t.Context(), document.O(
			"_id", n, "app", "mine", "channel", "c1", "externalId", n, "meta", document.O("plan", n))))
	}
	for name, source := range map[string]document.Object{
		"by externalId":                  document.O("externalId", "7"),
		"by externalId, in a channel":    document.O("channel", "c1", "externalId", "7"),
		"by externalId and more":         document.O("externalId", "7", "meta.plan", document.O("$ne", "x")),
		"by meta":                        document.O("meta.plan", "7"),
		"by meta, in a channel":          document.O("channel", "c1", "meta.plan", "7"),
		"by meta and more, in a channel": document.O("channel", "c1", "meta.plan", document.O("$in", document.A("7")), "firstName", nil),
	} {
		filter, err := query.CompileFilter(document.O("$and", document.A(document.O("app", "mine"), source)))
		require.NoError(t, err)
		found, err := database.Explain(t.Context(), kind.Collection, filter, store.FindOptions{Limit: 1})
		require.NoError(t, err)
		require.EqualValues(t, 1, found.Returned, name)
		require.EqualValues(t, 1, found.Examined, name)
	}
}
