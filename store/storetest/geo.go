package storetest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

var geoRules = []Rule{
	{
		Name:  "GeoNearReturnsNearestFirst",
		Text:  "GeoNear returns the documents that have a point, nearest first, ties in the order of insertion",
		Needs: []Capability{GeoQueries},
		check: geoNearReturnsNearestFirst,
	},
	{
		Name:  "GeoNearKeepsToItsBounds",
		Text:  "GeoNear returns what matches the query's filter and lies within its distances, up to its limit",
		Needs: []Capability{GeoQueries},
		check: geoNearKeepsToItsBounds,
	},
	{
		Name:  "GeoNearWritesIntoResultsOnly",
		Text:  "the distance and the point are in the documents that come back, not in what is stored",
		Needs: []Capability{GeoQueries},
		check: geoNearWritesIntoResultsOnly,
	},
	{
		Name:  "GeoNearMeasuresLegacyPairs",
		Text:  "distances of legacy pairs are in the units of the coordinates",
		Needs: []Capability{GeoQueries},
		check: geoNearMeasuresLegacyPairs,
	},
	{
		Name:  "GeoIndexesAreTaken",
		Text:  "an index of kind Geo2D or Geo2DSphere serves the field of its key",
		Needs: []Capability{GeoQueries, GeoIndexes},
		check: geoIndexesAreTaken,
	},
}

// equator returns the GeoJSON point on the equator at a longitude.
func equator(longitude float64) document.Object {
	return document.O("type", "Point", "coordinates", document.A(longitude, 0))
}

// near searches, without an error.
func (t *trial) near(pairs ...any) []query.GeoResult {
	t.Helper()
	query, err := query.CompileGeoNear(document.O(pairs...))
	require.NoError(t, err)
	results, err := t.GeoNear(t.ctx(), query)
	require.NoError(t, err)
	require.NotNil(t, results, "the slice is nil")
	return results
}

// requireNear checks the _ids of results.
func (t *trial) requireNear(expected []any, results []query.GeoResult) {
	t.Helper()
	documents := make([]document.Object, 0, len(results))
	for _, result := range results {
		documents = append(documents, result.Document)
	}
	t.requireIDs(expected, documents)
}

// insertPlaces inserts places on the equator, by their longitude, which for one
// degree is 111.3 km.
func (t *trial) insertPlaces() {
	t.Helper()
	t.insert(
		document.O("_id", "three", "at", equator(3), "open", true),
		document.O("_id", "one", "at", equator(1), "open", true),
		document.O("_id", "nowhere", "open", true),
		document.O("_id", "minus one", "at", equator(-1), "open", false),
		document.O("_id", "text", "at", "1, 0", "open", true),
		document.O("_id", "two", "at", equator(2), "open", true),
	)
}

func geoNearReturnsNearestFirst(t *trial) {
	t.requireNear([]any{}, t.near("near", equator(0), "key", "at"))
	t.insertPlaces()
	results := t.near("near", equator(0), "key", "at")
	t.requireNear([]any{"one", "minus one", "two", "three"}, results)
	for i, degrees := range []float64{1, 1, 2, 3} {
		require.InEpsilon(t, degrees*111_318.8, results[i].Distance, 1e-5)
	}
}

func geoNearKeepsToItsBounds(t *trial) {
	t.insertPlaces()
	origin := equator(0)
	t.requireNear([]any{"one", "two", "three"}, t.near("near", origin, "key", "at", "query", document.O("open", true)))
	t.requireNear([]any{"one", "minus one"}, t.near("near", origin, "key", "at", "maxDistance", 150_000))
	t.requireNear([]any{"two", "three"}, t.near("near", origin, "key", "at", "minDistance", 150_000))
	t.requireNear([]any{"one", "minus one", "two"}, t.near("near", origin, "key", "at", "limit", 3))
	t.requireNear([]any{"two"}, t.near("near", origin, "key", "at", "query", document.O("_id", "two"), "limit", 3))
}

func geoNearWritesIntoResultsOnly(t *trial) {
	held := document.O("_id", 1, "at", equator(0))
	t.insert(held)
	results := t.near("near", equator(0), "key", "at", "distanceField", "far.away", "includeLocs", "where")
	require.Len(t, results, 1)
	require.Equal(t, literal(0.0), literal(document.Get[any](results[0].Document, "far.away", nil)))
	require.Equal(t, literal(equator(0)), literal(document.Get[any](results[0].Document, "where", nil)))
	t.requireHolds(held)
}

func geoNearMeasuresLegacyPairs(t *trial) {
	t.insert(
		document.O("_id", "far", "at", document.A(6, 8)),
		document.O("_id", "close", "at", document.O("x", 3, "y", 4)),
	)
	results := t.near("near", document.A(0, 0), "key", "at", "maxDistance", 10)
	t.requireNear([]any{"close", "far"}, results)
	require.InDelta(t, 5, results[0].Distance, 1e-9)
	require.InDelta(t, 10, results[1].Distance, 1e-9)
}

func geoIndexesAreTaken(t *trial) {
	for _, kind := range []query.IndexKind{query.Geo2D, query.Geo2DSphere} {
		c := t.with(t.store.Collection("storetest." + string(kind)))
		require.NoError(t, c.EnsureIndex(t.ctx(), store.Index{Keys: []store.IndexKey{{Path: "in.at", Kind: kind}}}))
		c.insert(document.O("_id", 1, "in", document.O("at", document.A(1, 1))), document.O("_id", 2))
		c.requireNear([]any{1}, c.near("near", document.A(0, 0), "spherical", kind == query.Geo2DSphere))
	}
}
