package fair_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/internal/rounds"
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

// add adds queues for channels, written as "app/channel".
func add(r *fair.Ring[string], names ...string) {
	for _, name := range names {
		r.Get(key(name), func() string { return name })
	}
}

// key returns the Key for "app/channel", where both have one letter.
func key(name string) fair.Key { return fair.Key{App: name[:1], Channel: name[2:]} }

// turns calls Next n times, and returns the queues that it found. The queues in but may not be served.
func turns(r *fair.Ring[string], n int, but ...string) []string {
	var names []string
	for range n {
		_, name, ok := r.Next(func(k fair.Key) bool { return !slices.Contains(but, k.App+"/"+k.Channel) })
		if ok {
			names = append(names, name)
		}
	}
	return names
}

func TestRing_AppsAndTheirChannelsTakeTurns(t *testing.T) {
	t.Parallel()
	var r fair.Ring[string]
	add(&r, "a/1", "a/2", "a/3", "b/1", "c/1")
	require.Equal(t, []string{"a/1", "b/1", "c/1", "a/2", "b/1", "c/1", "a/3", "b/1"}, turns(&r, 8))
}

func TestRing_PassesOverWhatMayNot(t *testing.T) {
	t.Parallel()
	var r fair.Ring[string]
	add(&r, "a/1", "a/2", "b/1")
	require.Equal(t, []string{"a/2", "b/1", "a/2"}, turns(&r, 3, "a/1"))
	require.Empty(t, turns(&r, 1, "a/1", "a/2", "b/1"))
	require.Equal(t, []string{"b/1", "a/1"}, turns(&r, 2), "a queue that was skipped keeps its turn")
}

func TestRing_Drop(t *testing.T) {
	t.Parallel()
	var r fair.Ring[string]
	add(&r, "a/1", "a/2", "b/1")
	r.Drop(key("a/1"))
	r.Drop(key("b/1"))
	r.Drop(key("b/2"))
	r.Drop(key("x/1"))
	require.Equal(t, 1, r.Len())
	_, ok := r.Find(key("b/1"))
	require.False(t, ok)
	found, ok := r.Find(key("a/2"))
	require.True(t, ok)
	require.Equal(t, "a/2", found)
	require.Equal(t, []string{"a/2", "a/2"}, turns(&r, 2))
}

func TestRing_All(t *testing.T) {
	t.Parallel()
	var r fair.Ring[string]
	add(&r, "a/1", "b/1", "a/2")
	turns(&r, 1)
	var names []string
	r.All(func(_ fair.Key, name string) bool {
		names = append(names, name)
		return len(names) < 2
	})
	require.Equal(t, []string{"b/1", "a/2"}, names)
}

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

// Callers of several channels come, work and give up at random times. No place may be lost or given twice.
func TestPlaces_NoneIsLost(t *testing.T) {
	t.Parallel()
	for seed := range uint64(rounds.Of(t, 30, 3000)) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			free := fair.Count(1 + random.IntN(4))
			count, places := int64(free), fair.NewPlaces(&free)
			var busy atomic.Int64
			var all sync.WaitGroup
			for range 100 {
				name := string(rune('a'+random.IntN(5))) + "/" + string(rune('1'+random.IntN(2)))
				comes, works, patience := random.IntN(50), random.IntN(5), 1+random.IntN(40)
				all.Go(func() {
					time.Sleep(time.Duration(comes)) //nolint:forbidigo // The virtual clock of synctest.
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(patience))
					defer cancel()
					for range 2 {
						if places.Take(ctx, key(name)) != nil {
							return
						}
						require.LessOrEqual(t, busy.Add(1), count, "seed %d", seed)
						time.Sleep(time.Duration(works)) //nolint:forbidigo // The virtual clock of synctest.
						busy.Add(-1)
						places.Release(key(name))
					}
				})
			}
			all.Wait()
			require.EqualValues(t, count, free, "seed %d", seed)
		})
	}
}
