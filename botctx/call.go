package botctx

import (
	"context"
	"encoding/json"
	"math"

	"github.com/botctx/go-sdk/boterr"
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
	defer func() { err = boterr.Wrap(name, c.orPanic(ctx, Op(name), err, recover())) }()
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
	ctx context.Context, c *Context, op Op, args json.RawMessage, operation func(context.Context, P) (R, error),
) (json.RawMessage, error) {
	params, err := decodeParams[P](args, c.runtime.decode)
	if err != nil {
		return nil, boterr.Wrap(string(op), err)
	}
	result, failed := operation(ctx, params)
	if failed != nil {
		if kept, ok := any(result).(outcomes); !ok || !kept.HasOutcomes() {
			return nil, failed
		}
	}
	text, err := encodeForCaller(result)
	if err != nil && failed == nil {
		failed = boterr.Wrap(string(op), boterr.New(boterr.Internal, "", "the result cannot be written as JSON: %w", err))
	}
	return text, failed
}

// forCaller is a result with a credential that the caller asked for. Logs, transcripts and
// recordings show it redacted.
type forCaller interface {
	// ForCaller returns the result with the credential.
	ForCaller() (document.Object, error)
}

// encodeForCaller returns the JSON of a result for who called the operation.
func encodeForCaller(result any) (json.RawMessage, error) {
	if revealing, ok := result.(forCaller); ok {
		revealed, err := revealing.ForCaller()
		if err != nil {
			return nil, err
		}
		result = revealed
	}
	text, err := document.EncodeJSON(result)
	if err == nil {
		return text, nil
	}
	value, notEncoded := document.ValueOf(result)
	if notEncoded != nil {
		return nil, err
	}
	return document.AppendJSON(nil, asJSON(value)) // The operation has done what it does: its result is not to be lost.
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

// decodeParams reads a JSON object of parameters by decode, which is document.Decode
// or document.DecodeStrict.
func decodeParams[P any](args json.RawMessage, decode func(document.Object, any) error) (P, error) {
	var params P
	if len(args) == 0 {
		return params, nil
	}
	var fields document.Object
	err := fields.UnmarshalJSON(args)
	if err == nil {
		err = decode(fields, &params)
	}
	return params, err
}

// OverCall returns the operations typed over a door that takes JSON: the way back
// from Call. Errors are those of the door. The JSON of a send does not say from which platform
// it is: where that answers in words of its own, send.Result.For reads them.
func OverCall(caller Caller) Operations { return overCall{caller} }

// overCall calls every operation by its name.
type overCall struct{ caller Caller }

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
