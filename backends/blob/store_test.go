package blob_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	gocloud "gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"

	"github.com/botctx/go-sdk/backends/blob"
	"github.com/botctx/go-sdk/backends/blob/blobtest"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
)

func TestBucket_RulesInMemory(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(*testing.T) *gocloud.Bucket { return memblob.OpenBucket(nil) })
}

func TestBucket_RulesInAFolder(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(t *testing.T) *gocloud.Bucket {
		t.Helper()
		bucket, err := fileblob.OpenBucket(t.TempDir(), &fileblob.Options{NoTempDir: true})
		require.NoError(t, err)
		return bucket
	})
}

// openFolder opens a store over a new folder, and returns the folder.
func openFolder(t *testing.T) (*blob.Store, string) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "files")
	store, err := blob.Open(t.Context(), "file://"+folder+"?create_dir=true")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store, folder
}

func put(t *testing.T, store *blob.Store, key string) error {
	t.Helper()
	return store.Put(t.Context(), botctx.StoredFile{Key: key, ContentType: "text/plain", Content: strings.NewReader("x")})
}

func TestOpen_MakesAFolder(t *testing.T) {
	t.Parallel()
	store, folder := openFolder(t)
	require.NoError(t, put(t, store, "app/channel/hello.txt"))
	text, err := os.ReadFile(filepath.Join(folder, "app", "channel", "hello.txt"))
	require.NoError(t, err)
	require.Equal(t, "x", string(text))
}

func TestUpload_NameNoFolderHolds(t *testing.T) {
	t.Parallel()
	store, _ := openFolder(t)
	require.NoError(t, put(t, store, "a/b"))
	for _, key := range []string{"a", "a/b/c", "a/b.attrs", "a/" + strings.Repeat("n", 300)} {
		err := put(t, store, key)
		require.ErrorIs(t, err, boterr.InvalidArgument, "%q", key)
		require.ErrorContains(t, err, "filename")
	}
	require.NoError(t, put(t, store, "a/b"), "what was there can still be written")
}

func TestUpload_FolderIsGone(t *testing.T) {
	t.Parallel()
	store, folder := openFolder(t)
	require.NoError(t, os.RemoveAll(folder))
	require.NoError(t, put(t, store, "a/b"))
}

func TestOpen_RefusesURL(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]boterr.Code{
		"":                        boterr.InvalidArgument,
		"files":                   boterr.InvalidArgument,
		"%":                       boterr.InvalidArgument,
		"s3://bucket":             boterr.InvalidArgument,
		"file:///no/such/folder":  boterr.FailedPrecondition,
		"mem://?no_such_option=1": boterr.FailedPrecondition,
	} {
		_, err := blob.Open(t.Context(), address)
		require.ErrorIs(t, err, want, "%q", address)
	}
}
