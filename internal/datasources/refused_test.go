package datasources_test

import (
	"fmt"
	"math"
	"strings"
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

func TestFindAndModifyData_Refuses(t *testing.T) {
	t.Parallel()
	cases := map[string]string{}
	for params, field := range map[string]string{
		`"filter": {}, "patch": [{"$set": {"n": 2}}]`:                                                                "patch",
		`"filter": {"n": {"$near": 1}}, "patch": {"n": 2}`:                                                           "filter.n.$near",
		`"filter": {"$or": [{"n": {"$in": 1}}]}, "patch": {"n": 2}`:                                                  "filter.$or[0].n.$in",
		`"filter": {}, "patch": {"n": 2, "$set": {"n": 2}}`:                                                          "patch.$set",
		`"filter": {}, "patch": {"$inc": {"n": "1"}}`:                                                                "patch.$inc.n",
		`"filter": {}, "patch": {"n": 2}, "option": {"new": 1}`:                                                      "option.new",
		`"filter": {}, "patch": {"n": 2}, "option": {"projection": 1}`:                                               "option.projection",
		`"filter": {}, "patch": {"n": 2}, "option": {"projection": {"a": 1, "b": 0}}`:                                "option.projection.b",
		`"filter": {}, "patch": {"$set": {"n": 2}}, "option": {"projection": {"tags.$": 1}}`:                         "option.projection.tags.$",
		`"filter": {"tags": "a"}, "patch": {"$set": {"n": 2}}, "option": {"projection": {"tags.$": 1}, "new": true}`: "option.projection",
		`"filter": {"$expr": {"$divide": [1, 0]}}, "patch": {"$set": {"n": 2}}`:                                      "filter.$expr.$divide",
		`"filter": {"loc": {"$near": [0, 0]}}, "patch": {"$set": {"n": 2}}`:                                          "filter.loc",
		`"filter": {}, "patch": {"$set": {"tags.$[x]": 1}}`:                                                          "patch.$set.tags.$[x]",
		`"filter": {}, "patch": {"$set": {"n": 1}}, "option": {"arrayFilters": [{"x": 1}]}`:                          "option.arrayFilters[0]",
		`"filter": {"_id": {"$eq": {"a": 1}}}, "patch": {"$set": {"n": 1}}, "option": {"upsert": true}`:              "filter._id",
		`"filter": {"_id": null}, "patch": {"$set": {"n": 1}}, "option": {"upsert": true}`:                           "filter._id",
		`"filter": {"n": 9}, "patch": {"_id": [1]}, "option": {"upsert": true}`:                                      "patch._id",
		`"filter": {}, "patch": {"$set": {"n": 9}}, "sortBy": {"n": 1}, "option": {"sort": {"n": -1}}`:               "option.sort",
		`"filter": {}, "patch": {"$set": {"n": 9}}, "sortBy": {"n": 2}`:                                              "sortBy.n",
		`"filter": {}, "patch": {"$set": {"n": 9}}, "option": {"sort": {"n": 2}}`:                                    "option.sort.n",
		`"filter": {}, "patch": {"$set": {"n": 9}}, "option": {"comment": "c", "collation": {"locale": "de"}}`:       "option.collation",
		`"filter": {}, "patch": {"$set": {"n": 9}}, "option": {"let": {"x": 1}}`:                                     "option.let",
		`"filter": {}, "patch": {"$set": {"n": 9}}, "option": {"remove": true}`:                                      "option.remove",
		`"filter": {}, "patch": {"$set": {"n": 9}}, "option": {"returnDocument": "later"}`:                           "option.returnDocument",
		`"filter": {}, "patch": {"$set": {"n": 9}}, "option": {"returnDocument": "before", "new": true}`:             "option.returnDocument",
		`"filter": {}, "patch": {"$set": {"n": 9}}, "option": {"returnOriginal": true, "new": true}`:                 "option.returnOriginal",
		`"filter": {}, "patch": {"$set": {"n": 9}}, "option": {"returnOriginal": false, "returnDocument": "before"}`: "option.returnOriginal",
		`"filter": {}, "patch": {"$set": {"n": 9}}, "option": {"fields": {"n": 1}, "projection": {"m": 1}}`:          "option.fields",
	} {
		cases[`{"dataSourceId": "table", `+params+`}`] = field
	}
	requireRefused(t, func(s *datasources.Service) operation[datasource.FindAndModifyParams, datasource.FindAndModifyResult] {
		return s.FindAndModifyDataFromDataSource
	}, cases)
}

func TestUpsertData_Refuses(t *testing.T) {
	t.Parallel()
	requireRefused(t, func(s *datasources.Service) operation[datasource.UpsertParams, datasource.UpsertResult] {
		return s.UpsertDataToDataSource
	}, map[string]string{
		`{"dataSourceId": "table", "data": [{"n": 1}, 5]}`:                             "data[1]",
		`{"dataSourceId": "table", "data": [{"_id": 7}, {"n": 1}, {"_id": 7.0}]}`:      "data[2]._id",
		`{"dataSourceId": "table", "data": [{"n": 1}, {"_id": 1, "": 1}]}`:             "data[1]",
		`{"dataSourceId": "table", "data": [{"n": 1}, {"_id": 1, "createdAt": null}]}`: "data[1].createdAt",
		`{"dataSourceId": "table", "data": [{"_id": "three", "createdAt": 5}]}`:        "data[0].createdAt",
	})
}

func TestFetchData_Refuses(t *testing.T) {
	t.Parallel()
	requireRefused(t, func(s *datasources.Service) operation[datasource.FetchParams, datasource.FetchResult] {
		return s.FetchDataFromDataSource
	}, map[string]string{
		`{"collectionName": "` + fmt.Sprintf("%0250d", 1) + `"}`:                  "collectionName",
		`{"dataSourceId": "table", "filter": {"n": {"$size": -1}}}`:               "filter.n.$size",
		`{"dataSourceId": "table", "sortBy": {"a..b": 1}}`:                        "sortBy.a..b",
		`{"dataSourceId": "table", "count": true, "filter": {"n": {"$in": "a"}}}`: "filter.n.$in",
	})
}

// indexedTable returns data sources whose table has an index on two columns and a geo index.
func indexedTable(t *testing.T) *datasources.Service {
	t.Helper()
	database := memstore.New()
	for _, keys := range [][]store.IndexKey{
		{{Path: "a", Kind: query.Ascending}, {Path: "b", Kind: query.Ascending}},
		{{Path: "loc", Kind: query.Geo2DSphere}},
	} {
		require.NoError(t, datasources.EnsureIndex(t.Context(), database, "mine", table, store.Index{Keys: keys}))
	}
	s := datasources.New(record.Env{Store: database}, record.Scope{App: "mine"})
	_, err := call(t, s.UpsertDataToDataSource, `{"dataSourceId": "table", "data": {"_id": 1, "s": "x", "n": [{"p": 1}]}}`)
	require.NoError(t, err)
	return s
}

func TestErrors_NameAParameterThatWasGiven(t *testing.T) {
	t.Parallel()
	s := indexedTable(t)
	operations := map[string]func(params string) (string, error){
		"fetch":  func(params string) (string, error) { return call(t, s.FetchDataFromDataSource, params) },
		"patch":  func(params string) (string, error) { return call(t, s.PatchDataToDataSource, params) },
		"modify": func(params string) (string, error) { return call(t, s.FindAndModifyDataFromDataSource, params) },
		"upsert": func(params string) (string, error) { return call(t, s.UpsertDataToDataSource, params) },
		"near":   func(params string) (string, error) { return call(t, s.FetchGeoNearFromDataSource, params) },
	}
	for name, test := range map[string]struct{ operation, params, field string }{
		"an index refuses a place":              {"patch", `"patch": {"loc": [500, 1]}`, "patch.loc"},
		"an index refuses two arrays":           {"patch", `"patch": {"a": [1], "b": [2]}`, "patch.b"},
		"an index refuses an element":           {"upsert", `"data": [{"_id": 1, "loc": [500, 1]}]`, "data[0].loc"},
		"a column called as a parameter":        {"fetch", `"filter": {"sort": {"$near": [1, 2]}}`, "filter.sort"},
		"a column called as another one":        {"patch", `"filter": {"update": {"$near": [1, 2]}}, "patch": {"x": 1}`, "filter.update"},
		"a column called as an option":          {"modify", `"filter": {"projection": {"$near": [1, 2]}}, "patch": {"$set": {"x": 1}}`, "filter.projection"},
		"an expression in a filter":             {"fetch", `"filter": {"$expr": {"$add": ["$s", 1]}}`, "filter.$expr.$add"},
		"a filter that contradicts itself":      {"patch", `"filter": {"s": "y", "$or": [{"s": "n"}]}, "patch": {"x": 1}, "options": {"upsert": true}`, "filter.s"},
		"a faulty filter of an upsert":          {"patch", `"filter": {"n": {"$in": 1}}, "patch": {"x": 1}, "options": {"upsert": true}`, "filter.n.$in"},
		"a faulty patch of an upsert":           {"patch", `"patch": {"$inc": {"n": "1"}}, "withModifier": true, "options": {"upsert": true}`, "patch.$inc.n"},
		"_id of the filter beside a column's":   {"patch", `"filter": {"_id": [1]}, "patch": {"x": {"_id": 1}}, "options": {"upsert": true}`, "filter._id"},
		"_id of the filter beside a path":       {"patch", `"filter": {"_id": [1]}, "patch": {"x.y": 1}, "options": {"upsert": true}`, "filter._id"},
		"a path in _id":                         {"patch", `"filter": {"n": 9}, "patch": {"_id.x": 1}, "options": {"upsert": true}`, "patch._id"},
		"a path in _id of an operator":          {"modify", `"filter": {"n": 9}, "patch": {"$set": {"_id.x": 1}}, "option": {"upsert": true}`, "patch.$set._id"},
		"createdAt of the filter":               {"patch", `"filter": {"createdAt": 5}, "patch": {"x": 1}, "options": {"upsert": true}`, "filter.createdAt"},
		"createdAt of the patch":                {"patch", `"filter": {"s": "y"}, "patch": {"createdAt": 5}, "options": {"upsert": true}`, "patch.createdAt"},
		"_id of the filter":                     {"patch", `"filter": {"$and": [{"_id": null}]}, "patch": {"x": 1}, "options": {"upsert": true}`, "filter._id"},
		"_id of the patch beside a filter's":    {"patch", `"filter": {"_id": {"$gt": "z"}}, "patch": {"$set": {"_id": {}}}, "withModifier": true, "options": {"upsert": true}`, "patch.$set._id"},
		"the option fields":                     {"modify", `"filter": {}, "patch": {"$set": {"q": 1}}, "option": {"fields": {"n": {"$slice": "x"}}}`, "option.fields.n.$slice"},
		"the option projection":                 {"modify", `"filter": {}, "patch": {"$set": {"q": 1}}, "option": {"projection": {"n": {"$slice": "x"}}}`, "option.projection.n.$slice"},
		"a point that the only index is not of": {"near", `"data": {"near": [1, 2]}`, "data.near"},
		"elements of no array":                  {"patch", `"patch": {"q.$[]": 1}`, "patch.q.$[]"},
		"a stamp that another column becomes":   {"patch", `"patch": {"$rename": {"s": "updatedAt"}}, "withModifier": true`, "patch.$rename.s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := operations[test.operation](`{"dataSourceId": "table", ` + test.params + `}`)
			e, ok := boterr.AsError(err)
			require.True(t, ok, "%v", err)
			require.Equal(t, boterr.InvalidArgument, e.Code)
			require.Equal(t, test.field, e.Field, "%v", err)
		})
	}
}

func TestUpsert_InfiniteID(t *testing.T) {
	t.Parallel()
	for _, id := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, err := newApps(t).mine.UpsertDataToDataSource(t.Context(), datasource.UpsertParams{
			DataSourceID: table, Data: document.One(document.O("_id", id)),
		})
		require.ErrorIs(t, err, boterr.InvalidArgument)
	}
}

func TestUpsert_ChecksTheSizeOfEachElementFirst(t *testing.T) {
	t.Parallel()
	deep := any(1)
	for range 185 {
		deep = document.A(deep)
	}
	for name, column := range map[string]any{"deep": deep, "large": strings.Repeat("x", document.MaxSize)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newApps(t)
			_, err := a.mine.UpsertDataToDataSource(t.Context(), datasource.UpsertParams{
				DataSourceID: table, Data: document.OneOrMany[document.Object]{document.O("v", 1), document.O("_id", "b", "v", column)},
			})
			require.ErrorIs(t, err, boterr.InvalidArgument)
			e, _ := boterr.AsError(err)
			require.Equal(t, "data[1]", e.Field)
			requireTable(t, a.mine)
		})
	}
}
