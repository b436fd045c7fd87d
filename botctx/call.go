package botctx

import (
	"cmp"
	"context"
	"encoding/json"
	"math"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/nearest"
)

// Caller is a door through which operations are called by name, with JSON in and
// JSON out. *Context is one.
type Caller interface {
	// Call runs the operation of that name with a JSON object of its parameters, and
	// returns the JSON of its result.
	Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error)
}

// Call runs any operation by its name in the specification, such as "getMember",
// with a JSON object of its parameters, and returns the JSON that the specification
// shows. No arguments count as an object without fields. It is how a host bridges
// another language or a wire.
//
// An operation that does not exist is InvalidArgument. A parameter that does not exist is ignored, and InvalidArgument where
// the Runtime is strict. Where an operation returns outcomes together with an error,
// so does Call.
func (c *Context) Call(ctx context.Context, name string, args json.RawMessage) (result json.RawMessage, err error) {
	var given document.Object
	if len(args) > 0 {
		if err := given.UnmarshalJSON(args); err != nil {
			return nil, boterr.Wrap(name, err)
		}
	}
	value, failed := c.CallValue(ctx, name, given)
	if value == document.Missing {
		return nil, failed
	}
	result, err = document.AppendJSON(nil, value)
	if err != nil { // The operation has done its work: its result is not to be lost.
		result, err = document.AppendJSON(nil, asJSON(value))
	}
	return result, cmp.Or(failed, boterr.Wrap(name, err))
}

// CallValue is Call with document values instead of JSON, so that times and 64-bit integers keep their types. args is
// the object of parameters; the zero Object has none. A parameter that is a time in milliseconds may be a time.Time.
//
// The result is the value that Call returns as JSON, or document.Missing if there is none.
func (c *Context) CallValue(ctx context.Context, name string, args document.Object) (result any, err error) {
	defer func() {
		cause := recover()
		if cause != nil {
			result = document.Missing
		}
		err = boterr.Wrap(name, c.orPanic(ctx, Op(name), err, cause))
	}()
	return c.dispatch(ctx, Op(name), args)
}

const noOperationOfThisName = "there is no operation of this name; names are those of the specification"

// noOperation is the error for a name that no operation has.
func noOperation(op Op) error {
	near := nearest.To(string(op), opNames())
	if near == "" {
		return boterr.Wrap(string(op), boterr.Invalid("", noOperationOfThisName))
	}
	return boterr.Wrap(string(op), boterr.Invalid("", noOperationOfThisName+"; perhaps %q is meant", near))
}

// opNames returns the names of all operations.
func opNames() []string {
	var names []string
	for _, op := range Ops() {
		names = append(names, string(op))
	}
	return names
}

// callOperation decodes the arguments, calls an operation and encodes its result.
func callOperation[P, R any](
	ctx context.Context, c *Context, op Op, args document.Object, operation func(context.Context, P) (R, error),
) (any, error) {
	var params P
	if err := c.runtime.decode(args, &params); err != nil {
		return document.Missing, boterr.Wrap(string(op), err)
	}
	result, failed := operation(ctx, params)
	if failed != nil {
		if kept, ok := any(result).(outcomes); !ok || !kept.HasOutcomes() {
			return document.Missing, failed
		}
	}
	value, err := valueForCaller(result)
	if err != nil {
		value = document.Missing
		failed = cmp.Or(failed, boterr.Wrap(string(op), boterr.New(boterr.Internal, "", "the result cannot be encoded: %w", err)))
	}
	return value, failed
}

// forCaller is a result with a credential that the caller asked for. Logs, transcripts and
// recordings show it redacted.
type forCaller interface {
	// ForCaller returns the result with the credential.
	ForCaller() (document.Object, error)
}

// valueForCaller returns a result as a document value for the caller of the operation.
func valueForCaller(result any) (any, error) {
	switch r := result.(type) {
	case forCaller:
		return r.ForCaller()
	case datasource.FetchDataFromDataSourceResult: // The JSON of these three has texts in the place of times.
		return encoded(r)
	case datasource.FetchDistinctDataFromDataSourceResult:
		return encoded(r)
	case datasource.FetchGeoNearFromDataSourceResult:
		return encoded(r)
	default:
		return document.ValueOf(result)
	}
}

// encoded returns the value of EncodeValue as a document value.
func encoded(r document.ValueEncoder) (any, error) {
	value, err := r.EncodeValue()
	if err != nil {
		return nil, err
	}
	return document.ValueOf(value)
}

// asJSON returns a value with null in the place of the numbers that JSON does not have, as JSON.stringify does.
func asJSON(value any) any {
	switch v := value.(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
	case document.Object:
		return v.Shape().Object(func(i int) any { return asJSON(v.At(i)) })
	case document.Array:
		items := make([]any, 0, v.Len())
		for _, item := range v.All() {
			items = append(items, asJSON(item))
		}
		return document.ArrayOf(items)
	}
	return value
}

// FromCaller returns the operations typed over a door that takes JSON: the way back
// from Call. Errors are those of the door. The JSON of a send does not say from which platform
// it is: where that answers in words of its own, send.Result.For reads them.
func FromCaller(caller Caller) Operations { return fromCaller{caller} }

// fromCaller calls every operation by its name.
type fromCaller struct{ caller Caller }

// callByName encodes the params, calls an operation and decodes its result.
func callByName[R any](ctx context.Context, caller Caller, op Op, params any) (R, error) {
	var result R
	args, err := document.EncodeJSON(params)
	if err != nil {
		return result, boterr.Wrap(string(op), err)
	}
	text, failed := caller.Call(ctx, string(op), args)
	if len(text) > 0 {
		if err := document.DecodeJSON(text, &result); err != nil && failed == nil {
			failed = boterr.New(boterr.Internal, "", "the result cannot be read: %w", err)
		}
	}
	return result, boterr.Wrap(string(op), failed)
}
