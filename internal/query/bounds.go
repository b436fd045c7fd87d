package query

import (
	"bytes"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/document"
)

// KeyRange is a range of keys as AppendKey makes them, with From and without To.
type KeyRange struct {
	From, To []byte
	// Point tells that the range holds only the key From, and keys that begin with it.
	Point bool
}

// Bounds are the ranges in which a condition needs a value at a path, for an index that keeps these
// values in order.
type Bounds struct {
	// Ranges are in ascending order and do not overlap. A document that meets the condition has a
	// value at the path, as Values gives them, whose key is in one of the ranges. A document
	// without a value there counts as one with null.
	Ranges []KeyRange
	// Exact tells that the converse holds, too: each document with such a value meets the
	// condition.
	Exact bool
}

// Condition is one of the conditions that a document must meet all of to match.
type Condition struct{ matcher matcher }

// Conditions returns the conditions of a filter: those at its top, and in an $and
// at its top.
func (f *Filter) Conditions() iter.Seq[Condition] {
	return func(yield func(Condition) bool) {
		if f != nil {
			eachCondition(f.root, yield)
		}
	}
}

func eachCondition(m matcher, yield func(Condition) bool) bool {
	switch m := m.(type) {
	case allOf:
		for _, inner := range m {
			if !eachCondition(inner, yield) {
				return false
			}
		}
	case *fieldsEqual:
		for i := range *m {
			if !yield(Condition{&(*m)[i]}) {
				return false
			}
		}
	default:
		return yield(Condition{m})
	}
	return true
}

// Bounds returns the bounds of the condition at a path, and whether it has any. A path with a name
// that may be the index of an element has none: through it a filter finds more than Values gives.
func (c Condition) Bounds(path string) (Bounds, bool) { return boundsAt(c.matcher, path) }

// boundsAt returns what a matcher says of the values at a path.
func boundsAt(m matcher, path string) (Bounds, bool) {
	switch m := m.(type) {
	case *pathMatcher:
		if m.path.text == path && !m.path.hasIndex() {
			return boundsOfTest(m.test)
		}
	case *elementMatcher:
		return m.boundsAt(path)
	case *equality:
		return m.boundsAt(path)
	case allOf:
		return m.boundsAt(path)
	case anyOf:
		return m.boundsAt(path)
	case noneOf:
		return m.boundsAt(path)
	}
	return Bounds{}, false
}

// boundsAt returns the bounds of $exists: false, which are those of null: nothing stands at the path.
func (none noneOf) boundsAt(path string) (Bounds, bool) {
	for _, m := range none {
		if m, ok := m.(*pathMatcher); ok && m.path.text == path && m.test == (exists{}) && !m.path.hasIndex() {
			return boundsOfEqual(nil)
		}
	}
	return Bounds{}, false
}

// boundsAt returns the bounds of an array's elements, or of what is in them.
func (m *elementMatcher) boundsAt(path string) (bounds Bounds, ok bool) {
	if m.path.hasIndex() {
		return bounds, false
	}
	switch finder := m.finder.(type) {
	case valuesOf:
		if m.path.text == path {
			bounds, ok = boundsOfTest(finder.condition)
		}
	case elementsOf:
		if inner, below := strings.CutPrefix(path, m.path.text+"."); below {
			bounds, ok = boundsAt(finder.query, inner)
		}
	}
	bounds.Exact = false // The bounds also hold values that are not in an array.
	return bounds, ok
}

// boundsAt returns the bounds of the first matcher that has any. Those of two cannot be
// intersected: each may be met by another value of an array.
func (all allOf) boundsAt(path string) (Bounds, bool) {
	for _, m := range all {
		if bounds, ok := boundsAt(m, path); ok {
			bounds.Exact = bounds.Exact && len(all) == 1
			return bounds, true
		}
	}
	return Bounds{}, false
}

// boundsAt returns the bounds of all matchers together, where each has some.
func (matchers anyOf) boundsAt(path string) (Bounds, bool) {
	return unitedBounds(matchers, func(m matcher) (Bounds, bool) { return boundsAt(m, path) })
}

// unitedBounds returns the bounds of what meets one of several conditions, where each of
// them has some.
func unitedBounds[C any](conditions []C, boundsOfOne func(C) (Bounds, bool)) (Bounds, bool) {
	together := Bounds{Exact: true}
	for _, condition := range conditions {
		bounds, ok := boundsOfOne(condition)
		if !ok {
			return Bounds{}, false
		}
		together.Ranges = append(together.Ranges, bounds.Ranges...)
		together.Exact = together.Exact && bounds.Exact
	}
	together.Ranges = united(together.Ranges)
	return together, true
}

// boundsOfTest returns the bounds of the values that meet a condition.
func boundsOfTest(test candidateTest) (Bounds, bool) {
	switch test := test.(type) {
	case equalTo:
		return boundsOfEqual(test.value)
	case equalToString:
		return boundsOfEqual(string(test))
	case longList:
		return test.bounds()
	case *oneOf:
		return unitedBounds(test.values, boundsOfEqual)
	case oneOfStrings:
		return boundsOfStrings(test), true
	case *ordered:
		return boundsOfOrder(test)
	case likePattern:
		return boundsOfPattern(test.pattern)
	case every:
		return boundsOfEvery(test)
	case some:
		return unitedBounds(test, boundsOfTest)
	default:
		return Bounds{}, false
	}
}

// boundsOfEqual are the bounds of $eq. A whole array has none here, since an index holds its
// elements. Those of null are not exact: a document where the path leads through a scalar has the
// key of null, too, and does not match.
func boundsOfEqual(value any) (Bounds, bool) {
	if document.ClassOf(value) == document.ClassArray {
		return Bounds{}, false
	}
	return Bounds{Ranges: []KeyRange{pointOf(value)}, Exact: value != nil}, true
}

func boundsOfStrings(values oneOfStrings) Bounds {
	list := Bounds{Exact: true}
	for value := range values {
		list.Ranges = append(list.Ranges, pointOf(value))
	}
	list.Ranges = united(list.Ranges)
	return list
}

// boundsOfOrder are the bounds of $gt, $gte, $lt and $lte, which end where the
// operand's type does.
func boundsOfOrder(c *ordered) (Bounds, bool) {
	switch {
	case c.class == document.ClassArray:
		return Bounds{}, false
	case c.class == document.ClassNull, isNaN(c.operand):
		if !c.equal {
			return Bounds{Exact: true}, true
		}
		return boundsOfEqual(c.operand)
	}
	point := pointOf(c.operand)
	bounds := KeyRange{From: point.From, To: point.To}
	if !c.equal {
		bounds.From, bounds.To = point.To, point.From
	}
	if c.greater {
		bounds.To = []byte{byte(c.class) + 1}
	} else {
		bounds.From = lowestOf(c.class)
	}
	return Bounds{Ranges: []KeyRange{bounds}, Exact: true}, true
}

// lowestOf is the lowest key of a class that $gt and $lt can find: for numbers that of negative
// infinity, since NaN is neither greater nor less than a number.
func lowestOf(class int) []byte {
	if class == document.ClassNumber {
		return document.AppendKey(nil, math.Inf(-1))
	}
	return []byte{byte(class)}
}

// boundsOfPattern are the bounds of a pattern that begins with ^ and plain text.
func boundsOfPattern(pattern *pattern) (Bounds, bool) {
	prefix := pattern.indexPrefix()
	if prefix == "" {
		return Bounds{}, false
	}
	from := append([]byte{document.ClassString}, prefix...)
	return Bounds{Ranges: []KeyRange{{From: from, To: KeyAfter(from)}}}, true
}

// boundsOfEvery are the bounds of a value that meets several conditions at once.
func boundsOfEvery(conditions every) (Bounds, bool) {
	var together Bounds
	found := false
	for _, condition := range conditions {
		bounds, ok := boundsOfTest(condition)
		if !ok {
			continue
		}
		if found {
			bounds.Ranges = CommonRanges(together.Ranges, bounds.Ranges)
		}
		together, found = bounds, true
	}
	together.Exact = false
	return together, found
}

// pointOf returns the range of one value. Both ends are in one piece of memory.
func pointOf(value any) KeyRange {
	room := make([]byte, 0, 2*(document.SizeOf(value)+len("class and ends")))
	key := document.AppendKey(room, value)
	end := len(key)
	after := append(key, key...)[end:]
	return KeyRange{From: key[:end:end], To: afterAll(after), Point: true}
}

// KeyAfter returns the lowest key above all keys that begin with key. A key of bytes 0xff alone is
// not allowed.
func KeyAfter(key []byte) []byte { return afterAll(slices.Clone(key)) }

// afterAll is KeyAfter in the memory of key.
func afterAll(key []byte) []byte {
	last := len(key) - 1
	for key[last] == math.MaxUint8 {
		last--
	}
	key[last]++
	return key[:last+1]
}

// CommonRanges returns the intersection of two lists of ranges. Both are in ascending order without
// overlap, and so is the result.
func CommonRanges(a, b []KeyRange) []KeyRange {
	var common []KeyRange
	for len(a) > 0 && len(b) > 0 {
		from, to := a[0].From, a[0].To
		if bytes.Compare(b[0].From, from) > 0 {
			from = b[0].From
		}
		aEndsFirst := bytes.Compare(a[0].To, b[0].To) <= 0
		if !aEndsFirst {
			to = b[0].To
		}
		if bytes.Compare(from, to) < 0 {
			point := a[0].Point || b[0].Point
			common = append(common, KeyRange{From: from, To: to, Point: point})
		}
		if aEndsFirst {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return common
}

// united sorts ranges, and joins those that overlap.
func united(ranges []KeyRange) []KeyRange {
	slices.SortFunc(ranges, func(a, b KeyRange) int { return bytes.Compare(a.From, b.From) })
	apart := ranges[:0]
	for _, next := range ranges {
		if len(apart) == 0 || bytes.Compare(apart[len(apart)-1].To, next.From) <= 0 {
			apart = append(apart, next)
			continue
		}
		last := &apart[len(apart)-1]
		if bytes.Compare(next.To, last.To) > 0 {
			*last = KeyRange{From: last.From, To: next.To}
		}
	}
	return apart
}

// hasIndex reports whether a name in the path may be the index of an element.
func (p *fieldPath) hasIndex() bool {
	for i := range p.parts {
		if p.parts[i].index >= 0 {
			return true
		}
	}
	return false
}
