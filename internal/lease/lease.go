// Package lease decides which process may work on something, for any number of processes on one store. A claim
// expires by the store's clock. Its fencing token distinguishes it from later claims.
//   - To restrict work to one process at a time, use [New] and [Leases.Acquire].
//   - To renew the claims of a process, use [Held].
//   - To store a holder's results safely, select the record with [Holds].
//
// Agendas are claimed in their own records, lanes in separate records (see Leases). Both use the same
// protocol. A claim sets FieldUntil and increments FieldFence in one atomic write, which applies only if the
// record has not changed since it was read. Held renews the claims of a process four times per lease, and
// ends the runs whose claims it cannot renew. If another process has claimed a record, late writes of the
// former holder match no record (see Holds).
//
// Durations are measured with the given clock, but only the store's clock decides whether a lease has expired. So a
// process with a wrong clock cannot take another process's claim.
package lease

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/background"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// Fields of a record that can be claimed.
const (
	// FieldFence is the fencing token of the last claim. Each claim increments it.
	FieldFence = "fence"
	// FieldUntil is the time at which the claim expires if it is not renewed, in Unix milliseconds of the store's
	// clock. A record without a holder lacks it.
	FieldUntil = "leaseUntil"
)

// Fence returns the fencing token of a stored record's last claim.
func Fence(stored document.Object) int64 { return document.Get(stored, FieldFence, int64(0)) }

// Until returns the time at which a stored record's claim expires, or the zero time if it has none.
func Until(stored document.Object) time.Time {
	return document.Get(stored, FieldUntil, document.Timestamp(0)).Time()
}

// IsHeld reports whether a stored record has a claim that is valid at now, a time of the store's clock.
func IsHeld(stored document.Object, now time.Time) bool {
	return document.Get(stored, FieldUntil, int64(0)) > int64(document.TimestampOf(now))
}

// Holds returns a filter that matches a record only while the claim with a fencing token holds.
func Holds(id any, fence int64) document.Object {
	return document.O(document.IDField, id, FieldFence, fence, FieldUntil, document.O("$gt", 0))
}

// Renewal returns the change that extends claims until a time of the store's clock.
func Renewal(until time.Time) (query.Change, error) {
	update, err := query.CompileUpdate(document.O("$set", document.O(FieldUntil, int64(document.TimestampOf(until)))))
	return query.Change{Update: update}, err
}

// Renew renews the claim with a fencing token by the change from Renewal. It reports whether the claim still holds.
// Errors come from the store.
func Renew(ctx context.Context, records store.Collection, id any, fence int64, renewal query.Change) (bool, error) {
	filter, err := query.CompileFilter(Holds(id, fence))
	if err != nil {
		return false, err
	}
	renewed, err := records.Update(ctx, filter, renewal, store.UpdateOptions{})
	return renewed.Matched > 0, err
}

// BeatsPerLease is the number of renewals per lease duration. A claim is given up after maxMissedBeats
// consecutive failed renewals. Even if the claim began just after a renewal, and the last renewal failed only
// after a time-out, its lease has not expired by then.
const (
	BeatsPerLease  = 4
	maxMissedBeats = BeatsPerLease - 1
)

// Shortest is the minimum duration of a lease, because leases are stored in milliseconds and renewed several times.
const Shortest = 20 * time.Millisecond

// Longest is the maximum duration of a lease: after it, a dead process holds nothing.
const Longest = 24 * time.Hour

// Check returns InvalidArgument at "Lease" for a duration that a lease cannot have.
func Check(lease time.Duration) error {
	if lease < Shortest || lease > Longest {
		return boterr.Invalid("Lease", "must be from %v to %v, got %v", Shortest, Longest, lease)
	}
	return nil
}

// Held is the set of claims that a process holds. Create it with NewHeld. It is safe for concurrent use.
type Held[C comparable] struct {
	lost error

	mu   sync.Mutex
	held map[C]*holding
}

// holding is the state of a claim.
type holding struct {
	// cancel ends the run.
	cancel context.CancelCauseFunc
	// missed is the number of consecutive failed renewals.
	missed int
}

// NewHeld returns a Held without claims. lost is the context.Cause of a run whose claim is lost.
func NewHeld[C comparable](lost error) *Held[C] {
	return &Held[C]{lost: lost}
}

// Add adds a claim. If the claim is lost, cancel ends its run.
func (h *Held[C]) Add(c C, cancel context.CancelCauseFunc) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held == nil {
		h.held = map[C]*holding{}
	}
	h.held[c] = &holding{cancel: cancel}
}

// End removes a claim.
func (h *Held[C]) End(c C) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.held, c)
}

// All returns the held claims in any order.
func (h *Held[C]) All() []C {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]C, 0, len(h.held))
	for c := range h.held {
		all = append(all, c)
	}
	return all
}

// Take removes all claims and returns them in no particular order. It calls before for each claim while it
// still holds the lock. The runs continue.
func (h *Held[C]) Take(before func(C)) []C {
	h.mu.Lock()
	defer h.mu.Unlock()
	taken := make([]C, 0, len(h.held))
	for c := range h.held {
		before(c)
		taken = append(taken, c)
	}
	clear(h.held)
	return taken
}

// Renewed records that a claim was renewed.
func (h *Held[C]) Renewed(c C) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if known, ok := h.held[c]; ok {
		known.missed = 0
	}
}

// Missed records a failed renewal. After several consecutive ones it ends the claim as Lose does.
func (h *Held[C]) Missed(c C) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if known, ok := h.held[c]; ok {
		known.missed++
		if known.missed >= maxMissedBeats {
			h.loseLocked(c, known)
		}
	}
}

// Lose removes a claim that no longer holds and ends its run.
func (h *Held[C]) Lose(c C) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if known, ok := h.held[c]; ok {
		h.loseLocked(c, known)
	}
}

// loseLocked removes a claim that no longer holds and ends its run. Callers must hold the lock.
func (h *Held[C]) loseLocked(c C, known *holding) {
	delete(h.held, c)
	known.cancel(h.lost)
}

// Keep calls beat four times per lease until done is closed. beat must call RenewAll.
func Keep(lease time.Duration, done <-chan struct{}, beat func()) {
	ticker := time.NewTicker(lease / BeatsPerLease)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
			beat()
		}
	}
}

// RenewAll calls renew once for each claim. renew reports whether the claim still holds; if it does not,
// RenewAll ends it as Lose does. If renew fails, RenewAll calls told and Missed. A failure that is not nil
// counts as the error for every claim, and renew is not called. Once ctx has ended, all remaining claims fail
// with the last error.
func (h *Held[C]) RenewAll(
	ctx context.Context, failure error, renew func(context.Context, C) (bool, error), told func(C, error),
) {
	err := failure
	for _, c := range h.All() {
		var holds bool
		if err == nil {
			holds, err = renew(ctx, c)
		}
		switch {
		case err != nil:
			told(c, err)
			h.Missed(c)
		case holds:
			h.Renewed(c)
		default:
			h.Lose(c)
		}
		if ctx.Err() == nil {
			err = failure // The renewal of the next claim may succeed.
		}
	}
}

// startBeating starts renewing the held leases, once.
func (t *Leases) startBeating() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.isBeating {
		t.isBeating = true
		background.Go(new(sync.WaitGroup), t.beat)
	}
}

// beat renews the held leases until none are left.
func (t *Leases) beat() {
	ticker := time.NewTicker(t.lease / BeatsPerLease)
	defer ticker.Stop()
	for !t.isIdle() {
		<-ticker.C
		t.renewAll()
		t.sweepNowAndThen()
	}
}

// isIdle reports whether no lease is held. If so, it records that renewal has stopped.
func (t *Leases) isIdle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.isBeating = len(t.held.All()) > 0
	return !t.isBeating
}

// renewAll renews the held leases once.
func (t *Leases) renewAll() {
	ctx, cancel := context.WithTimeout(context.Background(), t.lease/BeatsPerLease)
	defer cancel()
	asked := t.now()
	now, err := t.store.Now(ctx)
	renewal, failure := Renewal(now.Add(t.lease))
	if err != nil {
		failure = err
	}
	t.held.RenewAll(ctx, failure, func(ctx context.Context, held *Lease) (bool, error) {
		holds, err := Renew(ctx, t.records, held.lane, held.fence, renewal)
		if err == nil && holds {
			held.confirmed(asked)
		}
		return holds, err
	}, func(held *Lease, err error) {
		t.log.LogAttrs(ctx, slog.LevelWarn, "lease: lease not renewed",
			slog.String("lane", held.lane), slog.String("error", display.Text(err)))
	})
}

// The pauses between two attempts to claim a held lane: the first one, and the maximum after doubling.
const (
	firstLook = 20 * time.Millisecond
	lastLook  = time.Second
)

// Acquire waits until a lane is free, claims its lease and keeps renewing it. If the lease is lost, Acquire
// calls cancel with ErrLost. Callers must call Release. Callers waiting in several processes are served in no
// particular order. Canceled: ctx ended first. Other errors come from the store.
func (t *Leases) Acquire(
	ctx context.Context, lane, purpose string, cancel context.CancelCauseFunc,
) (*Lease, error) {
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		held, err := t.try(ctx, lane, purpose)
		if err != nil {
			return nil, err
		}
		if held != nil {
			held.Keep(cancel)
			return held, nil
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, endedBefore(ctx)
		}
	}
}

// try claims a free lane. It returns nil if another holder has the lane.
func (t *Leases) try(ctx context.Context, lane, purpose string) (*Lease, error) {
	seen, err := t.Look(ctx, []string{lane})
	if err != nil {
		return nil, err
	}
	clock := t.CachedNow
	if seen[lane].Has(FieldUntil) {
		clock = t.Now
	}
	now, err := clock(ctx)
	if err != nil || IsHeld(seen[lane], now) {
		return nil, err
	}
	return t.Claim(ctx, lane, seen[lane], now, Work{Purpose: purpose})
}

// Now returns the time of the store's clock. Errors come from the store.
func (t *Leases) Now(ctx context.Context) (time.Time, error) {
	own := t.now()
	now, err := t.store.Now(ctx)
	if err != nil {
		return time.Time{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clock = reading{store: now, own: own}
	return now, nil
}

// CachedNow is like Now, but may return a time based on a reading of the store's clock from up to a quarter of a
// lease ago. Use it for the end of a new claim. To decide whether a claim has expired, use Now.
func (t *Leases) CachedNow(ctx context.Context) (time.Time, error) {
	t.mu.Lock()
	last := t.clock
	t.mu.Unlock()
	since := t.now().Sub(last.own)
	if since >= 0 && since < t.lease/BeatsPerLease && !last.store.IsZero() {
		return last.store.Add(since), nil
	}
	return t.Now(ctx)
}

const (
	// sweepPause is the pause between two sweeps of a process that holds leases, and the idle time after which a
	// sweep removes a lane.
	sweepPause = time.Hour
	// lostFactor multiplies the retention time of a lane whose last lease was never released. In this
	// time, the holder of the next lease learns of the loss.
	lostFactor = 24
)

// Sweep removes the documents of lanes whose last lease ended longer ago than idle, by the store's clock. A
// lane whose last lease was never released is kept 24 times as long after the lease expired. idle should be
// many times the duration of a lease. A process that holds leases calls Sweep each hour with an idle time of
// one hour. Errors come from the store.
func (t *Leases) Sweep(ctx context.Context, idle time.Duration) (removed int64, err error) {
	for _, field := range []string{fieldFreedAt, FieldUntil} {
		index := store.Index{Keys: []store.IndexKey{{Path: field, Kind: query.Ascending}}, Sparse: true}
		if err := t.records.EnsureIndex(ctx, index); err != nil {
			return 0, err
		}
	}
	now, err := t.store.Now(ctx)
	if err != nil {
		return 0, err
	}
	for _, idleBy := range []record.Removal{
		{Filter: document.O(fieldFreedAt, before(now.Add(-idle)), FieldUntil, nil), OldestBy: fieldFreedAt},
		{Filter: document.O(FieldUntil, before(now.Add(-lostFactor*idle))), OldestBy: FieldUntil},
	} {
		some, err := t.lanes.Remove(ctx, idleBy) // A lane that has a lease again no longer matches.
		removed += some
		if err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// Forget removes the document of a lane at once. It does nothing if the lane is held, or if its last lease
// was never released. Errors come from the store.
func (t *Leases) Forget(ctx context.Context, lane string) error {
	filter, err := query.CompileFilter(document.O(document.IDField, lane, FieldUntil, nil))
	if err != nil {
		return err
	}
	_, err = t.records.Delete(ctx, filter, store.DeleteOptions{})
	return err
}

// before returns a condition that matches earlier times than at.
func before(at time.Time) document.Object { return document.O("$lt", int64(document.TimestampOf(at))) }

// sweepNowAndThen starts a Sweep if the last one was long enough ago.
func (t *Leases) sweepNowAndThen() {
	now := t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if since := now.Sub(t.sweptAt); since >= 0 && since < sweepPause {
		return
	}
	t.sweptAt = now
	go func() {
		if _, err := t.Sweep(context.Background(), sweepPause); err != nil {
			t.log.LogAttrs(context.Background(), slog.LevelWarn, "lease: idle lanes were not removed",
				slog.String("error", display.Text(err)))
		}
	}()
}
