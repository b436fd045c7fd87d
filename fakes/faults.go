package fakes

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
)

// fault is injected into one call of an operation.
type fault struct {
	op botctx.Op
	// after is the number of calls of the operation that go well before.
	after int
	// code, if any, is the code with which the call fails.
	code boterr.Code
	// late is the virtual time that the call takes.
	late time.Duration
	// committed tells that the call does its work before it fails.
	committed bool
}

// faults are the faults that are still to come.
type faults struct {
	mu   sync.Mutex
	list []fault
}

// add plans a fault.
func (f *faults) add(planned fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, planned)
}

// take returns the faults of this call of an operation and counts it for the others.
func (f *faults) take(op botctx.Op) []fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	var due []fault
	kept := f.list[:0]
	for _, planned := range f.list {
		switch {
		case planned.op != op:
			kept = append(kept, planned)
		case planned.after > 0:
			planned.after--
			kept = append(kept, planned)
		default:
			due = append(due, planned)
		}
	}
	f.list = kept
	return due
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
	f.list = slices.Clone(list)
}

// FailNext makes the next call of an operation fail with a code, before it does
// anything.
func (p *Platform) FailNext(op botctx.Op, code boterr.Code) { p.FailNth(op, 1, code) }

// FailNth makes the nth call of an operation from now on fail with a code, counted
// from 1, before it does anything.
func (p *Platform) FailNth(op botctx.Op, n int, code boterr.Code) {
	p.test.Helper()
	p.plan(fault{op: op, code: code}, n)
}

// DelayNext makes the next call of an operation take virtual time before it does its
// work.
func (p *Platform) DelayNext(op botctx.Op, late time.Duration) { p.DelayNth(op, 1, late) }

// DelayNth makes the nth call of an operation from now on take virtual time, counted
// from 1, before it does its work.
func (p *Platform) DelayNth(op botctx.Op, n int, late time.Duration) {
	p.test.Helper()
	if late < 0 {
		p.test.Fatalf("fakes: a call cannot take %v: time does not go back", late)
	}
	p.plan(fault{op: op, late: late}, n)
}

// TimeOutNext makes the next call of an operation do its work and then report
// Unavailable, as where an answer is lost on its way.
func (p *Platform) TimeOutNext(op botctx.Op) { p.TimeOutNth(op, 1) }

// TimeOutNth is TimeOutNext for the nth call of an operation from now on, counted
// from 1.
func (p *Platform) TimeOutNth(op botctx.Op, n int) {
	p.test.Helper()
	p.plan(fault{op: op, code: boterr.Unavailable, committed: true}, n)
}

// plan checks and adds a fault for the nth call.
func (p *Platform) plan(planned fault, n int) {
	p.test.Helper()
	if !planned.op.Exists() {
		p.test.Fatalf("fakes: there is no operation %q", planned.op)
	}
	if planned.code != "" && !slices.Contains(boterr.Codes(), planned.code) || planned.code == "" && planned.late == 0 {
		p.test.Fatalf("fakes: there is no code %q", string(planned.code))
	}
	if n < 1 {
		p.test.Fatalf("fakes: calls are counted from 1, got %d", n)
	}
	planned.after = n - 1
	p.faults.add(planned)
}

// injectFault is the interceptor that makes calls fail, late or report a time-out.
func (p *Platform) injectFault(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
	due := p.faults.take(call.Op)
	for _, f := range due {
		if f.late > 0 {
			p.clock.advance(f.late)
			p.notef("%s takes %v", call.Op, f.late)
		}
		if f.code != "" && !f.committed {
			return nil, boterr.New(f.code, "", "the test makes this call fail")
		}
	}
	result, err := next(ctx)
	for _, f := range due {
		if f.committed && err == nil {
			return nil, boterr.New(f.code, "", "the test makes this call report a time-out, although it was carried out")
		}
	}
	return result, err
}
