package boterr

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

// PanicError is a panic in what a host or bot logic supplies: a store, a connector, an action,
// a function of a configuration. It stands behind an Internal error; errors.AsType finds it.
type PanicError struct {
	// Cause is what was panicked with.
	Cause any
	// Stack is where.
	Stack []byte

	calls  []uintptr // The same as Stack.
	isSeen atomic.Bool
}

// FirstSeen reports whether it is called for the first time, so that of all who log a panic on
// its way up one does.
func (p *PanicError) FirstSeen() bool { return p != nil && p.isSeen.CompareAndSwap(false, true) }

// Recovered returns the error of a panic, with *PanicError behind it. cause is what recover
// returned; it is to be called where that was, since the stack is taken here. Recovered(nil)
// is nil.
func Recovered(cause any) error {
	if cause == nil {
		return nil
	}
	calls := make([]uintptr, mostCalls)
	calls = calls[:runtime.Callers(1, calls)]
	return &Error{Code: Internal, Err: &PanicError{Cause: cause, Stack: debug.Stack(), calls: calls}}
}

// mostCalls is how many calls of a stack are looked at for frames.
const mostCalls = 100

// Error returns what was panicked with, redacted. It leaves out the stack, which is not the
// same twice.
func (p *PanicError) Error() string {
	if p == nil {
		return "internal: a nil *boterr.PanicError was returned as an error: return nil itself"
	}
	return "panic: " + Text(p.Cause)
}

// Unwrap returns the error that was panicked with, if it was one. The nil pointer has none.
func (p *PanicError) Unwrap() error {
	if p == nil {
		return nil
	}
	err, _ := p.Cause.(error)
	return err
}

// Text returns the text of an error, or of what was panicked with, as it may stand in logs and
// in what leaves the process: redacted, see Redact, and visible, see Visible. It never panics, whatever the methods of
// the value do.
func Text(value any) string { return Visible(Redact(fmt.Sprint(value))) }
