package memstore

import (
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
)

// ensure adds an index to the content unless it is there.
func (t *transaction) ensure(spec store.Index) error {
	if isIDIndex(spec) {
		return nil
	}
	for i := range t.next.indexes {
		if there := &t.next.indexes[i]; slices.Equal(there.spec.Keys, spec.Keys) {
			return there.checkSame(spec)
		}
	}
	x := newIndex(t.next.name, spec)
	for position, o := range t.before.documents.All() {
		if err := t.look(); err != nil {
			return err
		}
		if _, err := x.replace(t.edit, position, document.Object{}, o); err != nil {
			return err
		}
	}
	t.next.indexes = append(slices.Clip(t.next.indexes), x)
	t.indexed = &x.spec
	return nil
}

// checkSame refuses an index of the same keys with other options.
func (x *index) checkSame(spec store.Index) error {
	if x.spec.Unique == spec.Unique && x.spec.Sparse == spec.Sparse {
		return nil
	}
	return boterr.New(boterr.FailedPrecondition, "keys",
		"the collection %q has the index %s with other options: unique %t, sparse %t",
		x.collection, x.name(), x.spec.Unique, x.spec.Sparse)
}

// isIDIndex reports whether an index is the one that every collection has.
func isIDIndex(spec store.Index) bool {
	return len(spec.Keys) == 1 && spec.Keys[0] == store.IndexKey{Path: document.IDField, Kind: query.Ascending}
}
