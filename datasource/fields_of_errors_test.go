package datasource_test

import (
	"strings"
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

// indexedTable returns data sources whose table has an index of two columns and one of places.
func indexedTable(t *testing.T) *datasource.Service {
	t.Helper()
	database := memstore.New()
	for _, keys := range [][]store.IndexKey{
		{{Path: "a", Kind: query.Ascending}, {Path: "b", Kind: query.Ascending}},
		{{Path: "loc", Kind: query.Geo2DSphere}},
	} {
		require.NoError(t, datasource.EnsureIndex(t.Context(), database, "mine", table, store.Index{Keys: keys}))
	}
	s := datasource.New(record.Env{Store: database}, record.Scope{App: "mine"})
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
			_, err := a.mine.UpsertDataToDataSource(t.Context(), datasource.UpsertDataToDataSourceParams{
				DataSourceID: table, Data: document.OneOrMany[document.Object]{document.O("v", 1), document.O("_id", "b", "v", column)},
			})
			require.ErrorIs(t, err, boterr.InvalidArgument)
			e, _ := boterr.AsError(err)
			require.Equal(t, "data[1]", e.Field)
			requireTable(t, a.mine)
		})
	}
}
