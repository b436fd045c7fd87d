package botctx

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
)

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

// isWaiting reports whether the attempt waits for its turn.
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
