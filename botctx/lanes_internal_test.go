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
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// sharedStore is a store that other processes may work on.
type sharedStore struct{ store.Store }

// An agenda gives way where another run waits already: for the member, or on a store that processes
// share, where runs wait for the lane first, for that.
func TestAgendaWait_NothingWhereAnotherRunWaits(t *testing.T) {
	t.Parallel()
	runtime, err := New(Config{Store: sharedStore{memstore.New()}})
	require.NoError(t, err)
	wanted := wantedTurns{member: memberKey{app: "shop", member: "ada"}, lane: "lane"}
	for name, key := range map[string]memberKey{"lane": laneKey("lane"), "member": wanted.member} {
		holder := &turn{key: key}
		require.NoError(t, runtime.locks.enter(holder))
		require.Equal(t, time.Second, runtime.agendaWait(wanted), name)
		waiting := &turn{key: key}
		require.NoError(t, runtime.locks.enter(waiting))
		require.Zero(t, runtime.agendaWait(wanted), name)
		runtime.locks.release(holder)
		runtime.locks.release(waiting)
	}
}

// A circle that another run has closed passes when that run ends; one of a run's own never does.
func TestOrPassing_CircleOfAnotherRun(t *testing.T) {
	t.Parallel()
	var locks memberLocks
	ada, bob := memberKey{member: "ada"}, memberKey{member: "bob"}
	ofAda, ofBob := &turn{key: ada}, &turn{key: bob}
	require.NoError(t, locks.enter(ofAda))
	require.NoError(t, locks.enter(ofBob))
	require.NoError(t, locks.enter(&turn{key: bob, parent: ofAda}), "it waits")

	another := locks.enter(&turn{key: ada, parent: ofBob})
	require.Equal(t, boterr.FailedPrecondition, boterr.CodeOf(another))
	require.Equal(t, boterr.Unavailable, boterr.CodeOf(forInbox(boterr.PrefixField("memberId", another))))

	own := locks.enter(&turn{key: ada, parent: ofAda})
	require.Equal(t, boterr.FailedPrecondition, boterr.CodeOf(own))
	require.Equal(t, boterr.FailedPrecondition, boterr.CodeOf(forInbox(own)))
}

func TestOnWait_IsToldOfWhoWaits(t *testing.T) {
	t.Parallel()
	var told []string
	l := &memberLocks{}
	key := memberKey{app: "app", member: "ada"}
	first, err := l.acquire(t.Context(), key, nil)
	require.NoError(t, err)
	l.onWait = func(_ context.Context, member string, begun <-chan struct{}) {
		told = append(told, member)
		l.release(first)
		<-begun // The turn has come.
	}
	second, err := l.acquire(t.Context(), key, nil)
	require.NoError(t, err)
	l.release(second)
	_, err = l.acquire(t.Context(), key, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"ada"}, told, "who need not wait is not told of")
}

func TestOnWait_APanicLeavesTheQueue(t *testing.T) {
	t.Parallel()
	l := &memberLocks{onWait: func(context.Context, string, <-chan struct{}) { panic("the host's") }}
	key := memberKey{app: "app", member: "ada"}
	first, err := l.acquire(t.Context(), key, nil)
	require.NoError(t, err)
	require.PanicsWithValue(t, "the host's", func() { _, _ = l.acquire(t.Context(), key, nil) })
	require.False(t, l.hasQueue(key))
	l.release(first)
	_, err = l.acquire(t.Context(), key, nil)
	require.NoError(t, err, "nobody has the member")
}

// attempt is a call of acquire in a goroutine of its own.
type attempt struct {
	parent *attempt
	cancel context.CancelFunc
	turn   *turn
	err    error
	// isOver tells that the call has returned, isReleased that so was its turn.
	isOver, isReleased bool
}

// isHeld reports whether the attempt has the member's turn.
func (a *attempt) isHeld() bool { return a.turn != nil && !a.isReleased }

func (a *attempt) isWaiting() bool { return !a.isOver }

// lockTest is a table of locks, and the attempts on it by their names: "a>b" is the run
// of member b that is nested in the run "a". A digit behind a member tells apart what
// would have the same name.
type lockTest struct {
	memberLocks

	attempts map[string]*attempt
}

// newLockTest returns locks without attempts. It is for a bubble, in which an attempt
// that waits for ever is a failure.
func newLockTest() *lockTest { return &lockTest{attempts: map[string]*attempt{}} }

// start begins an attempt, and returns when it has its turn, has failed or waits.
func (l *lockTest) start(t *testing.T, name string) *attempt {
	t.Helper()
	parent, own, isNested := cutLast(name)
	a := &attempt{}
	var outer *turn
	if isNested {
		a.parent = l.attempts[parent]
		require.NotNil(t, a.parent, "%s is nested in what there is not", name)
		outer = a.parent.turn
	}
	var ctx context.Context
	ctx, a.cancel = context.WithCancel(t.Context())
	l.attempts[name] = a
	go func() {
		a.turn, a.err = l.acquire(ctx, memberKey{"app", own[:1]}, outer)
		a.isOver = true
	}()
	synctest.Wait()
	return a
}

// cutLast cuts a name in what is before the last ">" and what is behind it.
func cutLast(name string) (before, after string, found bool) {
	at := strings.LastIndex(name, ">")
	return name[:max(at, 0)], name[at+1:], at >= 0
}

// finish releases the turn of an attempt.
func (l *lockTest) finish(a *attempt) {
	l.release(a.turn)
	a.isReleased = true
	synctest.Wait()
}

// nestedIn reports whether runs that wait or hold a member are nested in an attempt.
func (l *lockTest) nestedIn(a *attempt) bool {
	for _, other := range l.attempts {
		if other.parent == a && (other.isWaiting() || other.isHeld()) {
			return true
		}
	}
	return false
}

// drain ends one run after the other, those that others are nested in after these,
// until all that waited have had their turn.
func (l *lockTest) drain(t *testing.T) {
	t.Helper()
	for range len(l.attempts) {
		for _, name := range slices.Sorted(maps.Keys(l.attempts)) {
			if a := l.attempts[name]; a.isHeld() && !l.nestedIn(a) {
				l.finish(a)
			}
		}
	}
	for name, a := range l.attempts {
		require.False(t, a.isWaiting(), "%s still waits", name)
		a.cancel()
		if own := a.turn; own != nil {
			require.False(t, own.isHeld)
			for _, other := range []*turn{own.first, own.last, own.previous, own.next} {
				require.Nil(t, other, "a turn that has ended keeps no other ones in memory")
			}
		}
	}
	require.Empty(t, l.held, "a member without a run needs no memory")
}

func TestMemberLocks_Order(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLockTest()
		names := []string{"a1", "a2", "a3", "a4", "a5"}
		for _, name := range names {
			l.start(t, name)
		}
		for i, name := range names {
			require.True(t, l.attempts[name].isHeld())
			for _, later := range names[i+1:] {
				require.True(t, l.attempts[later].isWaiting())
			}
			l.finish(l.attempts[name])
		}
		l.drain(t)
	})
}

func TestMemberLocks_Others(t *testing.T) {
	t.Parallel()
	var l memberLocks
	for _, key := range []memberKey{{"app1", "a"}, {"app1", "b"}, {"app2", "a"}} {
		_, err := l.acquire(t.Context(), key, nil)
		require.NoError(t, err)
	}
}

func TestMemberLocks_Deadlock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rule, runs, circle string }{
		{"a run that redirects back", "a a>b a>b>a2", "a waits for b, which waits for a"},
		{"a run that redirects back over two", "a a>b a>b>c a>b>c>a2", "a waits for b, which waits for c, which waits for a"},
		{"a circle within a run", "a a>b a>b>c a>b>c>b2", "b waits for c, which waits for b"},
		{"a run that waits for its own member", "a a>a2", "a waits for a"},
		{"two members", "a b a>b2 b>a2", "b waits for a, which waits for b"},
		{"two members in the other order", "a b b>a2 a>b2", "a waits for b, which waits for a"},
		{"three members", "a b c a>b2 b>c2 c>a2", "c waits for a, which waits for b, which waits for c"},
		{"three members in another order", "a b c c>a2 b>c2 a>b2", "a waits for b, which waits for c, which waits for a"},
		{"a nested run that holds one of them", "a a>b c c>a2 a>b>c2", "a waits for b, which waits for c, which waits for a"},
		{"nested runs on both sides", "a a>b c c>d c>d>b2 a>b>c2", "b waits for c, which waits for d, which waits for b"},
		{"the first of several nested waits", "a b c a>b2 a>c2 b>a2", "b waits for a, which waits for b"},
		{"the last of several nested waits", "a b c a>b2 a>c2 c>a2", "c waits for a, which waits for c"},
		{"several waits within nested runs", "a b c a>d a>e a>d>b2 a>e>c2 c>a2", "c waits for a, which waits for e, which waits for c"},
		{"a wait behind one that has nothing to do with it", "a b b3 a>b2 b>a2", "b waits for a, which waits for b"},
		{"a wait that comes to stand behind another one", "a b a>b2 a3 b>a2", "b waits for a, which waits for b"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := newLockTest()
				runs := strings.Fields(c.runs)
				last := len(runs) - 1
				for _, name := range runs[:last] {
					require.NoError(t, l.start(t, name).err, name)
				}
				failed := l.start(t, runs[last])
				require.ErrorIs(t, failed.err, boterr.FailedPrecondition)
				require.ErrorContains(t, failed.err, ": "+c.circle+";")
				require.Nil(t, failed.turn)
				l.drain(t) // The others go on.
				for _, name := range runs[:last] {
					require.NoError(t, l.attempts[name].err, name)
				}
			})
		})
	}
}

func TestMemberLocks_NoDeadlock(t *testing.T) {
	t.Parallel()
	for rule, runs := range map[string]string{
		"for a member who is busy":                          "a b a>b2",
		"for two members at the same time":                  "a b c a>b2 a>c2",
		"of two nested runs for one member":                 "a b a>b2 a>b3",
		"for a member whom a run beside it has":             "a a>b a>b2",
		"for a member who waits for another one":            "a b c b>c2 a>b2",
		"for a member whom a nested run of another one has": "a b b>c a>c2",
		"behind another run that waits":                     "a b a>b2 c c>b3",
		"while others wait for the same run":                "a b a2 a3 a>b2",
		"for one who waits for a nested run that goes on":   "a b a>c b>c2 a>b2",
		"for two members of whom one waits for the other":   "a b c c>a2 a>b2 c>b3",
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := newLockTest()
				var last *attempt
				for name := range strings.FieldsSeq(runs) {
					last = l.start(t, name)
					require.NoError(t, last.err, name)
				}
				require.True(t, last.isWaiting())
				l.drain(t)
				for name, a := range l.attempts {
					require.NoError(t, a.err, name)
				}
			})
		})
	}
}

func TestMemberLocks_Outlives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLockTest()
		for _, name := range []string{"a", "b", "a>b2", "a3"} {
			l.start(t, name)
		}
		l.finish(l.attempts["a"])
		require.True(t, l.attempts["a3"].isHeld())
		require.True(t, l.attempts["a>b2"].isWaiting())
		require.True(t, l.start(t, "b>a2").isWaiting(), "a's first run has ended, and its second one does not wait for b")
		l.drain(t)
	})
	synctest.Test(t, func(t *testing.T) {
		l := newLockTest()
		for _, name := range []string{"a", "a>b", "c", "a>b>c2"} {
			l.start(t, name)
		}
		l.finish(l.attempts["a>b"])
		require.True(t, l.start(t, "c>a2").isWaiting(), "a waited for b alone, whose run has ended")
		l.drain(t)
	})
}

func TestMemberLocks_ContextEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLockTest()
		for _, name := range []string{"a1", "a2", "a3", "a4", "a5"} {
			l.start(t, name)
		}
		for _, name := range []string{"a3", "a2", "a5"} { // From the middle, the beginning and the end.
			l.attempts[name].cancel()
			synctest.Wait()
			require.ErrorIs(t, l.attempts[name].err, boterr.Canceled)
			require.ErrorIs(t, l.attempts[name].err, context.Canceled)
			require.Nil(t, l.attempts[name].turn)
		}
		l.start(t, "a6")
		l.finish(l.attempts["a1"])
		require.True(t, l.attempts["a4"].isHeld())
		l.finish(l.attempts["a4"])
		require.True(t, l.attempts["a6"].isHeld())
		l.drain(t)
	})
}

func TestMemberLocks_GivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLockTest()
		for _, name := range []string{"a", "b", "a>b2"} {
			l.start(t, name)
		}
		l.attempts["a>b2"].cancel()
		synctest.Wait()
		require.True(t, l.start(t, "b>a2").isWaiting())
		l.drain(t)
	})
}

func TestMemberLocks_EndedContext(t *testing.T) {
	t.Parallel()
	var l memberLocks
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the host shuts down")
	cancel(cause)
	_, err := l.acquire(ctx, memberKey{"app", "a"}, nil)
	require.ErrorIs(t, err, boterr.Canceled)
	require.ErrorIs(t, err, cause)
	require.Empty(t, l.held)
}

func TestMemberLocks_LateTurn(t *testing.T) {
	t.Parallel()
	outcomes := map[bool]int{}
	for i := range 50 {
		synctest.Test(t, func(t *testing.T) {
			l := newLockTest()
			for _, name := range []string{"a1", "a2", "a3"} {
				l.start(t, name)
			}
			second := l.attempts["a2"]
			if i%2 == 0 { // The waiting goroutine has no time to notice before both have happened.
				second.cancel()
				l.finish(l.attempts["a1"])
			} else {
				l.release(l.attempts["a1"].turn)
				second.cancel()
				l.finish(l.attempts["a1"])
			}
			outcomes[second.isHeld()]++
			if !second.isHeld() {
				require.ErrorIs(t, second.err, boterr.Canceled)
				require.True(t, l.attempts["a3"].isHeld())
			}
			l.drain(t)
			require.NoError(t, l.attempts["a3"].err)
		})
	}
	require.Len(t, outcomes, 2, "both come about")
}

func TestMemberLocks_ReleaseTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLockTest()
		for _, name := range []string{"a1", "a2", "a3"} {
			l.start(t, name)
		}
		l.finish(l.attempts["a1"])
		l.finish(l.attempts["a1"])
		require.True(t, l.attempts["a2"].isHeld())
		require.True(t, l.attempts["a3"].isWaiting())
		require.True(t, l.start(t, "a4").isWaiting())
		l.drain(t)
	})
}

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
