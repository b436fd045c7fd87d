package slots_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/script/internal/slots"
)

// stage is a Slots that records which scripts get a slot.
type stage struct {
	*slots.Slots
	t *testing.T

	mu     sync.Mutex
	served []string
}

// wait makes scripts request a slot one after the other. A script's name is its app and a number.
func (s *stage) wait(scripts ...string) {
	for _, script := range scripts {
		go func() {
			if s.Enter(s.t.Context(), script[:1]) == nil {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.served = append(s.served, script)
			}
		}()
		synctest.Wait()
	}
}

// leave releases the slots one after the other until no script waits. It returns all served scripts in order.
func (s *stage) leave() string {
	for left := 0; left < len(s.served); left++ { //nolint:intrange // More are served meanwhile.
		s.Leave(s.served[left][:1])
		synctest.Wait()
	}
	return strings.Join(s.served, " ")
}

func TestSlots_Turns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		slots       int
		come, order string
	}{
		"within an app, the first to come is first": {1, "a1 a2 a3 a4", "a1 a2 a3 a4"},
		"who comes during a run is next":            {1, "a1 a2 a3 a4 b1 b2", "a1 b1 a2 b2 a3 a4"},
		"each app has its turn":                     {1, "a1 a2 a3 b1 b2 c1", "a1 b1 c1 a2 b2 a3"},
		"each slot is free for others after a run":  {2, "a1 a2 a3 a4 a5 b1 b2", "a1 a2 b1 a3 b2 a4 a5"},
		"who holds the fewest is first":             {3, "a1 a2 b1 a3 b2 c1 c2", "a1 a2 b1 c1 a3 b2 c2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &stage{Slots: slots.New(c.slots), t: t}
				s.wait(strings.Fields(c.come)...)
				require.Equal(t, c.order, s.leave())
			})
		})
	}
}

func TestSlots_AThousandOfAnAppDelayAnotherByOneRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const places, run = 4, time.Second
		s := slots.New(places)
		var crowd sync.WaitGroup
		defer crowd.Wait()
		for range 1000 {
			crowd.Go(func() {
				s.Take("crowd")
				defer s.Leave("crowd")
				time.Sleep(run) //nolint:forbidigo // The virtual clock of synctest.
			})
		}
		synctest.Wait()
		for range 20 { // a script that releases its slot before each operation
			asked := time.Now() //nolint:forbidigo // The virtual clock of synctest.
			require.NoError(t, s.Enter(t.Context(), "alone"))
			require.LessOrEqual(t, time.Since(asked), run) //nolint:forbidigo // The same.
			s.Leave("alone")
		}
	})
}

func TestSlots_NobodyStarvesWhileOthersCome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{Slots: slots.New(1), t: t}
		s.wait("a1", "b1", "c1")
		s.Leave("a")
		s.wait("d1", "e1", "f1") // These apps had no turn yet, but c arrived before them.
		require.Equal(t, "a1 b1", strings.Join(s.served, " "))
		s.Leave("b")
		synctest.Wait()
		require.Equal(t, "a1 b1 c1", strings.Join(s.served, " "))
		s.served = s.served[2:]
		require.Equal(t, "c1 d1 e1 f1", s.leave())
	})
}

func TestSlots_GivingUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{Slots: slots.New(1), t: t}
		s.wait("a1")
		ctx, cancel := context.WithCancelCause(t.Context())
		failed := make(chan error)
		go func() { failed <- s.Enter(ctx, "b") }()
		synctest.Wait()
		s.wait("b2", "c1")
		cancel(boterr.Unavailable)
		require.ErrorIs(t, <-failed, boterr.Unavailable)
		require.Equal(t, "a1 b2 c1", s.leave())
		require.NoError(t, s.Enter(ctx, "b"), "a free slot needs no waiting")
	})
}

func TestSlots_GivingUpWhenASlotIsGiven(t *testing.T) {
	t.Parallel()
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			s := slots.New(1)
			s.Take("a")
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				if s.Enter(ctx, "b") == nil {
					s.Leave("b")
				}
			}()
			synctest.Wait()
			cancel()
			s.Leave("a")
			synctest.Wait()
			requireFree(t, s, 1)
		})
	}
}

// TestSlots_NoneIsLost has scripts of several apps that arrive, compute and give up at random times.
func TestSlots_NoneIsLost(t *testing.T) {
	t.Parallel()
	for seed := range uint64(rounds.Of(t, 30, 3000)) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			places := 1 + random.IntN(4)
			s := slots.New(places)
			var mu sync.Mutex
			busy, most := 0, 0
			count := func(change int) {
				mu.Lock()
				defer mu.Unlock()
				busy += change
				most = max(most, busy)
			}
			var all sync.WaitGroup
			for range 100 {
				app := string(rune('a' + random.IntN(5)))
				comes, works, patience := random.IntN(50), random.IntN(5), 1+random.IntN(40)
				all.Go(func() {
					time.Sleep(time.Duration(comes)) //nolint:forbidigo // The virtual clock of synctest.
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(patience))
					defer cancel()
					if s.Enter(ctx, app) != nil {
						return
					}
					for range 2 {
						count(1)
						time.Sleep(time.Duration(works)) //nolint:forbidigo // The virtual clock of synctest.
						count(-1)
						s.Leave(app)
						s.Take(app)
					}
					s.Leave(app)
				})
			}
			all.Wait()
			require.Equal(t, places, most, "seed %d", seed)
			requireFree(t, s, places)
		})
	}
}

// requireFree checks that exactly places slots are free by taking them.
func requireFree(t *testing.T, s *slots.Slots, places int) {
	t.Helper()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range places {
		require.NoError(t, s.Enter(ended, "z"))
	}
	require.ErrorIs(t, s.Enter(ended, "z"), context.Canceled)
}
