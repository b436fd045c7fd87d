package botctxtest

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
)

var countRules = []Rule{
	{
		Name:  "CountDataSourceCountsWhatMatches",
		Text:  "countDataSource returns the number of entries that match, and of all without a filter",
		check: countCountsWhatMatches,
	},
}

var fetchRules = []Rule{
	{
		Name:  "FetchDataFromDataSourceReturnsWhatMatches",
		Text:  "fetchDataFromDataSource returns the entries that match, all columns of each, and all without a filter",
		check: fetchReturnsWhatMatches,
	},
	{
		Name:  "FetchDataFromDataSourceOrders",
		Text:  "entries come in the order of sortBy, by each key in turn, ties and all without sortBy in the order of insertion",
		check: fetchOrders,
	},
	{
		Name:  "FetchDataFromDataSourceCounts",
		Text:  "count of fetchDataFromDataSource is false by default; with it only the number comes back",
		check: fetchCounts,
	},
	{
		Name:  "FetchDataFromDataSourcePages",
		Text:  "skip leaves out the first entries of the order, and limit returns so many of the others; 0 is all",
		check: fetchPages,
	},
	{
		Name:  "FetchDataFromDataSourceOfNothing",
		Text:  "where nothing matches the list is empty and never null",
		check: fetchOfNothing,
	},
	{
		Name:  "FetchDataFromDataSourceIsTheCallersOwn",
		Text:  "what comes out is the caller's own: changing it changes nothing stored",
		check: fetchIsTheCallersOwn,
	},
}

var distinctRules = []Rule{
	{
		Name:  "FetchDistinctDataFromDataSourceReturnsEachValueOnce",
		Text:  "fetchDistinctDataFromDataSource returns each value of the key once, in the order of first sight, elements of lists one by one",
		check: distinctReturnsEachValueOnce,
	},
	{
		Name:  "FetchDistinctDataFromDataSourceCounts",
		Text:  "count of fetchDistinctDataFromDataSource is false by default; with it only the number of values comes back",
		check: distinctCounts,
	},
	{
		Name:  "FetchDistinctDataFromDataSourceOfNothing",
		Text:  "where no entry has the key the list is empty and never null",
		check: distinctOfNothing,
	},
}

// seedNumbers puts entries with numbers into the source.
func (t *trial) seedNumbers() {
	t.Helper()
	t.seed(t.home,
		document.O("_id", "c", "n", 2, "kind", "x"), document.O("_id", "b", "n", 1, "kind", "x"),
		document.O("_id", "a", "n", 1, "kind", "y"), document.O("_id", "d", "n", 3))
}

func countCountsWhatMatches(t *trial) {
	t.seedNumbers()
	for filter, expected := range map[*document.Object]int64{
		{}:                           4,
		new(document.O()):            4,
		new(document.O("kind", "x")): 2,
		new(document.O("kind", nil)): 1,
		new(document.O("n", document.O("$gte", 2))): 2,
		new(document.O("n", 9)):                     0,
	} {
		for _, params := range []datasource.CountDataSourceParams{
			{DataSourceID: source, Filter: *filter}, {CollectionName: source, Filter: *filter},
		} {
			counted, err := t.home.CountDataSource(t.ctx(), params)
			require.NoError(t, err)
			require.Equal(t, expected, counted, "the entries that match %v", *filter)
		}
	}
	counted, err := t.home.CountDataSource(t.ctx(), datasource.CountDataSourceParams{DataSourceID: "nothing"})
	require.NoError(t, err)
	require.Zero(t, counted, "a data source that nobody has written to")
}

func fetchReturnsWhatMatches(t *trial) {
	t.seedNumbers()
	t.requireIDs([]any{"c", "b", "a", "d"}, t.all(t.home))
	t.requireIDs([]any{"c", "b", "a", "d"}, t.fetch(t.home, datasource.FetchDataFromDataSourceParams{CollectionName: source}))
	found := t.fetch(t.home, datasource.FetchDataFromDataSourceParams{DataSourceID: source, Filter: document.O("kind", "x")})
	t.requireEntries([]document.Object{
		document.O("_id", "c", "n", 2, "kind", "x"), document.O("_id", "b", "n", 1, "kind", "x"),
	}, found)
	for _, entry := range found {
		require.Positive(t, document.Get(entry, "createdAt", 0))
		require.Positive(t, document.Get(entry, "updatedAt", 0))
		require.Equal(t, 5, entry.Len(), "an entry holds _id, createdAt, updatedAt and the caller's columns: %v", entry)
	}
}

func fetchOrders(t *trial) {
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
				t.fetch(t.home, datasource.FetchDataFromDataSourceParams{DataSourceID: source, SortBy: test.sortBy}))
		})
	}
}

func fetchCounts(t *trial) {
	t.seedNumbers()
	params := datasource.FetchDataFromDataSourceParams{DataSourceID: source, Filter: document.O("kind", "x")}
	listed, err := t.home.FetchDataFromDataSource(t.ctx(), params)
	require.NoError(t, err)
	require.Len(t, listed.Entries, 2)
	require.Equal(t, int64(2), listed.Count)
	params.Count = true
	counted, err := t.home.FetchDataFromDataSource(t.ctx(), params)
	require.NoError(t, err)
	require.Nil(t, counted.Entries)
	require.Equal(t, int64(2), counted.Count)
	require.Equal(t, "2", textOf(t, counted), "the JSON is a number")
}

func fetchPages(t *trial) {
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
			page := datasource.FetchDataFromDataSourceParams{DataSourceID: source, SortBy: test.sortBy, Skip: test.skip, Limit: test.limit}
			t.requireIDs(test.expected, t.fetch(t.home, page))
			page.Count = true
			counted, err := t.home.FetchDataFromDataSource(t.ctx(), page)
			require.NoError(t, err)
			require.Equal(t, int64(4), counted.Count, "count is of all that match")
		})
	}
}

func fetchOfNothing(t *trial) {
	for name, id := range map[string]string{"no match": source, "a data source that nobody has written to": "nothing"} {
		t.try(name, func(t *trial) {
			found, err := t.home.FetchDataFromDataSource(t.ctx(), datasource.FetchDataFromDataSourceParams{
				DataSourceID: id, Filter: document.O("n", 9),
			})
			require.NoError(t, err)
			require.NotNil(t, found.Entries)
			require.Empty(t, found.Entries)
			require.Equal(t, "[]", textOf(t, found))
		})
	}
}

func fetchIsTheCallersOwn(t *trial) {
	t.seedNumbers()
	before := t.state()
	fetched := t.all(t.home)
	for i := range fetched {
		fetched[i].Set("n", 9)
	}
	fetched[0], fetched[1] = fetched[1], document.O()
	require.Equal(t, before, t.state())
}

// distinct returns the different values of a key, without an error.
func (t *trial) distinct(key string, filter document.Object) []any {
	t.Helper()
	found, err := t.home.FetchDistinctDataFromDataSource(t.ctx(), datasource.FetchDistinctDataFromDataSourceParams{
		DataSourceID: source, Key: key, Filter: filter,
	})
	require.NoError(t, err)
	require.Equal(t, int64(len(found.Entries)), found.Count)
	return found.Entries
}

func distinctReturnsEachValueOnce(t *trial) {
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

func distinctCounts(t *trial) {
	t.seedNumbers()
	params := datasource.FetchDistinctDataFromDataSourceParams{CollectionName: source, Key: "n", Count: true}
	counted, err := t.home.FetchDistinctDataFromDataSource(t.ctx(), params)
	require.NoError(t, err)
	require.Nil(t, counted.Entries)
	require.Equal(t, int64(3), counted.Count)
	require.Equal(t, "3", textOf(t, counted), "the JSON is a number")
	require.Len(t, t.distinct("n", document.Object{}), 3)
}

func distinctOfNothing(t *trial) {
	t.seedNumbers()
	found := t.distinct("color", document.Object{})
	require.NotNil(t, found)
	require.Empty(t, found)
}
