package lease_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

const lane = "ada"

// world is a store with a clock, and the leases of two processes on it.
type world struct {
	t           *testing.T
	mu          sync.Mutex
	time        time.Time
	store       store.Store
	first, then *lease.Leases
	// slow is the time that the next reading of the clock takes after outage was called.
	slow time.Duration
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, time: time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)}
	w.store = memstore.New(memstore.WithNow(w.now))
	w.first, w.then = w.leases(w.now), w.leases(w.now)
	return w
}

// leases returns the Leases of a new process with its own clock.
func (w *world) leases(now func() time.Time) *lease.Leases {
	w.t.Helper()
	leases, err := lease.New(lease.Config{Env: record.Env{Store: w.store, Now: now}})
	require.NoError(w.t, err)
	return leases
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.time
}

func (w *world) advance(by time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.time = w.time.Add(by)
}

// look returns the stored lane.
func (w *world) look() document.Object {
	w.t.Helper()
	seen, err := w.first.Look(w.t.Context(), []string{lane})
	require.NoError(w.t, err)
	return seen[lane]
}

// claim claims the lane in its current state. It returns nil if another process has the lane.
func (w *world) claim(leases *lease.Leases, purpose string) *lease.Lease {
	w.t.Helper()
	claimed, err := leases.Claim(w.t.Context(), lane, w.look(), w.now(), lease.Work{Purpose: purpose})
	require.NoError(w.t, err)
	return claimed
}

func TestClaim_OneOfManyAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 3 { // The lane is new in the first round, and has a document in the others.
		seen := w.look()
		leases := make([]*lease.Lease, 16)
		var all sync.WaitGroup
		for i := range leases {
			all.Go(func() { leases[i], _ = w.first.Claim(t.Context(), lane, seen, w.now(), lease.Work{}) })
		}
		all.Wait()
		var held []*lease.Lease
		for _, claimed := range leases {
			if claimed != nil {
				held = append(held, claimed)
			}
		}
		require.Len(t, held, 1)
		require.NoError(t, held[0].Release(t.Context()))
	}
}

func TestClaim_NotWhereSomebodyHadATurnSince(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, w.claim(w.first, "").Release(t.Context()))
	seen := w.look()
	require.NoError(t, w.claim(w.then, "").Release(t.Context()))

	late, err := w.first.Claim(t.Context(), lane, seen, w.now(), lease.Work{})
	require.NoError(t, err)
	require.Nil(t, late, "the lane was seen before the other process had its lease")
}

func TestTurn_TakenOverWhereItsLeaseHasPassed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	lost := w.claim(w.first, "events")
	require.True(t, lease.IsHeld(w.look(), w.now()))
	w.advance(lease.DefaultLease)
	require.False(t, lease.IsHeld(w.look(), w.now()))

	taken := w.claim(w.then, "agenda")
	require.Greater(t, taken.Fence(), lost.Fence())
	work, wasLost := taken.Lost()
	require.True(t, wasLost)
	require.Equal(t, "events", work.Purpose)
	require.ErrorIs(t, lost.Err(), lease.ErrLost)
	require.ErrorIs(t, lost.Release(t.Context()), lease.ErrLost)
	require.NoError(t, taken.Err(), "the release of the lost one has no effect")
	require.True(t, lease.IsHeld(w.look(), w.now()))
}

func TestTurn_OvertakenUntilMarked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.claim(w.first, "events")
	require.False(t, first.IsOvertaken())
	w.advance(lease.DefaultLease)
	for range 2 {
		claimed := w.claim(w.then, "events")
		require.True(t, claimed.IsOvertaken())
		require.NoError(t, claimed.Release(t.Context()))
	}
	marked := w.claim(w.then, "events")
	marked.Mark()
	require.NoError(t, marked.Release(t.Context()))
	require.False(t, w.claim(w.then, "events").IsOvertaken())
}

func TestTurn_ReleasedLeavesNothingLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.claim(w.first, "events")
	require.NoError(t, before.Release(t.Context()))
	require.ErrorIs(t, before.Err(), lease.ErrLost, "a released lease does not hold")
	_, wasLost := w.claim(w.then, "events").Lost()
	require.False(t, wasLost)
}

func TestTurn_EndsByTheOwnClockWithoutAskingTheStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	claimed := w.claim(w.first, "")
	w.advance(lease.DefaultLease - time.Millisecond)
	require.NoError(t, claimed.Err())
	w.advance(time.Millisecond)
	require.ErrorIs(t, claimed.Err(), lease.ErrLost)
}

// renewalEnds waits in virtual time until the process no longer renews leases. synctest requires that all
// goroutines have ended.
func renewalEnds() { <-time.After(lease.DefaultLease) }

func TestTurn_WrongClockTakesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		defer renewalEnds()
		w := newWorld(t)
		ahead := w.leases(func() time.Time { return w.now().Add(24 * time.Hour) })
		held := w.claim(w.first, "")
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := ahead.Acquire(ctx, lane, "", func(error) {})
		require.Equal(t, boterr.Canceled, boterr.CodeOf(err))
		require.NoError(t, held.Err())
	})
}

func TestAcquire_WaitsForTheTurnBefore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		defer renewalEnds()
		w := newWorld(t)
		before := w.claim(w.first, "")
		acquired := make(chan *lease.Lease)
		go func() {
			claimed, _ := w.then.Acquire(t.Context(), lane, "", func(error) {})
			acquired <- claimed
		}()
		require.NoError(t, before.Err())
		require.NoError(t, before.Release(t.Context()))
		claimed := <-acquired
		require.NotNil(t, claimed)
		require.NoError(t, claimed.Release(t.Context()))
	})
}

// If a claim's write stopped when ctx ended, the store could still make it, and the lane would wait for a lease without
// a holder.
func TestClaim_ContextThatEndsDuringTheWriteLeavesNoLeaseBehind(t *testing.T) {
	t.Parallel()
	for _, isKnown := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			defer renewalEnds()
			w := newWorld(t)
			if isKnown {
				require.NoError(t, w.claim(w.first, "").Release(t.Context()))
			}
			ctx, end := context.WithCancel(t.Context())
			w.store = store.Wrap(w.store, func(within context.Context, call store.Call) (
				context.Context, func(int, error) error, error,
			) {
				if call.Method == "insert" || call.Method == "update" {
					end()
				}
				return context.WithoutCancel(within), func(_ int, err error) error { return errors.Join(err, within.Err()) }, nil
			})
			claimed, err := w.leases(w.now).Acquire(ctx, lane, "", func(error) {})
			require.NoError(t, err)
			require.NoError(t, claimed.Release(t.Context()))
			require.NotNil(t, w.claim(w.first, ""))
		})
	}
}

func TestClaim_NotAfterTheContextHasEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, end := context.WithCancel(t.Context())
	end()
	_, err := w.first.Claim(ctx, lane, document.Object{}, w.now(), lease.Work{})
	require.Equal(t, boterr.Canceled, boterr.CodeOf(err))
	require.True(t, w.look().IsZero())
}

func TestKeep_RenewsUntilAnotherHasTheTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		defer renewalEnds()
		database := memstore.New()
		leases, err := lease.New(lease.Config{Env: record.Env{Store: database}, Lease: lease.Shortest})
		require.NoError(t, err)
		renewed, stop := renewals(t, database)
		defer stop()
		run, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		claimed, err := leases.Acquire(t.Context(), lane, "", cancel)
		require.NoError(t, err)
		<-renewed

		seen, err := leases.Look(t.Context(), []string{lane})
		require.NoError(t, err)
		for { // Each renewal by the first process makes the claim fail.
			now, err := leases.Now(t.Context())
			require.NoError(t, err)
			other, err := leases.Claim(t.Context(), lane, seen[lane], now, lease.Work{})
			require.NoError(t, err)
			if other != nil {
				break
			}
			seen, err = leases.Look(t.Context(), []string{lane})
			require.NoError(t, err)
		}
		<-run.Done()
		require.ErrorIs(t, context.Cause(run), lease.ErrLost)
		require.ErrorIs(t, claimed.Err(), lease.ErrLost)
	})
}

// renewals returns a channel that receives a value when a lease is renewed.
func renewals(t *testing.T, database *memstore.Store) (renewed <-chan struct{}, stop func()) {
	t.Helper()
	told := make(chan struct{}, 1)
	stop = database.Watch("leases", func(before, after document.Object) {
		if before.Has(lease.FieldUntil) && lease.Until(after).After(lease.Until(before)) {
			select {
			case told <- struct{}{}:
			default:
			}
		}
	}, func() {})
	return told, stop
}

func TestCached_AsksTheStoreAgainAfterAQuarterOfALease(t *testing.T) {
	t.Parallel()
	const most = lease.DefaultLease / lease.BeatsPerLease
	for passed, isCached := range map[time.Duration]bool{most - 1: true, most: false, -1: false} {
		w := newWorld(t)
		own := w.now()
		leases := w.leases(func() time.Time { return own })
		want, err := leases.Now(t.Context())
		require.NoError(t, err)
		w.advance(time.Hour) // By the store's clock, more time has passed than by the process's own.
		own = own.Add(passed)
		if want = want.Add(passed); !isCached {
			want = w.now()
		}
		now, err := leases.Cached(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, now, passed)
	}
}

func TestSweep_RemovesLanesThatWereIdle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.claim(w.first, "")
	require.NoError(t, first.Release(t.Context()))
	w.advance(time.Hour)
	removed, err := w.first.Sweep(t.Context(), time.Hour)
	require.NoError(t, err)
	require.Zero(t, removed, "not longer ago than an hour")
	w.advance(time.Millisecond)
	removed, err = w.first.Sweep(t.Context(), time.Hour)
	require.NoError(t, err)
	require.EqualValues(t, 1, removed)
	require.Greater(t, w.claim(w.first, "").Fence(), first.Fence(), "fences increase even after the lane was removed")
}

func TestSweep_LeavesLanesWhoseTurnNeverCameBackForLonger(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, w.claim(w.first, "").Release(t.Context()))
	held := w.claim(w.first, "")
	w.advance(24*time.Hour + lease.DefaultLease)
	removed, err := w.first.Sweep(t.Context(), time.Hour)
	require.NoError(t, err)
	require.Zero(t, removed, "the lease with the fence %d was never released", held.Fence())
	w.advance(time.Millisecond)
	removed, err = w.first.Sweep(t.Context(), time.Hour)
	require.NoError(t, err)
	require.EqualValues(t, 1, removed, "the lane of a killed process is removed in the end")
}

func TestKeep_RemovesIdleLanes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		defer renewalEnds()
		w := newWorld(t)
		require.NoError(t, w.claim(w.first, "").Release(t.Context()))
		w.advance(2 * time.Hour)
		removed := make(chan struct{})
		watched, ok := w.store.(store.Watcher)
		require.True(t, ok)
		stop := watched.Watch("leases", func(before, after document.Object) {
			if after.IsZero() && document.Get(before, document.IDField, "") == lane {
				close(removed)
			}
		}, func() {})
		defer stop()
		leases, err := lease.New(lease.Config{Env: record.Env{Store: w.store, Now: w.now}, Lease: lease.Shortest})
		require.NoError(t, err)
		claimed, err := leases.Acquire(t.Context(), "bob", "", func(error) {})
		require.NoError(t, err)
		<-removed
		require.NoError(t, claimed.Release(t.Context()))
	})
}

func TestClaim_TellsWhatTheLostTurnWasToDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, work := range []lease.Work{{Purpose: "events", Items: []string{"e1", "e2"}}, {Purpose: "events"}} {
		_, err := w.first.Claim(t.Context(), lane, w.look(), w.now(), work)
		require.NoError(t, err)
		w.advance(lease.DefaultLease)
		taken, err := w.then.Claim(t.Context(), lane, w.look(), w.now(), lease.Work{Items: []string{"e3"}})
		require.NoError(t, err)
		lost, wasLost := taken.Lost()
		require.True(t, wasLost)
		require.Equal(t, work, lost)
		require.NoError(t, taken.Release(t.Context()))
	}
}

func TestGrant_LastsUntilItIsRevoked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	claimed := w.first.Grant(lane, 7)
	run, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	claimed.Keep(cancel)
	w.advance(48 * time.Hour)
	require.NoError(t, claimed.Err())
	require.True(t, w.look().IsZero(), "a granted lease is not stored")
	claimed.Revoke()
	require.ErrorIs(t, claimed.Err(), lease.ErrLost)
	require.ErrorIs(t, context.Cause(run), lease.ErrLost)
	require.ErrorIs(t, claimed.Release(t.Context()), lease.ErrLost)
	require.NoError(t, w.first.Grant(lane, 8).Release(t.Context()))
}

func TestNew_RefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	_, err := lease.New(lease.Config{})
	require.Equal(t, boterr.InvalidArgument, boterr.CodeOf(err))
	_, err = lease.New(lease.Config{Env: record.Env{Store: memstore.New()}, Lease: time.Millisecond})
	require.Equal(t, boterr.InvalidArgument, boterr.CodeOf(err))
}

func ExampleLeases() {
	leases, err := lease.New(lease.Config{Env: record.Env{Store: memstore.New()}})
	if err != nil {
		panic(err)
	}
	run, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	claimed, err := leases.Acquire(run, "ada", "an agenda", cancel) // Acquire waits if another process has the lane.
	if err != nil {
		panic(err)
	}
	_ = claimed.Err() // Checked before each effect of the run.
	_ = claimed.Release(context.WithoutCancel(run))
	// Output:
}

func TestClaim_TellsWhetherTheLostTurnWasAlone(t *testing.T) {
	t.Parallel()
	for lost, isAlone := range map[int]bool{1: true, 3: false} {
		w := newWorld(t)
		var seen []document.Object
		for i := range lost {
			name := strconv.Itoa(i)
			_, err := w.first.Claim(t.Context(), name, document.Object{}, w.now(), lease.Work{})
			require.NoError(t, err)
			documents, err := w.first.Look(t.Context(), []string{name})
			require.NoError(t, err)
			seen = append(seen, documents[name])
		}
		other := w.claim(w.then, "") // A lease of another process does not count.
		w.advance(lease.DefaultLease)
		for i, document := range seen { // The documents show the lanes before the first takeover.
			claimed, err := w.leases(w.now).Claim(t.Context(), strconv.Itoa(i), document, w.now(), lease.Work{})
			require.NoError(t, err)
			require.Equal(t, isAlone, claimed.WasAlone())
			require.NoError(t, claimed.Release(t.Context()))
		}
		require.NoError(t, other.Release(t.Context()))
	}
}

// A process may die after it has marked the other lanes of a lost process, and before it has claimed its own.
func TestClaim_LostTurnWasNotAloneThoughTheFirstHeirDies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	claim := func(leases *lease.Leases, name string) (*lease.Lease, error) {
		seen, err := w.first.Look(t.Context(), []string{name})
		require.NoError(t, err)
		return leases.Claim(t.Context(), name, seen[name], w.now(), lease.Work{})
	}
	for _, name := range []string{"a", "b"} {
		_, err := claim(w.first, name)
		require.NoError(t, err)
	}
	w.advance(lease.DefaultLease)
	writes := 0
	w.store = store.Wrap(w.store, func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
		if call.Method == "update" {
			writes++
			if writes > 1 {
				return ctx, nil, boterr.New(boterr.Unavailable, "", "the process is dead")
			}
		}
		return ctx, nil, nil
	})
	_, err := claim(w.leases(w.now), "a")
	require.ErrorIs(t, err, boterr.Unavailable)
	for _, name := range []string{"b", "a"} {
		claimed, err := claim(w.then, name)
		require.NoError(t, err)
		require.False(t, claimed.WasAlone(), name)
		require.NoError(t, claimed.Release(t.Context()))
	}
}

// outage wraps the store. Its clock does not answer while the result is true.
func (w *world) outage() *bool {
	isOut := new(bool)
	w.store = store.Wrap(w.store, func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
		if *isOut && call.Method == "now" {
			return ctx, nil, boterr.New(boterr.Unavailable, "", "no answer")
		}
		w.advance(w.slow)
		w.slow = 0
		return ctx, nil, nil
	})
	return isOut
}

func TestClaim_LeaseLostInAnOutageThatSoonComesBack(t *testing.T) {
	t.Parallel()
	for pause, isLost := range map[time.Duration]bool{time.Second: false, 2 * lease.DefaultLease: true} {
		w := newWorld(t)
		isOut := w.outage()
		other := w.leases(w.now)
		w.claim(w.first, "events")
		for range 2 {
			_, err := other.Now(t.Context())
			require.NoError(t, err)
			*isOut = true
			_, err = other.Now(t.Context())
			require.Error(t, err)
			w.advance(2 * lease.DefaultLease)
			*isOut = false
			_, err = other.Now(t.Context())
			require.NoError(t, err)
			w.advance(pause)
		}
		_, wasLost := w.claim(other, "events").Lost()
		require.Equal(t, isLost, wasLost, pause)
	}
}

func TestClaim_LeaseLostInAnOutageIsNoLostStart(t *testing.T) {
	t.Parallel()
	const part = lease.DefaultLease / 10
	for name, test := range map[string]struct {
		// before is the time from the claim to the outage, which lasts for outage. after is the time from then to the
		// takeover. renewed is the time of the last renewal. If isCanceled is true, the reading in the outage fails
		// because its caller gave up. If isSlow is true, it does not fail, and takes as long as the outage.
		before, outage, after, renewed time.Duration
		isCanceled, isSlow, isLost     bool
	}{
		"outage during the lease":            {before: part, outage: 20 * part},
		"outage until after the lease":       {before: 5 * part, outage: 10 * part},
		"reading that lasts for long":        {before: part, outage: 20 * part, isSlow: true},
		"no outage":                          {before: 10 * part, isLost: true},
		"reading that is canceled":           {before: part, outage: 20 * part, isCanceled: true, isLost: true},
		"outage in which no lease is lost":   {before: 3 * part, outage: 4 * part, after: 3 * part, isLost: true},
		"lease that passed before an outage": {before: 11 * part, outage: 10 * part, isLost: true},
		"lease that was renewed after it":    {before: part, outage: 20 * part, renewed: 22 * part, after: 12 * part, isLost: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			isOut := w.outage()
			other := w.leases(w.now)
			claimed := w.claim(w.first, "events")
			began := w.now()
			w.advance(test.before)
			_, err := other.Now(t.Context())
			require.NoError(t, err)
			if test.isSlow {
				w.slow, test.outage = test.outage, 0
			}
			if *isOut = test.outage > 0; *isOut {
				ctx, cancel := context.WithCancel(t.Context())
				if test.isCanceled {
					cancel()
				}
				_, err = other.Now(ctx)
				cancel()
				require.Error(t, err)
			}
			w.advance(test.outage)
			*isOut = false
			if test.renewed > 0 {
				renewal, err := lease.Renewal(began.Add(test.renewed + lease.DefaultLease))
				require.NoError(t, err)
				holds, err := lease.Renew(t.Context(), w.store.Collection("leases"), lane, claimed.Fence(), renewal)
				require.NoError(t, err)
				require.True(t, holds)
			}
			_, err = other.Now(t.Context())
			require.NoError(t, err)
			w.advance(test.after)
			taken := w.claim(other, "events")
			_, wasLost := taken.Lost()
			require.Equal(t, test.isLost, wasLost)
			require.True(t, taken.IsOvertaken(), "the earlier run may be alive")
		})
	}
}
