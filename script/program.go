package script

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/script/internal/quickjs"
)

// Program is a script that was compiled. It is safe for concurrent use.
type Program struct {
	engine   *Engine
	name     string
	bytecode []byte
	// helpers are the modules of the helpers that it names.
	helpers []string
}

// Name returns the name that was given to Compile.
func (p *Program) Name() string { return p.name }

// longestSource is how many bytes a script may have.
const longestSource = 256 << 10

// Compile reads a script: the body of an async function over `this`, in which return and await may stand. name is the
// name of its file, for errors.
//
// A script that cannot be read is an *Error with InvalidArgument behind it.
func (e *Engine) Compile(name, source string) (*Program, error) {
	if len(source) > longestSource {
		return nil, &Error{File: name, Err: boterr.Invalid("", "is longer than %d bytes: put parts of it into modules", longestSource)}
	}
	source = strings.TrimPrefix(source, "\uFEFF")
	if strings.HasPrefix(source, "#!") { // As a file begins that is run by itself.
		source = "//" + source[2:]
	}
	e.slots.Take("") // Reading computes, as a run does.
	defer e.slots.Leave("")
	// The second text holds what the first one does not: a source that closes the function and opens another one.
	if _, err := e.compile(name, checkHead, checkHead+source+checkFoot); err != nil {
		return nil, err
	}
	head := scriptHead
	if !strings.Contains(source, "await") {
		head = plainHead // It need not be async.
	}
	bytecode, err := e.compile(name, scriptHead, head+source+foot)
	if err != nil {
		return nil, err
	}
	return &Program{engine: e, name: name, bytecode: bytecode, helpers: e.helpersIn(source)}, nil
}

// The heads of the functions that sources become the bodies of. They stand on the source's first line, so that lines
// keep their numbers. plainHead is as long as scriptHead, so that columns do, too.
const (
	scriptHead = "(async function () {"
	plainHead  = "(      function () {"
	checkHead  = "({ async f() {"
	moduleHead = "(function (exports, require, module, __filename, __dirname) {"
	foot       = "\n})"
	checkFoot  = "\n} })"
)

// longestRead is how long reading a script may take.
const longestRead = 2 * time.Second

// compile returns the bytecode of a text, which begins with a head. Nothing of a script runs in the instance that
// compiles.
func (e *Engine) compile(name, head, text string) ([]byte, error) {
	base, err := e.preparedWith(nil)
	if err != nil {
		return nil, err
	}
	busy := longestLoad
	if head == scriptHead || head == checkHead {
		busy = longestRead
	}
	in, err := base.Take(context.Background(), quickjs.Run{Busy: busy})
	if err != nil {
		return nil, err
	}
	defer in.Release()
	bytecode, err := in.Compile(name, text)
	if err != nil {
		return nil, unreadable(name, head, err)
	}
	return bytecode, nil
}

// unreadable returns the error of a source that cannot be compiled.
func unreadable(name, head string, err error) *Error {
	failed := &Error{File: name, Err: boterr.Invalid("", "%w", err)}
	if errors.Is(err, quickjs.ErrBusy) {
		failed.Err = boterr.Invalid("", "takes too long to be read: make it simpler")
	}
	if thrown, ok := errors.AsType[*quickjs.ThrownError](err); ok {
		text := strings.TrimPrefix(strings.TrimSpace(thrown.Text), "SyntaxError: ")
		if text == stackIsFull {
			text = "is nested too deep: brackets, functions or operators"
		}
		failed.Err = boterr.Invalid("", "%s", text)
		for _, at := range placesIn(thrown.Stack) {
			if at.file == name {
				at = at.without(head)
				failed.Line, failed.Column = at.line, at.column
				break
			}
		}
	}
	return failed
}

// word finds names in a source.
var word = regexp.MustCompile(`[\p{L}_$][\p{L}\p{N}_$]*`)

// helpersIn returns the modules of the helpers that a source names, in order.
func (e *Engine) helpersIn(source string) []string {
	var found []string
	for _, name := range word.FindAllString(source, -1) {
		if module, isHelper := e.options.Helpers[name]; isHelper {
			found = append(found, module)
		}
		for part := range parts {
			if slices.Contains(parts[part].names, name) {
				found = append(found, ownFiles+part)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// take returns an instance for a run, in which the helpers that the program names have been loaded. If they cannot be,
// the script meets the error when it uses them.
func (p *Program) take(ctx context.Context, run quickjs.Run) (*prepared, *quickjs.Instance, error) {
	ready, err := p.engine.preparedWith(p.helpers) //nolint:contextcheck // It outlives the run.
	if err != nil {
		ready, err = p.engine.preparedWith(nil) //nolint:contextcheck // As above.
	}
	if err != nil {
		return nil, nil, err
	}
	in, err := ready.Take(ctx, run)
	return ready, in, err
}
