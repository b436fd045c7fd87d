package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
)

var patchDataRules = []Rule{
	{
		Name:  "PatchDataToDataSourceSetsFields",
		Text:  "withModifier of patchDataToDataSource is false by default: patch is applied as a $set of its fields",
		check: patchDataSetsFields,
	},
	{
		Name:  "PatchDataToDataSourceTakesModifiers",
		Text:  "when withModifier is true, patch is an update-modifier document or a replacement",
		check: patchDataTakesModifiers,
	},
	{
		Name:  "PatchDataToDataSourceChangesOneOrAll",
		Text:  "multi is false by default: the first match is patched, with multi or options.multi all are; without a filter all are candidates",
		check: patchDataChangesOneOrAll,
	},
	{
		Name:  "PatchDataToDataSourceCounts",
		Text:  "matched, modified, inserted and deleted count entries; one that was the same already is matched and not modified",
		check: patchDataCounts,
	},
	{
		Name:  "PatchDataToDataSourceUpserts",
		Text:  "with options.upsert an entry is inserted where none matches, and counted as inserted",
		check: patchDataUpserts,
	},
	{
		Name:  "PatchDataToDataSourceTakesASort",
		Text:  "options.sort says which of several matches is the first",
		Needs: []Capability{PatchSort},
		check: patchDataTakesASort,
	},
	{
		Name:  "PatchDataToDataSourceFiltersElements",
		Text:  "options.arrayFilters say which elements the names in $[name] stand for",
		Needs: []Capability{ArrayFilters},
		check: patchDataFiltersElements,
	},
	{
		Name:  "PatchDataToDataSourceIsAllOrNone",
		Text:  "where one entry cannot be patched, none is",
		check: patchDataIsAllOrNone,
	},
}

type patchDataParams = datasource.PatchDataToDataSourceParams

// patchData patches entries of the source, without an error.
func (t *trial) patchData(p patchDataParams) datasource.PatchDataToDataSourceResult {
	t.Helper()
	if p.CollectionName == "" {
		p.DataSourceID = source
	}
	result, err := t.home.PatchDataToDataSource(t.ctx(), p)
	require.NoError(t, err)
	return result
}

func patchDataSetsFields(t *trial) {
	t.seed(t.home, document.O("_id", "a", "n", 1, "m", document.O("x", 1, "y", 1)))
	t.patchData(patchDataParams{Patch: document.O("n", 2, "m.x", 2)})
	t.requireHolds(t.home, document.O("_id", "a", "n", 2, "m", document.O("x", 2, "y", 1)))
	t.patchData(patchDataParams{CollectionName: source, Patch: document.O("n", 3)})
	t.requireHolds(t.home, document.O("_id", "a", "n", 3, "m", document.O("x", 2, "y", 1)))
}

func patchDataTakesModifiers(t *trial) {
	t.seed(t.home, document.O("_id", "a", "n", 1, "list", document.A(1)))
	t.patchData(patchDataParams{
		Patch: document.O("$inc", document.O("n", 2), "$push", document.O("list", 2)), WithModifier: true,
	})
	t.requireHolds(t.home, document.O("_id", "a", "n", 3, "list", document.A(1, 2)))
	t.patchData(patchDataParams{Filter: document.O("_id", "a"), Patch: document.O("m", 1), WithModifier: true})
	t.requireHolds(t.home, document.O("_id", "a", "m", 1))
}

func patchDataChangesOneOrAll(t *trial) {
	t.seedNumbers()
	result := t.patchData(patchDataParams{Filter: document.O("kind", "x"), Patch: document.O("n", 9)})
	require.Equal(t, int64(1), result.Matched)
	t.requireHolds(t.home,
		document.O("_id", "c", "n", 9, "kind", "x"), document.O("_id", "b", "n", 1, "kind", "x"),
		document.O("_id", "a", "n", 1, "kind", "y"), document.O("_id", "d", "n", 3))
	result = t.patchData(patchDataParams{Filter: document.O("kind", "x"), Patch: document.O("n", 8), Multi: true})
	require.Equal(t, int64(2), result.Matched)
	t.requireHolds(t.home,
		document.O("_id", "c", "n", 8, "kind", "x"), document.O("_id", "b", "n", 8, "kind", "x"),
		document.O("_id", "a", "n", 1, "kind", "y"), document.O("_id", "d", "n", 3))
	require.Equal(t, int64(4), t.patchData(patchDataParams{Patch: document.O("m", 1), Multi: true}).Matched)
	require.Equal(t, int64(4), t.patchData(patchDataParams{
		Patch: document.O("m", 2), Options: datasource.PatchOptions{Multi: true},
	}).Matched)
}

func patchDataCounts(t *trial) {
	t.seed(t.home, document.O("_id", "a", "n", 1), document.O("_id", "b", "n", 2))
	for _, test := range []struct {
		params   patchDataParams
		expected datasource.PatchDataToDataSourceResult
	}{
		{patchDataParams{Patch: document.O("n", 1), Multi: true}, datasource.PatchDataToDataSourceResult{Matched: 2, Modified: 1}},
		{patchDataParams{Patch: document.O("n", 1), Multi: true}, datasource.PatchDataToDataSourceResult{Matched: 2}},
		{patchDataParams{Patch: document.O("n", 2)}, datasource.PatchDataToDataSourceResult{Matched: 1, Modified: 1}},
		{patchDataParams{Filter: document.O("n", 9), Patch: document.O("n", 1)}, datasource.PatchDataToDataSourceResult{}},
	} {
		require.Equal(t, test.expected, t.patchData(test.params))
	}
}

func patchDataUpserts(t *trial) {
	upsert := patchDataParams{Filter: document.O("_id", "a"), Patch: document.O("n", 1), Options: datasource.PatchOptions{Upsert: true}}
	require.Equal(t, datasource.PatchDataToDataSourceResult{Inserted: 1}, t.patchData(upsert))
	require.Equal(t, datasource.PatchDataToDataSourceResult{Matched: 1}, t.patchData(upsert))
	t.requireHolds(t.home, document.O("_id", "a", "n", 1))
	require.Positive(t, t.times().CreatedAt)
	result, err := t.home.PatchDataToDataSource(t.ctx(), patchDataParams{
		DataSourceID: source, Filter: document.O("_id", "a", "n", 2), Patch: document.O("m", 1),
		Options: datasource.PatchOptions{Upsert: true},
	})
	require.Equal(t, string(botctx.OpPatchDataToDataSource), t.failure(boterr.AlreadyExists, err).Op)
	require.Zero(t, result)
}

func patchDataTakesASort(t *trial) {
	t.seedNumbers()
	t.patchData(patchDataParams{
		Filter: document.O("n", 1), Patch: document.O("first", true), Options: datasource.PatchOptions{Sort: document.O("_id", 1)},
	})
	t.requireIDs([]any{"a"}, t.fetch(t.home, datasource.FetchDataFromDataSourceParams{
		DataSourceID: source, Filter: document.O("first", true),
	}))
}

func patchDataFiltersElements(t *trial) {
	t.seed(t.home, document.O("_id", "a", "list", document.A(1, 5, 9)))
	t.patchData(patchDataParams{
		Patch:   document.O("list.$[big]", 0),
		Options: datasource.PatchOptions{ArrayFilters: []document.Object{document.O("big", document.O("$gt", 4))}},
	})
	t.requireHolds(t.home, document.O("_id", "a", "list", document.A(1, 0, 0)))
}

func patchDataIsAllOrNone(t *trial) {
	t.seed(t.home, document.O("_id", "a", "n", 1), document.O("_id", "b", "n", "text"))
	before := t.state()
	result, err := t.home.PatchDataToDataSource(t.ctx(), patchDataParams{
		DataSourceID: source, Patch: document.Inc("n", 1), WithModifier: true, Multi: true,
	})
	t.requireError(botctx.OpPatchDataToDataSource, boterr.InvalidArgument, "patch", err)
	require.Zero(t, result)
	require.Equal(t, before, t.state())
}
