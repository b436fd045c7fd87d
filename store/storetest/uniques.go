package storetest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
)

var uniqueRules = []Rule{
	{
		Name:  "UniqueIndexRefusesASecondKey",
		Text:  "a write that would give a second document the same key of a unique index is AlreadyExists, and changes nothing",
		Needs: []Capability{UniqueIndexes},
		check: uniqueIndexRefusesASecondKey,
	},
	{
		Name:  "UniqueIndexFreesKeys",
		Text:  "a key of a unique index is free again when no document has it any more",
		Needs: []Capability{UniqueIndexes},
		check: uniqueIndexFreesKeys,
	},
	{
		Name:  "UniqueIndexCountsMissingAsNull",
		Text:  "in a unique index a missing field counts as null",
		Needs: []Capability{UniqueIndexes},
		check: uniqueIndexCountsMissingAsNull,
	},
	{
		Name:  "SparseIndexLeavesOutWhatIsMissing",
		Text:  "a sparse index leaves out the documents that have none of the keys",
		Needs: []Capability{UniqueIndexes, SparseIndexes},
		check: sparseIndexLeavesOutWhatIsMissing,
	},
	{
		Name:  "UniqueIndexCountsElements",
		Text:  "in an index an array counts as its elements: those of two documents clash, those of one do not",
		Needs: []Capability{UniqueIndexes},
		check: uniqueIndexCountsElements,
	},
	{
		Name:  "UniqueIndexOfSeveralKeys",
		Text:  "a unique index of several keys refuses what is the same in all of them",
		Needs: []Capability{UniqueIndexes},
		check: uniqueIndexOfSeveralKeys,
	},
	{
		Name:  "UniqueIndexRefusesWhatIsThere",
		Text:  "EnsureIndex is AlreadyExists where documents violate the unique index, and makes none",
		Needs: []Capability{UniqueIndexes},
		check: uniqueIndexRefusesWhatIsThere,
	},
}

// unique makes a unique index on paths.
func (t *trial) unique(paths ...string) {
	t.Helper()
	require.NoError(t, t.EnsureIndex(t.ctx(), store.Index{Keys: ascending(paths...), Unique: true}))
}

// requireClash checks that inserting a document is AlreadyExists.
func (t *trial) requireClash(o document.Object) {
	t.Helper()
	t.requireCode(boterr.AlreadyExists, t.Insert(t.ctx(), o), "inserting %s", o)
}

func uniqueIndexRefusesASecondKey(t *trial) {
	held := []document.Object{document.O("_id", 1, "a", "x"), document.O("_id", 2, "a", "y"), document.O("_id", 3, "a", 3)}
	t.unique("a")
	t.insert(held...)
	set := t.change("$set", document.O("a", "x"))
	for name, write := range map[string]func() error{
		"Insert":        func() error { return t.Insert(t.ctx(), document.O("_id", 4, "a", "z"), document.O("_id", 5, "a", "x")) },
		"Insert of 3.0": func() error { return t.Insert(t.ctx(), document.O("_id", 4, "a", 3.0)) },
		"one batch": func() error {
			return t.Insert(t.ctx(), document.O("_id", 4, "a", "z"), document.O("_id", 5, "a", "z"))
		},
		"Update": func() error {
			_, err := t.Update(t.ctx(), t.filter("_id", 2), set, first)
			return err
		},
		"Update of many": func() error {
			_, err := t.Update(t.ctx(), nil, t.change("$set", document.O("a", "new")), multi)
			return err
		},
		"replacement": func() error {
			_, err := t.Update(t.ctx(), t.filter("_id", 2), t.change("a", "x"), first)
			return err
		},
		"upsert": func() error {
			_, err := t.Update(t.ctx(), t.filter("_id", 4), set, upsert)
			return err
		},
		"FindAndModify": func() error {
			_, err := t.FindAndModify(t.ctx(), t.filter("_id", 2), set, store.FindAndModifyOptions{})
			return err
		},
	} {
		t.requireCode(boterr.AlreadyExists, write(), name)
		t.requireHolds(held...)
	}
	t.update(t.filter("_id", 1), set, first)
	t.update(t.filter("_id", 1), t.change("$set", document.O("b", 1)), first)
}

func uniqueIndexFreesKeys(t *trial) {
	t.unique("a")
	t.insert(document.O("_id", 1, "a", "x"), document.O("_id", 2, "a", "y"))
	t.update(t.filter("_id", 1), t.change("$set", document.O("a", "z")), first)
	t.remove(1, t.filter("_id", 2), store.DeleteOptions{})
	t.insert(document.O("_id", 3, "a", "x"), document.O("_id", 4, "a", "y"))
	t.requireClash(document.O("_id", 5, "a", "z"))
}

func uniqueIndexCountsMissingAsNull(t *trial) {
	t.unique("a")
	t.insert(document.O("_id", 1), document.O("_id", 2, "a", 0))
	t.requireClash(document.O("_id", 3))
	t.requireClash(document.O("_id", 3, "a", nil))
}

func sparseIndexLeavesOutWhatIsMissing(t *trial) {
	require.NoError(t, t.EnsureIndex(t.ctx(), store.Index{Keys: ascending("a", "b"), Unique: true, Sparse: true}))
	t.insert(
		document.O("_id", 1), document.O("_id", 2), document.O("_id", 3, "a", 1), document.O("_id", 4, "b", 1),
		document.O("_id", 5, "a", nil),
	)
	t.requireClash(document.O("_id", 6, "a", 1))
	t.requireClash(document.O("_id", 6, "b", 1))
	t.requireClash(document.O("_id", 6, "a", nil, "b", nil))
	t.requireIDs([]any{1, 2, 4, 5}, t.find(t.filter("a", nil), store.FindOptions{}))
}

func uniqueIndexCountsElements(t *trial) {
	t.unique("tags")
	t.unique("rows.n")
	t.insert(document.O("_id", 1, "tags", document.A("a", "b", "a"), "rows", document.A(document.O("n", 1), document.O("n", 1))))
	t.insert(document.O("_id", 2, "tags", "c", "rows", document.O("n", 2)))
	t.requireClash(document.O("_id", 3, "tags", "b", "rows", document.O("n", 3)))
	t.requireClash(document.O("_id", 3, "tags", document.A("d", "c"), "rows", document.O("n", 3)))
	t.requireClash(document.O("_id", 3, "tags", "d", "rows", document.A(document.O("n", 3), document.O("n", 1))))
	t.update(t.filter("_id", 1), t.change("$pull", document.O("tags", "b")), first)
	t.insert(document.O("_id", 3, "tags", document.A("b", "d"), "rows", document.O("n", 3)))
}

func uniqueIndexOfSeveralKeys(t *trial) {
	t.unique("a", "b")
	t.insert(
		document.O("_id", 1, "a", 1, "b", 1), document.O("_id", 2, "a", 1, "b", 2), document.O("_id", 3, "a", 2, "b", 1),
		document.O("_id", 4, "a", "x", "b", "y"), document.O("_id", 5, "a", "xy", "b", ""), document.O("_id", 6, "a", 1),
	)
	for _, o := range []document.Object{
		document.O("_id", 7, "a", 1, "b", 2), document.O("_id", 7, "a", "x", "b", "y"), document.O("_id", 7, "a", 1, "b", nil),
		document.O("_id", 7, "a", document.A(3, 2), "b", 1),
	} {
		t.requireClash(o)
	}
}

func uniqueIndexRefusesWhatIsThere(t *trial) {
	t.insert(document.O("_id", 1, "a", 1), document.O("_id", 2, "a", 1.0))
	err := t.EnsureIndex(t.ctx(), store.Index{Keys: ascending("a"), Unique: true})
	t.requireCode(boterr.AlreadyExists, err)
	t.insert(document.O("_id", 3, "a", 1))
	require.NoError(t, t.EnsureIndex(t.ctx(), store.Index{Keys: ascending("a")}), "no index was made")
}
