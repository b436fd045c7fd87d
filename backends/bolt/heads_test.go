package bolt_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/bolt"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
)

const (
	pageSize = 4096
	// transactionAt is where the number of the transaction stands in a head.
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
