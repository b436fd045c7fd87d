package botctx

import (
	"context"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// sharedStore hides the method of store.Watcher, so that a Runtime treats the store as shared with other processes.
type sharedStore struct{ store.Store }

// An agenda does not wait if another run is already waiting.
func TestAgendaWait_NothingWhereAnotherRunWaits(t *testing.T) {
	t.Parallel()
	runtime, err := New(Config{Store: sharedStore{memstore.New()}})
	require.NoError(t, err)
	lane := laneKey{name: "lane"}
	require.True(t, runtime.locks.enter(&lock{key: lane}))
	require.Equal(t, time.Second, runtime.maxWait(&run{agenda: &agenda.Run{}}, lane))
	require.False(t, runtime.locks.enter(&lock{key: lane}))
	require.Zero(t, runtime.maxWait(&run{agenda: &agenda.Run{}}, lane))
}

func TestOnWait_IsToldOfWhoWaits(t *testing.T) {
	t.Parallel()
	var told []string
	l := &laneLocks{}
	key := laneKey{app: "app", name: "ada"}
	first, second, third := &lock{key: key}, &lock{key: key}, &lock{key: key}
	require.NoError(t, l.acquire(t.Context(), first))
	l.onWait = func(_ context.Context, member string, begun <-chan struct{}) {
		told = append(told, member)
		l.release(first)
		<-begun // The run has the lane.
	}
	require.NoError(t, l.acquire(t.Context(), second))
	l.release(second)
	require.NoError(t, l.acquire(t.Context(), third))
	require.Equal(t, []string{"ada"}, told, "who need not wait is not told of")
}

func TestOnWait_APanicLeavesTheQueue(t *testing.T) {
	t.Parallel()
	l := &laneLocks{onWait: func(context.Context, string, <-chan struct{}) { panic("the host's") }}
	key := laneKey{app: "app", name: "ada"}
	first := &lock{key: key}
	require.NoError(t, l.acquire(t.Context(), first))
	require.PanicsWithValue(t, "the host's", func() { _ = l.acquire(t.Context(), &lock{key: key}) })
	require.False(t, l.hasQueue(key))
	l.release(first)
	require.NoError(t, l.acquire(t.Context(), &lock{key: key}), "nobody has the member")
}

// crowd is a set of locks for one lane. The first has the lane, and the others wait for it.
type crowd struct {
	laneLocks

	all     []*lock
	cancels []func()

	noting sync.Mutex
	// had holds the indexes of the locks that got the lane, in order. gaveUp holds the indexes of the locks whose ctx
	// ended first.
	had, gaveUp []int
}

func newCrowd(t *testing.T, count int) *crowd {
	t.Helper()
	c := &crowd{}
	for i := range count {
		own := &lock{key: laneKey{"app", "a"}}
		ctx, cancel := context.WithCancel(t.Context())
		c.all, c.cancels = append(c.all, own), append(c.cancels, cancel)
		go func() {
			err := c.acquire(ctx, own)
			c.noting.Lock()
			defer c.noting.Unlock()
			if err != nil {
				c.gaveUp = append(c.gaveUp, i)
			} else {
				c.had = append(c.had, i)
			}
		}()
		synctest.Wait()
	}
	return c
}

// requireHad checks which locks have had the lane so far.
func (c *crowd) requireHad(t *testing.T, numbers ...int) {
	t.Helper()
	synctest.Wait()
	c.noting.Lock()
	defer c.noting.Unlock()
	require.Equal(t, numbers, c.had)
}

func TestLaneLocks_Order(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t, 6)
		c.requireHad(t, 0)
		for _, i := range []int{3, 1, 5} { // Leave the queue in the middle, at its beginning and at its end.
			c.cancels[i]()
			synctest.Wait()
			require.Contains(t, c.gaveUp, i)
		}
		c.release(c.all[0])
		c.requireHad(t, 0, 2)
		c.release(c.all[0]) // A second release has no effect.
		c.requireHad(t, 0, 2)
		c.release(c.all[2])
		c.requireHad(t, 0, 2, 4)
		c.release(c.all[4])
		require.Empty(t, c.first)
	})
}

// If the ctx of a waiting lock ends just when it gets the lane, the next lock must get the lane.
func TestLaneLocks_LateTurn(t *testing.T) {
	t.Parallel()
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			c := newCrowd(t, 3)
			c.cancels[1]()
			c.release(c.all[0]) // Now the waiting goroutine finds its ctx done and the lane free.
			synctest.Wait()
			if len(c.gaveUp) == 0 {
				c.release(c.all[1])
				synctest.Wait()
			}
			require.Contains(t, c.had, 2)
		})
	}
}

func TestLaneLocks_EndedContext(t *testing.T) {
	t.Parallel()
	var l laneLocks
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, l.acquire(ctx, &lock{key: laneKey{"app", "a"}}), boterr.Canceled)
	require.Empty(t, l.first)
}

// TestLaneLocks_Crowd makes many goroutines wait for a few lanes. The contexts of some goroutines end before they get
// a lane.
func TestLaneLocks_Crowd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l laneLocks
		var busy [5]atomic.Bool
		var all sync.WaitGroup
		var had, gaveUp atomic.Int64
		for i := range 400 {
			all.Go(func() {
				random := rand.New(rand.NewPCG(uint64(i), 1))
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+random.IntN(100))*time.Millisecond)
				defer cancel()
				at := random.IntN(len(busy))
				own := &lock{key: laneKey{"app", strconv.Itoa(at)}}
				if l.acquire(ctx, own) != nil {
					gaveUp.Add(1)
					return
				}
				defer l.release(own)
				if !busy[at].CompareAndSwap(false, true) {
					t.Error("two runs have one lane")
				}
				<-time.After(time.Millisecond)
				had.Add(1)
				busy[at].Store(false)
			})
		}
		all.Wait()
		require.Empty(t, l.first)
		require.Positive(t, had.Load())
		require.Positive(t, gaveUp.Load())
	})
}

func TestSteady_ClockThatBreaks(t *testing.T) {
	t.Parallel()
	at := time.Unix(1709294400, 0)
	var breaks func()
	clock := steady(func() time.Time {
		if breaks != nil {
			breaks()
		}
		return at
	})
	require.Equal(t, at, clock())
	var broken sync.WaitGroup
	breaks = runtime.Goexit
	broken.Go(func() { clock() })
	broken.Wait()
	breaks = func() { panic("no time") }
	require.Equal(t, at, clock(), "the last time")
}

func TestStart_StoreThatEndsTheGoroutineLeavesTheLane(t *testing.T) {
	t.Parallel()
	ends := func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
		if call.Collection == "leases" {
			runtime.Goexit()
		}
		return ctx, nil, nil
	}
	r, err := New(Config{Store: store.Wrap(sharedStore{memstore.New()}, ends)})
	require.NoError(t, err)
	var ended sync.WaitGroup
	ended.Go(func() { _ = (&run{runtime: r, sender: "ada"}).start(t.Context(), nil) })
	ended.Wait()
	require.Empty(t, r.locks.first)
}
