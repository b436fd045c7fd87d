package inbox

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
)

// fill fills the queue where that is needed, and follows the store from then on. The caller holds
// taking.
func (a *alone) fill(ctx context.Context) error {
	for !a.isFilled() {
		if err := a.watch(); err != nil {
			return err
		}
		found, err := a.find(ctx, document.O(fieldState, document.O("$in", document.A(statePending, stateDead))), store.FindOptions{})
		q := newQueue()
		for _, o := range found {
			q.change(document.Object{}, o)
		}
		a.filled(q, err)
		if err != nil {
			return err
		}
	}
	return nil
}

// isFilled reports whether there is a queue, and notes that it is being filled where there is none.
func (a *alone) isFilled() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.isFilling, a.early = a.queue == nil, nil
	return a.queue != nil
}

// filled sets the queue, unless all has changed meanwhile.
func (a *alone) filled(q *queue, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil && a.isFilling {
		for _, c := range a.early {
			q.catchUp(c.before, c.after)
		}
		for lane := range a.begun {
			q.hold(lane)
		}
		a.queue = q
	}
	a.isFilling, a.early = false, nil
}

// watch begins to follow the store. A panic of the watcher is an error.
func (a *alone) watch() (err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			err = boterr.Recovered(thrown)
		}
	}()
	if len(a.stop) == 0 {
		a.stop = append(a.stop, a.watcher.Watch(collection, a.changed, a.reset))
	}
	if len(a.stop) == 1 {
		a.stop = append(a.stop, a.watcher.Watch(noteCollection, a.noteChanged, a.reset))
	}
	return nil
}

// changed is told each change of an event.
func (a *alone) changed(before, after document.Object) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.isFilling:
		a.early = append(a.early, documentChange{before, after})
	case a.queue != nil && a.queue.change(before, after):
		a.signal()
	}
}

// reset is told that everything changed: who has the seat is to be found out anew, and what is under
// way belongs to what was.
func (a *alone) reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.endLocked()
	a.isUnseated, a.isFilling, a.early = false, false, nil
	a.signal()
}

// close implements feed.
func (a *alone) close(ctx context.Context) {
	a.taking.Lock()
	defer a.taking.Unlock()
	a.leaveSeat(ctx)
	for _, stop := range a.stop {
		stopQuietly(stop)
	}
	a.stop = nil
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queue = nil
}

// stopQuietly ends the watching. What it panics with is dropped: nothing that is told later counts.
func stopQuietly(stop func()) {
	defer func() { _ = recover() }()
	stop()
}
