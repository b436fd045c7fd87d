package script

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/file"

	"github.com/botctx/go-sdk/boterr"
)

// errorObject returns the Error object of an error: with code, field and operation, and the stack of
// the script where it is.
func (r *run) errorObject(err error) *goja.Object {
	made, failed := r.vm.New(r.vm.Get("Error"), r.vm.ToValue(boterr.Text(err)))
	if failed != nil {
		made = r.vm.NewObject()
		_ = made.Set("message", boterr.Text(err))
	}
	_ = made.Set("code", string(boterr.CodeOf(err)))
	if e, ok := boterr.AsError(err); ok {
		_ = made.Set("field", e.Field)
		_ = made.Set("operation", e.Op)
	}
	r.causes[made] = err
	return made
}

// callFailed returns the Error object of a call. What came of the call all the same is its result.
func (r *run) callFailed(result goja.Value, err error) goja.Value {
	made := r.errorObject(err)
	if !goja.IsUndefined(result) {
		_ = made.Set("result", result)
	}
	return made
}

// thrownError is what a script threw or rejected, and where it was made.
type thrownError struct {
	cause error
	stack []place
}

// Error returns what was thrown.
func (e *thrownError) Error() string { return e.cause.Error() }

// Unwrap returns what was thrown.
func (e *thrownError) Unwrap() error { return e.cause }

// thrown returns the error of a value that a script threw.
func (r *run) thrown(value goja.Value) error {
	object, isObject := value.(*goja.Object)
	if !isObject {
		return &thrownError{boterr.New(boterr.Internal, "", "the script threw %s", value.String()), r.thrownAt(value)}
	}
	read := &thrownError{cause: r.causes[object], stack: r.thrownAt(value)}
	err := r.inScript(func() error { // What it calls is the script's, and may throw in its turn.
		if text, isText := object.Get("stack").(goja.String); isText {
			read.stack = placesIn(text.String())
		}
		if read.cause == nil {
			read.cause = boterr.New(boterr.Internal, "", "%s", object.String())
		}
		return nil
	})
	if _, isThrown := errors.AsType[*goja.Exception](err); err != nil && !isThrown {
		return err
	}
	if read.cause == nil {
		read.cause = boterr.New(boterr.Internal, "", "the script threw an object that cannot be made a text of")
	}
	return read
}

// thrownHere notes where a script throws a value: what is no Error does not say it.
func (r *run) thrownHere(value goja.Value) goja.Value {
	r.lastThrown = value
	r.lastThrow = r.vm.CaptureCallStack(stepFrames, r.lastThrow[:0])
	return value
}

// thrownAt returns where the script threw a value last, nothing where that was another one.
func (r *run) thrownAt(value goja.Value) []place {
	if r.lastThrown == nil || !r.lastThrown.SameAs(value) {
		return nil
	}
	return placesOf(r.lastThrow)
}

// place is a place in a script, and the function that it is in.
type place struct {
	function string
	at       file.Position
}

// stackLine is a line of the stack of an Error object: "	at total (cart.js:4:9(12))".
var stackLine = regexp.MustCompile(`^\s*at (?:(.*) \()?(.+):(\d+):(\d+)\(\d+\)\)?$`)

// placesIn reads the stack of an Error object.
func placesIn(stack string) []place {
	var places []place
	for line := range strings.Lines(stack) {
		found := stackLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if found == nil {
			continue
		}
		at := file.Position{Filename: found[2]}
		at.Line, _ = strconv.Atoi(found[3])
		at.Column, _ = strconv.Atoi(found[4])
		places = append(places, place{found[1], at})
	}
	return places
}

// placesOf returns the places of frames in scripts.
func placesOf(frames []goja.StackFrame) []place {
	var places []place
	for _, frame := range frames {
		if at := frame.Position(); at.Line > 0 {
			places = append(places, place{frame.FuncName(), at})
		}
	}
	return places
}

// failed returns the error of a run, with its place.
func (r *run) failed(err error) *Error {
	stack, cause := r.causeOf(err)
	failed := r.errorAt(cause, stack)
	if failed.Line == 0 && len(stack) > 0 { // It was in a script of this package.
		failed = r.errorAt(cause, r.step.places())
	}
	if failed.Line == 0 {
		failed = r.errorAt(cause, placesOf(r.lastWait))
	}
	return failed
}

// errorAt returns the error of a run, with where it arose.
func (r *run) errorAt(cause error, stack []place) *Error {
	failed := &Error{File: r.program.name, Err: cause}
	for _, where := range stack {
		if strings.HasPrefix(where.at.Filename, ownFiles) {
			continue
		}
		where.at = r.placed(where.at)
		if failed.Line == 0 {
			failed.File, failed.Line, failed.Column = where.at.Filename, where.at.Line, where.at.Column
		}
		failed.Stack = append(failed.Stack, where.String())
	}
	return failed
}

// ownFiles is how the names of this package's own scripts begin, which errors leave out.
const ownFiles = "script:"

// String returns the place as stacks show it.
func (p place) String() string {
	at := p.at.Filename + ":" + strconv.Itoa(p.at.Line) + ":" + strconv.Itoa(p.at.Column)
	if p.function == "" {
		return at
	}
	return p.function + " (" + at + ")"
}

// placed is a position in a source, of one in what was compiled.
func (r *run) placed(at file.Position) file.Position {
	head := moduleHead
	if at.Filename == r.program.name {
		head = scriptHead
	}
	return placed(at.Filename, head, at)
}

// causeOf returns what stands behind an error of the engine below, and where it arose.
func (r *run) causeOf(err error) (stack []place, cause error) {
	if interrupted, ok := errors.AsType[*goja.InterruptedError](err); ok {
		return placesOf(interrupted.Stack()), interrupted.Unwrap()
	}
	if overflown, ok := errors.AsType[*goja.StackOverflowError](err); ok {
		frames := overflown.Stack()
		return placesOf(frames[:min(len(frames), mostFrames)]), boterr.New(boterr.ResourceExhausted, "",
			"functions call each other more than %d deep: see Options.MaxCallDepth", r.engine.options.MaxCallDepth)
	}
	if exception, ok := errors.AsType[*goja.Exception](err); ok {
		if known, ok := errors.AsType[*thrownError](r.thrown(exception.Value())); ok {
			return placesOf(exception.Stack()), known.cause
		}
	}
	if known, ok := errors.AsType[*thrownError](err); ok {
		return known.stack[:min(len(known.stack), mostFrames)], known.cause
	}
	return nil, err
}

// isOfEngine reports whether an error is how the engine below ends a script.
func isOfEngine(err error) bool {
	_, isInterrupted := errors.AsType[*goja.InterruptedError](err)
	_, isOverflown := errors.AsType[*goja.StackOverflowError](err)
	_, isThrown := errors.AsType[*goja.Exception](err)
	return isInterrupted || isOverflown || isThrown
}

// mostFrames is how many calls of a stack an error shows.
const mostFrames = 20

// track keeps the promises that were rejected and that nothing waits for.
func (r *run) track(promise *goja.Promise, operation goja.PromiseRejectionOperation) {
	if operation == goja.PromiseRejectionReject {
		r.rejected = append(r.rejected, promise)
		if reason := promise.Result(); r.thrownAt(reason) == nil {
			r.thrownHere(reason)
		}
		return
	}
	r.rejected = slices.DeleteFunc(r.rejected, func(p *goja.Promise) bool { return p == promise })
}

// tellRejected logs what failed without the script waiting for it.
func (r *run) tellRejected() {
	for _, promise := range r.rejected {
		failed := r.failed(r.thrown(promise.Result()))
		r.engine.options.Console.WarnContext(r.ctx, "a script did not wait for what failed", "script", r.program.name, "error", failed)
	}
}
