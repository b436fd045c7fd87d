package script

import (
	"encoding/json"

	"github.com/dop251/goja"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// isOperation reports whether a name is that of an operation.
func isOperation(name string) bool { return operations[name] }

// operations are the names of all operations.
var operations = func() map[string]bool {
	names := map[string]bool{}
	for _, op := range botctx.Ops() {
		names[string(op)] = true
	}
	return names
}()

// operation returns the function that calls an operation.
func (r *run) operation(op botctx.Op) goja.Value {
	return r.vm.ToValue(func(call goja.FunctionCall) goja.Value {
		promise, resolve, reject := r.vm.NewPromise()
		result, err := r.call(op, call.Argument(0))
		settled := resolve
		if err != nil {
			result, settled = r.callFailed(result, err), reject
		}
		if err := settled(result); err != nil {
			panic(err)
		}
		return r.vm.ToValue(promise)
	})
}

// call calls an operation at once: operations of a script run one after the other, in the order in
// which it calls them, whether it waits for them or not.
func (r *run) call(op botctx.Op, argument goja.Value) (goja.Value, error) {
	r.countCall()
	args, err := r.arguments(argument)
	if err != nil {
		return goja.Undefined(), boterr.Wrap(string(op), err)
	}
	if err := r.store(); err != nil {
		return goja.Undefined(), boterr.Wrap(string(op), err)
	}
	var text json.RawMessage
	r.wait(func() { text, err = r.bot.Call(r.ctx, string(op), args) })
	r.refresh()
	result, failed := r.result(text)
	if err == nil && failed != nil {
		err = boterr.Wrap(string(op), failed)
	}
	return result, err
}

// arguments returns the JSON of the object that an operation is given.
func (r *run) arguments(argument goja.Value) (json.RawMessage, error) {
	value, err := r.fromScript(argument, nil)
	if err != nil || value == document.Missing {
		return nil, err
	}
	return document.AppendJSON(nil, value)
}

// result returns what an operation answered, undefined for nothing.
func (r *run) result(text json.RawMessage) (goja.Value, error) {
	if len(text) == 0 {
		return goja.Undefined(), nil
	}
	value, err := document.ParseJSON(text)
	if err != nil {
		return goja.Undefined(), err
	}
	return r.toScript(value), nil
}

// refresh gives the script the records that a call has changed, such as the member after a redirect
// that joined the run.
func (r *run) refresh() {
	for _, name := range recordNames {
		record := r.this.records.of(name)
		if record.write == nil || record.given == nil {
			continue
		}
		now, err := record.read(r)
		if err == nil && !document.Equal(now, record.seen) {
			r.renew(name, record, now)
		}
	}
	for name := range r.bot.Values {
		r.refreshValue(name)
	}
}

// renew gives the script a record as it is now: in the object that it has, which it may hold by another
// name, where there is one.
func (r *run) renew(name string, record *record, now any) {
	record.seen = now
	held, isObject := record.given.(*goja.Object)
	fields, hasFields := now.(document.Object)
	if !isObject || !hasFields {
		record.given = r.toScript(now)
		r.this.made[name] = record.given
		return
	}
	for _, field := range held.Keys() {
		if _, has := fields.Field(field); !has {
			_ = held.Delete(field)
		}
	}
	for field, value := range fields.All() {
		define(held, field, r.toScript(value))
	}
}

// refreshValue gives the script a value that another one has left since.
func (r *run) refreshValue(name string) {
	made, isMade := r.this.made[name]
	if !isMade || r.this.records.of(name) != nil {
		return
	}
	now, err := document.ValueOf(r.bot.Values[name])
	if err != nil {
		return
	}
	if seen, err := r.fromScript(made, now); err == nil && !document.Equal(seen, now) {
		r.this.made[name] = r.toScript(now)
	}
}

// countCall counts what a script asks of the host.
func (r *run) countCall() {
	r.calls++
	if r.calls > r.engine.options.MaxCalls {
		panic(r.errorObject(r.tooManyCalls()))
	}
}

// tooManyCalls is the error of a script that asks too much.
func (r *run) tooManyCalls() error {
	return boterr.New(boterr.ResourceExhausted, "",
		"the script has made %d calls, of operations, fetch and timers together: see Options.MaxCalls", r.engine.options.MaxCalls)
}
