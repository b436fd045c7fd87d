package differential

import (
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/document/documenttest"
)

// deviation is a lasting difference: lungo does not do what MongoDB documents.
type deviation struct {
	name string
	// reason is what MongoDB documents.
	reason string
	// example is a case, with what MongoDB gives, at which lungo still differs.
	example string
	// concerns reports whether a case on which the engines differ is of this kind.
	concerns func(s shape) bool
}

// shape is what deviations look at.
type shape struct {
	source document.Object
	c      *documenttest.Case
	// ours and refused are the errors of memstore and of lungo.
	ours, refused error
}

// isUnderstood reports whether memstore takes the filter and the update as such, so
// that the difference lies in what they do to the documents.
func (s shape) isUnderstood() bool {
	arguments, err := s.c.Arguments()
	if err != nil {
		return false
	}
	if _, err := document.CompileFilter(arguments.Filter); err != nil {
		return false
	}
	_, err = document.CompileUpdate(arguments.Update, arguments.ArrayFilters...)
	return err == nil || s.c.Update == nil
}

// stored reports whether a document of the case has a value of a kind.
func (s shape) stored(ofKind func(any) bool) bool {
	return slices.ContainsFunc(s.c.Docs, func(o document.Object) bool { return anyValue(o, ofKind) })
}

func (s shape) update() document.Object {
	update, _ := s.c.Update.(document.Object)
	return update
}

func (s shape) upserts() bool {
	upsert, _ := s.c.Upsert.(bool)
	return upsert
}

// reads reports whether the case reads a path of a kind: in its filter, its sort,
// as its key, or in the filters of an update's arrays.
func (s shape) reads(ofKind func(path string) bool) bool {
	paths := append(pathsIn(s.c.Filter), pathsIn(s.c.ArrayFilters)...)
	if key, ok := s.c.Key.(string); ok {
		paths = append(paths, key)
	}
	return slices.ContainsFunc(append(paths, s.sortPaths()...), ofKind)
}

func (s shape) sortPaths() []string {
	var paths []string
	for _, key := range sortKeys(s.c.Sort) {
		path, _ := key[0].(string)
		paths = append(paths, path)
	}
	return paths
}

// sortsBy reports whether the case sorts by a field that holds, in a document, a
// value of a kind.
func (s shape) sortsBy(ofKind func(any) bool) bool {
	for _, path := range s.sortPaths() {
		for _, o := range s.c.Docs {
			if slices.ContainsFunc(valuesAt(o, strings.Split(path, ".")), ofKind) {
				return true
			}
		}
	}
	return false
}

// valuesAt returns what a path leads to, through all elements of arrays.
func valuesAt(value any, path []string) []any {
	if len(path) == 0 {
		return []any{value}
	}
	switch v := value.(type) {
	case document.Object:
		if inner, ok := v.Field(path[0]); ok {
			return valuesAt(inner, path[1:])
		}
	case document.Array:
		var found []any
		for i, inner := range v.All() {
			if strconv.Itoa(i) == path[0] {
				found = append(found, valuesAt(inner, path[1:])...)
			}
			if _, isObject := inner.(document.Object); isObject {
				found = append(found, valuesAt(inner, path)...)
			}
		}
		return found
	}
	return nil
}

// hasCondition reports whether a filter in the case has an operator of a kind on a
// path of a kind.
func (s shape) hasCondition(ofKind func(path, operator string) bool) bool {
	return anyValue(s.source, func(value any) bool {
		o, _ := value.(document.Object)
		for path, condition := range o.All() {
			operators, _ := condition.(document.Object)
			for operator := range operators.All() {
				if ofKind(path, operator) {
					return true
				}
			}
		}
		return false
	})
}

// hasValueBesideOperators reports whether a condition of the filter has $eq or $in and more.
func (s shape) hasValueBesideOperators() bool {
	return anyValue(s.c.Filter, func(value any) bool {
		condition, _ := value.(document.Object)
		_, equal := condition.Field("$eq")
		_, in := condition.Field("$in")
		return (equal || in) && condition.Len() > 1
	})
}

// hasConflict reports whether two operators of the update change the same part of
// a document.
func (s shape) hasConflict() bool {
	var paths []string
	for operator, operand := range s.update().All() {
		fields, _ := operand.(document.Object)
		for path, argument := range fields.All() {
			paths = append(paths, path+".")
			if target, ok := argument.(string); ok && operator == "$rename" {
				paths = append(paths, target+".")
			}
		}
	}
	for i, path := range paths {
		for _, other := range paths[i+1:] {
			if strings.HasPrefix(path, other) || strings.HasPrefix(other, path) || mixesArrays(path, other) {
				return true
			}
		}
	}
	return false
}

// mixesArrays reports whether of two paths one goes through all or some elements
// of an array of which the other names one.
func mixesArrays(path, other string) bool {
	parts, others := strings.Split(path, "."), strings.Split(other, ".")
	for i := range min(len(parts), len(others)) {
		if parts[i] != others[i] {
			return strings.HasPrefix(parts[i], "$[") != strings.HasPrefix(others[i], "$[")
		}
	}
	return false
}

// ordering are the operators that compare by order.
var ordering = []string{"$gt", "$gte", "$lt", "$lte", "$min", "$max", "$sort"}

// comparesByType reports whether the case may compare, by their order, two objects
// that begin to differ in a field whose names order them differently than the types
// of its values.
func (s shape) comparesByType() bool {
	compared := document.A()
	for _, operator := range ordering {
		compared = compared.Append(operands(s.source, operator)...)
	}
	if s.c.Sort == nil && compared.Len() == 0 {
		return false
	}
	for _, o := range s.c.Docs {
		for _, value := range o.All() {
			compared = compared.Append(value)
		}
	}
	compared = compared.Append(operands(s.c.Update, "$push")...)
	objects := objectsIn(compared)
	for i, a := range objects {
		for _, b := range objects[i+1:] {
			if namesDecideOtherwise(a, b) {
				return true
			}
		}
	}
	return false
}

// objectsIn returns the objects in a value that hold no operators.
func objectsIn(value any) []document.Object {
	var objects []document.Object
	anyValue(value, func(inner any) bool {
		if o, ok := inner.(document.Object); ok && o.Len() > 0 && !strings.HasPrefix(o.Keys()[0], "$") {
			objects = append(objects, o)
		}
		return false
	})
	return objects
}

func namesDecideOtherwise(a, b document.Object) bool {
	for i := range min(a.Len(), b.Len()) {
		name, other := a.Keys()[i], b.Keys()[i]
		value, _ := a.Field(name)
		another, _ := b.Field(other)
		if name != other {
			return document.TypeName(value) != document.TypeName(another)
		}
		if !document.Equal(value, another) {
			return false
		}
	}
	return false
}

// anyValue reports whether a value, or one within it, is of a kind.
func anyValue(value any, ofKind func(any) bool) bool {
	if ofKind(value) {
		return true
	}
	switch v := value.(type) {
	case document.Object:
		for _, inner := range v.All() {
			if anyValue(inner, ofKind) {
				return true
			}
		}
	case document.Array:
		for _, inner := range v.All() {
			if anyValue(inner, ofKind) {
				return true
			}
		}
	}
	return false
}

// operands returns what stands under an operator anywhere in a value.
func operands(value any, operator string) []any {
	var found []any
	anyValue(value, func(inner any) bool {
		o, _ := inner.(document.Object)
		if operand, ok := o.Field(operator); ok {
			found = append(found, operand)
		}
		return false
	})
	return found
}

func isEmptyArray(value any) bool {
	a, ok := value.(document.Array)
	return ok && a.Len() == 0
}

// holdsArray reports whether a value is an array with an array in it.
func holdsArray(value any) bool {
	a, _ := value.(document.Array)
	for _, item := range a.All() {
		if _, ok := item.(document.Array); ok {
			return true
		}
	}
	return false
}

// holdsObject reports whether a value is an array with an object in it.
func holdsObject(value any) bool {
	a, _ := value.(document.Array)
	for _, item := range a.All() {
		if _, ok := item.(document.Object); ok {
			return true
		}
	}
	return false
}

// holdsObjectWithArray reports whether a value is an array of which an element has an
// array in a field.
func holdsObjectWithArray(value any) bool {
	a, _ := value.(document.Array)
	for _, item := range a.All() {
		o, _ := item.(document.Object)
		for _, inner := range o.All() {
			if isArray(inner) {
				return true
			}
		}
	}
	return false
}

// isLargeInt reports whether a value is an int that a sum or a product can bring
// beyond 32 bits.
func isLargeInt(value any) bool {
	n, ok := value.(int64)
	return ok && (n >= 1<<15 || n <= -1<<15)
}

// isNoOperators reports whether a value is an object of fields, not of operators.
func isNoOperators(value any) bool {
	o, ok := value.(document.Object)
	return ok && (o.Len() == 0 || !strings.HasPrefix(o.Keys()[0], "$"))
}

func isArray(value any) bool {
	_, ok := value.(document.Array)
	return ok
}

// asksForNull reports whether an operand of $type names null.
func asksForNull(operand any) bool {
	return anyValue(operand, func(value any) bool { return value == "null" || value == int64(10) })
}

// hasNumber reports whether a part of a path is a number.
func hasNumber(path string) bool {
	return slices.ContainsFunc(strings.Split(path, "."), func(part string) bool {
		return part != "" && strings.Trim(part, "0123456789") == ""
	})
}
