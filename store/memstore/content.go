package memstore

import (
	"bytes"
	"hash/maphash"
	"math"
	"slices"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store/memstore/internal/persistent"
)

// content is one version of a collection's content. It never changes.
type content struct {
	schema *engine.Schema
	// documents are stored at their positions in the order of insertion.
	documents documents
	ids       idIndex
	// indexes are the entries of the schema's indexes.
	indexes []entries
	// end is the position for the next document.
	end uint64
	// edit is the edit of the transaction that made the content.
	edit persistent.Edit
	// shapes are shared by all versions, including versions of forks.
	shapes *document.Shapes
}

var _ engine.KeySource = (*content)(nil)

func newContent(name string) *content {
	return &content{schema: &engine.Schema{Name: name}, ids: newIDIndex(), shapes: &document.Shapes{}}
}

func (c *content) view() engine.View { return engine.View{Schema: c.schema, Source: c} }

// Close implements engine.Source: the garbage collector frees a version.
func (*content) Close() {}

// Len implements engine.Source.
func (c *content) Len() (int64, error) { return int64(c.documents.Len()), nil }

// IsEmpty implements engine.KeySource.
func (c *content) IsEmpty() bool { return c.documents.Len() == 0 }

// ByID implements engine.Source.
func (c *content) ByID(id any) (found engine.Placed, exists bool, err error) {
	found.Position, found.Document, exists = c.ids.find(&c.documents, id)
	return found, exists, nil
}

// ByIDs implements engine.Source.
func (c *content) ByIDs(keys []query.KeyRange, to engine.Visitor) error {
	found := positionSet{end: c.end}
	for _, key := range keys {
		if position, ok := c.ids.findKey(&c.documents, key.From); ok {
			found.add(position)
		}
	}
	found.all(c.at(to))
	return nil
}

// at returns the function that visits the document at a position.
func (c *content) at(to engine.Visitor) func(uint64) bool {
	return func(position uint64) bool {
		o, _ := c.documents.Get(position)
		return to.Visit(position, o)
	}
}

// ByKey implements engine.KeySource.
func (c *content) ByKey(index int, filter *query.Filter, limit int64) (found []document.Object, isKey bool) {
	var room [engine.KeyRoom]byte
	key, isKey := c.schema.Indexes[index].AppendKeyOf(room[:0], filter)
	if !isKey {
		return nil, false
	}
	there, ok := c.indexes[index].byKey.Get(string(key))
	if !ok {
		return []document.Object{}, true
	}
	if limit == 1 {
		o, _ := c.documents.Get(there.first)
		return []document.Object{o}, true
	}
	if limit == 0 {
		limit = math.MaxInt64
	}
	found = make([]document.Object, 0, min(limit, int64(there.count())))
	there.all(func(position uint64) bool {
		o, _ := c.documents.Get(position)
		found = append(found, o)
		return int64(len(found)) < limit
	})
	return found, true
}

// The compiler checks that a batch of the sequence is not larger than a filter accepts.
const _ = uint(query.BatchSize - persistent.Batch)

// All implements engine.Source.
func (c *content) All(_ int64, to engine.Visitor) error {
	batches, takesBatches := to.(engine.BatchVisitor)
	if !takesBatches {
		c.documents.All()(to.Visit)
		return nil
	}
	var b engine.Batch
	c.documents.Batches(func(from uint64, documents []document.Object, used uint32) bool {
		b.Documents, b.Used, b.From = documents, used, from
		return batches.VisitBatch(&b)
	})
	return nil
}

// Range implements engine.Source.
func (c *content) Range(r engine.Range, to engine.Visitor) error {
	x := &c.indexes[r.Index]
	get := c.at(to)
	switch {
	case r.OneKey:
		if there, ok := x.byKey.Get(string(r.Keys[0].From)); ok {
			there.all(get)
		}
	case r.Sorted:
		x.in(&r, func(there postings) bool { return there.all(get) })
	default:
		found := positionSet{end: c.end}
		x.in(&r, func(there postings) bool {
			return there.all(func(position uint64) bool {
				found.add(position)
				return true
			})
		})
		found.all(get)
	}
	return nil
}

// CountRange implements engine.Source.
func (c *content) CountRange(r engine.Range) (count int64, err error) {
	c.indexes[r.Index].in(&r, func(there postings) bool {
		count += int64(there.count())
		return true
	})
	return count, nil
}

// Cells implements engine.Source.
func (c *content) Cells(index, key int, ranges []query.KeyRange, to engine.Visitor) error {
	found := positionSet{end: c.end}
	for _, r := range ranges {
		to := string(r.To)
		for entry := range c.indexes[index].geo[key].From(string(r.From)) {
			if entry >= to {
				break
			}
			found.add(positionOf(entry))
		}
	}
	found.all(c.at(to))
	return nil
}

// Around implements engine.Source.
func (c *content) Around(index, key int, cell uint64, n int) ([]uint64, error) {
	places := &c.indexes[index].geo[key]
	cells := make([]uint64, 0, 2*n)
	from := placeEntry(cell, 0)
	for entry := range places.From(from) {
		if len(cells) == n {
			break
		}
		cells = append(cells, cellOf(entry))
	}
	above := len(cells)
	for entry := range places.Before(from) {
		if len(cells)-above == n {
			break
		}
		cells = append(cells, cellOf(entry))
	}
	return slices.Clip(cells), nil
}

// idIndex finds the position of a document by its _id.
type idIndex struct {
	hashing *idHashing
	// byHash holds the position by the hash of the _id's key. If two _ids have the same hash, the later one
	// is in collided, by its key.
	byHash   persistent.Trie[uint64]
	collided persistent.Tree[string, uint64]
}

// idHashing hashes the keys of _ids; all versions of a collection share it.
type idHashing struct {
	seed maphash.Seed
	// mask removes bits from the hashes, so that a test can make them collide.
	mask uint64
}

func newIDIndex() idIndex {
	return idIndex{hashing: &idHashing{seed: maphash.MakeSeed(), mask: ^uint64(0)}}
}

// documents are the documents of a collection by position.
type documents = persistent.Sequence[document.Object]

func (x *idIndex) find(among *documents, id any) (position uint64, o document.Object, ok bool) {
	var buffer [64]byte
	key := document.AppendKey(buffer[:0], id)
	if position, ok = x.byHash.Get(x.hash(key)); ok {
		if o, ok = among.Get(position); ok && hasID(o, id) {
			return position, o, true
		}
	}
	return x.findCollided(among, key)
}

func (x *idIndex) findKey(among *documents, key []byte) (position uint64, ok bool) {
	if position, ok = x.byHash.Get(x.hash(key)); ok {
		if o, ok := among.Get(position); ok && hasKey(o, key) {
			return position, true
		}
	}
	position, _, ok = x.findCollided(among, key)
	return position, ok
}

// findCollided finds a document by its _id's key among the _ids whose hash is taken by another _id.
func (x *idIndex) findCollided(among *documents, key []byte) (position uint64, o document.Object, ok bool) {
	if x.collided.Len() == 0 {
		return 0, document.Object{}, false
	}
	if position, ok = x.collided.Get(string(key)); ok {
		o, ok = among.Get(position)
	}
	return position, o, ok
}

func (x *idIndex) hash(key []byte) uint64 { return maphash.Bytes(x.hashing.seed, key) & x.hashing.mask }

func hasID(o document.Object, id any) bool {
	value, ok := o.Field(document.IDField)
	return ok && document.Equal(value, id)
}

func hasKey(o document.Object, key []byte) bool {
	value, ok := o.Field(document.IDField)
	var buffer [64]byte
	return ok && bytes.Equal(document.AppendKey(buffer[:0], value), key)
}

// add adds the position of a document, whose _id no other document has.
func (x *idIndex) add(edit persistent.Edit, position uint64, id any) {
	key := document.AppendKey(nil, id)
	hash := x.hash(key)
	if _, taken := x.byHash.Get(hash); taken {
		x.collided.Set(edit, string(key), position)
	} else {
		x.byHash.Set(edit, hash, position)
	}
}

func (x *idIndex) remove(edit persistent.Edit, position uint64, id any) {
	key := document.AppendKey(nil, id)
	hash := x.hash(key)
	if at, ok := x.byHash.Get(hash); ok && at == position {
		x.byHash.Delete(edit, hash)
		return
	}
	x.collided.Delete(edit, string(key))
}
