package bolt_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/bolt"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
	"github.com/botctx/go-sdk/store/storetest"
)

// Every rule holds as well if the store is closed and opened again before each read.
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

// reopening is a store that is closed and opened again before each read.
type reopening struct {
	t    *testing.T
	path string
	// mu is held for reading by writes, and for writing by reads.
	mu    sync.RWMutex
	store *bolt.Store
}

func (s *reopening) Now(ctx context.Context) (time.Time, error) { return s.store.Now(ctx) }

func (s *reopening) Collection(name string) store.Collection {
	return &reopeningCollection{store: s, name: name}
}

type reopeningCollection struct {
	store *reopening
	name  string
}

// reopened returns the collection of a store that was opened again. The caller calls done after the read.
func (c *reopeningCollection) reopened() (collection store.Collection, done func()) {
	s := c.store
	s.mu.Lock()
	err := s.store.Close()
	if err == nil {
		var store *bolt.Store
		if store, err = bolt.Open(s.path); err == nil {
			s.store = store
		}
	}
	if err != nil {
		s.t.Error(err)
	}
	return s.store.Collection(c.name), s.mu.Unlock
}

// held returns the collection of a store that stays open until done is called.
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

const (
	pageSize = 4096
	// transactionAt is the offset of the number of the transaction in a head.
	transactionAt = 16 + 48
	noteAt        = 512
)

// written makes a store of so many commits, and returns its file and the page of its newest
// head.
func written(t *testing.T, path string, commits int) (file []byte, newest int) {
	t.Helper()
	store := open(t, path)
	for i := range commits {
		put(t, store, "a", i)
	}
	require.NoError(t, store.Close())
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	if file[pageSize+transactionAt] > file[transactionAt] {
		newest = 1
	}
	return file, newest
}

func TestDamage_LostCommit(t *testing.T) {
	t.Parallel()
	for commits := range 6 {
		path := newPath(t)
		written(t, path, 1)
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		old := bytes.Clone(file)
		require.NoError(t, os.Remove(path))
		whole, newest := written(t, path, 2+commits)
		begin := newest * pageSize
		for name, harm := range map[string]func(page []byte){
			"a bit":       func(page []byte) { page[16+20] ^= 4 },
			"the number":  func(page []byte) { page[transactionAt] = 0 },
			"the page":    func(page []byte) { clear(page) },
			"an old page": func(page []byte) { copy(page, old[begin:][:pageSize]) },
		} {
			file := bytes.Clone(whole)
			harm(file[begin:][:pageSize])
			require.NoError(t, os.WriteFile(path, file, 0o600))
			_, err := bolt.Open(path)
			require.ErrorIs(t, err, boterr.FailedPrecondition, "%s, %d", name, commits)
			require.ErrorContains(t, err, "which was answered, is lost")
			require.ErrorContains(t, err, "the file is damaged")
		}
	}
}

func TestDamage_InterruptedCommit(t *testing.T) {
	t.Parallel()
	for commits := range 4 {
		path := newPath(t)
		file, newest := written(t, path, 2+commits)
		file[newest*pageSize+20] ^= 1
		clear(file[(1-newest)*pageSize+noteAt:][:16]) // The power failed before it was there.
		require.NoError(t, os.WriteFile(path, file, 0o600))
		var lines bytes.Buffer
		store := open(t, path, bolt.WithLogger(slog.New(slog.NewTextHandler(&lines, nil))))
		require.True(t, store.Stats().HasFallenBack)
		require.Contains(t, lines.String(), "level=WARN")
		require.Contains(t, lines.String(), path)
		require.Len(t, contents(t, store, "a"), 1+commits)
		put(t, store, "a", "after")
		require.NoError(t, store.Close())

		store = open(t, path, bolt.WithLogger(nil))
		require.False(t, store.Stats().HasFallenBack, "the next commit mends it")
		require.Len(t, contents(t, store, "a"), 2+commits)
	}
}

func TestDamage_OlderHead(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	file, newest := written(t, path, 5)
	file[(1-newest)*pageSize+20] ^= 1
	require.NoError(t, os.WriteFile(path, file, 0o600))
	store := open(t, path)
	require.False(t, store.Stats().HasFallenBack)
	require.Len(t, contents(t, store, "a"), 5)
}

// A wrong length of the list of free pages makes bbolt free pages that are in use, or count
// to the end of the numbers.
func TestDamage_FreePagesWrongHead(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	whole, _ := written(t, path, 3)
	for at := 8; at < pageSize/100; at++ {
		for _, bit := range []byte{1, 2, 16, 128} {
			file := bytes.Clone(whole)
			for page := 2 * pageSize; page < len(file); page += pageSize {
				if file[page+8] == 16 { // The one in use, and those before.
					file[page+at] ^= bit
				}
			}
			require.NoError(t, os.WriteFile(path, file, 0o600))
			store, err := bolt.Open(path)
			if err == nil { // It is behind the list.
				require.Len(t, contents(t, store, "a"), 3)
				for i := range 20 {
					put(t, store, "b", i)
				}
				require.NoError(t, store.Close())
				require.NoError(t, open(t, path).Close())
				require.GreaterOrEqual(t, at, 16)
				continue
			}
			require.ErrorContains(t, err, "is damaged", "byte %d", at)
		}
	}
}

func TestOpen_LongListOfFreePages(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	database := open(t, path, bolt.WithoutSync())
	long := strings.Repeat("x", 3_000)
	for from := range 10 {
		documents := make([]document.Object, 300)
		for i := range documents {
			documents[i] = document.O("_id", fmt.Sprint(from, " ", i), "text", long)
		}
		require.NoError(t, database.Collection("a").Insert(t.Context(), documents...))
	}
	_, err := database.Collection("a").Delete(t.Context(), nil, store.DeleteOptions{Multi: true})
	require.NoError(t, err)
	put(t, database, "b", 1)
	require.NoError(t, database.Close())
	require.Len(t, contents(t, open(t, path), "b"), 1)
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
		_, err := bolt.Open(name, bolt.WithLockWait(0))
		require.ErrorIs(t, err, boterr.FailedPrecondition)
		require.ErrorContains(t, err, "is open already")
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
	_, err := bolt.Open(link)
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.ErrorContains(t, err, "is a link to a file that is not there")
	require.NoFileExists(t, path)
	require.Empty(t, names(t, link))
}

func TestOpen_EmptyFile(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	for range 2 {
		_, err := bolt.Open(path)
		require.ErrorIs(t, err, boterr.FailedPrecondition)
		require.ErrorContains(t, err, "the file is damaged")
		require.ErrorContains(t, err, "it is empty")
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Empty(t, file)
	}
}

func TestOpen_Refuses(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	for name, run := range map[string]func() error{
		"no path":   func() error { _, err := bolt.Open(""); return err },
		"no option": func() error { _, err := bolt.Open(path, nil); return err },
		"no clock":  func() error { _, err := bolt.Open(path, bolt.WithNow(nil)); return err },
		"no writer": func() error { return open(t, path).Backup(t.Context(), nil) },
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
			database, err := bolt.Open(path)
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

// names returns the names of the files in the folder of a path, but for the file itself.
func names(t *testing.T, path string) (others []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	for _, entry := range entries {
		if entry.Name() != filepath.Base(path) {
			others = append(others, entry.Name())
		}
	}
	return others
}

// leftBehind lets a backup of a store wait, and returns the name and the content of the temporary file that
// it made.
func leftBehind(t *testing.T, path string) (name string, text []byte) {
	t.Helper()
	store := open(t, path)
	put(t, store, "a", 1)
	slow := &blocked{begun: make(chan struct{}), goOn: make(chan struct{})}
	outcome := make(chan error)
	go func() { outcome <- store.Backup(t.Context(), slow) }()
	<-slow.begun
	beside := names(t, path)
	require.Len(t, beside, 1)
	text, err := os.ReadFile(filepath.Join(filepath.Dir(path), beside[0]))
	require.NoError(t, err)
	close(slow.goOn)
	require.NoError(t, <-outcome)
	require.NoError(t, store.Close())
	require.Empty(t, names(t, path))
	return beside[0], text
}

func TestOpen_RemovesRestOfACrash(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	name, text := leftBehind(t, path)
	for _, length := range []int{0, 4096, len(text)} {
		require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(path), name), text[:length], 0o600))
		require.NoError(t, open(t, path).Close())
		require.Empty(t, names(t, path), "%d bytes", length)
	}
}

func TestOpen_LeavesFilesOfOthers(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	made, text := leftBehind(t, path)
	folder, name := filepath.Dir(path), filepath.Base(path)
	theirs := []string{
		name + ".backup-2026-11-21", name + ".new-1", name + ".compact-1", name + ".botctx-temporary-", name + "-2",
		name + ".botctx-temporary-mine", made + ".kept", made[:len(made)-1], "other" + made,
		strings.Repeat("0", len(made)), name + ".botctx-temporary-" + strings.Repeat("0", 32) + "-00000000",
	}
	for _, other := range theirs {
		require.NoError(t, os.WriteFile(filepath.Join(folder, other), text, 0o600))
	}
	require.NoError(t, open(t, path).Close())
	require.ElementsMatch(t, theirs, names(t, path))

	require.NoError(t, os.WriteFile(filepath.Join(folder, made), []byte("a note that somebody keeps under this very name"), 0o600))
	store, err := bolt.Open(path)
	require.NoError(t, err)
	require.NoError(t, store.Close())
	require.ElementsMatch(t, append(theirs, made), names(t, path))
}
