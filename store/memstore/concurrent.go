package memstore

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/internal/query"
)

// program is a write, with the state that its attempts reuse.
type program struct {
	op     engine.Op
	call   query.Evaluation
	trying transaction
}

func (p *program) in(t *transaction) error {
	p.call.Resume(t.ctx)
	t.call = &p.call
	return p.op.Run(&p.call, t)
}

// Write implements engine.Port. A long write runs without the lock of its collection, so that it does not
// block others, and takes the lock only to apply its changes on top of concurrent writes. If those writes
// affect it, it starts again. Each time it may hold the lock longer, so that it eventually succeeds.
func (v *versions) Write(ctx context.Context, op engine.Op) error {
	p := &program{op: op, call: *query.NewEvaluation(ctx)}
	p.call.Share(v.newest.Load().shapes)
	for looks := v.firstLooks; ; looks = moreLooks * (looks + 1) {
		err := v.write(ctx, looks, &p.trying, p.in)
		if err != engine.ErrTooLong { //nolint:errorlint // It is never wrapped.
			return err
		}
		w := concurrentWrite{versions: v, program: p}
		if err := w.carryOut(ctx); err != engine.ErrLost { //nolint:errorlint // It is never wrapped.
			return err
		}
	}
}

func (t *transaction) runLocked(looks int, run func(*transaction) error) error {
	t.bounded = countingContext{Context: t.ctx, left: looks}
	t.ctx = &t.bounded
	err := run(t)
	if t.bounded.left < 0 {
		return engine.ErrTooLong
	}
	return err
}

// concurrentWrite is a write that runs without the lock of its collection.
type concurrentWrite struct {
	versions *versions
	program  *program

	follower engine.Follower
	// resets is versions.resets at the beginning of the write.
	resets int
	// made is the transaction with the changes of the write.
	made *transaction
	// missed are the concurrent changes that are not compared yet.
	missed []engine.Change
}

// carryOut runs the write on the current content, and then applies its changes to the newest content. The
// error is engine.ErrLost if concurrent writes affect it.
func (w *concurrentWrite) carryOut(ctx context.Context) error {
	base, err := w.follow(ctx)
	if err != nil {
		return err
	}
	defer w.follower.Leave()
	w.made = new(transaction)
	w.made.begin(ctx, base)
	w.made.isObserved = true
	if err := w.program.in(w.made); err != nil || !w.made.isChanged() {
		return err
	}
	for looks := w.versions.firstLooks; ; looks = moreLooks * (looks + 1) {
		err := w.versions.write(ctx, looks, new(transaction), func(now *transaction) error { return w.settle(ctx, now) })
		if err != engine.ErrTooLong { //nolint:errorlint // It is never wrapped.
			return err
		}
		if err := w.compare(ctx); err != nil {
			return err
		}
	}
}

// follow returns the newest content, and collects all later writes.
func (w *concurrentWrite) follow(ctx context.Context) (*content, error) {
	v := w.versions
	if err := v.writing.take(ctx); err != nil {
		return nil, err
	}
	defer v.writing.Unlock()
	v.followers.Add(&w.follower)
	w.resets = v.resets
	return v.newest.Load(), nil
}

// settle moves the prepared changes into a transaction that has the lock.
func (w *concurrentWrite) settle(ctx context.Context, now *transaction) error {
	w.missed = append(w.missed, w.follower.Changes...)
	w.follower.Changes = nil
	if w.follower.IsFull || w.resets != w.versions.resets {
		return engine.ErrLost
	}
	if err := w.compare(now.ctx); err != nil { //nolint:contextcheck // The lock's context ends before ctx.
		return err
	}
	now.ctx = ctx
	return now.adopt(w.made)
}

// compare returns engine.ErrLost if concurrent writes affect this one.
func (w *concurrentWrite) compare(ctx context.Context) error {
	w.program.call.Resume(ctx)
	for ; len(w.missed) > 0; w.missed = w.missed[1:] {
		if err := engine.CheckEnded(ctx); err != nil {
			return err
		}
		if w.missed[0].Affects(&w.program.call, w.program.op) {
			return engine.ErrLost
		}
	}
	return nil
}

// adopt repeats the changes of another transaction. That transaction began with the same content as this one,
// or with an earlier content that differs in nothing that affects the changes.
func (t *transaction) adopt(made *transaction) error {
	if t.before == made.before {
		t.next, t.changes, t.isIndexed = made.next, made.changes, made.isIndexed
		return nil
	}
	if made.isIndexed {
		return engine.ErrLost
	}
	for i := range made.changes {
		err := made.changes[i].Repeat(t)
		if boterr.CodeOf(err) == boterr.AlreadyExists {
			return engine.ErrLost // Another write has taken a key. The next attempt finds which document has it.
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeLock is the lock under which the next content of a collection is made. A context can end the wait for
// it. The zero writeLock is free.
type writeLock struct {
	sync.Mutex

	// waiting is the number of waiters with a context. freed signals one of them that the lock is free. It is
	// created before the first waiter.
	waiting atomic.Int32
	making  sync.Once
	freed   chan struct{}
}

// take takes the lock, unless ctx ends before.
func (t *writeLock) take(ctx context.Context) error {
	if t.TryLock() {
		return nil
	}
	t.making.Do(func() { t.freed = make(chan struct{}, 1) })
	t.waiting.Add(1)
	defer t.waiting.Add(-1)
	for !t.TryLock() {
		select {
		case <-t.freed:
		case <-ctx.Done():
			return engine.CheckEnded(ctx)
		}
	}
	return nil
}

// Unlock releases the lock.
func (t *writeLock) Unlock() {
	t.Mutex.Unlock()
	if t.waiting.Load() == 0 {
		return
	}
	select {
	case t.freed <- struct{}{}:
	default: // The signal is pending already.
	}
}

const (
	// firstLooks is the number of times that a write may check its context under the lock, once after each piece
	// of work: about a quarter of a millisecond in all. A longer write runs again without the lock, and the time
	// under the lock is wasted.
	firstLooks = 16
	// moreLooks is the factor by which the number of checks grows after each lost race.
	moreLooks = 4
)

// countingContext is the context of a write under the lock. It ends after a number of checks.
type countingContext struct {
	context.Context //nolint:containedctx // It is a context.

	// left is the number of remaining checks. It is negative once the write has checked more often.
	left int
}

func (c *countingContext) Err() error {
	if err := c.Context.Err(); err != nil {
		return err
	}
	if c.left <= 0 {
		c.left = -1
		return context.DeadlineExceeded
	}
	c.left--
	return nil
}
