package script

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/nearest"
	"github.com/botctx/go-sdk/script/internal/quickjs"
)

// Error is the failure of a script, with its place and cause. The cause is a *boterr.Error: the error of an operation
// that the script did not catch; ResourceExhausted for a limit of Options; InvalidArgument for a script that does not
// compile; Canceled if the context ended; Internal for a value that the script threw.
type Error struct {
	// File is the name of the script or module, as passed to Compile.
	File string
	// Line and Column are the place in the file, starting at 1, or 0 if it is not known. A thrown value that is not
	// an Error has no place; an error about a result or a record has a field instead.
	Line, Column int
	// Stack are the calls that led to the error, innermost first, such as "total (cart.js:4:9)".
	Stack []string
	// Err is the cause.
	Err error
}

// Error returns "file:line:column: message".
func (e *Error) Error() string {
	return e.Place() + ": " + display.Text(e.Err)
}

// Place returns "file:line:column", or only the file if the line is not known.
func (e *Error) Place() string {
	if e.Line == 0 {
		return e.File
	}
	return fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column)
}

// copied returns a copy for a caller, because several runs get the error of a module that does not compile.
func (e *Error) copied() *Error {
	made := *e
	return &made
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// report describes a thrown value in the format of border.js.
type report struct {
	Text    string `json:"text"`
	Stack   string `json:"stack"`
	IsError bool   `json:"isError"`
	// Missing are the names last read from `this` that do not exist, if a call failed because its target is not a function.
	Missing []string `json:"missing"`
	// Number identifies an error that the script received from the host. It is 0 for other values.
	Number int `json:"number"`
}

// thrownError is a value that a script threw, with its place and cause.
type thrownError struct {
	cause error
	stack string
}

func (e *thrownError) Error() string { return e.cause.Error() }

// hostFail ends the run with the thrown value.
func (r *run) hostFail(payload string) error {
	var told report
	if err := json.Unmarshal([]byte(payload), &told); err != nil {
		return err
	}
	r.fail(r.thrown(told))
	return nil
}

// stackIsFull is the engine's error for calls that are nested too deep.
const stackIsFull = "RangeError: Maximum call stack size exceeded"

// noModule is the engine's error for import().
const noModule = "ReferenceError: could not load module"

// thrown returns the error for a value that a script threw.
func (r *run) thrown(told report) *thrownError {
	read := &thrownError{stack: told.Stack}
	switch {
	case r.causes[told.Number] != nil:
		read.cause = r.causes[told.Number]
	case told.Text == stackIsFull:
		read.cause = boterr.New(boterr.ResourceExhausted, "", "function calls are nested too deep")
	case strings.HasPrefix(told.Text, noModule):
		read.cause = boterr.New(boterr.Unsupported, "", "import() is not supported: use require")
	case told.IsError:
		read.cause = boterr.New(boterr.Internal, "", "%s", cmp.Or(r.notAFunction(told), told.Text))
	default:
		read.cause = boterr.New(boterr.Internal, "", "the script threw %s", told.Text)
	}
	return read
}

// notAFunction returns the text of the error of a call whose target is not a function, with the name that the script
// called on `this` and a similar operation. It returns "" if the name is not known.
func (r *run) notAFunction(told report) string {
	first, _, _ := strings.Cut(told.Stack, "\n")
	at := r.places(first)
	if len(at) == 0 { // For example, a function of the language got another value than a function.
		return ""
	}
	source := r.program.source
	if at[0].file != r.program.name {
		module, err := r.engine.modules.Read(at[0].file)
		if err != nil {
			return ""
		}
		source = module.Source
	}
	for _, name := range told.Missing {
		if isCalled, err := regexp.MatchString(`\.`+regexp.QuoteMeta(name)+`\s*[(\x60]`, source); err != nil || !isCalled {
			continue
		}
		text := "TypeError: this." + name + " is not a function"
		if near := nearest.To(botctx.Op(name), botctx.Ops()); near != "" {
			text += ": did you mean this." + string(near) + "?"
		}
		return text
	}
	return ""
}

// mostFrames limits the calls in the stack of an error.
const mostFrames = 20

func (r *run) failed(err error) *Error {
	if known, ok := errors.AsType[*Error](err); ok {
		return known.copied()
	}
	if thrown, ok := errors.AsType[*quickjs.ThrownError](err); ok { // thrown outside the script's promise
		err = r.thrown(report{Text: thrown.Text, Stack: thrown.Stack, IsError: thrown.Stack != ""})
	}
	var stack string
	var places []place
	cause := err
	if thrown, ok := errors.AsType[*thrownError](err); ok {
		cause, stack = thrown.cause, thrown.stack
	} else if ended, ok := errors.AsType[*quickjs.EndedError](err); ok {
		cause, places = r.endedBy(ended.Cause), r.placesOfEnd(ended)
	}
	if known, ok := errors.AsType[*Error](cause); ok {
		return known.copied()
	}
	if r.ctx.Err() != nil && boterr.CodeOf(cause) == boterr.Canceled {
		cause = boterr.Wrap("", cause) // A context's own error has no code.
	}
	failed := &Error{File: r.program.name, Err: cause}
	if stack != "" {
		places = r.places(stack)
	}
	for i, at := range places {
		if i == 0 {
			failed.File, failed.Line, failed.Column = at.file, at.line, at.column
		}
		if i < mostFrames {
			failed.Stack = append(failed.Stack, at.String())
		}
	}
	return failed
}

func (r *run) endedBy(cause error) error {
	options := r.engine.options
	switch {
	case errors.Is(cause, quickjs.ErrBusy):
		return boterr.New(boterr.ResourceExhausted, "",
			"the script and its operations computed for more than %v: see Options.MaxBusy", options.MaxBusy)
	case errors.Is(cause, quickjs.ErrMemory):
		return boterr.New(boterr.ResourceExhausted, "", "the script needs more than %d bytes: see Options.MaxMemory", options.MaxMemory)
	case errors.Is(cause, quickjs.ErrText):
		return boterr.New(boterr.ResourceExhausted, "", "the script passes more than %d bytes to the host at once: see Options.MaxResultBytes",
			longestText(options.MaxResultBytes))
	case errors.Is(cause, quickjs.ErrDepth):
		return boterr.New(boterr.ResourceExhausted, "", "the script nests calls to the host too deep: call it outside of toString and valueOf")
	}
	if ending, ok := errors.AsType[endingError](cause); ok {
		return ending.error
	}
	return cause
}

type place struct {
	function, file string
	line, column   int
}

// stackLine matches a line of a stack, such as "    at total (cart.js:4:9)".
var stackLine = regexp.MustCompile(`^\s*at (?:(.*) \()?(.+):(\d+):(\d+)\)?$`)

// placesIn reads a stack. It skips lines without a place in a script.
func placesIn(stack string) []place {
	var places []place
	for line := range strings.Lines(stack) {
		found := stackLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if len(found) == 0 || strings.HasPrefix(found[2], ownFiles) {
			continue
		}
		at := place{function: found[1], file: found[2]}
		at.line, _ = strconv.Atoi(found[3])
		at.column, _ = strconv.Atoi(found[4])
		if strings.HasPrefix(at.function, "<") { // For example <anonymous>.
			at.function = ""
		}
		places = append(places, at)
	}
	return places
}

// places reads a stack. It skips unknown files, because scripts can forge stacks.
func (r *run) places(stack string) (places []place) {
	const longestStack = 64 << 10
	for _, at := range placesIn(stack[:min(len(stack), longestStack)]) {
		head := scriptHead
		if at.file != r.program.name {
			head = moduleHead
			if _, isModule := r.engine.compiled.Load(at.file); !isModule {
				continue
			}
		}
		places = append(places, at.without(head))
	}
	return places
}

// placesOfEnd returns the place where a run was ended. In a loop, the engine may only know the start of the loop's
// function, so placesOfEnd skips places at the start of the script.
func (r *run) placesOfEnd(ended *quickjs.EndedError) []place {
	for _, stack := range []string{ended.Stack, ended.Noted} {
		if places := r.places(stack); len(places) > 0 && (places[0].line > 1 || places[0].column > 1) {
			return places
		}
	}
	return nil
}

// without returns the place in a source that head precedes.
func (p place) without(head string) place {
	if p.line == 1 {
		p.column = max(1, p.column-len(head))
	}
	return p
}

// String returns the place as a line of a stack shows it.
func (p place) String() string {
	at := p.file + ":" + strconv.Itoa(p.line) + ":" + strconv.Itoa(p.column)
	if p.function == "" {
		return at
	}
	return p.function + " (" + at + ")"
}
