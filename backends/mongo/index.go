package mongo

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// EnsureIndex implements store.Collection. A plain index gets the order of insertion as its last key. A search
// by equality of the other keys then needs no sort.
func (c *collection) EnsureIndex(ctx context.Context, index store.Index) error {
	if err := checkIndex(index); err != nil {
		return err
	}
	if err := c.check(ctx); err != nil {
		return err
	}
	if isIDIndex(index) {
		return nil
	}
	there, err := c.indexes(ctx)
	if err != nil {
		return err
	}
	if same := ofSameKeys(there, index); len(same) > 0 {
		return c.checkSame(same, index)
	}
	model := mongo.IndexModel{Keys: indexKeys(index), Options: options.Index().SetName(indexName(index))}
	if index.Unique {
		model.Options.SetUnique(true)
	}
	if index.Sparse {
		model.Options.SetSparse(true)
	}
	within, cancel := context.WithTimeout(ctx, maxBuildTime)
	defer cancel()
	_, err = c.stored.Indexes().CreateOne(within, model)
	if server := mongo.ServerError(nil); errors.As(err, &server) && server.HasErrorCode(indexNotFound) {
		return boterr.New(boterr.Unsupported, "keys", "the server has no indexes of this kind: %w", err)
	}
	return failure(ctx, nil, err)
}

// maxBuildTime limits the time to build an index on a collection with documents. It is much longer than
// DefaultTimeout, and replaces it.
const maxBuildTime = time.Hour

// isPlain reports whether an index gets the order of insertion as its last key. With that key, a unique index
// would not be unique and a sparse one not sparse; geo keys have no order.
func isPlain(index store.Index) bool {
	return !index.Unique && !index.Sparse && !slices.ContainsFunc(index.Keys, func(key store.IndexKey) bool { return key.Kind.IsGeo() })
}

// direction returns the server's value for a kind of key: 1, -1 or a name.
func direction(kind query.IndexKind) any {
	switch kind {
	case query.Ascending:
		return int32(1)
	case query.Descending:
		return int32(-1)
	default:
		return string(kind)
	}
}

func indexKeys(index store.Index) bson.D {
	var keys bson.D
	for _, key := range index.Keys {
		keys = append(keys, bson.E{Key: key.Path, Value: direction(key.Kind)})
	}
	if isPlain(index) {
		keys = append(keys, bson.E{Key: orderPath, Value: int32(1)})
	}
	return keys
}

// maxIndexNameLength is within the limit of every version of MongoDB.
const maxIndexNameLength = 100

func indexName(index store.Index) string {
	var name strings.Builder
	for _, key := range index.Keys {
		name.WriteString(key.Path + "_" + string(key.Kind) + " ")
	}
	name.WriteString("unique " + strconv.FormatBool(index.Unique) + " sparse " + strconv.FormatBool(index.Sparse))
	return shortened(escapes.Replace(name.String()), maxIndexNameLength)
}

// storedIndex is an index on the server. Another program may have created it.
type storedIndex struct {
	store.Index

	name string
	// others has further options that change the index's behaviour. Indexes of this store have none.
	others []string
}

// harmlessOptions are options that exist on any index, are checked separately, or change no result.
var harmlessOptions = []string{
	"v", "key", "name", "ns", "unique", "sparse", "background", "2dsphereIndexVersion", "bits", "min", "max", "storageEngine",
}

// indexes lists the existing indexes, in one round trip.
func (c *collection) indexes(ctx context.Context) ([]storedIndex, error) {
	cursor, err := c.stored.Indexes().List(ctx)
	if err != nil {
		return nil, failure(ctx, nil, err)
	}
	var listed []bson.Raw
	if err := cursor.All(ctx, &listed); err != nil {
		return nil, failure(ctx, nil, err)
	}
	indexes := make([]storedIndex, len(listed))
	for i, b := range listed {
		if indexes[i], err = readIndex(b); err != nil {
			return nil, err
		}
	}
	return indexes, nil
}

func readIndex(b bson.Raw) (storedIndex, error) {
	var index storedIndex
	options, err := b.Elements()
	if err != nil {
		return index, malformed()
	}
	for _, option := range options {
		if !slices.Contains(harmlessOptions, option.Key()) && isOn(option.Value()) {
			index.others = append(index.others, option.Key())
		}
	}
	index.name, _ = b.Lookup("name").StringValueOK()
	index.Unique, index.Sparse = isOn(b.Lookup("unique")), isOn(b.Lookup("sparse"))
	keys, ok := b.Lookup("key").DocumentOK()
	if !ok {
		return index, malformed()
	}
	elements, err := keys.Elements()
	if err != nil {
		return index, malformed()
	}
	for _, element := range elements {
		if element.Key() != orderPath {
			index.Keys = append(index.Keys, store.IndexKey{Path: element.Key(), Kind: kindOf(element.Value())})
		}
	}
	return index, nil
}

// isOn reports whether an option is set and not false. The collation "simple" counts as false, because it is
// the default.
func isOn(value bson.RawValue) bool {
	if truth, ok := value.BooleanOK(); ok {
		return truth
	}
	if collation, ok := value.DocumentOK(); ok {
		locale, _ := collation.Lookup("locale").StringValueOK()
		return locale != "simple"
	}
	return !value.IsZero()
}

func ofSameKeys(there []storedIndex, wanted store.Index) []storedIndex {
	var same []storedIndex
	for _, other := range there {
		if slices.Equal(other.Keys, wanted.Keys) {
			same = append(same, other)
		}
	}
	return same
}

// kindOf returns the kind of key for the server's value. It is the inverse of direction.
func kindOf(value bson.RawValue) query.IndexKind {
	if text, ok := value.StringValueOK(); ok {
		return query.IndexKind(text)
	}
	if number, ok := value.AsInt64OK(); ok && number < 0 {
		return query.Descending
	}
	return query.Ascending
}

// checkSame returns FailedPrecondition if there are indexes on the same keys, but none with the same options.
// An index with the wanted name was created by a store with these options, so it is not checked; FerretDB does
// not list all options.
func (c *collection) checkSame(there []storedIndex, wanted store.Index) error {
	for _, index := range there {
		isAsWanted := index.Unique == wanted.Unique && index.Sparse == wanted.Sparse || index.name == indexName(wanted)
		if isAsWanted && len(index.others) == 0 {
			return nil
		}
	}
	other := there[0]
	return boterr.New(boterr.FailedPrecondition, "keys",
		"the collection %q has an index with these keys and other options: unique %t, sparse %t%s; drop that index, or use other keys",
		c.name, other.Unique, other.Sparse, strings.Join(append([]string{""}, other.others...), ", "))
}

// isIDIndex reports whether an index is the one on _id that every collection has.
func isIDIndex(index store.Index) bool {
	return len(index.Keys) == 1 && index.Keys[0] == store.IndexKey{Path: document.IDField, Kind: query.Ascending}
}

// checkIndex refuses invalid indexes, and indexes on the hidden field.
func checkIndex(index store.Index) error {
	for i, key := range index.Keys {
		if isHidden(key.Path) {
			return boterr.PrefixField("keys["+strconv.Itoa(i)+"]", reserved(key.Path))
		}
	}
	return index.Check()
}
