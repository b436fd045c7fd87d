package botctxtest

import (
	"math"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

var geoRules = geo([]Rule{
	{
		Name:  "FetchGeoNearFromDataSourceReturnsNearestFirst",
		Text:  "fetchGeoNearFromDataSource returns the entries that have a place, nearest first",
		check: geoNearReturnsNearestFirst,
	},
	{
		Name:  "FetchGeoNearFromDataSourceKeepsToItsBounds",
		Text:  "maxDistance, minDistance, limit and query say which entries; none is an empty list and never null",
		check: geoNearKeepsToItsBounds,
	},
	{
		Name:  "FetchGeoNearFromDataSourceMeasures",
		Text:  "the distance is given where distanceField asks for it: in metres with GeoJSON, in radians or flat units with a legacy pair",
		check: geoNearMeasures,
	},
	{
		Name:  "FetchGeoNearFromDataSourceTakesAKey",
		Text:  "key says which column holds the place",
		check: geoNearTakesAKey,
	},
	{
		Name:  "FetchGeoNearFromDataSourceStaysInTheApp",
		Text:  "entries of another app do not exist for fetchGeoNearFromDataSource, whatever the query says",
		check: geoNearStaysInTheApp,
	},
})

// geo returns rules that all need geo queries.
func geo(rules []Rule) []Rule { return in(GeoQueries, rules) }

// point returns a GeoJSON point.
func point(longitude, latitude float64) document.Object {
	return document.O("type", "Point", "coordinates", document.A(longitude, latitude))
}

// seedPlaces puts places on the equator into the source: one each in GeoJSON and as a
// legacy pair, and what is no place.
func (t *trial) seedPlaces(p *place) {
	t.Helper()
	t.seed(p,
		document.O("_id", "far", "location", point(3, 0), "open", true),
		document.O("_id", "near", "location", document.A(1, 0), "open", true),
		document.O("_id", "middle", "location", point(2, 0), "open", false),
		document.O("_id", "nowhere"))
}

// near returns the entries near a point, without an error.
func (t *trial) near(pairs ...any) []document.Object {
	t.Helper()
	found, err := t.home.FetchGeoNearFromDataSource(t.ctx(), datasource.FetchGeoNearFromDataSourceParams{
		DataSourceID: source, Data: document.O(pairs...),
	})
	require.NoError(t, err)
	require.NotNil(t, found.Entries)
	require.Equal(t, int64(len(found.Entries)), found.Count)
	return found.Entries
}

func geoNearReturnsNearestFirst(t *trial) {
	t.seedPlaces(t.home)
	t.requireIDs([]any{"near", "middle", "far"}, t.near("near", point(0, 0)))
	t.requireIDs([]any{"far", "middle", "near"}, t.near("near", point(10, 0)))
	t.requireIDs([]any{"near", "middle", "far"}, t.near("near", document.A(0, 0)))
	found, err := t.home.FetchGeoNearFromDataSource(t.ctx(), datasource.FetchGeoNearFromDataSourceParams{
		CollectionName: source, Data: document.O("near", point(0, 0)),
	})
	require.NoError(t, err)
	t.requireEntry(document.O("_id", "near", "location", document.A(1, 0), "open", true), &found.Entries[0])
}

func geoNearKeepsToItsBounds(t *trial) {
	t.seedPlaces(t.home)
	const degree = math.Pi / 180 * query.EarthRadius // One degree of the equator in metres.
	t.requireIDs([]any{"near"}, t.near("near", point(0, 0), "maxDistance", 1.5*degree))
	t.requireIDs([]any{"middle", "far"}, t.near("near", point(0, 0), "minDistance", 1.5*degree))
	t.requireIDs([]any{"middle"}, t.near("near", point(0, 0), "minDistance", 1.5*degree, "maxDistance", 2.5*degree))
	t.requireIDs([]any{"near", "middle"}, t.near("near", point(0, 0), "limit", 2))
	t.requireIDs([]any{"near", "far"}, t.near("near", point(0, 0), "query", document.O("open", true)))
	t.requireIDs([]any{"near"}, t.near("near", document.A(0, 0), "maxDistance", 1.5))
	require.Empty(t, t.near("near", point(0, 0), "maxDistance", 1))
}

func geoNearMeasures(t *trial) {
	t.seedPlaces(t.home)
	for _, test := range []struct {
		name     string
		near     any
		isSphere bool
		expected float64
	}{
		{"metres", point(0, 0), false, math.Pi / 180 * query.EarthRadius},
		{"radians", document.A(0, 0), true, math.Pi / 180},
		{"flat units", document.A(0, 0), false, 1},
	} {
		t.try(test.name, func(t *trial) {
			found := t.near("near", test.near, "spherical", test.isSphere, "distanceField", "how.far", "limit", 1)
			require.InEpsilon(t, test.expected, document.Get(found[0], "how.far", 0.0), 1e-6)
			tenfold := t.near("near", test.near, "spherical", test.isSphere, "distanceField", "how.far", "distanceMultiplier", 10)
			require.InEpsilon(t, 10*test.expected, document.Get(tenfold[0], "how.far", 0.0), 1e-6)
		})
	}
	require.False(t, t.near("near", point(0, 0))[0].Has("how"), "a distance that nobody asked for")
	require.False(t, t.all(t.home)[0].Has("how"), "a distance is not stored")
}

func geoNearTakesAKey(t *trial) {
	t.seed(t.home,
		document.O("_id", "a", "home", point(1, 0), "work", document.O("at", point(4, 0))),
		document.O("_id", "b", "home", point(2, 0), "work", document.O("at", point(3, 0))))
	t.requireIDs([]any{"a", "b"}, t.near("near", point(0, 0), "key", "home"))
	t.requireIDs([]any{"b", "a"}, t.near("near", point(0, 0), "key", "work.at"))
}

func geoNearStaysInTheApp(t *trial) {
	t.seedPlaces(t.away)
	require.Empty(t, t.near("near", point(0, 0)))
	for _, query := range scopeless(t.away.scope.App) {
		require.Empty(t, t.near("near", point(0, 0), "query", query), "the entries that match %v", query)
	}
}
