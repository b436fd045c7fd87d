package script

import (
	"context"
	_ "embed"
	"net/http"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/outbound"
)

//go:embed fetch.js
var fetchSource string

// fetchNames are what fetch.js gives the global scope.
var fetchNames = []string{"fetch", "Headers", "Request", "Response", "AbortController", "AbortSignal"}

// fetchHead makes the body of a function of fetch.js.
const fetchHead = "(function (native) {"

// compileFetch compiles fetch.js.
func (c *compiler) compileFetch() (*code, error) {
	return c.compileFunction(ownFiles+"fetch.js", fetchHead, fetchSource)
}

// installFetch gives scripts fetch and what belongs to it.
func (r *run) installFetch() {
	compiled, err := r.engine.fetch()
	if err != nil {
		panic(err)
	}
	r.install(compiled.needs)
	made, err := r.vm.RunProgram(compiled.program)
	if err != nil {
		panic(err)
	}
	native := r.vm.NewObject()
	for name, function := range map[string]func(goja.FunctionCall) goja.Value{
		"request": r.request, "text": r.textOf, "bytes": r.bytesOf, "setTimeout": r.setTimeout,
	} {
		_ = native.Set(name, function)
	}
	body, _ := goja.AssertFunction(made)
	exports, err := body(goja.Undefined(), native)
	if err != nil {
		panic(err)
	}
	for _, name := range fetchNames {
		r.globalValue(name, exports.ToObject(r.vm).Get(name))
	}
}

// request sends a request, and returns the promise of its answer and what cancels it.
func (r *run) request(call goja.FunctionCall) goja.Value {
	if r.bot == nil {
		panic(r.vm.NewTypeError("a module sends no requests while it is loaded"))
	}
	r.countCall()
	asked := outbound.Request{
		URL: call.Argument(0).String(), Method: call.Argument(1).String(),
		Headers: textsOf(call.Argument(2)), Body: contentOf(call.Argument(3)),
	}
	promise, resolve, reject := r.vm.NewPromise()
	ctx, cancel := context.WithCancel(r.ctx)
	r.begin(func() func() error {
		response, err := r.engine.options.Fetch(ctx, r.bot, asked)
		return func() error {
			cancel()
			if err == nil {
				err = r.checkBody(response)
			}
			if err != nil {
				return reject(r.errorObject(boterr.Wrap("fetch", err)))
			}
			return resolve(r.answer(response))
		}
	})
	sent := r.vm.NewObject()
	_ = sent.Set("answer", promise)
	_ = sent.Set("cancel", func(goja.FunctionCall) goja.Value {
		cancel()
		return goja.Undefined()
	})
	return sent
}

// checkBody refuses a response that is too large.
func (r *run) checkBody(response *outbound.Response) error {
	if most := r.engine.options.MaxLength; len(response.Body) > most {
		return boterr.New(boterr.ResourceExhausted, "", "the response has more than %d bytes: see Options.MaxLength", most)
	}
	return nil
}

// answer returns a response as fetch.js reads it.
func (r *run) answer(response *outbound.Response) goja.Value {
	headers := r.vm.NewObject()
	for name, values := range response.Header {
		define(headers, strings.ToLower(name), r.vm.ToValue(strings.Join(values, ", ")))
	}
	answer := r.vm.NewObject()
	_ = answer.Set("status", response.Status)
	_ = answer.Set("statusText", http.StatusText(response.Status))
	_ = answer.Set("headers", headers)
	_ = answer.Set("content", r.vm.NewArrayBuffer(slices.Clone(response.Body)))
	return answer
}

// textsOf returns the fields of an object as texts.
func textsOf(value goja.Value) map[string]string {
	object, isObject := value.(*goja.Object)
	if !isObject {
		return nil
	}
	texts := map[string]string{}
	for _, name := range object.Keys() {
		texts[name] = object.Get(name).String()
	}
	return texts
}

// contentOf returns the bytes of a text or an ArrayBuffer, nil where there are none.
func contentOf(value goja.Value) []byte {
	if goja.IsUndefined(value) || goja.IsNull(value) {
		return nil
	}
	if buffer, isBuffer := value.Export().(goja.ArrayBuffer); isBuffer {
		return slices.Clone(buffer.Bytes())
	}
	return []byte(value.String())
}

// textOf returns the text of a body, without a byte order mark.
func (r *run) textOf(call goja.FunctionCall) goja.Value {
	text := strings.ToValidUTF8(string(contentOf(call.Argument(0))), "\uFFFD")
	return r.vm.ToValue(strings.TrimPrefix(text, "\uFEFF"))
}

// bytesOf returns the ArrayBuffer of a body.
func (r *run) bytesOf(call goja.FunctionCall) goja.Value {
	return r.vm.ToValue(r.vm.NewArrayBuffer(contentOf(call.Argument(0))))
}
