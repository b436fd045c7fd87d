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
	text, isText := m.test.(equalToString)
	first, isField := &m.path.parts[0], len(m.path.parts) == 1
	for ; among != 0; among &= among - 1 {
		i := bits.TrailingZeros32(among)
		var value any
		var ok bool
		alone := true
		if isField {
			value = first.of(documents[i])
		} else {
			value, alone = m.path.singleValue(documents[i])
		}
		switch v := value.(type) {
		case string:
			ok = isText && text.equals(v, e) || !isText && m.test.test(value, e)
		case document.Array:
			ok = m.meetsArray(v, e)
		default:
			ok = alone && !isText && m.test.test(value, e) || !alone && m.path.walk(documents[i], m.mode, m.test, e)
		}
		if ok {
			matched |= 1 << i
		}
	}
	return matched
}

// meetsArray reports whether an array at the end of the path meets the condition.
func (m *pathMatcher) meetsArray(array document.Array, e *Evaluation) bool {
	if m.mode == leafExpanded {
		if !e.steps(array.Len()) {
			return false
		}
		for _, item := range array.Items() {
			if m.test.test(item, e) {
				return true
			}
		}
	}
	return m.test.test(array, e)
}
