package script

import (
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/script/internal/quickjs"
)

// report is what border.js says of a value that was thrown.
type report struct {
	Text    string `json:"text"`
	Stack   string `json:"stack"`
	IsError bool   `json:"isError"`
	// Number is the one of an error that the script was given, 0 for others.
	Number int `json:"number"`
}

// thrownError is what a script threw, and where it was made.
type thrownError struct {
	cause error
	stack string
}

// Error returns what was thrown.
func (e *thrownError) Error() string { return e.cause.Error() }

// hostFail ends the run by what the script threw.
func (r *run) hostFail(payload string) error {
	var told report
	if err := json.Unmarshal([]byte(payload), &told); err != nil {
		return err
	}
	r.fail(r.thrown(told))
	return nil
}

// stackIsFull is what the engine throws if calls are nested too deep.
const stackIsFull = "RangeError: Maximum call stack size exceeded"

// noModule is how the engine answers import(): it has no modules of its own.
const noModule = "ReferenceError: could not load module"

// thrown returns the error of a value that a script threw.
func (r *run) thrown(told report) *thrownError {
	read := &thrownError{stack: told.Stack}
	switch {
	case r.causes[told.Number] != nil:
		read.cause = r.causes[told.Number]
	case told.Text == stackIsFull:
		read.cause = boterr.New(boterr.ResourceExhausted, "", "functions call each other too deep")
	case strings.HasPrefix(told.Text, noModule):
		read.cause = boterr.New(boterr.Unsupported, "", "import() is not supported: use require")
	case told.IsError:
		read.cause = boterr.New(boterr.Internal, "", "%s", told.Text)
	default:
		read.cause = boterr.New(boterr.Internal, "", "the script threw %s", told.Text)
	}
	return read
}

// mostFrames is how many calls of a stack an error shows.
const mostFrames = 20

// failed returns the error of a run, with its place.
func (r *run) failed(err error) *Error {
	if known, ok := errors.AsType[*Error](err); ok { // A module that cannot be compiled.
		return known
	}
	if thrown, ok := errors.AsType[*quickjs.ThrownError](err); ok { // By what runs outside of the script's promise.
		err = r.thrown(report{Text: thrown.Text, Stack: thrown.Stack, IsError: true})
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
		return known
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

// endedBy returns the error of a run that was ended, by its cause.
func (r *run) endedBy(cause error) error {
	options := r.engine.options
	switch {
	case errors.Is(cause, quickjs.ErrBusy):
		return boterr.New(boterr.ResourceExhausted, "", "the script computed for more than %v: see Options.MaxBusy", options.MaxBusy)
	case errors.Is(cause, quickjs.ErrMemory):
		return boterr.New(boterr.ResourceExhausted, "", "the script needs more than %d bytes: see Options.MaxMemory", options.MaxMemory)
	case errors.Is(cause, quickjs.ErrText):
		return boterr.New(boterr.ResourceExhausted, "", "the script gives the host more than %d bytes at once: see Options.MaxResultBytes",
			longestText(options.MaxResultBytes))
	case errors.Is(cause, quickjs.ErrDepth):
		return boterr.New(boterr.ResourceExhausted, "", "the script calls the host within calls of the host too often")
	}
	if ending, ok := errors.AsType[endingError](cause); ok {
		return ending.error
	}
	return cause
}

// place is a place in a script, and the function that it is in.
type place struct {
	function, file string
	line, column   int
}

// stackLine is a line of a stack: "    at total (cart.js:4:9)".
var stackLine = regexp.MustCompile(`^\s*at (?:(.*) \()?(.+):(\d+):(\d+)\)?$`)

// placesIn reads a stack. What is not in a script is left out.
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
		if strings.HasPrefix(at.function, "<") { // Such as <anonymous>.
			at.function = ""
		}
		places = append(places, at)
	}
	return places
}

// places reads a stack, with the places of the sources. Scripts can change stacks: other files than theirs are left out.
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

// placesOfEnd returns where a run was ended. For a loop the engine may know the beginning of its function alone: what is
// the beginning of the script is left out.
func (r *run) placesOfEnd(ended *quickjs.EndedError) []place {
	for _, stack := range []string{ended.Stack, ended.Noted} {
		if places := r.places(stack); len(places) > 0 && (places[0].line > 1 || places[0].column > 1) {
			return places
		}
	}
	return nil
}

// without returns a place as it is without the head that stands before its source.
func (p place) without(head string) place {
	if p.line == 1 {
		p.column = max(1, p.column-len(head))
	}
	return p
}

// String returns the place as stacks show it.
func (p place) String() string {
	at := p.file + ":" + strconv.Itoa(p.line) + ":" + strconv.Itoa(p.column)
	if p.function == "" {
		return at
	}
	return p.function + " (" + at + ")"
}
