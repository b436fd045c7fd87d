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
	requireRefused(t, func(s *datasource.Service) operation[
		datasource.FindAndModifyDataFromDataSourceParams, datasource.FindAndModifyDataFromDataSourceResult,
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
			taken, err := a.mine.FindAndModifyDataFromDataSource(t.Context(), datasource.FindAndModifyDataFromDataSourceParams{
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
		found, err := a.mine.FetchDataFromDataSource(t.Context(), datasource.FetchDataFromDataSourceParams{DataSourceID: table})
		require.NoError(t, err)
		return fmt.Sprint(document.Get(found.Entries[0], "createdAt", 0), " ", document.Get(found.Entries[0], "updatedAt", 0))
	}
	upsert(t, a.mine, `{"_id": 1, "n": 1}`)
	require.Equal(t, "1000 1000", stamps())
	upsert(t, a.mine, `{"_id": 1, "n": 2}`)
	require.Equal(t, "1000 2000", stamps())
}
