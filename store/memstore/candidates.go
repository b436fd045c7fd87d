package memstore

import (
	"iter"
	"slices"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store/memstore/internal/persistent"
)

// candidates yields all documents that can match, and perhaps others, until yield returns false: in
// the order of the sort where the plan says so, else in the order of insertion.
func (p *plan) candidates(c *content, yield func(position uint64, o document.Object) bool) {
	get := func(position uint64) bool {
		o, _ := c.documents.Get(position)
		return yield(position, o)
	}
	switch {
	case p.hasID:
		if position, o, ok := c.ids.find(&c.documents, p.id); ok {
			yield(position, o)
		}
	case p.hasIDs:
		found := positionSet{end: c.end}
		for _, id := range p.ids {
			if position, ok := c.ids.findKey(&c.documents, id.From); ok {
				found.add(position)
			}
		}
		found.all(get)
	case p.index == nil:
		c.documents.All()(yield)
	case p.spatial != nil:
		p.spatial.within(p.cells, c.end, get)
	case p.sorted:
		p.postings(func(there postings) bool { return there.all(get) })
	case p.isOneKey():
		if there, ok := p.index.entries.Get(string(p.ranges[0].From)); ok {
			p.candidateCount = int64(there.count())
			there.all(get)
		}
	default:
		found := positionSet{end: c.end}
		p.postings(func(there postings) bool {
			return there.all(func(position uint64) bool {
				found.add(position)
				return true
			})
		})
		p.candidateCount = found.count()
		found.all(get)
	}
}

// isScan reports whether the plan looks at all documents, for which scan is faster.
func (p *plan) isScan() bool { return !p.hasID && !p.hasIDs && p.index == nil }

// isOneKey reports whether the plan looks at one whole key of the index.
func (p *plan) isOneKey() bool {
	return len(p.ranges) == 1 && p.ranges[0].Point && p.used == len(p.index.paths)
}

// postings yields the postings of the plan's ranges in its order, until yield returns
// false.
func (p *plan) postings(yield func(postings) bool) {
	entries := &p.index.entries
	switch {
	case p.used == 0 && p.backward:
		eachPostings(entries.Backward(), yield)
	case p.used == 0:
		eachPostings(entries.All(), yield)
	case p.backward:
		for _, r := range slices.Backward(p.ranges) {
			if !entriesDown(entries, r, yield) {
				return
			}
		}
	default:
		for _, r := range p.ranges {
			if !entriesUp(entries, r, yield) {
				return
			}
		}
	}
}

func eachPostings(entries iter.Seq2[string, postings], yield func(postings) bool) {
	for _, there := range entries {
		if !yield(there) {
			return
		}
	}
}

// entriesUp yields the postings in a range, and reports whether to go on.
func entriesUp(entries *persistent.Tree[string, postings], r query.KeyRange, yield func(postings) bool) bool {
	to := string(r.To)
	for key, there := range entries.From(string(r.From)) {
		if key >= to {
			break
		}
		if !yield(there) {
			return false
		}
	}
	return true
}

// entriesDown is entriesUp in descending order.
func entriesDown(entries *persistent.Tree[string, postings], r query.KeyRange, yield func(postings) bool) bool {
	from := string(r.From)
	for key, there := range entries.Before(string(r.To)) {
		if key < from {
			break
		}
		if !yield(there) {
			return false
		}
	}
	return true
}

// count returns the number of documents that the filter matches, where the index
// alone tells it.
func (p *plan) count() (int, bool) {
	if p.index == nil || !p.exact || p.index.multikey && !p.isOneKey() {
		return 0, false
	}
	count := 0
	p.postings(func(there postings) bool {
		count += there.count()
		return true
	})
	return count, true
}
