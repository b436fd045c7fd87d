package record_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

func TestGuard_ManyCollectionsAreEachTheirOwn(t *testing.T) {
	t.Parallel()
	inner := memstore.New()
	guarded := record.Guard(inner)
	for round := range 2 {
		for i := range 40 {
			name := strconv.Itoa(i)
			require.NoError(t, guarded.Collection(name).Insert(t.Context(), document.O("_id", name+"-"+strconv.Itoa(round), "in", name)))
		}
	}
	for i := range 40 {
		name := strconv.Itoa(i)
		found, err := inner.Collection(name).Distinct(t.Context(), "in", nil)
		require.NoError(t, err)
		require.Equal(t, []any{name}, found)
		count, err := guarded.Collection(name).Count(t.Context(), nil)
		require.NoError(t, err)
		require.EqualValues(t, 2, count)
	}
}

func TestGuard_GuardedStoreAsItIs(t *testing.T) {
	t.Parallel()
	for name, inner := range map[string]store.Store{
		"a store that can be watched": memstore.New(), "one that cannot": struct{ store.Store }{memstore.New()},
	} {
		guarded := record.Guard(inner)
		require.Equal(t, guarded, record.Guard(guarded), name)
	}
}

func TestGuard_CanBeWatchedWhereTheStoreCan(t *testing.T) {
	t.Parallel()
	guarded := record.Guard(memstore.New())
	watcher, ok := guarded.(store.Watcher)
	require.True(t, ok)
	var told []document.Object
	stop := watcher.Watch("things", func(_, after document.Object) { told = append(told, after) }, func() {})
	defer stop()
	added := document.O("_id", 1)
	require.NoError(t, guarded.Collection("things").Insert(t.Context(), added))
	require.Equal(t, []document.Object{added}, told)

	_, ok = record.Guard(struct{ store.Store }{memstore.New()}).(store.Watcher)
	require.False(t, ok)
}
