package bolt_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/bolt"
	"github.com/botctx/go-sdk/boterr"
)

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
