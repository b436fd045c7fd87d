package memstore_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/memstore"
)

// endingContext is a context that ends the goroutine of a write when the write begins.
type endingContext struct {
	context.Context

	asked atomic.Int64
}

func (c *endingContext) Err() error {
	if c.asked.Add(1) == 2 {
		runtime.Goexit()
	}
	return nil
}

func TestWrite_EndsItsGoroutine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := &memoryJournal{}
		store := journaled(t, j)
		held := &heldContext{Context: t.Context(), goOn: make(chan struct{})}
		leads := insert(held, store, "leads")
		one := insert(t.Context(), store, 1)
		ends := insert(&endingContext{Context: t.Context()}, store, "ends")
		two := insert(t.Context(), store, 2)
		close(held.goOn)
		require.NoError(t, <-leads)
		require.NoError(t, <-one)
		require.ErrorIs(t, <-ends, boterr.Internal)
		require.NoError(t, <-two, "it stood behind the one that ended")
		require.ErrorIs(t, <-insert(&endingContext{Context: t.Context()}, store, "ends alone"), boterr.Internal)
		require.NoError(t, <-insert(t.Context(), store, 3), "the store goes on")
		require.Equal(t, []string{`{"_id":"leads"}`, `{"_id":1}`, `{"_id":2}`, `{"_id":3}`}, contents(t, store, "a"))
		store.Close()
	})
}

func TestJournal_EndsGoroutine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ends := false
		gate := make(chan struct{})
		j := &memoryJournal{before: func() error {
			<-gate
			if ends {
				runtime.Goexit()
			}
			return nil
		}}
		store := journaled(t, j)
		first := insert(t.Context(), store, "first")
		leads := insert(t.Context(), store, "leads")
		shares := insert(t.Context(), store, "shares")
		gate <- struct{}{}
		require.NoError(t, <-first)
		synctest.Wait()
		ends = true
		gate <- struct{}{}
		require.ErrorIs(t, <-shares, boterr.Unavailable)
		require.ErrorIs(t, <-leads, boterr.Unavailable, "it is no caller's goroutine that was ended")
		ends = false
		after := insert(t.Context(), store, "after")
		gate <- struct{}{}
		require.NoError(t, <-after)
		require.Equal(t, []string{`{"_id":"first"}`, `{"_id":"after"}`}, contents(t, store, "a"))
	})
}

func TestWatcher_PanicsOrEndsGoroutine(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(){"panic": func() { panic("a broken watcher") }, "goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				j, gate := gatedJournal()
				store := journaled(t, j)
				var told []string
				defer store.Watch("a", func(_, after document.Object) {
					if id, _ := after.Field("_id"); id == "bad" {
						harm()
					}
				}, func() {})()
				defer store.Watch("a", func(_, after document.Object) { told = append(told, after.String()) }, func() {})()
				first := insert(t.Context(), store, "first")
				bad := make(chan any, 1)
				go func() {
					defer func() { bad <- recover() }()
					_ = store.Collection("a").Insert(t.Context(), document.O("_id", "bad"))
				}()
				synctest.Wait()
				others := []<-chan error{insert(t.Context(), store, 1), insert(t.Context(), store, 2)}
				gate <- nil
				gate <- nil
				require.NoError(t, <-first)
				for _, other := range others {
					require.NoError(t, <-other)
				}
				cause := <-bad
				if name == "panic" {
					require.Equal(t, "a broken watcher", cause, "it is the write's that it was told of")
				}
				require.Equal(t, []string{`{"_id":"first"}`, `{"_id":"bad"}`, `{"_id":1}`, `{"_id":2}`}, contents(t, store, "a"))
				require.Equal(t, contents(t, store, "a"), told, "the other watcher is told of all")
			})
		})
	}
}

func TestOpen_NeedsAJournal(t *testing.T) {
	t.Parallel()
	_, err := memstore.Open(nil)
	require.ErrorIs(t, err, boterr.InvalidArgument)
}
