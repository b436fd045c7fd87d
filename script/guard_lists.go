package script

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

var proxyType = reflect.TypeFor[goja.Proxy]()

// isProxy reports whether an object is a Proxy, which may answer differently each time.
func isProxy(object *goja.Object) bool { return object.ExportType() == proxyType }

// hasComputedLength reports whether the length of an object is what a function returns.
func (r *run) hasComputedLength(object *goja.Object) bool {
	for at := object; at != nil; at = at.Prototype() {
		if isProxy(at) {
			return true
		}
		describe, _ := goja.AssertFunction(r.pathOf("Object").Get("getOwnPropertyDescriptor"))
		described, err := describe(goja.Undefined(), at, r.vm.ToValue("length"))
		if err != nil {
			panic(err)
		}
		if descriptor, isOwn := described.(*goja.Object); isOwn {
			getter := descriptor.Get("get")
			return getter != nil && !goja.IsUndefined(getter) && !isTyped(object)
		}
	}
	return false
}

// isTyped reports whether an object is a typed array, whose length the language computes.
func isTyped(object *goja.Object) bool { return strings.HasSuffix(object.ClassName(), "Array") }

// pathOf returns an object of the global scope, such as Array.prototype, as it was when it was first asked for.
func (r *run) pathOf(path string) *goja.Object {
	switch path { // The constructors, with all that they have, are made when somebody asks for them.
	case "Array.prototype":
		return r.vm.NewArray().Prototype()
	case "String.prototype":
		return r.vm.ToValue("").ToObject(r.vm).Prototype()
	}
	if known := r.paths[path]; known != nil {
		return known
	}
	at := r.vm.GlobalObject()
	for name := range strings.SplitSeq(path, ".") {
		at = at.Get(name).ToObject(r.vm)
	}
	r.paths[path] = at
	return at
}

// elements calls visit with each element of an array until it returns false.
func elements(array *goja.Object, visit func(element goja.Value) bool) {
	for i := range int(array.Get("length").ToInteger()) {
		if !visit(array.Get(strconv.Itoa(i))) {
			return
		}
	}
}

// isPlainArray reports whether a value is an array, and no Proxy of one.
func isPlainArray(value goja.Value) (*goja.Object, bool) {
	object, isObject := value.(*goja.Object)
	if !isObject || object.ClassName() != "Array" || isProxy(object) {
		return nil, false
	}
	return object, true
}

// checkFlattened refuses concat and flat where all arrays within are too long together.
func (r *run) checkFlattened(call goja.FunctionCall) {
	r.checkThis(call)
	total := 0.0
	waiting := append([]goja.Value{call.This}, call.Arguments...)
	for len(waiting) > 0 {
		array, isArray := isPlainArray(waiting[len(waiting)-1])
		waiting = waiting[:len(waiting)-1]
		if !isArray {
			continue
		}
		total += 1 + r.lengthOf(array)
		r.withinList(total)
		elements(array, func(element goja.Value) bool {
			if _, isArray := isPlainArray(element); isArray {
				waiting = append(waiting, element)
			}
			return true
		})
	}
}

// checkJoined refuses to join texts that are too long together. Texts within arrays within count as often
// as they are joined.
func (r *run) checkJoined(call goja.FunctionCall) {
	r.checkThis(call)
	if array, isArray := isPlainArray(call.This); isArray {
		r.joined(array, separatorLength(call), 0, 0)
		return
	}
	r.within(r.lengthOf(call.This) * separatorLength(call))
}

// separatorLength is the length of what join puts between two elements.
func separatorLength(call goja.FunctionCall) float64 {
	if given := call.Argument(0); !goja.IsUndefined(given) {
		return textLength(given)
	}
	return 1
}

// checkTypedJoined refuses to join the numbers of a typed array by what is too long.
func (r *run) checkTypedJoined(call goja.FunctionCall) {
	object, isObject := call.This.(*goja.Object)
	if !isObject {
		return
	}
	if numbers := reflect.ValueOf(object.Export()); numbers.Kind() == reflect.Slice {
		r.within(float64(numbers.Len()) * separatorLength(call))
	}
}

// mostJoined is how many levels arrays may be nested that are made a text of.
const mostJoined = 1000

// joined adds the length of the text of an array to a total, which must not become too large.
func (r *run) joined(array *goja.Object, separator, total float64, depth int) float64 {
	if depth > mostJoined {
		r.tooLargef("an array that is made a text of may be nested %d levels deep", mostJoined)
	}
	length := r.lengthOf(array)
	total += max(0, length-1) * separator
	r.within(total)
	elements(array, func(element goja.Value) bool {
		if inner, isArray := isPlainArray(element); isArray {
			total = r.joined(inner, 1, total+1, depth+1)
		} else {
			total += textLength(element)
		}
		r.within(total)
		return true
	})
	return total
}

// checkIterated bounds what is iterated.
func (r *run) checkIterated(call goja.FunctionCall) {
	if len(call.Arguments) > 0 {
		call.Arguments[0] = r.iterable(call.Arguments[0])
	}
}

// iterable returns what is iterated in the place of a value: itself where it is an array or a text that is
// not too long, and what a function of a script passes on otherwise, which can be interrupted.
func (r *run) iterable(value goja.Value) goja.Value {
	r.enterStep()
	if array, isArray := isPlainArray(value); isArray {
		r.withinList(r.lengthOf(array))
		return value
	}
	object, isObject := value.(*goja.Object)
	if !isObject {
		r.within(textLength(value))
		return value
	}
	if iterator := object.GetSymbol(goja.SymIterator); iterator == nil || goja.IsUndefined(iterator) || goja.IsNull(iterator) {
		r.withinList(r.lengthOf(value))
		return value
	}
	return r.passedOn(object)
}

// bounding is a generator that passes on what is iterated.
const bounding = "(function* (of) { for (const one of of) yield one })"

// boundingProgram is bounding, compiled.
var boundingProgram = goja.MustCompile(ownFiles+"iterate.js", bounding, true)

// passedOn returns a generator that passes on what is iterated.
func (r *run) passedOn(object *goja.Object) goja.Value {
	made, err := r.vm.RunProgram(boundingProgram)
	if err != nil {
		panic(err)
	}
	generator, _ := goja.AssertFunction(made)
	passed, err := generator(goja.Undefined(), object)
	if err != nil {
		panic(err)
	}
	return passed
}
