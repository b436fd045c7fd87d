package botctxtest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
)

var upsertRules = []Rule{
	{
		Name:  "UpsertDataToDataSourceUpdatesWhatExists",
		Text:  "an element with an _id that exists in the data source is updated: the given columns are set, others stay",
		check: upsertUpdatesWhatExists,
	},
	{
		Name:  "UpsertDataToDataSourceInsertsWithTheGivenID",
		Text:  "an element with an _id that does not exist is inserted with that _id; its id is listed in upserted",
		check: upsertInsertsWithTheGivenID,
	},
	{
		Name:  "UpsertDataToDataSourceInsertsWithANewID",
		Text:  "an element without _id is inserted; its id is listed in inserted",
		check: upsertInsertsWithANewID,
	},
	{
		Name:  "UpsertDataToDataSourceCountsAllInserted",
		Text:  "the number inserted counts all inserted entries, including those with a provided _id",
		check: upsertCountsAllInserted,
	},
	{
		Name:  "UpsertDataToDataSourceTakesAnyScalarAsID",
		Text:  "an _id is a string, a number or a boolean, and keeps its type",
		check: upsertTakesAnyScalarAsID,
	},
	{
		Name:  "UpsertDataToDataSourceOfNothing",
		Text:  "an upsert of no elements does nothing; its lists are empty and never null",
		check: upsertOfNothing,
	},
	{
		Name:  "UpsertDataToDataSourceTakesWhatWasFetched",
		Text:  "an entry that was fetched can be given back as it is, and counts as matched, not as modified",
		check: upsertTakesWhatWasFetched,
	},
	{
		Name:  "EntriesTellWhenTheyChanged",
		Text:  "a change renews updatedAt to the time of the change and keeps createdAt; what changes nothing renews none",
		Needs: []Capability{moveClock},
		check: entriesTellWhenTheyChanged,
	},
	{
		Name:  "UpsertDataToDataSourceTakesCopies",
		Text:  "what goes in is copied, and what comes out is the caller's own",
		check: upsertTakesCopies,
	},
}

// upsert upserts entries of the source, without an error.
func (t *trial) upsert(entries ...document.Object) datasource.UpsertOutcome {
	t.Helper()
	saved, err := t.home.UpsertDataToDataSource(t.ctx(), datasource.UpsertDataToDataSourceParams{
		DataSourceID: source, Data: append([]document.Object{}, entries...),
	})
	require.NoError(t, err)
	return saved.Result
}

func upsertUpdatesWhatExists(t *trial) {
	t.seed(t.home, document.O("_id", "a", "n", 1, "m", 1), document.O("_id", "b", "n", 1))
	outcome := t.upsert(document.O("_id", "b", "n", 1), document.O("_id", "a", "n", 2, "list", document.A(1)))
	require.Equal(t, []any{"b", "a"}, outcome.DocsIDs.Updated)
	require.Equal(t, int64(2), outcome.Matched)
	require.Equal(t, int64(1), outcome.Modified, "an entry that was the same already is not modified")
	require.Zero(t, outcome.Inserted)
	require.Empty(t, outcome.DocsIDs.Inserted)
	require.Empty(t, outcome.DocsIDs.Upserted)
	t.requireHolds(t.home, document.O("_id", "a", "n", 2, "m", 1, "list", document.A(1)), document.O("_id", "b", "n", 1))
}

func upsertInsertsWithTheGivenID(t *trial) {
	outcome := t.upsert(document.O("n", 1, "_id", "a"))
	require.Equal(t, []any{"a"}, outcome.DocsIDs.Upserted)
	require.Empty(t, outcome.DocsIDs.Inserted)
	require.Empty(t, outcome.DocsIDs.Updated)
	require.Zero(t, outcome.Matched)
	require.Zero(t, outcome.Modified)
	t.requireHolds(t.home, document.O("_id", "a", "n", 1))
}

func upsertInsertsWithANewID(t *trial) {
	first, second := t.upsert(document.O("n", 1)), t.upsert(document.O("n", 1))
	require.Len(t, first.DocsIDs.Inserted, 1)
	require.Len(t, second.DocsIDs.Inserted, 1)
	require.NotEqual(t, first.DocsIDs.Inserted, second.DocsIDs.Inserted)
	require.Empty(t, first.DocsIDs.Upserted)
	t.requireHolds(t.home,
		document.O("_id", first.DocsIDs.Inserted[0], "n", 1), document.O("_id", second.DocsIDs.Inserted[0], "n", 1))
}

func upsertCountsAllInserted(t *trial) {
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

func upsertTakesAnyScalarAsID(t *trial) {
	ids := []any{"1", int64(1), 1.5, true, false, "", "a b/c.$d"}
	for _, id := range ids {
		outcome := t.upsert(document.O("_id", id, "n", 1))
		require.Equal(t, []any{id}, outcome.DocsIDs.Upserted)
		outcome = t.upsert(document.O("_id", id, "n", 2))
		require.Equal(t, []any{id}, outcome.DocsIDs.Updated)
	}
	t.requireIDs(ids, t.all(t.home))
}

func upsertOfNothing(t *trial) {
	outcome := t.upsert()
	require.JSONEq(t, `{"_docsIds": {"updated": [], "inserted": [], "upserted": []},
		"matched": 0, "modified": 0, "inserted": 0, "deleted": 0}`, textOf(t, outcome))
	require.Empty(t, t.all(t.home))
}

func upsertTakesWhatWasFetched(t *trial) {
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
			return errorOf(t.home.UpsertDataToDataSource(t.ctx(), datasource.UpsertDataToDataSourceParams{
				DataSourceID: source, Data: document.One(document.O("_id", "a", "n", n)),
			}))
		},
		"patchDataToDataSource": func(n int) error {
			return errorOf(t.home.PatchDataToDataSource(t.ctx(), datasource.PatchDataToDataSourceParams{
				DataSourceID: source, Patch: document.O("n", n),
			}))
		},
		"findAndModifyDataFromDataSource": func(n int) error {
			return errorOf(t.home.FindAndModifyDataFromDataSource(t.ctx(), findDataParams{
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
			require.Equal(t, changed, t.times(), "after what changes nothing")
		})
	}
}

// entryTimes are the times of an entry.
type entryTimes struct {
	CreatedAt document.Timestamp `json:"createdAt"`
	UpdatedAt document.Timestamp `json:"updatedAt"`
}

// times returns the times of the first entry, which it must have.
func (t *trial) times() entryTimes {
	t.Helper()
	var times entryTimes
	require.NoError(t, document.Decode(t.all(t.home)[0], &times))
	require.Positive(t, times.CreatedAt)
	require.GreaterOrEqual(t, times.UpdatedAt, times.CreatedAt)
	return times
}

func upsertTakesCopies(t *trial) {
	data := []document.Object{document.O("_id", "a", "n", 1), document.O("_id", "b", "n", 1)}
	saved, err := t.home.UpsertDataToDataSource(t.ctx(), datasource.UpsertDataToDataSourceParams{DataSourceID: source, Data: data})
	require.NoError(t, err)
	data[0] = document.O("_id", "x")
	data[1].Set("n", 2)
	saved.Result.DocsIDs.Upserted[0] = "x"
	fetched := t.all(t.home)
	fetched[0].Set("n", 3)
	fetched[1] = document.O()
	t.requireHolds(t.home, document.O("_id", "a", "n", 1), document.O("_id", "b", "n", 1))
}
