package memstore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
)

// filter compiles a filter of keys and values.
func filter(tb testing.TB, pairs ...any) *document.Filter {
	tb.Helper()
	f, err := document.CompileFilter(document.O(pairs...))
	require.NoError(tb, err)
	return f
}

// order compiles a sort of paths and directions.
func order(tb testing.TB, pairs ...any) *document.Sort {
	tb.Helper()
	s, err := document.CompileSort(document.O(pairs...))
	require.NoError(tb, err)
	return s
}

// change compiles an update of operators and operands.
func change(tb testing.TB, pairs ...any) document.Change {
	tb.Helper()
	u, err := document.CompileUpdate(document.O(pairs...))
	require.NoError(tb, err)
	return document.Change{Update: u}
}

// ascending returns the keys of an index on paths.
func ascending(paths ...string) []document.IndexKey {
	keys := make([]document.IndexKey, 0, len(paths))
	for _, path := range paths {
		keys = append(keys, document.IndexKey{Path: path, Kind: document.Ascending})
	}
	return keys
}
