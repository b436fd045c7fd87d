package datasources_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
)

// Real places, next to a checkout of the project, are found in the order of their distances, from each of them.
func TestFetchGeoNear_RealPlaces(t *testing.T) {
	t.Parallel()
	for file, count := range map[string]int{"restaurant.json": 110, "attraction.json": 79, "hotel.json": 33} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join("..", "..", "..", "shared", "data", "places", file)
			text, err := os.ReadFile(path)
			if os.IsNotExist(err) {
				t.Skipf("%s does not exist, so nothing is checked against real places", path)
			}
			require.NoError(t, err)
			var places []document.Object
			require.NoError(t, document.DecodeJSON(text, &places))
			require.Len(t, places, count)
			service := newApps(t).mine
			for i, place := range places { // Locations are [latitude, longitude] in the files.
				at := document.Get(place, "location", []float64(nil))
				places[i] = document.O("_id", i, "location", document.A(at[1], at[0]))
			}
			_, err = service.UpsertDataToDataSource(t.Context(), datasource.UpsertParams{DataSourceID: table, Data: document.One(places...)})
			require.NoError(t, err)
			for _, place := range places {
				from := document.Get(place, "location", []float64(nil))
				found, err := service.FetchGeoNearFromDataSource(t.Context(), datasource.FetchGeoNearParams{
					DataSourceID: table,
					Data: document.O("near", document.O("type", "Point", "coordinates", document.A(from[0], from[1])),
						"key", "location", "distanceField", "metres", "spherical", true),
				})
				require.NoError(t, err)
				require.Len(t, found.Entries, count)
				last := 0.0
				for _, entry := range found.Entries {
					metres := document.Get(entry, "metres", -1.0)
					require.GreaterOrEqual(t, metres, last)
					at := document.Get(entry, "location", []float64(nil))
					require.InDelta(t, haversine(from[1], from[0], at[1], at[0]), metres, 0.01)
					last = metres
				}
			}
		})
	}
}

// haversine returns the distance of two points in metres, on MongoDB's sphere with a radius of 6378.1 km.
func haversine(latitude1, longitude1, latitude2, longitude2 float64) float64 {
	const radius, degree = 6378100, math.Pi / 180
	half := func(x float64) float64 { return math.Sin(x*degree/2) * math.Sin(x*degree/2) }
	h := half(latitude2-latitude1) + math.Cos(latitude1*degree)*math.Cos(latitude2*degree)*half(longitude2-longitude1)
	return 2 * radius * math.Asin(math.Sqrt(h))
}
