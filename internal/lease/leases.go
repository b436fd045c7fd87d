package lease

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/background"
	"github.com/botctx/go-sdk/internal/display"
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
	*Clock

	records store.Collection
	// lanes is the same collection as records, with the type that Sweep needs.
	lanes *record.Collection
	log   *slog.Logger
	held  *Held[*Lease]
	// process identifies the leases of this process.
	process string

	mu        sync.Mutex
	isBeating bool
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

// Fields of a lane's document, in addition to the fields of every claim.
const (
	fieldPurpose = "purpose"
	// fieldItems are the ids of the steps under the lease.
	fieldItems = "items"
	// fieldProcess is the process that has the lease or had it last.
	fieldProcess = "process"
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
		Clock:   NewClock(database, env.Now, config.Lease),
		records: database.Collection(laneSchema.Collection), lanes: record.Open(env, laneSchema),
		log: safelog.New(config.Log), held: NewHeld[*Lease](ErrLost), process: rand.Text(),
	}, nil
}

// updates returns the changes that leases make, compiled at first use.
var updates = sync.OnceValue(func() leaseUpdates {
	return leaseUpdates{
		claim:         query.MustUpdate("$inc", document.O(FieldFence, 1), "$unset", document.O(FieldNotAlone, true)),
		release:       query.MustUpdate("$unset", document.O(FieldUntil, true)),
		releaseMarked: query.MustUpdate("$unset", document.O(FieldUntil, true, fieldOvertaken, true)),
		notAlone:      query.MustUpdate("$set", document.O(FieldNotAlone, true)),
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
	held := &Lease{leases: t, lane: lane, claimedAt: now, began: t.own()}
	held.confirmed(held.began)
	until := int64(document.TimestampOf(now.Add(t.lease)))
	if seen.IsZero() {
		// A lane whose document was removed must not reuse earlier fencing tokens.
		held.fence = int64(document.TimestampOf(now))
		made := document.O(document.IDField, lane, FieldFence, held.fence,
			FieldUntil, until, fieldPurpose, work.Purpose, fieldProcess, t.process, fieldItems, itemsOf(work))
		switch err := t.records.Insert(ctx, made); {
		case boterr.CodeOf(err) == boterr.AlreadyExists:
			return nil, nil //nolint:nilnil // No lease and no error: another process has it.
		case err != nil:
			return nil, err
		}
		return held, nil
	}
	held.fence = Fence(seen) + 1
	set := document.O(FieldUntil, until, fieldPurpose, work.Purpose, fieldProcess, t.process, fieldItems, itemsOf(work))
	held.isOvertaken = seen.Has(fieldOvertaken)
	if seen.Has(FieldUntil) {
		if !t.HadOutage(Until(seen)) {
			var err error
			of := document.O(FieldUntil, document.O("$gt", 0), fieldProcess, document.Get(seen, fieldProcess, ""))
			if held.wasAlone, err = WasAlone(ctx, t.records, lane, of); err != nil {
				return nil, err
			}
			held.wasLost, held.lost = true, workOf(seen)
		}
		held.isOvertaken = true
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

// startBeating starts renewing the held leases, once.
func (t *Leases) startBeating() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.isBeating {
		t.isBeating = true
		background.Go(new(sync.WaitGroup), t.log, "lease: renewal panicked", t.beat)
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
	asked := t.own()
	now, err := t.Now(ctx)
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
			held.Keep(cancel) //nolint:contextcheck // The beat outlives the call.
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
	clock := t.Cached
	if seen[lane].Has(FieldUntil) {
		clock = t.Now
	}
	now, err := clock(ctx)
	if err != nil || IsHeld(seen[lane], now) {
		return nil, err
	}
	return t.Claim(ctx, lane, seen[lane], now, Work{Purpose: purpose})
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
	now, err := t.Now(ctx)
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
	now := t.own()
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
