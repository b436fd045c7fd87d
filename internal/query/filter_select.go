package query

import (
	"math/bits"

	"github.com/botctx/go-sdk/document"
)

// BatchSize is the most documents that Select takes.
const BatchSize = 32

// selectBy tells which documents meet a matcher that cannot fail, as Evaluation.Select does.
func selectBy(m matcher, documents []document.Object, among uint32, e *Evaluation) uint32 {
	switch m := m.(type) {
	case allOf:
		for _, inner := range m {
			among = selectBy(inner, documents, among, e)
		}
		return among
	case noneOf:
		for _, inner := range m {
			among &^= selectBy(inner, documents, among, e)
		}
		return among
	case *pathMatcher:
		return m.selectFrom(documents, among, e)
	}
	var matched uint32
	for ; among != 0; among &= among - 1 {
		if i := bits.TrailingZeros32(among); m.match(documents[i], e) {
			matched |= 1 << i
		}
	}
	return matched
}

// selectFrom is Select for a condition on the values at a path.
func (m *pathMatcher) selectFrom(documents []document.Object, among uint32, e *Evaluation) (matched uint32) {
	if !e.spend(bits.OnesCount32(among) * conditionWork) {
		return 0
	}
	if len(m.path.parts) == 1 {
		return m.selectByField(documents, among, e)
	}
	for ; among != 0; among &= among - 1 {
		i := bits.TrailingZeros32(among)
		value, alone := m.path.singleValue(documents[i])
		if alone && m.meets(value, e) || !alone && m.path.walk(documents[i], m.mode, m.test, e) {
			matched |= 1 << i
		}
	}
	return matched
}

// selectByField is selectFrom for a path of one name. Documents of one shape have it at one place, and the
// usual conditions on a text and on a number are asked without a call.
func (m *pathMatcher) selectByField(documents []document.Object, among uint32, e *Evaluation) (matched uint32) {
	text, isText := m.test.(equalToString)
	var numbers interval
	if order, ok := m.test.(*ordered); ok {
		numbers = order.numbers
	}
	var shape *document.Shape
	place := -1
	for ; among != 0; among &= among - 1 {
		i := bits.TrailingZeros32(among)
		if s := documents[i].Shape(); s != shape {
			shape, place = s, m.path.parts[0].positionIn(s)
		}
		var value any = document.Missing
		if place >= 0 {
			value = documents[i].At(place)
		}
		var ok bool
		if s, isString := value.(string); isString && isText {
			ok = text.equals(s, e)
		} else if n, isInteger := value.(int64); isInteger && numbers.isKnown && -document.MaxExact < n && n < document.MaxExact {
			ok = numbers.has(float64(n))
		} else {
			ok = m.meets(value, e)
		}
		if ok {
			matched |= 1 << i
		}
	}
	return matched
}

// meets reports whether what stands at the end of the path meets the condition: a value, or an array.
func (m *pathMatcher) meets(value any, e *Evaluation) bool {
	if array, ok := value.(document.Array); ok {
		return m.meetsArray(array, e)
	}
	return m.test.test(value, e)
}

// meetsArray reports whether an array at the end of the path meets the condition.
func (m *pathMatcher) meetsArray(array document.Array, e *Evaluation) bool {
	if m.mode == leafWhole {
		return m.test.test(array, e)
	}
	if !e.steps(array.Len()) {
		return false
	}
	if text, ok := m.test.(equalToString); ok {
		return text.isAmong(array.Items(), e)
	}
	for _, item := range array.Items() {
		if m.test.test(item, e) {
			return true
		}
	}
	return m.test.test(array, e)
}

// isAmong reports whether an array has the text.
func (c equalToString) isAmong(items []any, e *Evaluation) bool {
	for _, item := range items {
		if s, ok := item.(string); ok && c.equals(s, e) {
			return true
		}
	}
	return false
}
