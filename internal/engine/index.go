package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
)

// Index is the description of an index without its entries. Create it with NewIndex.
type Index struct {
	Spec store.Index
	// Building is true until the index contains all documents. Writes maintain it, and searches do not use it.
	Building bool
	// Number identifies the index in Key.Number, and must be unique in the collection; see Schema.NextNumber. Only
	// databases whose keys are bytes need it.
	Number int
	// MultiKey is true if a document has, or once had, several keys in this index because of an array.
	MultiKey bool
	// Cut is true if the database has shortened a key that was too long for it. Equal entries may then have different
	// keys, and entries may not be in the order of keys.
	Cut bool
	// Geo are the geo keys of a geo index.
	Geo []GeoIndex

	collection string
	// paths are the paths of the keys, split into parts.
	paths [][]string
}

// NewIndex returns an index of a collection.
func NewIndex(collection string, spec store.Index) Index {
	x := Index{Spec: spec, collection: collection}
	x.Spec.Keys = slices.Clone(spec.Keys)
	for _, key := range spec.Keys {
		if key.Kind.IsGeo() {
			x.Geo = append(x.Geo, GeoIndex{path: key.Path, kind: key.Kind, key: query.NewGeoKey(key.Path, key.Kind)})
		}
		x.paths = append(x.paths, strings.Split(key.Path, "."))
	}
	return x
}

// Name returns the name that MongoDB gives to this index, such as "a_1_b_-1".
func (x *Index) Name() string {
	parts := make([]string, 0, len(x.Spec.Keys))
	for _, key := range x.Spec.Keys {
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

// SameFields reports whether two versions of a document have equal values in all indexed fields.
func (x *Index) SameFields(before, after document.Object) bool {
	if x.Geo == nil && !x.Spec.Sparse && (before.IsZero() || after.IsZero()) {
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

// Keys are the sorted keys of a document in an index.
type Keys []string

// Contains reports whether k contains a key.
func (k Keys) Contains(key string) bool {
	_, found := slices.BinarySearch(k, key)
	return found
}

// maxKeySize limits the total size in bytes of a document's keys in an index. With a long array, each key repeats the
// values of the other fields.
const maxKeySize = 4 * document.MaxSize

// KeysOf returns the keys of a document. The zero Object has no keys.
func (x *Index) KeysOf(o document.Object) (Keys, error) {
	if o.IsZero() {
		return nil, nil
	}
	lists, err := keyValues(o, x.paths)
	if err != nil {
		return nil, err
	}
	keys := make(Keys, 0, len(lists))
	size := 0
	for _, values := range lists {
		if x.Spec.Sparse && !slices.ContainsFunc(values, isPresent) {
			continue
		}
		key := string(x.appendKey(nil, values))
		if size += len(key); size > maxKeySize {
			return nil, boterr.Invalid(x.Spec.Keys[0].Path, "the keys of one document in the index %s have more than %d bytes",
				x.Name(), maxKeySize)
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return slices.Compact(keys), nil
}

// keysOfBoth returns the keys of two versions of a document. Keys that both have may be left out.
func (x *Index) keysOfBoth(before, after document.Object) (old, next Keys, err error) {
	if old, next, isFew := x.keysOfFew(before, after); isFew {
		return old, next, nil
	}
	if old, err = x.KeysOf(before); err == nil {
		next, err = x.KeysOf(after)
	}
	return old, next, err
}

// fewItems is the maximum number of elements that keysOfFew compares with all others.
const fewItems = 8

// keysOfFew returns the keys of the elements in which two versions of a long array differ, without the keys that other
// elements of both versions have, too. A change of one element then takes much less than all keys. isFew is false if
// many elements differ, or the index is of another form.
func (x *Index) keysOfFew(before, after document.Object) (old, next Keys, isFew bool) {
	if !x.MultiKey || len(x.paths) != 1 {
		return nil, nil, false
	}
	from, to := itemsAt(before, x.paths[0]), itemsAt(after, x.paths[0])
	first := 0
	for first < min(len(from), len(to)) && from[first] == to[first] {
		first++
	}
	last := 0
	for last < min(len(from), len(to))-first && from[len(from)-1-last] == to[len(to)-1-last] {
		last++
	}
	left, right := from[first:len(from)-last], to[first:len(to)-last]
	if len(from) == 0 || len(to) == 0 || len(to) > maxKeys || len(left)+len(right) > fewItems {
		return nil, nil, false
	}
	old, next = x.keysOfItems(left), x.keysOfItems(right)
	size := 0
	var key []byte
	for i, item := range to {
		key = x.appendPart(key[:0], 0, item)
		if size += len(key); size > maxKeySize {
			return nil, nil, false // KeysOf has the error.
		}
		if i < first || i >= len(to)-last {
			isSame := func(known string) bool { return known == string(key) }
			old, next = slices.DeleteFunc(old, isSame), slices.DeleteFunc(next, isSame)
		}
	}
	return old, next, true
}

// itemsAt returns the elements of the array at a path that leads through objects.
func itemsAt(o document.Object, path []string) []any {
	var value any = o
	for _, part := range path {
		container, _ := value.(document.Object)
		value, _ = container.Field(part)
	}
	list, _ := value.(document.Array)
	return list.Items()
}

func (x *Index) keysOfItems(items []any) Keys {
	keys := make(Keys, 0, len(items))
	for _, item := range items {
		keys = append(keys, string(x.appendPart(nil, 0, item)))
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func (x *Index) appendKey(key []byte, values []any) []byte {
	for i, value := range values {
		key = x.appendPart(key, i, value)
	}
	return key
}

func (x *Index) appendPart(key []byte, i int, value any) []byte {
	begin := len(key)
	key = appendIndexed(key, value)
	if x.Spec.Keys[i].Kind == query.Descending {
		invert(key[begin:])
	}
	return key
}

// Duplicate returns the error for a document whose key another document has in a unique index.
func (x *Index) Duplicate(o document.Object, key string) error {
	lists, err := keyValues(o, x.paths)
	if err != nil {
		return err
	}
	taken := document.O()
	for _, values := range lists {
		if string(x.appendKey(nil, values)) != key {
			continue
		}
		for i, value := range values {
			if !isPresent(value) {
				value = nil
			}
			taken = taken.With(x.Spec.Keys[i].Path, value)
		}
		break
	}
	return duplicate(x.collection, x.Name(), taken)
}

// DuplicateID returns the error for a document whose _id another document has.
func (s *Schema) DuplicateID(o document.Object) error {
	id, _ := o.Field(document.IDField)
	return duplicate(s.Name, "_id_", document.O(document.IDField, id))
}

// duplicate returns the error for a second document with the same key.
func duplicate(collection, index string, key document.Object) error {
	field := ""
	if key.Len() == 1 {
		field = key.Keys()[0]
	}
	return boterr.New(boterr.AlreadyExists, field,
		"the collection %q has a document with the key %s of the index %s already", collection, shown(key), index)
}

// KeyRoom is a number of bytes that is enough for most keys.
const KeyRoom = 64

// AppendOneKey appends the key of a document, or nothing if the document has none. isOne is false for a document with
// an array, which may have several keys.
func (x *Index) AppendOneKey(key []byte, o document.Object) (_ []byte, isOne bool) {
	if o.IsZero() {
		return nil, true
	}
	isSomePresent := !x.Spec.Sparse
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

// shown returns a value as JSON for errors, shortened if it is long.
func shown(value any) string {
	const longest = 120
	text, err := document.AppendJSON(nil, value)
	if err != nil {
		return "that has no JSON form"
	}
	if len(text) > longest {
		return strings.ToValidUTF8(string(text[:longest]), "") + "..."
	}
	return string(text)
}

// Existing reports whether the index need not be created: an index with the same keys exists, or it is the index on
// _id. If the existing index has other options, the error is FailedPrecondition.
func (s *Schema) Existing(spec store.Index) (exists bool, err error) {
	if len(spec.Keys) == 1 && spec.Keys[0] == (store.IndexKey{Path: document.IDField, Kind: query.Ascending}) {
		return true, nil
	}
	for i := range s.Indexes {
		x := &s.Indexes[i]
		if !slices.Equal(x.Spec.Keys, spec.Keys) {
			continue
		}
		if x.Spec.Unique == spec.Unique && x.Spec.Sparse == spec.Sparse {
			return true, nil
		}
		return true, boterr.New(boterr.FailedPrecondition, "keys",
			"the collection %q has the index %s with other options: unique %t, sparse %t",
			s.Name, x.Name(), x.Spec.Unique, x.Spec.Sparse)
	}
	return false, nil
}

// indexRecord is the stored form of an index.
type indexRecord struct {
	Keys     []keyRecord `json:"keys"`
	Unique   bool        `json:"unique,omitempty"`
	Sparse   bool        `json:"sparse,omitempty"`
	Number   int         `json:"number"`
	MultiKey bool        `json:"multiKey,omitempty"`
	Cut      bool        `json:"cut,omitempty"`
	// Levels are the levels of the geo keys, in their order.
	Levels []uint64 `json:"levels,omitempty"`
	// Building is true until the index contains all documents.
	Building bool `json:"building,omitempty"`
}

type keyRecord struct {
	Path string          `json:"path"`
	Kind query.IndexKind `json:"kind"`
}

// MarshalIndexes returns the indexes of a schema as JSON.
func (s *Schema) MarshalIndexes() ([]byte, error) {
	records := make([]indexRecord, 0, len(s.Indexes))
	for i := range s.Indexes {
		x := &s.Indexes[i]
		r := indexRecord{
			Unique: x.Spec.Unique, Sparse: x.Spec.Sparse, Number: x.Number, MultiKey: x.MultiKey, Cut: x.Cut,
			Building: x.Building,
		}
		for _, key := range x.Spec.Keys {
			r.Keys = append(r.Keys, keyRecord{Path: key.Path, Kind: key.Kind})
		}
		for j := range x.Geo {
			r.Levels = append(r.Levels, x.Geo[j].Levels)
		}
		records = append(records, r)
	}
	return json.Marshal(records)
}

// UnmarshalIndexes returns the schema for indexes written by MarshalIndexes.
func UnmarshalIndexes(collection string, text []byte) (*Schema, error) {
	var records []indexRecord
	if err := json.Unmarshal(text, &records); err != nil {
		return nil, err
	}
	schema := &Schema{Name: collection}
	for _, r := range records {
		spec := store.Index{Unique: r.Unique, Sparse: r.Sparse}
		for _, key := range r.Keys {
			spec.Keys = append(spec.Keys, store.IndexKey{Path: key.Path, Kind: key.Kind})
		}
		if err := spec.Check(); err != nil {
			return nil, err
		}
		x := NewIndex(collection, spec)
		x.Number, x.MultiKey, x.Cut, x.Building = r.Number, r.MultiKey, r.Cut, r.Building
		if len(r.Levels) != len(x.Geo) {
			return nil, fmt.Errorf("the index %s has levels for %d geo keys, but %d geo keys", x.Name(), len(r.Levels), len(x.Geo))
		}
		for j := range x.Geo {
			x.Geo[j].Levels = r.Levels[j]
		}
		schema.Indexes = append(schema.Indexes, x)
	}
	return schema, nil
}

// Ready returns the schema with the indexes that searches may use.
func (s *Schema) Ready() *Schema {
	if at := s.Building(); at >= 0 {
		return s.WithoutIndex(at)
	}
	return s
}

// Building returns the position of the index that does not contain all documents yet, or -1.
func (s *Schema) Building() int {
	for i := range s.Indexes {
		if s.Indexes[i].Building {
			return i
		}
	}
	return -1
}

// IndexOf returns the position of the index with a number, or -1.
func (s *Schema) IndexOf(number int) int {
	for i := range s.Indexes {
		if s.Indexes[i].Number == number {
			return i
		}
	}
	return -1
}

// NextNumber returns the number for a new index.
func (s *Schema) NextNumber() int {
	number := 1
	for i := range s.Indexes {
		number = max(number, s.Indexes[i].Number+s.Indexes[i].Numbers())
	}
	return number
}
