package send

import (
	"fmt"
	"runtime/debug"
)

// PanicError is a panic, such as one of a connector while one of several messages was sent.
// It stands behind an Internal error.
type PanicError struct {
	// Cause is what was panicked with.
	Cause any
	// Stack is where.
	Stack []byte
}

func newPanicError(cause any) *PanicError { return &PanicError{Cause: cause, Stack: debug.Stack()} }

// Error returns what was panicked with. It leaves out the stack, which is not the same
// twice.
func (p *PanicError) Error() string { return fmt.Sprintf("panic: %v", p.Cause) }

// Unwrap returns the error that was panicked with, if it was one.
func (p *PanicError) Unwrap() error {
	err, _ := p.Cause.(error)
	return err
}
