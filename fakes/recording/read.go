package recording

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/nearest"
)

// Recording are calls that were recorded, in the order in which they returned.
type Recording struct {
	// File is what errors call it.
	File  string
	Calls []Call
	// hasHead tells that its first line was read.
	hasHead bool
}

// Read reads a recording of a name, which its errors begin with. An error names the line that is no call,
// that is cut off, or before which lines are missing.
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

// read reads a line.
func (r *Recording) read(number int, text []byte) error {
	value, err := document.ParseJSON(text)
	if err != nil {
		return fmt.Errorf("this is no JSON: %w", err)
	}
	line, isObject := value.(document.Object)
	if !isObject {
		return errors.New("this is no JSON object")
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
		return fmt.Errorf("this is call %d, and the one before it is %d: lines are missing, twice there or in another order", call.N, last)
	}
	call.Line = number
	r.Calls = append(r.Calls, call)
	return nil
}

func checkHead(line document.Object) error {
	if version, has := line.Field(fieldRecording); !has || !document.Equal(version, int64(1)) {
		return fmt.Errorf("this is no recording of this version: its first line is %s", head)
	}
	return nil
}

// readCall reads a call.
func readCall(line document.Object) (Call, error) {
	known := []string{fieldN, fieldAt, fieldScope, fieldOp, fieldParams, fieldResult, fieldError}
	for name := range line.All() {
		if !slices.Contains(known, name) {
			return Call{}, fmt.Errorf("there is no field %q in a call: there are %v", name, known)
		}
	}
	var read struct {
		N     int                `json:"n"`
		At    document.Timestamp `json:"at"`
		Scope Scope              `json:"scope"`
		Op    string             `json:"op"`
	}
	if err := document.Decode(line.Without(fieldParams).Without(fieldResult).Without(fieldError), &read); err != nil {
		return Call{}, err
	}
	call := Call{N: read.N, CalledAt: read.At, Scope: read.Scope, Op: botctx.Op(read.Op)}
	if err := call.readParams(line); err != nil {
		return Call{}, err
	}
	result, hasResult := line.Field(fieldResult)
	failed, hasError := line.Field(fieldError)
	if !hasResult && !hasError {
		return Call{}, errors.New("what came of the call is missing: it has a result, which may be null, or an error")
	}
	call.Result = result
	if hasError {
		err := call.readError(failed)
		return call, err
	}
	return call, nil
}

// readParams reads the params of a call. One that failed may be of no operation, or have no object there:
// that is how it failed.
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
		return errors.New("params are no JSON object: a call without any has {}")
	}
	return nil
}

// paramsOf returns params as they are compared: null is none.
func paramsOf(params any) any {
	if params == nil {
		return document.O()
	}
	return params
}

// readError reads the error of a call.
func (c *Call) readError(value any) error {
	object, isObject := value.(document.Object)
	code := boterr.Code(document.Get(object, "code", ""))
	if !isObject || !slices.Contains(boterr.Codes(), code) {
		return fmt.Errorf("error: %v has no code: there are %v", value, codeNames())
	}
	c.Err = &boterr.Error{
		Op: document.Get(object, "op", ""), Code: code, Field: document.Get(object, "field", ""),
	}
	if message := document.Get(object, "message", ""); message != "" {
		c.Err.Err = errors.New(message)
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

// checkOp refuses a name that no operation has.
func checkOp(op botctx.Op) error {
	if slices.Contains(botctx.Ops(), op) {
		return nil
	}
	var all []string
	for _, one := range botctx.Ops() {
		all = append(all, string(one))
	}
	if near := nearest.To(string(op), all); near != "" {
		return fmt.Errorf("op: there is no operation %q: perhaps %s is meant", op, near)
	}
	return fmt.Errorf("op: there is no operation %q", op)
}
