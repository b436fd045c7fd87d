package inbox

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/store"
)

// Result tells what RunNext did.
type Result struct {
	// Ran tells that there was an event, ID is its id in the inbox and Event the event.
	Ran   bool
	ID    string
	Event Event
	// Err is why it failed, IsDead tells that it is a dead letter now, and Next is when it is
	// tried again otherwise.
	Err    error
	IsDead bool
	Next   time.Time
	// IsPostponed tells that it was not tried, see Postpone.
	IsPostponed bool
}

// Next returns when the next event can be handled, by the store's clock: now where one can. ok is
// false where there is none to wait for. Events whose lanes Config.Enter refuses do not count, so that
// who calls RunNext until it ran nothing, and then waits for Next, comes to an end. The errors are those
// of the store.
func (b *Inbox) Next(ctx context.Context) (at time.Time, ok bool, err error) { return b.feed.next(ctx) }

// LaneLeft tells that a lane can be entered which Config.Enter has refused, or whose turn this process
// held for something else, so that Run looks at it at once, and not with the next poll.
func (b *Inbox) LaneLeft(lane string) { b.feed.isFree(lane) }

// RunNext handles the first event that can be handled, and stores what came of it. The turn is not
// renewed: where the handler lets more time than a lease pass, what came of it does not count.
// It is for hosts that drive the inbox by themselves, such as in virtual time. The error is one of the
// store, or lease.ErrLost.
func (b *Inbox) RunNext(ctx context.Context) (Result, error) {
	from := b.feed
	if _, isShared := from.(*shared); isShared {
		from = newShared(b) // Which looks at everything anew, and leaves a Run alone.
	}
	for isFirst := true; ; isFirst = false {
		taken, _, err := from.take(ctx, want{lanes: 1, each: 1, part: whole, isNew: isFirst, isForced: true})
		if err != nil || len(taken) == 0 {
			return Result{}, err
		}
		if result, err := b.runFirst(ctx, from, taken[0]); err != nil || result.Ran {
			return result, err
		}
	}
}

// runFirst handles the first event of a lane that was taken.
func (b *Inbox) runFirst(ctx context.Context, from feed, w work) (result Result, err error) {
	left := rest{isBroken: true} // Where the goroutine ends.
	defer func() { from.leave(ctx, w, left) }()
	turn, err := from.begin(ctx, w)
	if err != nil || turn == nil {
		return Result{}, err
	}
	defer func() { b.end(ctx, turn, turn.Err()) }()
	return b.runTurn(ctx, turn, w.events[0], &left)
}

// runTurn handles an event within a turn that was claimed here.
func (b *Inbox) runTurn(ctx context.Context, turn *lease.Turn, e stored, left *rest) (Result, error) {
	done, err := b.countLost(ctx, turn, e, whole)
	if err == nil && done.failure == nil {
		done, err = b.handle(ctx, turn, e, whole)
	}
	*left = done.rest(err)
	return Result{
		Ran: true, ID: e.id, Event: e.Event, Err: done.failure, IsDead: done.isDead, Next: done.retryAt, IsPostponed: done.isPostponed,
	}, err
}

// feedOf returns what finds the events of a store.
func feedOf(b *Inbox, database store.Store, guarded store.Store) feed {
	if watcher, isAlone := database.(store.Watcher); isAlone {
		return newAlone(b, watcher, guarded.Collection(noteCollection))
	}
	return newShared(b)
}
