package query

import (
	"slices"
	"strconv"

	"github.com/botctx/go-sdk/document"
)

// matcher is a node of a compiled filter: a condition on a document or, in $elemMatch, on an array element.
type matcher interface {
	// match reports whether root, an Object or Array, meets the condition. It records in the evaluation the array
	// element through which root meets it.
	match(root any, e *Evaluation) bool
}

// allOf matches if all of its matchers do: $and, and the fields of a query.
type allOf []matcher

func (all allOf) match(root any, e *Evaluation) bool {
	before := e.position
	for _, m := range all {
		if !m.match(root, e) {
			e.position = before // A mismatch leaves no position.
			return false
		}
	}
	return true
}

// anyOf matches if one of its matchers does: $or. As in MongoDB it has no position, unless it is one of the
// forms that newAnyOf replaces.
type anyOf []matcher

func (matchers anyOf) match(root any, e *Evaluation) bool {
	before := e.savePosition()
	matched := slices.ContainsFunc(matchers, func(m matcher) bool { return m.match(root, e) || e.hasEnded() })
	e.restorePosition(before)
	return matched && !e.hasEnded()
}

// newAnyOf compiles $or. It compiles a single clause to that clause, and equalities at one path to $in. Unlike other
// forms of $or, these record a position.
func newAnyOf(clauses []matcher) matcher {
	if len(clauses) == 1 {
		return clauses[0]
	}
	var common *fieldPath
	var values []any
	var patterns []candidateTest
	for _, clause := range clauses {
		m, ok := clause.(*pathMatcher)
		if !ok || !isEquality(m.test) || common != nil && m.path.text != common.text {
			return anyOf(clauses)
		}
		common = m.path
		switch test := m.test.(type) {
		case equalTo:
			values = append(values, test.value)
		case equalToString:
			values = append(values, string(test))
		default:
			patterns = append(patterns, test)
		}
	}
	return &pathMatcher{path: common, test: inCondition(values, patterns)}
}

// isEquality reports whether a test can be an element of $in.
func isEquality(test candidateTest) bool {
	switch test.(type) {
	case equalTo, equalToString, likePattern:
		return true
	default:
		return false
	}
}

// noneOf matches if none of its matchers does: $nor, $not, $ne and $nin. A mismatch leaves no position.
type noneOf []matcher

func (none noneOf) match(root any, e *Evaluation) bool {
	return !anyOf(none).match(root, e) && !e.hasEnded()
}

// pathMatcher matches if one of the values at a path meets a condition.
type pathMatcher struct {
	path *fieldPath
	mode leafMode
	test candidateTest
}

func (m *pathMatcher) match(root any, e *Evaluation) bool {
	if !e.spend(conditionWork) {
		return false
	}
	if value, ok := m.path.singleValue(root); ok {
		if _, isArray := value.(document.Array); !isArray {
			return m.test.test(value, e)
		}
	}
	return m.path.walk(root, m.mode, m.test, e)
}

// elementsOf is $elemMatch with a query: it matches an array if one of its elements is an object or array that
// matches.
type elementsOf struct{ query matcher }

func (c elementsOf) test(value any, e *Evaluation) bool {
	_, ok := c.find(value, e)
	return ok
}

func (c elementsOf) find(value any, e *Evaluation) (int, bool) {
	array, _ := value.(document.Array)
	if !e.steps(array.Len()) {
		return 0, false
	}
	before := e.savePosition()
	defer e.restorePosition(before)
	for i, item := range array.Items() {
		switch v := item.(type) {
		case document.Array:
			if !e.steps(v.Len()) {
				return 0, false
			}
			item = fieldsOf(v)
		case document.Object:
		default:
			continue
		}
		if c.query.match(item, e) {
			return i, true
		}
	}
	return 0, false
}

// fieldsOf returns an array as an object with the indexes as names, as in BSON. So a query for an element that is an
// array does not search the elements of this array.
func fieldsOf(array document.Array) document.Object {
	b := document.NewBuilder(array.Len())
	for i, item := range array.Items() {
		b.Set(strconv.Itoa(i), item)
	}
	return b.Object()
}

// valuesOf is $elemMatch with operators: an array with an element that meets all operators.
type valuesOf struct{ condition candidateTest }

func (c valuesOf) test(value any, e *Evaluation) bool {
	_, ok := c.find(value, e)
	return ok
}

func (c valuesOf) find(value any, e *Evaluation) (int, bool) {
	array, _ := value.(document.Array)
	if !e.steps(array.Len()) {
		return 0, false
	}
	for i, item := range array.Items() {
		if c.condition.test(item, e) {
			return i, true
		}
	}
	return 0, false
}

// elementFinder is a condition on an array that one of its elements must meet.
type elementFinder interface {
	candidateTest
	find(value any, e *Evaluation) (int, bool)
}

// elementMatcher is a pathMatcher for $elemMatch. It records the element.
type elementMatcher struct {
	path   *fieldPath
	finder elementFinder
}

func (m *elementMatcher) match(root any, e *Evaluation) bool {
	if !e.spend(conditionWork) {
		return false
	}
	found := foundElement{finder: m.finder}
	before := e.savePosition()
	matched := m.path.walk(root, leafWhole, &found, e)
	outer := e.savePosition()
	e.restorePosition(before)
	if !matched {
		return false
	}
	if !outer.found {
		outer.index = int32(found.index)
	}
	e.recordPosition(int(outer.index))
	return true
}

type foundElement struct {
	finder elementFinder
	index  int
}

func (f *foundElement) test(value any, e *Evaluation) bool {
	index, ok := f.finder.find(value, e)
	f.index = index
	return ok
}
