package datasource_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store/memstore"
)

func TestEraseEntries(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_700_000_000_000)
	env := record.Env{Store: memstore.New(memstore.WithNow(func() time.Time { return now })), Now: func() time.Time { return now }}
	insert := func(app, source string, count int, owner string) {
		var entries []document.Object
		for range count {
			entries = append(entries, document.O("owner", owner))
		}
		_, err := datasource.New(env, record.Scope{App: app}).UpsertDataToDataSource(t.Context(),
			datasource.UpsertDataToDataSourceParams{DataSourceID: source, Data: document.One(entries...)})
		require.NoError(t, err)
	}
	erase := func(app string, p datasource.EraseEntriesParams) int64 {
		removed, err := datasource.EraseEntries(t.Context(), env, app, p)
		require.NoError(t, err)
		return removed
	}
	insert("shop", "orders", 2*record.RemovalBatch+1, "ada")
	insert("shop", "orders", 1, "bob")
	insert("shop", "others", 1, "ada")
	insert("bistro", "orders", 1, "ada")
	ofAda := datasource.EraseEntriesParams{DataSourceID: "orders", Filter: document.O("owner", "ada")}
	require.EqualValues(t, 2*record.RemovalBatch+1, erase("shop", ofAda))
	require.Zero(t, erase("shop", ofAda), "again")
	require.EqualValues(t, 1, erase("bistro", ofAda), "another app has its own")

	old := datasource.EraseEntriesParams{DataSourceID: "orders", OlderThan: time.Hour}
	now = now.Add(time.Hour)
	insert("shop", "orders", 1, "ada")
	require.Zero(t, erase("shop", old), "exactly an hour old")
	now = now.Add(time.Millisecond)
	require.Zero(t, erase("shop", datasource.EraseEntriesParams{DataSourceID: "orders", Filter: document.O("owner", "ada"), OlderThan: time.Hour}))
	require.EqualValues(t, 1, erase("shop", old))
	require.EqualValues(t, 1, erase("shop", ofAda))
}

func TestEraseEntries_Refusals(t *testing.T) {
	t.Parallel()
	env := record.Env{Store: memstore.New()}
	all := document.O("_id", document.O("$exists", true))
	for name, c := range map[string]struct {
		app, field string
		params     datasource.EraseEntriesParams
	}{
		"no app":         {"", "app", datasource.EraseEntriesParams{DataSourceID: "orders", Filter: all}},
		"no data source": {"shop", "dataSourceId", datasource.EraseEntriesParams{Filter: all}},
		"all":            {"shop", "filter", datasource.EraseEntriesParams{DataSourceID: "orders"}},
		"a negative age": {"shop", "olderThan", datasource.EraseEntriesParams{DataSourceID: "orders", OlderThan: -1}},
	} {
		_, err := datasource.EraseEntries(t.Context(), env, c.app, c.params)
		require.ErrorIs(t, err, boterr.InvalidArgument, name)
		e, _ := boterr.AsError(err)
		require.Equal(t, c.field, e.Field, name)
	}
	_, err := datasource.EraseEntries(t.Context(), env, "shop", datasource.EraseEntriesParams{
		DataSourceID: "orders", Filter: document.O("$where", "true"),
	})
	require.Error(t, err)
}
