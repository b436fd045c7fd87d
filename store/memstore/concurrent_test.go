package memstore_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// whileWriting runs write a number of times, and read in several goroutines at the same time. Both return an
// error that describes a problem, or nil.
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
			set := sharedtest.Change(t, "$set", document.O("version", round, "stars", 7))
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
	found := find(t, c, sharedtest.Filter(t, "stars", 7), store.FindOptions{})
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
	for name := range 500 { // So many collections make a fork slow enough that writes happen during it.
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

// step is one operation of a history. It returns the results that its caller sees.
type step func(ctx context.Context, c store.Collection) string

// A history has the steps of several writers, each one in order.
type history [][]step

func historyStart(t *testing.T, database store.Store) store.Collection {
	t.Helper()
	c := database.Collection("history")
	require.NoError(t, c.EnsureIndex(t.Context(), store.Index{
		Keys: []store.IndexKey{{Path: "u", Kind: query.Ascending}}, Unique: true, Sparse: true,
	}))
	for id := range 3 {
		require.NoError(t, c.Insert(t.Context(), document.O("_id", id, "n", id, "l", document.A())))
	}
	return c
}

// randomStep returns an operation whose result or effect depends on earlier ones.
func randomStep(t *testing.T, random *rand.Rand) step {
	t.Helper()
	id, n := random.IntN(4), random.IntN(3)
	byID, byN := sharedtest.Filter(t, "_id", id), sharedtest.Filter(t, "n", n)
	greater := sharedtest.Filter(t, "n", document.O("$gt", n))
	push := sharedtest.Change(t, "$push", document.O("l", document.O("$each", document.A(n), "$slice", -3)))
	count := sharedtest.Change(t, "$inc", document.O("n", 1))
	double := sharedtest.Change(t, "$mul", document.O("n", 2))
	steps := []step{
		claim(byN, count, store.FindAndModifyOptions{}),
		claim(greater, push, store.FindAndModifyOptions{New: true, Sort: sharedtest.Sort(t, "n", -1)}),
		claim(byID, count, store.FindAndModifyOptions{Upsert: true, New: true}),
		updating(greater, double, store.UpdateOptions{Multi: true}),
		updating(nil, push, store.UpdateOptions{Multi: true}),
		updating(byID, sharedtest.Change(t, "$set", document.O("u", n)), store.UpdateOptions{}),
		func(ctx context.Context, c store.Collection) string {
			return fmt.Sprint(c.Insert(ctx, document.O("_id", id, "n", n, "l", document.A("new"))))
		},
		func(ctx context.Context, c store.Collection) string {
			return fmt.Sprint(c.Delete(ctx, byN, store.DeleteOptions{Multi: n == 0}))
		},
		func(ctx context.Context, c store.Collection) string {
			return fmt.Sprint(c.Find(ctx, greater, store.FindOptions{Sort: sharedtest.Sort(t, "n", 1)}))
		},
	}
	return steps[random.IntN(len(steps))]
}

func claim(filter *query.Filter, change query.Change, options store.FindAndModifyOptions) step {
	return func(ctx context.Context, c store.Collection) string {
		return fmt.Sprint(c.FindAndModify(ctx, filter, change, options))
	}
}

func updating(filter *query.Filter, change query.Change, options store.UpdateOptions) step {
	return func(ctx context.Context, c store.Collection) string {
		return fmt.Sprint(c.Update(ctx, filter, change, options))
	}
}

// outcome describes the results that the writers of a history saw, and the final content of the collection.
func outcome(t *testing.T, c store.Collection, seen [][]string) string {
	t.Helper()
	all := find(t, c, nil, store.FindOptions{})
	return fmt.Sprintf("%q %v", seen, all)
}

// givingWay is a context that yields to other goroutines whenever it is checked.
type givingWay struct{ context.Context }

func (c givingWay) Err() error {
	runtime.Gosched()
	return c.Context.Err()
}

// together runs the writers at the same time.
func (h history) together(t *testing.T, database store.Store) string {
	t.Helper()
	c := historyStart(t, database)
	seen := make([][]string, len(h))
	start := make(chan struct{})
	var writers sync.WaitGroup
	for i, steps := range h {
		writers.Go(func() {
			<-start
			for _, step := range steps {
				seen[i] = append(seen[i], step(givingWay{t.Context()}, c))
			}
		})
	}
	close(start)
	writers.Wait()
	return outcome(t, c, seen)
}

// inOrder runs one step after the other. order contains the writer of each step.
func (h history) inOrder(t *testing.T, order []int) string {
	t.Helper()
	c := historyStart(t, memstore.New())
	seen := make([][]string, len(h))
	for _, writer := range order {
		seen[writer] = append(seen[writer], h[writer][len(seen[writer])](t.Context(), c))
	}
	return outcome(t, c, seen)
}

// orders yields every order in which the writers can take their turns, until yield
// returns false.
func (h history) orders(yield func(order []int) bool) {
	left := make([]int, len(h))
	total := 0
	for i := range h {
		left[i] = len(h[i])
		total += left[i]
	}
	var extend func(order []int) bool
	extend = func(order []int) bool {
		if len(order) == total {
			return yield(order)
		}
		for writer := range left {
			if left[writer] == 0 {
				continue
			}
			left[writer]--
			goOn := extend(append(order, writer))
			left[writer]++
			if !goOn {
				return false
			}
		}
		return true
	}
	extend(nil)
}

func TestWriters_SerialOrder(t *testing.T) {
	t.Parallel()
	count := rounds.Of(t, 30, 200)
	for name, options := range map[string][]memstore.Option{
		"in turns": nil, "beside the turns": {memstore.WithShortTurns()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(4, 4))
			for range count {
				requireToldSerial(t, random, memstore.New(options...))
			}
		})
	}
}

// requireToldSerial checks the rule of requireSerial on a store with a watcher, which must get all changes.
func requireToldSerial(t *testing.T, random *rand.Rand, database *memstore.Store) {
	t.Helper()
	told := map[any]string{}
	database.Watch("history", func(before, after document.Object) {
		if id := before.Value("_id"); !before.IsZero() {
			require.Equal(t, before.String(), told[id])
			delete(told, id)
		}
		if !after.IsZero() {
			told[after.Value("_id")] = after.String()
		}
	}, func() {})
	requireSerial(t, random, database)
	require.ElementsMatch(t, contents(t, database, "history"), slices.Collect(maps.Values(told)))
}

// requireSerial runs three writers of two random steps each at the same time. Some serial order of the steps
// must have the same outcome.
func requireSerial(t *testing.T, random *rand.Rand, database store.Store) {
	t.Helper()
	h := make(history, 3)
	for i := range h {
		for range 2 {
			h[i] = append(h[i], randomStep(t, random))
		}
	}
	seen := h.together(t, database)
	var possible []string
	h.orders(func(order []int) bool {
		possible = append(possible, h.inOrder(t, order))
		return possible[len(possible)-1] != seen
	})
	require.Equal(t, seen, possible[len(possible)-1], "no serial order gives this; these would be given:\n%s",
		strings.Join(possible, "\n"))
}
