package memstore

import (
	"bytes"
	"hash/maphash"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/memstore/internal/persistent"
)

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
