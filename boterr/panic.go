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
	return "panic: " + display.Text(p.Cause)
}

// Unwrap returns the error that was panicked with, if it was one. The nil pointer has none.
func (p *PanicError) Unwrap() error {
	if p == nil {
		return nil
	}
	err, _ := p.Cause.(error)
	return err
}

// module is the path that the SDK's packages begin with.
const module = "github.com/botctx/go-sdk/"

// Frames returns the calls of the code that panicked, the innermost first, such as
// "coupon.Claim (claim.go:41)": what stands between the panic and the SDK that called it. It is
// empty for a panic in the SDK's own code, and for a PanicError that Recovered did not make.
func (p *PanicError) Frames() []string {
	var names []string
	if p == nil || len(p.calls) == 0 {
		return nil
	}
	frames, isBelowPanic := runtime.CallersFrames(p.calls), false
	for {
		frame, hasMore := frames.Next()
		switch {
		case !isBelowPanic: // These are the deferred functions that recover.
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

// isMachinery reports whether a function is of the SDK or of Go's runtime, and not of who uses
// them. Tests and examples of the SDK are users.
func isMachinery(function string) bool {
	if strings.HasPrefix(function, "runtime.") || strings.HasPrefix(function, "internal/") {
		return true
	}
	inside, isOfSDK := strings.CutPrefix(function, module)
	folders, rest := path.Split(inside)
	pkg, _, _ := strings.Cut(rest, ".")
	return isOfSDK && !strings.HasSuffix(pkg, "_test") && !strings.HasPrefix(folders, "examples/")
}

// nameOf names a call without the path of its package and its file.
func nameOf(frame runtime.Frame) string {
	return fmt.Sprintf("%s (%s:%d)", path.Base(frame.Function), path.Base(frame.File), frame.Line)
}
