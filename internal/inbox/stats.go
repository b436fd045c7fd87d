package inbox

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
)

// Stats tells how much there is to do.
type Stats struct {
	// Pending is the number of events that wait or are handled, and Oldest when the first of them
	// was accepted, zero where there are none.
	Pending int64
	Oldest  time.Time
	// DeadLetters is the number of events that were given up.
	DeadLetters int64
	// Lanes is the number of lanes that this process is handling.
	Lanes int
}

// Stats counts, by the store. The errors are those of the store.
func (b *Inbox) Stats(ctx context.Context) (stats Stats, err error) {
	if stats.Pending, err = b.feed.pending(ctx); err != nil {
		return Stats{}, err
	}
	b.load.forget()
	if stats.Oldest, err = b.feed.oldest(ctx); err != nil {
		return Stats{}, err
	}
	if stats.DeadLetters, err = b.count(ctx, allDead()); err != nil {
		return Stats{}, err
	}
	stats.Lanes = b.feed.handling()
	return stats, nil
}

// pending implements feed.
func (s *shared) pending(ctx context.Context) (int64, error) { return s.countPending(ctx) }

// pending implements feed. Without a queue, all events are looked at.
func (a *alone) pending(ctx context.Context) (int64, error) {
	a.mu.Lock()
	q := a.queue
	var pending int64
	if q != nil {
		pending = q.pending
	}
	a.mu.Unlock()
	if q != nil {
		return pending, nil
	}
	return a.countPending(ctx)
}

// pendingOf implements feed.
func (s *shared) pendingOf(ctx context.Context, app string) (int64, error) {
	return s.countPendingOf(ctx, app)
}

// pendingOf implements feed. Without a queue, all events of the app are looked at.
func (a *alone) pendingOf(ctx context.Context, app string) (int64, error) {
	a.mu.Lock()
	q := a.queue
	var pending int64
	if q != nil {
		pending = q.ofApp[app]
	}
	a.mu.Unlock()
	if q != nil {
		return pending, nil
	}
	return a.countPendingOf(ctx, app)
}

// countPendingOf has the store count the events of an app that wait or are handled.
func (b *Inbox) countPendingOf(ctx context.Context, app string) (int64, error) {
	return b.count(ctx, document.O(fieldState, statePending, fieldApp, app))
}

// countPending has the store count the events that wait or are handled.
func (b *Inbox) countPending(ctx context.Context) (int64, error) {
	return b.count(ctx, document.O(fieldState, statePending))
}

// oldest implements feed.
func (s *shared) oldest(ctx context.Context) (time.Time, error) { return s.findOldest(ctx) }

// oldest implements feed. Without a queue, all events are looked at.
func (a *alone) oldest(ctx context.Context) (time.Time, error) {
	a.mu.Lock()
	q := a.queue
	var first document.Object
	if q != nil {
		first = q.oldest()
	}
	a.mu.Unlock()
	if q != nil {
		return acceptedAtOf(first), nil
	}
	return a.findOldest(ctx)
}

// findOldest asks the store for the first event that waits or is handled.
func (b *Inbox) findOldest(ctx context.Context) (time.Time, error) {
	first, err := b.findSorted(ctx, document.O(fieldState, statePending), fieldAcceptedAt, store.FindOptions{Limit: 1})
	if err != nil || len(first) == 0 {
		return time.Time{}, err
	}
	return acceptedAtOf(first[0]), nil
}

// acceptedAtOf returns when an event was accepted, zero for none.
func acceptedAtOf(o document.Object) time.Time {
	if o.IsZero() {
		return time.Time{}
	}
	return document.Timestamp(read(o).acceptedAt).Time()
}
