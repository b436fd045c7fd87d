package script

import (
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// operationNames returns the names of all operations.
func operationNames() []string {
	var names []string
	for _, op := range botctx.Ops() {
		names = append(names, string(op))
	}
	return names
}

// useOf returns what a parameter of an operation is for. A parameter that says what an operation works on is a
// selection: undefined there would mean everything, or the member of the run.
func useOf(op botctx.Op, param string) use {
	switch param {
	case "filter":
		return forFilter
	case "data":
		if op == botctx.OpFetchGeoNearFromDataSource { // It holds the filter.
			return forFilter
		}
	case "meta":
		if op == botctx.OpGetAssignmentsByMeta {
			return forFilter
		}
	case "tag", "key", "inlet":
		return forSelection
	}
	if strings.HasSuffix(param, "Id") {
		return forSelection
	}
	return forData
}

// records of the context that an operation works on unless they are given: undefined is not taken for "not given".
var targets = map[string]bool{"member": true, "channel": true, "group": true}

// hostOperation calls an operation at once: operations of a script run one after the other, in the order in which the
// script calls them, whether it waits for them or not. The payload is [name, parameters, changes, removed], and the
// answer has the records that the call has changed, and the names of the values that it has left, see this.js.
func (r *run) hostOperation(payload string) (string, error) {
	if err := r.countCall(); err != nil {
		return "", err
	}
	read := &reader{text: payload, largest: r.engine.options.MaxResultBytes}
	read.want('[')
	name, err := read.string()
	if err != nil {
		return "", err
	}
	read.want(',')
	result, err := r.operation(read, botctx.Op(name))
	if read.isTooLarge {
		return "", endingError{err}
	}
	w := newWriter(int64(r.engine.options.MaxResultBytes))
	w.answer(result, r.number(err), err)
	r.writeRenewed(w)
	return string(append(w.text, ']')), w.err
}

// operation reads the parameters and the changes of a call, and calls it.
func (r *run) operation(read *reader, op botctx.Op) (any, error) {
	params, refused := r.params(read, op)
	if refused != nil {
		return nil, boterr.Wrap(string(op), refused)
	}
	read.want(',')
	if err := r.store(read); err != nil {
		return nil, boterr.Wrap(string(op), err)
	}
	var result any
	var err error
	r.sharing(func() {
		r.in.Wait(func() { r.wait(func() { result, err = r.bot.CallValue(r.ctx, string(op), params) }) })
	})
	return result, err
}

// params reads the parameters of an operation.
func (r *run) params(read *reader, op botctx.Op) (document.Object, error) {
	begin := read.at
	if read.peek() != '{' {
		value, err := read.value(forData)
		if err != nil || value == document.Missing {
			return document.Object{}, err
		}
		return document.Object{}, boterr.Invalid("", "takes an object of parameters")
	}
	value, err := read.fields(func(name string) (any, error) {
		if targets[name] && read.peek() == 'U' {
			return read.any(forSelection, 1)
		}
		return read.any(useOf(op, name), 1)
	})
	if err != nil {
		return document.Object{}, err
	}
	if read.at-begin > read.largest {
		return document.Object{}, read.tooLarge()
	}
	return value.(document.Object), nil //nolint:forcetypeassert // It is what fields returns.
}
