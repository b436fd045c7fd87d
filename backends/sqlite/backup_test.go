package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/sqlite"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
)

// backUp makes a backup and opens it.
func backUp(t *testing.T, store *sqlite.Store) *sqlite.Store {
	t.Helper()
	path := newPath(t)
	file, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, store.Backup(t.Context(), file))
	require.NoError(t, file.Close())
	return open(t, path)
}

// Backups are made and the file is compacted while goroutines write. Each writer inserts pairs of documents in
// ascending order, so a backup must contain the first pairs without a gap.
func TestBackup_AtOneMoment(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	store := open(t, path)
	const writers, pairs = 4, 150
	var all sync.WaitGroup
	for writer := range writers {
		all.Go(func() {
			c := store.Collection(fmt.Sprint("writer ", writer))
			for i := range pairs {
				if err := c.Insert(t.Context(), document.O("_id", 2*i), document.O("_id", 2*i+1, "text", strings.Repeat("x", i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	written := make(chan struct{})
	go func() {
		all.Wait()
		close(written)
	}()
	for done := false; !done; {
		select {
		case <-written:
			done = true
		default:
		}
		backup := backUp(t, store)
		for writer := range writers {
			found := contents(t, backup, fmt.Sprint("writer ", writer))
			require.Zero(t, len(found)%2, "a write is whole")
			for i, text := range found {
				require.True(t, strings.HasPrefix(text, fmt.Sprintf(`{"_id":%d`, i)), text)
			}
		}
		require.NoError(t, store.Compact(t.Context()))
	}
	require.NoError(t, store.Close())
	store = open(t, path)
	for writer := range writers {
		require.Len(t, contents(t, store, fmt.Sprint("writer ", writer)), 2*pairs)
	}
}

// blocked is a writer whose Write waits until goOn is closed.
type blocked struct {
	begun chan struct{}
	once  sync.Once
	goOn  chan struct{}
}

func (b *blocked) Write(text []byte) (int, error) {
	b.once.Do(func() { close(b.begun) })
	<-b.goOn
	return len(text), nil
}

func TestBackup_SlowHoldsUpNothing(t *testing.T) {
	t.Parallel()
	store := open(t, newPath(t))
	put(t, store, "a", 1)
	slow := &blocked{begun: make(chan struct{}), goOn: make(chan struct{})}
	outcome := make(chan error)
	go func() { outcome <- store.Backup(t.Context(), slow) }()
	<-slow.begun
	for i := range 100 { // Enough to make the file grow.
		require.NoError(t, store.Collection("b").Insert(t.Context(), document.O("_id", i, "text", strings.Repeat("x", 10_000))))
	}
	require.NoError(t, store.Compact(t.Context()))
	require.NoError(t, store.Close())
	close(slow.goOn)
	require.NoError(t, <-outcome)
}

func TestBackup_CannotBeWritten(t *testing.T) {
	t.Parallel()
	store := open(t, newPath(t))
	put(t, store, "a", 1)
	err := store.Backup(t.Context(), &limited{left: 5_000})
	require.ErrorIs(t, err, boterr.Unavailable)
	require.ErrorIs(t, err, os.ErrInvalid)
	put(t, store, "a", 2)
}

func TestCompact_GivesBackSpace(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	database := open(t, path)
	many := make([]document.Object, 2_000)
	for i := range many {
		many[i] = document.O("_id", i, "text", strings.Repeat("x", 1_000))
	}
	a := database.Collection("a")
	require.NoError(t, a.Insert(t.Context(), many...))
	require.NoError(t, a.EnsureIndex(t.Context(), store.Index{Keys: ascending("text")}))
	_, err := a.Delete(t.Context(), sharedtest.Filter(t, "_id", document.O("$gte", 20)), store.DeleteOptions{Multi: true})
	require.NoError(t, err)
	put(t, database, "b", 1)
	before, held := database.Stats(), contents(t, database, "a")
	require.Len(t, held, 20)
	require.Greater(t, before.Free, before.Size/2)
	require.Equal(t, int64(2_000+1_980+1), before.Changes)

	require.NoError(t, database.Compact(t.Context()))
	require.Less(t, database.Stats().Size, before.Size/10)
	require.Equal(t, held, contents(t, database, "a"))
	put(t, database, "a", "after")
	require.NoError(t, database.Close())
	database = open(t, path)
	require.Equal(t, append(held, `{"_id":"after"}`), contents(t, database, "a"))
	require.Len(t, contents(t, database, "b"), 1)
}

func TestCompact_CannotReplaceFile(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	store := open(t, path)
	put(t, store, "a", 1)
	hidden := filepath.Join(t.TempDir(), "elsewhere")
	require.NoError(t, os.Rename(filepath.Dir(path), hidden))
	require.ErrorIs(t, store.Compact(t.Context()), boterr.Unavailable)
	require.ErrorIs(t, store.Backup(t.Context(), &limited{}), boterr.Unavailable)
	require.NoError(t, os.Rename(hidden, filepath.Dir(path)))
	put(t, store, "a", 2)
	require.Len(t, contents(t, store, "a"), 2)
}
