package bounded_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/bounded"
)

func TestCache_KeepsAtMostMax(t *testing.T) {
	t.Parallel()
	cache := bounded.Cache[int, int]{Max: 3}
	for key := range 10 {
		cache.Keep(key, key+1)
		require.Equal(t, key+1, cache.Get(key))
		cache.Keep(key, key+1) // It is not one more.
		kept := 0
		cache.Remove(func(int, int) bool {
			kept++
			return false
		})
		require.Equal(t, min(key+1, 3), kept)
	}
	require.Equal(t, 10, cache.GetOr(9, func() int { return 0 }))
	require.Equal(t, 7, cache.GetOr(100, func() int { return 7 }))
	cache.Remove(func(_, value int) bool { return value == 7 })
	require.Zero(t, cache.Get(100))
}
