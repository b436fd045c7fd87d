package memstore_test

import (
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// whileWriting runs write a number of times, and read in several goroutines at the
// same time. Both return what is wrong.
func whileWriting(t *testing.T, rounds int, write func(round int) error, read func() error) {
	t.Helper()
	const readers = 4
	var group sync.WaitGroup
	var done atomic.Bool
	failures := make(chan error, readers+1)
	for range readers {
		group.Go(func() {
			for last := false; !last; {
				last = done.Load()
				if err := read(); err != nil {
					failures <- err
					return
				}
			}
		})
	}
	for round := range rounds {
		if err := write(round); err != nil {
			failures <- err
			break
		}
	}
	done.Store(true)
	group.Wait()
	close(failures)
	for err := range failures {
		require.NoError(t, err)
	}
}

func TestReaders_SeeOneVersion(t *testing.T) {
	t.Parallel()
	_, c := filled(t, 200)
	require.NoError(t, c.EnsureIndex(t.Context(), store.Index{Keys: ascending("stars")}))
	whileWriting(t, 40,
		func(round int) error {
			set := change(t, "$set", document.O("version", round, "stars", 7))
			_, err := c.Update(t.Context(), nil, set, store.UpdateOptions{Multi: true})
			return err
		},
		func() error {
			versions, err := c.Distinct(t.Context(), "version", nil)
			if err == nil && len(versions) > 1 {
				return fmt.Errorf("a reader saw the versions %v at once", versions)
			}
			return err
		})
	found, err := c.Find(t.Context(), filter(t, "stars", 7), store.FindOptions{})
	require.NoError(t, err)
	require.Len(t, found, 200)
}

func TestReaders_SeeWholeBatches(t *testing.T) {
	t.Parallel()
	const batch = 50
	c := memstore.New().Collection("c")
	whileWriting(t, 40,
		func(round int) error {
			documents := make([]document.Object, batch)
			for i := range documents {
				documents[i] = document.O("_id", round*batch+i)
			}
			return c.Insert(t.Context(), documents...)
		},
		func() error {
			count, err := c.Count(t.Context(), nil)
			if err == nil && count%batch != 0 {
				return fmt.Errorf("a reader saw %d documents, which is part of a batch", count)
			}
			return err
		})
}

func TestFork_AtOneMoment(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	first, second := store.Collection("a first"), store.Collection("z second")
	for name := range 500 { // They make a fork take long enough for writes to fall into it.
		put(t, store, fmt.Sprint("between ", name), 1)
	}
	whileWriting(t, 2_000,
		func(round int) error {
			if err := first.Insert(t.Context(), document.O("_id", round)); err != nil {
				return err
			}
			return second.Insert(t.Context(), document.O("_id", round))
		},
		func() error {
			fork := store.Fork()
			one, err := fork.Collection("a first").Count(t.Context(), nil)
			if err != nil {
				return err
			}
			two, err := fork.Collection("z second").Count(t.Context(), nil)
			if err == nil && (two > one || one > two+1) {
				return fmt.Errorf("a fork has %d documents that were written before %d others", one, two)
			}
			return err
		})
}

func TestCollection_MadeOnce(t *testing.T) {
	t.Parallel()
	const writers = 16
	store := memstore.New()
	var group sync.WaitGroup
	failures := make([]error, writers)
	for writer := range writers {
		group.Go(func() {
			for name := range 20 {
				o := document.O("_id", writer)
				if err := store.Collection(strconv.Itoa(name)).Insert(t.Context(), o); err != nil {
					failures[writer] = err
				}
			}
		})
	}
	group.Wait()
	for _, err := range failures {
		require.NoError(t, err)
	}
	for name := range 20 {
		require.Len(t, contents(t, store, strconv.Itoa(name)), writers)
	}
}
