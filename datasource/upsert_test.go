package datasource_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

func TestUpsertData_OutcomeOfEach(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "there", "n": 1, "m": 1}`, `{"_id": "same", "n": 1}`)
	requireResult(t, a.mine.UpsertDataToDataSource, `{"dataSourceId": "table", "data": [
			{"n": 1}, {"_id": "there", "n": 2}, {"_id": "given", "n": 3}, {"_id": "same", "n": 1}, {"n": 4}
		]}`, `{"result": {
			"_docsIds": {"updated": ["there", "same"], "inserted": ["id1", "id2"], "upserted": ["given"]},
			"matched": 2, "modified": 1, "inserted": 3, "deleted": 0
		}}`)
	requireTable(t, a.mine, `{"_id": "there", "n": 2, "m": 1}`, `{"_id": "same", "n": 1}`,
		`{"_id": "id1", "n": 1}`, `{"_id": "given", "n": 3}`, `{"_id": "id2", "n": 4}`)
}

func TestUpsertData_OneObject(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	requireResult(t, a.mine.UpsertDataToDataSource, `{"dataSourceId": "table", "data": {"n": 1}}`,
		`{"result": {"_docsIds": {"updated": [], "inserted": ["id1"], "upserted": []},
			"matched": 0, "modified": 0, "inserted": 1, "deleted": 0}}`)
}

func TestUpsertData_Nothing(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	requireResult(t, a.mine.UpsertDataToDataSource, `{"dataSourceId": "table", "data": []}`,
		`{"result": {"_docsIds": {"updated": [], "inserted": [], "upserted": []},
			"matched": 0, "modified": 0, "inserted": 0, "deleted": 0}}`)
}

func TestUpsertData_AnyScalarAsID(t *testing.T) {
	t.Parallel()
	for _, id := range []string{`"text"`, `""`, `5`, `-0.5`, `true`, `false`} {
		a := newApps(t, `{"_id": `+id+`, "n": 1}`)
		outcome := upsert(t, a.mine, `{"_id": `+id+`, "m": 1}`)
		require.Equal(t, int64(1), outcome.Matched, id)
		requireTable(t, a.mine, `{"_id": `+id+`, "n": 1, "m": 1}`)
	}
}

func TestUpsertData_FetchedEntry(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": 1, "n": 1}`)
	a.advance()
	found, err := a.mine.FetchDataFromDataSource(t.Context(), datasource.FetchDataFromDataSourceParams{DataSourceID: table})
	require.NoError(t, err)
	outcome := upsert(t, a.mine, found.Entries[0].With("n", 2).String())
	require.Equal(t, int64(1), outcome.Modified)
	requireTable(t, a.mine, `{"_id": 1, "n": 2}`)
}

func TestUpsertData_ColumnsNamedLikeFields(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": 1, "app": "a", "channel": "c", "_version": "v", "etag": 1, "member": null}`)
	upsert(t, a.mine, `{"_id": 1, "app": "b"}`)
	requireTable(t, a.mine, `{"_id": 1, "app": "b", "channel": "c", "_version": "v", "etag": 1, "member": null}`)
}

func TestUpsertData_OneIDAtOnce(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	outcomes := make([]datasource.UpsertOutcome, 50)
	var all sync.WaitGroup
	for i := range outcomes {
		all.Go(func() {
			done, err := a.mine.UpsertDataToDataSource(t.Context(), datasource.UpsertDataToDataSourceParams{
				DataSourceID: table, Data: document.One(document.O("_id", "one", fmt.Sprintf("by%d", i), true)),
			})
			if err == nil {
				outcomes[i] = done.Result
			}
		})
	}
	all.Wait()
	var inserted, matched int64
	for _, outcome := range outcomes {
		inserted += outcome.Inserted
		matched += outcome.Matched
	}
	require.Equal(t, int64(1), inserted)
	require.Equal(t, int64(len(outcomes)-1), matched)
}

func TestUpsertData_IndexRefusesANewEntry(t *testing.T) {
	t.Parallel()
	database := memstore.New()
	unique := store.Index{Keys: []store.IndexKey{{Path: "code", Kind: query.Ascending}}, Unique: true, Sparse: true}
	require.NoError(t, datasource.EnsureIndex(t.Context(), database, "app", table, unique))
	s := datasource.New(record.Env{Store: database}, record.Scope{App: "app"})
	upserted := func(elements ...document.Object) error {
		_, err := s.UpsertDataToDataSource(t.Context(), datasource.UpsertDataToDataSourceParams{DataSourceID: table, Data: elements})
		return err
	}
	require.NoError(t, upserted(document.O("_id", 1, "code", 7)))
	err := upserted(document.O("_id", 2, "code", 8), document.O("_id", 3, "code", 7), document.O("_id", 4, "code", 9))
	require.ErrorIs(t, err, boterr.AlreadyExists)
	require.ErrorContains(t, err, "data[1]")
	kept, err := s.CountDataSource(t.Context(), datasource.CountDataSourceParams{DataSourceID: table})
	require.NoError(t, err)
	require.EqualValues(t, 2, kept, "those before it are kept")
}

func TestService_StoredIsACopy(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	list, inner := []any{"a"}, map[string]any{"x": 1}
	given := document.O("_id", 1, "list", list, "inner", inner)
	_, err := a.mine.UpsertDataToDataSource(t.Context(), datasource.UpsertDataToDataSourceParams{
		DataSourceID: table, Data: document.One(given),
	})
	require.NoError(t, err)
	list[0], inner["x"] = "changed", "changed"
	given.Set("inner.x", "changed")

	found, err := a.mine.FetchDataFromDataSource(t.Context(), datasource.FetchDataFromDataSourceParams{DataSourceID: table})
	require.NoError(t, err)
	found.Entries[0].Set("inner.x", "changed")
	found.Entries[0] = document.O()

	taken, err := a.mine.FindAndModifyDataFromDataSource(t.Context(), datasource.FindAndModifyDataFromDataSourceParams{
		DataSourceID: table, Filter: document.O(), Patch: document.Set("n", 1),
	})
	require.NoError(t, err)
	taken.Value.Set("inner.x", "changed")
	requireTable(t, a.mine, `{"_id": 1, "list": ["a"], "inner": {"x": 1}, "n": 1}`)
}

func TestUpsertData_OrderOfColumns(t *testing.T) {
	t.Parallel()
	s := datasource.New(record.Env{Store: memstore.New()}, record.Scope{App: "app"})
	for _, element := range []document.Object{document.O("_id", "e1", "z", 1, "a", 2), document.O("z", 1, "a", 2)} {
		_, err := s.UpsertDataToDataSource(t.Context(), datasource.UpsertDataToDataSourceParams{
			DataSourceID: "table", Data: document.One(element),
		})
		require.NoError(t, err)
	}
	found, err := s.FetchDataFromDataSource(t.Context(), datasource.FetchDataFromDataSourceParams{DataSourceID: "table"})
	require.NoError(t, err)
	for _, entry := range found.Entries {
		require.Equal(t, []string{"_id", "createdAt", "updatedAt", "z", "a"}, entry.Keys())
	}
}
