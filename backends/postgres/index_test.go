package postgres_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/conformance"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
)

// manyThings is more than one page of EnsureIndex.
const manyThings = 2_300

func things(from, to int) []document.Object {
	var documents []document.Object
	for i := from; i < to; i++ {
		documents = append(documents, document.O("_id", i, "n", i, "tags", document.A("a", fmt.Sprint("t", i%7))))
	}
	return documents
}

func TestEnsureIndex_BesideWriters(t *testing.T) {
	t.Parallel()
	schema := newSchema(t)
	database, other := openIn(t, schema), openIn(t, schema)
	c := database.Collection("things")
	require.NoError(t, c.Insert(t.Context(), things(0, manyThings)...))
	var isBuilt atomic.Bool
	var next atomic.Int64
	errs := conformance.AtOnce(3, func(worker int) error {
		if worker == 0 {
			defer isBuilt.Store(true)
			if err := c.EnsureIndex(t.Context(), store.Index{Keys: store.Ascending("n").Keys, Unique: true}); err != nil {
				return err
			}
			return other.Collection("things").EnsureIndex(t.Context(), store.Ascending("tags", "n"))
		}
		own := openIn(t, schema).Collection("things")
		for !isBuilt.Load() {
			i := int(next.Add(1))
			if err := own.Insert(t.Context(), things(manyThings+i, manyThings+i+1)...); err != nil {
				return err
			}
			if _, err := own.Update(t.Context(), sharedtest.Filter(t, "_id", i*37%manyThings), sharedtest.Change(t, "$inc", document.O("n", 1_000_000)), store.UpdateOptions{}); err != nil {
				return err
			}
			if _, err := own.Delete(t.Context(), sharedtest.Filter(t, "_id", i*53%manyThings), store.DeleteOptions{}); err != nil {
				return err
			}
		}
		return nil
	})
	for _, err := range errs {
		require.NoError(t, err)
	}
	all, err := c.Find(t.Context(), nil, store.FindOptions{})
	require.NoError(t, err)
	explanation, err := other.Explain(t.Context(), "things", nil, store.FindOptions{Sort: sharedtest.Sort(t, "n", 1)})
	require.NoError(t, err)
	require.Equal(t, store.Explanation{
		Index: "n_1", Sorted: true, Exact: true, Examined: int64(len(all)), Returned: int64(len(all)),
	}, explanation)
	for i := range 7 {
		tag := sharedtest.Filter(t, "tags", fmt.Sprint("t", i))
		count, err := other.Collection("things").Count(t.Context(), tag)
		require.NoError(t, err)
		want := int64(0)
		for _, o := range all {
			if tag.Match(o) {
				want++
			}
		}
		require.Equal(t, want, count)
	}
	entries, err := database.Entries(t.Context(), "things")
	require.NoError(t, err)
	require.Equal(t, 3*len(all), entries, "each has a number and two tags")
}

func TestEnsureIndex_GoesOnAfterACrash(t *testing.T) {
	t.Parallel()
	schema := newSchema(t)
	database := openIn(t, schema)
	c := database.Collection("things")
	require.NoError(t, c.Insert(t.Context(), things(0, manyThings)...))
	byTags := store.Ascending("tags")
	require.NoError(t, database.BeginIndex(t.Context(), "things", byTags))
	explanation, err := database.Explain(t.Context(), "things", sharedtest.Filter(t, "tags", "t3"), store.FindOptions{})
	require.NoError(t, err)
	require.Empty(t, explanation.Index, "it is not complete")
	_, err = c.Delete(t.Context(), sharedtest.Filter(t, "_id", 3), store.DeleteOptions{})
	require.NoError(t, err)

	again := openIn(t, schema)
	require.NoError(t, again.Collection("things").EnsureIndex(t.Context(), byTags))
	explanation, err = database.Explain(t.Context(), "things", sharedtest.Filter(t, "tags", "t3"), store.FindOptions{})
	require.NoError(t, err)
	require.Equal(t, "tags_1", explanation.Index)
	require.EqualValues(t, 328, explanation.Returned)

	require.NoError(t, database.BeginIndex(t.Context(), "things", store.Ascending("n")))
	require.NoError(t, again.Collection("things").EnsureIndex(t.Context(), store.Ascending("other")), "the one before is forgotten")
	entries, err := database.Entries(t.Context(), "things")
	require.NoError(t, err)
	require.Equal(t, 3*(manyThings-1), entries)
}

func TestEnsureIndex_ViolationIsFoundLate(t *testing.T) {
	t.Parallel()
	database := open(t)
	c := database.Collection("things")
	require.NoError(t, c.Insert(t.Context(), append(things(0, manyThings), document.O("_id", "twice", "n", 5))...))
	unique := store.Index{Keys: store.Ascending("n").Keys, Unique: true}
	err := c.EnsureIndex(t.Context(), unique)
	require.ErrorIs(t, err, boterr.AlreadyExists)
	require.ErrorContains(t, err, `{"n":5}`)
	entries, err := database.Entries(t.Context(), "things")
	require.NoError(t, err)
	require.Zero(t, entries)
	require.NoError(t, c.Insert(t.Context(), document.O("_id", "thrice", "n", 5)))
	_, err = c.Delete(t.Context(), sharedtest.Filter(t, "_id", document.O("$type", "string")), store.DeleteOptions{Multi: true})
	require.NoError(t, err)
	require.NoError(t, c.EnsureIndex(t.Context(), unique))
	require.ErrorIs(t, c.Insert(t.Context(), document.O("_id", "again", "n", 5)), boterr.AlreadyExists)
}

func TestEnsureIndex_AtOnceInManyProcesses(t *testing.T) {
	t.Parallel()
	schema := newSchema(t)
	require.NoError(t, openIn(t, schema).Collection("things").Insert(t.Context(), things(0, manyThings)...))
	for _, err := range conformance.AtOnce(4, func(int) error {
		return openIn(t, schema).Collection("things").EnsureIndex(t.Context(), store.Ascending("n"))
	}) {
		require.NoError(t, err)
	}
	entries, err := openIn(t, schema).Entries(t.Context(), "things")
	require.NoError(t, err)
	require.Equal(t, manyThings, entries)
}

// Long keys are cut, but texts that differ only after the cut are still distinct and in order.
func TestKeys_LongerThanTheServerTakes(t *testing.T) {
	t.Parallel()
	schema := newSchema(t)
	database, other := openIn(t, schema), openIn(t, schema)
	c := database.Collection("things")
	require.NoError(t, c.EnsureIndex(t.Context(), store.Index{Keys: store.Ascending("text").Keys, Unique: true}))
	long := func(end string) string { return strings.Repeat("long", 5_000) + end }
	byText := store.FindOptions{Sort: sharedtest.Sort(t, "text", -1)}
	_, err := other.Collection("things").Find(t.Context(), nil, byText) // This makes the second store read the indexes.
	require.NoError(t, err)
	for i, end := range []string{"b", "c", "a"} {
		require.NoError(t, c.Insert(t.Context(), document.O("_id", long(end), "n", i, "text", long(end))))
	}
	err = c.Insert(t.Context(), document.O("_id", 9, "text", long("c")))
	require.ErrorIs(t, err, boterr.AlreadyExists)
	require.ErrorContains(t, err, `{"text":"longlong`)
	require.ErrorIs(t, c.Insert(t.Context(), document.O("_id", long("a"))), boterr.AlreadyExists)
	numbers := func(found []document.Object, err error) (all []int) {
		require.NoError(t, err)
		for _, o := range found {
			all = append(all, document.Get(o, "n", -1))
		}
		return all
	}
	for _, c := range []store.Collection{c, other.Collection("things")} {
		require.Equal(t, []int{1, 0, 2}, numbers(c.Find(t.Context(), nil, byText)))
		require.Equal(t, []int{1}, numbers(c.Find(t.Context(), sharedtest.Filter(t, "text", long("c")), store.FindOptions{})))
		require.Equal(t, []int{0, 1}, numbers(c.Find(t.Context(), sharedtest.Filter(t, "text", document.O("$gte", long("b"))), store.FindOptions{})))
		require.Equal(t, []int{0}, numbers(c.Find(t.Context(), sharedtest.Filter(t, "text", document.O("$gt", long("a"), "$lt", long("c"))), store.FindOptions{})))
		found, exists, err := c.Get(t.Context(), long("b"))
		require.NoError(t, err)
		require.True(t, exists)
		require.Equal(t, 0, document.Get(found, "n", -1))
	}
	_, err = c.Delete(t.Context(), sharedtest.Filter(t, "text", long("c")), store.DeleteOptions{})
	require.NoError(t, err)
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 9, "text", long("c"))))
}

// arguments has arguments for explaining each statement.
var arguments = map[string]string{
	"byID": `'\x01'`, "byIDs": `'{"\\x01"}'`, "all": "10", "version": "", "lockID": `'\x01'`, "lock": "'{1,2}'", "lockFree": "'{1,2}'",
	"insert": `'\x01', '\x01', 2, '{1}', '{"\\x01"}', '{}', '{}'`, "replace": `'{1}', '{"\\x01"}'`, "remove": "'{1}'", "page": "1, 10",
	"up": `1, '\x01', '\x02', 10`, "down": `1, '\x01', '\x02', 10`, "ups": `1, '{"\\x01"}', '{"\\x02"}', 10`,
	"downs": `1, '{"\\x01"}', '{"\\x02"}', 10`, "positions": `1, '{"\\x01"}', '{"\\x02"}', 10`, "count": `1, '{"\\x01"}', '{"\\x02"}'`,
	"nextUp": `1, '\x01', '\x02'`, "nextDown": `1, '\x01', '\x02'`, "add": `'{1}', '{"\\x01"}', '{1}'`, "drop": `'{1}', '{"\\x01"}', '{1}'`,
	"addOnce": `'{1}', '{"\\x01"}', '{1}'`, "clash": `'{1}', '{"\\x01"}', '{1}'`, "clear": "1, 2",
	"lockGroup": `'{"\\x01"}', 10`, "insertGroup": `'{"\\x01"}', '{"\\x01"}', 2, '{1}', '{"\\x01"}', '{1}'`,
	"above": `1, '\x01', 10`, "below": `1, '\x01', 10`,
}

// sorting lists the statements that sort their rows. All others read in the order of an index.
var sorting = []string{"positions", "ups", "downs", "lock", "lockFree", "byIDs", "clash"}

func TestExplain_EachStatementUsesItsIndex(t *testing.T) {
	t.Parallel()
	for _, count := range []int{0, 3_000} {
		t.Run(strconv.Itoa(count), func(t *testing.T) {
			t.Parallel()
			database := open(t)
			c := database.Collection("entries")
			require.NoError(t, c.EnsureIndex(t.Context(), store.Ascending("due")))
			require.NoError(t, c.EnsureIndex(t.Context(), store.Index{Keys: store.Ascending("number").Keys, Unique: true}))
			for from := 0; from < count; from += 1_000 {
				documents := make([]document.Object, 1_000)
				for i := range documents {
					documents[i] = document.O("_id", from+i, "due", i, "number", from+i)
				}
				require.NoError(t, c.Insert(t.Context(), documents...))
			}
			_, err := database.Pool().Exec(t.Context(), "ANALYZE")
			require.NoError(t, err)
			texts, err := database.Texts(t.Context(), "entries")
			require.NoError(t, err)
			for name, of := range texts {
				if name == "lockTable" || name == "len" { // lockTable has no plan, and len counts all documents.
					continue
				}
				for _, text := range of {
					plan := requireIndexed(t, database.Pool().Begin, name, text)
					if count > 0 && !slices.Contains(sorting, name) { // The plan for an empty table may sort.
						require.NotRegexp(t, `(?m)^\W*Sort  \(`, plan, "%s: %s", name, text)
					}
				}
			}
		})
	}
}

// Scans of other tables are allowed: the catalogue has few rows, and functions have no index.
var scanned = regexp.MustCompile(`(?:Seq Scan on|Bitmap Heap Scan on) (_[dku]\d+)`)

func requireIndexed(t *testing.T, begin func(context.Context) (pgx.Tx, error), name, text string) (plan string) {
	t.Helper()
	given, isKnown := arguments[name]
	require.True(t, isKnown, "there are no arguments for %s", name)
	tx, err := begin(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback(t.Context())) }()
	_, err = tx.Exec(t.Context(), "PREPARE explained AS "+text)
	require.NoError(t, err, name)
	execute := "EXPLAIN EXECUTE explained"
	if given != "" {
		execute += "(" + given + ")"
	}
	rows, err := tx.Query(t.Context(), execute)
	require.NoError(t, err, name)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err, name)
	_, err = tx.Exec(t.Context(), "DEALLOCATE explained")
	require.NoError(t, err)
	plan = strings.Join(lines, "\n")
	require.NotRegexp(t, scanned, plan, "%s: %s", name, text)
	return plan
}

// Calls that wait for the same index need one connection for the builder, and none for the others.
func TestEnsureIndex_WaitersLeaveConnections(t *testing.T) {
	t.Parallel()
	const callers = 16
	database := open(t)
	c := jobs(t, database)
	release := locked(t, database) // The builder waits for it.
	errs := make(chan error)
	for range callers {
		go func() { errs <- c.EnsureIndex(t.Context(), store.Ascending("name")) }()
	}
	awaitLock(t, database)
	release()
	for range callers {
		require.NoError(t, <-errs)
	}
	require.Less(t, int(database.Pool().Stat().TotalConns()), callers/2)
}

// A call that waited for the same index needs no lock if the index exists.
func TestEnsureIndex_WaiterLooksAgain(t *testing.T) {
	t.Parallel()
	database := open(t)
	c := jobs(t, database)
	release := database.HoldIndexing()
	done := make(chan error)
	go func() { done <- c.EnsureIndex(t.Context(), store.Ascending("name")) }()
	require.NoError(t, database.BeginIndex(t.Context(), "jobs", store.Ascending("name")), "few documents are indexed in one step")
	unlock := locked(t, database)
	release()
	select {
	case err := <-done:
		require.NoError(t, err)
	case <-time.After(10 * time.Second):
		require.Fail(t, "the call waits for a lock")
	}
	unlock()
}
