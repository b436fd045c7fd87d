package memstore_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// pausingContext is a context at which a write that looks at it so often is held until it is
// let go.
type pausingContext struct {
	context.Context

	asked atomic.Int64
	goOn  chan struct{}
}

// pauseAt is more often than a write looks under the lock.
const pauseAt = 100

func (c *pausingContext) Err() error {
	if c.asked.Add(1) == pauseAt {
		<-c.goOn
	}
	return c.Context.Err()
}

// twoTenants calls test with stores of both kinds, in which each of two apps has 200
// documents of one collection.
func twoTenants(t *testing.T, test func(t *testing.T, store store.Store)) {
	t.Helper()
	for name, open := range map[string]func(t *testing.T) store.Store{
		"memory":  func(*testing.T) store.Store { return memstore.New() },
		"journal": func(t *testing.T) store.Store { return journaled(t, &memoryJournal{}) }, //nolint:thelper // It opens.
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := open(t)
				for i := range 200 {
					for _, app := range []string{"slow", "quick"} {
						o := document.O("_id", fmt.Sprint(app, i), "app", app, "n", 0)
						require.NoError(t, store.Collection("c").Insert(t.Context(), o))
					}
				}
				test(t, store)
			})
		})
	}
}

// costly is a filter for all documents of the slow tenant, at each of which a write does so
// much that it looks whether anybody still waits.
func costly(t *testing.T) *query.Filter {
	t.Helper()
	loop := document.O("$map", document.O("input", document.O("$range", document.A(0, 1_000)), "in", "$n"))
	isCounted := document.O("$gte", document.A("$n", 0))
	return filter(t, "app", "slow", "$expr", document.O("$and", document.A(isCounted, document.O("$size", loop))))
}

// count adds one to n.
func count(t *testing.T) query.Change {
	t.Helper()
	return change(t, "$inc", document.O("n", 1))
}

// slowUpdate updates all documents of the slow tenant in another goroutine, and is held in the
// middle of that; the channel tells how that ended.
func slowUpdate(t *testing.T, ctx context.Context, database store.Store) (*pausingContext, <-chan string) { //nolint:revive // t comes first in tests.
	t.Helper()
	paused := &pausingContext{Context: ctx, goOn: make(chan struct{})}
	told, f, inc := make(chan string, 1), costly(t), count(t)
	go func() {
		result, err := database.Collection("c").Update(paused, f, inc, store.UpdateOptions{Multi: true})
		told <- fmt.Sprintf("%d %d %v", result.Matched, result.Modified, boterr.CodeOf(err))
	}()
	synctest.Wait()
	return paused, told
}

// total is the sum of n in the documents of an app.
func total(t *testing.T, database store.Store, app string) (total int64) {
	t.Helper()
	found, err := database.Collection("c").Find(t.Context(), filter(t, "app", app), store.FindOptions{})
	require.NoError(t, err)
	for _, o := range found {
		total += document.Get(o, "n", int64(0))
	}
	return total
}

func TestLongWrite_HoldsNobodyUp(t *testing.T) {
	t.Parallel()
	twoTenants(t, func(t *testing.T, database store.Store) {
		t.Helper()
		paused, outcome := slowUpdate(t, t.Context(), database)
		c := database.Collection("c")
		_, err := c.Update(t.Context(), filter(t, "_id", "quick7"), count(t), store.UpdateOptions{})
		require.NoError(t, err)
		_, err = c.Update(t.Context(), filter(t, "app", "quick"), count(t), store.UpdateOptions{Multi: true})
		require.NoError(t, err)
		_, err = c.Delete(t.Context(), filter(t, "_id", "quick8"), store.DeleteOptions{})
		require.NoError(t, err)
		require.NoError(t, c.Insert(t.Context(), document.O("_id", "quick200", "app", "quick", "n", 1)))
		require.NoError(t, c.EnsureIndex(t.Context(), store.Index{Keys: ascending("n")}))
		require.NoError(t, database.Collection("other").Insert(t.Context(), document.O("_id", 1)))
		require.Empty(t, outcome)
		require.Zero(t, total(t, database, "slow"))

		close(paused.goOn)
		require.Equal(t, "200 200 ", <-outcome)
		require.EqualValues(t, 200, total(t, database, "slow"))
		require.EqualValues(t, 201, total(t, database, "quick"))
		found, err := c.Count(t.Context(), filter(t, "n", 1, "app", "slow"))
		require.NoError(t, err)
		require.EqualValues(t, 200, found, "the new index has what it made")
	})
}

func TestLongWrite_SeesOthersChanges(t *testing.T) {
	t.Parallel()
	twoTenants(t, func(t *testing.T, database store.Store) {
		t.Helper()
		paused, outcome := slowUpdate(t, t.Context(), database)
		c := database.Collection("c")
		_, err := c.Update(t.Context(), filter(t, "_id", "slow150"), change(t, "$set", document.O("n", 1000)), store.UpdateOptions{})
		require.NoError(t, err)
		_, err = c.Update(t.Context(), filter(t, "_id", "slow3"), change(t, "$set", document.O("n", -1)), store.UpdateOptions{})
		require.NoError(t, err)
		require.NoError(t, c.Insert(t.Context(), document.O("_id", "slow200", "app", "slow", "n", 0)))
		close(paused.goOn)
		require.Equal(t, "200 200 ", <-outcome, "one more, one less")
		require.EqualValues(t, 1000-1+200, total(t, database, "slow"))
	})
}

func TestLongWrite_ContextEnds(t *testing.T) {
	t.Parallel()
	twoTenants(t, func(t *testing.T, store store.Store) {
		t.Helper()
		ctx, end := context.WithCancel(t.Context())
		paused, outcome := slowUpdate(t, ctx, store)
		end()
		close(paused.goOn)
		require.Equal(t, "0 0 canceled", <-outcome)
		require.Zero(t, total(t, store, "slow"))
	})
}

func TestLock_ContextEndsWhileWaiting(t *testing.T) {
	t.Parallel()
	twoTenants(t, func(t *testing.T, store store.Store) {
		t.Helper()
		held := &heldContext{Context: t.Context(), goOn: make(chan struct{})}
		holds := make(chan error, 1)
		go func() { holds <- store.Collection("c").Insert(held, document.O("_id", "holds")) }()
		synctest.Wait()
		ctx, end := context.WithCancel(t.Context())
		waits := make(chan error, 1)
		go func() { waits <- store.Collection("c").Insert(ctx, document.O("_id", "waits")) }()
		synctest.Wait()
		end()
		require.ErrorIs(t, <-waits, boterr.Canceled)
		close(held.goOn)
		require.NoError(t, <-holds)
		require.NoError(t, store.Collection("c").Insert(t.Context(), document.O("_id", "after")))
		found, err := store.Collection("c").Count(t.Context(), filter(t, "_id", "waits"))
		require.NoError(t, err)
		require.Zero(t, found)
	})
}

func TestLongInsert_KeyTakenMeanwhile(t *testing.T) {
	t.Parallel()
	twoTenants(t, func(t *testing.T, store store.Store) {
		t.Helper()
		documents := make([]document.Object, 10_000)
		for i := range documents {
			documents[i] = document.O("_id", i)
		}
		paused := &pausingContext{Context: t.Context(), goOn: make(chan struct{})}
		outcome := make(chan error, 1)
		go func() { outcome <- store.Collection("c").Insert(paused, documents...) }()
		synctest.Wait()
		require.NoError(t, store.Collection("c").Insert(t.Context(), document.O("_id", 9_000)))
		close(paused.goOn)
		err, ok := boterr.AsError(<-outcome)
		require.True(t, ok)
		require.Equal(t, boterr.AlreadyExists, err.Code)
		require.Equal(t, "[9000]._id", err.Field)
	})
}
