package inbox

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/blame"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/safelog"
	"github.com/botctx/go-sdk/store"
)

// allUpdates are the compiled changes of events. Values that differ from event to event are the Stamps of a
// query.Change instead.
type allUpdates struct {
	// begin marks an event as begun, beginLater marks one that follows it, and giveBack removes the mark. lose counts a
	// lost run, and revive puts a dead letter back. done removes the fields that a done event does not need.
	begin, beginLater, giveBack, lose, revive, done *query.Update
}

// updates returns the updates, compiled at first use.
var updates = sync.OnceValue(func() allUpdates {
	return allUpdates{
		begin:      query.MustUpdate("$set", document.O(fieldBegun, true)),
		beginLater: query.MustUpdate("$set", document.O(fieldBegun, false)),
		giveBack:   query.MustUpdate("$unset", document.O(fieldBegun, true)),
		done:       query.MustUpdate("$unset", fieldsOfWaiting()),
		lose:       query.MustUpdate("$inc", document.O(fieldLost, 1), "$unset", document.O(fieldBegun, true)),
		revive: query.MustUpdate("$set", document.O(fieldState, statePending, fieldRetryAt, 0), "$unset", document.O(
			fieldFailures, true, fieldPausedAt, true, fieldLost, true,
			fieldDiedAt, true, fieldDeadKey, true, fieldSender, true)),
	}
})

// An outcome is the result of handling an event.
type outcome struct {
	// failure is the error of a failed attempt.
	failure error
	// isOver is true if the event is done or a dead letter, so that the lane continues without it.
	isOver bool
	// isDead is true if the event is a dead letter. retryAt is the time of the next attempt, if there is one.
	isDead bool
	// isPostponed is true if the handler postponed the event.
	isPostponed bool
	retryAt     time.Time
}

// state returns the state of a lane after the outcome of its last handled event, or after an error.
func (o outcome) state(err error) laneState {
	switch {
	case isLost(err):
		return laneState{hasMore: true}
	case err != nil:
		return laneState{isBroken: true}
	case !o.isOver && o.retryAt.IsZero():
		return laneState{hasMore: true} // The lane goes back to the source.
	default:
		return laneState{retryAt: o.retryAt}
	}
}

// asClaimed returns a filter that matches an event only if its failures and losses have not changed since it
// was read. A process that takes over the lease counts the lost start, so a late result matches no event.
func asClaimed(e stored) document.Object {
	var failures any // nil matches a field that is missing.
	switch {
	case e.failures > 0:
		failures = e.failures
	case e.isOdd: // The number of failures was edited to a different type.
		failures = document.O("$not", document.O("$gt", 0))
	}
	filter := document.O(fieldID, e.id, fieldState, statePending, fieldFailures, failures)
	switch {
	case e.isLostOdd: // The number of losses was edited to a different type.
	case e.lost > 0:
		filter = filter.With(fieldLost, e.lost)
	default:
		filter = filter.With(fieldLost, nil)
	}
	return filter
}

// handle passes an event to the handler, and stores the result. ctx is the context of the run. If the lease is lost,
// handle stores nothing and returns ErrLost.
func (b *Inbox) handle(ctx context.Context, held *lease.Lease, e stored) (result outcome, err error) {
	d := b.deliver(e, held)
	if d.IsErased() {
		return outcome{isOver: true}, nil
	}
	failure := error(errGoroutineEnded)
	// Deferred, because the handler may end the goroutine.
	defer func() { result, err = b.settle(ctx, held, e, failure) }()
	if edited := e.check(); edited != nil { // Accept has checked the event, so it was edited.
		failure = edited
	} else {
		failure = b.call(ctx, d)
		e.noted, _ = d.toStore("")
	}
	return result, err
}

// call calls the handler and turns a panic into an error.
func (b *Inbox) call(ctx context.Context, d *Delivery) (err error) {
	defer safelog.Recovered(ctx, b.log, "inbox: handler panicked", &err, slog.String("event", d.ID))
	defer func() { boterr.RetryAfter(err) }() // If the error's own methods panic, as for a nil pointer, they do it here.
	return b.config.Handler(ctx, d)
}

// settle stores the result of an event.
func (b *Inbox) settle(run context.Context, held *lease.Lease, e stored, failure error) (outcome, error) {
	ctx, stop := b.ending(run)
	defer stop()
	var result outcome
	var err error
	switch {
	case held.Err() != nil:
		b.report(ctx, slog.LevelWarn, "inbox: lease lost, nothing stored", e, failure)
		return outcome{failure: failure}, lease.ErrLost
	case failure == nil:
		result, err = outcome{isOver: true}, b.finish(ctx, e)
	case isPostponed(failure):
		result, err = b.postpone(ctx, e, failure)
	case isEnded(run, failure):
		b.report(ctx, slog.LevelDebug, "inbox: given back", e, failure)
		return outcome{failure: failure}, nil
	default:
		result, err = b.fail(ctx, e, failure)
	}
	switch {
	case isLost(err):
		return b.settleEdited(ctx, held, e, failure)
	case record.IsPermanent(err): // For example, the values that the run noted are too large for the store.
		e.noted = document.Array{}
		return b.fail(ctx, e, boterr.New(boterr.CodeOf(err), "", "the store refuses the result of the run: %w", err))
	default:
		return result, err
	}
}

// finish records that an event is done. It removes an event without a Key.
func (b *Inbox) finish(ctx context.Context, e stored) error {
	changed, err := b.storeDone(ctx, e)
	if err != nil {
		b.report(ctx, slog.LevelWarn, "inbox: result not stored", e, err)
		return err
	}
	b.addLoad(e.App, -changed)
	if changed > 0 {
		b.report(ctx, slog.LevelDebug, "inbox: handled", e, nil)
		b.tellSettled(ctx, e, nil, false)
	}
	return wasLost(changed)
}

// storeDone stores that an event is done. The record keeps only the id, and the fields for retention and Erase.
func (b *Inbox) storeDone(ctx context.Context, e stored) (changed int64, err error) {
	if e.Key == "" {
		filter, err := query.CompileFilter(asClaimed(e))
		if err != nil {
			return 0, err
		}
		return b.events.Delete(ctx, filter, store.DeleteOptions{})
	}
	now, err := b.leases.Cached(ctx)
	if err != nil {
		return 0, err
	}
	kept := document.NewBuilder(2)
	kept.Set(fieldDoneAt, int64(document.TimestampOf(now)))
	kept.Set(fieldSender, senderOf(e.lane))
	return b.update(ctx, asClaimed(e), updates().done, kept.Object())
}

// wasLost returns ErrLost if an update of an event matched nothing, because the event has changed since the lease
// began.
func wasLost(changed int64) error {
	if changed == 0 {
		return lease.ErrLost
	}
	return nil
}

// update changes the event that matches which, and returns the number of matches. set has further fields to set.
func (b *Inbox) update(ctx context.Context, which document.Object, update *query.Update, set document.Object) (int64, error) {
	filter, err := query.CompileFilter(which)
	if err != nil {
		return 0, err
	}
	change := query.Change{Update: update, Stamps: query.Stamps{Set: set}}
	done, err := b.events.Update(ctx, filter, change, store.UpdateOptions{})
	return done.Matched, err
}

// setAll sets and removes fields of the event that matches which. It returns the number of matches.
func (b *Inbox) setAll(ctx context.Context, which, set, unset document.Object) (int64, error) {
	update, err := query.CompileUpdate(document.O("$set", set, "$unset", unset))
	if err != nil {
		return 0, err
	}
	return b.update(ctx, which, update, document.Object{})
}

func (b *Inbox) fail(ctx context.Context, e stored, failure error) (outcome, error) {
	return b.failAs(ctx, asClaimed(e), e, failure)
}

// failAs is fail with a given filter for the event.
func (b *Inbox) failAs(ctx context.Context, which document.Object, e stored, failure error) (outcome, error) {
	failures := int(e.failures) + 1
	now, err := b.leases.Cached(ctx)
	if err != nil {
		return outcome{failure: failure}, err
	}
	result, level := outcome{failure: failure}, slog.LevelWarn
	set := document.O(fieldFailures, failures, fieldCode, string(boterr.CodeOf(failure)), fieldError, display.Brief(failure))
	unset := document.O(fieldBegun, true)
	if record.IsPermanent(failure) || failures >= b.config.Limit {
		result.isDead, result.isOver = true, true
		level = slog.LevelError
		set = set.With(fieldState, stateDead).With(fieldDiedAt, int64(document.TimestampOf(now))).With(fieldSender, senderOf(e.lane)).
			With(fieldDeadKey, deadKey(e.App, e.acceptedAt, e.id))
		unset = unset.With(fieldLane, true).With(fieldLost, true).With(fieldRetryAt, true).With(fieldPausedAt, true).With(fieldNoted, true)
	} else {
		if e.noted.Len() > 0 {
			set = set.With(fieldNoted, e.noted)
		} else {
			unset = unset.With(fieldNoted, true)
		}
		result.retryAt = now.Add(max(b.backoff.After(ctx, failures, e.isExact), boterr.RetryAfter(failure)))
		set = set.With(fieldRetryAt, int64(document.TimestampOf(result.retryAt))).With(fieldPausedAt, int64(document.TimestampOf(now)))
	}
	b.report(ctx, level, "inbox: failed", e, failure)
	changed, err := b.setAll(ctx, which, set, unset)
	if err != nil {
		return outcome{failure: failure}, err
	}
	if result.isDead {
		b.addLoad(e.App, -changed)
	}
	if changed > 0 {
		b.tellSettled(ctx, e, failure, result.isDead)
	}
	return result, wasLost(changed)
}

// countLost counts a start of a lane's first event that never came back, if the previous lease of the lane was
// lost and covered the event. Earlier events of that lease are done. The start counts as a failure if the event was the
// first one of its lease, and no other lease was lost with it. Otherwise it counts as a loss: a later event may not have
// begun, because only the release of the lease failed. Without such a start, the outcome is zero.
func (b *Inbox) countLost(ctx context.Context, held *lease.Lease, first stored) (outcome, error) {
	work, wasLost := held.Lost()
	if !wasLost || work.Purpose != purpose || !slices.Contains(work.Items, first.id) {
		return outcome{}, nil
	}
	if held.WasAlone() && work.Items[0] == first.id {
		return b.fail(ctx, first, ErrNeverCameBack)
	}
	return b.lose(ctx, first)
}

// lose stores that a start of an event never came back while other events ran. The event is handled again at
// once, as a suspect.
func (b *Inbox) lose(ctx context.Context, e stored) (outcome, error) {
	result := outcome{failure: ErrNeverCameBack}
	now, err := b.leases.Cached(ctx)
	if err != nil {
		return result, err
	}
	b.report(ctx, slog.LevelWarn, "inbox: lost with others", e, ErrNeverCameBack)
	changed, err := b.setAll(ctx, asClaimed(e), document.O(fieldLost, e.lost+1), document.O(fieldBegun, true))
	if err != nil {
		return result, err
	}
	result.retryAt = now
	return result, wasLost(changed)
}

// ErrShutdown is the context.Cause of a run whose inbox shuts down and no longer waits for it. The event is
// handled again, and the attempt does not count as a failure.
var ErrShutdown = boterr.New(boterr.Canceled, "", "the inbox is shutting down: the event will be handled again")

// ErrNeverCameBack is the failure of a start that never came back.
var ErrNeverCameBack = boterr.New(boterr.Internal, "",
	"the run of the event began and never finished: its process ended, or lost the lease")

// neverCameBackText is the stored text of ErrNeverCameBack.
var neverCameBackText = display.Brief(ErrNeverCameBack)

var errGoroutineEnded = boterr.New(boterr.Internal, "", "the handler ended its goroutine: return an error instead")

// isEnded reports whether a run failed after its context ended. Then the failure does not count.
func isEnded(ctx context.Context, failure error) bool {
	return failure != nil && ctx.Err() != nil && !errors.Is(failure, errGoroutineEnded)
}

// postponement is the error from Postpone.
type postponement struct{ pause time.Duration }

func (p *postponement) Error() string { return "postponed by " + p.pause.String() }

// Postpone returns an error for a Handler that cannot handle an event yet, for example during another run of
// the member. The handler gets the event again after the pause, and the attempt does not count as a failure.
// Meanwhile the lane waits.
func Postpone(pause time.Duration) error { return &postponement{pause: max(0, pause)} }

// isPostponed reports whether an error wraps one from Postpone.
func isPostponed(failure error) bool {
	_, ok := errors.AsType[*postponement](failure)
	return ok
}

// postpone stores the time of the next attempt at a postponed event.
func (b *Inbox) postpone(ctx context.Context, e stored, failure error) (outcome, error) {
	p, _ := errors.AsType[*postponement](failure)
	now, err := b.leases.Cached(ctx)
	if err != nil {
		return outcome{}, err
	}
	b.report(ctx, slog.LevelDebug, "inbox: postponed", e, failure)
	at := now.Add(p.pause)
	set := document.O(fieldRetryAt, int64(document.TimestampOf(at)), fieldPausedAt, int64(document.TimestampOf(now)))
	changed, err := b.setAll(ctx, asClaimed(e), set, document.O(fieldBegun, true))
	if err != nil {
		return outcome{}, err
	}
	return outcome{isPostponed: true, retryAt: at}, wasLost(changed)
}

// Operators may edit events in the database. Whatever they write, an event must not run endlessly, and its lane must
// continue. If the result of a run cannot be stored because the record does not match, the run counts as a failure. A
// record without a lane gets one.

// errEdited is the failure of a run during which the record was edited, so that its result cannot be stored.
var errEdited = boterr.New(boterr.Internal, "", "the record of the event changed during its run")

// settleEdited handles a result that matched no record. If the lease still holds, the record was edited during
// the run, and settleEdited stores a failure. If the event no longer waits, it is over. It returns ErrLost if
// the lease is lost.
func (b *Inbox) settleEdited(ctx context.Context, held *lease.Lease, e stored, failure error) (outcome, error) {
	if err := held.Check(ctx); err != nil {
		return outcome{failure: failure}, err
	}
	which := document.O(fieldID, e.id, fieldState, statePending)
	found, err := b.find(ctx, which, store.FindOptions{Limit: 1})
	if err != nil || len(found) == 0 {
		return outcome{failure: failure, isOver: true}, err
	}
	b.report(ctx, slog.LevelWarn, "inbox: edited while it ran", e, failure)
	if failure == nil || isPostponed(failure) {
		failure = errEdited
	}
	e.failures = max(e.failures, read(found[0]).failures)
	result, err := b.failAs(ctx, which, e, failure)
	if isLost(err) {
		return outcome{failure: failure, isOver: true}, nil // The event was removed meanwhile.
	}
	return result, err
}

// report writes a line of the log.
func (b *Inbox) report(ctx context.Context, level slog.Level, message string, e stored, failure error) {
	if !b.log.Enabled(ctx, level) {
		return
	}
	attributes := []slog.Attr{
		slog.String("event", e.id), slog.String("app", e.App), slog.String("channel", e.Channel),
		slog.Int64("attempt", e.attempts()+1),
	}
	if failure != nil {
		attributes = append(attributes, slog.String("error", display.Text(failure)))
	}
	b.log.LogAttrs(ctx, level, message, attributes...)
}

func isLost(err error) bool { return errors.Is(err, lease.ErrLost) }

// suspicion returns the level of suspicion of an event; see package blame.
func (e stored) suspicion() blame.Level {
	losses := e.lost
	if e.neverCameBack {
		losses += e.failures
	}
	return blame.LevelOf(losses)
}

// untilSuspect returns the first events of a lane that may run under one lease. A suspect gets a separate lease.
func untilSuspect(events []stored) []stored {
	at := slices.IndexFunc(events, func(e stored) bool { return e.suspicion() > blame.None })
	if at < 0 {
		return events
	}
	return events[:max(1, at)]
}

// enter enters a lane for its first event. ok is false if the event is a suspect that must wait, or if
// Config.Enter refuses the lane.
func (b *Inbox) enter(lane string, first stored) (leave func(), ok bool) {
	// Without an App, suspects are admitted in the order of the lanes, which already take turns by app.
	run := blame.Run{Name: lane, Level: first.suspicion(), Losses: first.lost}
	if !b.suspects.Admit(run, int(b.underWay.Load()), b.config.Env.Now()) {
		return nil, false
	}
	further, ok := b.config.Enter(lane)
	if !ok {
		b.endSuspect(lane)
		return nil, false
	}
	b.underWay.Add(1)
	return func() {
		b.underWay.Add(-1)
		further()
		b.endSuspect(lane)
	}, true
}

// endSuspect ends the run of a lane's suspect, if it has one, and makes the lanes ready that waited for it.
func (b *Inbox) endSuspect(lane string) {
	for _, waited := range b.suspects.End(lane, b.config.Env.Now()) {
		b.source.base().markFree(waited)
	}
}
