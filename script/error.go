package script

import (
	"fmt"

	"github.com/botctx/go-sdk/internal/display"
)

// Error says where and why a script failed. Behind it is a *boterr.Error: the error of the operation that the script did
// not catch; ResourceExhausted for a limit of Options; InvalidArgument for a script that cannot be read; Canceled if the
// context ended; Internal for what the script threw itself.
type Error struct {
	// File is the name of the script or module, as it was given to Compile.
	File string
	// Line and Column are the place in it, counted from 1; 0 if it is not known: what is thrown and is no Error has no
	// place, and what is wrong with a result or a record has a field instead.
	Line, Column int
	// Stack are the calls that lead there, the innermost first, such as "total (cart.js:4:9)".
	Stack []string
	// Err is what went wrong.
	Err error
}

// Error returns "file:line:column: what went wrong".
func (e *Error) Error() string {
	return e.Place() + ": " + display.Text(e.Err)
}

// Place returns "file:line:column", or the file alone if there is no line.
func (e *Error) Place() string {
	if e.Line == 0 {
		return e.File
	}
	return fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }
