package bolt_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/bolt"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/store"
)

// oneMoreCommit returns a file before and after its last commit, and what it held before and
// holds after.
func oneMoreCommit(t *testing.T, path string) (older, newer []byte, before, after []string) { //nolint:revive // Two files and what they hold.
	t.Helper()
	filled(t, path)
	for round := range 6 {
		older, before = newer, after
		database := open(t, path)
		_, err := database.Collection("a").Update(t.Context(), filter(t, "_id", document.O("$lt", 50)),
			change(t, "$set", document.O("round", round)), store.UpdateOptions{Multi: true})
		require.NoError(t, err)
		after = all(t, database)
		require.NoError(t, database.Close())
		newer, err = os.ReadFile(path)
		require.NoError(t, err)
	}
	return older, newer, before, after
}

// The heads of the commit before can come back with any of its pages: then what is there is the
// state before, which is no damage that a check of it could find. Where the page of the newer
// commit that has its number is still there, that is reported.
func TestDamage_OldAndNewPagesMixed(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	older, newer, before, after := oneMoreCommit(t, path)
	mark := append([]byte("commit"), key(max(newer[pageSize+64], newer[64]))...)
	require.True(t, bytes.Contains(newer, mark))
	require.False(t, bytes.Contains(older, mark))
	random := rand.New(rand.NewPCG(7, 7))
	told, untold, refused := 0, 0, 0
	count := rounds.Of(t, 60, 300)
	for round := range count {
		mixed := bytes.Clone(newer)
		for at := 0; at+pageSize <= min(len(older), len(newer)); at += pageSize {
			if random.IntN(2) == 0 || round%2 == 0 && at < 2*pageSize {
				copy(mixed[at:][:pageSize], older[at:])
			}
		}
		require.NoError(t, os.WriteFile(path, mixed, 0o600))
		store, err := bolt.Open(path)
		if err != nil {
			require.ErrorIs(t, err, boterr.FailedPrecondition)
			refused++
			continue
		}
		if held := all(t, store); !slices.Equal(held, after) {
			require.Equal(t, before, held)
			require.Equal(t, bytes.Contains(mixed, mark), store.Stats().HasFallenBack)
			if store.Stats().HasFallenBack {
				told++
			} else {
				untold++
			}
		}
		require.NoError(t, store.Close())
	}
	require.Greater(t, refused, count*2/15)
	require.Greater(t, told, count*2/15)
	require.Greater(t, untold, count*2/15, "where the page is gone as well, nothing tells")
}
