package storetest

import (
	"context"
	"fmt"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// trial is one check of one rule. Its Collection is empty at the beginning.
type trial struct {
	T
	store.Collection

	rule  Rule
	store store.Store
}

// Errorf reports what was seen under the rule that it breaks.
func (t *trial) Errorf(format string, args ...any) {
	t.Helper()
	t.T.Errorf("rule broken: %s\n%s", t.rule.Text, fmt.Sprintf(format, args...))
}

// ctx returns the context of the test.
func (t *trial) ctx() context.Context { return t.Context() }

// with is a trial of the same rule in another collection.
func (t *trial) with(collection store.Collection) *trial {
	other := *t
	other.Collection = collection
	return &other
}

// filter compiles a filter of keys and values.
func (t *trial) filter(pairs ...any) *query.Filter {
	t.Helper()
	f, err := query.CompileFilter(document.O(pairs...))
	require.NoError(t, err)
	return f
}

// order compiles a sort of paths and directions.
func (t *trial) order(pairs ...any) *query.Sort {
	t.Helper()
	s, err := query.CompileSort(document.O(pairs...))
	require.NoError(t, err)
	return s
}

// change compiles an update of operators and operands, or of a replacement's fields.
func (t *trial) change(pairs ...any) query.Change {
	t.Helper()
	u, err := query.CompileUpdate(document.O(pairs...))
	require.NoError(t, err)
	return query.Change{Update: u}
}

// insert puts documents into the collection.
func (t *trial) insert(documents ...document.Object) {
	t.Helper()
	require.NoError(t, t.Insert(t.ctx(), documents...))
}

// find returns what Find finds.
func (t *trial) find(filter *query.Filter, options store.FindOptions) []document.Object {
	t.Helper()
	found, err := t.Find(t.ctx(), filter, options)
	require.NoError(t, err)
	return found
}

// all returns what the collection holds.
func (t *trial) all() []document.Object {
	t.Helper()
	return t.find(nil, store.FindOptions{})
}

// update changes documents, without an error.
func (t *trial) update(
	filter *query.Filter, change query.Change, options store.UpdateOptions,
) store.UpdateResult {
	t.Helper()
	result, err := t.Update(t.ctx(), filter, change, options)
	require.NoError(t, err)
	return result
}

// findAndModify changes one document, without an error.
func (t *trial) findAndModify(
	filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) store.FindAndModifyResult {
	t.Helper()
	result, err := t.FindAndModify(t.ctx(), filter, change, options)
	require.NoError(t, err)
	return result
}

// requireCode checks that err is an error as a Store returns it, of that code.
func (t *trial) requireCode(code boterr.Code, err error, doing ...any) {
	t.Helper()
	require.Error(t, err, doing...)
	e, ok := boterr.AsError(err)
	require.True(t, ok, "the error is a %T and no *boterr.Error: %v", err, err)
	require.Equal(t, string(code), string(e.Code), doing...)
	require.Empty(t, e.Op, "a Store names no operation in its errors")
}

// requireHolds checks that the collection holds these documents in this order.
func (t *trial) requireHolds(expected ...document.Object) {
	t.Helper()
	t.requireSame(expected, t.all())
}

// requireSame checks that two lists of documents are the same to the letter.
func (t *trial) requireSame(expected, actual []document.Object, doing ...any) {
	t.Helper()
	require.Equal(t, literals(expected), literals(actual), doing...)
}

// requireIDs checks the _ids of documents.
func (t *trial) requireIDs(expected []any, documents []document.Object, doing ...any) {
	t.Helper()
	ids := make([]any, 0, len(documents))
	for _, o := range documents {
		id, _ := o.Field(document.IDField)
		ids = append(ids, id)
	}
	require.Equal(t, literal(document.A(expected...)), literal(document.A(ids...)), doing...)
}
