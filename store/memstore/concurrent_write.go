package memstore

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

// program is what a write does.
type program interface {
	// run does it in a transaction, under the transaction's context. It may be called several
	// times: the last call counts, and all of them share one evaluation.
	run(call *query.Evaluation, t *transaction) error
	// matches reports whether a document, as it was before or after another write, affects what run
	// does.
	matches(call *query.Evaluation, o document.Object) (bool, error)
	// attempt is how it is tried: a part of the program, so that a write is one piece of memory.
	attempt() *attempted
	// changesInPlace is that of inTransaction.
	changesInPlace() bool
}

// attempted is a program that runs in a transaction.
type attempted struct {
	program program
	call    query.Evaluation
	trying  transaction
}

// attempt implements program for those that it is a part of.
func (a *attempted) attempt() *attempted { return a }

// changesInPlace implements inTransaction.
func (a *attempted) changesInPlace() bool { return a.program.changesInPlace() }

// in implements inTransaction.
func (a *attempted) in(t *transaction) error {
	a.call.Resume(t.ctx)
	t.call = &a.call
	return a.program.run(&a.call, t)
}

// room implements inTransaction.
func (a *attempted) room() *transaction { return &a.trying }

var (
	// errTooLong ends a transaction that takes longer than it may keep the lock.
	errTooLong = boterr.New(boterr.Internal, "", "the write takes longer than it may keep the lock")
	// errNothingToKeep ends a transaction that was made for another purpose than to write.
	errNothingToKeep = boterr.New(boterr.Internal, "", "there is nothing to keep")
	// errLost is the error of a transaction that builds on what another write has changed
	// meanwhile.
	errLost = boterr.New(boterr.Internal, "", "another write came first")
)

// carryOut carries out a write. One that takes long runs without the lock of its collection, so
// that it holds nobody up, and takes the lock only to apply its changes on top of what others wrote
// meanwhile. Where those writes affect it, it has lost and begins again; each time it may keep the
// lock longer, so that it succeeds in the end.
func (c *collection) carryOut(ctx context.Context, v *versions, p program) error {
	a := p.attempt()
	a.program, a.call = p, *query.NewEvaluation(ctx)
	for looks := c.store.firstLooks; ; looks = moreLooks * (looks + 1) {
		err := c.writeLocked(ctx, v, looks, a)
		if err != errTooLong { //nolint:errorlint // It comes as it is.
			return err
		}
		w := concurrentWrite{collection: c, versions: v, program: p, call: &a.call}
		if err := w.carryOut(ctx); err != errLost { //nolint:errorlint // It comes as it is.
			return err
		}
	}
}

// writeLocked runs a transaction under the lock of its collection, and keeps what it made. The error
// is errTooLong where it looked at its context more often than allowed.
func (c *collection) writeLocked(ctx context.Context, v *versions, looks int, run inTransaction) error {
	if c.store.commits != nil {
		return c.store.commits.write(ctx, v, looks, run)
	}
	return v.write(ctx, looks, run)
}

// runLocked is what writeLocked does with a transaction.
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
	collection *collection
	versions   *versions
	program    program
	call       *query.Evaluation

	follower follower
	// made is what it made.
	made *transaction
	// missed are the changes of others that were not compared yet.
	missed []documentChange
}

// carryOut runs the write on the present content, and then applies its changes to the content of
// that time. The error is errLost where what others wrote meanwhile affects it.
func (w *concurrentWrite) carryOut(ctx context.Context) error {
	base, err := w.follow(ctx)
	if err != nil {
		return err
	}
	defer w.follower.hasLeft.Store(true)
	w.made = new(transaction)
	w.made.begin(ctx, base)
	w.made.isObserved, w.made.call = true, w.call
	w.call.Resume(ctx)
	if err := w.program.run(w.call, w.made); err != nil || !w.made.isChanged() {
		return err
	}
	for looks := w.collection.store.firstLooks; ; looks = moreLooks * (looks + 1) {
		err := w.collection.writeLocked(ctx, w.versions, looks, transactionFunc(func(now *transaction) error { return w.settle(ctx, now) }))
		if err != errTooLong { //nolint:errorlint // It comes as it is.
			return err
		}
		if err := w.compare(ctx); err != nil {
			return err
		}
	}
}

// follow returns the newest content, which the journal has kept, and collects what is
// written from then on.
func (w *concurrentWrite) follow(ctx context.Context) (base *content, err error) {
	err = w.collection.writeLocked(ctx, w.versions, 1, transactionFunc(func(t *transaction) error {
		base = t.before
		w.versions.addFollower(&w.follower)
		return errNothingToKeep
	}))
	if err == errNothingToKeep { //nolint:errorlint // It comes as it is.
		return base, nil
	}
	return nil, err
}

// settle puts what was made into a transaction that has the lock.
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

// compare looks whether what others wrote bears on the write.
func (w *concurrentWrite) compare(ctx context.Context) error {
	w.call.Resume(ctx)
	for ; len(w.missed) > 0; w.missed = w.missed[1:] {
		if err := checkEnded(ctx); err != nil {
			return err
		}
		for _, o := range []document.Object{w.missed[0].before, w.missed[0].after} {
			if o.IsZero() {
				continue
			}
			if matched, err := w.program.matches(w.call, o); matched || err != nil {
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
		t.next, t.changes, t.indexed = made.next, made.changes, made.indexed
		return nil
	}
	if made.indexed != nil {
		return errLost
	}
	for _, c := range made.changes {
		if err := t.repeat(c); err != nil {
			return asLost(err)
		}
	}
	return nil
}

// asLost returns errLost for the error of a key that another write has taken: when the write is run
// again, it tells which of its documents has that key.
func asLost(err error) error {
	if boterr.CodeOf(err) == boterr.AlreadyExists {
		return errLost
	}
	return err
}

// repeat does what was done to one document.
func (t *transaction) repeat(c documentChange) error {
	switch {
	case c.before.IsZero():
		return t.insert(c.after)
	case c.after.IsZero():
		return t.remove(c.position, c.before)
	default:
		return t.replace(c.position, c.before, c.after)
	}
}
