package memstore

import (
	"slices"

	"github.com/botctx/go-sdk/document"
)

// boundsBuilder finds the ranges of an index that a filter needs.
type boundsBuilder struct {
	index       *index
	filter      *document.Filter
	ranges      []document.KeyRange
	used, equal int
	// conditions is the number of conditions whose bounds are in use, inexact tells
	// that one of them says more than its bounds, hasNull that one bounds null.
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
		if !ok {
			return
		}
		if key.Kind == document.Descending {
			found = inverted(found)
		}
		points := !slices.ContainsFunc(found, func(r document.KeyRange) bool { return !r.Point })
		if i > 0 && len(found)*len(b.ranges) > maxRanges {
			return
		}
		b.ranges = behind(b.ranges, found, i)
		b.used++
		if !points {
			return
		}
		if len(b.ranges) <= 1 {
			b.equal++
		}
	}
}

// boundsAt returns the ranges of the values at one path, and whether there are any.
func (b *boundsBuilder) boundsAt(path string) (ranges []document.KeyRange, found bool) {
	for condition := range b.filter.Conditions() {
		bounds, ok := condition.Bounds(path)
		if !ok || found && b.index.multikey {
			continue
		}
		if found {
			ranges = document.CommonRanges(ranges, bounds.Ranges)
		} else {
			ranges = bounds.Ranges
		}
		found = true
		b.conditions++
		b.inexact = b.inexact || !bounds.Exact
	}
	b.hasNull = b.hasNull || len(document.CommonRanges(ranges, nullRange)) > 0
	return ranges, found
}

// nullRange is the range of null.
var nullRange = []document.KeyRange{{From: document.AppendKey(nil, nil), To: []byte{document.AppendKey(nil, nil)[0] + 1}}}

// isExact reports whether what the ranges hold is what the filter matches.
func (b *boundsBuilder) isExact() bool {
	conditions := 0
	for range b.filter.Conditions() {
		conditions++
	}
	return !b.inexact && conditions == b.conditions
}

// behind returns the ranges of a list of keys of which the earlier ones are in the
// ranges before, all of them points, and the last one in the ranges after.
func behind(before, after []document.KeyRange, earlier int) []document.KeyRange {
	if earlier == 0 {
		return after
	}
	ranges := make([]document.KeyRange, 0, len(before)*len(after))
	for _, first := range before {
		for _, second := range after {
			ranges = append(ranges, document.KeyRange{
				From:  slices.Concat(first.From, second.From),
				To:    slices.Concat(first.From, second.To),
				Point: second.Point,
			})
		}
	}
	return ranges
}

// inverted returns the ranges of keys of which each byte is the opposite.
func inverted(ranges []document.KeyRange) []document.KeyRange {
	opposite := make([]document.KeyRange, 0, len(ranges))
	for _, r := range slices.Backward(ranges) {
		if r.Point {
			from := invertedKey(r.From)
			opposite = append(opposite, document.KeyRange{From: from, To: document.KeyAfter(from), Point: true})
			continue
		}
		opposite = append(opposite, document.KeyRange{
			From: document.KeyAfter(invertedKey(r.To)), To: document.KeyAfter(invertedKey(r.From)),
		})
	}
	return opposite
}
