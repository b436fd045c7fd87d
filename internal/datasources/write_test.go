package datasources_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/datasources"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

func TestFindAndModifyData_BeforeOrAfter(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": 1, "n": 1}`)
	run := a.mine.FindAndModifyDataFromDataSource
	a.advance()
	requireResult(t, run, `{"dataSourceId": "table", "filter": {"n": 1}, "patch": {"$inc": {"n": 1}}}`,
		`{"ok": 1, "value": {"_id": 1, "createdAt": 1000, "updatedAt": 1000, "n": 1}}`)
	requireResult(t, run, `{"dataSourceId": "table", "filter": {"n": 2}, "patch": {"$inc": {"n": 1}}, "option": {"new": true}}`,
		`{"ok": 1, "value": {"_id": 1, "createdAt": 1000, "updatedAt": 2000, "n": 3}}`)
}

func TestFindAndModifyData_NothingMatches(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": 1}`)
	requireResult(t, a.mine.FindAndModifyDataFromDataSource,
		`{"dataSourceId": "table", "filter": {"_id": 2}, "patch": {"$set": {"n": 1}}, "option": {"new": true}}`,
		`{"ok": 1, "value": null}`)
	requireTable(t, a.mine, `{"_id": 1}`)
}

func TestFindAndModifyData_Projection(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": 1, "n": 1, "tags": ["a", "b"]}`)
	run := a.mine.FindAndModifyDataFromDataSource
	for _, test := range []struct{ filter, option, want string }{
		{`{}`, `{"projection": {"n": 1}}`, `{"_id": 1, "n": 1}`},
		{`{}`, `{"projection": {"n": 1, "_id": 0}, "new": true}`, `{"n": 3}`},
		{`{"tags": "b"}`, `{"projection": {"tags.$": 1}}`, `{"_id": 1, "tags": ["b"]}`},
		{`{}`, `{"projection": {"none": 1, "_id": 0}}`, `{}`},
		{`{"_id": 2}`, `{"projection": {"n": 1}, "upsert": true, "new": true}`, `{"_id": 2, "n": 1}`},
		{`{"_id": 3}`, `{"projection": {"n": 1}}`, `null`},
		{`{"_id": 2}`, `{"fields": {"n": 1}, "projection": {"n": 1.0}, "returnDocument": "before"}`, `{"_id": 2, "n": 1}`},
		{`{"_id": 2}`, `{"fields": {"n": 1, "_id": 0}, "returnDocument": "after"}`, `{"n": 3}`},
		{`{"_id": 2}`, `{"projection": {"n": 1}, "returnOriginal": false}`, `{"_id": 2, "n": 4}`},
		{`{"_id": 2}`, `{"projection": {"n": 1}, "returnOriginal": false, "new": true, "returnDocument": "after"}`, `{"_id": 2, "n": 5}`},
		{`{"_id": 2}`, `{"projection": {"n": 1}, "returnOriginal": true, "maxTimeMS": 50, "writeConcern": {"w": 1}, "comment": "c", "hint": "_id_"}`, `{"_id": 2, "n": 5}`},
	} {
		requireResult(t, run, `{"dataSourceId": "table", "filter": `+test.filter+`, "patch": {"$inc": {"n": 1}}, "option": `+test.option+`}`,
			`{"ok": 1, "value": `+test.want+`}`)
	}
	requireTable(t, a.mine, `{"_id": 1, "n": 5, "tags": ["a", "b"]}`, `{"_id": 2, "n": 6}`)
}

func TestFindAndModifyData_OptionsWithoutEffect(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": 1, "n": 1}`)
	requireResult(t, a.mine.PatchDataToDataSource, `{"dataSourceId": "table", "patch": {"n": 2},
		"options": {"maxTimeMS": 50, "writeConcern": {"w": "majority"}, "comment": {"x": 1}, "hint": {"_id": 1}}}`,
		`{"matched": 1, "modified": 1, "inserted": 0, "deleted": 0}`)
	requireTable(t, a.mine, `{"_id": 1, "n": 2}`)
	for _, name := range []string{
		"w", "wtimeout", "j", "readConcern", "readPreference", "bypassDocumentValidation",
		"retryWrites", "timeoutMS", "checkKeys", "serializeFunctions", "ignoreUndefined",
	} {
		requireResult(t, a.mine.PatchDataToDataSource, `{"dataSourceId": "table", "patch": {"n": 2}, "options": {"`+name+`": 1}}`,
			`{"matched": 1, "modified": 0, "inserted": 0, "deleted": 0}`)
	}
}

func TestFindAndModifyData_RefusesOptions(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		`{"dataSourceId": "table", "filter": {}, "patch": {"$set": {"n": 9}}, "sortBy": {"n": 1}, "option": {"sort": {"n": -1}}}`: "option.sort",
		`{"dataSourceId": "table", "filter": {}, "patch": {"$set": {"n": 9}}, "sortBy": {"n": 2}}`:                                "sortBy.n",
	}
	for option, field := range map[string]string{
		`{"sort": {"n": 2}}`:                                    "sort.n",
		`{"comment": "c", "collation": {"locale": "de"}}`:       "collation",
		`{"let": {"x": 1}}`:                                     "let",
		`{"remove": true}`:                                      "remove",
		`{"returnDocument": "later"}`:                           "returnDocument",
		`{"returnDocument": "before", "new": true}`:             "returnDocument",
		`{"returnOriginal": true, "new": true}`:                 "returnOriginal",
		`{"returnOriginal": false, "returnDocument": "before"}`: "returnOriginal",
		`{"fields": {"n": 1}, "projection": {"m": 1}}`:          "fields",
	} {
		cases[`{"dataSourceId": "table", "filter": {}, "patch": {"$set": {"n": 9}}, "option": `+option+`}`] = "option." + field
	}
	requireRefused(t, func(s *datasources.Service) operation[
		datasource.FindAndModifyParams, datasource.FindAndModifyResult,
	] {
		return s.FindAndModifyDataFromDataSource
	}, cases)
}

func TestDataSource_TwoNamesOfOne(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": 1}`)
	const both = `{"collectionName": "table", "dataSourceId": "table"`
	requireResult(t, a.mine.CountDataSource, both+`}`, `1`)
	requireResult(t, a.mine.PatchDataToDataSource, both+`, "patch": {"n": 2}}`, `{"matched": 1, "modified": 1, "inserted": 0, "deleted": 0}`)
}

func TestFindAndModifyData_SortBy(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": 1, "a": 1, "b": 1}`, `{"_id": 2, "a": 1, "b": 2}`, `{"_id": 3, "a": 0, "b": 9}`)
	run := a.mine.FindAndModifyDataFromDataSource
	for sortBy, id := range map[string]int{
		`{"a": -1, "b": -1}`: 2, `{"b": -1, "a": -1}`: 3, `{"a": 1}`: 3, `{"a": -1, "b": 1}`: 1, `{}`: 1,
	} {
		text, err := call(t, run, `{"dataSourceId": "table", "filter": {}, "patch": {"$set": {"seen": true}}, "sortBy": `+sortBy+`}`)
		require.NoError(t, err)
		require.Equal(t, id, document.Get(object(t, text), "value._id", 0), "the order of keys in %s counts", sortBy)
	}
}

func TestFindAndModifyData_TwoSorts(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": 1, "a": [1], "b": [2]}`)
	const sort = `{"a": 1, "b": 1}`
	_, err := call(t, a.mine.FindAndModifyDataFromDataSource,
		`{"dataSourceId": "table", "filter": {}, "patch": {"n": 1}, "sortBy": `+sort+`}`)
	requireInvalidAt(t, "sortBy.b", err)
	_, err = call(t, a.mine.FetchDataFromDataSource, `{"dataSourceId": "table", "sortBy": `+sort+`}`)
	requireInvalidAt(t, "sortBy.b", err)
	_, err = call(t, a.mine.PatchDataToDataSource, `{"dataSourceId": "table", "patch": {"n": 1}, "options": {"sort": `+sort+`}}`)
	requireInvalidAt(t, "options.sort.b", err)
}

// requireInvalidAt checks an error's code and field.
func requireInvalidAt(t *testing.T, field string, err error) {
	t.Helper()
	require.ErrorIs(t, err, boterr.InvalidArgument)
	e, ok := boterr.AsError(err)
	require.True(t, ok)
	require.Equal(t, field, e.Field)
}

func TestFindAndModifyData_PatchAsItSays(t *testing.T) {
	t.Parallel()
	for params, want := range map[string]string{
		`"patch": {"$set": {"n": 2}}`:                   `{"_id": 1, "n": 2, "m": 1}`,
		`"patch": {"n": 2}`:                             `{"_id": 1, "n": 2}`,
		`"patch": {"n": 2}, "withModifier": true`:       `{"_id": 1, "n": 2}`,
		`"patch": {"n": 2}, "withModifier": false`:      `{"_id": 1, "n": 2, "m": 1}`,
		`"patch": {"o.p": 2}, "withModifier": false`:    `{"_id": 1, "n": 1, "m": 1, "o": {"p": 2}}`,
		`"patch": {}, "withModifier": true`:             `{"_id": 1}`,
		`"patch": {}, "withModifier": false`:            `{"_id": 1, "n": 1, "m": 1}`,
		`"patch": {"$set": {"updatedAt": 5, "_id": 1}}`: `{"_id": 1, "n": 1, "m": 1}`,
	} {
		a := newApps(t, `{"_id": 1, "n": 1, "m": 1}`)
		_, err := call(t, a.mine.FindAndModifyDataFromDataSource, `{"dataSourceId": "table", "filter": {}, `+params+`}`)
		require.NoError(t, err, params)
		requireTable(t, a.mine, want)
	}
}

func TestFindAndModifyData_Upserts(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	run := a.mine.FindAndModifyDataFromDataSource
	requireResult(t, run, `{"dataSourceId": "table", "filter": {"_id": 5}, "patch": {"$inc": {"n": 1}}, "option": {"upsert": true}}`,
		`{"ok": 1, "value": null}`)
	requireResult(t, run, `{"dataSourceId": "table", "filter": {"k": "x"}, "patch": {"$inc": {"n": 1}}, "option": {"upsert": true, "new": true}}`,
		`{"ok": 1, "value": {"_id": "id1", "createdAt": 1000, "updatedAt": 1000, "k": "x", "n": 1}}`)
	requireTable(t, a.mine, `{"_id": 5, "n": 1}`, `{"_id": "id1", "k": "x", "n": 1}`)
}

func TestArrayFilters_ChooseElements(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": 1, "rows": [{"n": 1}, {"n": 5}]}`)
	_, err := call(t, a.mine.FindAndModifyDataFromDataSource, `{"dataSourceId": "table", "filter": {},
		"patch": {"$set": {"rows.$[big].seen": true}}, "option": {"arrayFilters": [{"big.n": {"$gt": 3}}]}}`)
	require.NoError(t, err)
	requireTable(t, a.mine, `{"_id": 1, "rows": [{"n": 1}, {"n": 5, "seen": true}]}`)
}

func TestFindAndModifyData_CouponsAtOnce(t *testing.T) {
	t.Parallel()
	const coupons, claimants = 100, 200
	a := newApps(t)
	for i := range coupons {
		upsert(t, a.mine, fmt.Sprintf(`{"_id": "coupon %d", "taken": false}`, i))
	}
	claimed := make([]any, claimants)
	var all sync.WaitGroup
	for i := range claimants {
		all.Go(func() {
			taken, err := a.mine.FindAndModifyDataFromDataSource(t.Context(), datasource.FindAndModifyParams{
				DataSourceID: table,
				Filter:       document.O("taken", false),
				Patch:        document.Set("taken", true, "by", i),
			})
			if err == nil && taken.Value != nil {
				claimed[i], _ = taken.Value.Field(record.FieldID)
			}
		})
	}
	all.Wait()
	by := map[any]bool{}
	for _, id := range claimed {
		require.False(t, id != nil && by[id], "%v is claimed twice", id)
		by[id] = true
	}
	delete(by, nil)
	require.Len(t, by, coupons, "every coupon is claimed")
}

func TestPatchData_Counts(t *testing.T) {
	t.Parallel()
	for params, want := range map[string]string{
		`"patch": {"n": 2}`:                     `{"matched": 1, "modified": 1, "inserted": 0, "deleted": 0}`,
		`"patch": {"n": 1}`:                     `{"matched": 1, "modified": 0, "inserted": 0, "deleted": 0}`,
		`"patch": {"n": 2}, "multi": true`:      `{"matched": 3, "modified": 2, "inserted": 0, "deleted": 0}`,
		`"patch": {"n": 2}, "filter": {"n": 9}`: `{"matched": 0, "modified": 0, "inserted": 0, "deleted": 0}`,
		`"patch": {"n": 2}, "filter": {"n": 9}, "options": {"upsert": true}`:      `{"matched": 0, "modified": 0, "inserted": 1, "deleted": 0}`,
		`"patch": {"n": 2}, "filter": {"n": 1}, "options": {"upsert": true}`:      `{"matched": 1, "modified": 1, "inserted": 0, "deleted": 0}`,
		`"patch": {"$inc": {"n": 1}}, "withModifier": true, "multi": true`:        `{"matched": 3, "modified": 3, "inserted": 0, "deleted": 0}`,
		`"patch": {"n": 7}, "withModifier": true, "options": {"sort": {"n": -1}}`: `{"matched": 1, "modified": 1, "inserted": 0, "deleted": 0}`,
	} {
		a := newApps(t, `{"_id": 1, "n": 1}`, `{"_id": 2, "n": 1}`, `{"_id": 3, "n": 2}`)
		requireResult(t, a.mine.PatchDataToDataSource, `{"collectionName": "table", `+params+`}`, want)
	}
}

func TestPatchData_SetsUnlessModifiers(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": 1, "n": 1}`, `{"_id": 2, "n": 2}`)
	run := a.mine.PatchDataToDataSource
	_, err := call(t, run, `{"dataSourceId": "table", "patch": {"m": 1}, "options": {"sort": {"n": -1}}}`)
	require.NoError(t, err)
	_, err = call(t, run, `{"dataSourceId": "table", "patch": {"$unset": {"n": ""}}, "withModifier": true}`)
	require.NoError(t, err)
	requireTable(t, a.mine, `{"_id": 1}`, `{"_id": 2, "n": 2, "m": 1}`)
}

func TestPatchData_UpdatedAt(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": 1, "n": 1}`)
	a.advance()
	stamps := func() string {
		found, err := a.mine.FetchDataFromDataSource(t.Context(), datasource.FetchParams{DataSourceID: table})
		require.NoError(t, err)
		return fmt.Sprint(document.Get(found.Entries[0], "createdAt", 0), " ", document.Get(found.Entries[0], "updatedAt", 0))
	}
	upsert(t, a.mine, `{"_id": 1, "n": 1}`)
	require.Equal(t, "1000 1000", stamps())
	upsert(t, a.mine, `{"_id": 1, "n": 2}`)
	require.Equal(t, "1000 2000", stamps())
}

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
	found, err := a.mine.FetchDataFromDataSource(t.Context(), datasource.FetchParams{DataSourceID: table})
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
			done, err := a.mine.UpsertDataToDataSource(t.Context(), datasource.UpsertParams{
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
	require.NoError(t, datasources.EnsureIndex(t.Context(), database, "app", table, unique))
	s := datasources.New(record.Env{Store: database}, record.Scope{App: "app"})
	upserted := func(elements ...document.Object) error {
		_, err := s.UpsertDataToDataSource(t.Context(), datasource.UpsertParams{DataSourceID: table, Data: elements})
		return err
	}
	require.NoError(t, upserted(document.O("_id", 1, "code", 7)))
	err := upserted(document.O("_id", 2, "code", 8), document.O("_id", 3, "code", 7), document.O("_id", 4, "code", 9))
	require.ErrorIs(t, err, boterr.AlreadyExists)
	require.ErrorContains(t, err, "data[1]")
	kept, err := s.CountDataSource(t.Context(), datasource.CountParams{DataSourceID: table})
	require.NoError(t, err)
	require.EqualValues(t, 2, kept, "those before it are kept")
}

func TestService_StoredIsACopy(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	list, inner := []any{"a"}, map[string]any{"x": 1}
	given := document.O("_id", 1, "list", list, "inner", inner)
	_, err := a.mine.UpsertDataToDataSource(t.Context(), datasource.UpsertParams{
		DataSourceID: table, Data: document.One(given),
	})
	require.NoError(t, err)
	list[0], inner["x"] = "changed", "changed"
	given.Set("inner.x", "changed")

	found, err := a.mine.FetchDataFromDataSource(t.Context(), datasource.FetchParams{DataSourceID: table})
	require.NoError(t, err)
	found.Entries[0].Set("inner.x", "changed")
	found.Entries[0] = document.O()

	taken, err := a.mine.FindAndModifyDataFromDataSource(t.Context(), datasource.FindAndModifyParams{
		DataSourceID: table, Filter: document.O(), Patch: document.Set("n", 1),
	})
	require.NoError(t, err)
	taken.Value.Set("inner.x", "changed")
	requireTable(t, a.mine, `{"_id": 1, "list": ["a"], "inner": {"x": 1}, "n": 1}`)
}

func TestUpsertData_OrderOfColumns(t *testing.T) {
	t.Parallel()
	s := datasources.New(record.Env{Store: memstore.New()}, record.Scope{App: "app"})
	for _, element := range []document.Object{document.O("_id", "e1", "z", 1, "a", 2), document.O("z", 1, "a", 2)} {
		_, err := s.UpsertDataToDataSource(t.Context(), datasource.UpsertParams{
			DataSourceID: "table", Data: document.One(element),
		})
		require.NoError(t, err)
	}
	found, err := s.FetchDataFromDataSource(t.Context(), datasource.FetchParams{DataSourceID: "table"})
	require.NoError(t, err)
	for _, entry := range found.Entries {
		require.Equal(t, []string{"_id", "createdAt", "updatedAt", "z", "a"}, entry.Keys())
	}
}
