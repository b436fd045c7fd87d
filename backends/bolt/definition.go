package bolt

import (
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// definition is an index as the file has it. Its JSON names are those of format 1.
type definition struct {
	Collection string          `json:"collection"`
	Keys       []definitionKey `json:"keys"`
	Unique     bool            `json:"unique"`
	Sparse     bool            `json:"sparse"`
}

type definitionKey struct {
	Path string          `json:"path"`
	Kind query.IndexKind `json:"kind"`
}

// definitionOf returns the definition of an index as a document.
func definitionOf(collection string, index *store.Index) document.Object {
	keys := document.A()
	for _, key := range index.Keys {
		keys = keys.Append(document.O("path", key.Path, "kind", string(key.Kind)))
	}
	return document.O("collection", collection, "keys", keys, "unique", index.Unique, "sparse", index.Sparse)
}

// indexOf is the way back.
func indexOf(o document.Object) (collection string, index *store.Index, err error) {
	var d definition
	if err := document.DecodeValue(o, &d); err != nil {
		return "", nil, err
	}
	index = &store.Index{Unique: d.Unique, Sparse: d.Sparse}
	for _, key := range d.Keys {
		index.Keys = append(index.Keys, store.IndexKey(key))
	}
	return d.Collection, index, nil
}
