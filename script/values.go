package script

import (
	"math"
	"strconv"
	"time"

	"github.com/dop251/goja"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// toScript returns a value as scripts see it: plain objects and arrays of their own, and dates.
func (r *run) toScript(value any) goja.Value {
	switch v := value.(type) {
	case nil:
		return goja.Null()
	case time.Time:
		return r.date(v)
	case document.Array:
		items := make([]any, 0, v.Len())
		for _, item := range v.All() {
			items = append(items, r.toScript(item))
		}
		return r.vm.NewArray(items...)
	case document.Object:
		return r.objectOf(v)
	default:
		return r.vm.ToValue(value)
	}
}

// objectOf returns an object as scripts see it.
func (r *run) objectOf(o document.Object) *goja.Object {
	made := r.vm.NewObject()
	for name, value := range o.All() {
		define(made, name, r.toScript(value))
	}
	return made
}

// define sets a field of an object that nobody else sees yet, whatever its name is.
func define(o *goja.Object, name string, value goja.Value) {
	if name == "__proto__" { // To set it would set the prototype.
		_ = o.DefineDataProperty(name, value, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
		return
	}
	_ = o.Set(name, value)
}

// date returns a time as a Date.
func (r *run) date(t time.Time) goja.Value {
	made, err := r.vm.New(r.vm.Get("Date"), r.vm.ToValue(t.UnixMilli()))
	if err != nil {
		return r.vm.ToValue(t.UnixMilli())
	}
	return made
}

// fromScript returns a value of a script as a value of documents: what JSON.stringify would write,
// but that dates stay dates. before is what stood there when the script was given it, or nil:
// numbers that are still the same keep their type, and fields keep their order. What JSON has no
// word for, a function or undefined, is document.Missing.
func (r *run) fromScript(value goja.Value, before any) (any, error) {
	reading := &reading{run: r, left: r.engine.options.MaxResultBytes}
	return reading.value(value, before, 0)
}

// reading is one walk through a value of a script.
type reading struct {
	run *run
	// left is how many bytes more the value may have, as JSON.
	left int
}

// spend takes bytes of what is left.
func (r *reading) spend(bytes int) error {
	if r.left -= bytes; r.left < 0 {
		return boterr.New(boterr.ResourceExhausted, "", "the value is larger than %d bytes of JSON", r.run.engine.options.MaxResultBytes)
	}
	return nil
}

// value reads any value.
func (r *reading) value(value goja.Value, before any, depth int) (any, error) {
	if value == nil || goja.IsUndefined(value) {
		return document.Missing, nil
	}
	if err := r.spend(1); err != nil || goja.IsNull(value) {
		return nil, err
	}
	if depth > document.MaxNesting {
		return nil, boterr.Invalid("", "is nested more than %d levels deep, or holds itself", document.MaxNesting)
	}
	object, isObject := value.(*goja.Object)
	if !isObject {
		return r.scalar(value.Export(), before)
	}
	return r.object(object, before, depth)
}

// scalar reads what is no object.
func (r *reading) scalar(exported, before any) (any, error) {
	switch v := exported.(type) {
	case bool:
		return v, nil
	case string:
		if err := r.spend(len(v)); err != nil {
			return nil, err
		}
		return sameText(v, before)
	case int64:
		return sameNumber(float64(v), v, before), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, nil //nolint:nilnil // As JSON has it.
		}
		return sameNumber(v, v, before), nil
	case interface{ IsInt64() bool }:
		return nil, boterr.Invalid("", "a BigInt cannot be kept: make a number or a text of it")
	default:
		return document.Missing, nil
	}
}

// sameText returns the time that stood there before where the text is how JSON shows it: operations
// answer with JSON.
func sameText(text string, before any) (any, error) {
	if old, isTime := before.(time.Time); isTime {
		if shown, err := document.AppendJSON(nil, old); err == nil && string(shown) == `"`+text+`"` {
			return old, nil
		}
	}
	return document.ValueOf(text)
}

// sameNumber returns the number that stood there before where it is the same one to a script.
func sameNumber(number float64, value, before any) any {
	if old, isNumber := document.FloatNumber(before); isNumber && old == number {
		return before
	}
	return value
}

// object reads an object by its kind.
func (r *reading) object(object *goja.Object, before any, depth int) (any, error) {
	switch object.ClassName() {
	case "Date":
		t, isValid := object.Export().(time.Time)
		if !isValid {
			return nil, nil //nolint:nilnil // As JSON has it.
		}
		return document.ValueOf(t)
	case "Array":
		return r.array(object, before, depth)
	case "Function", "Symbol":
		return document.Missing, nil
	case "Boolean", "Number", "String":
		return r.scalar(object.Export(), before)
	}
	if written, isCallable := goja.AssertFunction(object.Get("toJSON")); isCallable {
		plain, err := written(object, r.run.vm.ToValue(""))
		if err != nil {
			return nil, err
		}
		return r.value(plain, before, depth+1)
	}
	return r.fields(object, before, depth)
}

// array reads an array.
func (r *reading) array(object *goja.Object, before any, depth int) (any, error) {
	length := object.Get("length").ToInteger()
	if err := r.spend(int(min(length, math.MaxInt32))); err != nil {
		return nil, err
	}
	old, _ := before.(document.Array)
	items := make([]any, 0, length)
	for i := range int(length) {
		var was any
		if i < old.Len() {
			was = old.At(i)
		}
		item, err := r.value(object.Get(strconv.Itoa(i)), was, depth+1)
		if err != nil {
			return nil, boterr.In(boterr.Index(i), err)
		}
		if item == document.Missing {
			item = nil
		}
		items = append(items, item)
	}
	return document.ArrayOf(items), nil
}

// fields reads the fields of an object: first those that were there before, in their order.
func (r *reading) fields(object *goja.Object, before any, depth int) (any, error) {
	old, _ := before.(document.Object)
	names := object.Keys()
	built := document.NewBuilder(len(names))
	add := func(name string) error {
		was, _ := old.Field(name)
		value, err := r.field(object, name, was, depth)
		if err == nil && value != document.Missing {
			built.Set(name, value)
		}
		return err
	}
	for _, name := range inOrderOf(old, names) {
		if err := add(name); err != nil {
			return nil, err
		}
	}
	made := built.Object()
	return made, made.Err()
}

// inOrderOf returns names in the order in which an object had them, those that are new behind.
func inOrderOf(old document.Object, names []string) []string {
	if startsWith(old, names) {
		return names
	}
	left := make(map[string]bool, len(names))
	for _, name := range names {
		left[name] = true
	}
	ordered := make([]string, 0, len(names))
	for name := range old.All() {
		if left[name] {
			delete(left, name)
			ordered = append(ordered, name)
		}
	}
	for _, name := range names {
		if left[name] {
			ordered = append(ordered, name)
		}
	}
	return ordered
}

// startsWith reports whether names begin with all those of an object, in its order.
func startsWith(old document.Object, names []string) bool {
	i := 0
	for name := range old.All() {
		if i == len(names) || names[i] != name {
			return false
		}
		i++
	}
	return true
}

// field reads one field.
func (r *reading) field(object *goja.Object, name string, before any, depth int) (any, error) {
	if err := r.spend(len(name)); err != nil {
		return nil, err
	}
	value, err := r.value(object.Get(name), before, depth+1)
	return value, boterr.In(name, err)
}
