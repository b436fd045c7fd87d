package members

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

func TestEnsureIndexes_LookUps(t *testing.T) {
	t.Parallel()
	database := memstore.New()
	require.NoError(t, EnsureIndexes(t.Context(), database))
	require.NoError(t, EnsureIndex(t.Context(), database, "meta.plan"))
	for i := range 50 {
		n := strconv.Itoa(i)
		require.NoError(t, database.Collection(schema.Collection).Insert(t.Context(), document.O(
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
		found, err := database.Explain(t.Context(), schema.Collection, filter, store.FindOptions{Limit: 1})
		require.NoError(t, err)
		require.EqualValues(t, 1, found.Returned, name)
		require.EqualValues(t, 1, found.Examined, name)
	}
}

// A page of a list examines the same number of documents, however many members come before and after it.
func TestEnsureIndexes_Lists(t *testing.T) {
	t.Parallel()
	database := memstore.New()
	require.NoError(t, EnsureIndexes(t.Context(), database))
	require.NoError(t, EnsureIndex(t.Context(), database, fieldTags))
	for i := range 1000 {
		tags := document.A("rare")
		if i%10 > 0 {
			tags = document.A("many", "all")
		}
		require.NoError(t, database.Collection(schema.Collection).Insert(t.Context(), document.O(
			"_id", fmt.Sprintf("%04d", i), "app", "mine", "channel", "c"+strconv.Itoa(i%2), "externalId", i, "tags", tags)))
	}
	byID, err := query.CompileSort(document.O("_id", 1))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		chosen member.Selection
		most   int64
	}{
		"all":                 {member.Selection{After: "0500"}, 11},
		"of a channel":        {member.Selection{After: "0500", Channel: "c1"}, 11},
		"with a tag":          {member.Selection{After: "0500", Tag: "many"}, 20},
		"of a channel by tag": {member.Selection{After: "0500", Channel: "c1", Tag: "many"}, 20},
		"with a rare tag":     {member.Selection{After: "0500", Tag: "rare"}, 100}, // all members with the tag
	} {
		filter, err := query.CompileFilter(document.O("$and", document.A(document.O("app", "mine"), filter(c.chosen))))
		require.NoError(t, err)
		found, err := database.Explain(t.Context(), schema.Collection, filter, store.FindOptions{Sort: byID, Limit: 10})
		require.NoError(t, err)
		require.EqualValues(t, 10, found.Returned, name)
		require.LessOrEqual(t, found.Examined, c.most, name)
	}
}
