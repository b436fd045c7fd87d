package bolt_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/bolt"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
	"github.com/botctx/go-sdk/store/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.RunStore(t, func(t *testing.T) store.Store {
		t.Helper()
		return open(t, newPath(t))
	})
}

func TestOpen_FindsWhatWasWritten(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	database := open(t, path)
	put(t, database, "a", 1, 2, 3, 4)
	put(t, database, "b", "x")
	a := database.Collection("a")
	require.NoError(t, a.EnsureIndex(t.Context(), store.Index{Keys: ascending("k"), Unique: true, Sparse: true}))
	require.NoError(t, a.EnsureIndex(t.Context(), store.Index{Keys: []store.IndexKey{
		{Path: "at", Kind: query.Geo2DSphere}, {Path: "n", Kind: query.Descending},
	}}))
	_, err := a.Update(t.Context(), filter(t, "_id", 1), change(t, "$set", document.O("k", "one")), store.UpdateOptions{})
	require.NoError(t, err)
	_, err = a.Update(t.Context(), filter(t, "_id", 0), change(t, "$set", document.O("n", math.Copysign(0, -1))), store.UpdateOptions{Upsert: true})
	require.NoError(t, err)
	_, err = a.FindAndModify(t.Context(), filter(t, "_id", 3), change(t, "$set", document.O("k", 3)), store.FindAndModifyOptions{})
	require.NoError(t, err)
	_, err = a.Delete(t.Context(), filter(t, "_id", 2), store.DeleteOptions{})
	require.NoError(t, err)
	before := contents(t, database, "a")
	require.NoError(t, database.Close())

	again := open(t, path)
	require.Equal(t, before, contents(t, again, "a"), "in the same order")
	require.Equal(t, []string{`{"_id":"x"}`}, contents(t, again, "b"))
	a = again.Collection("a")
	require.ErrorIs(t, a.Insert(t.Context(), document.O("_id", 5, "k", "one")), boterr.AlreadyExists)
	require.ErrorIs(t, a.EnsureIndex(t.Context(), store.Index{Keys: ascending("k")}), boterr.FailedPrecondition)
	explanation, err := again.Explain(t.Context(), "a", filter(t, "k", 3), store.FindOptions{})
	require.NoError(t, err)
	require.Equal(t, "k_1", explanation.Index)
	put(t, again, "a", 2)
	require.Equal(t, append(before, `{"_id":2}`), contents(t, again, "a"))
}

func TestOpen_SecondOpener(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	store := open(t, path)
	_, err := bolt.Open(path, bolt.WithLockWait(0))
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.ErrorContains(t, err, path)
	require.ErrorContains(t, err, "is open already")
	put(t, store, "a", 1)
	require.NoError(t, store.Close())
	require.Len(t, contents(t, open(t, path), "a"), 1)
}

func TestOpen_WaitsForTheOneBefore(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	store := open(t, path)
	put(t, store, "a", 1)
	opened := make(chan *bolt.Store)
	go func() {
		next, err := bolt.Open(path, bolt.WithLockWait(time.Minute))
		if err != nil {
			t.Error(err)
		}
		opened <- next
	}()
	require.NoError(t, store.Compact(t.Context()), "the file that is waited for loses its name")
	put(t, store, "a", 2)
	require.NoError(t, store.Close())
	next := <-opened
	require.Len(t, contents(t, next, "a"), 2)
	require.NoError(t, next.Close())
}

func TestClose_RefusesAll(t *testing.T) {
	t.Parallel()
	database := open(t, newPath(t))
	put(t, database, "a", 1)
	a := database.Collection("a")
	require.NoError(t, database.Close())
	require.NoError(t, database.Close())
	_, now := database.Now(t.Context())
	_, find := a.Find(t.Context(), nil, store.FindOptions{})
	for name, err := range map[string]error{
		"insert": a.Insert(t.Context(), document.O("_id", 2)), "find": find, "now": now,
		"backup": database.Backup(t.Context(), nil), "compact": database.Compact(t.Context()),
	} {
		require.ErrorIs(t, err, boterr.Unavailable, name)
		require.ErrorContains(t, err, "was closed", name)
	}
	require.Zero(t, database.Stats())
}

func TestOpen_RefusesPath(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	_, err := bolt.Open(folder)
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	_, err = bolt.Open(filepath.Join(folder, "none", "store.db"))
	require.ErrorIs(t, err, boterr.Unavailable)
	_, err = bolt.Open("")
	require.Error(t, err)
}

func TestOpen_LeavesNoOtherFiles(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	store := open(t, path)
	put(t, store, "a", 1)
	require.NoError(t, store.Compact(t.Context()))
	require.NoError(t, store.Backup(t.Context(), &limited{left: 1 << 20}))
	require.Error(t, store.Backup(t.Context(), &limited{left: 10}))
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.Equal(t, os.FileMode(0o600), must(entries[0].Info()).Mode().Perm())
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// limited is a writer that fails after so many bytes.
type limited struct{ left int }

func (l *limited) Write(text []byte) (int, error) {
	if l.left -= len(text); l.left < 0 {
		return 0, os.ErrInvalid
	}
	return len(text), nil
}

func TestNow_GivenClock(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_700_000_000_000)
	store := open(t, newPath(t), bolt.WithNow(func() time.Time { return at }))
	now, err := store.Now(t.Context())
	require.NoError(t, err)
	require.Equal(t, at.UTC(), now)
}

func TestWatch_WhatIsOnDisk(t *testing.T) {
	t.Parallel()
	database := open(t, newPath(t))
	told := []string{}
	stop := database.Watch("a", func(before, after document.Object) {
		told = append(told, before.String()+" "+after.String())
	}, func() {})
	put(t, database, "a", 1)
	_, err := database.Collection("a").Delete(t.Context(), nil, store.DeleteOptions{})
	require.NoError(t, err)
	stop()
	put(t, database, "a", 2)
	require.Equal(t, []string{`null {"_id":1}`, `{"_id":1} null`}, told)
}

func TestWrite_ContextEnded(t *testing.T) {
	t.Parallel()
	store := open(t, newPath(t))
	ctx, end := context.WithCancel(t.Context())
	end()
	require.ErrorIs(t, store.Collection("a").Insert(ctx, document.O("_id", 1)), boterr.Canceled)
	require.ErrorIs(t, store.Backup(ctx, &limited{left: 1 << 20}), boterr.Canceled)
	require.ErrorIs(t, store.Compact(ctx), boterr.Canceled)
	require.Empty(t, contents(t, store, "a"))
	put(t, store, "a", 1)
}
