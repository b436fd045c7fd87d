package memstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/storetest"
)

type memoryJournal struct {
	mu      sync.Mutex
	entries []memstore.Entry
	// groups are the numbers of entries that were committed together.
	groups []int
	// before is called first by Commit, which returns its error.
	before func() error
}

func (j *memoryJournal) Commit(entries []memstore.Entry) error {
	if j.before != nil {
		if err := j.before(); err != nil {
			return err
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, entries...)
	j.groups = append(j.groups, len(entries))
	return nil
}

func (j *memoryJournal) Load(yield func(memstore.Entry) error) error {
	type kept struct {
		documents map[uint64]document.Object
		indexes   []*store.Index
	}
	collections := map[string]*kept{}
	for _, e := range j.entries {
		c := collections[e.Collection]
		if c == nil {
			c = &kept{documents: map[uint64]document.Object{}}
			collections[e.Collection] = c
		}
		switch {
		case e.Index != nil:
			c.indexes = append(c.indexes, e.Index)
		case e.After.IsZero():
			delete(c.documents, e.Position)
		default:
			c.documents[e.Position] = e.After
		}
	}
	for name, c := range collections {
		for _, position := range sortedKeys(c.documents) {
			if err := yield(memstore.Entry{Collection: name, Position: position, After: c.documents[position]}); err != nil {
				return err
			}
		}
		for _, index := range c.indexes {
			if err := yield(memstore.Entry{Collection: name, Index: index}); err != nil {
				return err
			}
		}
	}
	return nil
}

func sortedKeys(documents map[uint64]document.Object) []uint64 {
	keys := make([]uint64, 0, len(documents))
	for key := range documents {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// journaled opens a store with a journal.
func journaled(tb testing.TB, j memstore.Journal) *memstore.Journaled {
	tb.Helper()
	store, err := memstore.Open(j)
	require.NoError(tb, err)
	return store
}

func TestStore_Journaled(t *testing.T) {
	t.Parallel()
	storetest.RunStore(t, func(t *testing.T) store.Store {
		t.Helper()
		return journaled(t, &memoryJournal{})
	})
}

func TestJournal_ReopenedStore(t *testing.T) {
	t.Parallel()
	j := &memoryJournal{}
	database := journaled(t, j)
	put(t, database, "a", 1, 2, 3, 4)
	put(t, database, "b", "x")
	a := database.Collection("a")
	require.NoError(t, a.EnsureIndex(t.Context(), store.Index{Keys: ascending("k"), Unique: true, Sparse: true}))
	_, err := a.Update(t.Context(), filter(t, "_id", 1), change(t, "$set", document.O("k", "one")), store.UpdateOptions{})
	require.NoError(t, err)
	_, err = a.Update(t.Context(), filter(t, "_id", 0), change(t, "$set", document.O("n", 0)), store.UpdateOptions{Upsert: true})
	require.NoError(t, err)
	_, err = a.FindAndModify(t.Context(), filter(t, "_id", 3), change(t, "$set", document.O("k", 3)), store.FindAndModifyOptions{})
	require.NoError(t, err)
	_, err = a.Delete(t.Context(), filter(t, "_id", 2), store.DeleteOptions{})
	require.NoError(t, err)

	again := journaled(t, j)
	require.Equal(t, []string{`{"_id":1,"k":"one"}`, `{"_id":3,"k":3}`, `{"_id":4}`, `{"_id":0,"n":0}`}, contents(t, again, "a"))
	require.Equal(t, []string{`{"_id":"x"}`}, contents(t, again, "b"))
	require.ErrorIs(t, again.Collection("a").Insert(t.Context(), document.O("_id", 5, "k", "one")), boterr.AlreadyExists)
	put(t, again, "a", 2)
	require.Equal(t, contents(t, again, "a"), contents(t, journaled(t, j), "a"))
	explanation, err := again.Explain(t.Context(), "a", filter(t, "k", 3), store.FindOptions{})
	require.NoError(t, err)
	require.Equal(t, "k_1", explanation.Index)
}

func TestJournal_UnchangedIsNotHanded(t *testing.T) {
	t.Parallel()
	j := &memoryJournal{}
	database := journaled(t, j)
	put(t, database, "a", 1)
	a := database.Collection("a")
	require.ErrorIs(t, a.Insert(t.Context(), document.O("_id", 1)), boterr.AlreadyExists)
	_, err := a.Update(t.Context(), filter(t, "_id", 1), change(t, "$set", document.O("_id", 1)), store.UpdateOptions{})
	require.NoError(t, err)
	_, err = a.Delete(t.Context(), filter(t, "_id", 7), store.DeleteOptions{})
	require.NoError(t, err)
	require.NoError(t, a.EnsureIndex(t.Context(), store.Index{Keys: ascending("_id")}))
	require.Equal(t, []int{1}, j.groups)
}

// gatedJournal is a journal whose commits wait for gate to give their outcome.
func gatedJournal() (j *memoryJournal, gate chan error) {
	gate = make(chan error)
	return &memoryJournal{before: func() error { return <-gate }}, gate
}

// insert inserts a document in another goroutine, and returns where its error arrives.
func insert(ctx context.Context, store store.Store, id any) <-chan error {
	return insertInto(ctx, store, "a", id)
}

func insertInto(ctx context.Context, store store.Store, collection string, id any) <-chan error {
	outcome := make(chan error, 1)
	go func() { outcome <- store.Collection(collection).Insert(ctx, document.O("_id", id)) }()
	synctest.Wait()
	return outcome
}

func TestJournal_SharedCommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j, gate := gatedJournal()
		store := journaled(t, j)
		outcomes := []<-chan error{insert(t.Context(), store, "first")}
		for i := range 8 {
			outcomes = append(outcomes, insert(t.Context(), store, i))
		}
		twice := insert(t.Context(), store, 3)
		require.Empty(t, contents(t, store, "a"), "reads do not wait, and see what is kept")
		gate <- nil
		synctest.Wait()
		require.Equal(t, []string{`{"_id":"first"}`}, contents(t, store, "a"))
		gate <- nil
		for _, outcome := range outcomes {
			require.NoError(t, <-outcome)
		}
		require.ErrorIs(t, <-twice, boterr.AlreadyExists)
		require.Equal(t, []int{1, 8}, j.groups)
		require.Len(t, contents(t, store, "a"), 9)
	})
}

// encodingJournal is a journal that makes a text of each entry beforehand.
type encodingJournal struct {
	*memoryJournal

	encoded, committed []string
}

func (j *encodingJournal) Commit(entries []memstore.Entry) error {
	for _, e := range entries {
		j.committed = append(j.committed, string(e.Text))
	}
	return j.memoryJournal.Commit(entries)
}

func (j *encodingJournal) AppendEntry(text []byte, entry *memstore.Entry) []byte {
	j.encoded = append(j.encoded, entry.After.String())
	return append(text, entry.After.String()...)
}

func TestJournal_EncodesWhileItIsAtWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner, gate := gatedJournal()
		j := &encodingJournal{memoryJournal: inner}
		store := journaled(t, j)
		var outcomes []<-chan error
		var texts []string
		for i := range 20 {
			id := strings.Repeat(string(rune('a'+i)), i)
			outcomes = append(outcomes, insert(t.Context(), store, id))
			texts = append(texts, document.O("_id", id).String())
		}
		require.Equal(t, texts, j.encoded, "the first one is not committed yet")
		gate <- nil
		gate <- nil
		for _, outcome := range outcomes {
			require.NoError(t, <-outcome)
		}
		require.Equal(t, texts, j.committed)
	})
}

func TestJournal_FailureHidesGroup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j, gate := gatedJournal()
		store := journaled(t, j)
		seen := 0
		defer store.Watch("a", func(_, _ document.Object) { seen++ }, func() {})()
		first := insert(t.Context(), store, "first")
		outcomes := []<-chan error{insert(t.Context(), store, 1), insert(t.Context(), store, 1), insert(t.Context(), store, 2)}
		gate <- nil
		require.NoError(t, <-first)
		synctest.Wait()
		// These rest on the group that fails, and are not handed to the journal.
		resting := []<-chan error{insert(t.Context(), store, 1), insert(t.Context(), store, 3)}
		full := errors.New("the disk is full")
		gate <- full
		for _, outcome := range append(outcomes, resting...) {
			err := <-outcome
			require.ErrorIs(t, err, boterr.Unavailable, "also what would have been there already is not")
			require.ErrorIs(t, err, full)
		}
		require.Equal(t, []string{`{"_id":"first"}`}, contents(t, store, "a"))
		require.Equal(t, 1, seen)

		after := []<-chan error{insert(t.Context(), store, 1), insert(t.Context(), store, 3)}
		gate <- nil
		gate <- nil
		require.NoError(t, <-after[0], "the store goes on")
		require.NoError(t, <-after[1])
		require.Equal(t, []string{`{"_id":"first"}`, `{"_id":1}`, `{"_id":3}`}, contents(t, store, "a"))
		require.Equal(t, 3, seen)
	})
}

func TestWatch_DuringACommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j, gate := gatedJournal()
		store := journaled(t, j)
		outcome := insert(t.Context(), store, 1)
		var told []string
		stop := store.Watch("a", func(_, after document.Object) { told = append(told, after.String()) }, func() {})
		require.Empty(t, contents(t, store, "a"))
		gate <- nil
		require.NoError(t, <-outcome)
		stop()
		require.Equal(t, []string{`{"_id":1}`}, told)
	})
}

// heldContext is a context whose first write does not begin until it is let go.
type heldContext struct {
	context.Context

	asked atomic.Int64
	goOn  chan struct{}
}

// Err is asked when the write is called, and again when it begins.
func (c *heldContext) Err() error {
	if c.asked.Add(1) == 2 {
		<-c.goOn
	}
	return c.Context.Err()
}

func TestJournal_ContextEndsBefore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := &memoryJournal{}
		store := journaled(t, j)
		held := &heldContext{Context: t.Context(), goOn: make(chan struct{})}
		outcomes := []<-chan error{insert(held, store, "leads")}
		var ends []context.CancelFunc
		var canceled []<-chan error
		for i := range 4 {
			ctx, end := context.WithCancel(t.Context())
			ends = append(ends, end)
			canceled = append(canceled, insert(ctx, store, fmt.Sprint("canceled ", i)))
			outcomes = append(outcomes, insert(t.Context(), store, i))
		}
		for i, end := range ends {
			end()
			require.ErrorIs(t, <-canceled[i], boterr.Canceled, "it waits for nothing")
		}
		close(held.goOn)
		for _, outcome := range outcomes {
			require.NoError(t, <-outcome)
		}
		require.Equal(t, []int{1, 4}, j.groups)
		require.Len(t, contents(t, store, "a"), 5)
	})
}

func TestJournal_ContextEndsDuring(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j, gate := gatedJournal()
		store := journaled(t, j)
		ctx, end := context.WithCancel(t.Context())
		outcomes := []<-chan error{insert(ctx, store, 1), insert(ctx, store, 2), insert(ctx, store, 3)}
		end()
		for _, outcome := range outcomes {
			err := <-outcome
			require.ErrorIs(t, err, boterr.Canceled, "it waits for nothing")
			require.ErrorContains(t, err, "not known")
		}
		gate <- nil
		gate <- nil
		synctest.Wait()
		require.Len(t, contents(t, store, "a"), 3, "what was handed over is kept all the same")
		store.Close()
	})
}

func TestClose_WaitsForWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j, gate := gatedJournal()
		store := journaled(t, j)
		outcomes := []<-chan error{insert(t.Context(), store, 1), insert(t.Context(), store, 2), insert(t.Context(), store, 3)}
		closed := make(chan struct{})
		go func() {
			store.Close()
			close(closed)
		}()
		synctest.Wait()
		require.ErrorIs(t, <-insert(t.Context(), store, 4), boterr.Unavailable)
		gate <- nil
		synctest.Wait()
		select {
		case <-closed:
			t.Fatal("two writes are under way")
		default:
		}
		gate <- nil
		<-closed
		for _, outcome := range outcomes {
			require.NoError(t, <-outcome)
		}
		store.Close()
		_, err := store.Collection("a").Count(t.Context(), nil)
		require.ErrorIs(t, err, boterr.Unavailable)
		_, err = store.Now(t.Context())
		require.ErrorIs(t, err, boterr.Unavailable)
		require.Len(t, j.entries, 3)
	})
}

func TestJournal_Panics(t *testing.T) {
	t.Parallel()
	j := &memoryJournal{before: func() error { panic("a damaged page") }}
	store := journaled(t, j)
	err := store.Collection("a").Insert(t.Context(), document.O("_id", 1))
	require.ErrorIs(t, err, boterr.Unavailable)
	require.ErrorContains(t, err, "a damaged page")
	j.before = nil
	put(t, store, "a", 1)
}

func TestJournal_RefusesForeignContent(t *testing.T) {
	t.Parallel()
	one := memstore.Entry{Collection: "a", Position: 4, After: document.O("_id", 1)}
	for name, entries := range map[string][]memstore.Entry{
		"position 4 of the collection \"a\"": {one, {Collection: "a", Position: 4, After: document.O("_id", 2)}},
		"position 5":                         {one, {Collection: "a", Position: 5, After: document.O("_id", 1)}},
		"has no _id":                         {one, {Collection: "a", Position: 6, After: document.O("id", 1)}},
		"absent":                             {{Collection: "a"}},
		"system.":                            {{Collection: "system.a", After: document.O("_id", 1)}},
		"no kind of key":                     {one, {Collection: "a", Index: &store.Index{Keys: []store.IndexKey{{Path: "k"}}}}},
		"the index": {
			one,
			{Collection: "a", Position: 5, After: document.O("_id", 2)},
			{Collection: "a", Index: &store.Index{Keys: ascending("k"), Unique: true}},
		},
	} {
		_, err := memstore.Open(listed(entries))
		require.ErrorIs(t, err, boterr.FailedPrecondition, name)
		require.ErrorContains(t, err, name)
	}
	unread := errors.New("cannot be read")
	_, err := memstore.Open(failing{unread})
	require.ErrorIs(t, err, unread)
}

// listed is a journal that yields these entries.
type listed []memstore.Entry

func (listed) Commit([]memstore.Entry) error { return nil }

func (l listed) Load(yield func(memstore.Entry) error) error {
	for _, e := range l {
		if err := yield(e); err != nil {
			return err
		}
	}
	return nil
}

// failing is a journal that cannot be read.
type failing struct{ err error }

func (failing) Commit([]memstore.Entry) error { return nil }

func (f failing) Load(func(memstore.Entry) error) error { return f.err }

func TestJournal_AnswersAllWriters(t *testing.T) {
	t.Parallel()
	j := &memoryJournal{}
	store := journaled(t, j)
	const writers, writes = 16, 50
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			c := store.Collection(fmt.Sprint("c", w%3))
			for i := range writes {
				ctx, end := context.WithCancel(t.Context())
				if i%7 == 0 {
					go end()
				}
				err := c.Insert(ctx, document.O("_id", fmt.Sprint(w, "-", i)))
				end()
				if err != nil && !errors.Is(err, boterr.Canceled) {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	store.Close()
	again := journaled(t, j)
	count := 0
	for i := range 3 {
		count += len(contents(t, again, fmt.Sprint("c", i)))
	}
	require.Len(t, j.entries, count, "each was inserted once")
	require.GreaterOrEqual(t, count, writers*writes*6/7-writers)
}
