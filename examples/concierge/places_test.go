package main

import (
	"math"
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
	for name, c := range map[string]struct {
		text  string
		order PairOrder
		want  string
		pairs PairOrder
	}{
		"a pair":                          {`[{"location": [52.2, 0.12]}]`, LatitudeFirst, cambridge, LatitudeFirst},
		"a pair the other way round":      {`[{"location": [0.12, 52.2]}]`, LongitudeFirst, cambridge, LongitudeFirst},
		"a pair that another shows to be": {`[{"location": [0.12, 52.2]}, {"location": [151, -33]}]`, LatitudeFirst, cambridge, LongitudeFirst},
		"GeoJSON":                         {`[{"location": {"type": "Point", "coordinates": [0.12, 52.2]}}]`, LatitudeFirst, cambridge, ""},
		"an object":                       {`[{"location": {"lat": 52.2, "lng": 0.12}}]`, LongitudeFirst, cambridge, ""},
		"no point":                        {`[{"location": "somewhere"}]`, LatitudeFirst, `"somewhere"`, ""},
		"off the globe":                   {`[{"location": [52.2, 300]}]`, LatitudeFirst, `[52.2,300]`, LatitudeFirst},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			places, err := ReadPlaces([]byte(c.text), c.order)
			require.NoError(t, err)
			location, _ := places.Entries[0].Field("location")
			got, err := document.EncodeJSON(location)
			require.NoError(t, err)
			require.JSONEq(t, c.want, string(got))
			require.Equal(t, c.pairs, places.Pairs)
		})
	}
}

func TestPlaces_AnyArrayOfObjects(t *testing.T) {
	t.Parallel()
	places, err := ReadPlaces([]byte(`[
		{"name": "A", "fee": "?", "seats": 5, "kind": "bar"},
		{"a.b": 1, "$c": {"d.e": null}, "": true, "createdAt": "long ago", "updatedAt": 1, "_id": null},
		{"_id": 7, "location": null, "seats": "many", "name": 3}, {}]`), LatitudeFirst)
	require.NoError(t, err)

	p := fakes.New(fakes.For(t))
	require.NoError(t, places.Save(t.Context(), p.Operations(botctx.Scope{})))
	stored := p.Data(placesID)

	require.Len(t, stored, 4)
	require.Equal(t, []string{"kind", "seats"}, places.Columns, "the columns that hold texts")
	require.False(t, stored[0].Has("fee"), "? is not known")
	require.Equal(t, 5, document.Get(stored[0], columnSeatsFree, 0))
	require.Equal(t, 1, document.Get(stored[1], "a_b", 0))
	require.Equal(t, "Place 2", document.Get(stored[1], "name", ""))
	require.Equal(t, 7, document.Get(stored[2], "_id", 0))
	require.Equal(t, seatsOfOthers, document.Get(stored[2], columnSeatsFree, 0))
}

func TestPlaces_Refuse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``:                  "it must be a JSON array of objects: invalid argument: is no JSON",
		`[{"name": "A"},]`:  "it must be a JSON array of objects: invalid argument: is no JSON",
		`{"name": "A"}`:     "it must be a JSON array of objects",
		`[{}, 5]`:           "it must be a JSON array of objects",
		`[{"name":1},null]`: "element 1 is null",
		`[]`:                "there is no place in it",
		`null`:              "there is no place in it",
	} {
		_, err := ReadPlaces([]byte(text), LatitudeFirst)
		require.ErrorContains(t, err, want, text)
	}
}

// TestPlaces_NearestOfReal compares the geo query with the haversine formula, on every
// real file and from every place in it.
func TestPlaces_NearestOfReal(t *testing.T) {
	t.Parallel()
	for file, count := range map[string]int{"restaurant.json": 110, "attraction.json": 79, "hotel.json": 33} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			text := []byte(readShared(t, "places", file))
			places, err := ReadPlaces(text, LatitudeFirst)
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

// requireNearest asks for all places near a point, and checks distances and order.
func requireNearest(t *testing.T, p *fakes.Platform, latitude, longitude float64) {
	t.Helper()
	found, err := p.Operations(botctx.Scope{}).FetchGeoNearFromDataSource(t.Context(), datasource.FetchGeoNearFromDataSourceParams{
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

// haversine returns the distance of two points in metres, on the sphere that MongoDB
// has: of a radius of 6378.1 km.
func haversine(latitude1, longitude1, latitude2, longitude2 float64) float64 {
	const radius, degree = 6378100, math.Pi / 180
	half := func(x float64) float64 { return math.Sin(x*degree/2) * math.Sin(x*degree/2) }
	h := half(latitude2-latitude1) + math.Cos(latitude1*degree)*math.Cos(latitude2*degree)*half(longitude2-longitude1)
	return 2 * radius * math.Asin(math.Sqrt(h))
}
