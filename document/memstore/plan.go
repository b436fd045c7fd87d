package memstore

import (
	"github.com/botctx/go-sdk/document"
)

// plan says where the documents that a filter matches are looked for.
type plan struct {
	// id, with hasID, is the _id of the only document that can match.
	id    any
	hasID bool
	// index is the secondary index to look into; without it and without an id all
	// documents are looked at.
	index *index
	// equal are the values at the first paths of the index.
	equal []any
}

// planFor chooses the _id where the filter fixes it, else the index of which the filter fixes the most keys, the earlier
// one of two that are equal.
func (c *content) planFor(filter *document.Filter) plan {
	if id, ok := filter.Equality(document.IDField); ok {
		return plan{id: id, hasID: true}
	}
	var best plan
	for i := range c.indexes {
		x := &c.indexes[i]
		if equal := x.equalValues(filter); len(equal) > len(best.equal) {
			best = plan{index: x, equal: equal}
		}
	}
	return best
}

// equalValues returns the values that the filter requires at the first paths of
// the index. Of an index with arrays it takes the first path alone: two
// conditions may be met by two elements, and no entry holds both.
func (x *index) equalValues(filter *document.Filter) []any {
	if x.paths == nil {
		return nil
	}
	var equal []any
	for i, key := range x.spec.Keys {
		value, ok := filter.Equality(key.Path)
		if !ok || hasNumber(x.paths[i]) || x.multikey && i > 0 {
			break
		}
		equal = append(equal, value)
	}
	return equal
}

// hasNumber reports whether a part of a path may be the index of an element. A
// filter finds more through such a path than an index holds.
func hasNumber(path []string) bool {
	for _, part := range path {
		if part[0] >= '0' && part[0] <= '9' {
			return true
		}
	}
	return false
}
