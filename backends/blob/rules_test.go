package blob_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	gocloud "gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/botctx/go-sdk/backends/blob"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/utility"
)

// runRules checks the contract of a Store. Each rule gets a new bucket from open and closes it.
func runRules(t *testing.T, open func(t *testing.T) *gocloud.Bucket) {
	t.Helper()
	for name, rule := range map[string]func(*testing.T, bucket){
		"a file is stored as it was read":                     storedAsRead,
		"a file takes the place of the one that was there":    replaced,
		"a reader that fails leaves what was there":           brokenReader,
		"a context that ends leaves what was there":           endedContext,
		"a reader that panics leaves what was there":          panickingReader,
		"odd keys stay what they are, and apart":              oddKeys,
		"a key that could be taken for another is refused":    refusedKeys,
		"what is no file is refused":                          refusedFiles,
		"files can be stored at once":                         concurrent,
		"of several that store under one key one stays whole": contended,
		"a large file is not held in memory":                  largeFile,
		"a closed store takes nothing":                        closed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opened := open(t)
			store := blob.New(opened)
			t.Cleanup(func() { require.NoError(t, store.Close()) })
			rule(t, bucket{store: store, Bucket: opened})
		})
	}
}

type bucket struct {
	*gocloud.Bucket

	store *blob.Store
}

func file(key, content string) utility.StoredFile {
	return utility.StoredFile{Key: key, ContentType: "text/plain", Content: strings.NewReader(content)}
}

func (b bucket) requireContent(t *testing.T, key, want string) {
	t.Helper()
	got, err := b.ReadAll(t.Context(), key)
	require.NoError(t, err, "%q", key)
	require.Equal(t, want, string(got), "%q", key)
}

// requireKeys fails the test unless the bucket holds exactly the files with these keys.
func (b bucket) requireKeys(t *testing.T, want ...string) {
	t.Helper()
	var keys []string
	for list := b.List(nil); ; {
		object, err := list.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		keys = append(keys, object.Key)
	}
	require.ElementsMatch(t, want, keys)
}

func storedAsRead(t *testing.T, b bucket) {
	t.Helper()
	for _, content := range []string{"", "x", strings.Repeat("\x00\xff\r\n", 100_000)} {
		put := file("app/channel/f.bin", content)
		put.ContentType = "application/x-thing"
		require.NoError(t, b.store.Put(t.Context(), put))
		b.requireContent(t, put.Key, content)
		attributes, err := b.Attributes(t.Context(), put.Key)
		require.NoError(t, err)
		require.Equal(t, "application/x-thing", attributes.ContentType)
		require.EqualValues(t, len(content), attributes.Size)
	}
}

func replaced(t *testing.T, b bucket) {
	t.Helper()
	require.NoError(t, b.store.Put(t.Context(), file("k", "a long one")))
	require.NoError(t, b.store.Put(t.Context(), file("k", "new")))
	b.requireContent(t, "k", "new")
	b.requireKeys(t, "k")
}

// sizes are the numbers of bytes that are read before the failure: none, one part, and several parts.
var sizes = []int64{0, 10, 12 << 20}

func brokenReader(t *testing.T, b bucket) {
	t.Helper()
	broken := errors.New("the line was cut")
	require.NoError(t, b.store.Put(t.Context(), file("old", "old")))
	for _, size := range sizes {
		for _, key := range []string{"old", "new"} {
			put := file(key, "")
			put.Content = io.MultiReader(io.LimitReader(zeros{}, size), readerFunc(func([]byte) (int, error) {
				return 0, broken
			}))
			require.ErrorIs(t, b.store.Put(t.Context(), put), broken)
		}
	}
	b.requireContent(t, "old", "old")
	b.requireKeys(t, "old")
}

func endedContext(t *testing.T, b bucket) {
	t.Helper()
	require.NoError(t, b.store.Put(t.Context(), file("old", "old")))
	for _, size := range sizes {
		for _, key := range []string{"old", "new"} {
			ctx, cancel := context.WithCancel(t.Context())
			put := file(key, "")
			put.Content = io.MultiReader(io.LimitReader(zeros{}, size), readerFunc(func(into []byte) (int, error) {
				cancel()
				return len(into), io.EOF
			}))
			require.ErrorIs(t, b.store.Put(ctx, put), context.Canceled)
			require.ErrorIs(t, b.store.Put(ctx, file(key, "too late")), context.Canceled)
		}
	}
	b.requireContent(t, "old", "old")
	b.requireKeys(t, "old")
}

func panickingReader(t *testing.T, b bucket) {
	t.Helper()
	require.NoError(t, b.store.Put(t.Context(), file("old", "old")))
	put := file("old", "")
	put.Content = io.MultiReader(strings.NewReader("half"), readerFunc(func([]byte) (int, error) { panic("a defect") }))
	require.Panics(t, func() { _ = b.store.Put(t.Context(), put) })
	b.requireContent(t, "old", "old")
	b.requireKeys(t, "old")
}

func oddKeys(t *testing.T, b bucket) {
	t.Helper()
	keys := []string{
		"a/b c.txt", "a/b+c.txt", "a/b%20c.txt", "a/b%2Fc", "a/ž 🎉.png", "a/..b", "a/b..", "a/...", "a/.hidden",
		"a/A", "a/a", "a/q?x=1#y", "a/back\\slash", "a/\"quoted\"", "a/<tag>&amp;", "a/tab\there", "a/line\nbreak",
		"a/__0x2f__", "a/~", "a/-", "a/ ", "a/CON", "a/*", "a/:", "a/e\u0301", "a/\u00e9", "a/b/c/d/e/f", "a/" + strings.Repeat("n", 200),
	}
	for i, key := range keys {
		require.NoError(t, b.store.Put(t.Context(), file(key, fmt.Sprintf("%d: %s", i, key))), "%q", key)
	}
	for i, key := range keys {
		b.requireContent(t, key, fmt.Sprintf("%d: %s", i, key))
	}
	b.requireKeys(t, keys...)
}

func refusedKeys(t *testing.T, b bucket) {
	t.Helper()
	for _, key := range []string{
		"", "/", "/a", "a/", "a//b", ".", "..", "./a", "../a", "a/./b", "a/../b", "a/..", "a/.", "a\x00b", "a\xffb",
		strings.Repeat("n", 1025),
	} {
		err := b.store.Put(t.Context(), file(key, "x"))
		requireInvalid(t, err, "filename")
	}
	b.requireKeys(t)
}

func refusedFiles(t *testing.T, b bucket) {
	t.Helper()
	for _, kind := range []string{"", "no type", "text/plain\r\nX-Evil: 1", "a/b/c"} {
		put := file("k", "x")
		put.ContentType = kind
		requireInvalid(t, b.store.Put(t.Context(), put), "contentType")
	}
	put := file("k", "")
	put.Content = nil
	requireInvalid(t, b.store.Put(t.Context(), put), "content")
	b.requireKeys(t)
}

func requireInvalid(t *testing.T, err error, field string) {
	t.Helper()
	refused, isError := boterr.AsError(err)
	require.True(t, isError, "%v", err)
	require.Equal(t, boterr.InvalidArgument, refused.Code)
	require.Equal(t, field, refused.Field)
}

func concurrent(t *testing.T, b bucket) {
	t.Helper()
	const files = 50
	failures := make([]error, files)
	var all sync.WaitGroup
	for i := range files {
		all.Go(func() { failures[i] = b.store.Put(t.Context(), file(fmt.Sprintf("a/%d", i), strconv.Itoa(i))) })
	}
	all.Wait()
	for i, err := range failures {
		require.NoError(t, err)
		b.requireContent(t, fmt.Sprintf("a/%d", i), strconv.Itoa(i))
	}
}

func contended(t *testing.T, b bucket) {
	t.Helper()
	const length = 100_000
	failures := make([]error, 20)
	var all sync.WaitGroup
	for i := range failures {
		all.Go(func() { failures[i] = b.store.Put(t.Context(), file("k", strings.Repeat(string(rune('a'+i)), length))) })
	}
	all.Wait()
	require.NoError(t, errors.Join(failures...))
	got, err := b.ReadAll(t.Context(), "k")
	require.NoError(t, err)
	require.Equal(t, bytes.Repeat(got[:1], length), got)
}

func largeFile(t *testing.T, b bucket) {
	t.Helper()
	const size = 64 << 20
	largest, read := 0, 0
	put := file("large", "")
	put.Content = io.LimitReader(readerFunc(func(into []byte) (int, error) {
		largest, read = max(largest, len(into)), read+len(into)
		return len(into), nil
	}), size)
	require.NoError(t, b.store.Put(t.Context(), put))
	attributes, err := b.Attributes(t.Context(), "large")
	require.NoError(t, err)
	require.EqualValues(t, size, attributes.Size)
	require.Equal(t, size, read, "the file is read once")
	require.LessOrEqual(t, largest, 5<<20, "no read asks for more than a part of the file")
}

func closed(t *testing.T, b bucket) {
	t.Helper()
	require.NoError(t, b.store.Close())
	require.NoError(t, b.store.Close())
	err := b.store.Put(t.Context(), file("k", "x"))
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	_, err = b.ReadAll(t.Context(), "k")
	require.Equal(t, gcerrors.FailedPrecondition, gcerrors.Code(err), "Close closes the bucket")
}

type zeros struct{}

func (zeros) Read(into []byte) (int, error) {
	clear(into)
	return len(into), nil
}

type readerFunc func(into []byte) (int, error)

func (f readerFunc) Read(into []byte) (int, error) { return f(into) }
