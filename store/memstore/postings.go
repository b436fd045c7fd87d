package memstore

import (
	"github.com/botctx/go-sdk/store/memstore/internal/persistent"
)

// postings are the positions of the documents that have one key of an index, in
// the order of insertion. There is at least one.
type postings struct {
	// first is the lowest; rest has the others.
	first uint64
	rest  persistent.Tree[uint64, struct{}]
}

// count returns the number of positions.
func (p postings) count() int { return 1 + p.rest.Len() }

// add adds a position.
func (p *postings) add(edit *persistent.Edit, position uint64) {
	if position == p.first {
		return
	}
	p.rest.Set(edit, max(position, p.first), struct{}{})
	p.first = min(position, p.first)
}

// remove takes a position out. Unless it returns true, there is another one.
func (p *postings) remove(edit *persistent.Edit, position uint64) (empty bool) {
	if position != p.first {
		p.rest.Delete(edit, position)
		return false
	}
	for next := range p.rest.All() {
		p.rest.Delete(edit, next)
		p.first = next
		return false
	}
	return true
}

// all yields the positions until yield returns false, and reports whether to go on.
func (p postings) all(yield func(uint64) bool) bool {
	if !yield(p.first) {
		return false
	}
	for position := range p.rest.All() {
		if !yield(position) {
			return false
		}
	}
	return true
}
