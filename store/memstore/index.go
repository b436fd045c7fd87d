package memstore

import (
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
	parted *persistent.Edit
	// entries holds the positions of the documents that have a key.
	entries persistent.Tree[string, postings]
	// multikey tells that a document has, or once had, several keys here, because
	// of an array.
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

// entry is what the index holds of a document: a key, and the values that it was
// made of.
type entry struct {
	key    string
	values []any
}

func compareEntries(a, b entry) int { return strings.Compare(a.key, b.key) }

func contains(sorted []entry, e entry) bool {
	_, found := slices.BinarySearchFunc(sorted, e, compareEntries)
	return found
}

// maxKeySize is the most bytes that the keys of one document may have in an index: a long
// text beside a long array is repeated in each of them.
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

// appendKey appends the keys of values, one for each path of the index.
func (x *index) appendKey(key []byte, values []any) []byte {
	for i, value := range values {
		key = x.appendPart(key, i, value)
	}
	return key
}

// appendPart appends the key of the value of path i.
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
