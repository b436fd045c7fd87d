package memstore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// filter compiles a filter of keys and values.
func filter(tb testing.TB, pairs ...any) *query.Filter {
	tb.Helper()
	f, err := query.CompileFilter(document.O(pairs...))
	require.NoError(tb, err)
	return f
}

// order compiles a sort of paths and directions.
func order(tb testing.TB, pairs ...any) *query.Sort {
	tb.Helper()
	s, err := query.CompileSort(document.O(pairs...))
	require.NoError(tb, err)
	return s
}

// change compiles an update of operators and operands.
func change(tb testing.TB, pairs ...any) query.Change {
	tb.Helper()
	u, err := query.CompileUpdate(document.O(pairs...))
	require.NoError(tb, err)
	return query.Change{Update: u}
}

// ascending returns the keys of an index on paths.
func ascending(paths ...string) []store.IndexKey {
	keys := make([]store.IndexKey, 0, len(paths))
	for _, path := range paths {
		keys = append(keys, store.IndexKey{Path: path, Kind: query.Ascending})
	}
	return keys
}
