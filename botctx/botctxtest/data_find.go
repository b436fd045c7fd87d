package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
)

var findDataRules = []Rule{
	{
		Name:  "FindAndModifyDataFromDataSourceTakesModifiers",
		Text:  "withModifier of findAndModifyDataFromDataSource is true by default: patch is an update-modifier document or a replacement",
		check: findAndModifyDataTakesModifiers,
	},
	{
		Name:  "FindAndModifyDataFromDataSourceSetsFields",
		Text:  "patch is applied as a $set of its fields when withModifier is false",
		check: findAndModifyDataSetsFields,
	},
	{
		Name:  "FindAndModifyDataFromDataSourceReturnsBeforeOrAfter",
		Text:  "when option.new is true the modified entry is returned, otherwise the original; ok is 1",
		check: findAndModifyDataReturnsBeforeOrAfter,
	},
	{
		Name:  "FindAndModifyDataFromDataSourceOfNothing",
		Text:  "when nothing matches, the value is null and nothing is changed",
		check: findAndModifyDataOfNothing,
	},
	{
		Name:  "FindAndModifyDataFromDataSourceTakesTheFirst",
		Text:  "only the first entry after sortBy, or option.sort, is found and modified, by each key in turn, else in the order of insertion",
		check: findAndModifyDataTakesTheFirst,
	},
	{
		Name:  "FindAndModifyDataFromDataSourceUpserts",
		Text:  "with option.upsert an entry is inserted where none matches; it is returned with option.new alone",
		check: findAndModifyDataUpserts,
	},
	{
		Name:  "FindAndModifyDataFromDataSourceFiltersElements",
		Text:  "option.arrayFilters say which elements the names in $[name] stand for",
		Needs: []Capability{ArrayFilters},
		check: findAndModifyDataFiltersElements,
	},
	{
		Name:  "FindAndModifyDataFromDataSourceRefusesAnIDThatExists",
		Text:  "an upsert that would insert an _id that an entry has is AlreadyExists",
		check: findAndModifyDataRefusesAnIDThatExists,
	},
}

type findDataParams = datasource.FindAndModifyDataFromDataSourceParams

// findData finds and modifies an entry of the source, without an error.
func (t *trial) findData(p findDataParams) *document.Object {
	t.Helper()
	p.DataSourceID = source
	result, err := t.home.FindAndModifyDataFromDataSource(t.ctx(), p)
	require.NoError(t, err)
	require.Equal(t, 1, result.OK, "ok")
	return result.Value
}

func findAndModifyDataTakesModifiers(t *trial) {
	t.seed(t.home, document.O("_id", "a", "n", 1))
	for _, withModifier := range []*bool{nil, new(true)} {
		t.findData(findDataParams{Filter: document.O(), Patch: document.Inc("n", 2), WithModifier: withModifier})
	}
	t.requireHolds(t.home, document.O("_id", "a", "n", 5))
	t.findData(findDataParams{Filter: document.O("_id", "a"), Patch: document.O("m", 1)})
	t.requireHolds(t.home, document.O("_id", "a", "m", 1))
}

func findAndModifyDataSetsFields(t *trial) {
	t.seed(t.home, document.O("_id", "a", "n", 1, "m", document.O("x", 1, "y", 1)))
	t.findData(findDataParams{Filter: document.O(), Patch: document.O("n", 2, "m.x", 2), WithModifier: new(false)})
	t.requireHolds(t.home, document.O("_id", "a", "n", 2, "m", document.O("x", 2, "y", 1)))
}

func findAndModifyDataReturnsBeforeOrAfter(t *trial) {
	t.seed(t.home, document.O("_id", "a", "n", 1))
	increment := findDataParams{Filter: document.O("_id", "a"), Patch: document.Inc("n", 1)}
	t.requireEntry(document.O("_id", "a", "n", 1), t.findData(increment))
	increment.Option.New = true
	t.requireEntry(document.O("_id", "a", "n", 3), t.findData(increment))
}

func findAndModifyDataOfNothing(t *trial) {
	t.seed(t.home, document.O("_id", "a", "n", 1))
	before := t.state()
	for _, isNew := range []bool{false, true} {
		require.Nil(t, t.findData(findDataParams{
			Filter: document.O("n", 2), Patch: document.Set("n", 3), Option: datasource.FindAndModifyOption{New: isNew},
		}))
	}
	require.Equal(t, before, t.state())
}

func findAndModifyDataTakesTheFirst(t *trial) {
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

func findAndModifyDataUpserts(t *trial) {
	upsert := findDataParams{Filter: document.O("_id", "a"), Patch: document.Inc("n", 1)}
	upsert.Option.Upsert = true
	require.Nil(t, t.findData(upsert), "an entry that was inserted, without option.new")
	t.requireHolds(t.home, document.O("_id", "a", "n", 1))
	upsert.Filter, upsert.Option.New = document.O("_id", "b", "kind", "x"), true
	t.requireEntry(document.O("_id", "b", "kind", "x", "n", 1), t.findData(upsert))
	t.requireEntry(document.O("_id", "b", "kind", "x", "n", 2), t.findData(upsert))
	require.Len(t, t.all(t.home), 2)
}

func findAndModifyDataFiltersElements(t *trial) {
	t.seed(t.home, document.O("_id", "a", "list", document.A(1, 5, 9)))
	t.findData(findDataParams{
		Filter: document.O(), Patch: document.Set("list.$[big]", 0),
		Option: datasource.FindAndModifyOption{ArrayFilters: []document.Object{document.O("big", document.O("$gt", 4))}},
	})
	t.requireHolds(t.home, document.O("_id", "a", "list", document.A(1, 0, 0)))
}

func findAndModifyDataRefusesAnIDThatExists(t *trial) {
	t.seed(t.home, document.O("_id", "a", "n", 1))
	before := t.state()
	result, err := t.home.FindAndModifyDataFromDataSource(t.ctx(), findDataParams{
		DataSourceID: source, Filter: document.O("_id", "a", "n", 2), Patch: document.Set("n", 3),
		Option: datasource.FindAndModifyOption{Upsert: true},
	})
	e := t.failure(boterr.AlreadyExists, err)
	require.Equal(t, string(botctx.OpFindAndModifyDataFromDataSource), e.Op)
	require.Zero(t, result)
	require.Equal(t, before, t.state())
}
