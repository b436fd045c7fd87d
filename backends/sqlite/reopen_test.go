package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/sqlite"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/storetest"
)

// The rules of storetest hold even if the store is reopened before each read.
func TestStore_OpenedAnewBeforeReads(t *testing.T) {
	t.Parallel()
	rounds.OnlyThorough(t)
	storetest.RunStore(t, func(t *testing.T) store.Store {
		t.Helper()
		r := &reopening{path: newPath(t), collections: map[string]*current{}}
		r.Store = open(t, r.path, sqlite.WithoutSync())
		t.Cleanup(func() { require.NoError(t, r.Close()) })
		return store.Wrap(r, r.around)
	})
}

// reopening is a store that is reopened before each read.
type reopening struct {
	*sqlite.Store

	path string
	// mu guards collections. Reads reopen the store, so they hold using exclusively. Writes share it.
	mu          sync.Mutex
	using       sync.RWMutex
	collections map[string]*current
}

// current is a collection of the store that is open now.
type current struct{ store.Collection }

func (r *reopening) Collection(name string) store.Collection {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.collections[name] == nil {
		r.collections[name] = &current{r.Store.Collection(name)}
	}
	return r.collections[name]
}

func (r *reopening) around(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
	switch call.Method {
	case "now", "insert", "update", "findAndModify", "delete", "ensureIndex": //nolint:usestdlibvars // It is no method of HTTP.
		r.using.RLock()
		return ctx, func(_ int, err error) error {
			r.using.RUnlock()
			return err
		}, nil
	}
	r.using.Lock()
	err := r.reopen()
	return ctx, func(_ int, failed error) error {
		r.using.Unlock()
		return errors.Join(err, failed)
	}, nil
}

func (r *reopening) reopen() error {
	if err := r.Close(); err != nil {
		return err
	}
	next, err := sqlite.Open(r.path, sqlite.WithoutSync())
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Store = next
	for name, c := range r.collections {
		c.Collection = next.Collection(name)
	}
	return nil
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
