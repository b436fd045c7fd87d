package datasources_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/datasources"
)

// shops returns three entries without _id, createdAt or updatedAt.
func shops(t *testing.T) *apps {
	t.Helper()
	return newApps(t,
		`{"_id": 1, "area": "east", "price": 2, "tags": ["a", "b"]}`,
		`{"_id": 2, "area": "west", "price": 1, "tags": ["b"]}`,
		`{"_id": 3, "area": "east", "price": 1.0}`,
	)
}

// near returns the ids that a geo search finds, in order.
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

func TestFetchGeoNear_OnlyColumnOfPoints(t *testing.T) {
	t.Parallel()
	const data = `{"near": [0, 0]}`
	require.Equal(t, "2 1", near(t, newApps(t, `{"_id": 1, "at": [5, 5]}`, `{"_id": 2, "at": [1, 1]}`).mine, data))
	require.Equal(t, "1", near(t, newApps(t,
		`{"_id": 1, "at": {"type": "Point", "coordinates": [5, 5]}, "size": [1, 2]}`, `{"_id": 2, "size": [0, 0]}`).mine, data),
		"GeoJSON goes before pairs")
	require.Empty(t, near(t, newApps(t, `{"_id": 1, "location": [5, 5], "other": [0, 0]}`).mine,
		`{"near": [0, 0], "maxDistance": 1}`), "location goes before others")
	require.Equal(t, "1", near(t, newApps(t, `{"_id": 1, "a": [5, 5], "b": [0, 0]}`).mine, `{"near": [0, 0], "key": "b"}`))
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

// upsertTwoPoints adds the data source "points", whose entry has two columns of points.
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

func TestFetchGeoNear_ManyColumns(t *testing.T) {
	t.Parallel()
	entry := document.NewBuilder(0)
	for i := range 5_000 {
		entry.Set(fmt.Sprint("column", i), document.A(i%90, 1))
	}
	a := newApps(t, entry.Object().String())
	_, err := a.mine.FetchGeoNearFromDataSource(t.Context(), datasource.FetchGeoNearParams{
		DataSourceID: table, Data: document.O("near", document.A(1, 1)),
	})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.ErrorContains(t, err, `"column0"`)
	require.ErrorContains(t, err, "and 4980 more")
	require.Less(t, len(err.Error()), 1_000)
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

func TestFetch_ErrorsOfTheOperation(t *testing.T) {
	t.Parallel()
	s := newApps(t).mine
	_, err := datasource.Fetch[shop](t.Context(), s, datasource.FetchParams{})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = datasource.Fetch[shop](t.Context(), s, datasource.FetchParams{DataSourceID: table, Count: true})
	require.EqualError(t, err, "fetchDataFromDataSource: invalid argument: count: is not supported by Fetch; call CountDataSource to count")
	_, err = datasource.FindAndModify[shop](t.Context(), s, datasource.FindAndModifyParams{DataSourceID: table})
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
