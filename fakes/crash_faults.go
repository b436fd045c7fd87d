package fakes

import (
	"context"

	"github.com/botctx/go-sdk/botctx"
)

// CrashNext ends the process, see Crash, at the next call of an operation, before that does anything.
func (p *Platform) CrashNext(op botctx.Op) *Fault {
	p.test.Helper()
	return p.planNext(fault{at: target{op: op}, crashes: true})
}

// CrashNth is CrashNext for the nth call of an operation from now on, counted from 1.
func (p *Platform) CrashNth(op botctx.Op, n int) *Fault {
	p.test.Helper()
	return p.planNth(fault{at: target{op: op}, crashes: true}, n)
}

// CrashAfterNext ends the process, see Crash, when the next call of an operation has done its work, and
// nobody has noted it. Where it sends messages that is when the first of them has gone out.
func (p *Platform) CrashAfterNext(op botctx.Op) *Fault {
	p.test.Helper()
	return p.planNext(fault{at: target{op: op}, crashes: true, committed: true})
}

// CrashAfterNth is CrashAfterNext for the nth call of an operation from now on, counted from 1.
func (p *Platform) CrashAfterNth(op botctx.Op, n int) *Fault {
	p.test.Helper()
	return p.planNth(fault{at: target{op: op}, crashes: true, committed: true}, n)
}

// crashAt ends the process at a call of an operation.
func (p *Platform) crashAt(ctx context.Context, at fault, next botctx.Next) error {
	if at.committed {
		_, _ = next(context.WithValue(ctx, endsWithSend{}, true)) // Nobody is there who could look at what came of it.
	}
	p.Crash()
	return errCrashed()
}

// endsWithSend marks a call amid which the process ends when it has sent a message.
type endsWithSend struct{}

// hasSent ends the process where the test wants that when a message has gone out.
func (o *outbox) hasSent(ctx context.Context) {
	if ctx.Value(endsWithSend{}) != nil {
		o.platform.Crash()
	}
}
