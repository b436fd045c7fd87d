package memstore

import (
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/memstore/internal/persistent"
)

func TestIDIndex_SameHash(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	x, held := newIDIndex(), &documents{}
	x.hashing.mask = 3
	model := map[string]uint64{}
	for position := range uint64(3_000) {
		id, edit := strconv.Itoa(random.IntN(60)), persistent.Edit(position+1)
		at, _, found := x.find(held, id)
		expected, exists := model[id]
		byKey, foundKey := x.findKey(held, document.AppendKey(nil, id))
		require.Equal(t, exists, foundKey, id)
		require.Equal(t, at, byKey)
		require.Equal(t, exists, found, id)
		switch {
		case !exists:
			x.add(edit, position, id)
			held.Set(edit, position, document.O("_id", id))
			model[id] = position
		case random.IntN(2) == 0:
			require.Equal(t, expected, at)
			x.remove(edit, at, id)
			held.Delete(edit, at)
			delete(model, id)
		}
	}
}

func TestVersions_UnreadAreFreed(t *testing.T) {
	t.Parallel()
	c := New().collection("c")
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 1)))
	v, err := c.Port.Read(t.Context())
	require.NoError(t, err)
	now, _ := v.Source.(*content)
	v.Source = nil
	old := weak.Make(now)
	now = nil
	for id := range 3 {
		require.NoError(t, c.Insert(t.Context(), document.O("_id", id+2)))
	}
	runtime.GC() //nolint:revive // The test is about the memory that it frees.
	require.Nil(t, old.Value())
	runtime.KeepAlive(c)
	require.Nil(t, now)
}

// WithShortTurns allows a write no check of its context in its first turn, so that all writes that search for
// documents run without the lock.
func WithShortTurns() Option { return func(s *Store) { s.firstLooks = 0 } }
