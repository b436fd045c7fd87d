package bolt_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/bolt"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

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
