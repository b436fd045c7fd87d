package mongo

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// EnsureIndex implements document.Collection. A plain index ends in the order of
// insertion, so that it serves a search for what its keys equal without a sort.
func (c *collection) EnsureIndex(ctx context.Context, index document.Index) error {
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
	for _, other := range there {
		if slices.Equal(other.Keys, index.Keys) {
			return c.checkSame(other, index)
		}
	}
	model := mongo.IndexModel{Keys: indexKeys(index), Options: options.Index().SetName(indexName(index))}
	if index.Unique {
		model.Options.SetUnique(true)
	}
	if index.Sparse {
		model.Options.SetSparse(true)
	}
	_, err = c.stored.Indexes().CreateOne(ctx, model)
	if server := mongo.ServerError(nil); errors.As(err, &server) && server.HasErrorCode(indexNotFound) {
		return boterr.New(boterr.Unsupported, "keys", "the server has no indexes of this kind: %w", err)
	}
	return failure(ctx, err)
}

// isPlain reports whether an index gets the order of insertion as its last key. A unique
// one would not be unique with it, a sparse one not sparse, and geo keys have no order.
func isPlain(index document.Index) bool {
	return !index.Unique && !index.Sparse && !slices.ContainsFunc(index.Keys, isGeo)
}

// direction returns what the server calls a kind of key.
func direction(kind document.IndexKind) any {
	switch kind {
	case document.Ascending:
		return int32(1)
	case document.Descending:
		return int32(-1)
	default:
		return string(kind)
	}
}

func indexKeys(index document.Index) bson.D {
	var keys bson.D
	for _, key := range index.Keys {
		keys = append(keys, bson.E{Key: key.Path, Value: direction(key.Kind)})
	}
	if isPlain(index) {
		keys = append(keys, bson.E{Key: orderPath, Value: int32(1)})
	}
	return keys
}

// longestIndexName is within what every version of MongoDB allows.
const longestIndexName = 100

// indexName returns the name of an index, which tells its keys and options.
func indexName(index document.Index) string {
	var name strings.Builder
	for _, key := range index.Keys {
		name.WriteString(key.Path + "_" + string(key.Kind) + " ")
	}
	name.WriteString("unique " + strconv.FormatBool(index.Unique) + " sparse " + strconv.FormatBool(index.Sparse))
	return shortened(escapes.Replace(name.String()), longestIndexName)
}

// indexes returns the indexes that there are, in one round trip.
func (c *collection) indexes(ctx context.Context) ([]document.Index, error) {
	specifications, err := c.stored.Indexes().ListSpecifications(ctx)
	if err != nil {
		return nil, failure(ctx, err)
	}
	var indexes []document.Index
	for _, specification := range specifications {
		index := document.Index{
			Unique: specification.Unique != nil && *specification.Unique,
			Sparse: specification.Sparse != nil && *specification.Sparse,
		}
		elements, err := specification.KeysDocument.Elements()
		if err != nil {
			return nil, malformed()
		}
		for _, element := range elements {
			if element.Key() != orderPath {
				index.Keys = append(index.Keys, document.IndexKey{Path: element.Key(), Kind: kindOf(element.Value())})
			}
		}
		indexes = append(indexes, index)
	}
	return indexes, nil
}

// kindOf is the way back from direction.
func kindOf(value bson.RawValue) document.IndexKind {
	if text, ok := value.StringValueOK(); ok {
		return document.IndexKind(text)
	}
	if number, ok := value.AsInt64OK(); ok && number < 0 {
		return document.Descending
	}
	return document.Ascending
}

// checkSame refuses an index of the same keys with other options.
func (c *collection) checkSame(there, wanted document.Index) error {
	if there.Unique == wanted.Unique && there.Sparse == wanted.Sparse {
		return nil
	}
	return boterr.New(boterr.FailedPrecondition, "keys",
		"the collection %q has an index of these keys with other options: unique %t, sparse %t",
		c.name, there.Unique, there.Sparse)
}

// isIDIndex reports whether an index is the one that every collection has.
func isIDIndex(index document.Index) bool {
	return len(index.Keys) == 1 && index.Keys[0] == document.IndexKey{Path: document.IDField, Kind: document.Ascending}
}

// checkIndex refuses what is no index, and one of the hidden field.
func checkIndex(index document.Index) error {
	for i, key := range index.Keys {
		if isHidden(key.Path) {
			return boterr.In("keys["+strconv.Itoa(i)+"]", reserved(key.Path))
		}
	}
	return index.Check()
}

func isGeo(key document.IndexKey) bool { return key.Kind.IsGeo() }
