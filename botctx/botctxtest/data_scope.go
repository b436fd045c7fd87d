package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
)

var dataScopeRules = []Rule{
	{
		Name:  "DataOfAnotherAppIsNotRead",
		Text:  "entries of another app do not exist: they are not found, matched or counted, whatever the filter says",
		check: dataOfAnotherAppIsNotRead,
	},
	{
		Name:  "DataOfAnotherAppIsNotWritten",
		Text:  "entries of another app do not exist: they are not changed, whatever the filter or the _id says",
		check: dataOfAnotherAppIsNotWritten,
	},
	{
		Name:  "DataSourcesAreApart",
		Text:  "the entries of one data source are not those of another",
		check: dataSourcesAreApart,
	},
	{
		Name:  "ColumnsMayBeCalledApp",
		Text:  "an entry carries _id, createdAt, updatedAt and the caller's columns, which may be called app, channel, etag or _version",
		check: columnsMayBeCalledApp,
	},
}

func dataOfAnotherAppIsNotRead(t *trial) {
	t.seed(t.away, document.O("_id", "a", "app", t.away.scope.App, "n", 1))
	for _, filter := range append(scopeless(t.away.scope.App), document.O("_id", "a"), document.Object{}) {
		t.try(filter.String(), func(t *trial) {
			counted, err := t.home.CountDataSource(t.ctx(), datasource.CountDataSourceParams{DataSourceID: source, Filter: filter})
			require.NoError(t, err)
			require.Zero(t, counted, "countDataSource")
			require.Empty(t, t.fetch(t.home, datasource.FetchDataFromDataSourceParams{DataSourceID: source, Filter: filter}))
			require.Empty(t, t.distinct("n", filter), "fetchDistinctDataFromDataSource")
			numbered, err := t.home.FetchDataFromDataSource(t.ctx(), datasource.FetchDataFromDataSourceParams{
				DataSourceID: source, Filter: filter, Count: true,
			})
			require.NoError(t, err)
			require.Zero(t, numbered.Count, "fetchDataFromDataSource with count")
		})
	}
}

func dataOfAnotherAppIsNotWritten(t *trial) {
	t.seed(t.away, document.O("_id", "a", "app", t.away.scope.App, "n", 1))
	before := t.state()
	for _, filter := range append(scopeless(t.away.scope.App), document.O("_id", "a")) {
		t.try(filter.String(), func(t *trial) {
			require.Nil(t, t.findData(findDataParams{Filter: filter, Patch: document.Set("n", 2)}))
			require.Zero(t, t.patchData(patchDataParams{Filter: filter, Patch: document.O("n", 2), Multi: true}))
			require.Equal(t, before, t.state())
		})
	}
	outcome := t.upsert(document.O("_id", "a", "n", 2))
	require.Equal(t, int64(1), outcome.Inserted, "an _id that another app has is free")
	t.requireHolds(t.away, document.O("_id", "a", "app", t.away.scope.App, "n", 1))
	t.requireHolds(t.home, document.O("_id", "a", "n", 2))
	t.patchData(patchDataParams{
		Filter: document.O("_id", "b", "app", t.away.scope.App), Patch: document.O("n", 3),
		Options: datasource.PatchOptions{Upsert: true},
	})
	t.requireHolds(t.away, document.O("_id", "a", "app", t.away.scope.App, "n", 1))
}

func dataSourcesAreApart(t *trial) {
	t.seed(t.home, document.O("_id", "a", "n", 1))
	for _, id := range []string{"other", "Things", "things ", source + "/" + source, "%74hings", "data"} {
		t.try(id, func(t *trial) {
			saved, err := t.home.UpsertDataToDataSource(t.ctx(), datasource.UpsertDataToDataSourceParams{
				DataSourceID: id, Data: document.One(document.O("_id", "a", "n", 2)),
			})
			require.NoError(t, err)
			require.Equal(t, int64(1), saved.Result.Inserted)
			t.requireHolds(t.home, document.O("_id", "a", "n", 1))
		})
	}
}

func columnsMayBeCalledApp(t *trial) {
	entry := document.O("_id", "a", "app", "weather", "channel", 5, "etag", "mine", "_version", "v2")
	t.seed(t.home, entry)
	t.requireHolds(t.home, entry)
	t.patchData(patchDataParams{Filter: document.O("app", "weather"), Patch: document.O("app", "maps", "channel", 6)})
	t.requireHolds(t.home, document.O("_id", "a", "app", "maps", "channel", 6, "etag", "mine", "_version", "v2"))
	require.Equal(t, []any{"maps"}, t.distinct("app", document.Object{}))
}
