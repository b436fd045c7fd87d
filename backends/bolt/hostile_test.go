package bolt_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/storetest"
)

// FuzzCall_AsInMemory searches for small calls that do more than their budget allows, or leave something
// else in a file than in memory. As a test it runs a few of the known ones.
func FuzzCall_AsInMemory(f *testing.F) {
	const size = 1
	documents := storetest.HostileDocuments(size)
	filled := memstore.New()
	require.NoError(f, filled.Collection("c").Insert(f.Context(), documents...))
	for i, call := range storetest.HostileCalls() {
		if i%16 == 3 {
			f.Add(call)
		}
	}
	f.Fuzz(func(t *testing.T, call string) {
		if strings.Contains(call, "NOW") || strings.Contains(call, "$currentDate") {
			t.Skip("the clocks of two stores differ")
		}
		path := newPath(t)
		database, memory := open(t, path), filled.Fork().Collection("c")
		require.NoError(t, database.Collection("c").Insert(t.Context(), documents...))
		outcome, failed := storetest.RunHostile(t, call, size, database.Collection("c"))
		want, wantFailed := storetest.RunHostile(t, call, size, memory)
		require.Equal(t, fmt.Sprint(wantFailed), fmt.Sprint(failed))
		require.Equal(t, digest(want), digest(outcome), "the outcomes differ")
		require.NoError(t, database.Close())
		kept, err := memory.Find(t.Context(), nil, store.FindOptions{})
		require.NoError(t, err)
		stored, err := open(t, path).Collection("c").Find(t.Context(), nil, store.FindOptions{})
		require.NoError(t, err)
		require.Equal(t, digest(kept), digest(stored), "the file holds something else than memory")
	})
}

// digest stands for a long value, which no failure shall print.
func digest(value any) [sha256.Size]byte { return sha256.Sum256(fmt.Append(nil, value)) }
