package botctx

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
)

// TestMemberLocks_Simulation compares with a simulation: a wait never ends
// where some run is left when each run ends that nothing nested in it keeps from it.
func TestMemberLocks_Simulation(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	failed := 0
	for range 300 {
		synctest.Test(t, func(t *testing.T) {
			l := newLockTest()
			s := &simulation{queues: map[string][]*attempt{}}
			for step := range 40 {
				switch a := s.pick(random); {
				case a == nil || random.IntN(3) > 0:
					failed += s.start(t, l, a, step, random)
				case a.isWaiting():
					a.cancel()
					synctest.Wait()
					require.ErrorIs(t, a.err, boterr.Canceled)
					s.remove(a)
				case !l.nestedIn(a) || random.IntN(3) == 0:
					l.finish(a)
					s.remove(a)
				}
				s.requireSame(t)
			}
			l.drain(t)
		})
	}
	require.Greater(t, failed, 500)
}

// simulation holds the runs of each member, of which the first one has its turn.
type simulation struct{ queues map[string][]*attempt }

// pick returns one of the runs, or nil.
func (s *simulation) pick(random *rand.Rand) *attempt {
	all := slices.Concat(s.queues["a"], s.queues["b"], s.queues["c"], s.queues["d"])
	if len(all) == 0 {
		return nil
	}
	return all[random.IntN(len(all))]
}

// start starts a run, nested in another one if that has its turn, and returns 1 if it
// failed as it should have.
func (s *simulation) start(t *testing.T, l *lockTest, parent *attempt, step int, random *rand.Rand) int {
	t.Helper()
	member := string("abcd"[random.IntN(4)])
	name := fmt.Sprint(member, step)
	if parent != nil && parent.isHeld() && random.IntN(8) > 0 {
		name = nameOf(l, parent) + ">" + name
	} else {
		parent = nil
	}
	expected := &attempt{parent: parent}
	next := &simulation{queues: maps.Clone(s.queues)}
	next.queues[member] = append(slices.Clip(next.queues[member]), expected)
	neverEnds := !next.ends()
	started := l.start(t, name)
	require.Equal(t, neverEnds, errors.Is(started.err, boterr.FailedPrecondition), "%s: %v", name, started.err)
	if neverEnds {
		return 1
	}
	s.queues[member] = append(s.queues[member], started)
	return 0
}

// nameOf returns the name of an attempt.
func nameOf(l *lockTest, a *attempt) string {
	for name, other := range l.attempts {
		if other == a {
			return name
		}
	}
	return ""
}

// remove takes a run out.
func (s *simulation) remove(a *attempt) {
	for member, queue := range s.queues {
		s.queues[member] = slices.DeleteFunc(slices.Clone(queue), func(other *attempt) bool { return other == a })
	}
}

// ends reports whether all runs end. It leaves those that do not.
func (s *simulation) ends() bool {
	for goesOn := true; goesOn; {
		goesOn = false
		for member, queue := range s.queues {
			if len(queue) > 0 && !s.hasNested(queue[0]) {
				s.queues[member] = queue[1:]
				goesOn = true
			}
		}
	}
	for _, queue := range s.queues {
		if len(queue) > 0 {
			return false
		}
	}
	return true
}

// hasNested reports whether a run has others nested in it.
func (s *simulation) hasNested(a *attempt) bool {
	for _, queue := range s.queues {
		if slices.ContainsFunc(queue, func(other *attempt) bool { return other.parent == a }) {
			return true
		}
	}
	return false
}

// requireSame compares which runs have their turns, and which wait.
func (s *simulation) requireSame(t *testing.T) {
	t.Helper()
	for member, queue := range s.queues {
		for i, a := range queue {
			require.Equal(t, i == 0, a.isHeld(), "run %d of %s", i, member)
			require.Equal(t, i > 0, a.isWaiting(), "run %d of %s", i, member)
		}
	}
}

// crowd is many runs at once that redirect at random.
type crowd struct {
	locks memberLocks
	// busy and runs are those of each member; runs is guarded by the member's turn.
	busy [5]atomic.Bool
	runs [5]int
	// outcomes counts the codes of errors.
	outcomes sync.Map
	// givesUp tells that contexts end at any time.
	givesUp bool
	broken  atomic.Bool
}

// run takes the turn of a random member, and redirects others from within.
func (c *crowd) run(ctx context.Context, random *rand.Rand, parent *turn, depth int) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if yields := random.IntN(100); c.givesUp && random.IntN(3) == 0 {
		go func() {
			for range yields {
				runtime.Gosched()
			}
			cancel()
		}()
	}
	member := random.IntN(len(c.busy))
	own, err := c.locks.acquire(ctx, memberKey{"app", strconv.Itoa(member)}, parent)
	counter, _ := c.outcomes.LoadOrStore(boterr.CodeOf(err), new(atomic.Int64))
	counter.(*atomic.Int64).Add(1)
	if err != nil {
		return
	}
	defer c.locks.release(own)
	if !c.busy[member].CompareAndSwap(false, true) {
		c.broken.Store(true)
	}
	c.runs[member]++
	var nested sync.WaitGroup
	for range min(random.IntN(4), depth) {
		seed := random.Uint64()
		nested.Go(func() { c.run(ctx, rand.New(rand.NewPCG(seed, 0)), own, depth-1) })
	}
	runtime.Gosched()
	nested.Wait()
	c.busy[member].Store(false)
}

// count returns how many attempts ended with a code.
func (c *crowd) count(code boterr.Code) int {
	counter, ok := c.outcomes.Load(code)
	if !ok {
		return 0
	}
	return int(counter.(*atomic.Int64).Load())
}

func TestMemberLocks_Crowd(t *testing.T) {
	t.Parallel()
	for _, givesUp := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := &crowd{givesUp: givesUp}
			var all sync.WaitGroup
			for i := range 400 {
				all.Go(func() { c.run(t.Context(), rand.New(rand.NewPCG(uint64(i), 1)), nil, 3) })
			}
			all.Wait()
			require.False(t, c.broken.Load(), "two runs had one member")
			require.Empty(t, c.locks.held)
			turns := 0
			for _, runs := range c.runs {
				turns += runs
			}
			require.Equal(t, c.count(""), turns)
			outcomes := 0
			c.outcomes.Range(func(_, counter any) bool {
				outcomes += int(counter.(*atomic.Int64).Load())
				return true
			})
			require.Equal(t, outcomes, turns+c.count(boterr.FailedPrecondition)+c.count(boterr.Canceled))
			require.Positive(t, c.count(boterr.FailedPrecondition))
			require.Equal(t, givesUp, c.count(boterr.Canceled) > 0)
		})
	}
}

// BenchmarkMemberLocks tells what a turn costs that nobody waits for, and what one
// costs that others wait for.
func BenchmarkMemberLocks(b *testing.B) {
	b.Run("alone", func(b *testing.B) {
		var l memberLocks
		b.ReportAllocs()
		for b.Loop() {
			t, err := l.acquire(b.Context(), memberKey{"app", "member"}, nil)
			if err != nil {
				b.Fatal(err)
			}
			l.release(t)
		}
	})
	b.Run("many members", func(b *testing.B) {
		var l memberLocks
		var workers atomic.Int64
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			key := memberKey{"app", strconv.FormatInt(workers.Add(1), 10)}
			for pb.Next() {
				t, err := l.acquire(b.Context(), key, nil)
				if err != nil {
					b.Error(err)
					return
				}
				l.release(t)
			}
		})
	})
	b.Run("one member", func(b *testing.B) {
		var l memberLocks
		b.ReportAllocs()
		b.SetParallelism(50)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				t, err := l.acquire(b.Context(), memberKey{"app", "member"}, nil)
				if err != nil {
					b.Error(err)
					return
				}
				l.release(t)
			}
		})
	})
}
