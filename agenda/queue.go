package agenda

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/document"
)

// candidates tells which agendas can be claimed. now is always a time of the store's
// clock. It is safe for concurrent use.
type candidates interface {
	// first returns the first of the agendas that are due, in the order in which they run, as it is now;
	// the zero Object where none is. The caller claims it, or gives it back.
	first(ctx context.Context, now time.Time) (document.Object, error)
	// take is first for at most limit of them. They may be agendas that were found up to maxAge ago.
	take(ctx context.Context, now time.Time, limit int, maxAge time.Duration) ([]document.Object, error)
	// giveBack tells that a claim of an agenda that was taken did not come about.
	giveBack(taken document.Object)
	// next returns when the next agenda can be claimed: now where one is due.
	next(ctx context.Context, now time.Time) (at time.Time, ok bool, err error)
	// count returns the number of agendas that are due.
	count(ctx context.Context, now time.Time) (int, error)
	// idle returns how long to wait where nothing was due at now, at most so long.
	idle(now time.Time, atMost time.Duration) time.Duration
	// woken receives when idle may have become less; nil where that is not known.
	woken() <-chan struct{}
	// close ends what goes on between the calls, until the next one.
	close()
}

// queue holds the open agendas of a store in memory. Its zero value is not ready: see
// newQueue.
type queue struct {
	byID         map[string]*entry
	waiting, due heap
	arrivals     uint64
}

func newQueue(size int) *queue {
	return &queue{
		byID:    make(map[string]*entry, size),
		waiting: heap{place: waiting, slots: make([]slot, 0, size)},
		due:     heap{place: due},
	}
}

// set replaces an agenda by its newest version, and reports whether it may now be the next one due.
func (q *queue) set(id string, o document.Object) bool {
	known, ok := q.byID[id]
	if ok {
		q.takeOut(known)
	} else {
		known = &entry{arrival: q.arrivals}
	}
	completed, stopped := known.read(o)
	if completed {
		delete(q.byID, id)
		return false
	}
	if !ok {
		q.byID[id] = known
		q.arrivals++
	}
	if stopped {
		known.place = parked
		return false
	}
	q.waiting.push(known)
	return known.index == 0
}

// remove takes an agenda out.
func (q *queue) remove(id string) {
	if known, ok := q.byID[id]; ok {
		q.takeOut(known)
		delete(q.byID, id)
	}
}

// takeOut takes an entry out of the heap that it is in.
func (q *queue) takeOut(e *entry) {
	switch e.place {
	case waiting:
		q.waiting.remove(e)
	case due:
		q.due.remove(e)
	case nowhere, parked:
	}
}

// refresh moves the entries that have become due. Where the clock went back, it moves those that
// are not due any more out of the way, until the first one is.
func (q *queue) refresh(now int64) {
	for e := q.due.top(); e != nil && e.dueAt() > now; e = q.due.top() {
		q.due.remove(e)
		q.waiting.push(e)
	}
	for e := q.waiting.top(); e != nil && e.dueAt() <= now; e = q.waiting.top() {
		q.waiting.remove(e)
		q.due.push(e)
	}
}

// take takes the first entry that is due out of its heap, nil where there is none.
func (q *queue) take(now int64) *entry {
	q.refresh(now)
	e := q.due.top()
	if e != nil {
		q.due.remove(e)
	}
	return e
}

// giveBack puts an agenda that was taken, and has not changed since, where it was.
func (q *queue) giveBack(id string) {
	if e, ok := q.byID[id]; ok && e.place == nowhere {
		q.waiting.push(e)
	}
}

// next returns when the next entry can be claimed.
func (q *queue) next(now int64) (at int64, ok bool) {
	q.refresh(now)
	if q.due.top() != nil {
		return now, true
	}
	if e := q.waiting.top(); e != nil {
		return e.dueAt(), true
	}
	return 0, false
}
