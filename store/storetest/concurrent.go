package storetest

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/conformance"
	"github.com/botctx/go-sdk/store"
)

var concurrencyRules = []Rule{
	rule(findAndModifyIsOneStep, "FindAndModify is atomic: each of many concurrent callers sees the change of the previous one"),
	rule(claimsAreDisjoint, "FindAndModify is atomic: no two of many concurrent callers take the same document"),
	rule(concurrentUpdatesAreNotLost, "Update changes each document atomically: no concurrent change is lost"),
	rule(concurrentUpsertsInsertOnce, "an upsert is atomic: of many concurrent upserts of the same _id or unique key, one inserts"),
	rule(concurrentInsertsOfOneID, "of many concurrent inserts of the same _id, one succeeds"),
	rule(readersSeeWholeChanges, "a reader sees a document as it was before or after a change, never in between"),
}

// workers is the number of goroutines that write concurrently. rounds is the number of writes of each.
const (
	workers = 16
	rounds  = 10
)

// atOnce runs work in many goroutines, and ends the rule with the first error.
func (t *trial) atOnce(work func(worker int) error) {
	t.Helper()
	for _, err := range conformance.AtOnce(workers, work) {
		require.NoError(t, err)
	}
}

// repeat runs work for each round, until it fails.
func repeat(work func(round int) error) error {
	for round := range rounds {
		if err := work(round); err != nil {
			return err
		}
	}
	return nil
}

func findAndModifyIsOneStep(t *trial) {
	t.insert(document.O("_id", 1, "n", 0))
	increment := t.change("$inc", document.O("n", 1))
	seen := make([][]int64, workers)
	t.atOnce(func(worker int) error {
		return repeat(func(int) error {
			result, err := t.FindAndModify(t.Context(), nil, increment, store.FindAndModifyOptions{New: true})
			seen[worker] = append(seen[worker], document.Get(result.Document, "n", int64(-1)))
			return err
		})
	})
	t.requireHolds(document.O("_id", 1, "n", workers*rounds))
	counted := map[int64]int{}
	for _, numbers := range seen {
		for _, n := range numbers {
			counted[n]++
		}
	}
	for n := range int64(workers * rounds) {
		require.Equal(t, 1, counted[n+1], "the number of callers that were given %d", n+1)
	}
}

func claimsAreDisjoint(t *trial) {
	require.NoError(t, t.EnsureIndex(t.Context(), store.Ascending("state", "n")))
	for i := range workers * rounds {
		t.insert(document.O("_id", i, "state", "free", "n", i%7))
	}
	free := t.filter("state", "free")
	claimed := make([][]any, workers)
	t.atOnce(func(worker int) error {
		claim := t.change("$set", document.O("state", "taken", "by", worker))
		return repeat(func(round int) error {
			options := store.FindAndModifyOptions{}
			if round%2 == 1 {
				options.Sort = t.order("n", -1)
			}
			result, err := t.FindAndModify(t.Context(), free, claim, options)
			id, ok := result.Document.Field(document.IDField)
			if err == nil && !ok {
				return errors.New("a worker found no document although some are free")
			}
			claimed[worker] = append(claimed[worker], id)
			return err
		})
	})
	owners := map[any]int{}
	for worker, ids := range claimed {
		for _, id := range ids {
			require.NotContains(t, owners, id, "%v was claimed twice", id)
			owners[id] = worker
		}
	}
	for _, o := range t.all() {
		id, _ := o.Field(document.IDField)
		require.Equal(t, owners[id], document.Get(o, "by", -1), "the owner of %v", id)
	}
}

func concurrentUpdatesAreNotLost(t *trial) {
	require.NoError(t, t.EnsureIndex(t.Context(), store.Ascending("n")))
	t.insert(numbered(3)...)
	all, increment := t.filter("n", document.O("$gte", 0)), t.change("$inc", document.O("n", 1), "$push", document.O("list", 0))
	t.atOnce(func(int) error {
		return repeat(func(int) error {
			result, err := t.Update(t.Context(), all, increment, multi)
			if err == nil && result != (store.UpdateResult{Matched: 3, Modified: 3}) {
				err = fmt.Errorf("3 documents match, and the result is %+v", result)
			}
			return err
		})
	})
	for i, o := range t.all() {
		require.Equal(t, i+1+workers*rounds, document.Get(o, "n", 0))
		require.Len(t, document.Get(o, "list", []int{}), workers*rounds)
	}
}

func concurrentUpsertsInsertOnce(t *trial) {
	index := store.Ascending("name")
	index.Unique = true
	require.NoError(t, t.EnsureIndex(t.Context(), index))
	increment := t.change("$inc", document.O("n", 1))
	for _, field := range []string{"_id", "name"} {
		filter := t.filter(field, "counter")
		var inserted atomic.Int64
		t.atOnce(func(worker int) error {
			change := increment
			change.OnInsert = document.O("_id", worker) // The filter's _id takes precedence.
			return repeat(func(int) error {
				result, err := t.Update(t.Context(), filter, change, upsert)
				if result.UpsertedID != nil {
					inserted.Add(1)
				}
				return err
			})
		})
		require.Equal(t, int64(1), inserted.Load(), "the number of upserts that inserted, by %s", field)
		found, err := t.Find(t.Context(), filter, store.FindOptions{})
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Equal(t, workers*rounds, document.Get(found[0], "n", 0))
	}
}

func concurrentInsertsOfOneID(t *trial) {
	succeeded := make([]int, workers)
	t.atOnce(func(worker int) error {
		return repeat(func(round int) error {
			if err := t.Insert(t.Context(), document.O("_id", round, "by", worker)); err == nil {
				succeeded[worker]++
			}
			return nil
		})
	})
	total := 0
	for _, n := range succeeded {
		total += n
	}
	require.Equal(t, rounds, total, "the number of inserts that succeeded")
	require.Len(t, t.all(), rounds)
}

func readersSeeWholeChanges(t *trial) {
	t.insert(document.O("_id", 1, "a", 0, "b", document.O("c", 0)), document.O("_id", 2, "a", 0, "b", document.O("c", 0)))
	increment := t.change("$inc", document.O("a", 1, "b.c", 1))
	torn := make([]string, workers)
	t.atOnce(func(worker int) error {
		if worker%2 == 0 {
			return repeat(func(int) error { return failure(t.Update(t.Context(), nil, increment, multi)) })
		}
		return repeat(func(int) error {
			found, err := t.Find(t.Context(), nil, store.FindOptions{})
			for _, o := range found {
				if document.Get(o, "a", -1) != document.Get(o, "b.c", -2) {
					torn[worker] = o.String()
				}
			}
			return err
		})
	})
	for _, text := range torn {
		require.Empty(t, text, "a reader saw a half-changed document")
	}
}
