package fakes

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
)

// Fault is a fault that a test has planned for a call that is still to come. Where that call is
// never made, the test fails at its end: a fault that nothing meets tests nothing. Optional says
// that it may stay unmet.
type Fault struct {
	isMet, isOptional atomic.Bool
}

// Optional lets the test pass where nothing meets the fault, as where a model draws what happens.
func (f *Fault) Optional() { f.isOptional.Store(true) }

// Met reports whether the call was made that the fault was planned for.
func (f *Fault) Met() bool { return f.isMet.Load() }

// newFault returns a fault that something has to meet before the test ends, on this platform or on
// a fork of it. What it does is for the reader: "getMember fails with Conflict".
func (p *Platform) newFault(format string, args ...any) *Fault {
	planned := &Fault{}
	what, where := fmt.Sprintf(format, args...), callerOfFakes()
	p.test.Cleanup(func() {
		if p.test.Failed() || planned.isMet.Load() || planned.isOptional.Load() {
			return
		}
		p.test.Fatalf("fakes: nothing met the fault of %s, %s: make the call that it is for, take it away, or say Optional() of it",
			where, what)
	})
	return planned
}

// callerOfFakes returns the file and line from where this package was called.
func callerOfFakes() string {
	const most = 16 // More calls than there are between a test and here.
	callers := make([]uintptr, most)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for {
		frame, more := frames.Next()
		if !more || !strings.HasPrefix(frame.Function, "github.com/botctx/go-sdk/fakes.") {
			return fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line)
		}
	}
}

// failure is what a test makes one request to a service fail with.
type failure struct {
	planned *Fault
	err     error
	// isCommitted tells that the request is carried out before it fails.
	isCommitted bool
}

// newFailure plans a failure with an error, which is not nil.
func (p *Platform) newFailure(of string, err error) failure {
	p.test.Helper()
	if err == nil {
		p.test.Fatalf("fakes: %s fails with an error, got nil", of)
	}
	return failure{planned: p.newFault("%s fails: %v", of, err), err: err}
}

// failures are those of the next requests to a service, in order.
type failures []failure

// take returns the failure that is meant for this request, a zero one where there is none.
func (f *failures) take() failure {
	if len(*f) == 0 {
		return failure{}
	}
	first := (*f)[0]
	*f = (*f)[1:]
	first.planned.isMet.Store(true)
	return first
}

// target is where faults are injected: the calls of an operation, or the requests to a service.
type target struct {
	op botctx.Op
	// isRequest tells that requests to service are meant.
	isRequest bool
	service   Service
}

func (t target) String() string {
	if t.isRequest {
		return "a request to " + t.service.String()
	}
	return string(t.op)
}

// fault is injected into one call of an operation, or one request to a service.
type fault struct {
	planned *Fault
	at      target
	// after is the number of calls that go well before.
	after int
	// code, if any, is the code with which the call fails.
	code boterr.Code
	// late is the virtual time that the call takes.
	late time.Duration
	// committed tells that the call does its work before it fails.
	committed bool
	// crashes tells that the process ends at the call.
	crashes bool
}

// isFailure reports whether the call fails, before it does its work or after it.
func (f fault) isFailure() bool { return f.code != "" || f.crashes }

// isSameKind reports whether two faults cannot hit the same call: it fails once, and is late once,
// and may be both.
func (f fault) isSameKind(other fault) bool {
	return f.at == other.at && f.isFailure() == other.isFailure()
}

// faults are the faults that are still to come.
type faults struct {
	mu   sync.Mutex
	list []fault
}

// add plans a fault for the call that it names. It reports false where that one has such a fault
// already.
func (f *faults) add(added fault) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.has(added) {
		return false
	}
	f.list = append(f.list, added)
	return true
}

// addNext plans a fault for the next call that has none of its kind yet.
func (f *faults) addNext(added fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.has(added) {
		added.after++
	}
	f.list = append(f.list, added)
}

// has reports whether the call of a fault has one of its kind. The caller holds the mutex.
func (f *faults) has(added fault) bool {
	return slices.ContainsFunc(f.list, func(known fault) bool { return known.after == added.after && known.isSameKind(added) })
}

// due are the faults of one call: it is late, and fails, each where it is not zero.
type due struct{ late, failure fault }

// take returns the faults of this call and counts it for the others.
func (f *faults) take(at target) due {
	f.mu.Lock()
	defer f.mu.Unlock()
	var now due
	kept := f.list[:0]
	for _, known := range f.list {
		switch {
		case known.at != at:
			kept = append(kept, known)
		case known.after > 0:
			known.after--
			kept = append(kept, known)
		default:
			now.add(known)
		}
	}
	f.list = kept
	return now
}

// add takes note of a fault that the call meets.
func (d *due) add(met fault) {
	met.planned.isMet.Store(true)
	if met.isFailure() {
		d.failure = met
	} else {
		d.late = met
	}
}

// all returns the faults that are still to come.
func (f *faults) all() []fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.list)
}

// set takes over faults.
func (f *faults) set(list []fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = list
}

// FailNext makes the next call of an operation fail with a code, before it does anything. Twice,
// it fails the next two calls.
func (p *Platform) FailNext(op botctx.Op, code boterr.Code) *Fault {
	p.test.Helper()
	return p.planNext(failing(op, code))
}

// FailNth makes the nth call of an operation from now on fail with a code, counted
// from 1, before it does anything.
func (p *Platform) FailNth(op botctx.Op, n int, code boterr.Code) *Fault {
	p.test.Helper()
	return p.planNth(failing(op, code), n)
}

// DelayNext makes the next call of an operation take virtual time before it does its work. Twice,
// it delays the next two calls.
func (p *Platform) DelayNext(op botctx.Op, late time.Duration) *Fault {
	p.test.Helper()
	return p.planNext(p.delaying(op, late))
}

// DelayNth makes the nth call of an operation from now on take virtual time, counted
// from 1, before it does its work.
func (p *Platform) DelayNth(op botctx.Op, n int, late time.Duration) *Fault {
	p.test.Helper()
	return p.planNth(p.delaying(op, late), n)
}

// TimeOutNext makes the next call of an operation do its work and then report Unavailable, as
// where an answer is lost on its way. It is a failure as that of FailNext: after that, it is for
// the call behind.
func (p *Platform) TimeOutNext(op botctx.Op) *Fault {
	p.test.Helper()
	return p.planNext(timingOut(op))
}

// TimeOutNth is TimeOutNext for the nth call of an operation from now on, counted
// from 1.
func (p *Platform) TimeOutNth(op botctx.Op, n int) *Fault {
	p.test.Helper()
	return p.planNth(timingOut(op), n)
}

func failing(op botctx.Op, code boterr.Code) fault { return fault{at: target{op: op}, code: code} }

func (p *Platform) delaying(op botctx.Op, late time.Duration) fault {
	p.test.Helper()
	if late <= 0 {
		p.test.Fatalf("fakes: a call cannot take %v: give a time that is more than none", late)
	}
	return fault{at: target{op: op}, late: late}
}

func timingOut(op botctx.Op) fault {
	return fault{at: target{op: op}, code: boterr.Unavailable, committed: true}
}

// planNext plans a fault for the next call that has none of its kind yet.
func (p *Platform) planNext(next fault) *Fault {
	p.test.Helper()
	p.checkFault(next)
	next.planned = p.newFault("%s", next)
	p.faults.addNext(next)
	return next.planned
}

func (p *Platform) planNth(nth fault, n int) *Fault {
	p.test.Helper()
	p.checkFault(nth)
	if n < 1 {
		p.test.Fatalf("fakes: calls are counted from 1, got %d", n)
	}
	nth.after = n - 1
	nth.planned = p.newFault("call %d from there on: %s", n, nth)
	if !p.faults.add(nth) {
		p.test.Fatalf("fakes: call %d of %s has such a fault already", n, nth.at)
	}
	return nth.planned
}

// checkFault ends the test where a fault names what there is not.
func (p *Platform) checkFault(given fault) {
	p.test.Helper()
	switch {
	case !given.at.isRequest && !given.at.op.Exists():
		p.test.Fatalf("fakes: there is no operation %q: give a constant of package botctx, such as botctx.OpGetMember", given.at.op)
	case given.late == 0 && !given.crashes && !slices.Contains(boterr.Codes(), given.code):
		p.test.Fatalf("fakes: there is no code %q", string(given.code))
	}
}

func (f fault) String() string {
	switch {
	case f.crashes && f.committed:
		return fmt.Sprintf("the process crashes after %s", f.at)
	case f.crashes:
		return fmt.Sprintf("the process crashes at %s", f.at)
	case !f.isFailure():
		return fmt.Sprintf("%s takes %v", f.at, f.late)
	case f.committed:
		return fmt.Sprintf("%s reports a time-out", f.at)
	default:
		return fmt.Sprintf("%s fails with %s", f.at, string(f.code))
	}
}

// carryOut carries a call out, or makes it fail, late or report a time-out, as the test has planned.
func (p *Platform) carryOut(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
	due := p.faults.take(target{op: call.Op})
	p.clock.advance(due.late.late)
	if due.late.late > 0 {
		p.notef("%s takes %v", call.Op, due.late.late)
	}
	failed := due.failure
	if failed.crashes {
		return nil, p.crashAt(ctx, failed, next)
	}
	if failed.isFailure() && !failed.committed {
		return nil, boterr.New(failed.code, "", "the test makes this call fail")
	}
	result, err := next(ctx)
	if failed.committed && err == nil {
		return nil, boterr.New(failed.code, "", "the test makes this call report a time-out, although it was carried out")
	}
	return result, err
}

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
