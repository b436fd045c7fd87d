package query

import (
	"slices"
	"sync"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// The operators with a list of values: $in, $nin and $all. Documents have no type for regular
// expressions, so a pattern in a list is written as it is on a field: {$regex, $options}.

// isPattern reports whether a value in a list is a pattern.
func isPattern(value any) bool {
	o, ok := value.(document.Object)
	if !ok || !o.Has("$regex") {
		return false
	}
	return o.Len() == 1 || o.Len() == 2 && o.Has("$options")
}

// listed returns the values of a list, and the conditions of its patterns.
func (c filterCompiler) listed(operator string, operand any) (values []any, patterns []candidateTest, err error) {
	list, ok := operand.(document.Array)
	if !ok {
		return nil, nil, document.WrongType("array", operand)
	}
	for i, item := range list.All() {
		o, ok := item.(document.Object)
		switch {
		case !ok || !isOperatorObject(o):
		case isPattern(o):
			conditions, err := c.conditions(o)
			if err != nil {
				return nil, nil, boterr.PrefixField(boterr.Index(i), err)
			}
			patterns = append(patterns, conditions[0].test)
		default:
			return nil, nil, boterr.Invalid(boterr.Index(i), "the list of %s takes values and {$regex, $options}, and no other operators",
				operator)
		}
	}
	values = list.Items()
	if len(patterns) > 0 {
		values = slices.DeleteFunc(slices.Clone(values), isPattern)
	}
	return values, patterns, nil
}

// listCondition compiles $in and $nin.
func (c filterCompiler) listCondition(operator string, operand any) ([]fieldCondition, error) {
	values, patterns, err := c.listed(operator, operand)
	if err != nil {
		return nil, err
	}
	conditions := one(inCondition(values, patterns))
	if operator == "$nin" {
		return negate(conditions), nil
	}
	return conditions, nil
}

// inCondition compiles a list in its fastest form.
func inCondition(values []any, patterns []candidateTest) candidateTest {
	var test candidateTest
	switch {
	case len(patterns) == 0:
		test = oneOfCondition(values)
	case len(patterns) == 1 && len(values) == 0:
		test = patterns[0]
	default:
		test = append(some{oneOfCondition(values)}, patterns...)
	}
	if len(values)+len(patterns) <= shortList {
		return test
	}
	return longList{candidateTest: test, bounds: sync.OnceValues(func() (Bounds, bool) { return boundsOfTest(test) })}
}

// oneOfCondition compiles a list of values. One of strings has a form of its own.
func oneOfCondition(values []any) candidateTest {
	strings := make(oneOfStrings, len(values))
	for _, value := range values {
		s, ok := value.(string)
		if !ok {
			return newOneOf(values)
		}
		strings[s] = struct{}{}
	}
	return strings
}

// allCondition compiles $all: each value and pattern is found, or each $elemMatch is met.
func (c filterCompiler) allCondition(operand any) ([]fieldCondition, error) {
	if list, ok := operand.(document.Array); ok && list.Len() > 0 && isElemMatch(list.At(0)) {
		return c.allElemMatch(list)
	}
	values, patterns, err := c.listed("$all", operand)
	switch {
	case err != nil:
		return nil, err
	case len(values)+len(patterns) == 0:
		return one(&oneOf{}), nil
	}
	group := make([]fieldCondition, 0, len(values)+len(patterns))
	for _, value := range values {
		group = append(group, fieldCondition{test: equalCondition(value)})
	}
	if len(values) > fewValues {
		// The first narrows down what comes into question, the last has the position.
		group = []fieldCondition{group[0], {test: newEveryValue(values)}, group[len(group)-1]}
	}
	for _, pattern := range patterns {
		group = append(group, fieldCondition{test: pattern})
	}
	return []fieldCondition{conditionGroup(group)}, nil
}

// allElemMatch compiles $all with $elemMatch in every place.
func (c filterCompiler) allElemMatch(list document.Array) ([]fieldCondition, error) {
	group := make([]fieldCondition, 0, list.Len())
	for i, item := range list.All() {
		if !isElemMatch(item) {
			return nil, boterr.Invalid(boterr.Index(i), "$all takes values, or $elemMatch in every place")
		}
		conditions, err := c.conditions(item)
		if err != nil {
			return nil, boterr.PrefixField(boterr.Index(i), err)
		}
		group = append(group, conditions...)
	}
	return []fieldCondition{conditionGroup(group)}, nil
}

// isElemMatch reports whether a value is {$elemMatch: ...}.
func isElemMatch(value any) bool {
	o, ok := value.(document.Object)
	return ok && o.Len() == 1 && o.NameAt(0) == "$elemMatch"
}
