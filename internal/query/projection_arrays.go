package query

import (
	"math"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// firstMatch is $elemMatch: an array of the first element that matches, nothing
// where none does.
type firstMatch struct {
	field  string
	finder elementFinder
}

func (m firstMatch) evaluate(run *expressionRun) (any, error) {
	value := run.root.Value(m.field)
	i, ok := m.finder.find(value, run.limits.call)
	if !ok {
		return document.Missing, nil
	}
	return document.ArrayOf([]any{value.(document.Array).At(i)}), nil
}

// fieldSlice is $slice: a part of the array at a path.
type fieldSlice struct {
	path []string
	// skip is the number of elements to leave out, counted from the end where it is
	// negative; without it a negative limit takes the last elements.
	skip    int
	hasSkip bool
	limit   int
}

// sliceOperand reads the operand of $slice in the form that projections have: a
// number, or [skip, limit] with a limit above 0. Other forms are expressions.
func sliceOperand(operand any) (fieldSlice, bool) {
	if list, ok := operand.(document.Array); ok && list.Len() == 2 {
		skip, ok1 := clampedInt(list.At(0))
		limit, ok2 := clampedInt(list.At(1))
		return fieldSlice{skip: skip, hasSkip: true, limit: limit}, ok1 && ok2 && limit > 0
	}
	limit, ok := clampedInt(operand)
	return fieldSlice{limit: limit}, ok
}

// isSliceExpression reports whether the operand of $slice is that of the expression:
// an array or what may give one, and one or two numbers.
func isSliceExpression(operand any) bool {
	list, ok := operand.(document.Array)
	if !ok || list.Len() != 2 && list.Len() != 3 {
		return false
	}
	switch first := list.At(0).(type) {
	case string:
		return isOperator(first)
	case document.Object:
		return isOperatorObject(first)
	case nil, document.Array:
		return true
	default:
		return list.At(1) == nil // Null in any place gives null.
	}
}

// clampedInt reads a number as MongoDB reads one where it wants 32 bits: without its
// fraction, the nearest bound where it is beyond them, and 0 for NaN.
func clampedInt(value any) (int, bool) {
	f, ok := document.FloatNumber(value)
	if math.IsNaN(f) {
		return 0, ok
	}
	return int(min(max(f, math.MinInt32), math.MaxInt32)), ok
}

// apply slices the arrays at a path in o. A path leads through objects and through
// the objects of arrays, and not into arrays of arrays.
func (s *fieldSlice) apply(o document.Object, path []string) document.Object {
	value, ok := o.Field(path[0])
	if !ok {
		return o
	}
	switch v := value.(type) {
	case document.Object:
		if len(path) > 1 {
			return o.Put(path[0], s.apply(v, path[1:]))
		}
	case document.Array:
		if len(path) == 1 {
			return o.Put(path[0], document.ArrayOf(s.part(v.Items())))
		}
		items := slices.Clone(v.Items())
		for i, item := range items {
			if inner, ok := item.(document.Object); ok {
				items[i] = s.apply(inner, path[1:])
			}
		}
		return o.Put(path[0], document.ArrayOf(items))
	}
	return o
}

// part returns the elements that are kept.
func (s *fieldSlice) part(items []any) []any {
	first, length := 0, len(items)
	switch {
	case s.hasSkip && s.skip < 0:
		first = max(0, length+s.skip)
	case s.hasSkip:
		first = min(s.skip, length)
	case s.limit < 0:
		return items[max(0, length+s.limit):]
	}
	return items[first:min(length, first+s.limit)]
}

// atPosition cuts the first array on the positional path down to the element through
// which the filter matched. Where there is no array on it, nothing is cut.
func (p *Projection) atPosition(e *Evaluation, filter *Filter, doc, projected document.Object) (document.Object, error) {
	field := strings.Join(p.positional, ".") + ".$"
	if special := specialOperator(filter.Source()); special != "" {
		return document.Object{}, boterr.Invalid(field, "a path that ends in $ cannot stand beside %s in the filter", special)
	}
	position, err := e.positionOf(filter, doc)
	if err != nil {
		return document.Object{}, err
	}
	var current any = projected
	for i, name := range p.positional {
		o, ok := current.(document.Object)
		if !ok {
			break
		}
		current, _ = o.Field(name)
		array, ok := current.(document.Array)
		if !ok {
			continue
		}
		if !position.found || int(position.index) >= array.Len() {
			return document.Object{}, boterr.Invalid(field, "the filter has no condition that matched an element of this array")
		}
		only := document.ArrayOf([]any{array.At(int(position.index))})
		return putAt(projected, p.positional[:i+1], only), nil
	}
	return projected, nil
}

// specialOperator returns the name of an operator in a query that looks beyond the values of fields
// and so does not tell which element matched, "" where there is none.
func specialOperator(query any) string {
	switch q := query.(type) {
	case document.Array:
		for _, item := range q.Items() {
			if special := specialOperator(item); special != "" {
				return special
			}
		}
	case document.Object:
		for key, operand := range q.All() {
			switch key {
			case "$expr", "$near", "$nearSphere", "$text", "$where", "$jsonSchema":
				return key
			case "$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin":
				continue
			}
			if special := specialOperator(operand); special != "" {
				return special
			}
		}
	}
	return ""
}
