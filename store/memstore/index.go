package memstore

import (
	"bytes"
	"math/bits"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore/internal/persistent"
)

// index is one version of a secondary index.
type index struct {
	spec       store.Index
	collection string
	// paths are the parts of the keys' paths; nil for a geo index.
	paths [][]string
	// spatial are the geo keys of a geo index.
	spatial []spatialIndex
	// parted is the edit in which spatial was copied.
	parted persistent.Edit
	// entries holds the positions of the documents that have a key.
	entries persistent.Tree[string, postings]
	// multikey is true if a document has, or once had, several keys here, because of an array.
	multikey bool
}

func newIndex(collection string, spec store.Index) index {
	x := index{spec: spec, collection: collection}
	x.spec.Keys = slices.Clone(spec.Keys)
	for _, key := range spec.Keys {
		if key.Kind.IsGeo() {
			x.spatial = append(x.spatial, newSpatialIndex(key))
		}
		x.paths = append(x.paths, strings.Split(key.Path, "."))
	}
	if x.spatial != nil {
		x.paths = nil
	}
	return x
}

// name returns the name that MongoDB gives such an index, such as "a_1_b_-1".
func (x *index) name() string {
	parts := make([]string, 0, len(x.spec.Keys))
	for _, key := range x.spec.Keys {
		kind := string(key.Kind)
		switch key.Kind {
		case query.Ascending:
			kind = "1"
		case query.Descending:
			kind = "-1"
		default:
		}
		parts = append(parts, key.Path+"_"+kind)
	}
	return strings.Join(parts, "_")
}

// sameFields reports whether two versions of a document are the same in all
// fields that the index looks at.
func (x *index) sameFields(before, after document.Object) bool {
	if x.spatial != nil || !x.spec.Sparse && (before.IsZero() || after.IsZero()) {
		return false
	}
	for _, path := range x.paths {
		old, had := before.Field(path[0])
		next, has := after.Field(path[0])
		if had != has || old != next {
			return false
		}
	}
	return true
}

// An entry is a document's entry in the index: a key, and the values from which it was made.
type entry struct {
	key    string
	values []any
}

func compareEntries(a, b entry) int { return strings.Compare(a.key, b.key) }

func contains(sorted []entry, e entry) bool {
	_, found := slices.BinarySearchFunc(sorted, e, compareEntries)
	return found
}

// maxKeySize bounds the bytes of the keys of one document in an index: a long text next to a long array is
// repeated in each of them.
const maxKeySize = 4 * document.MaxSize

// entriesOf returns what the index holds of a document, sorted.
func (x *index) entriesOf(o document.Object) ([]entry, error) {
	if o.IsZero() {
		return nil, nil
	}
	lists, err := keyValues(o, x.paths)
	if err != nil {
		return nil, err
	}
	entries := make([]entry, 0, len(lists))
	size := 0
	for _, values := range lists {
		if x.spec.Sparse && !slices.ContainsFunc(values, isPresent) {
			continue
		}
		key := string(x.appendKey(nil, values))
		if size += len(key); size > maxKeySize {
			return nil, boterr.Invalid(x.spec.Keys[0].Path, "the keys of one document in the index %s have more than %d bytes",
				x.name(), maxKeySize)
		}
		entries = append(entries, entry{key: key, values: values})
	}
	slices.SortFunc(entries, compareEntries)
	return slices.CompactFunc(entries, func(a, b entry) bool { return a.key == b.key }), nil
}

func (x *index) appendKey(key []byte, values []any) []byte {
	for i, value := range values {
		key = x.appendPart(key, i, value)
	}
	return key
}

func (x *index) appendPart(key []byte, i int, value any) []byte {
	begin := len(key)
	key = appendIndexed(key, value)
	if x.spec.Keys[i].Kind == query.Descending {
		invert(key[begin:])
	}
	return key
}

// duplicate is the error for values that another document has in the index.
func (x *index) duplicate(values []any) error {
	key := document.O()
	for i, value := range values {
		if !isPresent(value) {
			value = nil
		}
		key = key.With(x.spec.Keys[i].Path, value)
	}
	return duplicate(x.collection, x.name(), key)
}

// duplicate is the error for a second document with the same key.
func duplicate(collection, index string, key document.Object) error {
	field := ""
	if key.Len() == 1 {
		field = key.Keys()[0]
	}
	return boterr.New(boterr.AlreadyExists, field,
		"the collection %q has a document with the key %s of the index %s already", collection, shown(key), index)
}

// replace replaces the keys of one version of a document by the keys of the next, and returns the memory of
// new keys. The zero Object means no document. After an error the index is half changed, and must be thrown
// away.
func (x *index) replace(edit persistent.Edit, position uint64, before, after document.Object) (grown int, err error) {
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

// appendOneKey appends the key of a document, nothing if it has none. It reports false for a document
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
	edit persistent.Edit, position uint64, old, next []byte, after document.Object,
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
func (x *index) replaceAll(edit persistent.Edit, position uint64, before, after document.Object) (grown int, err error) {
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

// add puts a document under a key. It reports false if another document has the key in a unique index.
func (x *index) add(edit persistent.Edit, key string, position uint64) bool {
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
func (x *index) remove(edit persistent.Edit, key string, position uint64) {
	there, _ := x.entries.Get(key)
	if there.remove(edit, position) {
		x.entries.Delete(edit, key)
	} else {
		x.entries.Set(edit, key, there)
	}
}

// replacePlaces is replace for a geo index. The first change of an edit copies the index, so that
// the version before keeps its own.
func (x *index) replacePlaces(edit persistent.Edit, position uint64, before, after document.Object) error {
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

// postings are the positions of the documents that have one key of an index, in
// the order of insertion. There is at least one.
type postings struct {
	// first is the lowest; rest has the others.
	first uint64
	rest  persistent.Tree[uint64, struct{}]
}

// count returns the number of positions.
func (p postings) count() int { return 1 + p.rest.Len() }

func (p *postings) add(edit persistent.Edit, position uint64) {
	if position == p.first {
		return
	}
	p.rest.Set(edit, max(position, p.first), struct{}{})
	p.first = min(position, p.first)
}

// remove takes a position out. Unless it returns true, there is another one.
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

// positionSet collects positions, and yields each once, in ascending order.
type positionSet struct {
	// end is above all positions.
	end uint64
	// few holds the positions until there are so many that a bit for each position
	// of the collection is the smaller and faster way; then many holds them.
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

// count returns the number of positions, at most.
func (s *positionSet) count() int64 {
	if s.many == nil {
		return int64(len(s.few)) // One may be there twice.
	}
	count := 0
	for _, word := range s.many {
		count += bits.OnesCount64(word)
	}
	return int64(count)
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
