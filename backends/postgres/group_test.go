package postgres_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/conformance"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
)

// Documents written in one transaction have the same transaction number.
func TestGroup_WritesShareTransactions(t *testing.T) {
	t.Parallel()
	const writers = 64
	database := open(t)
	things, others := database.Collection("things"), database.Collection("others")
	require.NoError(t, things.EnsureIndex(t.Context(), store.Ascending("n")))
	require.NoError(t, others.Insert(t.Context(), document.O("_id", "first")))
	for _, err := range conformance.AtOnce(writers, func(writer int) error {
		c := []store.Collection{things, others}[writer%2]
		return c.Insert(t.Context(), document.O("_id", writer, "n", writer))
	}) {
		require.NoError(t, err)
	}
	for _, err := range conformance.AtOnce(writers, func(writer int) error {
		c := []store.Collection{things, others}[writer%2]
		if writer%4 < 2 {
			_, err := c.Update(t.Context(), sharedtest.Filter(t, "_id", writer), sharedtest.Change(t, "$inc", document.O("n", writers)), store.UpdateOptions{})
			return err
		}
		removed, err := c.Delete(t.Context(), sharedtest.Filter(t, "_id", writer), store.DeleteOptions{})
		if err == nil && removed != 1 {
			err = fmt.Errorf("removed %d documents, want 1", removed)
		}
		return err
	}) {
		require.NoError(t, err)
	}
	var documents, transactions int
	require.NoError(t, database.Pool().QueryRow(t.Context(), "SELECT count(*), count(DISTINCT xmin::text) FROM (SELECT xmin FROM "+
		database.Schema()+"._d1 UNION ALL SELECT xmin FROM "+database.Schema()+"._d2) d").Scan(&documents, &transactions))
	require.Equal(t, writers/2+1, documents)
	require.Less(t, transactions, writers/2, "no write shared a transaction")
	count, err := things.Count(t.Context(), sharedtest.Filter(t, "n", document.O("$gte", writers)))
	require.NoError(t, err)
	require.EqualValues(t, writers/4, count)
	entries, err := database.Entries(t.Context(), "things")
	require.NoError(t, err)
	require.Equal(t, writers/4, entries)
}

func TestGroup_LeavesOutADocumentThatIsLocked(t *testing.T) {
	t.Parallel()
	database := open(t)
	c := jobs(t, database)
	release := locked(t, database)
	first := make(chan int)
	rename := document.O("name", "changed")
	go func() { first <- modified(t, c, document.O("_id", 0), rename, store.FindAndModifyOptions{}) }()
	awaitLock(t, database)
	for id := 1; id < 5; id++ {
		require.Equal(t, id, modified(t, c, document.O("_id", id), rename, store.FindAndModifyOptions{}))
	}
	release()
	require.Equal(t, 0, <-first)
}

// If two processes insert the same documents at the same time, one insertion of each document succeeds. A
// failed insertion does not affect others in its group.
func TestGroup_TellsRepeatsApart(t *testing.T) {
	t.Parallel()
	const writers, ids = 48, 12
	schema := newSchema(t)
	processes := []store.Collection{openIn(t, schema).Collection("things"), openIn(t, schema).Collection("things")}
	var inserted [ids]atomic.Int64
	for writer, err := range conformance.AtOnce(writers, func(writer int) error {
		return processes[writer%2].Insert(t.Context(), document.O("_id", writer%ids))
	}) {
		if err == nil {
			inserted[writer%ids].Add(1)
			continue
		}
		require.ErrorIs(t, err, boterr.AlreadyExists)
		e, _ := boterr.AsError(err)
		require.Equal(t, "[0]._id", e.Field)
	}
	for id := range inserted {
		require.EqualValues(t, 1, inserted[id].Load(), "document %d", id)
	}
}

func TestGroup_CountsEachChangeOnce(t *testing.T) {
	t.Parallel()
	const writers, each, counters = 16, 15, 3
	schema := newSchema(t)
	processes := []store.Collection{openIn(t, schema).Collection("counters"), openIn(t, schema).Collection("counters")}
	require.NoError(t, processes[0].EnsureIndex(t.Context(), store.Ascending("n")))
	increment := sharedtest.Change(t, "$inc", document.O("n", 1))
	for _, err := range conformance.AtOnce(writers, func(writer int) error {
		for i := range each {
			_, err := processes[writer%2].Update(t.Context(), sharedtest.Filter(t, "_id", i%counters), increment, store.UpdateOptions{Upsert: true})
			if err != nil {
				return err
			}
		}
		return nil
	}) {
		require.NoError(t, err)
	}
	count, err := processes[0].Count(t.Context(), sharedtest.Filter(t, "n", writers*each/counters))
	require.NoError(t, err)
	require.EqualValues(t, counters, count)
}
