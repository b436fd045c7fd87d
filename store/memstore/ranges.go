package memstore

import (
	"slices"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

// boundsBuilder finds the ranges of an index that a filter needs.
type boundsBuilder struct {
	index       *index
	filter      *query.Filter
	ranges      []query.KeyRange
	used, equal int
	// conditions is the number of conditions whose bounds are in use, inexact tells that the bounds
	// of one are not exact, hasNull that those of one include null.
	conditions int
	inexact    bool
	hasNull    bool
}

// maxRanges is the most ranges that lists of values at several keys may make.
const maxRanges = 256

func (b *boundsBuilder) build() {
	x := b.index
	for i, key := range x.spec.Keys {
		// Of an index with arrays the first key alone: two conditions may be met by two
		// elements, and no entry holds both.
		if x.multikey && i > 0 {
			return
		}
		found, ok := b.boundsAt(key.Path)
		if !ok || i > 0 && len(found.ranges)*len(b.ranges) > maxRanges {
			return
		}
		b.use(found, key.Kind)
		if slices.ContainsFunc(found.ranges, func(r query.KeyRange) bool { return !r.Point }) {
			return
		}
		if len(b.ranges) <= 1 {
			b.equal++
		}
	}
}

// keyBounds are the ranges that conditions of the filter leave of one key.
type keyBounds struct {
	ranges     []query.KeyRange
	conditions int
	inexact    bool
}

// boundsAt returns the bounds of the values at one path, and whether there are any.
func (b *boundsBuilder) boundsAt(path string) (found keyBounds, ok bool) {
	for condition := range b.filter.Conditions() {
		bounds, says := condition.Bounds(path)
		if !says || ok && b.index.multikey {
			continue
		}
		if ok {
			found.ranges = query.CommonRanges(found.ranges, bounds.Ranges)
		} else {
			found.ranges = bounds.Ranges
		}
		ok = true
		found.conditions++
		found.inexact = found.inexact || !bounds.Exact
	}
	return found, ok
}

// use bounds the next key of the index.
func (b *boundsBuilder) use(found keyBounds, kind query.IndexKind) {
	b.hasNull = b.hasNull || len(query.CommonRanges(found.ranges, nullRange)) > 0
	if kind == query.Descending {
		found.ranges = inverted(found.ranges)
	}
	b.ranges = behind(b.ranges, found.ranges, b.used)
	b.used++
	b.conditions += found.conditions
	b.inexact = b.inexact || found.inexact
}

// keyOf returns the key of the index that a filter says, where it says that the fields of the index have
// certain scalars, and nothing else: what boundsBuilder finds, in one step.
func (x *index) keyOf(filter *query.Filter) (query.KeyRange, bool) {
	var room [keyRoom]byte
	key, ok := x.appendKeyOf(room[:0], filter)
	if !ok {
		return query.KeyRange{}, false
	}
	return query.KeyRange{From: slices.Clone(key), To: query.KeyAfter(key), Point: true}, true
}

// appendKeyOf appends the key that keyOf returns.
func (x *index) appendKeyOf(key []byte, filter *query.Filter) (_ []byte, ok bool) {
	if x.multikey || x.paths == nil || filter.FieldCount() != len(x.paths) {
		return key, false
	}
	for i, path := range x.paths {
		value, ok := filter.Equality(x.spec.Keys[i].Path)
		if !ok || hasNumber(path) {
			return key, false
		}
		key = x.appendPart(key, i, value)
	}
	return key, true
}

// nullRange is the range of null.
var nullRange = []query.KeyRange{{From: document.AppendKey(nil, nil), To: []byte{document.AppendKey(nil, nil)[0] + 1}}}

// isExact reports whether what the ranges hold is what the filter matches.
func (b *boundsBuilder) isExact() bool {
	conditions := 0
	for range b.filter.Conditions() {
		conditions++
	}
	return !b.inexact && conditions == b.conditions
}

// behind returns the ranges of lists of keys: the earlier keys are in the ranges before, all of
// which are points, and the last key is in the ranges after.
func behind(before, after []query.KeyRange, earlier int) []query.KeyRange {
	if earlier == 0 {
		return after
	}
	ranges := make([]query.KeyRange, 0, len(before)*len(after))
	for _, first := range before {
		for _, second := range after {
			both := make([]byte, 0, 2*len(first.From)+len(second.From)+len(second.To))
			both = append(append(both, first.From...), second.From...)
			end := len(both)
			both = append(append(both, first.From...), second.To...)
			ranges = append(ranges, query.KeyRange{From: both[:end:end], To: both[end:], Point: second.Point})
		}
	}
	return ranges
}

// inverted returns the ranges of the keys with each byte inverted.
func inverted(ranges []query.KeyRange) []query.KeyRange {
	opposite := make([]query.KeyRange, 0, len(ranges))
	for _, r := range slices.Backward(ranges) {
		if r.Point {
			from := invertedKey(r.From)
			opposite = append(opposite, query.KeyRange{From: from, To: query.KeyAfter(from), Point: true})
			continue
		}
		opposite = append(opposite, query.KeyRange{
			From: query.KeyAfter(invertedKey(r.To)), To: query.KeyAfter(invertedKey(r.From)),
		})
	}
	return opposite
}
