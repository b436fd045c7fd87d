package script

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/botctx/go-sdk/boterr"
)

// Nothing interrupts a function of the language, so those that visit or make much for little are given
// a function before them, which refuses what is too large. A program gets those whose names it says,
// see uses.

// guardedMethod is a function before a method. It throws where the call is too large.
type guardedMethod struct {
	// owner is a path in the global scope, and names are methods of it.
	owner string
	names []string
	check func(r *run, call goja.FunctionCall)
	// unnamed are the names that a source says which may call one of names without saying it, nil where
	// none can.
	unnamed []string
}

// guardedMethods are the methods with a function before them.
func guardedMethods() []guardedMethod {
	return []guardedMethod{
		{"Array.prototype", []string{
			"at", "copyWithin", "entries", "every", "fill", "filter", "find", "findIndex", "findLast", "findLastIndex",
			"flatMap", "forEach", "includes", "indexOf", "keys", "lastIndexOf", "map", "pop", "push", "reduce", "reduceRight",
			"reverse", "shift", "slice", "some", "sort", "splice", "toReversed", "toSorted", "toSpliced", "unshift", "values", "with",
		}, (*run).checkThis, nil},
		{"Array.prototype", []string{"concat", "flat"}, (*run).checkFlattened, nil},
		{"Array.prototype", []string{"join", "toLocaleString"}, (*run).checkJoined, []string{"join", "toLocaleString", nameLists}},
		{"Uint8Array.prototype.__proto__", []string{"join"}, (*run).checkTypedJoined, typedArrays},
		{"String.prototype", []string{"repeat"}, (*run).checkRepeat, nil},
		{"String.prototype", []string{"padStart", "padEnd"}, (*run).checkPad, nil},
		{"String.prototype", []string{"concat"}, (*run).checkConcat, nil},
		{"String.prototype", []string{"replace", "replaceAll"}, (*run).checkReplace, nil},
		{"String.prototype", []string{"match", "matchAll", "search", "normalize"}, (*run).checkText, nil},
		{"String.prototype", []string{"split"}, (*run).checkSplit, nil},
		{"RegExp.prototype", []string{"exec", "test"}, (*run).checkTried, nil},
		{"String", []string{"raw"}, (*run).checkRaw, nil},
		{"Function.prototype", []string{"apply"}, func(r *run, call goja.FunctionCall) { r.checkList(call.Argument(1)) }, nil},
		{"Reflect", []string{"apply"}, func(r *run, call goja.FunctionCall) { r.checkList(call.Argument(2)) }, nil},
		{"Reflect", []string{"construct"}, func(r *run, call goja.FunctionCall) { r.checkList(call.Argument(1)) }, nil},
		{"Array", []string{"from"}, (*run).checkIterated, nil},
		{"Object", []string{"fromEntries"}, (*run).checkIterated, nil},
		{"Promise", []string{"all", "allSettled", "any", "race"}, (*run).checkIterated, nil},
		{"Object", []string{
			"assign", "entries", "freeze", "getOwnPropertyDescriptors", "getOwnPropertyNames", "isFrozen", "isSealed", "keys",
			"seal", "values",
		}, (*run).checkFields, nil},
		{"Reflect", []string{"ownKeys"}, (*run).checkFields, nil},
		{"BigInt", []string{"asIntN", "asUintN"}, (*run).checkBits, nil},
	}
}

// needsOfGuards are the guards, each for who says its name.
func needsOfGuards() []need {
	needs := []need{
		{names: []string{nameSpread, nameShift, namePower, nameThrow, nameFields, nameName}, set: (*run).guardOperators},
		{names: []string{"eval", "Function", "constructor"}, set: (*run).refuseCodeInTexts, isGuard: true},
		{names: []string{"JSON"}, set: (*run).guardJSON, isGuard: true},
		{names: []string{nameRestOfList}, set: (*run).guardRestOfLists},
		{names: []string{nameRestOfFields}, set: (*run).guardRestOfFields},
		{names: namesOfSymbols, set: (*run).guardPatterns, isGuard: true, isSaid: true},
	}
	for _, guarded := range guardedMethods() {
		root, _, _ := strings.Cut(guarded.owner, ".")
		// Who says what has them may put another in its place before one of their names is put together.
		needs = append(needs, need{names: []string{root}, set: func(r *run) { r.pathOf(guarded.owner) }, isGuard: true})
		for _, name := range guarded.names {
			names := []string{name}
			if guarded.unnamed != nil {
				names = guarded.unnamed
			}
			needs = append(needs, need{names: names, set: func(r *run) { r.before(guarded, name) }, isGuard: true})
		}
	}
	for _, guarded := range guardedConstructors() {
		needs = append(needs, need{
			names: []string{guarded.name, "constructor"}, set: func(r *run) { r.guardConstructor(guarded) }, isGuard: true,
		})
	}
	return needs
}

// before puts the function before a method.
func (r *run) before(guarded guardedMethod, name string) {
	owner := r.pathOf(guarded.owner)
	method := owner.Get(name)
	original, isFunction := goja.AssertFunction(method)
	if !isFunction {
		return // The engine below has none of this name.
	}
	isMatcher, isOfTexts := slices.Contains(matchers, name), guarded.owner == "String.prototype"
	r.method(owner, name, func(call goja.FunctionCall) goja.Value {
		r.enterStep()
		if isOfTexts {
			call.This = textOf(call.This)
		}
		guarded.check(r, call)
		if isMatcher {
			return r.matched(original, call)
		}
		return r.orThrow(original(call.This, call.Arguments...))
	})
}

// method sets a method as the language has them.
func (r *run) method(owner *goja.Object, name string, function func(goja.FunctionCall) goja.Value) {
	_ = owner.DefineDataProperty(name, r.vm.ToValue(function), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// tooLargef throws that something is too large.
func (r *run) tooLargef(format string, args ...any) {
	panic(r.errorObject(boterr.New(boterr.ResourceExhausted, "", format, args...)))
}

// within throws where a text is too long. It counts as a float64, which does not overflow.
func (r *run) within(length float64) {
	if length > float64(r.engine.options.MaxLength) {
		r.tooLargef("%.0f characters are more than a script may make or visit in one step, %d: see Options.MaxLength",
			length, r.engine.options.MaxLength)
	}
}

// charactersOfElement are the characters that an element of an array counts as.
const charactersOfElement = 4

// withinList throws where a list is too long.
func (r *run) withinList(length float64) {
	if most := r.engine.options.MaxLength / charactersOfElement; length > float64(most) {
		r.tooLargef("%.0f elements are more than a script may make or visit in one step, %d: see Options.MaxLength", length, most)
	}
}

// lengthOf returns the length of a text or of what is like an array, whose length is to stay what it
// is: one that is computed, or that of a Proxy, is refused.
func (r *run) lengthOf(value goja.Value) float64 {
	object, isObject := value.(*goja.Object)
	switch {
	case value == nil || goja.IsUndefined(value) || goja.IsNull(value):
		return 0
	case !isObject:
		if text, isText := value.(goja.String); isText {
			return float64(text.Length())
		}
		return 0
	case isProxy(object):
		r.tooLargef("functions of arrays are not for a Proxy: copy it with [...proxy] first")
	case object.ClassName() != "Array" && r.hasComputedLength(object):
		r.tooLargef("what has a computed length is no array: copy it into one first")
	}
	return object.Get("length").ToFloat()
}

// checkThis refuses to visit what is too long.
func (r *run) checkThis(call goja.FunctionCall) {
	r.withinList(r.lengthOf(call.This))
}

// textLength is the length of a value as a text. That of an object is not known before it is made,
// and what makes it is guarded itself.
func textLength(value goja.Value) float64 {
	if text, isText := value.(goja.String); isText {
		return float64(text.Length())
	}
	return 0
}

// checkFields refuses to visit the characters of a text that is too long, each of which is a field of it.
func (r *run) checkFields(call goja.FunctionCall) {
	for _, argument := range call.Arguments {
		if object, isObject := argument.(*goja.Object); isObject && object.ClassName() == "String" && !isProxy(object) {
			r.withinList(object.Get("length").ToFloat())
		}
		r.withinList(textLength(argument))
	}
}

func (r *run) checkRepeat(call goja.FunctionCall) {
	if times := call.Argument(0).ToFloat(); times > 0 {
		r.within(times * textLength(call.This.ToString()))
	}
}

func (r *run) checkPad(call goja.FunctionCall) {
	if length := call.Argument(0).ToFloat(); length > 0 {
		r.within(length)
	}
}

func (r *run) checkConcat(call goja.FunctionCall) {
	length := textLength(call.This)
	for _, argument := range call.Arguments {
		length += textLength(argument)
	}
	r.within(length)
}

// checkRaw refuses String.raw of a list that is too long.
func (r *run) checkRaw(call goja.FunctionCall) {
	if template, isObject := call.Argument(0).(*goja.Object); isObject {
		r.withinList(r.lengthOf(template.Get("raw")))
	}
}

// checkList refuses a list of arguments that is too long.
func (r *run) checkList(list goja.Value) {
	if _, isObject := list.(*goja.Object); isObject {
		r.withinList(r.lengthOf(list))
	}
}

// mostBits is how many bits a BigInt may have.
const mostBits = 1 << 20

func (r *run) checkBits(call goja.FunctionCall) {
	if bits := call.Argument(0).ToFloat(); bits > mostBits {
		r.tooLargef("a BigInt may have %d bits", mostBits)
	}
}

// guardOperators makes the functions that stand for syntax.
func (r *run) guardOperators() {
	for name, function := range map[string]func(goja.FunctionCall) goja.Value{
		nameSpread: func(call goja.FunctionCall) goja.Value { return r.iterable(call.Argument(0)) },
		nameShift:  func(call goja.FunctionCall) goja.Value { return r.shiftLeft(call.Argument(0), call.Argument(1)) },
		namePower:  func(call goja.FunctionCall) goja.Value { return r.power(call.Argument(0), call.Argument(1)) },
		nameName:   func(call goja.FunctionCall) goja.Value { return r.named(call.Argument(0)) },
		nameThrow:  func(call goja.FunctionCall) goja.Value { return r.thrownHere(call.Argument(0)) },
		nameFields: func(call goja.FunctionCall) goja.Value {
			r.checkFields(call)
			return call.Argument(0)
		},
	} {
		_ = r.vm.GlobalObject().DefineDataProperty(name, r.vm.ToValue(function), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	}
}

// shiftLeft is a << b.
func (r *run) shiftLeft(a, b goja.Value) goja.Value {
	left, right := r.numeric(a), r.numeric(b)
	x, y := bigOf(left), bigOf(right)
	if x == nil || y == nil {
		r.sameKind(x, y)
		return r.vm.ToValue(int32(uint32(toInt32(left)) << (uint32(toInt32(right)) & 31)))
	}
	if !y.IsInt64() || y.Int64()+int64(x.BitLen()) > mostBits {
		r.tooLargef("a BigInt may have %d bits", mostBits)
	}
	if y.Sign() < 0 {
		return r.vm.ToValue(new(big.Int).Rsh(x, uint(min(-y.Int64(), mostBits))))
	}
	return r.vm.ToValue(new(big.Int).Lsh(x, uint(y.Int64())))
}

// power is a ** b.
func (r *run) power(a, b goja.Value) goja.Value {
	left, right := r.numeric(a), r.numeric(b)
	x, y := bigOf(left), bigOf(right)
	if x == nil || y == nil {
		r.sameKind(x, y)
		return r.vm.ToValue(power(left.ToFloat(), right.ToFloat()))
	}
	switch {
	case y.Sign() < 0:
		panic(r.vm.NewTypeError("the exponent of a BigInt must not be negative"))
	case x.BitLen() > 1 && (!y.IsInt64() || y.Int64() > mostBits/int64(x.BitLen())):
		r.tooLargef("a BigInt may have %d bits", mostBits)
	case x.BitLen() <= 1: // 0, 1 and -1 stay small, and only whether y is even counts.
		y = new(big.Int).SetInt64(int64(y.Bit(0)) + 2*int64(min(y.BitLen(), 2)/2))
	}
	return r.vm.ToValue(new(big.Int).Exp(x, y, nil))
}

// power is Math.pow: unlike math.Pow, 1 to a power that is none is none.
func power(x, y float64) float64 {
	if math.IsNaN(y) || math.Abs(x) == 1 && math.IsInf(y, 0) {
		return math.NaN()
	}
	return math.Pow(x, y)
}

// numeric returns a number or a BigInt.
func (r *run) numeric(value goja.Value) goja.Value {
	if object, isObject := value.(*goja.Object); isObject {
		if inner, isBig := object.Export().(*big.Int); isBig {
			return r.vm.ToValue(inner)
		}
	}
	if bigOf(value) != nil {
		return value
	}
	return value.ToNumber()
}

// bigOf returns a BigInt, nil where the value is none.
func bigOf(value goja.Value) *big.Int {
	found, _ := value.Export().(*big.Int)
	return found
}

// sameKind throws where one of two is a BigInt.
func (r *run) sameKind(x, y *big.Int) {
	if x != nil || y != nil {
		panic(r.vm.NewTypeError("Cannot mix BigInt and other types, use explicit conversions"))
	}
}

// toInt32 is the ToInt32 of the language.
func toInt32(value goja.Value) int32 {
	number := value.ToFloat()
	if math.IsNaN(number) || math.IsInf(number, 0) {
		return 0
	}
	return int32(uint32(int64(math.Mod(math.Trunc(number), 1<<32))))
}
