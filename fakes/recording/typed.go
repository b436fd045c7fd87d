package recording

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// callerOf returns a door to operations: their own, where they have one.
func callerOf(all botctx.Operations) botctx.Caller {
	if door, has := all.(botctx.Caller); has {
		return door
	}
	return typed{reflect.ValueOf(all)}
}

// typed is a door to operations that have none.
type typed struct{ operations reflect.Value }

// Call implements botctx.Caller.
func (t typed) Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	method, isFound := t.method(name)
	if !isFound {
		return nil, boterr.Wrap(name, boterr.Invalid("", "there is no operation of this name"))
	}
	params := reflect.New(method.Type().In(1))
	if len(args) > 0 {
		if err := document.DecodeJSON(args, params.Interface()); err != nil {
			return nil, boterr.Wrap(name, err)
		}
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

// encoded returns a result as JSON, with a credential that its caller asked for.
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

// method returns the method of an operation: it has its name, with other capitals.
func (t typed) method(name string) (reflect.Value, bool) {
	all := reflect.TypeFor[botctx.Operations]()
	for method := range all.Methods() {
		if strings.EqualFold(method.Name, name) {
			return t.operations.MethodByName(method.Name), true
		}
	}
	return reflect.Value{}, false
}
