package differential

import (
	"math"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/store/storetest"
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
	c      *storetest.Case
	// ours and refused are the errors of memstore and of lungo.
	ours, refused error
	// outcome and theirs are the outcomes of memstore and of lungo.
	outcome, theirs storetest.Outcome
}

// isUnderstood reports whether memstore takes the filter and the update as such, so
// that the difference lies in what they do to the documents.
func (s shape) isUnderstood() bool {
	arguments, err := s.c.Arguments()
	if err != nil {
		return false
	}
	if _, err := query.CompileFilter(arguments.Filter); err != nil {
		return false
	}
	_, err = query.CompileUpdate(arguments.Update, arguments.ArrayFilters...)
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

// differsIn reports whether the outcomes of the engines differ, and agree once a
// change is made to both.
func (s shape) differsIn(changed func(outcome document.Object) document.Object) bool {
	return s.ours == nil && s.refused == nil && compareParts(s.c,
		changed(expectation(s.c.Kind, s.outcome)), changed(expectation(s.c.Kind, s.theirs))) == nil
}

// holdsAfter reports whether memstore's collection holds a value of a kind after the
// operation that lungo's has not.
func (s shape) holdsAfter(ofKind func(any) bool) bool {
	return slices.ContainsFunc(s.outcome.After, func(o document.Object) bool {
		return anyValue(o, ofKind) && !slices.ContainsFunc(s.theirs.After, func(other document.Object) bool { return same(o, other) })
	})
}

// condition is an operator on a path, anywhere in a case.
type condition struct {
	path, operator string
	operand        any
}

// conditionsIn returns the conditions in a value at a path.
func conditionsIn(value any, path string) []condition {
	var found []condition
	switch v := value.(type) {
	case document.Object:
		for key, inner := range v.All() {
			if !strings.HasPrefix(key, "$") {
				found = append(found, conditionsIn(inner, key)...)
				continue
			}
			found = append(found, condition{path, key, inner})
			found = append(found, conditionsIn(inner, path)...)
		}
	case document.Array:
		for _, inner := range v.All() {
			found = append(found, conditionsIn(inner, path)...)
		}
	}
	return found
}

// asks reports whether the case has a condition of a kind on a path that leads, in
// a stored value, to values of a kind.
func (s shape) asks(ofKind func(condition) bool, andGets func(values []any) bool) bool {
	for _, asked := range conditionsIn(s.source, "") {
		if ofKind(asked) && s.stored(func(value any) bool { return andGets(valuesAt(value, strings.Split(asked.path, "."))) }) {
			return true
		}
	}
	return false
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
	for _, path := range s.updatePaths() {
		paths = append(paths, path+".")
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
	var sorted, operandObjects, stored []document.Object
	for _, path := range s.sortPaths() {
		for _, o := range s.c.Docs {
			sorted = append(sorted, objectsIn(document.A(valuesAt(o, strings.Split(path, "."))...))...)
		}
	}
	for _, operator := range ordering {
		operandObjects = append(operandObjects, objectsIn(document.A(operands(s.source, operator)...))...)
	}
	if len(operands(s.c.Update, "$sort")) > 0 {
		operandObjects = append(operandObjects, objectsIn(s.c.Update)...)
	}
	for _, o := range s.c.Docs {
		for _, value := range o.All() {
			stored = append(stored, objectsIn(value)...)
		}
	}
	if s.upserts() {
		stored = append(stored, objectsIn(s.c.Filter)...)
	}
	if len(operands(s.c.Update, "$sort")) > 0 {
		operandObjects = append(operandObjects, stored...)
	}
	return anyPair(sorted, sorted, namesDecideOtherwise) || anyPair(operandObjects, stored, namesDecideOtherwise) ||
		anyPair(operandObjects, operandObjects, namesDecideOtherwise)
}

func anyPair(list, others []document.Object, areSuch func(a, b document.Object) bool) bool {
	for _, a := range list {
		for _, b := range others {
			if areSuch(a, b) {
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

// operands returns what stands under an operator, or under a name, anywhere in a value.
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

// isLong reports whether a value is an integer beyond 32 bits.
func isLong(value any) bool {
	n, ok := value.(int64)
	return ok && (n > math.MaxInt32 || n < math.MinInt32)
}

// isOneNaN reports whether of two numbers one is NaN.
func isOneNaN(a, b any) bool {
	f, isFloat := a.(float64)
	g, isAnotherFloat := b.(float64)
	_, isInt := a.(int64)
	_, isAnotherInt := b.(int64)
	return (isFloat || isInt) && (isAnotherFloat || isAnotherInt) && math.IsNaN(f) != math.IsNaN(g)
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
