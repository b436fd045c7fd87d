package botctxtest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
)

var patchDataRules = []Rule{
	rule(patchDataToDataSourceSetsFields,
		"withModifier of patchDataToDataSource is false by default: patch is applied as a $set of its fields"),
	rule(patchDataToDataSourceTakesModifiers, "when withModifier is true, patch is an update-modifier document or a replacement"),
	rule(patchDataToDataSourceChangesOneOrAll,
		"multi is false by default: the first match is patched, with multi or options.multi all are; without a filter all are candidates"),
	rule(patchDataToDataSourceCounts,
		"matched, modified, inserted and deleted count entries; an entry that already has the values is matched but not modified"),
	rule(patchDataToDataSourceUpserts, "with options.upsert an entry is inserted if none matches, and counted as inserted"),
	rule(patchDataToDataSourceTakesASort, "options.sort decides which of several matches is the first", PatchSort),
	rule(patchDataToDataSourceFiltersElements, "options.arrayFilters select the elements for each $[name]", ArrayFilters),
	rule(patchDataToDataSourceIsAllOrNone, "if one entry cannot be patched, none is"),
}

type patchDataParams = datasource.PatchParams

func (t *trial) patchData(p patchDataParams) datasource.PatchResult {
	t.Helper()
	if p.CollectionName == "" {
		p.DataSourceID = source
	}
	return must(t, t.home.PatchDataToDataSource, p)
}

func patchDataToDataSourceSetsFields(t *trial) {
	t.seed(t.home, document.O("_id", "a", "n", 1, "m", document.O("x", 1, "y", 1)))
	t.patchData(patchDataParams{Patch: document.O("n", 2, "m.x", 2)})
	t.requireHolds(t.home, document.O("_id", "a", "n", 2, "m", document.O("x", 2, "y", 1)))
	t.patchData(patchDataParams{CollectionName: source, Patch: document.O("n", 3)})
	t.requireHolds(t.home, document.O("_id", "a", "n", 3, "m", document.O("x", 2, "y", 1)))
}

func patchDataToDataSourceTakesModifiers(t *trial) {
	t.seed(t.home, document.O("_id", "a", "n", 1, "list", document.A(1)))
	t.patchData(patchDataParams{
		Patch: document.O("$inc", document.O("n", 2), "$push", document.O("list", 2)), WithModifier: true,
	})
	t.requireHolds(t.home, document.O("_id", "a", "n", 3, "list", document.A(1, 2)))
	t.patchData(patchDataParams{Filter: document.O("_id", "a"), Patch: document.O("m", 1), WithModifier: true})
	t.requireHolds(t.home, document.O("_id", "a", "m", 1))
}

func patchDataToDataSourceChangesOneOrAll(t *trial) {
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

func patchDataToDataSourceCounts(t *trial) {
	t.seed(t.home, document.O("_id", "a", "n", 1), document.O("_id", "b", "n", 2))
	for _, test := range []struct {
		params   patchDataParams
		expected datasource.PatchResult
	}{
		{patchDataParams{Patch: document.O("n", 1), Multi: true}, datasource.PatchResult{Matched: 2, Modified: 1}},
		{patchDataParams{Patch: document.O("n", 1), Multi: true}, datasource.PatchResult{Matched: 2}},
		{patchDataParams{Patch: document.O("n", 2)}, datasource.PatchResult{Matched: 1, Modified: 1}},
		{patchDataParams{Filter: document.O("n", 9), Patch: document.O("n", 1)}, datasource.PatchResult{}},
	} {
		require.Equal(t, test.expected, t.patchData(test.params))
	}
}

func patchDataToDataSourceUpserts(t *trial) {
	upsert := patchDataParams{Filter: document.O("_id", "a"), Patch: document.O("n", 1), Options: datasource.PatchOptions{Upsert: true}}
	require.Equal(t, datasource.PatchResult{Inserted: 1}, t.patchData(upsert))
	require.Equal(t, datasource.PatchResult{Matched: 1}, t.patchData(upsert))
	t.requireHolds(t.home, document.O("_id", "a", "n", 1))
	require.Positive(t, t.times().CreatedAt)
	result, err := t.home.PatchDataToDataSource(t.Context(), patchDataParams{
		DataSourceID: source, Filter: document.O("_id", "a", "n", 2), Patch: document.O("m", 1),
		Options: datasource.PatchOptions{Upsert: true},
	})
	require.Equal(t, string(botctx.OpPatchDataToDataSource), t.failure(boterr.AlreadyExists, err).Op)
	require.Zero(t, result)
}

func patchDataToDataSourceTakesASort(t *trial) {
	t.seedNumbers()
	t.patchData(patchDataParams{
		Filter: document.O("n", 1), Patch: document.O("first", true), Options: datasource.PatchOptions{Sort: document.O("_id", 1)},
	})
	t.requireIDs([]any{"a"}, t.fetch(t.home, datasource.FetchParams{
		DataSourceID: source, Filter: document.O("first", true),
	}))
}

func patchDataToDataSourceFiltersElements(t *trial) {
	t.seed(t.home, document.O("_id", "a", "list", document.A(1, 5, 9)))
	t.patchData(patchDataParams{
		Patch:   document.O("list.$[big]", 0),
		Options: datasource.PatchOptions{ArrayFilters: []document.Object{document.O("big", document.O("$gt", 4))}},
	})
	t.requireHolds(t.home, document.O("_id", "a", "list", document.A(1, 0, 0)))
}

func patchDataToDataSourceIsAllOrNone(t *trial) {
	t.seed(t.home, document.O("_id", "a", "n", 1), document.O("_id", "b", "n", "text"))
	requireRefused(t, botctx.OpPatchDataToDataSource, t.home.PatchDataToDataSource, []badInput[patchDataParams]{
		{"a text", patchDataParams{DataSourceID: source, Patch: document.Inc("n", 1), WithModifier: true, Multi: true}, "patch"},
	})
}

var upsertRules = []Rule{
	rule(upsertDataToDataSourceUpdatesWhatExists,
		"an element with an _id that exists in the data source is updated: the given columns are set, others stay"),
	rule(upsertDataToDataSourceInsertsWithTheGivenID,
		"an element with an _id that does not exist is inserted with that _id; its id is listed in upserted"),
	rule(upsertDataToDataSourceInsertsWithANewID, "an element without _id is inserted; its id is listed in inserted"),
	rule(upsertDataToDataSourceCountsAllInserted, "the number inserted counts all inserted entries, including those with a provided _id"),
	rule(upsertDataToDataSourceTakesAnyScalarAsID, "an _id is a string, a number or a boolean, and keeps its type"),
	rule(upsertDataToDataSourceOfNothing, "an upsert of no elements does nothing; its lists are empty and never null"),
	rule(upsertDataToDataSourceTakesWhatWasFetched,
		"a fetched entry can be upserted unchanged, and counts as matched but not as modified"),
	rule(entriesTellWhenTheyChanged,
		"a change sets updatedAt to the current time and keeps createdAt; a call without a change keeps both", moveClock),
	rule(upsertDataToDataSourceTakesCopies, "later changes to parameters and results do not change stored records"),
}

func (t *trial) upsert(entries ...document.Object) datasource.UpsertOutcome {
	t.Helper()
	saved := must(t, t.home.UpsertDataToDataSource, datasource.UpsertParams{
		DataSourceID: source, Data: append([]document.Object{}, entries...),
	})
	return saved.Result
}

func upsertDataToDataSourceUpdatesWhatExists(t *trial) {
	t.seed(t.home, document.O("_id", "a", "n", 1, "m", 1), document.O("_id", "b", "n", 1))
	outcome := t.upsert(document.O("_id", "b", "n", 1), document.O("_id", "a", "n", 2, "list", document.A(1)))
	require.Equal(t, []any{"b", "a"}, outcome.DocsIDs.Updated)
	require.Equal(t, int64(2), outcome.Matched)
	require.Equal(t, int64(1), outcome.Modified, "an entry that already has the values is not modified")
	require.Zero(t, outcome.Inserted)
	require.Empty(t, outcome.DocsIDs.Inserted)
	require.Empty(t, outcome.DocsIDs.Upserted)
	t.requireHolds(t.home, document.O("_id", "a", "n", 2, "m", 1, "list", document.A(1)), document.O("_id", "b", "n", 1))
}

func upsertDataToDataSourceInsertsWithTheGivenID(t *trial) {
	outcome := t.upsert(document.O("n", 1, "_id", "a"))
	require.Equal(t, []any{"a"}, outcome.DocsIDs.Upserted)
	require.Empty(t, outcome.DocsIDs.Inserted)
	require.Empty(t, outcome.DocsIDs.Updated)
	require.Zero(t, outcome.Matched)
	require.Zero(t, outcome.Modified)
	t.requireHolds(t.home, document.O("_id", "a", "n", 1))
}

func upsertDataToDataSourceInsertsWithANewID(t *trial) {
	first, second := t.upsert(document.O("n", 1)), t.upsert(document.O("n", 1))
	require.Len(t, first.DocsIDs.Inserted, 1)
	require.Len(t, second.DocsIDs.Inserted, 1)
	require.NotEqual(t, first.DocsIDs.Inserted, second.DocsIDs.Inserted)
	require.Empty(t, first.DocsIDs.Upserted)
	t.requireHolds(t.home,
		document.O("_id", first.DocsIDs.Inserted[0], "n", 1), document.O("_id", second.DocsIDs.Inserted[0], "n", 1))
}

func upsertDataToDataSourceCountsAllInserted(t *trial) {
	t.seed(t.home, document.O("_id", "a", "n", 1))
	outcome := t.upsert(document.O("_id", "a", "n", 2), document.O("_id", "b", "n", 1), document.O("n", 1), document.O("n", 2))
	require.Equal(t, int64(3), outcome.Inserted)
	require.Equal(t, int64(1), outcome.Matched)
	require.Equal(t, int64(1), outcome.Modified)
	require.Zero(t, outcome.Deleted)
	require.Len(t, outcome.DocsIDs.Inserted, 2)
	require.Equal(t, []any{"b"}, outcome.DocsIDs.Upserted)
	require.Len(t, t.all(t.home), 4)
}

func upsertDataToDataSourceTakesAnyScalarAsID(t *trial) {
	ids := []any{"1", int64(1), 1.5, true, false, "", "a b/c.$d"}
	for _, id := range ids {
		outcome := t.upsert(document.O("_id", id, "n", 1))
		require.Equal(t, []any{id}, outcome.DocsIDs.Upserted)
		outcome = t.upsert(document.O("_id", id, "n", 2))
		require.Equal(t, []any{id}, outcome.DocsIDs.Updated)
	}
	t.requireIDs(ids, t.all(t.home))
}

func upsertDataToDataSourceOfNothing(t *trial) {
	outcome := t.upsert()
	require.JSONEq(t, `{"_docsIds": {"updated": [], "inserted": [], "upserted": []},
		"matched": 0, "modified": 0, "inserted": 0, "deleted": 0}`, textOf(t, outcome))
	require.Empty(t, t.all(t.home))
}

func upsertDataToDataSourceTakesWhatWasFetched(t *trial) {
	t.seed(t.home, document.O("_id", "a", "n", 1, "list", document.A(document.O("x", nil))))
	fetched := t.all(t.home)
	outcome := t.upsert(fetched...)
	require.Equal(t, int64(1), outcome.Matched)
	require.Zero(t, outcome.Modified)
	require.Equal(t, fetched[0].String(), t.all(t.home)[0].String())
	t.upsert(fetched[0].With("n", 2))
	t.requireHolds(t.home, document.O("_id", "a", "n", 2, "list", document.A(document.O("x", nil))))
}

func entriesTellWhenTheyChanged(t *trial) {
	t.seed(t.home, document.O("_id", "a", "n", 1))
	changes := map[string]func(n int) error{
		"upsertDataToDataSource": func(n int) error {
			return errorOf(t.home.UpsertDataToDataSource(t.Context(), datasource.UpsertParams{
				DataSourceID: source, Data: document.One(document.O("_id", "a", "n", n)),
			}))
		},
		"patchDataToDataSource": func(n int) error {
			return errorOf(t.home.PatchDataToDataSource(t.Context(), datasource.PatchParams{
				DataSourceID: source, Patch: document.O("n", n),
			}))
		},
		"findAndModifyDataFromDataSource": func(n int) error {
			return errorOf(t.home.FindAndModifyDataFromDataSource(t.Context(), findDataParams{
				DataSourceID: source, Filter: document.O(), Patch: document.Set("n", n, "updatedAt", 1),
			}))
		},
	}
	n := 1
	for name, change := range changes {
		n++
		t.try(name, func(t *trial) {
			before := t.times()
			t.Advance(time.Hour)
			require.NoError(t, change(n))
			changed := t.times()
			require.Equal(t, before.CreatedAt, changed.CreatedAt)
			require.GreaterOrEqual(t, changed.UpdatedAt.Time(), before.UpdatedAt.Time().Add(time.Hour))
			t.Advance(time.Hour)
			require.NoError(t, change(n))
			require.Equal(t, changed, t.times(), "the times after a call that changes nothing")
		})
	}
}

type entryTimes struct {
	CreatedAt document.Timestamp `json:"createdAt"`
	UpdatedAt document.Timestamp `json:"updatedAt"`
}

// times returns the times of the first entry, which must have them.
func (t *trial) times() entryTimes {
	t.Helper()
	var times entryTimes
	require.NoError(t, document.Decode(t.all(t.home)[0], &times))
	require.Positive(t, times.CreatedAt)
	require.GreaterOrEqual(t, times.UpdatedAt, times.CreatedAt)
	return times
}

func upsertDataToDataSourceTakesCopies(t *trial) {
	data := []document.Object{document.O("_id", "a", "n", 1), document.O("_id", "b", "n", 1)}
	saved := must(t, t.home.UpsertDataToDataSource, datasource.UpsertParams{DataSourceID: source, Data: data})
	data[0] = document.O("_id", "x")
	data[1].Set("n", 2)
	saved.Result.DocsIDs.Upserted[0] = "x"
	fetched := t.all(t.home)
	fetched[0].Set("n", 3)
	fetched[1] = document.O()
	t.requireHolds(t.home, document.O("_id", "a", "n", 1), document.O("_id", "b", "n", 1))
}
