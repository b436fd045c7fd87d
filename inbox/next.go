package inbox

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/lease"
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
}

// Next returns when the next event can be handled, by the store's clock: now where one can. ok is
// false where there is none to wait for. The errors are those of the store.
func (b *Inbox) Next(ctx context.Context) (at time.Time, ok bool, err error) {
	var except []string
	for {
		found, err := b.look(ctx, except)
		if err != nil {
			return time.Time{}, false, err
		}
		if len(found.free) > 0 {
			now, err := b.turns.Now(ctx)
			return now, err == nil, err
		}
		for lane, from := range found.waiting {
			if !ok || from.Before(at) {
				at, ok = from, true
			}
			except = append(except, lane)
		}
		if found.isWhole {
			return at, ok, nil
		}
	}
}

// RunNext handles the first event that can be handled, and stores what came of it. The turn is not
// renewed: where the handler lets more time than a lease pass, what came of it does not count.
// It is for hosts that drive the inbox by themselves, such as in virtual time. The error is one of the
// store, or lease.ErrLost.
func (b *Inbox) RunNext(ctx context.Context) (Result, error) {
	var except []string
	for {
		found, err := b.look(ctx, except)
		if err != nil {
			return Result{}, err
		}
		for _, w := range found.free {
			result, err := b.runHere(ctx, w)
			if err != nil || result.Ran {
				return result, err
			}
		}
		if found.isWhole {
			return Result{}, nil
		}
		for lane := range found.waiting {
			except = append(except, lane)
		}
		for _, w := range found.free {
			except = append(except, w.lane)
		}
	}
}

// runHere handles the first event of a lane.
func (b *Inbox) runHere(ctx context.Context, w work) (Result, error) {
	leave, ok := b.enter(w.lane)
	if !ok {
		return Result{}, nil
	}
	defer leave()
	turn, err := b.claim(ctx, w)
	if err != nil || turn == nil {
		return Result{}, err
	}
	defer func() {
		if turn.Err() == nil {
			b.release(ctx, turn)
		}
	}()
	return b.runFirst(ctx, turn, w.events[0])
}

// runFirst handles an event within a turn that was claimed here.
func (b *Inbox) runFirst(ctx context.Context, turn *lease.Turn, e stored) (Result, error) {
	done, err := b.countLost(ctx, turn, e, whole)
	if err == nil && done.failure == nil {
		done, err = b.handle(ctx, turn, e, whole)
	}
	return Result{Ran: true, ID: e.id, Event: e.Event, Err: done.failure, IsDead: done.isDead, Next: done.retryAt}, err
}

// enter enters a lane, here and where Config.Enter says, and returns how to leave it.
func (b *Inbox) enter(lane string) (leave func(), ok bool) {
	if !b.busy.enter(lane) {
		return nil, false
	}
	further, ok := b.config.Enter(lane)
	if !ok {
		b.busy.leave(lane)
		return nil, false
	}
	return func() {
		further()
		if b.busy.leave(lane) {
			b.signal()
		}
	}, true
}
