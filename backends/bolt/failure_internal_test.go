package bolt

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

func TestCommit_FailedEndsWrites(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	store, err := Open(path)
	require.NoError(t, err)
	a := store.Collection("a")
	require.NoError(t, a.Insert(t.Context(), document.O("_id", 1)))
	require.NoError(t, store.file.handle.Close(), "the disk goes away")

	err = a.Insert(t.Context(), document.O("_id", 2))
	require.ErrorIs(t, err, boterr.Unavailable)
	require.ErrorContains(t, err, path)
	require.ErrorContains(t, err, "whether the disk has it shows when the store is opened anew")
	for range 2 {
		err = a.Insert(t.Context(), document.O("_id", 3))
		require.ErrorIs(t, err, boterr.Unavailable)
		require.ErrorContains(t, err, "takes no writes after one that failed")
	}
	require.ErrorIs(t, store.Compact(t.Context()), boterr.Unavailable)
	require.ErrorIs(t, store.Backup(t.Context(), io.Discard), boterr.Unavailable)
	count, err := a.Count(t.Context(), nil)
	require.NoError(t, err, "reads go on")
	require.Equal(t, int64(1), count)
	require.ErrorIs(t, store.Close(), boterr.Unavailable)

	store, err = Open(path)
	require.NoError(t, err)
	a = store.Collection("a")
	count, err = a.Count(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, int64(1), count)
	require.NoError(t, a.Insert(t.Context(), document.O("_id", 2)))
	require.NoError(t, store.Close())
}

func TestCommit_Panics(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	store, err := Open(path)
	require.NoError(t, err)
	a := store.Collection("a")
	require.NoError(t, a.Insert(t.Context(), document.O("_id", 1)))
	db := store.file.db
	store.file.db = nil
	err = a.Insert(t.Context(), document.O("_id", 2))
	require.ErrorIs(t, err, boterr.Unavailable)
	require.ErrorContains(t, err, "the file is damaged")
	require.NoError(t, db.Close())
	require.ErrorIs(t, a.Insert(t.Context(), document.O("_id", 3)), boterr.Unavailable)
	require.Error(t, store.Close())
}
