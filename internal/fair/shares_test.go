package fair_test

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/fair"
)

// takeAll takes places for a channel until Take fails, and returns their number.
func takeAll(s *fair.Shares, k fair.Key) int {
	taken := 0
	for s.Take(k) {
		taken++
	}
	return taken
}

func TestShares_LeaveRoomForNewcomers(t *testing.T) {
	t.Parallel()
	s := fair.NewShares(64)
	for _, c := range []struct {
		key  fair.Key
		want int
	}{
		{fair.Key{App: "a", Channel: "1"}, 16},
		{fair.Key{App: "a", Channel: "2"}, 8},
		{fair.Key{App: "a", Channel: "3"}, 4},
		{fair.Key{App: "b", Channel: "1"}, 9},
		{fair.Key{App: "c", Channel: "1"}, 7},
	} {
		require.Equal(t, c.want, takeAll(s, c.key), c.key)
	}
	require.Equal(t, 44, s.Held())
	require.Equal(t, 20, s.Free())
}

func TestShares_OfFewPlaces(t *testing.T) {
	t.Parallel()
	for places, want := range map[int]int{-1: 1, 1: 1, 2: 1, 3: 1, 4: 1, 5: 2, 8: 2, 16: 4} {
		require.Equal(t, want, takeAll(fair.NewShares(places), fair.Key{App: "a"}), places)
	}
}

func TestShares_ReleaseGivesBack(t *testing.T) {
	t.Parallel()
	s, a := fair.NewShares(4), fair.Key{App: "a"}
	require.True(t, s.Take(a))
	require.False(t, s.May(a))
	s.Release(a)
	require.True(t, s.May(a))
	require.Zero(t, s.Held())
}

func TestShares_NeverExceeded(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		places := 1 + random.IntN(70)
		s := fair.NewShares(places)
		held := map[fair.Key]int{}
		ofApp := map[string]int{}
		all := 0
		for range 300 {
			k := fair.Key{App: strconv.Itoa(random.IntN(5)), Channel: strconv.Itoa(random.IntN(4))}
			switch {
			case held[k] > 0 && random.IntN(3) == 0:
				s.Release(k)
				held[k]--
				ofApp[k.App]--
				all--
			default:
				may := s.May(k)
				require.Equal(t, may, s.Take(k))
				if may {
					held[k]++
					ofApp[k.App]++
					all++
					require.LessOrEqual(t, ofApp[k.App], (places-(all-ofApp[k.App])+1)/2)
				} else if held[k] == 0 && ofApp[k.App] == 0 {
					require.Equal(t, places, all, "a newcomer is refused only if all places are taken")
				}
			}
			require.Equal(t, all, s.Held())
			require.LessOrEqual(t, all, places)
		}
	}
}
