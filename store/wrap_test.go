package store_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

func TestWrap_ManyCollectionsAreEachTheirOwn(t *testing.T) {
	t.Parallel()
	inner := memstore.New()
	wrapped := store.Wrap(inner, nil)
	for round := range 2 {
		for i := range 40 {
			name := strconv.Itoa(i)
			require.NoError(t, wrapped.Collection(name).Insert(t.Context(), document.O("_id", name+"-"+strconv.Itoa(round), "in", name)))
		}
	}
	for i := range 40 {
		name := strconv.Itoa(i)
		found, err := inner.Collection(name).Distinct(t.Context(), "in", nil)
		require.NoError(t, err)
		require.Equal(t, []any{name}, found)
		count, err := wrapped.Collection(name).Count(t.Context(), nil)
		require.NoError(t, err)
		require.EqualValues(t, 2, count)
	}
}

func TestWrap_GuardedStoreAsItIs(t *testing.T) {
	t.Parallel()
	for name, inner := range map[string]store.Store{
		"a store that can be watched": memstore.New(), "one that cannot": struct{ store.Store }{memstore.New()},
	} {
		wrapped := store.Wrap(inner, nil)
		require.Equal(t, wrapped, store.Wrap(wrapped, nil), name)
	}
}

func TestWrap_CanBeWatchedWhereTheStoreCan(t *testing.T) {
	t.Parallel()
	wrapped := store.Wrap(memstore.New(), nil)
	watcher, ok := wrapped.(store.Watcher)
	require.True(t, ok)
	var told []document.Object
	stop := watcher.Watch("things", func(_, after document.Object) { told = append(told, after) }, func() {})
	defer stop()
	added := document.O("_id", 1)
	require.NoError(t, wrapped.Collection("things").Insert(t.Context(), added))
	require.Equal(t, []document.Object{added}, told)

	_, ok = store.Wrap(struct{ store.Store }{memstore.New()}, nil).(store.Watcher)
	require.False(t, ok)
}

// journal is an Around that records the calls and their results, and refuses one method.
type journal struct {
	refused string
	lines   []string
}

func (j *journal) around(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
	if call.Method == j.refused {
		return ctx, nil, boterr.New(boterr.Unavailable, "", "refused")
	}
	return ctx, func(documents int, err error) error {
		j.lines = append(j.lines, call.Method+" "+call.Collection+" "+strconv.Itoa(documents)+" "+string(boterr.CodeOf(err)))
		return err
	}, nil
}

func TestWrap_TellsOfEachCall(t *testing.T) {
	t.Parallel()
	j := &journal{}
	things := store.Wrap(memstore.New(), j.around).Collection("things")
	require.NoError(t, things.Insert(t.Context(), document.O("_id", 1), document.O("_id", 2)))
	require.ErrorIs(t, things.Insert(t.Context(), document.O("_id", 1)), boterr.AlreadyExists)
	_, err := things.Find(t.Context(), nil, store.FindOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"insert things 2 ", "insert things 1 AlreadyExists", "find things 2 "}, j.lines)
}

func TestWrap_RefusedCallIsNotMade(t *testing.T) {
	t.Parallel()
	inner := memstore.New()
	things := store.Wrap(inner, (&journal{refused: "insert"}).around).Collection("things")
	require.ErrorIs(t, things.Insert(t.Context(), document.O("_id", 1)), boterr.Unavailable)
	count, err := inner.Collection("things").Count(t.Context(), nil)
	require.NoError(t, err)
	require.Zero(t, count)
}

func TestWrap_EndReplacesTheError(t *testing.T) {
	t.Parallel()
	things := store.Wrap(memstore.New(), func(ctx context.Context, _ store.Call) (context.Context, func(int, error) error, error) {
		return ctx, func(int, error) error { return boterr.New(boterr.Unavailable, "", "lost") }, nil
	}).Collection("things")
	require.ErrorIs(t, things.Insert(t.Context(), document.O("_id", 1)), boterr.Unavailable)
	count, err := things.Count(t.Context(), nil)
	require.ErrorIs(t, err, boterr.Unavailable)
	require.Zero(t, count)
}

func TestWrap_PanicIsAnError(t *testing.T) {
	t.Parallel()
	j := &journal{}
	broken := store.Wrap(panicking{memstore.New()}, j.around)
	_, err := broken.Collection("things").Count(t.Context(), nil)
	require.ErrorIs(t, err, boterr.Internal)
	_, err = store.Wrap(memstore.New(), func(context.Context, store.Call) (context.Context, func(int, error) error, error) {
		panic("no")
	}).Now(t.Context())
	require.ErrorIs(t, err, boterr.Internal)
	require.Equal(t, []string{"count things 0 Internal"}, j.lines)
	_, err = store.Wrap(memstore.New(), func(ctx context.Context, _ store.Call) (context.Context, func(int, error) error, error) {
		return ctx, func(int, error) error { panic("no") }, nil
	}).Collection("things").Count(t.Context(), nil)
	require.ErrorIs(t, err, boterr.Internal, "in the end function")
}

// panicking is a store whose Collection panics.
type panicking struct{ store.Store }

func (panicking) Collection(string) store.Collection { panic("there is none") }

func TestWrap_SendsNoticesWhereTheStoreDoes(t *testing.T) {
	t.Parallel()
	wrapped := store.Wrap(sharedtest.New(memstore.New()), nil)
	require.Equal(t, wrapped, store.Wrap(wrapped, nil))
	notifier, ok := wrapped.(store.Notifier)
	require.True(t, ok)
	heard := make(chan string, 1)
	stop := notifier.Listen("things", func(text string) { heard <- text })
	defer stop()
	notifier.Notify("things", "new")
	require.Equal(t, "new", <-heard)

	_, ok = store.Wrap(memstore.New(), nil).(store.Notifier)
	require.False(t, ok)
}
