package datasources_test

import (
	"context"
	"encoding/json"
	"fmt"
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

// shops are three entries without stamps of their own.
func shops(t *testing.T) *apps {
	t.Helper()
	return newApps(t,
		`{"_id": 1, "area": "east", "price": 2, "tags": ["a", "b"]}`,
		`{"_id": 2, "area": "west", "price": 1, "tags": ["b"]}`,
		`{"_id": 3, "area": "east", "price": 1.0}`,
	)
}

func TestCountDataSource(t *testing.T) {
	t.Parallel()
	a := shops(t)
	for params, want := range map[string]string{
		`{"dataSourceId": "table"}`:                                          `3`,
		`{"collectionName": "table"}`:                                        `3`,
		`{"dataSourceId": "table", "filter": {}}`:                            `3`,
		`{"dataSourceId": "table", "filter": {"area": "east"}}`:              `2`,
		`{"dataSourceId": "nothing"}`:                                        `0`,
		`{"dataSourceId": "table", "filter": {"price": {"$lt": 2}}}`:         `2`,
		`{"dataSourceId": "table", "filter": null, "collectionName": null}`:  `3`,
		`{"dataSourceId": "table", "filter": {"tags": {"$exists": false}}}`:  `1`,
		`{"dataSourceId": "table", "filter": {"createdAt": {"$gte": 1000}}}`: `3`,
	} {
		requireResult(t, a.mine.CountDataSource, params, want)
	}
}

func TestFetchData_EntriesOrNumber(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": 1, "n": 1}`, `{"n": 2}`)
	run := a.mine.FetchDataFromDataSource
	requireResult(t, run, `{"dataSourceId": "table"}`, `[
		{"_id": 1, "createdAt": 1000, "updatedAt": 1000, "n": 1}, {"_id": "id1", "createdAt": 1000, "updatedAt": 1000, "n": 2}]`)
	requireResult(t, run, `{"dataSourceId": "table", "count": true}`, `2`)
	requireResult(t, run, `{"dataSourceId": "table", "count": true, "filter": {"n": 2}}`, `1`)
	requireResult(t, run, `{"dataSourceId": "table", "filter": {"n": 3}}`, `[]`)
	requireResult(t, run, `{"dataSourceId": "nothing"}`, `[]`)
	requireResult(t, run, `{"dataSourceId": "nothing", "count": true}`, `0`)
}

func TestFetchData_SortOrderOfKeys(t *testing.T) {
	t.Parallel()
	a := shops(t)
	for sortBy, want := range map[string]string{
		`{"area": 1, "price": 1}`:            "3 1 2",
		`{"price": 1, "area": 1}`:            "3 2 1",
		`{"price": -1, "area": -1}`:          "1 2 3",
		`{"price": 1, "area": -1}`:           "2 3 1",
		`{"_id": -1}`:                        "3 2 1",
		`{"missing": 1}`:                     "1 2 3",
		`{"tags": -1, "createdAt": 1}`:       "1 2 3",
		`{"area": -1, "price": 1, "_id": 1}`: "2 3 1",
	} {
		text, err := call(t, a.mine.FetchDataFromDataSource, `{"dataSourceId": "table", "sortBy": `+sortBy+`}`)
		require.NoError(t, err)
		var entries []struct {
			ID json.Number `json:"_id"`
		}
		require.NoError(t, json.Unmarshal([]byte(text), &entries))
		ids := make([]string, 0, len(entries))
		for _, entry := range entries {
			ids = append(ids, entry.ID.String())
		}
		require.Equal(t, want, strings.Join(ids, " "), sortBy)
	}
}

func TestFetchDistinct_ValuesOrNumber(t *testing.T) {
	t.Parallel()
	a := shops(t)
	run := a.mine.FetchDistinctDataFromDataSource
	requireResult(t, run, `{"dataSourceId": "table", "key": "area"}`, `["east", "west"]`)
	requireResult(t, run, `{"dataSourceId": "table", "key": "area", "count": true}`, `2`)
	requireResult(t, run, `{"dataSourceId": "table", "key": "price"}`, `[2, 1]`)
	requireResult(t, run, `{"dataSourceId": "table", "key": "tags"}`, `["a", "b"]`)
	requireResult(t, run, `{"dataSourceId": "table", "key": "tags", "filter": {"area": "west"}}`, `["b"]`)
	requireResult(t, run, `{"dataSourceId": "table", "key": "missing"}`, `[]`)
	requireResult(t, run, `{"dataSourceId": "table", "key": ".area"}`, `[]`)
	requireResult(t, run, `{"dataSourceId": "table", "key": "area."}`, `[]`)
	requireResult(t, run, `{"dataSourceId": "table", "key": "missing", "count": true}`, `0`)
}

func TestFetchData_ResultsFromJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`[]`, `[{"_id":1}]`, `0`, `7`} {
		var entries datasource.FetchResult
		require.NoError(t, json.Unmarshal([]byte(text), &entries))
		written, err := json.Marshal(entries)
		require.NoError(t, err)
		require.Equal(t, text, string(written))
	}
	for _, text := range []string{`[]`, `["a",null,1]`, `3`} {
		var values datasource.FetchDistinctResult
		require.NoError(t, json.Unmarshal([]byte(text), &values))
		written, err := json.Marshal(values)
		require.NoError(t, err)
		require.Equal(t, text, string(written))
	}
	var near datasource.FetchGeoNearResult
	require.NoError(t, json.Unmarshal([]byte(`[{"_id": 1}]`), &near))
	require.Equal(t, int64(1), near.Count)
}

func TestService_ContextEnded(t *testing.T) {
	t.Parallel()
	a := shops(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := a.mine.FetchDataFromDataSource(ctx, datasource.FetchParams{DataSourceID: table})
	require.ErrorIs(t, err, boterr.Canceled)
	_, err = a.mine.UpsertDataToDataSource(ctx, datasource.UpsertParams{
		DataSourceID: table, Data: nil,
	})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = a.mine.PatchDataToDataSource(ctx, datasource.PatchParams{
		DataSourceID: table, Patch: object(t, `{"n": 1}`),
	})
	require.ErrorIs(t, err, boterr.Canceled)
	count, err := a.mine.CountDataSource(t.Context(), datasource.CountParams{
		DataSourceID: table, Filter: object(t, `{"n": 1}`),
	})
	require.NoError(t, err)
	require.Zero(t, count)
}

// near returns the ids that a search finds, in order.
func near(t *testing.T, s *datasources.Service, data string) string {
	t.Helper()
	found, err := s.FetchGeoNearFromDataSource(t.Context(), datasource.FetchGeoNearParams{
		DataSourceID: table, Data: object(t, data),
	})
	require.NoError(t, err, data)
	require.Equal(t, int64(len(found.Entries)), found.Count)
	ids := make([]any, 0, len(found.Entries))
	for _, entry := range found.Entries {
		id, _ := entry.Field("_id")
		ids = append(ids, id)
	}
	return fmt.Sprint(ids...)
}

func TestFetchGeoNear_ByDistance(t *testing.T) {
	t.Parallel()
	a := newApps(t,
		`{"_id": 1, "location": {"type": "Point", "coordinates": [0, 2]}, "open": true}`,
		`{"_id": 2, "location": {"type": "Point", "coordinates": [0, 1]}}`,
		`{"_id": 3, "location": [0, 3], "open": true}`,
		`{"_id": 4, "location": "nowhere"}`,
		`{"_id": 5}`,
	)
	// A degree of latitude is 111,319 m on the sphere of MongoDB.
	const point = `"near": {"type": "Point", "coordinates": [0, 0]}`
	for data, want := range map[string]string{
		`{` + point + `}`:                                                        "2 1 3",
		`{` + point + `, "limit": 1}`:                                            "2",
		`{` + point + `, "maxDistance": 222700}`:                                 "2 1",
		`{` + point + `, "minDistance": 111400}`:                                 "1 3",
		`{` + point + `, "query": {"open": true}}`:                               "1 3",
		`{` + point + `, "maxDistance": 1}`:                                      "",
		`{"near": [0, 0], "maxDistance": 2}`:                                     "2 1",
		`{"near": [0, 0], "spherical": true}`:                                    "2 1 3",
		`{"near": {"lng": 0, "lat": 4}}`:                                         "3 1 2",
		`{"near": [0, 0], "spherical": true, "limit": 2, "maxDistance": 0.0175}`: "2",
	} {
		require.Equal(t, want, near(t, a.mine, data), data)
	}
}

func TestFetchGeoNear_DistanceField(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": 1, "location": {"type": "Point", "coordinates": [0, 1]}}`)
	for data, want := range map[string]float64{
		`{"near": {"type": "Point", "coordinates": [0, 0]}, "distanceField": "d"}`:                              111318.845,
		`{"near": {"type": "Point", "coordinates": [0, 0]}, "distanceField": "d", "distanceMultiplier": 0.001}`: 111.318845,
		`{"near": [0, 0], "distanceField": "d", "spherical": true}`:                                             0.0174533,
		`{"near": [0, 0], "distanceField": "d"}`:                                                                1,
	} {
		found, err := a.mine.FetchGeoNearFromDataSource(t.Context(), datasource.FetchGeoNearParams{
			CollectionName: table, Data: object(t, data),
		})
		require.NoError(t, err)
		require.InEpsilon(t, want, document.Get(found.Entries[0], "d", 0.0), 1e-5, data)
	}
	requireTable(t, a.mine, `{"_id": 1, "location": {"type": "Point", "coordinates": [0, 1]}}`)
}

func TestFetchGeoNear_ArrayInJSON(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": 1, "location": [3, 4]}`)
	requireResult(t, a.mine.FetchGeoNearFromDataSource,
		`{"dataSourceId": "table", "data": {"near": [0, 0], "distanceField": "far", "includeLocs": "at"}}`,
		`[{"_id": 1, "createdAt": 1000, "updatedAt": 1000, "location": [3, 4], "far": 5, "at": [3, 4]}]`)
	requireResult(t, a.mine.FetchGeoNearFromDataSource, `{"dataSourceId": "nothing", "data": {"near": [0, 0]}}`, `[]`)
}

func TestFetchGeoNear_OnlyColumnOfPoints(t *testing.T) {
	t.Parallel()
	const data = `{"near": [0, 0]}`
	require.Equal(t, "2 1", near(t, newApps(t, `{"_id": 1, "at": [5, 5]}`, `{"_id": 2, "at": [1, 1]}`).mine, data))
	require.Equal(t, "1", near(t, newApps(t,
		`{"_id": 1, "at": {"type": "Point", "coordinates": [5, 5]}, "size": [1, 2]}`).mine, data), "GeoJSON goes before pairs")
	require.Empty(t, near(t, newApps(t, `{"_id": 1, "location": [5, 5], "other": [0, 0]}`).mine,
		`{"near": [0, 0], "maxDistance": 1}`), "location goes before others")
	require.Equal(t, "1", near(t, newApps(t, `{"_id": 1, "a": [5, 5], "b": [0, 0]}`).mine, `{"near": [0, 0], "key": "b"}`))
}

func TestFetchGeoNear_NothingNearInTheIndexIsNothing(t *testing.T) {
	t.Parallel()
	database := memstore.New()
	s := datasources.New(record.Env{Store: database}, record.Scope{App: "mine"})
	index := store.Index{Keys: []store.IndexKey{{Path: "pos", Kind: query.Geo2DSphere}}}
	require.NoError(t, datasources.EnsureIndex(t.Context(), database, "mine", table, index))
	_, err := s.UpsertDataToDataSource(t.Context(), datasource.UpsertParams{
		DataSourceID: table, Data: document.One(object(t, `{"_id": 1, "pos": [0, 2], "home": [0, 0]}`)),
	})
	require.NoError(t, err)
	require.Empty(t, near(t, s, `{"near": {"type": "Point", "coordinates": [0, 0]}, "maxDistance": 10}`))
	require.Equal(t, "1", near(t, s, `{"near": {"type": "Point", "coordinates": [0, 0]}}`))
}

func TestFetchGeoNear_SeveralColumns(t *testing.T) {
	t.Parallel()
	requireRefused(t, func(s *datasources.Service) operation[
		datasource.FetchGeoNearParams, datasource.FetchGeoNearResult,
	] {
		upsertTwoPoints(t, s)
		return s.FetchGeoNearFromDataSource
	}, map[string]string{
		`{"dataSourceId": "points", "data": {"near": [0, 0]}}`: "data.key",
	})
}

// upsertTwoPoints makes the data source "points", whose entry has two columns of
// points.
func upsertTwoPoints(t *testing.T, s *datasources.Service) {
	t.Helper()
	_, err := s.UpsertDataToDataSource(t.Context(), datasource.UpsertParams{
		DataSourceID: "points", Data: document.One(object(t, `{"_id": 1, "from": [1, 1], "to": [2, 2]}`)),
	})
	require.NoError(t, err)
}

type shop struct {
	ID    int      `json:"_id"`
	Price int      `json:"price"`
	Tags  []string `json:"tags"`
}

func TestFetch_EntriesAsStructs(t *testing.T) {
	t.Parallel()
	a := shops(t)
	params := datasource.FetchParams{DataSourceID: table, Filter: document.O("area", "east")}
	found, err := datasource.Fetch[shop](t.Context(), a.mine, params)
	require.NoError(t, err)
	require.Equal(t, []shop{{ID: 1, Price: 2, Tags: []string{"a", "b"}}, {ID: 3, Price: 1}}, found)

	params.Filter = document.O("area", "north")
	none, err := datasource.Fetch[shop](t.Context(), a.mine, params)
	require.NoError(t, err)
	require.NotNil(t, none)
	require.Empty(t, none)
}

func TestFetch_ErrorNamesTheEntryAndThePath(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": 1, "tags": []}`, `{"_id": 2, "tags": ["a", 7]}`)
	found, err := datasource.Fetch[shop](t.Context(), a.mine, datasource.FetchParams{DataSourceID: table})
	require.Nil(t, found)
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.EqualError(t, err, "fetchDataFromDataSource: failed precondition: [1].tags[1]: "+
		"the entry with _id 2 does not fit a datasources_test.shop: must be of type string, got number")
}

func TestFetch_GivesErrorsOfTheOperationAndRefusesCount(t *testing.T) {
	t.Parallel()
	a := shops(t)
	_, err := datasource.Fetch[shop](t.Context(), a.mine, datasource.FetchParams{})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = datasource.Fetch[shop](t.Context(), a.mine, datasource.FetchParams{DataSourceID: table, Count: true})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.ErrorContains(t, err, "CountDataSource")
}

func TestFindAndModify_EntryAsStruct(t *testing.T) {
	t.Parallel()
	a := shops(t)
	params := datasource.FindAndModifyParams{
		DataSourceID: table, Filter: document.O("area", "west"), Patch: document.Set("area", "sold"),
		Option: datasource.FindAndModifyOption{Projection: document.O("price", 1, "_id", 0)},
	}
	found, err := datasource.FindAndModify[shop](t.Context(), a.mine, params)
	require.NoError(t, err)
	require.Equal(t, &shop{Price: 1}, found)

	again, err := datasource.FindAndModify[shop](t.Context(), a.mine, params)
	require.NoError(t, err)
	require.Nil(t, again)

	params.Patch = document.Object{}
	_, err = datasource.FindAndModify[shop](t.Context(), a.mine, params)
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

func TestFindAndModify_ErrorNamesThePathAndTheChangeStays(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "x", "price": "much"}`)
	params := datasource.FindAndModifyParams{
		DataSourceID: table, Filter: document.O("taken", nil), Patch: document.Set("taken", true),
	}
	found, err := datasource.FindAndModify[shop](t.Context(), a.mine, params)
	require.Nil(t, found)
	require.EqualError(t, err, "findAndModifyDataFromDataSource: failed precondition: value._id: "+
		`the entry with _id "x" does not fit a datasources_test.shop: must be of type number, got string`)
	again, err := datasource.FindAndModify[shop](t.Context(), a.mine, params)
	require.NoError(t, err)
	require.Nil(t, again)
}
