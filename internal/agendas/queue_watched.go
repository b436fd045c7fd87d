package agendas

import (
	"context"
	"sync"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
)

// watchedQueue finds candidates in a queue in memory. The queue is filled at the first call, and then updated
// with the changes that a watched store reports.
type watchedQueue struct {
	watcher store.Watcher
	store   store.Collection
	wake    chan struct{}
	// filling is held while the queue is filled or closed. The order of locks is filling, the store's lock, mu.
	filling sync.Mutex
	// stop ends the watch. It is nil until the watch begins.
	stop func()

	mu sync.Mutex
	// queue is nil until it is filled.
	queue *queue
	// early are the changes made while the queue is being filled.
	early     []change
	isFilling bool
}

// change is a change of an agenda. after is the zero Object if it was removed.
type change struct {
	id    string
	after document.Object
}

func (q *queue) apply(c change) (isNext bool) {
	if c.after.IsZero() {
		q.remove(c.id)
		return false
	}
	return q.set(c.id, c.after)
}

var _ candidates = (*watchedQueue)(nil)

func newWatchedQueue(watcher store.Watcher, collection store.Collection) *watchedQueue {
	return &watchedQueue{watcher: watcher, store: collection, wake: make(chan struct{}, 1)}
}

// filled calls run with the queue. It fills the queue first if necessary.
func (w *watchedQueue) filled(ctx context.Context, run func(*queue)) error {
	for {
		w.mu.Lock()
		if w.queue != nil {
			run(w.queue)
			w.mu.Unlock()
			return nil
		}
		w.mu.Unlock()
		if err := w.fill(ctx); err != nil {
			return err
		}
	}
}

// fill fills the queue, unless another call has filled it or reset was called meanwhile.
func (w *watchedQueue) fill(ctx context.Context) error {
	w.filling.Lock()
	defer w.filling.Unlock()
	w.mu.Lock()
	w.isFilling, w.early = w.queue == nil, nil
	isFull := w.queue != nil
	w.mu.Unlock()
	if isFull {
		return nil
	}
	if w.stop == nil {
		w.stop = w.watcher.Watch(schema.Collection, w.changed, w.reset)
	}
	found, err := w.store.Find(ctx, query.Must(query.CompileFilter(document.O(fieldCompleted, false))), store.FindOptions{})
	q := newQueue(len(found))
	for _, o := range found {
		q.set(idOf(o), o)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && w.isFilling {
		for _, c := range w.early {
			q.apply(c)
		}
		w.queue = q
	}
	w.isFilling, w.early = false, nil
	return err
}

// changed handles a change of an agenda.
func (w *watchedQueue) changed(before, after document.Object) {
	c := change{idOf(after), after}
	if after.IsZero() {
		c.id = idOf(before)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.isFilling:
		w.early = append(w.early, c)
	case w.queue != nil && w.queue.apply(c):
		w.signal()
	}
}

// reset is called when any number of agendas may have changed.
func (w *watchedQueue) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue, w.isFilling, w.early = nil, false, nil
	w.signal()
}

// signal wakes a goroutine that waits for the next due agenda.
func (w *watchedQueue) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *watchedQueue) first(ctx context.Context, now time.Time) (first document.Object, err error) {
	err = w.filled(ctx, func(q *queue) {
		if e := q.take(millis(now)); e != nil {
			first = e.seen
		}
	})
	return first, err
}

func (w *watchedQueue) take(
	ctx context.Context, now time.Time, limit int, _ time.Duration, places *fair.Shares,
) (taken []document.Object, isLeft bool, err error) {
	err = w.filled(ctx, func(q *queue) { taken, isLeft = q.takeFairly(millis(now), limit, places) })
	return taken, isLeft, err
}

func (w *watchedQueue) giveBack(taken document.Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queue != nil {
		w.queue.giveBack(idOf(taken))
	}
}

func (w *watchedQueue) putBack(taken document.Object) { w.giveBack(taken) }

func (w *watchedQueue) deferUntil(taken document.Object, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queue != nil {
		w.queue.deferUntil(idOf(taken), millis(at))
	}
}

// expect implements candidates. It does nothing, because the store reports the change.
func (*watchedQueue) expect(time.Time) {}

func (w *watchedQueue) next(ctx context.Context, now time.Time) (at time.Time, ok bool, err error) {
	err = w.filled(ctx, func(q *queue) {
		var next int64
		next, ok = q.next(millis(now))
		at = document.Timestamp(next).Time()
	})
	return at, ok, err
}

func (w *watchedQueue) count(ctx context.Context, now time.Time) (count int, err error) {
	err = w.filled(ctx, func(q *queue) { count = q.countDue(millis(now)) })
	return count, err
}

func (w *watchedQueue) idle(now time.Time, atMost time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queue == nil {
		return 0
	}
	next, ok := w.queue.nextWaiting() // Due agendas do not count, because they wait for a place.
	if !ok {
		return atMost
	}
	return min(max(0, document.Timestamp(next).Time().Sub(now)), atMost)
}

func (w *watchedQueue) woken() <-chan struct{} { return w.wake }

// close implements candidates. It ends the watch and drops the queue.
func (w *watchedQueue) close() {
	w.filling.Lock()
	defer w.filling.Unlock()
	w.mu.Lock()
	w.queue, w.early = nil, nil
	w.mu.Unlock()
	if stop := w.stop; stop != nil {
		w.stop = nil // Before stop is called, which may panic.
		stop()
	}
}
