package sqlite_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/sqlite"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
	"github.com/botctx/go-sdk/store/storetest"
)

// The rules of storetest hold even if the store is reopened before each read.
func TestStore_OpenedAnewBeforeReads(t *testing.T) {
	t.Parallel()
	rounds.OnlyThorough(t)
	storetest.RunStore(t, func(t *testing.T) store.Store {
		t.Helper()
		s := &reopening{t: t, path: newPath(t)}
		s.store = open(t, s.path)
		t.Cleanup(func() { require.NoError(t, s.store.Close()) })
		return s
	})
}

// reopening is a store that is reopened before each read.
type reopening struct {
	t    *testing.T
	path string
	// Reads reopen the store, so they hold mu exclusively. Writes share it.
	mu    sync.RWMutex
	store *sqlite.Store
}

func (s *reopening) Now(ctx context.Context) (time.Time, error) { return s.store.Now(ctx) }

func (s *reopening) Collection(name string) store.Collection {
	return &reopeningCollection{store: s, name: name}
}

type reopeningCollection struct {
	store *reopening
	name  string
}

// reopened reopens the store and returns the collection. Callers must call done after the read.
func (c *reopeningCollection) reopened() (collection store.Collection, done func()) {
	s := c.store
	s.mu.Lock()
	err := s.store.Close()
	if err == nil {
		var store *sqlite.Store
		if store, err = sqlite.Open(s.path); err == nil {
			s.store = store
		}
	}
	if err != nil {
		s.t.Error(err)
	}
	return s.store.Collection(c.name), s.mu.Unlock
}

// held returns the collection. The store stays open until done is called.
func (c *reopeningCollection) held() (collection store.Collection, done func()) {
	c.store.mu.RLock()
	return c.store.store.Collection(c.name), c.store.mu.RUnlock
}

func (c *reopeningCollection) Get(ctx context.Context, id any) (document.Object, bool, error) {
	now, done := c.reopened()
	defer done()
	return now.Get(ctx, id)
}

func (c *reopeningCollection) Find(ctx context.Context, f *query.Filter, o store.FindOptions) ([]document.Object, error) {
	now, done := c.reopened()
	defer done()
	return now.Find(ctx, f, o)
}

func (c *reopeningCollection) Count(ctx context.Context, f *query.Filter) (int64, error) {
	now, done := c.reopened()
	defer done()
	return now.Count(ctx, f)
}

func (c *reopeningCollection) Distinct(ctx context.Context, path string, f *query.Filter) ([]any, error) {
	now, done := c.reopened()
	defer done()
	return now.Distinct(ctx, path, f)
}

func (c *reopeningCollection) GeoNear(ctx context.Context, query *query.GeoNear) ([]query.GeoResult, error) {
	now, done := c.reopened()
	defer done()
	return now.GeoNear(ctx, query)
}

func (c *reopeningCollection) Insert(ctx context.Context, documents ...document.Object) error {
	now, done := c.held()
	defer done()
	return now.Insert(ctx, documents...)
}

func (c *reopeningCollection) Update(
	ctx context.Context, f *query.Filter, change query.Change, o store.UpdateOptions,
) (store.UpdateResult, error) {
	now, done := c.held()
	defer done()
	return now.Update(ctx, f, change, o)
}

func (c *reopeningCollection) FindAndModify(
	ctx context.Context, f *query.Filter, change query.Change, o store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	now, done := c.held()
	defer done()
	return now.FindAndModify(ctx, f, change, o)
}

func (c *reopeningCollection) Delete(ctx context.Context, f *query.Filter, o store.DeleteOptions) (int64, error) {
	now, done := c.held()
	defer done()
	return now.Delete(ctx, f, o)
}

func (c *reopeningCollection) EnsureIndex(ctx context.Context, index store.Index) error {
	now, done := c.held()
	defer done()
	return now.EnsureIndex(ctx, index)
}

func TestOpen_Link(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	link := filepath.Join(t.TempDir(), "link.db")
	require.NoError(t, open(t, path).Close())
	require.NoError(t, os.Symlink(path, link))
	store := open(t, link)
	put(t, store, "a", 1)
	require.NoError(t, store.Compact(t.Context()))
	put(t, store, "a", 2)
	for _, name := range []string{path, link} {
		_, err := sqlite.Open(name, sqlite.WithLockWait(0))
		require.ErrorIs(t, err, boterr.FailedPrecondition)
		require.ErrorContains(t, err, "is already open")
	}
	require.Empty(t, names(t, link), "what is made beside is beside the file")
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink, "it stays a link")
	require.NoError(t, store.Close())
	require.Len(t, contents(t, open(t, path), "a"), 2)
}

func TestOpen_FolderThatIsALink(t *testing.T) {
	t.Parallel()
	folder, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(folder, link))
	put(t, open(t, filepath.Join(link, "store.db")), "a", 1)
	require.FileExists(t, filepath.Join(folder, "store.db"))
}

func TestOpen_LinkToNowhere(t *testing.T) {
	t.Parallel()
	path, link := newPath(t), filepath.Join(t.TempDir(), "link.db")
	require.NoError(t, os.Symlink(path, link))
	_, err := sqlite.Open(link)
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.ErrorContains(t, err, "is a link to nothing")
	require.NoFileExists(t, path)
	require.Empty(t, names(t, link))
}

func TestOpen_EmptyFile(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	for range 2 {
		_, err := sqlite.Open(path)
		require.ErrorIs(t, err, boterr.FailedPrecondition)
		require.ErrorContains(t, err, "the file is damaged")
		require.ErrorContains(t, err, "it has no header")
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Empty(t, file)
	}
}

func TestOpen_Refuses(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	for name, run := range map[string]func() error{
		"no path":   func() error { _, err := sqlite.Open(""); return err },
		"no option": func() error { _, err := sqlite.Open(path, nil); return err },
		"no clock":  func() error { _, err := sqlite.Open(path, sqlite.WithNow(nil)); return err },
		"no writer": func() error { return open(t, newPath(t)).Backup(t.Context(), nil) },
		"no JSON":   func() error { return open(t, newPath(t)).WriteJSON(t.Context(), nil, "a") },
	} {
		require.ErrorIs(t, run(), boterr.InvalidArgument, name)
	}
}

func TestStore_FileIsMoved(t *testing.T) {
	t.Parallel()
	for name, afterwards := range map[string]func(t *testing.T, path string){
		"removed": func(*testing.T, string) {},
		"replaced": func(t *testing.T, path string) {
			t.Helper()
			require.NoError(t, os.WriteFile(path, []byte("another"), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "bots.db")
			database, err := sqlite.Open(path)
			require.NoError(t, err)
			t.Cleanup(func() { _ = database.Close() })
			books := database.Collection("books")
			require.NoError(t, books.Insert(t.Context(), document.O("_id", 1)))
			require.NoError(t, os.Rename(path, path+".aside"))
			afterwards(t, path)
			err = books.Insert(t.Context(), document.O("_id", 2))
			require.Equal(t, boterr.Unavailable, boterr.CodeOf(err))
			require.ErrorContains(t, err, "removed or replaced")
			require.NoError(t, os.Rename(path+".aside", path))
			require.NoError(t, books.Insert(t.Context(), document.O("_id", 3)))
			count, err := books.Count(t.Context(), nil)
			require.NoError(t, err)
			require.EqualValues(t, 2, count)
		})
	}
}

// While the file is moved, a read does not open or create a different file.
func TestStore_ReadsWhileFileIsMoved(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	database := open(t, path)
	books := database.Collection("books")
	require.NoError(t, books.Insert(t.Context(), document.O("_id", 1)))
	require.NoError(t, os.Rename(path, path+".aside"))
	var all sync.WaitGroup
	for range 20 { // Most reads need a new connection.
		all.Go(func() {
			count, err := books.Count(t.Context(), nil)
			if count != 1 && boterr.CodeOf(err) != boterr.Unavailable {
				t.Errorf("%d, %v", count, err)
			}
		})
	}
	all.Wait()
	require.NoFileExists(t, path)
	require.NoError(t, os.Rename(path+".aside", path))
	count, err := books.Count(t.Context(), nil)
	require.NoError(t, err)
	require.EqualValues(t, 1, count)
}

// A watcher that starts while the file is moved sees later writes.
func TestWatch_BeginsWhileFileIsMoved(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	database := open(t, path)
	require.NoError(t, os.Rename(path, path+".aside"))
	seen := 0
	stop := database.Watch("books", func(document.Object, document.Object) { seen++ }, nil)
	defer stop()
	require.NoError(t, os.Rename(path+".aside", path))
	require.NoError(t, database.Collection("books").Insert(t.Context(), document.O("_id", 1)))
	require.Equal(t, 1, seen)
}

// A backup in place of the file must not use the log that a crash has left.
func TestOpen_LogOfAnotherFile(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	database := open(t, path)
	require.NoError(t, database.Collection("books").Insert(t.Context(), document.O("_id", 1)))
	var backup bytes.Buffer
	require.NoError(t, database.Backup(t.Context(), &backup))
	log, err := os.ReadFile(path + "-wal")
	require.NoError(t, err)
	require.NotEmpty(t, log)
	restored := newPath(t)
	require.NoError(t, os.WriteFile(restored, backup.Bytes(), 0o600))
	require.NoError(t, os.WriteFile(restored+"-wal", log, 0o600))
	_, err = sqlite.Open(restored)
	require.Equal(t, boterr.FailedPrecondition, boterr.CodeOf(err))
	require.ErrorContains(t, err, "log of another file")
	require.NoError(t, os.Remove(restored+"-wal"))
	count, err := open(t, restored).Collection("books").Count(t.Context(), nil)
	require.NoError(t, err)
	require.EqualValues(t, 1, count)
}

// names returns the names of all other files in the file's folder, except the log and its index.
func names(t *testing.T, path string) (others []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	for _, entry := range entries {
		name := strings.TrimPrefix(entry.Name(), filepath.Base(path))
		if name != "" && name != "-wal" && name != "-shm" {
			others = append(others, entry.Name())
		}
	}
	return others
}

func TestOpen_RemovesRestOfACrash(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	require.NoError(t, open(t, path).Close())
	mine := []string{"store.db.backup-2026/backup", "store.db.backup-1.tmp/mine", "store.db.backup-of-mine.tmp"}
	for _, name := range append(mine, "store.db.backup-123.tmp/backup", "store.db.backup-123.tmp/backup-journal",
		"store.db.new-123.tmp/store") {
		name = filepath.Join(filepath.Dir(path), name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte("half"), 0o600))
	}
	require.NoError(t, open(t, path).Close())
	require.NoDirExists(t, path+".backup-123.tmp")
	require.NoDirExists(t, path+".new-123.tmp")
	for _, name := range mine {
		require.FileExists(t, filepath.Join(filepath.Dir(path), name))
	}
}
