package boterr

import (
	"fmt"
	"path"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/botctx/go-sdk/internal/display"
)

// PanicError is a recovered panic of code that a host or bot supplies, such as a store, a connector
// or an action. It is wrapped in an Internal error; errors.AsType finds it.
type PanicError struct {
	// Cause is the value passed to panic.
	Cause any
	// Stack is the stack of the panic, as formatted by debug.Stack.
	Stack []byte

	calls  []uintptr // The same stack as program counters.
	isSeen atomic.Bool
}

// FirstSeen returns true on its first call only. Callers that log panics use it to log each panic
// once, although the error may pass through several of them.
func (p *PanicError) FirstSeen() bool { return p != nil && p.isSeen.CompareAndSwap(false, true) }

// Recover recovers from a panic and sets *err to an Internal error that wraps a *PanicError. Without
// a panic it does not change *err. Defer it in a function with a named result err:
//
//	defer boterr.Recover(&err)
func Recover(err *error) {
	if cause := recover(); cause != nil {
		*err = Recovered(cause)
	}
}

// Recovered returns an Internal error that wraps a *PanicError. cause is the result of recover.
// Call Recovered in the deferred function itself, because it records the stack. Recovered(nil) is
// nil.
func Recovered(cause any) error {
	if cause == nil {
		return nil
	}
	calls := make([]uintptr, mostCalls)
	calls = calls[:runtime.Callers(1, calls)]
	return &Error{Code: Internal, Err: &PanicError{Cause: cause, Stack: debug.Stack(), calls: calls}}
}

// mostCalls is the maximum number of stack entries that Recovered records for Frames.
const mostCalls = 100

// Error returns the panic's value, redacted. It leaves out the stack, which differs from run to
// run.
func (p *PanicError) Error() string {
	if p == nil {
		return "internal: a nil *boterr.PanicError was returned as an error: return nil itself"
	}
	return "panic: " + display.Text(p.Cause)
}

// Unwrap returns the panic's value if it is an error.
func (p *PanicError) Unwrap() error {
	if p == nil {
		return nil
	}
	err, _ := p.Cause.(error)
	return err
}

// module is the import path prefix of the SDK's packages.
const module = "github.com/botctx/go-sdk/"

// Frames returns the calls between the panic and the SDK code that called into the host or bot,
// innermost first, such as "coupon.Claim (claim.go:41)". It is empty for a panic in the SDK itself
// and for a PanicError that Recovered did not make.
func (p *PanicError) Frames() []string {
	var names []string
	if p == nil || len(p.calls) == 0 {
		return nil
	}
	frames, isBelowPanic := runtime.CallersFrames(p.calls), false
	for {
		frame, hasMore := frames.Next()
		switch {
		case !isBelowPanic: // Skip the deferred functions.
			isBelowPanic = frame.Function == "runtime.gopanic"
		case !isMachinery(frame.Function):
			names = append(names, nameOf(frame))
		case len(names) > 0:
			return names
		}
		if !hasMore {
			return names
		}
	}
}

// isMachinery reports whether a function belongs to the SDK or the Go runtime. The SDK's tests and
// examples count as user code.
func isMachinery(function string) bool {
	if strings.HasPrefix(function, "runtime.") || strings.HasPrefix(function, "internal/") {
		return true
	}
	inside, isOfSDK := strings.CutPrefix(function, module)
	folders, rest := path.Split(inside)
	pkg, _, _ := strings.Cut(rest, ".")
	return isOfSDK && !strings.HasSuffix(pkg, "_test") && !strings.HasPrefix(folders, "examples/")
}

// nameOf formats a call, such as "coupon.Claim (claim.go:41)".
func nameOf(frame runtime.Frame) string {
	return fmt.Sprintf("%s (%s:%d)", path.Base(frame.Function), path.Base(frame.File), frame.Line)
}
