package fakes

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
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

// met notes that the call was made that the fault was planned for.
func (f *Fault) met() { f.isMet.Store(true) }

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
	first.planned.met()
	return first
}
