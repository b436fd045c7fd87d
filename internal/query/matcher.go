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

// elemMatch is $elemMatch. It matches an array with an element that meets a condition.
type elemMatch struct{ condition candidateTest }

func (c elemMatch) test(value any, e *Evaluation) bool {
	_, ok := c.find(value, e)
	return ok
}

// find returns the index of the first element that meets the condition.
func (c elemMatch) find(value any, e *Evaluation) (int, bool) {
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

// matching is the condition of an $elemMatch with a query: the element is an object or array that matches.
type matching struct{ query matcher }

func (c matching) test(item any, e *Evaluation) bool {
	switch v := item.(type) {
	case document.Object:
	case document.Array:
		if !e.spend(v.Len() * nameWork) {
			return false
		}
		item = fieldsOf(v)
	default:
		return false
	}
	before := e.savePosition()
	matched := c.query.match(item, e)
	e.restorePosition(before)
	return matched
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

// elementMatcher is a pathMatcher for $elemMatch. It records the element.
type elementMatcher struct {
	path     *fieldPath
	elements elemMatch
}

func (m *elementMatcher) match(root any, e *Evaluation) bool {
	if !e.spend(conditionWork) {
		return false
	}
	found := foundElement{elements: m.elements}
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
	elements elemMatch
	index    int
}

func (f *foundElement) test(value any, e *Evaluation) bool {
	index, ok := f.elements.find(value, e)
	f.index = index
	return ok
}
