package memserver

import (
	"fmt"
	"reflect"
	"runtime"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// statements runs the statements of a write command in order, until one fails.
func statements(r *request, list string, do func(statement bson.D) (n, modified int64, err error)) (bson.D, error) {
	parts, _ := fieldOf[bson.A](r.command, list)
	var n, modified int64
	failed := bson.A{}
	for i, part := range parts {
		statement, _ := part.(bson.D)
		matched, changed, err := do(statement)
		n, modified = n+matched, modified+changed
		if err != nil {
			why := refusal(err)
			failed = append(failed, bson.D{
				{Key: "index", Value: int32(i)},
				{Key: "code", Value: why.code},
				{Key: "errmsg", Value: why.text},
			})
			break
		}
	}
	answer := bson.D{{Key: "n", Value: n}, {Key: "nModified", Value: modified}}
	if len(failed) > 0 {
		answer = append(answer, bson.E{Key: "writeErrors", Value: failed})
	}
	return answer, nil
}

func insert(r *request) (bson.D, error) {
	return statements(r, "documents", func(d bson.D) (int64, int64, error) {
		if err := r.collection.Insert(r.ctx, idFirst(objectOf(d))); err != nil {
			return 0, 0, err
		}
		return 1, 0, nil
	})
}

// idFirst moves _id to the front, as MongoDB does.
func idFirst(o document.Object) document.Object {
	id, ok := o.Field(document.IDField)
	if !ok {
		return o
	}
	pairs := []any{document.IDField, id}
	for key, value := range o.All() {
		if key != document.IDField {
			pairs = append(pairs, key, value)
		}
	}
	return document.O(pairs...)
}

// changeOf reads an update in a command.
func (r *request) changeOf(d bson.D, key string) (query.Change, error) {
	source, _ := fieldOf[bson.D](d, key)
	compiled, err := query.CompileUpdate(objectOf(source))
	return query.Change{Update: compiled, Now: r.server.now()}, err
}

func update(r *request) (bson.D, error) {
	return statements(r, "updates", func(d bson.D) (int64, int64, error) {
		if err := onlyFields(d, "update.updates", []string{"q", "u", "multi"}); err != nil { // Version 8 added a sort, so it is not allowed.
			return 0, 0, err
		}
		filter, err := filterOf(d, "q")
		if err != nil {
			return 0, 0, err
		}
		change, err := r.changeOf(d, "u")
		if err != nil {
			return 0, 0, err
		}
		result, err := r.collection.Update(r.ctx, filter, change, store.UpdateOptions{Multi: truthOf(d, "multi")})
		return result.Matched, result.Modified, err
	})
}

func remove(r *request) (bson.D, error) {
	return statements(r, "deletes", func(d bson.D) (int64, int64, error) {
		if err := onlyFields(d, "delete.deletes", []string{"q", "limit"}); err != nil {
			return 0, 0, err
		}
		filter, err := filterOf(d, "q")
		if err != nil {
			return 0, 0, err
		}
		n, err := r.collection.Delete(r.ctx, filter, store.DeleteOptions{Multi: numberOf(d, "limit") == 0})
		return n, 0, err
	})
}

func findAndModify(r *request) (bson.D, error) {
	filter, err := filterOf(r.command, "query")
	if err != nil {
		return nil, err
	}
	order, err := sortOf(r.command, filter)
	if err != nil {
		return nil, err
	}
	if truthOf(r.command, "remove") {
		return findAndRemove(r, filter, order)
	}
	change, err := r.changeOf(r.command, "update")
	if err != nil {
		return nil, err
	}
	one, err := r.first(filter, order)
	if one == nil || err != nil {
		return changed(document.Object{}), err
	}
	result, err := r.collection.FindAndModify(r.ctx, one, change,
		store.FindAndModifyOptions{New: truthOf(r.command, "new")})
	if err != nil {
		return nil, err
	}
	return changed(result.Document), nil
}

// first returns a filter that matches the first document if it has not changed, or nil if there is no document.
// Like MongoDB, the server does not look for another document if another client changes this one first.
func (r *request) first(filter *query.Filter, order *query.Sort) (*query.Filter, error) {
	found, err := r.collection.Find(r.ctx, filter, store.FindOptions{Sort: order, Limit: 1})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	runtime.Gosched() // Let other clients run in between, as on MongoDB.
	id, _ := found[0].Field(document.IDField)
	byID, err := query.CompileFilter(document.O(document.IDField, document.O("$eq", id)))
	if err != nil || filter.Near() != nil {
		return byID, err
	}
	return query.And(byID, filter), nil
}

func changed(o document.Object) bson.D {
	var n int32
	var value any
	if !o.IsZero() {
		n, value = 1, documentOf(o)
	}
	last := bson.D{{Key: "n", Value: n}, {Key: "updatedExisting", Value: n == 1}}
	return bson.D{{Key: "lastErrorObject", Value: last}, {Key: "value", Value: value}}
}

func findAndRemove(r *request, filter *query.Filter, order *query.Sort) (bson.D, error) {
	one, err := r.first(filter, order)
	if one == nil || err != nil {
		return changed(document.Object{}), err
	}
	found, err := r.collection.Find(r.ctx, one, store.FindOptions{})
	if err != nil || len(found) == 0 {
		return changed(document.Object{}), err
	}
	n, err := r.collection.Delete(r.ctx, one, store.DeleteOptions{})
	if n == 0 {
		return changed(document.Object{}), err
	}
	return changed(found[0]), err
}

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

// createIndexes creates indexes one after the other. It locks the list of indexes, so if two clients create the
// same index, the second one finds it.
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
		if err := r.collection.EnsureIndex(r.ctx, indexOf(index)); err != nil {
			return nil, err
		}
		r.base.indexes[r.name] = append(r.base.indexes[r.name], append(bson.D{{Key: "v", Value: int32(2)}}, index...))
	}
	return bson.D{}, nil
}

// isThere reports whether the same index exists. It returns an error if an index differs only in its options or
// only in its name.
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

// indexOf converts the description of an index in a command.
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
