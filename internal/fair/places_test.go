package fair_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/fair"
)

func TestPlaces_AppsTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		places := fair.NewPlaces(new(fair.Count(1)))
		require.NoError(t, places.Take(t.Context(), key("a/1")))
		var order []string
		for _, name := range []string{"a/1", "a/1", "a/2", "b/1"} {
			go func() {
				_ = places.Take(t.Context(), key(name))
				order = append(order, name)
			}()
			synctest.Wait()
		}
		for range 4 {
			places.Release(key("a/1"))
			synctest.Wait()
		}
		require.Equal(t, []string{"a/1", "b/1", "a/2", "a/1"}, order)
	})
}

func TestPlaces_ContextEnds(t *testing.T) {
	t.Parallel()
	places := fair.NewPlaces(new(fair.Count(1)))
	require.NoError(t, places.Take(t.Context(), key("a/1")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, places.Take(ctx, key("b/1")), context.Canceled)
	places.Release(key("a/1"))
	require.NoError(t, places.Take(t.Context(), key("a/1")), "the place is free again")
}
