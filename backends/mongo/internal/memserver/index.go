package memserver

import (
	"fmt"
	"reflect"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

func listIndexes(r *request) (bson.D, error) {
	r.server.mutex.Lock()
	there := append([]bson.D{}, r.base.indexes[r.name]...)
	r.server.mutex.Unlock()
	if len(there) == 0 {
		return nil, commandError{codeNamespaceNotFound, "ns does not exist: " + r.name}
	}
	ownKey := bson.D{{Key: "v", Value: int32(2)}, {Key: "key", Value: bson.D{{Key: "_id", Value: int32(1)}}}, {Key: "name", Value: "_id_"}}
	batch := make([]bson.Raw, 0, 1+len(there))
	for _, index := range append([]bson.D{ownKey}, there...) {
		b, err := bson.Marshal(index)
		if err != nil {
			return nil, err
		}
		batch = append(batch, b)
	}
	return r.batch("firstBatch", batch, 0), nil
}

// createIndexes makes one index after the other. The list of indexes is held meanwhile, so
// that of two clients who make the same one finds it there.
func createIndexes(r *request) (bson.D, error) {
	wanted, _ := fieldOf[bson.A](r.command, "indexes")
	r.server.mutex.Lock()
	defer r.server.mutex.Unlock()
	for _, each := range wanted {
		index, _ := each.(bson.D)
		if err := onlyFields(index, "createIndexes.indexes", []string{"key", "name", "unique", "sparse"}); err != nil {
			return nil, err
		}
		isThere, err := r.isThere(index)
		if err != nil {
			return nil, err
		}
		if isThere {
			continue
		}
		if err := r.collection().EnsureIndex(r.ctx, indexOf(index)); err != nil {
			return nil, err
		}
		r.base.indexes[r.name] = append(r.base.indexes[r.name], append(bson.D{{Key: "v", Value: int32(2)}}, index...))
	}
	return bson.D{}, nil
}

// isThere reports whether there is the same index, and refuses one that differs from
// another in its options or its name alone.
func (r *request) isThere(index bson.D) (bool, error) {
	name, _ := fieldOf[string](index, "name")
	for _, other := range r.base.indexes[r.name] {
		otherName, _ := fieldOf[string](other, "name")
		isSame := reflect.DeepEqual(other[1:], index)
		keys, _ := fieldOf[bson.D](index, "key")
		otherKeys, _ := fieldOf[bson.D](other, "key")
		switch {
		case isSame:
			return true, nil
		case name == otherName:
			return false, commandError{86, fmt.Sprintf("an index of the name %q has other keys or options", name)}
		case reflect.DeepEqual(keys, otherKeys) && truthOf(index, "unique") == truthOf(other, "unique"):
			return false, commandError{codeIndexOptions, fmt.Sprintf("an index of these keys has the name %q", otherName)}
		}
	}
	return false, nil
}

// indexOf returns an index as package document has it.
func indexOf(d bson.D) store.Index {
	index := store.Index{Unique: truthOf(d, "unique"), Sparse: truthOf(d, "sparse")}
	keys, _ := fieldOf[bson.D](d, "key")
	for _, key := range keys {
		kind := query.Ascending
		switch value := valueOf(key.Value).(type) {
		case string:
			kind = query.IndexKind(value)
		case int64:
			if value < 0 {
				kind = query.Descending
			}
		}
		index.Keys = append(index.Keys, store.IndexKey{Path: key.Key, Kind: kind})
	}
	return index
}
