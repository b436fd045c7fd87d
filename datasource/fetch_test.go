package datasource_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
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
		var entries datasource.FetchDataFromDataSourceResult
		require.NoError(t, json.Unmarshal([]byte(text), &entries))
		written, err := json.Marshal(entries)
		require.NoError(t, err)
		require.Equal(t, text, string(written))
	}
	for _, text := range []string{`[]`, `["a",null,1]`, `3`} {
		var values datasource.FetchDistinctDataFromDataSourceResult
		require.NoError(t, json.Unmarshal([]byte(text), &values))
		written, err := json.Marshal(values)
		require.NoError(t, err)
		require.Equal(t, text, string(written))
	}
	var near datasource.FetchGeoNearFromDataSourceResult
	require.NoError(t, json.Unmarshal([]byte(`[{"_id": 1}]`), &near))
	require.Equal(t, int64(1), near.Count)
}

func TestService_ContextEnded(t *testing.T) {
	t.Parallel()
	a := shops(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := a.mine.FetchDataFromDataSource(ctx, datasource.FetchDataFromDataSourceParams{DataSourceID: table})
	require.ErrorIs(t, err, boterr.Canceled)
	_, err = a.mine.UpsertDataToDataSource(ctx, datasource.UpsertDataToDataSourceParams{
		DataSourceID: table, Data: nil,
	})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = a.mine.PatchDataToDataSource(ctx, datasource.PatchDataToDataSourceParams{
		DataSourceID: table, Patch: object(t, `{"n": 1}`),
	})
	require.ErrorIs(t, err, boterr.Canceled)
	count, err := a.mine.CountDataSource(t.Context(), datasource.CountDataSourceParams{
		DataSourceID: table, Filter: object(t, `{"n": 1}`),
	})
	require.NoError(t, err)
	require.Zero(t, count)
}
