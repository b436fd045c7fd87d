package script

import (
	"fmt"

	"github.com/dop251/goja/file"

	"github.com/botctx/go-sdk/boterr"
)

// Error tells where and why a script failed. Behind it stands a *boterr.Error: that of the operation
// which the script did not catch; ResourceExhausted for a limit of Options; InvalidArgument for a
// script that cannot be read; Canceled where the context ended; Internal for what the script threw
// itself.
type Error struct {
	// File is the name of the script or module, as it was given to Compile.
	File string
	// Line and Column are the place in it, counted from 1; 0 where there is none: what is wrong with a result, or
	// with a record that the script has left, is told by its field alone.
	Line, Column int
	// Stack are the calls that lead there, the innermost first, such as "total (cart.js:4:9)".
	Stack []string
	// Err is what went wrong.
	Err error
}

// Error returns "file:line:column: what went wrong".
func (e *Error) Error() string {
	return e.Place() + ": " + boterr.Text(e.Err)
}

// Place returns "file:line:column", or the file alone where there is no line.
func (e *Error) Place() string {
	if e.Line == 0 {
		return e.File
	}
	return fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// placedError is the error of syntax that cannot be said in words of the engine below, and where it is.
type placedError struct {
	cause error
	idx   file.Idx
	at    file.Position
}

// Error returns the cause.
func (e *placedError) Error() string { return e.cause.Error() }
