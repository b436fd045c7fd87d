package agenda

import (
	"context"
	"sync"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/record"
)

// polledQueue is the candidates of a store that is asked each time. An index gives them
// in order, priority by priority.
type polledQueue struct {
	store document.Collection
	// byPriority and byTime are the orders of all agendas and of those of one priority.
	byPriority, byTime *document.Sort

	mu      sync.Mutex
	indexed bool
}

var _ candidates = (*polledQueue)(nil)

func newPolledQueue(store document.Collection) *polledQueue {
	return &polledQueue{
		store:      store,
		byPriority: mustSort(document.O(fieldPriority, 1, fieldNextRunAt, 1, record.FieldCreatedAt, 1)),
		byTime:     mustSort(document.O(fieldNextRunAt, 1, record.FieldCreatedAt, 1)),
	}
}

// mustSort compiles a sort that is known to be one.
func mustSort(source document.Object) *document.Sort {
	sort, err := document.CompileSort(source)
	if err != nil {
		panic(err)
	}
	return sort
}

// ensureIndex makes the index that the questions need, once.
func (p *polledQueue) ensureIndex(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.indexed {
		return nil
	}
	err := p.store.EnsureIndex(ctx, document.Index{Keys: []document.IndexKey{
		{Path: fieldCompleted, Kind: document.Ascending},
		{Path: fieldPriority, Kind: document.Ascending},
		{Path: fieldNextRunAt, Kind: document.Ascending},
		{Path: record.FieldCreatedAt, Kind: document.Ascending},
	}})
	p.indexed = err == nil
	return err
}

// take implements candidates. It takes nothing out: another worker may find the same.
func (p *polledQueue) take(ctx context.Context, now time.Time, limit int) ([]document.Object, error) {
	if err := p.ensureIndex(ctx); err != nil {
		return nil, err
	}
	var found []document.Object
	priority, ok, err := p.firstPriority(ctx, document.O(fieldCompleted, false))
	for ; err == nil && ok && len(found) < limit; priority, ok, err = p.priorityAfter(ctx, priority) {
		more, err := p.find(ctx, document.O(
			fieldCompleted, false, fieldPriority, priority, "$and", conditionsOfDue(now),
		), document.FindOptions{Sort: p.byTime, Limit: int64(limit - len(found))})
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, err
}

// priorityAfter returns the smallest priority of an open agenda above another one.
func (p *polledQueue) priorityAfter(ctx context.Context, priority any) (next any, ok bool, err error) {
	return p.firstPriority(ctx, document.O(fieldCompleted, false, fieldPriority, document.O("$gt", priority)))
}

// firstPriority returns the smallest priority of the agendas that match.
func (p *polledQueue) firstPriority(ctx context.Context, filter document.Object) (priority any, ok bool, err error) {
	found, err := p.find(ctx, filter, document.FindOptions{Sort: p.byPriority, Limit: 1})
	if err != nil || len(found) == 0 {
		return nil, false, err
	}
	priority, ok = found[0].Field(fieldPriority)
	return priority, ok, nil
}

// find finds by a filter that it compiles.
func (p *polledQueue) find(
	ctx context.Context, filter document.Object, options document.FindOptions,
) ([]document.Object, error) {
	compiled, err := document.CompileFilter(filter)
	if err != nil {
		return nil, err
	}
	return p.store.Find(ctx, compiled, options)
}

// conditionsOfDue returns the conditions under which an open agenda can be claimed.
func conditionsOfDue(now time.Time) document.Array {
	return document.A(
		document.O(fieldNextRunAt, document.O("$lte", millis(now))),
		document.O("$nor", isHeld(now)),
		isAlive(),
	)
}

// isHeld is the conditions of which one keeps an agenda from being claimed.
func isHeld(now time.Time) document.Array {
	later := document.O("$gt", millis(now))
	return document.A(document.O(fieldLeaseUntil, later), document.O(fieldRetryAt, later))
}

// isAlive is the condition that an agenda has not failed for good.
func isAlive() document.Object {
	return document.O("$or", document.A(
		document.O(fieldFailed, document.O("$ne", true)),
		document.O(fieldPattern, document.O("$gt", "")),
	))
}

// giveBack implements candidates: there is nothing to do.
func (p *polledQueue) giveBack(document.Object) {}

// next implements candidates.
func (p *polledQueue) next(ctx context.Context, now time.Time) (at time.Time, ok bool, err error) {
	due, err := p.count(ctx, now)
	if err != nil || due > 0 {
		return now, err == nil, err
	}
	later, err := p.find(ctx, document.O(fieldCompleted, false, "$and", document.A(
		document.O(fieldNextRunAt, document.O("$gt", millis(now))), document.O("$nor", isHeld(now)), isAlive(),
	)), document.FindOptions{Sort: p.byTime, Limit: 1})
	if err != nil {
		return at, false, err
	}
	paused, err := p.find(ctx, document.O(
		fieldCompleted, false, "$and", document.A(document.O("$or", isHeld(now)), isAlive()),
	), document.FindOptions{})
	if err != nil {
		return at, false, err
	}
	q := newQueue(0)
	for _, o := range append(later, paused...) {
		q.set(idOf(o), o)
	}
	next, ok := q.next(millis(now))
	return document.Timestamp(next).Time(), ok, nil
}

// count implements candidates.
func (p *polledQueue) count(ctx context.Context, now time.Time) (int, error) {
	filter, err := document.CompileFilter(document.O(fieldCompleted, false, "$and", conditionsOfDue(now)))
	if err != nil {
		return 0, err
	}
	count, err := p.store.Count(ctx, filter)
	return int(count), err
}

// idle implements candidates.
func (p *polledQueue) idle(_ time.Time, atMost time.Duration) time.Duration { return atMost }

// woken implements candidates.
func (p *polledQueue) woken() <-chan struct{} { return nil }

// close implements candidates: there is nothing to do.
func (p *polledQueue) close() {}
