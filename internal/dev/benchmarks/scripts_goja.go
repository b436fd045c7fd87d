package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/dop251/goja"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
)

// gojaEngine runs scripts in goja as its users embed it: what is compiled is kept, and each run has a Runtime. It has no
// limits, and nothing that a script needs beside the language.
type gojaEngine struct {
	// modules are the *goja.Program of the modules that were compiled.
	modules sync.Map
}

// gojaScript is a script that was compiled.
type gojaScript struct {
	engine  *gojaEngine
	program *goja.Program
}

func (e *gojaEngine) compile(source string) (*gojaScript, error) {
	program, err := goja.Compile("bench.js", "(async function () {"+source+"\n})", false)
	return &gojaScript{engine: e, program: program}, err
}

// gojaModules are the files of the modules on `this`.
var gojaModules = map[string]string{
	"lodash": filepath.Join("node_modules", "lodash", "lodash.js"),
	"moment": filepath.Join("node_modules", "moment", "moment.js"),
}

// gojaOperation is the operation that scripts call.
const gojaOperation = "getChannel"

// run runs the script on a context, in a Runtime of its own.
func (s *gojaScript) run(ctx context.Context, bot *botctx.Context) (any, error) {
	r := &gojaRun{engine: s.engine, vm: goja.New(), ctx: ctx, bot: bot}
	value, err := r.vm.RunProgram(s.program)
	if err != nil {
		return nil, err
	}
	function, _ := goja.AssertFunction(value)
	this := r.vm.NewObject()
	r.provide(this, "member", func() (any, error) { return document.Encode(bot.Member) })
	r.provide(this, "channel", func() (any, error) { return document.Encode(bot.Channel) })
	r.provide(this, "messageEvent", func() (any, error) { return document.Encode(bot.MessageEvent) })
	for name := range gojaModules {
		r.lazily(this, name, func() (goja.Value, error) { return r.require(name) })
	}
	_ = this.Set(gojaOperation, func(call goja.FunctionCall) goja.Value { return r.operation(gojaOperation, call.Argument(0)) })
	returned, err := function(this)
	if err != nil {
		return nil, err
	}
	// Every operation has settled its promise at once, so nothing is left to wait for.
	promise, _ := returned.Export().(*goja.Promise)
	switch promise.State() {
	case goja.PromiseStateFulfilled:
		if err := r.keepMember(); err != nil {
			return nil, err
		}
		return document.ValueOf(promise.Result().Export())
	case goja.PromiseStateRejected:
		return nil, fmt.Errorf("the script threw %s", promise.Result())
	case goja.PromiseStatePending:
	}
	return nil, errors.New("the script waits for something that nobody settles")
}

// gojaRun is one run of a script.
type gojaRun struct {
	engine *gojaEngine
	vm     *goja.Runtime
	//nolint:containedctx // Functions of scripts have no ctx.
	ctx context.Context
	bot *botctx.Context
	// member is the member as the script has it, nil if it did not ask for it.
	member goja.Value
}

// lazily adds a property that is made when a script first asks for it.
func (r *gojaRun) lazily(this *goja.Object, name string, value func() (goja.Value, error)) {
	var made goja.Value
	_ = this.DefineAccessorProperty(name, r.vm.ToValue(func(goja.FunctionCall) goja.Value {
		if made == nil {
			var err error
			if made, err = value(); err != nil {
				panic(r.vm.NewGoError(err))
			}
		}
		return made
	}), nil, goja.FLAG_TRUE, goja.FLAG_TRUE)
}

// provide adds a record.
func (r *gojaRun) provide(this *goja.Object, name string, read func() (any, error)) {
	r.lazily(this, name, func() (goja.Value, error) {
		record, err := read()
		if err != nil {
			return nil, err
		}
		if o, isObject := record.(document.Object); isObject && name == "member" {
			botMeta := document.Get(o, "botMeta", document.O())
			record = o.Put("botMeta", botMeta.Put("tempData", document.Get(botMeta, "tempData", document.O())))
		}
		made := r.toScript(record)
		if name == "member" {
			r.member = made
		}
		return made, nil
	})
}

// keepMember puts the member into the context.
func (r *gojaRun) keepMember() error {
	if r.member == nil {
		return nil
	}
	changed, err := document.ValueOf(r.member.Export())
	if err != nil {
		return err
	}
	return document.DecodeValue(changed, r.bot.Member)
}

// toScript returns a value as scripts see it: plain objects and arrays of their own, and dates.
func (r *gojaRun) toScript(value any) goja.Value {
	switch v := value.(type) {
	case nil:
		return goja.Null()
	case time.Time:
		made, err := r.vm.New(r.vm.Get("Date"), r.vm.ToValue(v.UnixMilli()))
		if err != nil {
			panic(err)
		}
		return made
	case document.Array:
		items := make([]any, 0, v.Len())
		for _, item := range v.All() {
			items = append(items, r.toScript(item))
		}
		return r.vm.NewArray(items...)
	case document.Object:
		made := r.vm.NewObject()
		for name, value := range v.All() {
			_ = made.Set(name, r.toScript(value))
		}
		return made
	default:
		return r.vm.ToValue(value)
	}
}

// operation calls an operation, and returns the promise of its result.
func (r *gojaRun) operation(name string, argument goja.Value) goja.Value {
	promise, resolve, reject := r.vm.NewPromise()
	params, err := document.ValueOf(argument.Export())
	if err != nil {
		_ = reject(r.vm.NewGoError(err))
		return r.vm.ToValue(promise)
	}
	given, _ := params.(document.Object)
	result, err := r.bot.CallValue(r.ctx, name, given)
	if err != nil {
		_ = reject(r.vm.NewGoError(err))
	} else {
		_ = resolve(r.toScript(result))
	}
	return r.vm.ToValue(promise)
}

// require runs a module.
func (r *gojaRun) require(name string) (goja.Value, error) {
	program, isCompiled := r.engine.modules.Load(name)
	if !isCompiled {
		source, err := os.ReadFile(filepath.Join(packagesFolder, gojaModules[name]))
		if err != nil {
			return nil, err
		}
		compiled, err := goja.Compile(name, "(function (exports, module) {"+string(source)+"\n})", false)
		if err != nil {
			return nil, err
		}
		program, _ = r.engine.modules.LoadOrStore(name, compiled)
	}
	value, err := r.vm.RunProgram(program.(*goja.Program)) //nolint:forcetypeassert // Nothing else is stored.
	if err != nil {
		return nil, err
	}
	body, _ := goja.AssertFunction(value)
	module, exports := r.vm.NewObject(), r.vm.NewObject()
	_ = module.Set("exports", exports)
	if _, err := body(goja.Undefined(), exports, module); err != nil {
		return nil, err
	}
	return module.Get("exports"), nil
}
