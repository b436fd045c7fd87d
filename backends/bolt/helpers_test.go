package bolt_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/bolt"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// open opens the store in a file, which is closed at the end of the test.
func open(tb testing.TB, path string, options ...bolt.Option) *bolt.Store {
	tb.Helper()
	store, err := bolt.Open(path, options...)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, store.Close()) })
	return store
}

// newPath returns the path of a file that is not there.
func newPath(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(tb.TempDir(), "store.db")
}

// contents returns the documents of a collection as texts.
func contents(tb testing.TB, database store.Store, collection string) []string {
	tb.Helper()
	found, err := database.Collection(collection).Find(tb.Context(), nil, store.FindOptions{})
	require.NoError(tb, err)
	texts := make([]string, 0, len(found))
	for _, o := range found {
		texts = append(texts, o.String())
	}
	return texts
}

// put inserts documents with these _ids.
func put(tb testing.TB, store store.Store, collection string, ids ...any) {
	tb.Helper()
	for _, id := range ids {
		require.NoError(tb, store.Collection(collection).Insert(tb.Context(), document.O("_id", id)))
	}
}

// filter compiles a filter of keys and values.
func filter(tb testing.TB, pairs ...any) *query.Filter {
	tb.Helper()
	f, err := query.CompileFilter(document.O(pairs...))
	require.NoError(tb, err)
	return f
}

// change compiles an update of operators and operands.
func change(tb testing.TB, pairs ...any) query.Change {
	tb.Helper()
	u, err := query.CompileUpdate(document.O(pairs...))
	require.NoError(tb, err)
	return query.Change{Update: u}
}

// ascending returns the keys of an index on a path.
func ascending(path string) []store.IndexKey {
	return []store.IndexKey{{Path: path, Kind: query.Ascending}}
}
