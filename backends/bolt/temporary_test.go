package bolt_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/bolt"
)

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

// leftBehind lets a backup of a store wait, and returns the name of the file that it made
// beside, and what is in that.
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
