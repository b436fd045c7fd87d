package recording

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/nearest"
	"github.com/botctx/go-sdk/internal/operations"
)

// Recording is a list of recorded calls, in the order in which they returned.
type Recording struct {
	// File is its name in errors.
	File  string
	Calls []Call
	// hasHead is true once its first line was read.
	hasHead bool
}

// Read reads a recording; file is its name for errors. An error gives the number of the first line that is not a
// call, is truncated, or follows missing lines.
func Read(file string, in io.Reader) (*Recording, error) {
	r := &Recording{File: file}
	lines := bufio.NewReader(in)
	for number, isEnd := 1, false; !isEnd; number++ {
		line, err := lines.ReadBytes('\n')
		isEnd = errors.Is(err, io.EOF)
		if err != nil && !isEnd {
			return nil, err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := r.read(number, line); err != nil {
			if isEnd {
				err = fmt.Errorf("%w (the line has no end: the recording may be cut off here)", err)
			}
			return nil, fmt.Errorf("%s:%d: %w", file, number, err)
		}
	}
	if !r.hasHead {
		return nil, fmt.Errorf("%s is empty: a recording begins with the line %s", file, head)
	}
	return r, nil
}

func (r *Recording) read(number int, text []byte) error {
	value, err := document.ParseJSON(text)
	if err != nil {
		return fmt.Errorf("this is not valid JSON: %w", err)
	}
	line, isObject := value.(document.Object)
	if !isObject {
		return errors.New("this is not a JSON object")
	}
	if !r.hasHead {
		r.hasHead = true
		return checkHead(line)
	}
	call, err := readCall(line)
	if err != nil {
		return err
	}
	if last := len(r.Calls); call.N != last+1 {
		return fmt.Errorf("this is call %d, and the previous one is %d: lines are missing, repeated or out of order", call.N, last)
	}
	call.Line = number
	r.Calls = append(r.Calls, call)
	return nil
}

func checkHead(line document.Object) error {
	if version, has := line.Field(fieldRecording); !has || !document.Equal(version, int64(1)) {
		return fmt.Errorf("this is not a recording of this version: its first line is %s", head)
	}
	return nil
}

func readCall(line document.Object) (Call, error) {
	known := []string{fieldN, fieldAt, fieldScope, fieldOp, fieldParams, fieldResult, fieldError}
	for name := range line.All() {
		if !slices.Contains(known, name) {
			return Call{}, fmt.Errorf("there is no field %q in a call: the fields are %v", name, known)
		}
	}
	var read struct {
		N     int                `json:"n"`
		At    document.Timestamp `json:"at"`
		Scope scopeInFile        `json:"scope"`
		Op    string             `json:"op"`
	}
	if err := document.Decode(line.Without(fieldParams).Without(fieldResult).Without(fieldError), &read); err != nil {
		return Call{}, err
	}
	call := Call{N: read.N, CalledAt: read.At, Scope: botctx.Scope(read.Scope), Op: botctx.Op(read.Op)}
	if err := call.readParams(line); err != nil {
		return Call{}, err
	}
	result, hasResult := line.Field(fieldResult)
	failed, hasError := line.Field(fieldError)
	if !hasResult && !hasError {
		return Call{}, errors.New("the outcome of the call is missing: give a result, which may be null, or an error")
	}
	call.Result = result
	if hasError {
		err := call.readError(failed)
		return call, err
	}
	return call, nil
}

// Call is a call of an operation that was recorded.
type Call struct {
	// Line is the call's line in the file. N is its number, from 1 on.
	Line, N int
	// CalledAt is the beginning of the call.
	CalledAt document.Timestamp
	// Scope is the scope of the call.
	Scope botctx.Scope
	Op    botctx.Op
	// Params and Result are document values. Result is nil for null, and if there is none.
	Params, Result any
	// Err is the error, or nil if the call succeeded. A send that reached some recipients has a Result, too.
	Err *boterr.Error
}

// readParams reads the params of a call. A failed call may have an unknown operation, or params that are not
// an object, because that may be why it failed.
func (c *Call) readParams(line document.Object) error {
	params, hasParams := line.Field(fieldParams)
	if !hasParams {
		return errors.New("params are missing: a call without any has {}")
	}
	c.Params = paramsOf(params)
	if line.Has(fieldError) {
		return nil
	}
	if err := checkOp(c.Op); err != nil {
		return err
	}
	if _, isObject := c.Params.(document.Object); !isObject {
		return errors.New("params are not a JSON object: a call without any has {}")
	}
	return nil
}

// paramsOf returns params for comparison. Null becomes an empty object.
func paramsOf(params any) any {
	if params == nil {
		return document.O()
	}
	return params
}

func (c *Call) readError(value any) error {
	object, _ := value.(document.Object)
	code := boterr.Code(document.Get(object, "code", ""))
	if !slices.Contains(boterr.Codes(), code) {
		return fmt.Errorf("error: %v has no code: give one of %v", value, codeNames())
	}
	c.Err = &boterr.Error{
		Op: document.Get(object, "op", ""), Code: code, Field: document.Get(object, "field", ""),
		Err: errors.New(document.Get(object, "message", "")),
	}
	return nil
}

func codeNames() []string {
	var names []string
	for _, code := range boterr.Codes() {
		names = append(names, string(code))
	}
	return names
}

// checkOp refuses unknown operations.
func checkOp(op botctx.Op) error {
	if op.Exists() {
		return nil
	}
	if near := nearest.To(op, botctx.Ops()); near != "" {
		return fmt.Errorf("op: there is no operation %q: did you mean %s?", op, near)
	}
	return fmt.Errorf("op: there is no operation %q", op)
}

// scopeInFile is a botctx.Scope with the names of its fields in a recording.
type scopeInFile struct {
	App             string `json:"app,omitzero"`
	Channel         string `json:"channel,omitzero"`
	Member          string `json:"member,omitzero"`
	GroupExternalID string `json:"group,omitzero"`
}

// head is the first line of a recording.
const head = `{"recording":1}`

// The fields of a line.
const (
	fieldRecording = "recording"
	fieldN         = "n"
	fieldAt        = "at"
	fieldScope     = "scope"
	fieldOp        = "op"
	fieldParams    = "params"
	fieldResult    = "result"
	fieldError     = "error"
)

func (c Call) object() document.Object {
	scope, _ := document.Encode(scopeInFile(c.Scope)) // Texts can be encoded.
	line := document.O(fieldN, c.N, fieldAt, int64(c.CalledAt), fieldScope, scope, fieldOp, string(c.Op), fieldParams, c.Params)
	if c.Err == nil || c.Result != nil {
		line = line.With(fieldResult, c.Result)
	}
	if c.Err != nil {
		failed, _ := valueOf(c.Err) // Errors can be encoded.
		line = line.With(fieldError, failed)
	}
	return line
}

// result returns the result of the call as a botctx.Caller does.
func (c Call) result() (json.RawMessage, error) {
	var text json.RawMessage
	if c.Err == nil || c.Result != nil {
		encoded, err := document.EncodeJSON(c.Result)
		if err != nil {
			return nil, err
		}
		text = encoded
	}
	if c.Err == nil {
		return text, nil
	}
	own := *c.Err
	return text, &own
}

// callerOf returns a botctx.Caller for botctx.FromCaller, which calls only operations that exist. If all does not
// implement Caller, it is wrapped in typed.
func callerOf(all botctx.Operations) botctx.Caller {
	if door, has := all.(botctx.Caller); has {
		return door
	}
	return typed{reflect.ValueOf(all)}
}

// typed is a botctx.Caller over operations that do not implement it.
type typed struct{ operations reflect.Value }

func (t typed) Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	method := t.method(name)
	params := reflect.New(method.Type().In(1))
	if err := document.DecodeJSON(args, params.Interface()); err != nil {
		return nil, err
	}
	returned := method.Call([]reflect.Value{reflect.ValueOf(ctx), params.Elem()})
	failed, _ := reflect.TypeAssert[error](returned[1])
	result := returned[0].Interface()
	if failed != nil && !hasOutcomes(result) {
		return nil, failed
	}
	text, err := encoded(result)
	if failed == nil {
		failed = err
	}
	return text, failed
}

// encoded returns a result as JSON. It includes a credential if the caller asked for one.
func encoded(result any) (json.RawMessage, error) {
	type forCaller interface {
		ForCaller() (document.Object, error)
	}
	if revealing, is := result.(forCaller); is {
		revealed, err := revealing.ForCaller()
		if err != nil {
			return nil, err
		}
		return revealed.MarshalJSON()
	}
	return document.EncodeJSON(result)
}

// method returns the method of an operation. The two names differ only in capital letters.
func (t typed) method(name string) reflect.Value {
	return t.operations.MethodByName(operations.GoName(name))
}
