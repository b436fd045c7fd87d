package script

import "github.com/dop251/goja"

// accessor is a getter or a setter, or both, that a script has put on `this`.
type accessor struct{ get, set goja.Callable }

// needsOfAccessors are what stands before Object.defineProperty, for who says its name: `this` is made of Go, to
// which the engine below adds no getters.
func needsOfAccessors() []need {
	return []need{
		{names: []string{"defineProperty"}, set: func(r *run) { r.definesFor("defineProperty", (*run).defineOnThis) }},
		{names: []string{"defineProperties"}, set: func(r *run) { r.definesFor("defineProperties", (*run).defineAllOnThis) }},
	}
}

// definesFor puts a function before one of Object, for calls about `this`.
func (r *run) definesFor(name string, define func(r *run, call goja.FunctionCall)) {
	owner := r.pathOf("Object")
	original, _ := goja.AssertFunction(owner.Get(name))
	r.method(owner, name, func(call goja.FunctionCall) goja.Value {
		if r.this == nil || !call.Argument(0).SameAs(r.this.object) {
			return r.orThrow(original(call.This, call.Arguments...))
		}
		define(r, call)
		return call.Argument(0)
	})
}

// defineOnThis is Object.defineProperty(this, name, descriptor).
func (r *run) defineOnThis(call goja.FunctionCall) {
	descriptor, isObject := call.Argument(2).(*goja.Object)
	if !isObject {
		panic(r.vm.NewTypeError("Property description must be an object"))
	}
	r.this.define(call.Argument(1).String(), descriptor)
}

// defineAllOnThis is Object.defineProperties(this, descriptors).
func (r *run) defineAllOnThis(call goja.FunctionCall) {
	all := call.Argument(1).ToObject(r.vm)
	for _, name := range all.Keys() {
		r.this.define(name, all.Get(name).ToObject(r.vm))
	}
}

// define sets a field as a descriptor says.
func (b *bag) define(name string, descriptor *goja.Object) {
	get, hasGet := goja.AssertFunction(descriptor.Get("get"))
	set, hasSet := goja.AssertFunction(descriptor.Get("set"))
	if !hasGet && !hasSet {
		delete(b.accessors, name)
		value := descriptor.Get("value")
		if value == nil {
			value = goja.Undefined()
		}
		b.Set(name, value)
		return
	}
	if b.accessors == nil {
		b.accessors = map[string]accessor{}
	}
	b.Delete(name)
	b.accessors[name] = accessor{get, set}
}

// read calls a getter.
func (b *bag) read(of accessor) goja.Value {
	if of.get == nil {
		return goja.Undefined()
	}
	return b.run.orThrow(of.get(b.object))
}

// write calls a setter, and reports whether there is one.
func (b *bag) write(of accessor, value goja.Value) bool {
	if of.set == nil {
		return false
	}
	b.run.orThrow(of.set(b.object, value))
	return true
}
