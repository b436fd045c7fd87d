package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/sqlite"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
)

// fill inserts count documents with the _ids 0, 1 and so on.
func fill(tb testing.TB, database store.Store, count int) {
	tb.Helper()
	documents := make([]document.Object, count)
	for i := range documents {
		documents[i] = document.O("_id", i, "n", i, "even", i%2 == 0, "text", strings.Repeat("x", 50))
	}
	require.NoError(tb, database.Collection("a").Insert(tb.Context(), documents...))
}

func TestLog_IsBoundedUnderLoad(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	database := open(t, path, sqlite.WithoutSync())
	var all sync.WaitGroup
	var most atomic.Int64
	ctx, end := context.WithCancel(t.Context())
	count := rounds.Of(t, 300, 6_000)
	for range 3 {
		all.Go(func() { // The reads overlap, so the log can hardly be restarted between them.
			for ctx.Err() == nil {
				_, _ = database.Collection("a").Find(ctx, nil, store.FindOptions{Limit: 50})
			}
		})
	}
	var writers sync.WaitGroup
	for writer := range 8 {
		writers.Go(func() {
			for i := range count {
				if err := database.Collection("a").Insert(ctx, document.O("_id", fmt.Sprint(writer, "/", i), "text", strings.Repeat("x", 2_000))); err != nil {
					t.Error(err)
				}
				if i%50 == 0 {
					most.Store(max(most.Load(), database.Stats().Log))
				}
			}
		})
	}
	writers.Wait()
	end()
	all.Wait()
	stats := database.Stats()
	t.Logf("%d MiB in %d commits, the log had at most %d MiB", stats.Size>>20, stats.Commits, most.Load()>>20)
	require.Less(t, most.Load(), int64(32<<20))
	require.NoError(t, database.Close())
	require.NoFileExists(t, path+"-wal")
}

// others inserts documents one after the other until call returns. It returns how many inserts ended during the
// call, and the longest duration of one.
func others(t *testing.T, database store.Store, call func() error) (ended int, longest time.Duration) {
	t.Helper()
	began, done := make(chan struct{}), make(chan error, 1)
	go func() {
		close(began)
		done <- call()
	}()
	<-began
	for {
		began := time.Now() //nolint:forbidigo // The test measures waits.
		require.NoError(t, database.Collection("other").Insert(t.Context(), document.O("n", ended, "_id", rand.Int64())))
		longest = max(longest, time.Since(began)) //nolint:forbidigo // The test measures waits.
		select {
		case err := <-done:
			require.NoError(t, err)
			return ended, longest
		default:
			ended++
		}
	}
}

func TestLongWrite_HoldsUpNoOther(t *testing.T) {
	t.Parallel()
	const attempts = 3
	count := rounds.Of(t, 10_000, 200_000)
	database := openQuick(t)
	fill(t, database, count)
	a := database.Collection("a")
	for _, c := range []struct {
		name string
		call func(attempt int) error
	}{
		{"one without an index", func(attempt int) error {
			result, err := a.Update(t.Context(), sharedtest.Filter(t, "n", count-1), sharedtest.Change(t, "$set", document.O("seen", attempt)), store.UpdateOptions{})
			if result.Modified != 1 {
				t.Error(result)
			}
			return err
		}},
		{"many", func(int) error {
			result, err := a.Update(t.Context(), sharedtest.Filter(t, "even", true), sharedtest.Change(t, "$inc", document.O("m", 1)), store.UpdateOptions{Multi: true})
			if result.Modified != int64(count/2) {
				t.Error(result)
			}
			return err
		}},
		{"an upsert", func(attempt int) error {
			result, err := a.Update(t.Context(), sharedtest.Filter(t, "text", "none"), sharedtest.Change(t, "$setOnInsert", document.O("_id", attempt-attempts)),
				store.UpdateOptions{Upsert: true})
			if result.UpsertedID == nil {
				t.Error(result)
			}
			return err
		}},
		{"an index", func(attempt int) error {
			return a.EnsureIndex(t.Context(), store.Index{Keys: ascending([]string{"n", "text", "even"}[attempt])})
		}},
	} {
		const few = 3 // If the call blocked other writes, only the write before it would end.
		ended := 0
		for attempt := 0; ended <= few && attempt < attempts; attempt++ { // A busy machine may run the call alone.
			var longest time.Duration
			ended, longest = others(t, database, func() error { return c.call(attempt) })
			t.Logf("%s: %d others ended meanwhile, and took at most %v", c.name, ended, longest)
		}
		require.Greater(t, ended, few, c.name)
	}
	require.NoError(t, database.Check(t.Context()))
}

// Another program, such as the sqlite3 command, may read the file for a long time.
func TestCheckpoint_OutsideReaderHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	database, err := sqlite.Open(path, sqlite.WithoutSync())
	require.NoError(t, err)
	put(t, database, "a", 1)
	outside, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	reading, err := outside.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	var count int
	require.NoError(t, reading.QueryRowContext(t.Context(), "SELECT count(*) FROM d1").Scan(&count))

	put(t, database, "a", 2)
	const busyTimeout = 5 * time.Second // How long a statement waits for another program.
	_, longest := others(t, database, func() error { return database.Compact(t.Context()) })
	require.Less(t, longest, busyTimeout)
	require.ErrorIs(t, database.Close(), boterr.Unavailable, "the log stays")
	require.NoError(t, reading.Rollback())
	require.NoError(t, outside.Close())
	require.Len(t, contents(t, open(t, path), "a"), 2)
}

// The cache must not return an older version of a document than an index search before.
func TestRead_NeverGoesBack(t *testing.T) {
	t.Parallel()
	database := openQuick(t)
	a := database.Collection("a")
	require.NoError(t, a.EnsureIndex(t.Context(), store.Ascending("n")))
	require.NoError(t, a.Insert(t.Context(), document.O("_id", 1, "n", 0)))
	ctx, end := context.WithCancel(t.Context())
	var writer sync.WaitGroup
	writer.Go(func() {
		for ctx.Err() == nil {
			_, _ = a.Update(ctx, sharedtest.Filter(t, "_id", 1), sharedtest.Change(t, "$inc", document.O("n", 1)), store.UpdateOptions{})
		}
	})
	back, byIndex := 0, sharedtest.Filter(t, "n", document.O("$gte", 0))
	for range 600 {
		found, err := a.Find(t.Context(), byIndex, store.FindOptions{})
		require.NoError(t, err)
		require.Len(t, found, 1)
		later, _, err := a.Get(t.Context(), 1)
		require.NoError(t, err)
		if document.Get(later, "n", int64(0)) < document.Get(found[0], "n", int64(0)) {
			back++
		}
	}
	end()
	writer.Wait()
	require.Zero(t, back)
}

func TestLongWrite_NamesTheFault(t *testing.T) {
	t.Parallel()
	const count = 3_000
	database := openQuick(t)
	a := database.Collection("a")
	require.NoError(t, a.EnsureIndex(t.Context(), store.Ascending("p", "q")))
	documents := make([]document.Object, count+1)
	for i := range documents {
		documents[i] = document.O("_id", i%count, "p", i)
	}
	err := a.Insert(t.Context(), documents...)
	require.Equal(t, "[3000]._id", fieldOf(err))

	documents = documents[:count]
	documents[count-1] = documents[count-1].With("p", document.A(1, 2))
	require.NoError(t, a.Insert(t.Context(), documents...))
	_, err = a.Update(t.Context(), nil, sharedtest.Change(t, "$set", document.O("q", document.A(1))), store.UpdateOptions{Multi: true})
	require.Equal(t, "update.q", fieldOf(err), "the last document cannot have it")
	changed, err := a.Count(t.Context(), sharedtest.Filter(t, "q", 1))
	require.NoError(t, err)
	require.Zero(t, changed)
}

func fieldOf(err error) string {
	e, _ := boterr.AsError(err)
	if e == nil {
		return ""
	}
	return e.Field
}

// Long writes to one document start again if another one was faster. None is lost.
func TestLongWrite_LosesNoOther(t *testing.T) {
	t.Parallel()
	count := rounds.Of(t, 2_500, 20_000)
	database := openQuick(t)
	fill(t, database, count)
	a := database.Collection("a")
	var all sync.WaitGroup
	const writers, each = 4, 5
	for range writers {
		all.Go(func() {
			for range each {
				_, err := a.Update(t.Context(), sharedtest.Filter(t, "text", document.O("$regex", "^x"), "n", document.O("$gte", count-1)),
					sharedtest.Change(t, "$inc", document.O("count", 1)), store.UpdateOptions{})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	last, _, err := a.Get(t.Context(), count-1)
	require.NoError(t, err)
	require.EqualValues(t, writers*each, last.Value("count"))
}

func TestEnsureIndex_WithWritersMeanwhile(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	database := open(t, path, sqlite.WithoutSync())
	fill(t, database, 5_000)
	a := database.Collection("a")
	var all sync.WaitGroup
	for writer := range 4 {
		all.Go(func() {
			for i := writer; i < 5_000; i += 40 {
				if _, err := a.Update(t.Context(), sharedtest.Filter(t, "_id", i), sharedtest.Change(t, "$set", document.O("n", -i)), store.UpdateOptions{}); err != nil {
					t.Error(err)
				}
				if _, err := a.Delete(t.Context(), sharedtest.Filter(t, "_id", i+4), store.DeleteOptions{}); err != nil {
					t.Error(err)
				}
				if err := a.Insert(t.Context(), document.O("_id", fmt.Sprint(writer, i), "n", document.A(i, -i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 3 { // Several parts of a host may request the same index.
		all.Go(func() {
			if err := a.EnsureIndex(t.Context(), store.Index{Keys: ascending("n")}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.NoError(t, database.Check(t.Context()))
	explanation, err := database.Explain(t.Context(), "a", sharedtest.Filter(t, "n", 77), store.FindOptions{})
	require.NoError(t, err)
	require.Equal(t, "n_1", explanation.Index)
}

func TestEnsureIndex_DuplicateLeavesNothing(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	database := open(t, path, sqlite.WithoutSync())
	fill(t, database, 3_000)
	a := database.Collection("a")
	put(t, database, "a", "no n", "no n either")
	unique := store.Index{Keys: ascending("n"), Unique: true}
	require.ErrorIs(t, a.EnsureIndex(t.Context(), unique), boterr.AlreadyExists)
	require.NoError(t, a.Insert(t.Context(), document.O("_id", "another", "n", 7)), "no index refuses it")
	require.NoError(t, database.Check(t.Context()))
	_, err := a.Delete(t.Context(), sharedtest.Filter(t, "_id", document.O("$type", "string")), store.DeleteOptions{Multi: true})
	require.NoError(t, err)
	require.NoError(t, a.EnsureIndex(t.Context(), unique))
	require.ErrorIs(t, a.Insert(t.Context(), document.O("_id", "another", "n", 7)), boterr.AlreadyExists)
	require.NoError(t, database.Check(t.Context()))
}

func TestWriteJSON_OneLineEach(t *testing.T) {
	t.Parallel()
	database := open(t, newPath(t))
	put(t, database, "a", 1, "two")
	var text strings.Builder
	require.NoError(t, database.WriteJSON(t.Context(), &text, "a"))
	require.Equal(t, []string{`{"_id":1}`, `{"_id":"two"}`, ""}, strings.Split(text.String(), "\n"))
	require.ErrorIs(t, database.WriteJSON(t.Context(), &text, "b"), boterr.NotFound)
	require.Equal(t, []string{"a"}, database.Collections())
}

func TestWriteJSON_NaN(t *testing.T) {
	t.Parallel()
	database := open(t, newPath(t))
	require.NoError(t, database.Collection("a").Insert(t.Context(), document.O("_id", 1, "x", math.NaN()), document.O("_id", 2)))
	var text strings.Builder
	require.NoError(t, database.WriteJSON(t.Context(), &text, "a"))
	require.Equal(t, []string{`{"_id":1,"x":null}`, `{"_id":2}`, ""}, strings.Split(text.String(), "\n"))
}

func TestOpen_HardLinkIsTheSameFile(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	open(t, path)
	other := filepath.Join(t.TempDir(), "other.db")
	require.NoError(t, os.Link(path, other))
	_, err := sqlite.Open(other, sqlite.WithLockWait(0))
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.ErrorContains(t, err, "is already open")
}

func TestOpen_LeavesOtherProgramsFileAlone(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	text := append([]byte("SQLite format 3\x00"), make([]byte, 8<<10)...)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	_, err := sqlite.Open(path)
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.ErrorContains(t, err, "another program")
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, text, after)
}
