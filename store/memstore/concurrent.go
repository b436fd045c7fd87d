package memstore

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/internal/query"
)

var (
	// errTooLong ends a transaction that takes longer than it may keep the lock.
	errTooLong = boterr.New(boterr.Internal, "", "the write takes longer than it may keep the lock")
	// errLost is the error of a transaction that read data which another write has changed since.
	errLost = boterr.New(boterr.Internal, "", "another write came first")
)

// inTransaction is work in a transaction.
type inTransaction interface{ in(t *transaction) error }

type transactionFunc func(*transaction) error

func (f transactionFunc) in(t *transaction) error { return f(t) }

// program is a write, with the memory of its attempts.
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

// carryOut carries out a write. A long write runs without the lock of its collection, so that it does not
// block others, and takes the lock only to apply its changes on top of concurrent writes. If those writes
// affect it, it starts again. Each time it may hold the lock longer, so that it eventually succeeds.
func (v *versions) carryOut(ctx context.Context, op engine.Op) error {
	p := &program{op: op, call: *query.NewEvaluation(ctx)}
	p.call.Share(v.newest.Load().shapes)
	for looks := v.firstLooks; ; looks = moreLooks * (looks + 1) {
		err := v.write(ctx, looks, &p.trying, p)
		if err != errTooLong { //nolint:errorlint // It comes as it is.
			return err
		}
		w := concurrentWrite{versions: v, program: p}
		if err := w.carryOut(ctx); err != errLost { //nolint:errorlint // It comes as it is.
			return err
		}
	}
}

func (t *transaction) runLocked(looks int, run inTransaction) error {
	t.bounded = countingContext{Context: t.ctx, left: looks}
	t.ctx = &t.bounded
	err := run.in(t)
	if t.bounded.left < 0 {
		return errTooLong
	}
	return err
}

// concurrentWrite is a write that runs without the lock of its collection.
type concurrentWrite struct {
	versions *versions
	program  *program

	follower follower
	made     *transaction
	// missed are the concurrent changes that are not compared yet.
	missed []documentChange
}

// carryOut runs the write on the current content, and then applies its changes to the newest content. The
// error is errLost if concurrent writes affect it.
func (w *concurrentWrite) carryOut(ctx context.Context) error {
	base, err := w.follow(ctx)
	if err != nil {
		return err
	}
	defer w.follower.hasLeft.Store(true)
	w.made = new(transaction)
	w.made.begin(ctx, base)
	w.made.isObserved = true
	if err := w.program.in(w.made); err != nil || !w.made.isChanged() {
		return err
	}
	for looks := w.versions.firstLooks; ; looks = moreLooks * (looks + 1) {
		err := w.versions.write(ctx, looks, new(transaction), transactionFunc(func(now *transaction) error { return w.settle(ctx, now) }))
		if err != errTooLong { //nolint:errorlint // It comes as it is.
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
	v.addFollower(&w.follower)
	return v.newest.Load(), nil
}

// settle moves the prepared writes into a transaction that has the lock.
func (w *concurrentWrite) settle(ctx context.Context, now *transaction) error {
	w.missed = append(w.missed, w.follower.changes...)
	w.follower.changes = nil
	if w.follower.isReset {
		return errLost
	}
	if err := w.compare(now.ctx); err != nil { //nolint:contextcheck // That of the lock, which ends before ctx.
		return err
	}
	now.ctx = ctx
	return now.adopt(w.made)
}

// compare reports whether concurrent writes affect this one.
func (w *concurrentWrite) compare(ctx context.Context) error {
	w.program.call.Resume(ctx)
	for ; len(w.missed) > 0; w.missed = w.missed[1:] {
		if err := engine.CheckEnded(ctx); err != nil {
			return err
		}
		for _, o := range []document.Object{w.missed[0].before, w.missed[0].after} {
			if o.IsZero() {
				continue
			}
			if matched, err := w.program.op.Matches(&w.program.call, o); matched || err != nil {
				return errLost
			}
		}
	}
	return nil
}

// adopt repeats the changes of another transaction, which began with the content before this one,
// or with an earlier one that differs in nothing that affects it.
func (t *transaction) adopt(made *transaction) error {
	if t.before == made.before {
		t.next, t.changes, t.isIndexed = made.next, made.changes, made.isIndexed
		return nil
	}
	if made.isIndexed {
		return errLost
	}
	for _, c := range made.changes {
		if err := t.repeat(c); err != nil {
			return asLost(err)
		}
	}
	return nil
}

// asLost returns errLost for the error of a key that another write has taken: when the write runs again, it
// finds which of its documents has that key.
func asLost(err error) error {
	if boterr.CodeOf(err) == boterr.AlreadyExists {
		return errLost
	}
	return err
}

func (t *transaction) repeat(c documentChange) error {
	switch {
	case c.before.IsZero():
		return t.Insert(c.after)
	case c.after.IsZero():
		return t.Remove(c.position, c.before)
	default:
		return t.Replace(c.position, c.before, c.after)
	}
}

// writeLock is the lock under which the next content of a collection is made. Waiting for it ends
// with a context. The zero writeLock is free.
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

// Unlock gives the lock back.
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
	// firstLooks is the number of times that a write may check its context under the lock, once after each
	// piece of work: about a quarter of a millisecond in all. A longer write runs again without the lock, so
	// that time is wasted.
	firstLooks = 16
	// moreLooks is the factor by which that number grows after each lost race.
	moreLooks = 4
)

// countingContext is the context of a write under the lock. It ends after a number of checks.
type countingContext struct {
	context.Context //nolint:containedctx // It is one.

	// left is the number of remaining checks. It is negative once there were more.
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

// follower collects the writes to a collection. The lock of the collection guards all fields except hasLeft.
type follower struct {
	changes []documentChange
	// isReset is true if everything was changed.
	isReset bool
	// hasLeft is true once the subscriber has left.
	hasLeft atomic.Bool
}

// addFollower adds one. The caller has the lock.
func (v *versions) addFollower(f *follower) {
	v.forgetFollowers()
	v.followers = append(v.followers, f)
}

// notifyFollowers passes a transaction's writes to the followers. The caller has the lock.
func (v *versions) notifyFollowers(changes []documentChange) {
	if len(v.followers) == 0 {
		return
	}
	v.forgetFollowers()
	for _, f := range v.followers {
		f.changes = append(f.changes, changes...)
	}
}

// forgetFollowers removes the followers that have left.
func (v *versions) forgetFollowers() {
	v.followers = slices.DeleteFunc(v.followers, func(f *follower) bool { return f.hasLeft.Load() })
}
