package sqlite_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/sqlite"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/fakestest"
	"github.com/botctx/go-sdk/internal/inbox/inboxtest"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
	"github.com/botctx/go-sdk/store/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.RunStore(t, func(t *testing.T) store.Store {
		t.Helper()
		return openQuick(t)
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
	_, err := a.Update(t.Context(), sharedtest.Filter(t, "_id", 1), sharedtest.Change(t, "$set", document.O("k", "one")), store.UpdateOptions{})
	require.NoError(t, err)
	_, err = a.Update(t.Context(), sharedtest.Filter(t, "_id", 0), sharedtest.Change(t, "$set", document.O("n", math.Copysign(0, -1))), store.UpdateOptions{Upsert: true})
	require.NoError(t, err)
	_, err = a.FindAndModify(t.Context(), sharedtest.Filter(t, "_id", 3), sharedtest.Change(t, "$set", document.O("k", 3)), store.FindAndModifyOptions{})
	require.NoError(t, err)
	_, err = a.Delete(t.Context(), sharedtest.Filter(t, "_id", 2), store.DeleteOptions{})
	require.NoError(t, err)
	before := contents(t, database, "a")
	require.NoError(t, database.Close())

	again := open(t, path)
	require.Equal(t, before, contents(t, again, "a"), "in the same order")
	require.Equal(t, []string{`{"_id":"x"}`}, contents(t, again, "b"))
	a = again.Collection("a")
	require.ErrorIs(t, a.Insert(t.Context(), document.O("_id", 5, "k", "one")), boterr.AlreadyExists)
	require.ErrorIs(t, a.EnsureIndex(t.Context(), store.Index{Keys: ascending("k")}), boterr.FailedPrecondition)
	explanation, err := again.Explain(t.Context(), "a", sharedtest.Filter(t, "k", 3), store.FindOptions{})
	require.NoError(t, err)
	require.Equal(t, "k_1", explanation.Index)
	put(t, again, "a", 2)
	require.Equal(t, append(before, `{"_id":2}`), contents(t, again, "a"))
}

func TestOpen_SecondOpener(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	store := open(t, path)
	_, err := sqlite.Open(path, sqlite.WithLockWait(0))
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.ErrorContains(t, err, path)
	require.ErrorContains(t, err, "is already open")
	put(t, store, "a", 1)
	require.NoError(t, store.Close())
	require.Len(t, contents(t, open(t, path), "a"), 1)
}

func TestOpen_WaitsForTheOneBefore(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	store := open(t, path)
	put(t, store, "a", 1)
	opened := make(chan *sqlite.Store)
	go func() {
		next, err := sqlite.Open(path, sqlite.WithLockWait(time.Minute))
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
		require.ErrorIs(t, err, boterr.FailedPrecondition, name)
		require.ErrorContains(t, err, "the store is closed", name)
	}
	require.Zero(t, database.Stats())
}

func TestOpen_RefusesPath(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	_, err := sqlite.Open(folder)
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	_, err = sqlite.Open(filepath.Join(folder, "none", "store.db"))
	require.ErrorIs(t, err, boterr.Unavailable)
	_, err = sqlite.Open("")
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
	require.NoError(t, store.Close())
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

// limited is a writer that fails after left bytes.
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
	store := open(t, newPath(t), sqlite.WithNow(func() time.Time { return at }))
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

// The operations of a platform follow the same rules with a file as in memory.
func TestConformance(t *testing.T) {
	t.Parallel()
	rounds.OnlyThorough(t)
	botctxtest.RunConformance(t, newHarness)
}

func newHarness(t *testing.T) *botctxtest.Harness {
	t.Helper()
	return fakestest.Harness(fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) {
		c.Store = open(t, newPath(t), sqlite.WithNow(c.Now), sqlite.WithoutSync())
	})))
}

// The recorded cases give the same results as in memory. The documents are still there after the store is
// reopened.
func TestCases_AsInMemory(t *testing.T) {
	t.Parallel()
	rounds.OnlyThorough(t)
	for _, name := range []string{"mongo_cases.jsonl", "server_cases.jsonl"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cases := sharedtest.Cases(t, "../../../shared/cases/"+name)
			path := newPath(t)
			store, memory := open(t, path, sqlite.WithoutSync()), memstore.New()
			collection := func(i int) string { return fmt.Sprint("case ", i) }
			held := 0
			for i := range cases {
				c := &cases[i]
				outcome, err := c.Run(t.Context(), store.Collection(collection(i)))
				broken := c.Check(outcome, err)
				outcome, err = c.Run(t.Context(), memory.Collection(collection(i)))
				require.Equal(t, fmt.Sprint(c.Check(outcome, err)), fmt.Sprint(broken), c)
				if broken == nil {
					held++
				}
			}
			require.Greater(t, held, len(cases)*99/100)
			require.NoError(t, store.Close())
			store = open(t, path)
			for i := range cases {
				require.Equal(t, contents(t, memory, collection(i)), contents(t, store, collection(i)), &cases[i])
			}
		})
	}
}

func TestInbox(t *testing.T) {
	t.Parallel()
	inboxtest.RunInbox(t, rounds.Of(t, 1, inboxtest.Outcomes), func(t *testing.T) store.Store {
		t.Helper()
		return openQuick(t)
	})
}

// BenchmarkInbox uses as many workers as producers. Every accepted and handled event is on disk.
func BenchmarkInbox(b *testing.B) {
	inboxtest.Benchmark(b, open(b, newPath(b)), inboxtest.Load{Members: 1000, Producers: 64, Workers: 64})
}

// FuzzCall_AsInMemory searches for small calls that exceed their budget, or whose effect on a file differs from
// the effect in memory.
func FuzzCall_AsInMemory(f *testing.F) {
	const size = 1
	documents := storetest.HostileDocuments(size)
	filled := memstore.New()
	require.NoError(f, filled.Collection("c").Insert(f.Context(), documents...))
	for i, call := range storetest.HostileCalls() {
		if i%16 == 3 {
			f.Add(call)
		}
	}
	f.Fuzz(func(t *testing.T, call string) {
		if strings.Contains(call, "NOW") || strings.Contains(call, "$currentDate") {
			t.Skip("the clocks of two stores differ")
		}
		path := newPath(t)
		database, memory := open(t, path, sqlite.WithoutSync()), filled.Fork().Collection("c")
		require.NoError(t, database.Collection("c").Insert(t.Context(), documents...))
		outcome, failed := storetest.RunHostile(t, call, size, database.Collection("c"))
		want, wantFailed := storetest.RunHostile(t, call, size, memory)
		require.Equal(t, fmt.Sprint(wantFailed), fmt.Sprint(failed))
		require.Equal(t, digest(want), digest(outcome), "the outcomes differ")
		require.NoError(t, database.Close())
		kept, err := memory.Find(t.Context(), nil, store.FindOptions{})
		require.NoError(t, err)
		stored, err := open(t, path).Collection("c").Find(t.Context(), nil, store.FindOptions{})
		require.NoError(t, err)
		require.Equal(t, digest(kept), digest(stored), "the file holds something else than memory")
	})
}

// digest hashes a value that is too long to print after a failure.
func digest(value any) [sha256.Size]byte { return sha256.Sum256(fmt.Append(nil, value)) }

// openQuick opens a store in a new file, for tests whose writes need not wait for the disk.
func openQuick(tb testing.TB) *sqlite.Store {
	tb.Helper()
	return open(tb, newPath(tb), sqlite.WithoutSync())
}

// open opens a store, which is closed after the test.
func open(tb testing.TB, path string, options ...sqlite.Option) *sqlite.Store {
	tb.Helper()
	store, err := sqlite.Open(path, options...)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, store.Close()) })
	return store
}

func newPath(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(tb.TempDir(), "store.db")
}

// contents returns the documents of a collection as JSON.
func contents(tb testing.TB, database store.Store, collection string) []string {
	tb.Helper()
	found, err := database.Collection(collection).Find(tb.Context(), nil, store.FindOptions{})
	require.NoError(tb, err)
	texts := make([]string, 0, len(found))
	for _, o := range found {
		texts = append(texts, o.String())
	}
	return texts
}

func put(tb testing.TB, store store.Store, collection string, ids ...any) {
	tb.Helper()
	for _, id := range ids {
		require.NoError(tb, store.Collection(collection).Insert(tb.Context(), document.O("_id", id)))
	}
}

func ascending(path string) []store.IndexKey {
	return []store.IndexKey{{Path: path, Kind: query.Ascending}}
}

// A write that stores no document must not create its collection, because callers may name any.
func TestWrite_OfNothingCreatesNoCollection(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t))
	c := s.Collection("things")
	set := sharedtest.Change(t, "$setOnInsert", document.O("_id", 1))
	_, err := c.Update(t.Context(), nil, set, store.UpdateOptions{Multi: true})
	require.NoError(t, err)
	_, err = c.FindAndModify(t.Context(), nil, set, store.FindAndModifyOptions{})
	require.NoError(t, err)
	_, err = c.Delete(t.Context(), nil, store.DeleteOptions{Multi: true})
	require.NoError(t, err)
	require.NoError(t, c.Insert(t.Context()))
	require.ErrorIs(t, c.Insert(t.Context(), document.O("name", "without an _id")), boterr.InvalidArgument)
	require.Empty(t, s.Collections())
	upserted, err := c.Update(t.Context(), nil, set, store.UpdateOptions{Upsert: true})
	require.NoError(t, err)
	require.EqualValues(t, 1, upserted.UpsertedID)
	require.Equal(t, []string{"things"}, s.Collections())
}
