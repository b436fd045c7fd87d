package lease

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/safelog"
	"github.com/botctx/go-sdk/store"
)

// ErrLost is the error of a lease that may no longer hold, because it could not be renewed or another process has
// taken it. It is also the context.Cause of the lease's run.
var ErrLost = boterr.New(boterr.Conflict, "", "the lease is lost: another run may be in progress")

// DefaultLease is the default of Config.Lease.
const DefaultLease = 30 * time.Second

// Leases gives lanes, such as the messages of a member, to one run at a time, across all processes that share
// a store. Create it with New. It is safe for concurrent use.
//
// A lane that was used has a document in the store. Sweep removes it once the lane has been idle for an hour,
// or for a day if its last lease was never released.
type Leases struct {
	store   store.Store
	records store.Collection
	// lanes is the same collection as records, with the type that Sweep needs.
	lanes *record.Collection
	lease time.Duration
	now   func() time.Time
	log   *slog.Logger
	held  *Held[*Lease]
	// process identifies the leases of this process.
	process string

	mu        sync.Mutex
	isBeating bool
	clock     reading
	// sweptAt is the time of the last Sweep by the given clock.
	sweptAt time.Time
}

// Work describes the work under a lease.
type Work struct {
	// Purpose names the kind of work, such as "events".
	Purpose string
	// Items are the ids of the steps under the lease, in order. If the lease is lost, the next holder gets
	// them from Lease.Lost, because these steps may have begun.
	Items []string
}

// Config configures Leases. Env.Store is required; the zero values of other fields mean defaults.
type Config struct {
	// Env has the store. Its Now measures how long ago a lease was renewed.
	Env record.Env
	// Lease is the time that a lease holds without renewal. The default is DefaultLease.
	Lease time.Duration
	// Log receives warnings about leases that could not be renewed. By default, nothing is logged.
	Log *slog.Logger
}

type leaseUpdates struct{ claim, release, releaseMarked, notAlone *query.Update }

// reading is a reading of the store's clock, and the process's own time of the reading.
type reading struct{ store, own time.Time }

// Fields of a lane's document, in addition to the fields of every claim.
const (
	fieldPurpose = "purpose"
	// fieldItems are the ids of the steps under the lease.
	fieldItems = "items"
	// fieldProcess is the process that has the lease or had it last.
	fieldProcess = "process"
	// fieldNotAlone is true if the process lost another lease at the same time.
	fieldNotAlone = "notAlone"
	// fieldOvertaken is true after a lease that was never released, until the release of a later lease that
	// called Mark.
	fieldOvertaken = "overtaken"
	// fieldFreedAt is the end of the last lease.
	fieldFreedAt = "freedAt"
)

var laneSchema = &record.Schema{Name: "lane", Collection: "leases"}

// New returns Leases. InvalidArgument: there is no store, or Check refuses the lease.
func New(config Config) (*Leases, error) {
	if config.Env.Store == nil {
		return nil, boterr.Missing("env.store", "the store that holds the leases")
	}
	if config.Lease == 0 {
		config.Lease = DefaultLease
	}
	if err := Check(config.Lease); err != nil {
		return nil, err
	}
	env := config.Env.WithDefaults()
	database := store.Wrap(env.Store, nil)
	return &Leases{
		store: database, records: database.Collection(laneSchema.Collection), lanes: record.Open(env, laneSchema),
		lease: config.Lease, now: env.Now,
		log: safelog.New(config.Log), held: NewHeld[*Lease](ErrLost), process: rand.Text(),
	}, nil
}

// updates returns the changes that leases make, compiled at first use.
var updates = sync.OnceValue(func() leaseUpdates {
	return leaseUpdates{
		claim:         query.MustUpdate("$inc", document.O(FieldFence, 1), "$unset", document.O(fieldNotAlone, true)),
		release:       query.MustUpdate("$unset", document.O(FieldUntil, true)),
		releaseMarked: query.MustUpdate("$unset", document.O(FieldUntil, true, fieldOvertaken, true)),
		notAlone:      query.MustUpdate("$set", document.O(fieldNotAlone, true)),
	}
})

// Duration returns how long a lease holds without renewal.
func (t *Leases) Duration() time.Duration { return t.lease }

// Look returns the stored documents of lanes by the name of the lane. Lanes without a document are left out.
// Errors come from the store.
func (t *Leases) Look(ctx context.Context, lanes []string) (map[string]document.Object, error) {
	ids := make([]any, len(lanes))
	for i, lane := range lanes {
		ids[i] = lane
	}
	filter, err := query.CompileFilter(document.O(document.IDField, document.O("$in", document.A(ids...))))
	if err != nil {
		return nil, err
	}
	found, err := t.records.Find(ctx, filter, store.FindOptions{})
	if err != nil {
		return nil, err
	}
	byLane := make(map[string]document.Object, len(found))
	for _, o := range found {
		byLane[document.Get(o, document.IDField, "")] = o
	}
	return byLane, nil
}

// Claim begins a lease of a free lane. seen is the lane's document from Look, or the zero Object if it had
// none; it must have been read less than the duration of a lease ago. now is a time of the store's clock at
// which the lane was free. work is stored until another lease begins. Claim returns nil if the lane has had
// another lease since it was seen. Canceled: ctx ended before the claim. If ctx ends during the claim, Claim
// continues, for at most the duration of a lease. Otherwise the store might make the change after the caller has
// given up, and the lane would wait for a lease without a holder. Other errors come from the store.
//
// Callers must call Release. The lease is only renewed after Keep.
func (t *Leases) Claim(
	ctx context.Context, lane string, seen document.Object, now time.Time, work Work,
) (*Lease, error) {
	if ctx.Err() != nil {
		return nil, endedBefore(ctx)
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), t.lease)
	defer stop()
	held := &Lease{leases: t, lane: lane, claimedAt: now, began: t.now()}
	held.confirmed(held.began)
	until := int64(document.TimestampOf(now.Add(t.lease)))
	if seen.IsZero() {
		// A lane whose document was removed must not reuse earlier fencing tokens.
		held.fence = int64(document.TimestampOf(now))
		made := document.O(document.IDField, lane, FieldFence, held.fence, FieldUntil, until, fieldPurpose, work.Purpose, fieldProcess, t.process)
		if len(work.Items) > 0 {
			made = made.With(fieldItems, itemsOf(work))
		}
		switch err := t.records.Insert(ctx, made); {
		case boterr.CodeOf(err) == boterr.AlreadyExists:
			return nil, nil //nolint:nilnil // No lease and no error: another process has it.
		case err != nil:
			return nil, err
		}
		return held, nil
	}
	held.fence = Fence(seen) + 1
	set := document.O(FieldUntil, until, fieldPurpose, work.Purpose, fieldProcess, t.process)
	if len(work.Items) > 0 || seen.Has(fieldItems) {
		set = set.With(fieldItems, itemsOf(work))
	}
	held.isOvertaken = seen.Has(fieldOvertaken)
	if seen.Has(FieldUntil) {
		var err error
		if held.wasAlone, err = t.wasAlone(ctx, lane, seen); err != nil {
			return nil, err
		}
		held.wasLost, held.lost, held.isOvertaken = true, workOf(seen), true
		set = set.With(fieldOvertaken, true)
	}
	change := query.Change{Update: updates().claim, Stamps: query.Stamps{Set: set}}
	claimed, err := t.update(ctx, asSeen(lane, seen), change)
	if err != nil || !claimed {
		return nil, err
	}
	return held, nil
}

// endedBefore returns the error for a ctx that ended before a lease began.
func endedBefore(ctx context.Context) error {
	return boterr.New(boterr.Canceled, "", "the context ended before the lease began: %w", context.Cause(ctx))
}

// wasAlone reports whether the lost lease of a lane was the only lease of its process. If the process had other
// leases, wasAlone marks them as not alone.
func (t *Leases) wasAlone(ctx context.Context, lane string, seen document.Object) (bool, error) {
	if seen.Has(fieldNotAlone) {
		return false, nil
	}
	others, err := query.CompileFilter(document.O(
		FieldUntil, document.O("$gt", 0), fieldProcess, document.Get(seen, fieldProcess, ""), document.IDField, document.O("$ne", lane)))
	if err != nil {
		return false, err
	}
	marked, err := t.records.Update(ctx, others, query.Change{Update: updates().notAlone}, store.UpdateOptions{Multi: true})
	if err != nil || marked.Matched > 0 {
		return false, err
	}
	// Another process may have taken over the other lanes meanwhile. It marked this lane before that.
	now, err := t.Look(ctx, []string{lane})
	return !now[lane].Has(fieldNotAlone), err
}

// itemsOf returns the items of work in their stored form.
func itemsOf(work Work) document.Array {
	items := make([]any, len(work.Items))
	for i, id := range work.Items {
		items[i] = id
	}
	return document.A(items...)
}

// workOf returns the work of a lane's last lease.
func workOf(seen document.Object) Work {
	work := Work{Purpose: document.Get(seen, fieldPurpose, "")}
	for _, item := range document.Get(seen, fieldItems, document.A()).All() {
		if id, ok := item.(string); ok {
			work.Items = append(work.Items, id)
		}
	}
	return work
}

func asSeen(lane string, seen document.Object) document.Object {
	until, _ := seen.Field(FieldUntil) // nil matches a field that is missing.
	return document.O(document.IDField, lane, FieldFence, Fence(seen), FieldUntil, until)
}

// update changes a lane that matches a filter, and reports whether one did.
func (t *Leases) update(ctx context.Context, source document.Object, change query.Change) (bool, error) {
	filter, err := query.CompileFilter(source)
	if err != nil {
		return false, err
	}
	done, err := t.records.Update(ctx, filter, change, store.UpdateOptions{})
	return done.Matched > 0, err
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
// lost it. Otherwise wasLost is false.
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
	if t.isOver.Load() || t.leases.now().Sub(*t.confirmedAt.Load()) >= t.leases.lease {
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
		t.keepGranted(cancel)
		return
	}
	t.leases.held.Add(t, func(cause error) {
		t.isOver.Store(true)
		cancel(cause)
	})
	t.leases.startBeating()
}

func (t *Lease) keepGranted(cancel context.CancelCauseFunc) {
	t.end.Store(&cancel)
	if t.isOver.Load() {
		cancel(ErrLost) // The lease was revoked before Keep.
	}
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
	if t.isGranted && wasOver {
		return ErrLost
	}
	if t.isGranted {
		return nil
	}
	freedAt := t.claimedAt.Add(t.leases.now().Sub(t.began))
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
