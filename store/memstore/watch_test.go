package memstore_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// toldChange is what a watcher was told.
type toldChange struct{ before, after string }

// watched is what a watcher of the collection "things" was told.
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

func filterOf(t *testing.T, pairs ...any) *query.Filter {
	t.Helper()
	filter, err := query.CompileFilter(document.O(pairs...))
	require.NoError(t, err)
	return filter
}

func setOf(t *testing.T, pairs ...any) query.Change {
	t.Helper()
	update, err := query.CompileUpdate(document.O("$set", document.O(pairs...)))
	require.NoError(t, err)
	return query.Change{Update: update}
}

func TestWatch_EachChangeInOrder(t *testing.T) {
	t.Parallel()
	s := memstore.New()
	things := s.Collection("things")
	w := watch(s)
	require.NoError(t, things.Insert(t.Context(), document.O("_id", 1), document.O("_id", 2)))
	_, err := things.Update(t.Context(), filterOf(t, "_id", 2), setOf(t, "a", 3), store.UpdateOptions{})
	require.NoError(t, err)
	_, err = things.FindAndModify(t.Context(), filterOf(t, "_id", 1), setOf(t, "a", 4), store.FindAndModifyOptions{})
	require.NoError(t, err)
	_, err = things.Delete(t.Context(), filterOf(t, "a", 3), store.DeleteOptions{})
	require.NoError(t, err)
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
	_, err := things.Update(t.Context(), filterOf(t, "_id", 1), setOf(t, "a", 1), store.UpdateOptions{})
	require.NoError(t, err)
	require.NoError(t, s.Collection("others").Insert(t.Context(), document.O("_id", 1)))
	require.Empty(t, w.changes)
}

func TestWatch_ReadsToldChange(t *testing.T) {
	t.Parallel()
	s := memstore.New()
	things := s.Collection("things")
	var counts []int64
	s.Watch("things", func(_, _ document.Object) {
		count, err := things.Count(t.Context(), nil)
		require.NoError(t, err)
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
			t.Errorf("told of %d after %d", was, last)
		}
		last = document.Get(after, "n", int64(-1))
	}, func() {})
	update, err := query.CompileUpdate(document.O("$inc", document.O("n", 1)))
	require.NoError(t, err)
	one := filterOf(t, "_id", 1)
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			for range 100 {
				_, err := things.Update(t.Context(), one, query.Change{Update: update}, store.UpdateOptions{})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	require.Equal(t, int64(800), last)
}
