package memstore

import (
	"context"
	"sync"

	"github.com/botctx/go-sdk/boterr"
)

// pendingWrite is a write whose caller waits.
type pendingWrite struct {
	ctx      context.Context //nolint:containedctx // It belongs to this one call, which another goroutine carries out.
	versions *versions
	looks    int
	run      inTransaction

	// running is held while the write runs, and guards hasLeft.
	running sync.Mutex
	// hasLeft tells that the caller does not wait any more.
	hasLeft bool

	// ended is told when the write has ended.
	ended chan struct{}
	// tried is the transaction, nil where it did not begin, and made the same where it did not fail.
	tried, made *transaction
	err         error
	// panicked is what a watcher panicked with that was told of the write.
	panicked any
}

// errWriteEnded is the error of a write that ends the goroutine.
var errWriteEnded = boterr.New(boterr.Internal, "", "the write did not return, and was not carried out")

// leave is called where the context of the caller has ended. A write that is running notices that
// soon, and leave waits for it; one that has not begun is never run.
func (p *pendingWrite) leave() error {
	p.running.Lock()
	defer p.running.Unlock()
	p.hasLeft = true
	if p.made == nil {
		return checkEnded(p.ctx)
	}
	return boterr.New(boterr.Canceled, "", "the context ended before the journal answered, and it is not known whether it keeps the write: %w",
		context.Cause(p.ctx))
}

// perform runs the write in a transaction, unless the caller has left. A panic ends this write
// only.
func (p *pendingWrite) perform(begin func(p *pendingWrite) *transaction) {
	p.running.Lock()
	defer p.running.Unlock()
	if p.hasLeft {
		return
	}
	p.err = errWriteEnded // Until it returns.
	p.tried = begin(p)
	if p.err = p.runIn(p.tried); p.err == nil {
		p.made = p.tried
	}
}

func (p *pendingWrite) runIn(t *transaction) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = boterr.New(boterr.Internal, "", "the write panicked: %v", cause)
		}
	}()
	if err := checkEnded(p.ctx); err != nil {
		return err
	}
	return t.runLocked(p.looks, p.run)
}

// publish shows what the write made. A watcher that panics does so in the goroutine of the
// write, as if there were no group, once all writes are published.
func (p *pendingWrite) publish() {
	p.versions.writing.Lock()
	defer p.versions.writing.Unlock()
	defer func() { p.panicked = recover() }()
	p.versions.newest.Store(p.made.next)
	p.versions.notifyOf(p.made)
}
