package datasource_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// near returns the ids that a search finds, in order.
func near(t *testing.T, s *datasource.Service, data string) string {
	t.Helper()
	found, err := s.FetchGeoNearFromDataSource(t.Context(), datasource.FetchGeoNearFromDataSourceParams{
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
		found, err := a.mine.FetchGeoNearFromDataSource(t.Context(), datasource.FetchGeoNearFromDataSourceParams{
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
	s := datasource.New(record.Env{Store: database}, record.Scope{App: "mine"})
	index := store.Index{Keys: []store.IndexKey{{Path: "pos", Kind: query.Geo2DSphere}}}
	require.NoError(t, datasource.EnsureIndex(t.Context(), database, "mine", table, index))
	_, err := s.UpsertDataToDataSource(t.Context(), datasource.UpsertDataToDataSourceParams{
		DataSourceID: table, Data: document.One(object(t, `{"_id": 1, "pos": [0, 2], "home": [0, 0]}`)),
	})
	require.NoError(t, err)
	require.Empty(t, near(t, s, `{"near": {"type": "Point", "coordinates": [0, 0]}, "maxDistance": 10}`))
	require.Equal(t, "1", near(t, s, `{"near": {"type": "Point", "coordinates": [0, 0]}}`))
}

func TestFetchGeoNear_SeveralColumns(t *testing.T) {
	t.Parallel()
	requireRefused(t, func(s *datasource.Service) operation[
		datasource.FetchGeoNearFromDataSourceParams, datasource.FetchGeoNearFromDataSourceResult,
	] {
		upsertTwoPoints(t, s)
		return s.FetchGeoNearFromDataSource
	}, map[string]string{
		`{"dataSourceId": "points", "data": {"near": [0, 0]}}`: "data.key",
	})
}

// upsertTwoPoints makes the data source "points", whose entry has two columns of
// points.
func upsertTwoPoints(t *testing.T, s *datasource.Service) {
	t.Helper()
	_, err := s.UpsertDataToDataSource(t.Context(), datasource.UpsertDataToDataSourceParams{
		DataSourceID: "points", Data: document.One(object(t, `{"_id": 1, "from": [1, 1], "to": [2, 2]}`)),
	})
	require.NoError(t, err)
}
