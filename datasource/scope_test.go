package datasource_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store/memstore"
)

// tricks are filters that try to reach what another app has.
func tricks() []string {
	return []string{
		`{}`, `{"app": "theirs"}`, `{"app": {"$ne": "mine"}}`, `{"$or": [{"app": "theirs"}, {}]}`, `{"$nor": [{"app": "mine"}]}`,
		`{"_id": {"$exists": true}}`, `{"_id": 1}`, `{"$and": [{"$or": [{"app": "theirs"}, {"_id": 1}]}]}`,
	}
}

func TestService_OtherApps(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	upsert(t, a.theirs, `{"_id": 1, "app": "theirs", "location": [0, 0]}`)
	for _, filter := range tricks() {
		within := `{"dataSourceId": "table", "filter": ` + filter
		requireResult(t, a.mine.CountDataSource, within+`}`, `0`)
		requireResult(t, a.mine.FetchDataFromDataSource, within+`}`, `[]`)
		requireResult(t, a.mine.FetchDistinctDataFromDataSource, within+`, "key": "_id"}`, `[]`)
		requireResult(t, a.mine.FetchGeoNearFromDataSource,
			`{"dataSourceId": "table", "data": {"near": [0, 0], "query": `+filter+`}}`, `[]`)
		requireResult(t, a.mine.FindAndModifyDataFromDataSource, within+`, "patch": {"$set": {"n": 1}}}`, `{"ok": 1, "value": null}`)
		requireResult(t, a.mine.PatchDataToDataSource, within+`, "patch": {"n": 1}, "multi": true}`,
			`{"matched": 0, "modified": 0, "inserted": 0, "deleted": 0}`)
	}
	upsert(t, a.mine, `{"_id": 1, "app": "theirs"}`)
	requireTable(t, a.theirs, `{"_id": 1, "app": "theirs", "location": [0, 0]}`)
	requireTable(t, a.mine, `{"_id": 1, "app": "theirs"}`)
}

func TestService_DataSourcesAreApart(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": 1}`)
	for _, other := range []string{"Table", "table ", "table/", "/table", "data/mine/table", "members", "tab%6ce", "😀"} {
		count, err := a.mine.CountDataSource(t.Context(), datasource.CountDataSourceParams{DataSourceID: other})
		require.NoError(t, err, other)
		require.Zero(t, count, other)
	}
}

func TestService_NamesRunIntoEachOther(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	pairs := [][2]string{{"a", "b/c"}, {"a/b", "c"}, {"", "a/b/c"}, {"a%2Fb", "c"}, {"a b", "c"}, {"a+b", "c"}, {"a", "b"}, {"a", "B"}}
	for _, pair := range pairs {
		s := datasource.New(record.Env{Store: store}, record.Scope{App: pair[0]})
		count, err := s.CountDataSource(t.Context(), datasource.CountDataSourceParams{DataSourceID: pair[1]})
		require.NoError(t, err)
		require.Zero(t, count, pair)
		_, err = s.UpsertDataToDataSource(t.Context(), datasource.UpsertDataToDataSourceParams{
			DataSourceID: pair[1], Data: document.One(document.O("n", 1)),
		})
		require.NoError(t, err)
	}
}
