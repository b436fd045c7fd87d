package query

import (
	"bytes"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/document"
)

// IndexKind is the kind of an index's key.
type IndexKind string

// The kinds of keys.
const (
	// Ascending sorts by Compare. It is used for equality, ranges and sorts.
	Ascending IndexKind = "ascending"
	// Descending is the reverse of Ascending.
	Descending IndexKind = "descending"
	// Geo2D indexes legacy pairs on a plane, or arrays of them. Geo2DSphere indexes GeoJSON and pairs on the
	// globe. Documents with null, an empty array or no value at the path are not in the index, and neither are
	// other scalars for Geo2D. Any other value is InvalidArgument.
	Geo2D       IndexKind = "2d"
	Geo2DSphere IndexKind = "2dsphere"
)

// IsGeo reports whether k is a geographic kind.
func (k IndexKind) IsGeo() bool { return k == Geo2D || k == Geo2DSphere }

// KeyRange is a range of AppendKey's keys, from From up to but not including To.
type KeyRange struct {
	From, To []byte
	// Point is true if every key in the range is From or begins with From.
	Point bool
}

// Bounds are the ranges of keys, in an ordered index on a path, that contain all documents that meet a condition.
type Bounds struct {
	// Ranges are in ascending order and do not overlap. If a document meets the condition, the key of at least one of
	// its values at the path (see Values) is in one of the ranges. A missing value counts as null.
	Ranges []KeyRange
	// Exact is true if, conversely, every document with a value in the ranges meets the condition.
	Exact bool
}

// Condition is one of the conditions that a matching document must all meet.
type Condition struct{ matcher matcher }

// Conditions returns the top-level conditions of a filter, including the conditions inside a top-level $and.
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

// Bounds returns the bounds of the condition at a path, and whether it has any. A path with a numeric name has
// none: the name may be an array index, and a filter then finds more values than Values returns.
func (c Condition) Bounds(path string) (Bounds, bool) { return boundsAt(c.matcher, path) }

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
		return unitedBounds(m, func(m matcher) (Bounds, bool) { return boundsAt(m, path) })
	case noneOf:
		return m.boundsAt(path)
	}
	return Bounds{}, false
}

// boundsAt returns the bounds of $exists: false. These are the bounds of null, because the field is missing.
func (none noneOf) boundsAt(path string) (Bounds, bool) {
	for _, m := range none {
		if m, ok := m.(*pathMatcher); ok && m.path.text == path && m.test == (exists{}) && !m.path.hasIndex() {
			return boundsOfEqual(nil)
		}
	}
	return Bounds{}, false
}

// boundsAt returns the bounds of an array's elements, or of values within them.
func (m *elementMatcher) boundsAt(path string) (bounds Bounds, ok bool) {
	if m.path.hasIndex() {
		return bounds, false
	}
	if element, isQuery := m.elements.condition.(matching); isQuery {
		if inner, below := strings.CutPrefix(path, m.path.text+"."); below {
			bounds, ok = boundsAt(element.query, inner)
		}
	} else if m.path.text == path {
		bounds, ok = boundsOfTest(m.elements.condition)
	}
	bounds.Exact = false // The bounds also contain values outside arrays.
	return bounds, ok
}

// boundsAt returns the bounds of the first matcher that has any. Bounds of two matchers cannot be intersected,
// because different elements of an array may meet them.
func (all allOf) boundsAt(path string) (Bounds, bool) {
	for _, m := range all {
		if bounds, ok := boundsAt(m, path); ok {
			bounds.Exact = bounds.Exact && len(all) == 1
			return bounds, true
		}
	}
	return Bounds{}, false
}

// unitedBounds returns the union of the bounds of all conditions, or false if one of them has none.
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
		return unitedBounds(slices.Collect(maps.Keys(test)), func(s string) (Bounds, bool) { return boundsOfEqual(s) })
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

// boundsOfEqual returns the bounds of $eq. A whole array has none, because an index contains the elements of an array
// instead. The bounds of null are not exact: a document with a scalar on the path also has the key of null, but does
// not match.
func boundsOfEqual(value any) (Bounds, bool) {
	if document.ClassOf(value) == document.ClassArray {
		return Bounds{}, false
	}
	return Bounds{Ranges: []KeyRange{pointOf(value)}, Exact: value != nil}, true
}

// boundsOfOrder returns the bounds of $gt, $gte, $lt and $lte. They contain only values of the operand's type.
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

// lowestOf returns the lowest key in a class that $gt and $lt can match. For numbers it is the key of negative
// infinity, since NaN is neither greater nor less than a number.
func lowestOf(class int) []byte {
	if class == document.ClassNumber {
		return document.AppendKey(nil, math.Inf(-1))
	}
	return []byte{byte(class)}
}

// boundsOfPattern returns the bounds of a pattern that starts with ^ and plain text.
func boundsOfPattern(pattern *pattern) (Bounds, bool) {
	prefix := pattern.indexPrefix()
	if prefix == "" {
		return Bounds{}, false
	}
	from := append([]byte{document.ClassString}, prefix...)
	return Bounds{Ranges: []KeyRange{{From: from, To: KeyAfter(from)}}}, true
}

// boundsOfEvery returns the intersection of the conditions' bounds. Conditions without bounds are left out.
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

// pointOf returns the range of a single value. Both ends share one allocation.
func pointOf(value any) KeyRange {
	room := make([]byte, 0, 2*(document.SizeOf(value)+len("class and ends")))
	key := document.AppendKey(room, value)
	end := len(key)
	after := append(key, key...)[end:]
	return KeyRange{From: key[:end:end], To: afterAll(after), Point: true}
}

// KeyAfter returns the lowest key above all keys that start with key. key must not consist only of 0xff bytes.
func KeyAfter(key []byte) []byte { return afterAll(slices.Clone(key)) }

func afterAll(key []byte) []byte {
	last := len(key) - 1
	for key[last] == math.MaxUint8 {
		last--
	}
	key[last]++
	return key[:last+1]
}

// CommonRanges returns the intersection of two lists of ranges. The lists and the result are in ascending order
// without overlap.
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

// NewRanges returns the parts of ranges that are not in known, and the union of both. known must be such a union, or nil.
func NewRanges(ranges, known []KeyRange) (added, all []KeyRange) {
	var unknown []KeyRange
	var from []byte
	for _, r := range known {
		unknown = append(unknown, KeyRange{From: from, To: r.From})
		from = r.To
	}
	unknown = append(unknown, KeyRange{From: from, To: []byte{math.MaxUint8}}) // No key starts with this byte.
	added = CommonRanges(united(ranges), unknown)
	return added, united(slices.Concat(known, added))
}

// united sorts ranges and joins overlapping ones.
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

// hasIndex reports whether a name in the path may be an array index.
func (p *fieldPath) hasIndex() bool {
	for i := range p.parts {
		if p.parts[i].index >= 0 {
			return true
		}
	}
	return false
}
