package memstore

import (
	"bytes"
	"slices"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/memstore/internal/persistent"
)

// replace replaces the keys of one version of a document by those of the next, and returns the
// memory that new keys take. The zero Object stands for no document. On an error the index is half
// changed, and must be thrown away.
func (x *index) replace(edit *persistent.Edit, position uint64, before, after document.Object) (grown int, err error) {
	if x.spatial != nil {
		return 0, x.replacePlaces(edit, position, before, after)
	}
	var room [2][keyRoom]byte
	old, isOne := x.appendOneKey(room[0][:0], before)
	next, isOneNext := x.appendOneKey(room[1][:0], after)
	if isOne && isOneNext {
		return x.replaceOne(edit, position, old, next, after)
	}
	return x.replaceAll(edit, position, before, after)
}

// keyRoom is the number of bytes of a key that most keys do not exceed.
const keyRoom = 64

// appendOneKey appends the key of a document, nothing where it has none. It reports false for a document
// with an array, which may have several.
func (x *index) appendOneKey(key []byte, o document.Object) (_ []byte, isOne bool) {
	if o.IsZero() {
		return nil, true
	}
	isSomePresent := !x.spec.Sparse
	for i, path := range x.paths {
		b := branch{value: o, path: path}
		b.descend()
		if b.atArray() {
			return nil, false
		}
		isSomePresent = isSomePresent || isPresent(b.value)
		key = x.appendPart(key, i, b.value)
	}
	if !isSomePresent {
		return nil, true
	}
	return key, len(key) <= maxKeySize
}

// replaceOne is replace for versions with one key at most.
func (x *index) replaceOne(
	edit *persistent.Edit, position uint64, old, next []byte, after document.Object,
) (grown int, err error) {
	if bytes.Equal(old, next) {
		return 0, nil
	}
	if len(old) > 0 {
		x.remove(edit, string(old), position)
	}
	if len(next) == 0 {
		return 0, nil
	}
	if !x.add(edit, string(next), position) {
		lists, err := keyValues(after, x.paths)
		if err != nil {
			return 0, err
		}
		return 0, x.duplicate(lists[0])
	}
	return memoryOfEntry + len(next), nil
}

// replaceAll is replace for versions with any number of keys.
func (x *index) replaceAll(edit *persistent.Edit, position uint64, before, after document.Object) (grown int, err error) {
	old, err := x.entriesOf(before)
	if err != nil {
		return 0, err
	}
	next, err := x.entriesOf(after)
	if err != nil {
		return 0, err
	}
	for _, e := range old {
		if !contains(next, e) {
			x.remove(edit, e.key, position)
		}
	}
	for _, e := range next {
		if contains(old, e) {
			continue
		}
		if !x.add(edit, e.key, position) {
			return 0, x.duplicate(e.values)
		}
		grown += memoryOfEntry + len(e.key)
	}
	x.multikey = x.multikey || len(next) > 1
	return grown, nil
}

// add puts a document under a key. It reports false where another one has the key and nobody else may.
func (x *index) add(edit *persistent.Edit, key string, position uint64) bool {
	there, ok := x.entries.Get(key)
	switch {
	case !ok:
		there.first = position
	case x.spec.Unique:
		return false
	default:
		there.add(edit, position)
	}
	x.entries.Set(edit, key, there)
	return true
}

// remove takes a document from under a key.
func (x *index) remove(edit *persistent.Edit, key string, position uint64) {
	there, _ := x.entries.Get(key)
	if there.remove(edit, position) {
		x.entries.Delete(edit, key)
	} else {
		x.entries.Set(edit, key, there)
	}
}

// replacePlaces is replace for a geo index. The first change of an edit copies the index, so that
// the version before keeps its own.
func (x *index) replacePlaces(edit *persistent.Edit, position uint64, before, after document.Object) error {
	if x.parted != edit {
		x.spatial, x.parted = slices.Clone(x.spatial), edit
	}
	for i := range x.spatial {
		if err := x.spatial[i].replace(edit, position, before, after); err != nil {
			return err
		}
	}
	return nil
}
