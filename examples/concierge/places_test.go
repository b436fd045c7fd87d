package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
)

func TestPlaces_Locations(t *testing.T) {
	t.Parallel()
	const cambridge = `{"type":"Point","coordinates":[0.12,52.2]}`
	for text, want := range map[string]string{
		`[{"location": [52.2, 0.12]}]`:                                   cambridge,
		`[{"location": {"type": "Point", "coordinates": [0.12, 52.2]}}]`: cambridge,
		`[{"location": "somewhere"}]`:                                    `"somewhere"`,
		`[{"location": [52.2, 300]}]`:                                    `[52.2,300]`,
	} {
		places, err := ReadPlaces([]byte(text))
		require.NoError(t, err)
		location, _ := places.Entries[0].Field("location")
		got, err := document.EncodeJSON(location)
		require.NoError(t, err)
		require.JSONEq(t, want, string(got))
	}
}

func TestPlaces_WhatIsNotKnown(t *testing.T) {
	t.Parallel()
	places, err := ReadPlaces([]byte(`[
		{"name": "A", "fee": "?", "seats": 5, "kind": "bar"}, {"_id": null, "many": 1},
		{"_id": 7, "location": null, "seats": "many", "name": 3}, {}]`))
	require.NoError(t, err)

	p := fakes.New(fakes.For(t))
	require.NoError(t, places.Save(t.Context(), p.Operations(botctx.Scope{})))
	stored := p.Data(placesID)

	require.Len(t, stored, 4)
	require.Equal(t, []string{"kind", "seats"}, places.Columns, "the columns that hold texts")
	require.False(t, stored[0].Has("fee"), "? is not known")
	require.Equal(t, 5, document.Get(stored[0], columnSeatsFree, 0))
	require.Equal(t, "Place 2", document.Get(stored[1], "name", ""))
	require.Equal(t, 7, document.Get(stored[2], "_id", 0))
	require.Equal(t, seatsOfOthers, document.Get(stored[2], columnSeatsFree, 0))
}

func TestPlaces_Refuse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``:                  "it must be a JSON array of objects: invalid argument: is not valid JSON",
		`[{"name": "A"},]`:  "it must be a JSON array of objects: invalid argument: is not valid JSON",
		`{"name": "A"}`:     "it must be a JSON array of objects",
		`[{}, 5]`:           "it must be a JSON array of objects",
		`[{"name":1},null]`: "element 1 is null",
		`[]`:                "it contains no places",
		`null`:              "it contains no places",
	} {
		_, err := ReadPlaces([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
}

// TestPlaces_NearestOfReal compares the geo query with the haversine formula, on every real file and from
// every place in it.
func TestPlaces_NearestOfReal(t *testing.T) {
	t.Parallel()
	for file, count := range map[string]int{"restaurant.json": 110, "attraction.json": 79, "hotel.json": 33} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join("..", "..", "..", "shared", "data", "places", file)
			text, err := os.ReadFile(path)
			if os.IsNotExist(err) {
				t.Skipf("SKIPPED: the real data is absent: there is no %s beside this clone, so nothing was checked against it", path)
			}
			require.NoError(t, err)
			places, err := ReadPlaces(text)
			require.NoError(t, err)
			require.Len(t, places.Entries, count)
			require.Subset(t, places.Columns, []string{"area", "type", "pricerange"})
			p := fakes.New(fakes.For(t))
			require.NoError(t, places.Save(t.Context(), p.Operations(botctx.Scope{})))

			var rows []struct {
				Location []float64 `json:"location"`
			}
			require.NoError(t, document.DecodeJSON(text, &rows))
			for _, row := range rows {
				requireNearest(t, p, row.Location[0], row.Location[1])
			}
		})
	}
}

// requireNearest queries all places near a point, and checks distances and order.
func requireNearest(t *testing.T, p *fakes.Platform, latitude, longitude float64) {
	t.Helper()
	found, err := p.Operations(botctx.Scope{}).FetchGeoNearFromDataSource(t.Context(), datasource.FetchGeoNearParams{
		DataSourceID: placesID,
		Data:         document.O("near", point(longitude, latitude), "key", "location", "distanceField", columnMetres),
	})
	require.NoError(t, err)
	require.Len(t, found.Entries, len(p.Data(placesID)))
	last := 0.0
	for _, entry := range found.Entries {
		metres := document.Get(entry, columnMetres, -1.0)
		require.GreaterOrEqual(t, metres, last)
		at := document.Get(entry, "location.coordinates", []float64(nil))
		require.InDelta(t, haversine(latitude, longitude, at[1], at[0]), metres, 0.01)
		require.Less(t, metres, 40_000.0, "all are in or around one city")
		last = metres
	}
}

// haversine returns the distance of two points in metres, on MongoDB's sphere with a radius of 6378.1 km.
func haversine(latitude1, longitude1, latitude2, longitude2 float64) float64 {
	const radius, degree = 6378100, math.Pi / 180
	half := func(x float64) float64 { return math.Sin(x*degree/2) * math.Sin(x*degree/2) }
	h := half(latitude2-latitude1) + math.Cos(latitude1*degree)*math.Cos(latitude2*degree)*half(longitude2-longitude1)
	return 2 * radius * math.Asin(math.Sqrt(h))
}
