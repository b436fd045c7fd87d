package botctxtest

import (
	"fmt"
	"math"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/internal/record"
)

// seed adds entries to the data source of a place.
func (t *trial) seed(p *place, entries ...document.Object) {
	t.Helper()
	must(t, p.UpsertDataToDataSource, datasource.UpsertParams{DataSourceID: source, Data: entries})
}

func (t *trial) fetch(p *place, params datasource.FetchParams) []document.Object {
	t.Helper()
	found := must(t, p.FetchDataFromDataSource, params)
	return found.Entries
}

func (t *trial) all(p *place) []document.Object {
	t.Helper()
	return t.fetch(p, datasource.FetchParams{DataSourceID: source})
}

// requireHolds checks that the data source of a place has exactly these entries in this order, ignoring their times.
func (t *trial) requireHolds(p *place, expected ...document.Object) {
	t.Helper()
	t.requireEntries(expected, t.all(p))
}

// requireEntries compares entries, ignoring their times.
func (t *trial) requireEntries(expected, actual []document.Object) {
	t.Helper()
	require.Equal(t, texts(expected), texts(actual))
}

// requireEntry compares one entry, ignoring its times.
func (t *trial) requireEntry(expected document.Object, actual *document.Object) {
	t.Helper()
	require.NotNil(t, actual)
	require.Equal(t, columns(expected).String(), columns(*actual).String())
}

// requireIDs checks the ids of entries, in order.
func (t *trial) requireIDs(expected []any, entries []document.Object) {
	t.Helper()
	ids := make([]any, 0, len(entries))
	for _, entry := range entries {
		id, _ := entry.Field(record.FieldID)
		ids = append(ids, id)
	}
	require.Equal(t, document.A(expected...).String(), document.A(ids...).String())
}

// texts returns entries as texts, without their times.
func texts(entries []document.Object) []string {
	all := make([]string, 0, len(entries))
	for _, entry := range entries {
		all = append(all, columns(entry).String())
	}
	return all
}

// columns returns an entry without its times and with sorted columns, because the order of columns after an update depends
// on the database. Nested objects keep their order.
func columns(entry document.Object) document.Object {
	sorted := document.O()
	for _, column := range slices.Sorted(slices.Values(entry.Keys())) {
		if value, _ := entry.Field(column); column != record.FieldCreatedAt && column != record.FieldUpdatedAt {
			sorted = sorted.With(column, value)
		}
	}
	return sorted
}

var findDataRules = []Rule{
	rule(findAndModifyDataFromDataSourceTakesModifiers,
		"withModifier of findAndModifyDataFromDataSource is true by default: patch is an update-modifier document or a replacement"),
	rule(findAndModifyDataFromDataSourceSetsFields, "patch is applied as a $set of its fields when withModifier is false"),
	rule(findAndModifyDataFromDataSourceReturnsBeforeOrAfter,
		"when option.new is true the modified entry is returned, otherwise the original; ok is 1"),
	rule(findAndModifyDataFromDataSourceOfNothing, "when nothing matches, the value is null and nothing is changed"),
	rule(findAndModifyDataFromDataSourceTakesTheFirst,
		"only the first entry in the order of sortBy or option.sort, by each key in turn, is modified; the default is the order of insertion"),
	rule(findAndModifyDataFromDataSourceUpserts,
		"with option.upsert an entry is inserted if none matches, and returned only with option.new"),
	rule(findAndModifyDataFromDataSourceFiltersElements,
		"option.arrayFilters select the elements for each $[name]", ArrayFilters),
	rule(findAndModifyDataFromDataSourceRefusesAnIDThatExists, "an upsert that would insert an existing _id is AlreadyExists"),
}

type findDataParams = datasource.FindAndModifyParams

func (t *trial) findData(p findDataParams) *document.Object {
	t.Helper()
	p.DataSourceID = source
	result := must(t, t.home.FindAndModifyDataFromDataSource, p)
	require.Equal(t, 1, result.OK, "ok")
	return result.Value
}

func findAndModifyDataFromDataSourceTakesModifiers(t *trial) {
	t.seed(t.home, document.O("_id", "a", "n", 1))
	for _, withModifier := range []*bool{nil, new(true)} {
		t.findData(findDataParams{Filter: document.O(), Patch: document.Inc("n", 2), WithModifier: withModifier})
	}
	t.requireHolds(t.home, document.O("_id", "a", "n", 5))
	t.findData(findDataParams{Filter: document.O("_id", "a"), Patch: document.O("m", 1)})
	t.requireHolds(t.home, document.O("_id", "a", "m", 1))
}

func findAndModifyDataFromDataSourceSetsFields(t *trial) {
	t.seed(t.home, document.O("_id", "a", "n", 1, "m", document.O("x", 1, "y", 1)))
	t.findData(findDataParams{Filter: document.O(), Patch: document.O("n", 2, "m.x", 2), WithModifier: new(false)})
	t.requireHolds(t.home, document.O("_id", "a", "n", 2, "m", document.O("x", 2, "y", 1)))
}

func findAndModifyDataFromDataSourceReturnsBeforeOrAfter(t *trial) {
	t.seed(t.home, document.O("_id", "a", "n", 1))
	increment := findDataParams{Filter: document.O("_id", "a"), Patch: document.Inc("n", 1)}
	t.requireEntry(document.O("_id", "a", "n", 1), t.findData(increment))
	increment.Option.New = true
	t.requireEntry(document.O("_id", "a", "n", 3), t.findData(increment))
}

func findAndModifyDataFromDataSourceOfNothing(t *trial) {
	t.seed(t.home, document.O("_id", "a", "n", 1))
	before := t.state()
	for _, isNew := range []bool{false, true} {
		require.Nil(t, t.findData(findDataParams{
			Filter: document.O("n", 2), Patch: document.Set("n", 3), Option: datasource.FindAndModifyOption{New: isNew},
		}))
	}
	require.Equal(t, before, t.state())
}

func findAndModifyDataFromDataSourceTakesTheFirst(t *trial) {
	t.seed(t.home,
		document.O("_id", "c", "n", 2), document.O("_id", "b", "n", 1), document.O("_id", "a", "n", 1), document.O("_id", "d", "n", 3))
	for _, test := range []struct {
		sortBy, sort document.Object
		expected     string
	}{
		{document.O("n", -1), document.Object{}, "d"},
		{document.Object{}, document.O("n", 1, "_id", 1), "a"},
		{document.Object{}, document.Object{}, "c"},
		{document.O("n", 1), document.O("n", 1), "b"},
	} {
		found := t.findData(findDataParams{
			Filter: document.O("taken", nil), Patch: document.Set("taken", true),
			SortBy: test.sortBy, Option: datasource.FindAndModifyOption{Sort: test.sort},
		})
		require.Equal(t, test.expected, document.Get(found, "_id", ""), "sorted by %v, %v", test.sortBy, test.sort)
	}
}

func findAndModifyDataFromDataSourceUpserts(t *trial) {
	upsert := findDataParams{Filter: document.O("_id", "a"), Patch: document.Inc("n", 1)}
	upsert.Option.Upsert = true
	require.Nil(t, t.findData(upsert), "an entry that was inserted, without option.new")
	t.requireHolds(t.home, document.O("_id", "a", "n", 1))
	upsert.Filter, upsert.Option.New = document.O("_id", "b", "kind", "x"), true
	t.requireEntry(document.O("_id", "b", "kind", "x", "n", 1), t.findData(upsert))
	t.requireEntry(document.O("_id", "b", "kind", "x", "n", 2), t.findData(upsert))
	require.Len(t, t.all(t.home), 2)
}

func findAndModifyDataFromDataSourceFiltersElements(t *trial) {
	t.seed(t.home, document.O("_id", "a", "list", document.A(1, 5, 9)))
	t.findData(findDataParams{
		Filter: document.O(), Patch: document.Set("list.$[big]", 0),
		Option: datasource.FindAndModifyOption{ArrayFilters: []document.Object{document.O("big", document.O("$gt", 4))}},
	})
	t.requireHolds(t.home, document.O("_id", "a", "list", document.A(1, 0, 0)))
}

func findAndModifyDataFromDataSourceRefusesAnIDThatExists(t *trial) {
	t.seed(t.home, document.O("_id", "a", "n", 1))
	before := t.state()
	result, err := t.home.FindAndModifyDataFromDataSource(t.Context(), findDataParams{
		DataSourceID: source, Filter: document.O("_id", "a", "n", 2), Patch: document.Set("n", 3),
		Option: datasource.FindAndModifyOption{Upsert: true},
	})
	require.Equal(t, string(botctx.OpFindAndModifyDataFromDataSource), t.failure(boterr.AlreadyExists, err).Op)
	require.Zero(t, result)
	require.Equal(t, before, t.state())
}

var countRules = []Rule{
	rule(countDataSourceCountsWhatMatches, "countDataSource returns the number of entries that match, and of all without a filter"),
}

var fetchRules = []Rule{
	rule(fetchDataFromDataSourceReturnsWhatMatches,
		"fetchDataFromDataSource returns the entries that match, all columns of each, and all without a filter"),
	rule(fetchDataFromDataSourceOrders,
		"entries are in the order of sortBy, by each key in turn; ties, and all entries without sortBy, are in the order of insertion"),
	rule(fetchDataFromDataSourceCounts, "count of fetchDataFromDataSource is false by default; if it is true, the result is only the number"),
	rule(fetchDataFromDataSourcePages, "skip is the number of entries to leave out, and limit the maximum number of the others; 0 means all"),
	rule(fetchDataFromDataSourceOfNothing, "if nothing matches, the list is empty and not null"),
	rule(fetchDataFromDataSourceIsTheCallersOwn, "changing the result does not change the stored record"),
}

var distinctRules = []Rule{
	rule(fetchDistinctDataFromDataSourceReturnsEachValueOnce,
		"fetchDistinctDataFromDataSource returns each value of the key once, in the order of first occurrence; elements of lists count"),
	rule(fetchDistinctDataFromDataSourceCounts,
		"count of fetchDistinctDataFromDataSource is false by default; if it is true, the result is only the number of values"),
	rule(fetchDistinctDataFromDataSourceOfNothing, "if no entry has the key, the list is empty and not null"),
}

func (t *trial) seedNumbers() {
	t.Helper()
	t.seed(t.home,
		document.O("_id", "c", "n", 2, "kind", "x"), document.O("_id", "b", "n", 1, "kind", "x"),
		document.O("_id", "a", "n", 1, "kind", "y"), document.O("_id", "d", "n", 3))
}

func countDataSourceCountsWhatMatches(t *trial) {
	t.seedNumbers()
	for filter, expected := range map[*document.Object]int64{
		{}:                           4,
		new(document.O()):            4,
		new(document.O("kind", "x")): 2,
		new(document.O("kind", nil)): 1,
		new(document.O("n", document.O("$gte", 2))): 2,
		new(document.O("n", 9)):                     0,
	} {
		for _, params := range []datasource.CountParams{
			{DataSourceID: source, Filter: *filter},
			{CollectionName: source, Filter: *filter},
			{CollectionName: source, DataSourceID: source, Filter: *filter},
		} {
			counted := must(t, t.home.CountDataSource, params)
			require.Equal(t, expected, counted, "the entries that match %v", *filter)
		}
	}
	counted := must(t, t.home.CountDataSource, datasource.CountParams{DataSourceID: "nothing"})
	require.Zero(t, counted, "a data source that does not exist")
}

func fetchDataFromDataSourceReturnsWhatMatches(t *trial) {
	t.seedNumbers()
	t.requireIDs([]any{"c", "b", "a", "d"}, t.all(t.home))
	t.requireIDs([]any{"c", "b", "a", "d"}, t.fetch(t.home, datasource.FetchParams{CollectionName: source}))
	found := t.fetch(t.home, datasource.FetchParams{DataSourceID: source, Filter: document.O("kind", "x")})
	t.requireEntries([]document.Object{
		document.O("_id", "c", "n", 2, "kind", "x"), document.O("_id", "b", "n", 1, "kind", "x"),
	}, found)
	for _, entry := range found {
		require.Positive(t, document.Get(entry, "createdAt", 0))
		require.Positive(t, document.Get(entry, "updatedAt", 0))
		require.Equal(t, 5, entry.Len(), "an entry holds _id, createdAt, updatedAt and the caller's columns: %v", entry)
	}
}

func fetchDataFromDataSourceOrders(t *trial) {
	t.seedNumbers()
	for _, test := range []struct {
		sortBy   document.Object
		expected []any
	}{
		{document.O("n", 1), []any{"b", "a", "c", "d"}},
		{document.O("n", -1), []any{"d", "c", "b", "a"}},
		{document.O("n", 1, "_id", 1), []any{"a", "b", "c", "d"}},
		{document.O("kind", 1, "n", -1), []any{"d", "c", "b", "a"}},
		{document.O("n", -1, "kind", -1), []any{"d", "c", "a", "b"}},
		{document.O(), []any{"c", "b", "a", "d"}},
	} {
		t.try(test.sortBy.String(), func(t *trial) {
			t.requireIDs(test.expected,
				t.fetch(t.home, datasource.FetchParams{DataSourceID: source, SortBy: test.sortBy}))
		})
	}
}

func fetchDataFromDataSourceCounts(t *trial) {
	t.seedNumbers()
	params := datasource.FetchParams{DataSourceID: source, Filter: document.O("kind", "x")}
	listed := must(t, t.home.FetchDataFromDataSource, params)
	require.Len(t, listed.Entries, 2)
	require.Equal(t, int64(2), listed.Count)
	params.Count = true
	counted := must(t, t.home.FetchDataFromDataSource, params)
	require.Nil(t, counted.Entries)
	require.Equal(t, int64(2), counted.Count)
	require.Equal(t, "2", textOf(t, counted), "the JSON is a number")
}

func fetchDataFromDataSourcePages(t *trial) {
	t.seedNumbers()
	for _, test := range []struct {
		skip, limit int64
		sortBy      document.Object
		expected    []any
	}{
		{0, 2, document.Object{}, []any{"c", "b"}},
		{2, 2, document.Object{}, []any{"a", "d"}},
		{1, 0, document.O("_id", -1), []any{"c", "b", "a"}},
		{3, 5, document.O("n", -1), []any{"a"}},
		{4, 1, document.Object{}, []any{}},
	} {
		t.try(fmt.Sprint("skip ", test.skip, ", limit ", test.limit), func(t *trial) {
			page := datasource.FetchParams{DataSourceID: source, SortBy: test.sortBy, Skip: test.skip, Limit: test.limit}
			t.requireIDs(test.expected, t.fetch(t.home, page))
			page.Count = true
			counted := must(t, t.home.FetchDataFromDataSource, page)
			require.Equal(t, int64(4), counted.Count, "count ignores skip and limit")
		})
	}
}

func fetchDataFromDataSourceOfNothing(t *trial) {
	for name, id := range map[string]string{"no match": source, "a data source that does not exist": "nothing"} {
		t.try(name, func(t *trial) {
			found := must(t, t.home.FetchDataFromDataSource, datasource.FetchParams{
				DataSourceID: id, Filter: document.O("n", 9),
			})
			require.NotNil(t, found.Entries)
			require.Empty(t, found.Entries)
			require.Equal(t, "[]", textOf(t, found))
		})
	}
}

func fetchDataFromDataSourceIsTheCallersOwn(t *trial) {
	t.seedNumbers()
	before := t.state()
	fetched := t.all(t.home)
	for i := range fetched {
		fetched[i].Set("n", 9)
	}
	fetched[0], fetched[1] = fetched[1], document.O()
	require.Equal(t, before, t.state())
}

// distinct returns the distinct values of a key.
func (t *trial) distinct(key string, filter document.Object) []any {
	t.Helper()
	found := must(t, t.home.FetchDistinctDataFromDataSource, datasource.FetchDistinctParams{
		DataSourceID: source, Key: key, Filter: filter,
	})
	require.Equal(t, int64(len(found.Entries)), found.Count)
	return found.Entries
}

func fetchDistinctDataFromDataSourceReturnsEachValueOnce(t *trial) {
	t.seed(t.home,
		document.O("_id", 1, "city", "Rome", "at", document.O("x", 1), "tags", document.A("b", "a")),
		document.O("_id", 2, "city", "Bern", "at", document.O("x", 2), "tags", document.A("a", "c")),
		document.O("_id", 3, "city", "Rome", "at", document.O("x", 1), "tags", "d"),
		document.O("_id", 4))
	require.Equal(t, []any{"Rome", "Bern"}, t.distinct("city", document.Object{}))
	require.Equal(t, []any{int64(1), int64(2)}, t.distinct("at.x", document.Object{}))
	require.Equal(t, []any{"b", "a", "c", "d"}, t.distinct("tags", document.O()))
	require.Equal(t, []any{"Rome"}, t.distinct("city", document.O("at.x", 1)))
}

func fetchDistinctDataFromDataSourceCounts(t *trial) {
	t.seedNumbers()
	params := datasource.FetchDistinctParams{CollectionName: source, Key: "n", Count: true}
	counted := must(t, t.home.FetchDistinctDataFromDataSource, params)
	require.Nil(t, counted.Entries)
	require.Equal(t, int64(3), counted.Count)
	require.Equal(t, "3", textOf(t, counted), "the JSON is a number")
	require.Len(t, t.distinct("n", document.Object{}), 3)
}

func fetchDistinctDataFromDataSourceOfNothing(t *trial) {
	t.seedNumbers()
	found := t.distinct("color", document.Object{})
	require.NotNil(t, found)
	require.Empty(t, found)
}

var geoRules = needing([]Capability{GeoQueries}, []Rule{
	rule(fetchGeoNearFromDataSourceReturnsNearestFirst, "fetchGeoNearFromDataSource returns the entries with a point, nearest first"),
	rule(fetchGeoNearFromDataSourceKeepsToItsBounds,
		"maxDistance, minDistance, limit and query select entries; if none matches, the list is empty and not null"),
	rule(fetchGeoNearFromDataSourceMeasures,
		"distanceField has the distance: in metres for GeoJSON, and in radians or flat units for a legacy pair"),
	rule(fetchGeoNearFromDataSourceTakesAKey, "key is the column with the points"),
	rule(fetchGeoNearFromDataSourceTakesNullForNothing, "a field of data that is null has no effect, except near"),
	rule(fetchGeoNearFromDataSourceStaysInTheApp,
		"entries of another app do not exist for fetchGeoNearFromDataSource, whatever the query says"),
})

func point(longitude, latitude float64) document.Object {
	return document.O("type", "Point", "coordinates", document.A(longitude, latitude))
}

// seedPlaces adds places on the equator to the source: one in GeoJSON, one as a legacy pair, and a value that
// is not a place.
func (t *trial) seedPlaces(p *place) {
	t.Helper()
	t.seed(p,
		document.O("_id", "far", "location", point(3, 0), "open", true),
		document.O("_id", "near", "location", document.A(1, 0), "open", true),
		document.O("_id", "middle", "location", point(2, 0), "open", false),
		document.O("_id", "nowhere"))
}

// near returns the entries near a point.
func (t *trial) near(pairs ...any) []document.Object {
	t.Helper()
	found := must(t, t.home.FetchGeoNearFromDataSource, datasource.FetchGeoNearParams{
		DataSourceID: source, Data: document.O(pairs...),
	})
	require.NotNil(t, found.Entries)
	require.Equal(t, int64(len(found.Entries)), found.Count)
	return found.Entries
}

func fetchGeoNearFromDataSourceReturnsNearestFirst(t *trial) {
	t.seedPlaces(t.home)
	t.requireIDs([]any{"near", "middle", "far"}, t.near("near", point(0, 0)))
	t.requireIDs([]any{"far", "middle", "near"}, t.near("near", point(10, 0)))
	t.requireIDs([]any{"near", "middle", "far"}, t.near("near", document.A(0, 0)))
	found := must(t, t.home.FetchGeoNearFromDataSource, datasource.FetchGeoNearParams{
		CollectionName: source, Data: document.O("near", point(0, 0)),
	})
	t.requireEntry(document.O("_id", "near", "location", document.A(1, 0), "open", true), &found.Entries[0])
}

func fetchGeoNearFromDataSourceKeepsToItsBounds(t *trial) {
	t.seedPlaces(t.home)
	const degree = math.Pi / 180 * query.EarthRadius // The length in metres of one degree of the equator.
	t.requireIDs([]any{"near"}, t.near("near", point(0, 0), "maxDistance", 1.5*degree))
	t.requireIDs([]any{"middle", "far"}, t.near("near", point(0, 0), "minDistance", 1.5*degree))
	t.requireIDs([]any{"middle"}, t.near("near", point(0, 0), "minDistance", 1.5*degree, "maxDistance", 2.5*degree))
	t.requireIDs([]any{"near", "middle"}, t.near("near", point(0, 0), "limit", 2))
	t.requireIDs([]any{"near", "far"}, t.near("near", point(0, 0), "query", document.O("open", true)))
	t.requireIDs([]any{"near"}, t.near("near", document.A(0, 0), "maxDistance", 1.5))
	require.Empty(t, t.near("near", point(0, 0), "maxDistance", 1))
}

func fetchGeoNearFromDataSourceMeasures(t *trial) {
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
	require.False(t, t.near("near", point(0, 0))[0].Has("how"), "without distanceField the result must have no distance")
	require.False(t, t.all(t.home)[0].Has("how"), "the distance must not be stored")
}

func fetchGeoNearFromDataSourceTakesAKey(t *trial) {
	t.seed(t.home,
		document.O("_id", "a", "home", point(1, 0), "work", document.O("at", point(4, 0))),
		document.O("_id", "b", "home", point(2, 0), "work", document.O("at", point(3, 0))))
	t.requireIDs([]any{"a", "b"}, t.near("near", point(0, 0), "key", "home"))
	t.requireIDs([]any{"b", "a"}, t.near("near", point(0, 0), "key", "work.at"))
}

func fetchGeoNearFromDataSourceTakesNullForNothing(t *trial) {
	t.seedPlaces(t.home)
	t.requireIDs([]any{"near", "middle", "far"}, t.near(
		"near", point(0, 0), "key", nil, "spherical", nil, "minDistance", nil, "maxDistance", nil, "limit", nil, "query", nil,
		"distanceField", nil, "distanceMultiplier", nil, "includeLocs", nil))
	_, err := t.home.FetchGeoNearFromDataSource(t.Context(), datasource.FetchGeoNearParams{
		DataSourceID: source, Data: document.O("near", nil, "key", "location"),
	})
	t.requireError(botctx.OpFetchGeoNearFromDataSource, boterr.InvalidArgument, "data", err)
}

func fetchGeoNearFromDataSourceStaysInTheApp(t *trial) {
	t.seedPlaces(t.away)
	require.Empty(t, t.near("near", point(0, 0)))
	for _, query := range scopeless(t.away.scope.App) {
		require.Empty(t, t.near("near", point(0, 0), "query", query), "the entries that match %v", query)
	}
}

var dataScopeRules = []Rule{
	rule(dataOfAnotherAppIsNotRead,
		"entries of another app do not exist: they are not found, matched or counted, whatever the filter says"),
	rule(dataOfAnotherAppIsNotWritten, "entries of another app do not exist: they are not changed, whatever the filter or the _id says"),
	rule(dataSourcesAreApart, "each data source has its own entries"),
	rule(columnsMayBeCalledApp,
		"an entry carries _id, createdAt, updatedAt and the caller's columns, which may be called app, channel, etag or _version"),
}

func dataOfAnotherAppIsNotRead(t *trial) {
	t.seed(t.away, document.O("_id", "a", "app", t.away.scope.App, "n", 1))
	for _, filter := range append(scopeless(t.away.scope.App), document.O("_id", "a"), document.Object{}) {
		t.try(filter.String(), func(t *trial) {
			counted := must(t, t.home.CountDataSource, datasource.CountParams{DataSourceID: source, Filter: filter})
			require.Zero(t, counted, "countDataSource")
			require.Empty(t, t.fetch(t.home, datasource.FetchParams{DataSourceID: source, Filter: filter}))
			require.Empty(t, t.distinct("n", filter), "fetchDistinctDataFromDataSource")
			numbered := must(t, t.home.FetchDataFromDataSource, datasource.FetchParams{
				DataSourceID: source, Filter: filter, Count: true,
			})
			require.Zero(t, numbered.Count, "fetchDataFromDataSource with count")
		})
	}
}

func dataOfAnotherAppIsNotWritten(t *trial) {
	t.seed(t.away, document.O("_id", "a", "app", t.away.scope.App, "n", 1))
	before := t.state()
	for _, filter := range append(scopeless(t.away.scope.App), document.O("_id", "a")) {
		t.try(filter.String(), func(t *trial) {
			require.Nil(t, t.findData(findDataParams{Filter: filter, Patch: document.Set("n", 2)}))
			require.Zero(t, t.patchData(patchDataParams{Filter: filter, Patch: document.O("n", 2), Multi: true}))
			require.Equal(t, before, t.state())
		})
	}
	outcome := t.upsert(document.O("_id", "a", "n", 2))
	require.Equal(t, int64(1), outcome.Inserted, "apps may use the same _id")
	t.requireHolds(t.away, document.O("_id", "a", "app", t.away.scope.App, "n", 1))
	t.requireHolds(t.home, document.O("_id", "a", "n", 2))
	t.patchData(patchDataParams{
		Filter: document.O("_id", "b", "app", t.away.scope.App), Patch: document.O("n", 3),
		Options: datasource.PatchOptions{Upsert: true},
	})
	t.requireHolds(t.away, document.O("_id", "a", "app", t.away.scope.App, "n", 1))
}

func dataSourcesAreApart(t *trial) {
	t.seed(t.home, document.O("_id", "a", "n", 1))
	for _, id := range []string{"other", "Things", "things ", source + "/" + source, "%74hings", "data"} {
		t.try(id, func(t *trial) {
			saved := must(t, t.home.UpsertDataToDataSource, datasource.UpsertParams{
				DataSourceID: id, Data: document.One(document.O("_id", "a", "n", 2)),
			})
			require.Equal(t, int64(1), saved.Result.Inserted)
			t.requireHolds(t.home, document.O("_id", "a", "n", 1))
		})
	}
}

func columnsMayBeCalledApp(t *trial) {
	entry := document.O("_id", "a", "app", "weather", "channel", 5, "etag", "mine", "_version", "v2")
	t.seed(t.home, entry)
	t.requireHolds(t.home, entry)
	t.patchData(patchDataParams{Filter: document.O("app", "weather"), Patch: document.O("app", "maps", "channel", 6)})
	t.requireHolds(t.home, document.O("_id", "a", "app", "maps", "channel", 6, "etag", "mine", "_version", "v2"))
	require.Equal(t, []any{"maps"}, t.distinct("app", document.Object{}))
}
