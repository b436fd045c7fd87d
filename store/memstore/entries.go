package memstore

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store/memstore/internal/persistent"
)

// entries is one version of the entries of an index.
type entries struct {
	// byKey holds the positions of the documents that have a key.
	byKey persistent.Tree[string, postings]
	// geo holds a tree for each geo key. Each of its keys is a cell followed by a document's position.
	geo []persistent.Tree[string, struct{}]
	// parted is the edit in which geo was copied.
	parted persistent.Edit
}

func newEntries(x *engine.Index) entries {
	return entries{geo: make([]persistent.Tree[string, struct{}], len(x.Geo))}
}

// memoryOfEntry is the memory of a key in an index, without its bytes.
const memoryOfEntry = 64

// entryChange is the change of the entries of one document in an index, from one version of the document to the
// next. The zero Object means no document.
type entryChange struct {
	edit          persistent.Edit
	index         *engine.Index
	position      uint64
	before, after document.Object
}

// replaceOne replaces the key of a document that has at most one, and returns the memory of the new one.
func (e *entries) replaceOne(c *entryChange, old, next []byte) (memory int, err error) {
	if bytes.Equal(old, next) {
		return 0, nil
	}
	if len(old) > 0 {
		e.remove(c, string(old))
	}
	if len(next) == 0 {
		return 0, nil
	}
	return memoryOfEntry + len(next), e.add(c, string(next))
}

// replaceAll replaces any number of keys of a document, and returns the memory of the new ones. After an error the
// entries are half changed, and must be discarded.
func (e *entries) replaceAll(c *entryChange, changes *engine.Changes) (memory int, err error) {
	for _, key := range changes.Remove {
		e.remove(c, string(key.Key))
	}
	for _, key := range changes.Add {
		if err := e.add(c, string(key.Key)); err != nil {
			return 0, err
		}
		memory += memoryOfEntry + len(key.Key)
	}
	return memory, nil
}

// add adds a document under a key, or returns AlreadyExists if another document has the key in a unique
// index.
func (e *entries) add(c *entryChange, key string) error {
	there, ok := e.byKey.Get(key)
	switch {
	case !ok:
		there.first = c.position
	case c.index.Spec.Unique:
		return c.index.Duplicate(c.after, key)
	default:
		there.add(c.edit, c.position)
	}
	e.byKey.Set(c.edit, key, there)
	return nil
}

func (e *entries) remove(c *entryChange, key string) {
	there, _ := e.byKey.Get(key)
	if there.remove(c.edit, c.position) {
		e.byKey.Delete(c.edit, key)
	} else {
		e.byKey.Set(c.edit, key, there)
	}
}

// replacePlaces replaces the places of a document. The first change of an edit copies the trees, so that the previous
// version keeps its own.
func (e *entries) replacePlaces(c *entryChange, changes *engine.Changes) {
	if e.parted != c.edit {
		e.geo, e.parted = slices.Clone(e.geo), c.edit
	}
	for _, key := range changes.Remove {
		e.geo[key.Number-c.index.GeoNumber(0)].Delete(c.edit, placeEntry(engine.CellOf(key.Key), c.position))
	}
	for _, key := range changes.Add {
		e.geo[key.Number-c.index.GeoNumber(0)].Set(c.edit, placeEntry(engine.CellOf(key.Key), c.position), struct{}{})
	}
}

// cellSize is the number of bytes of a cell in an entry, and of a position.
const cellSize = 8

func placeEntry(cell, position uint64) string {
	var entry [2 * cellSize]byte
	binary.BigEndian.PutUint64(entry[:], cell)
	binary.BigEndian.PutUint64(entry[cellSize:], position)
	return string(entry[:])
}

func cellOf(entry string) uint64 { return binary.BigEndian.Uint64([]byte(entry[:cellSize])) }

func positionOf(entry string) uint64 { return binary.BigEndian.Uint64([]byte(entry[cellSize:])) }

// in yields the postings of a part of an index in its order, until yield returns false.
func (e *entries) in(r *engine.Range, yield func(postings) bool) {
	if !r.Backward {
		for _, keys := range r.Keys {
			if !e.up(keys, yield) {
				return
			}
		}
		return
	}
	for _, keys := range slices.Backward(r.Keys) {
		if !e.down(keys, yield) {
			return
		}
	}
}

func (e *entries) up(r query.KeyRange, yield func(postings) bool) bool {
	to := string(r.To)
	for key, there := range e.byKey.From(string(r.From)) {
		if key >= to {
			break
		}
		if !yield(there) {
			return false
		}
	}
	return true
}

// down is like up, but in descending order.
func (e *entries) down(r query.KeyRange, yield func(postings) bool) bool {
	from := string(r.From)
	for key, there := range e.byKey.Before(string(r.To)) {
		if key < from {
			break
		}
		if !yield(there) {
			return false
		}
	}
	return true
}

// postings are the positions of the documents that have one key of an index, in
// the order of insertion. There is at least one.
type postings struct {
	// first is the lowest. rest holds the others.
	first uint64
	rest  persistent.Tree[uint64, struct{}]
}

func (p postings) count() int { return 1 + p.rest.Len() }

func (p *postings) add(edit persistent.Edit, position uint64) {
	if position == p.first {
		return
	}
	p.rest.Set(edit, max(position, p.first), struct{}{})
	p.first = min(position, p.first)
}

// remove removes a position. It returns true if no other is left.
func (p *postings) remove(edit persistent.Edit, position uint64) (empty bool) {
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

// all yields the positions until yield returns false, and reports whether to continue.
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

// positionSet collects positions, and yields each once, in ascending order.
type positionSet struct {
	// end is above all positions.
	end uint64
	// few holds the positions until there are so many that a bitmap of the collection is smaller and faster.
	// Then many holds them.
	few  []uint64
	many []uint64
}

const wordBits = 64

func (s *positionSet) add(position uint64) {
	if s.many != nil {
		s.many[position/wordBits] |= 1 << (position % wordBits)
		return
	}
	s.few = append(s.few, position)
	if uint64(len(s.few)) <= s.end/wordBits {
		return
	}
	s.many = make([]uint64, s.end/wordBits+1)
	for _, position := range s.few {
		s.many[position/wordBits] |= 1 << (position % wordBits)
	}
}

// all yields the positions until yield returns false.
func (s *positionSet) all(yield func(uint64) bool) {
	if s.many == nil {
		slices.Sort(s.few)
		for _, position := range slices.Compact(s.few) {
			if !yield(position) {
				return
			}
		}
		return
	}
	for i, word := range s.many {
		for ; word != 0; word &= word - 1 {
			if !yield(uint64(i)*wordBits + uint64(bits.TrailingZeros64(word))) {
				return
			}
		}
	}
}
