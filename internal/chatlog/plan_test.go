package chatlog_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/chatlog"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// The log's queries must use indexes, so that other conversations do not slow them down.
func TestQueries_UseIndexes(t *testing.T) {
	t.Parallel()
	database := memstore.New()
	log := open(t, chatlog.Config{Env: record.Env{Store: database}})
	for i := range 100 {
		for j := range 5 {
			_, _, err := log.Append(t.Context(), chatlog.Conversation{App: "shop", Channel: "web", ID: strconv.Itoa(i)}, entry(strconv.Itoa(j)))
			require.NoError(t, err)
		}
	}
	key, id := `"shop" "web" "7"`, `"shop" "web" "7" 0`
	for name, row := range map[string]struct {
		filter   document.Object
		options  store.FindOptions
		examined int64
	}{
		"newest": {document.O("log", key), store.FindOptions{Sort: sortOf(t, "seq", -1), Limit: 1}, 1},
		"after":  {document.O("log", key, "seq", document.O("$gte", 1)), store.FindOptions{Sort: sortOf(t, "seq", 1), Limit: 3}, 3},
		"before": {document.O("log", key, "seq", document.O("$lt", int64(1)<<60)), store.FindOptions{Sort: sortOf(t, "seq", -1), Limit: 3}, 3},
		"key":    {document.O("log", key, "key", "3"), store.FindOptions{Limit: 1}, 1},
		"poll":   {document.O("_id", document.O("$in", document.A(id, "x", "y"))), store.FindOptions{}, 1},
		"old":    {document.O("at", document.O("$lt", 1)), store.FindOptions{Sort: sortOf(t, "at", 1), Limit: 500}, 0},
	} {
		filter, err := query.CompileFilter(row.filter)
		require.NoError(t, err)
		plan, err := database.Explain(t.Context(), "chatlog", filter, row.options)
		require.NoError(t, err)
		require.Equal(t, row.examined, plan.Examined, "%s: %+v", name, plan)
	}
}

func sortOf(t *testing.T, pairs ...any) *query.Sort {
	t.Helper()
	sort, err := query.CompileSort(document.O(pairs...))
	require.NoError(t, err)
	return sort
}
