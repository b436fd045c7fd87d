package blob_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	gocloud "gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"

	"github.com/botctx/go-sdk/backends/blob"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/utility"
)

func TestBucket_RulesInMemory(t *testing.T) {
	t.Parallel()
	runRules(t, func(*testing.T) *gocloud.Bucket { return memblob.OpenBucket(nil) })
}

func TestBucket_RulesInAFolder(t *testing.T) {
	t.Parallel()
	runRules(t, func(t *testing.T) *gocloud.Bucket {
		t.Helper()
		bucket, err := fileblob.OpenBucket(t.TempDir(), &fileblob.Options{NoTempDir: true})
		require.NoError(t, err)
		return bucket
	})
}

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
	return store.Put(t.Context(), utility.StoredFile{Key: key, ContentType: "text/plain", Content: strings.NewReader("x")})
}

func TestOpen_MakesAFolder(t *testing.T) {
	t.Parallel()
	store, folder := openFolder(t)
	require.NoError(t, put(t, store, "app/channel/hello.txt"))
	text, err := os.ReadFile(filepath.Join(folder, "app", "channel", "hello.txt"))
	require.NoError(t, err)
	require.Equal(t, "x", string(text))
}

// Readers use the driver directly, like a reader in another process.
func TestPut_ReadersSeeOldOrNew(t *testing.T) {
	t.Parallel()
	store, folder := openFolder(t)
	reader, err := fileblob.OpenBucket(folder, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, reader.Close()) })
	write := func(letter string) error {
		return store.Put(t.Context(), utility.StoredFile{
			Key: "a/b.txt", ContentType: "text/plain", Content: strings.NewReader(strings.Repeat(letter, 10_000)),
		})
	}
	require.NoError(t, write("x"))
	done := make(chan error, 1)
	go func() {
		for i := range 200 {
			if err := write(string(rune('a' + i%26))); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for {
		content, err := reader.ReadAll(t.Context(), "a/b.txt")
		require.NoError(t, err)
		require.Equal(t, strings.Repeat(string(content[:1]), 10_000), string(content))
		attributes, err := reader.Attributes(t.Context(), "a/b.txt")
		require.NoError(t, err)
		require.Equal(t, "text/plain", attributes.ContentType)
		select {
		case err := <-done:
			require.NoError(t, err)
			return
		default:
		}
	}
}

func TestPut_TypeInAFolder(t *testing.T) {
	t.Parallel()
	store, folder := openFolder(t)
	reader, err := fileblob.OpenBucket(folder, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, reader.Close()) })
	for _, kind := range []string{"text/plain", "image/png", "image/png"} {
		require.NoError(t, store.Put(t.Context(), utility.StoredFile{Key: "a", ContentType: kind, Content: strings.NewReader(kind)}))
		attributes, err := reader.Attributes(t.Context(), "a")
		require.NoError(t, err)
		require.Equal(t, kind, attributes.ContentType)
	}
	broken := utility.StoredFile{Key: "a", ContentType: "text/html", Content: iotest.ErrReader(io.ErrUnexpectedEOF)}
	require.ErrorIs(t, store.Put(t.Context(), broken), io.ErrUnexpectedEOF)
	attributes, err := reader.Attributes(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, "image/png", attributes.ContentType, "what was there stays, its type included")
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, left, 2, "no temporary files are left")
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

func TestStore_OpensAndRemoves(t *testing.T) {
	t.Parallel()
	folder, _ := openFolder(t)
	memory, err := blob.Open(t.Context(), "mem://")
	require.NoError(t, err)
	for _, store := range []*blob.Store{folder, memory} {
		file := utility.StoredFile{Key: "a/b", ContentType: "text/plain", Content: strings.NewReader("hello")}
		require.NoError(t, store.Put(t.Context(), file))
		content, err := store.Open(t.Context(), "a/b")
		require.NoError(t, err)
		read, err := io.ReadAll(content)
		require.NoError(t, err)
		require.NoError(t, content.Close())
		require.Equal(t, "hello", string(read))
		for range 2 {
			require.NoError(t, store.Remove(t.Context(), "a/b"))
			_, err = store.Open(t.Context(), "a/b")
			require.ErrorIs(t, err, boterr.NotFound)
		}
		for _, key := range []string{"", "../a", "a//b"} {
			_, err = store.Open(t.Context(), key)
			require.ErrorIs(t, err, boterr.InvalidArgument, "%q", key)
			require.ErrorIs(t, store.Remove(t.Context(), key), boterr.InvalidArgument, "%q", key)
		}
	}
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

func TestOpen_ErrorsHideCredentials(t *testing.T) {
	t.Parallel()
	_, err := blob.Open(t.Context(), "mem://ada:pass-w0rd@bots?nosuch=k3y")
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.NotContains(t, err.Error(), "pass-w0rd")
	require.NotContains(t, err.Error(), "k3y")
}
