package script

import (
	"github.com/dop251/goja"

	"github.com/botctx/go-sdk/boterr"
)

// guardedConstructor is a function before a constructor. It may change the arguments.
type guardedConstructor struct {
	name  string
	check func(r *run, arguments []goja.Value)
}

// typedArrays are the constructors of typed arrays.
var typedArrays = []string{
	"Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array",
	"Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array",
}

// guardedConstructors are the constructors with a function before them.
func guardedConstructors() []guardedConstructor {
	guarded := []guardedConstructor{
		{"RegExp", (*run).checkNewPattern},
		{"BigInt", (*run).checkDigits},
		{"ArrayBuffer", (*run).checkSize},
	}
	for _, name := range []string{"Set", "Map", "WeakSet", "WeakMap"} {
		guarded = append(guarded, guardedConstructor{name, (*run).checkMembers})
	}
	for _, name := range typedArrays {
		guarded = append(guarded, guardedConstructor{name, (*run).checkSize})
	}
	return guarded
}

// checkNewPattern bounds a pattern that a script makes, and says it in words that the engine below knows.
func (r *run) checkNewPattern(arguments []goja.Value) {
	r.checkPattern(first(arguments))
	if len(arguments) < 2 {
		return
	}
	text, isText := arguments[0].(goja.String)
	flags, hasFlags := arguments[1].(goja.String)
	if !isText || !hasFlags {
		return
	}
	plain, plainFlags, err := writtenOut(text.String(), flags.String())
	if err != nil {
		panic(r.errorObject(err))
	}
	if plain != text.String() || plainFlags != flags.String() {
		arguments[0], arguments[1] = r.vm.ToValue(plain), r.vm.ToValue(plainFlags)
	}
}

// first returns the first of some arguments, undefined where there is none.
func first(arguments []goja.Value) goja.Value {
	if len(arguments) == 0 {
		return goja.Undefined()
	}
	return arguments[0]
}

// checkMembers bounds what the members of a new set come from.
func (r *run) checkMembers(arguments []goja.Value) {
	if value := first(arguments); !goja.IsUndefined(value) && !goja.IsNull(value) {
		arguments[0] = r.iterable(value)
	}
}

// checkSize bounds the size of a new buffer, and what it is filled from.
func (r *run) checkSize(arguments []goja.Value) {
	switch value := first(arguments).(type) {
	case *goja.Object:
		if _, isBuffer := value.Export().(goja.ArrayBuffer); !isBuffer {
			arguments[0] = r.iterable(value)
		}
	default:
		if size := value.ToFloat(); size > 0 {
			r.within(size)
		}
	}
}

// mostDigits is how many characters a text may have that a BigInt is made of.
const mostDigits = 100_000

func (r *run) checkDigits(arguments []goja.Value) {
	if textLength(first(arguments)) > mostDigits {
		r.tooLargef("a BigInt is made of at most %d digits", mostDigits)
	}
}

// guardConstructor puts a function before a constructor, wherever it is got from.
func (r *run) guardConstructor(guarded guardedConstructor) {
	original, isObject := r.vm.GlobalObject().Get(guarded.name).(*goja.Object)
	if !isObject {
		return // The engine below has none of this name.
	}
	construct, isConstructor := goja.AssertConstructor(original)
	if !isConstructor || guarded.name == "BigInt" { // It throws where it is called with new.
		call, _ := goja.AssertFunction(original)
		r.inPlaceOf(original, guarded.name, r.vm.ToValue(func(made goja.FunctionCall) goja.Value {
			guarded.check(r, made.Arguments)
			return r.orThrow(call(made.This, made.Arguments...))
		}))
		return
	}
	var standIn goja.Value
	standIn = r.vm.ToValue(func(made goja.ConstructorCall) *goja.Object {
		guarded.check(r, made.Arguments)
		newTarget := made.NewTarget
		if newTarget == nil || newTarget.SameAs(standIn) {
			newTarget = original
		}
		object, err := construct(newTarget, made.Arguments...)
		if err != nil {
			panic(err)
		}
		return object
	})
	r.inPlaceOf(original, guarded.name, standIn)
}

// inPlaceOf puts a function in the place of a constructor, with all that it has.
func (r *run) inPlaceOf(original *goja.Object, name string, standIn goja.Value) {
	object := standIn.ToObject(r.vm)
	for _, field := range original.GetOwnPropertyNames() {
		if field == "prototype" {
			_ = object.Set(field, original.Get(field))
		} else {
			_ = object.DefineDataProperty(field, original.Get(field), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		}
	}
	_ = object.SetPrototype(original.Prototype())
	r.globalValue(name, standIn)
	if prototype, isObject := original.Get("prototype").(*goja.Object); isObject {
		_ = object.DefineDataProperty("prototype", prototype, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
		_ = prototype.DefineDataProperty("constructor", standIn, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
}

// orThrow returns a result, or throws its error.
func (r *run) orThrow(result goja.Value, err error) goja.Value {
	if err != nil {
		panic(err)
	}
	return result
}

// makersOfFunctions are functions whose constructors make functions of texts.
const makersOfFunctions = "[function () {}, function* () {}, async function () {}]"

// makersProgram is makersOfFunctions, compiled.
var makersProgram = goja.MustCompile(ownFiles+"functions.js", makersOfFunctions, true)

// refuseCodeInTexts refuses to run texts as code, which nobody has read before.
func (r *run) refuseCodeInTexts() {
	refuse := func() {
		panic(r.errorObject(boterr.New(boterr.Unsupported, "", "texts are not run as code: eval and Function are switched off")))
	}
	r.globalFunction("eval", func(goja.FunctionCall) goja.Value {
		refuse()
		return nil
	})
	made, err := r.vm.RunProgram(makersProgram)
	if err != nil {
		panic(err)
	}
	elements(made.ToObject(r.vm), func(function goja.Value) bool {
		owner := function.ToObject(r.vm).Prototype()
		if maker, isObject := owner.Get("constructor").(*goja.Object); isObject {
			standIn := r.vm.ToValue(func(goja.ConstructorCall) *goja.Object {
				refuse()
				return nil
			})
			_ = standIn.ToObject(r.vm).Set("prototype", maker.Get("prototype"))
			_ = owner.DefineDataProperty("constructor", standIn, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
		}
		return true
	})
	r.globalValue("Function", r.pathOf("Function.prototype").Get("constructor"))
}
