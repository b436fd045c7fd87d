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
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
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
	// FieldNotAlone is true if the holder of the record was lost while it held others, see WasAlone.
	FieldNotAlone = "notAlone"
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

// WasAlone reports whether a record whose claim was lost is the only one that its holder held. held matches the records
// of that holder; WasAlone sets FieldNotAlone in all others. It does so even if the record already has FieldNotAlone,
// because the process that set it may have died before it claimed its own record. Errors come from the store.
func WasAlone(ctx context.Context, records store.Collection, lost any, held document.Object) (bool, error) {
	others, err := query.CompileFilter(held.With(document.IDField, document.O("$ne", lost)))
	if err != nil {
		return false, err
	}
	marked, err := records.Update(ctx, others, query.Change{Update: updates().notAlone}, store.UpdateOptions{Multi: true})
	if err != nil || marked.Matched > 0 {
		return false, err
	}
	// Another process may have taken over the other records meanwhile. Before that, it marked this one.
	now, exists, err := records.Get(ctx, lost)
	return exists && !document.Get(now, FieldNotAlone, false), err
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

// renewed records the result of a renewal. It removes a claim that no longer holds, or whose last renewals all failed,
// and ends its run.
func (h *Held[C]) renewed(c C, holds bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.held[c]
	switch {
	case known == nil: // The claim has ended meanwhile.
		return
	case err != nil:
		known.missed++
		if known.missed < maxMissedBeats {
			return
		}
	case holds:
		known.missed = 0
		return
	}
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

// RenewAll calls renew once for each claim. renew reports whether the claim still holds; if it does not, or if it has
// failed several times in a row, RenewAll removes the claim and ends its run. told is called for each failure. A failure
// that is not nil counts as the error for every claim, and renew is not called.
func (h *Held[C]) RenewAll(
	ctx context.Context, failure error, renew func(context.Context, C) (bool, error), told func(C, error),
) {
	for _, c := range h.All() {
		holds, err := false, failure
		if err == nil {
			holds, err = renew(ctx, c)
		}
		if err != nil {
			told(c, err)
		}
		h.renewed(c, holds, err)
	}
}

// Lease is a run's exclusive claim of a lane. It is safe for concurrent use.
type Lease struct {
	leases *Leases
	lane   string
	fence  int64
	// claimedAt is the time of the claim by the store's clock, and began the same time by the process's clock.
	claimedAt, began time.Time
	// wasLost is true if the previous lease was never released, and lost is its work.
	wasLost bool
	lost    Work
	// wasAlone is true if the lost lease was the only one of its process.
	wasAlone bool
	// isOvertaken is the result of IsOvertaken. isMarked is true after Mark.
	isOvertaken bool
	isMarked    atomic.Bool
	// confirmedAt is the time, by the process's clock, when the store last confirmed the lease.
	confirmedAt atomic.Pointer[time.Time]
	isOver      atomic.Bool
	// isGranted is true if the lease is not stored. end then ends its run.
	isGranted bool
	end       atomic.Pointer[context.CancelCauseFunc]
}

// Grant returns a lease that is not stored, for a process that has the store to itself. It does not expire: it lasts
// until Release, Abandon or Revoke. Callers must ensure that the lane has no other lease, and must call Revoke if
// another process gets the store.
func (t *Leases) Grant(lane string, fence int64) *Lease {
	return &Lease{leases: t, lane: lane, fence: fence, isGranted: true}
}

// Revoke ends a lease from Grant, and its run with the cause ErrLost.
func (t *Lease) Revoke() {
	t.isOver.Store(true)
	if end := t.end.Load(); end != nil {
		(*end)(ErrLost)
	}
}

// Lane returns the name of the lane.
func (t *Lease) Lane() string { return t.lane }

// Fence returns the fencing token. Each lease of a lane has a greater one.
func (t *Lease) Fence() int64 { return t.fence }

// Lost returns the work of the previous lease if that lease was never released, because its process died or
// lost it. Otherwise wasLost is false, and also after an outage of the store, in which living processes lose leases.
func (t *Lease) Lost() (work Work, wasLost bool) { return t.lost, t.wasLost }

// WasAlone reports whether the lease in Lost was the only lease that its process never released. If so, and
// if the process crashed, no work under another lease can be the cause.
func (t *Lease) WasAlone() bool { return t.wasAlone }

// IsOvertaken reports whether an earlier lease, for any purpose, was never released, and no lease since then
// has called Mark. The run of that earlier lease may still be alive and write results. A run that prevents
// such writes, by storing its Fence in its records, should call Mark.
func (t *Lease) IsOvertaken() bool { return t.isOvertaken }

// Mark records that the earlier run reported by IsOvertaken can no longer write results. It takes effect when
// the lease is released.
func (t *Lease) Mark() { t.isMarked.Store(true) }

// Err returns ErrLost if another process may have the lane: if the lease was released or lost, or if its
// duration has passed by the process's clock since the store last confirmed it. It makes no call to the
// store, so a run can check it before each step.
func (t *Lease) Err() error {
	if t.isGranted && !t.isOver.Load() {
		return nil
	}
	if t.isOver.Load() || t.leases.own().Sub(*t.confirmedAt.Load()) >= t.leases.lease {
		return ErrLost
	}
	return nil
}

// Check asks the store whether the lease holds. It returns ErrLost if not. Other errors come from the store.
func (t *Lease) Check(ctx context.Context) error {
	if err := t.Err(); err != nil || t.isGranted {
		return err
	}
	filter, err := query.CompileFilter(Holds(t.lane, t.fence))
	if err != nil {
		return err
	}
	held, err := t.leases.records.Count(ctx, filter)
	if err == nil && held == 0 {
		err = ErrLost
	}
	return err
}

// confirmed records that the store confirmed the lease in a request at a time of the process's clock.
func (t *Lease) confirmed(at time.Time) { t.confirmedAt.Store(&at) }

// Keep renews the lease until it is released or lost. If it is lost, Keep calls cancel with ErrLost.
func (t *Lease) Keep(cancel context.CancelCauseFunc) {
	if t.isGranted {
		t.end.Store(&cancel)
		if t.isOver.Load() {
			cancel(ErrLost) // The lease was revoked before Keep.
		}
		return
	}
	t.leases.held.Add(t, func(cause error) {
		t.isOver.Store(true)
		cancel(cause)
	})
	t.leases.startBeating()
}

// Abandon gives up the lease without a write to the store. Err returns ErrLost from now on, and the stored
// lease expires later.
func (t *Lease) Abandon() {
	t.isOver.Store(true)
	t.leases.held.End(t)
}

// Release ends the lease, so that another one can begin. It returns ErrLost if the lease no longer held.
// Other errors come from the store; then the lease expires later.
func (t *Lease) Release(ctx context.Context) error {
	t.leases.held.End(t)
	wasOver := t.isOver.Swap(true)
	switch {
	case t.isGranted && wasOver:
		return ErrLost
	case t.isGranted:
		return nil
	}
	freedAt := t.claimedAt.Add(t.leases.own().Sub(t.began))
	update := updates().release
	if t.isMarked.Load() {
		update = updates().releaseMarked
	}
	change := query.Change{
		Update: update,
		Stamps: query.Stamps{Set: document.O(fieldFreedAt, int64(document.TimestampOf(freedAt)))},
	}
	released, err := t.leases.update(ctx, Holds(t.lane, t.fence), change)
	if err != nil {
		return err
	}
	if !released || wasOver {
		return ErrLost
	}
	return nil
}
