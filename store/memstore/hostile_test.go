package memstore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/storetest"
)

// FuzzCall_IsBounded searches for small calls that do more than their budget allows. As a test it runs one in eight of
// the known ones, or all in thorough tests.
func FuzzCall_IsBounded(f *testing.F) {
	const size = 1
	filled := memstore.New()
	documents := storetest.HostileDocuments(size)
	require.NoError(f, filled.Collection("c").Insert(f.Context(), documents...))
	for i, call := range storetest.HostileCalls() {
		if i%8 == 0 || rounds.Thorough(f) {
			f.Add(call)
		}
	}
	f.Fuzz(func(t *testing.T, call string) {
		c := filled.Fork().Collection("c")
		_, failed := storetest.RunHostile(t, call, size, c)
		after, err := c.Find(t.Context(), nil, store.FindOptions{})
		require.NoError(t, err)
		if failed != nil {
			require.Len(t, after, len(documents), "nothing is half done")
			for i, o := range after {
				require.True(t, document.Identical(documents[i], o), "nothing is half done")
			}
		}
	})
}
