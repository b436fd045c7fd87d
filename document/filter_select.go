package document

import (
	"math/bits"
	"slices"
)

// BatchSize is the most documents that Select takes.
const BatchSize = 32

// Select tells which of up to BatchSize documents Match, of those whose bit is set in
// among: bit i stands for documents[i]. It asks for less than Match does for one
// document after the other.
func (f *Filter) Select(documents []Object, among uint32) (matched uint32) {
	if f == nil || f.root == nil {
		return among
	}
	if !f.canFail {
		return selectBy(f.root, documents, among)
	}
	for ; among != 0; among &= among - 1 {
		if i := bits.TrailingZeros32(among); f.Match(documents[i]) {
			matched |= 1 << i
		}
	}
	return matched
}

// selectBy is Select for a matcher.
func selectBy(m matcher, documents []Object, among uint32) uint32 {
	switch m := m.(type) {
	case allOf:
		for _, inner := range m {
			among = selectBy(inner, documents, among)
		}
		return among
	case noneOf:
		for _, inner := range m {
			among &^= selectBy(inner, documents, among)
		}
		return among
	case *pathMatcher:
		return m.selectFrom(documents, among)
	}
	var matched uint32
	for ; among != 0; among &= among - 1 {
		if i := bits.TrailingZeros32(among); m.match(documents[i], nil) {
			matched |= 1 << i
		}
	}
	return matched
}

// selectFrom is Select for a condition on the values at a path.
func (m *pathMatcher) selectFrom(documents []Object, among uint32) (matched uint32) {
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
			value, alone = m.path.alone(documents[i])
		}
		switch v := value.(type) {
		case string:
			ok = isText && v == string(text) || !isText && m.test.test(value)
		case Array:
			ok = m.meetsArray(v)
		default:
			ok = alone && !isText && m.test.test(value) || !alone && m.path.walk(documents[i], m.mode, m.test, nil)
		}
		if ok {
			matched |= 1 << i
		}
	}
	return matched
}

// meetsArray reports whether an array at the end of the path meets the condition.
func (m *pathMatcher) meetsArray(array Array) bool {
	if m.mode == leafExpanded && slices.ContainsFunc(array.items(), m.test.test) {
		return true
	}
	return m.test.test(array)
}
