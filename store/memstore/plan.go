package memstore

import (
	"slices"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
)

// plan says where the documents that a filter matches are looked for.
type plan struct {
	// id, with hasID, is the _id of the only document that can match.
	id    any
	hasID bool
	// ids, with hasIDs, are the keys of the _ids that can match.
	ids    []query.KeyRange
	hasIDs bool
	// index is the secondary index to look into; without it and without an id all
	// documents are looked at.
	index *index
	// spatial is the geo key of the index to look into, and cells where in it.
	spatial *spatialIndex
	cells   []uint64
	// ranges are the keys of the index to look at, in ascending order; where used is 0, all of
	// them.
	ranges []query.KeyRange
	// used is the number of the index's first keys that the ranges bound, and equal
	// the number of these that are bound to one value.
	used, equal int
	// exact tells that each document that the index has there matches.
	exact bool
	// sorted tells that the order of the index is that of the sort, and backward
	// that it is the other way round.
	sorted, backward bool
	// examined counts the documents that were looked at, and candidateCount is how many there are to
	// look at, 0 where that is not known.
	examined, candidateCount int64
}

// roomFor returns a list with room for what is still found, of which a limit above 0 is the most.
func (p *plan) roomFor(limit int64) []document.Object {
	if !p.exact {
		return nil
	}
	room := p.candidateCount - p.examined + 1
	if limit > 0 {
		room = min(room, limit)
	}
	return make([]document.Object, 0, max(room, 1))
}

// planFor chooses where to look for what a filter matches, to be given in the order of a sort,
// which may be nil: in the geo index that the filter's $near needs; by the _id where the filter
// fixes it, or lists some; else in the index of which the filter fixes the most keys. Ties go to a geo index, then
// to the index that is bounded further, then to one in the order of the sort, then to the earlier
// one.
func (c *content) planFor(filter *query.Filter, sort *query.Sort) plan {
	if near := filter.Near(); near != nil {
		p, _ := c.planNear(near, filter)
		return p
	}
	if id, ok := filter.Equality(document.IDField); ok {
		return plan{id: id, hasID: true, exact: filter.IsEquality()}
	}
	if ids, ok := listedIDs(filter); ok {
		return plan{ids: ids, hasIDs: true}
	}
	var best plan
	for i := range c.indexes {
		p, ok := c.indexes[i].planFor(filter, sort)
		if ok && (best.index == nil || p.betterThan(&best)) {
			best = p
		}
	}
	if best.equal == 0 {
		if p, ok := c.planPlaces(filter); ok {
			return p
		}
	}
	return best
}

// listedIDs returns the keys of the _ids that a filter lists.
func listedIDs(filter *query.Filter) ([]query.KeyRange, bool) {
	for condition := range filter.Conditions() {
		bounds, ok := condition.Bounds(document.IDField)
		if ok && !slices.ContainsFunc(bounds.Ranges, func(r query.KeyRange) bool { return !r.Point }) {
			return bounds.Ranges, true
		}
	}
	return nil, false
}

// betterThan reports whether a plan is to be preferred to an earlier one.
func (p *plan) betterThan(other *plan) bool {
	switch {
	case p.equal != other.equal:
		return p.equal > other.equal
	case p.used != other.used:
		return p.used > other.used
	default:
		return p.sorted && !other.sorted
	}
}

// planFor returns how the index serves a filter and a sort, and whether it serves
// one of them.
func (x *index) planFor(filter *query.Filter, sort *query.Sort) (plan, bool) {
	if x.paths == nil {
		return plan{}, false
	}
	if key, ok := x.keyOf(filter); ok {
		p := plan{index: x, ranges: []query.KeyRange{key}, used: len(x.paths), equal: len(x.paths), exact: true}
		p.sorted, p.backward = x.serves(sort, &p)
		return p, true
	}
	b := boundsBuilder{index: x, filter: filter}
	b.build()
	p := plan{index: x, ranges: b.ranges, used: b.used, equal: b.equal, exact: b.isExact()}
	if x.spec.Sparse && (p.used == 0 || b.hasNull) {
		return plan{}, false // Documents that are not in the index may match.
	}
	p.sorted, p.backward = x.serves(sort, &p)
	return p, p.used > 0 || p.sorted
}

// serves reports whether the entries in the ranges of a plan are in the order of a
// sort, or in the opposite one. The sort must go on to the last key of the index, since
// documents that it holds equal come in the order of insertion.
func (x *index) serves(sort *query.Sort, p *plan) (sorted, backward bool) {
	if sort == nil || x.multikey {
		return false, false
	}
	at := 0
	for _, key := range sort.Keys() {
		if slices.ContainsFunc(x.spec.Keys[:p.equal], func(k store.IndexKey) bool { return k.Path == key.Path }) {
			continue // It is the same in all of them.
		}
		i := p.equal + at
		if i == len(x.spec.Keys) || x.spec.Keys[i].Path != key.Path || hasNumber(x.paths[i]) {
			return false, false
		}
		opposite := (x.spec.Keys[i].Kind == query.Descending) != key.Descending
		if at > 0 && opposite != backward {
			return false, false
		}
		backward = opposite
		at++
	}
	return p.equal+at == len(x.spec.Keys), backward
}

// hasNumber reports whether a part of a path may be the index of an element, through
// which a sort finds more than an index holds.
func hasNumber(path []string) bool {
	return slices.ContainsFunc(path, func(part string) bool { return part[0] >= '0' && part[0] <= '9' })
}
