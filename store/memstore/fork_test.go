package memstore_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// contents returns the documents of a collection, as texts.
func contents(t *testing.T, database store.Store, collection string) []string {
	t.Helper()
	found := find(t, database.Collection(collection), nil, store.FindOptions{})
	return texts(found)
}

// put inserts documents with these _ids.
func put(t *testing.T, store store.Store, collection string, ids ...any) {
	t.Helper()
	for _, id := range ids {
		require.NoError(t, store.Collection(collection).Insert(t.Context(), document.O("_id", id)))
	}
}

func TestFork_SameContent(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(5).UTC()
	database := memstore.New(memstore.WithNow(func() time.Time { return at }))
	put(t, database, "a", 1, 2)
	put(t, database, "b", 3)
	require.NoError(t, database.Collection("a").EnsureIndex(t.Context(), store.Index{Keys: ascending("k"), Unique: true, Sparse: true}))
	fork := database.Fork()
	require.Equal(t, contents(t, database, "a"), contents(t, fork, "a"))
	require.Equal(t, contents(t, database, "b"), contents(t, fork, "b"))

	now, err := fork.Now(t.Context())
	require.NoError(t, err)
	require.Equal(t, at, now)
	now, err = database.Fork(memstore.WithNow(func() time.Time { return at.Add(1) })).Now(t.Context())
	require.NoError(t, err)
	require.Equal(t, at.Add(1), now)

	require.NoError(t, fork.Collection("a").Insert(t.Context(), document.O("_id", 8, "k", 1)))
	err = fork.Collection("a").Insert(t.Context(), document.O("_id", 9, "k", 1))
	require.ErrorIs(t, err, boterr.AlreadyExists, "the index is there")
}

func TestFork_IsApart(t *testing.T) {
	t.Parallel()
	database := memstore.New()
	put(t, database, "a", 1, 2, 3)
	held := database.Collection("a")
	fork := database.Fork()
	for name, pair := range map[string][2]*memstore.Store{"fork": {fork, database}, "origin": {database, fork}} {
		writer, other := pair[0], pair[1]
		before := contents(t, other, "a")
		put(t, writer, "a", name)
		put(t, writer, "new in "+name, 1)
		_, err := writer.Collection("a").Update(t.Context(), nil, sharedtest.Change(t, "$set", document.O(name, true)), store.UpdateOptions{Multi: true})
		require.NoError(t, err)
		require.NoError(t, failure(writer.Collection("a").Delete(t.Context(), sharedtest.Filter(t, "_id", 2), store.DeleteOptions{})))
		require.Equal(t, before, contents(t, other, "a"))
		require.Empty(t, contents(t, other, "new in "+name))
	}
	require.Equal(t, []string{`{"_id":1,"origin":true}`, `{"_id":3,"origin":true}`, `{"_id":"origin","origin":true}`},
		contents(t, database, "a"))
	require.Equal(t, []string{`{"_id":1,"fork":true}`, `{"_id":3,"fork":true}`, `{"_id":"fork","fork":true}`},
		contents(t, fork, "a"))
	found := countOf(t, held, nil)
	require.Equal(t, int64(3), found, "a collection that was opened before")
}

func TestRestore(t *testing.T) {
	t.Parallel()
	database := memstore.New()
	put(t, database, "a", 1, 2)
	held, unused := database.Collection("a"), database.Collection("later")
	snapshot := database.Snapshot()

	put(t, database, "a", 3)
	put(t, database, "later", 1)
	require.NoError(t, held.EnsureIndex(t.Context(), store.Index{Keys: ascending("k"), Unique: true, Sparse: true}))
	for range 2 {
		database.Restore(snapshot)
		require.Equal(t, []string{`{"_id":1}`, `{"_id":2}`}, contents(t, database, "a"))
		require.Empty(t, contents(t, database, "later"))
		require.NoError(t, held.Insert(t.Context(), document.O("_id", 3, "k", 1), document.O("_id", 4, "k", 1)), "the index is gone")
		require.NoError(t, unused.Insert(t.Context(), document.O("_id", 1)))
		require.Len(t, contents(t, database, "a"), 4)
	}

	other := memstore.New()
	other.Restore(snapshot)
	require.Equal(t, []string{`{"_id":1}`, `{"_id":2}`}, contents(t, other, "a"))
	other.Restore(memstore.Snapshot{})
	require.Empty(t, contents(t, other, "a"))
}

func TestStore_MakeEmptyMakesCollectionsWithTheirIndexes(t *testing.T) {
	t.Parallel()
	from, to := memstore.New(), memstore.New()
	unique := store.Index{Keys: []store.IndexKey{{Path: "a", Kind: query.Ascending}}, Unique: true}
	for _, name := range []string{"empty", "full", "there"} {
		require.NoError(t, from.Collection(name).EnsureIndex(t.Context(), unique))
	}
	require.NoError(t, from.Collection("full").Insert(t.Context(), document.O("_id", 1, "a", 1)))
	require.NoError(t, to.Collection("there").Insert(t.Context(), document.O("_id", 1, "a", 1)))
	to.MakeEmpty(from.Snapshot())
	for name, isIndexed := range map[string]bool{"empty": true, "full": false, "there": false} {
		err := to.Collection(name).Insert(t.Context(), document.O("_id", 2, "a", 1), document.O("_id", 3, "a", 1))
		require.Equal(t, isIndexed, boterr.CodeOf(err) == boterr.AlreadyExists, name)
	}
	require.NoError(t, from.Collection("empty").Insert(t.Context(), document.O("_id", 2, "a", 1)), "the stores share nothing that changes")
}

type toldChange struct{ before, after string }

// watched are the calls of a watcher of the collection "things".
type watched struct {
	changes []toldChange
	resets  int
	stop    func()
}

func watch(s *memstore.Store) *watched {
	w := &watched{}
	w.stop = s.Watch("things", func(before, after document.Object) {
		w.changes = append(w.changes, toldChange{before: before.String(), after: after.String()})
	}, func() { w.resets++ })
	return w
}

func TestWatch_EachChangeInOrder(t *testing.T) {
	t.Parallel()
	s := memstore.New()
	things := s.Collection("things")
	w := watch(s)
	require.NoError(t, things.Insert(t.Context(), document.O("_id", 1), document.O("_id", 2)))
	require.NoError(t, failure(things.Update(t.Context(), sharedtest.Filter(t, "_id", 2), sharedtest.Change(t, "$set", document.O("a", 3)), store.UpdateOptions{})))
	require.NoError(t, failure(things.FindAndModify(t.Context(), sharedtest.Filter(t, "_id", 1), sharedtest.Change(t, "$set", document.O("a", 4)), store.FindAndModifyOptions{})))
	require.NoError(t, failure(things.Delete(t.Context(), sharedtest.Filter(t, "a", 3), store.DeleteOptions{})))
	require.Equal(t, []toldChange{
		{before: `null`, after: `{"_id":1}`},
		{before: `null`, after: `{"_id":2}`},
		{before: `{"_id":2}`, after: `{"_id":2,"a":3}`},
		{before: `{"_id":1}`, after: `{"_id":1,"a":4}`},
		{before: `{"_id":2,"a":3}`, after: `null`},
	}, w.changes)
}

func TestWatch_NotWhatDidNotHappen(t *testing.T) {
	t.Parallel()
	s := memstore.New()
	things := s.Collection("things")
	require.NoError(t, things.Insert(t.Context(), document.O("_id", 1, "a", 1)))
	w := watch(s)
	require.Error(t, things.Insert(t.Context(), document.O("_id", 2), document.O("_id", 1)))
	require.NoError(t, failure(things.Update(t.Context(), sharedtest.Filter(t, "_id", 1), sharedtest.Change(t, "$set", document.O("a", 1)), store.UpdateOptions{})))
	require.NoError(t, s.Collection("others").Insert(t.Context(), document.O("_id", 1)))
	require.Empty(t, w.changes)
}

func TestWatch_ReadsToldChange(t *testing.T) {
	t.Parallel()
	s := memstore.New()
	things := s.Collection("things")
	var counts []int64
	s.Watch("things", func(_, _ document.Object) {
		count := countOf(t, things, nil)
		counts = append(counts, count)
	}, func() {})
	require.NoError(t, things.Insert(t.Context(), document.O("_id", 1)))
	require.NoError(t, things.Insert(t.Context(), document.O("_id", 2)))
	require.Equal(t, []int64{1, 2}, counts)
}

func TestRestore_ResetsWatchers(t *testing.T) {
	t.Parallel()
	s := memstore.New()
	snapshot := s.Snapshot()
	w := watch(s)
	require.NoError(t, s.Collection("things").Insert(t.Context(), document.O("_id", 1)))
	s.Restore(snapshot)
	require.Equal(t, 1, w.resets)
	require.NoError(t, s.Collection("things").Insert(t.Context(), document.O("_id", 1)))
	require.Len(t, w.changes, 2)
}

// A watcher that panics keeps no other watcher and no collection from being restored.
func TestRestore_WatcherPanics(t *testing.T) {
	t.Parallel()
	s := memstore.New()
	snapshot := s.Snapshot()
	put(t, s, "a", 1)
	put(t, s, "b", 2)
	reset := []string{}
	for _, name := range []string{"a", "a", "b"} {
		s.Watch(name, func(_, _ document.Object) {}, func() {
			reset = append(reset, name+": "+strings.Join(contents(t, s, "b"), ""))
			panic("a broken watcher")
		})
	}
	require.PanicsWithValue(t, "a broken watcher", func() { s.Restore(snapshot) })
	require.ElementsMatch(t, []string{"a: ", "a: ", "b: "}, reset)
	put(t, s, "a", 3)
	require.Equal(t, []string{`{"_id":3}`}, contents(t, s, "a"))
	require.Empty(t, contents(t, s, "b"))
}

func TestFork_HasNoWatchers(t *testing.T) {
	t.Parallel()
	s := memstore.New()
	w := watch(s)
	require.NoError(t, s.Fork().Collection("things").Insert(t.Context(), document.O("_id", 1)))
	require.Empty(t, w.changes)
	require.Zero(t, w.resets)
}

func TestWatch_Stopped(t *testing.T) {
	t.Parallel()
	s := memstore.New()
	w, other := watch(s), watch(s)
	w.stop()
	w.stop()
	require.NoError(t, s.Collection("things").Insert(t.Context(), document.O("_id", 1)))
	require.Empty(t, w.changes)
	require.Len(t, other.changes, 1)
}

func TestWatch_RefusedName(t *testing.T) {
	t.Parallel()
	stop := memstore.New().Watch("", func(_, _ document.Object) {}, func() {})
	stop()
}

func TestWatch_ManyWritersOneAtATime(t *testing.T) {
	t.Parallel()
	s := memstore.New()
	things := s.Collection("things")
	require.NoError(t, things.Insert(t.Context(), document.O("_id", 1, "n", 0)))
	last := int64(0)
	s.Watch("things", func(before, after document.Object) {
		if was := document.Get(before, "n", int64(-1)); was != last {
			t.Errorf("the watcher got %d after %d", was, last)
		}
		last = document.Get(after, "n", int64(-1))
	}, func() {})
	one, increment := sharedtest.Filter(t, "_id", 1), sharedtest.Change(t, "$inc", document.O("n", 1))
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			for range 100 {
				_, err := things.Update(t.Context(), one, increment, store.UpdateOptions{})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	require.Equal(t, int64(800), last)
}
