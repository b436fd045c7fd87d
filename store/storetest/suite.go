// Package storetest checks a store.Store against the contract of the port. Each rule of the contract is a small
// function, whose failures quote the rule.
//
//   - To test a store, call [RunStore] with a function that opens an empty one.
//   - To run the rules with your own runner, or to leave some out by name, use [Rules].
//
// The test of a store:
//
//	func TestStore(t *testing.T) {
//		storetest.RunStore(t, func(t *testing.T) store.Store { return memstore.New() })
//	}
package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/conformance"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// T is the part of *testing.T that a rule needs.
type T = conformance.T

// Rule is one rule of the contract.
type Rule struct {
	// Name is short, and written like the name of a test.
	Name string
	// Text is the rule in words.
	Text string

	check func(*trial)
}

func rule(check func(*trial), text string) Rule {
	return Rule{Name: conformance.NameOf(check), Text: text, check: check}
}

// RunStore checks a store against every rule, each in a subtest with a new store.
func RunStore(t *testing.T, newStore func(t *testing.T) store.Store) {
	t.Helper()
	for _, rule := range Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			rule.Check(t, newStore(t))
		})
	}
}

// Rules returns all rules.
func Rules() []Rule {
	return slices.Concat(
		collectionRules, insertRules, valueRules, findRules, sortRules, projectionRules, distinctRules, updateRules, fixedRules,
		expressionRules,
		upsertRules, findAndModifyRules, deleteRules, indexRules, uniqueRules, geoRules, placeRules, concurrencyRules,
		cancelRules,
	)
}

// Check checks a store against the rule. Collections of the store whose names begin with "storetest" must be
// empty.
func (r Rule) Check(t T, store store.Store) {
	t.Helper()
	r.check(&trial{T: t, rule: r, store: store, Collection: store.Collection("storetest")})
}

// trial is a check of one rule. Its Collection is empty at the beginning.
type trial struct {
	T
	store.Collection

	rule  Rule
	store store.Store
}

// Errorf reports a failure together with the rule that it breaks.
func (t *trial) Errorf(format string, args ...any) {
	t.Helper()
	t.T.Errorf("rule broken: %s\n%s", t.rule.Text, fmt.Sprintf(format, args...))
}

// with returns a trial of the same rule in another collection.
func (t *trial) with(collection store.Collection) *trial {
	other := *t
	other.Collection = collection
	return &other
}

// failure returns the error of a call whose result does not matter.
func failure[T any](_ T, err error) error { return err }

func (t *trial) filter(pairs ...any) *query.Filter {
	t.Helper()
	f, err := query.CompileFilter(document.O(pairs...))
	require.NoError(t, err)
	return f
}

func (t *trial) order(pairs ...any) *query.Sort {
	t.Helper()
	s, err := query.CompileSort(document.O(pairs...))
	require.NoError(t, err)
	return s
}

func (t *trial) change(pairs ...any) query.Change {
	t.Helper()
	u, err := query.CompileUpdate(document.O(pairs...))
	require.NoError(t, err)
	return query.Change{Update: u}
}

func (t *trial) insert(documents ...document.Object) {
	t.Helper()
	require.NoError(t, t.Insert(t.Context(), documents...))
}

func (t *trial) find(filter *query.Filter, options store.FindOptions) []document.Object {
	t.Helper()
	found, err := t.Find(t.Context(), filter, options)
	require.NoError(t, err)
	return found
}

func (t *trial) all() []document.Object {
	t.Helper()
	return t.find(nil, store.FindOptions{})
}

func (t *trial) update(
	filter *query.Filter, change query.Change, options store.UpdateOptions,
) store.UpdateResult {
	t.Helper()
	result, err := t.Update(t.Context(), filter, change, options)
	require.NoError(t, err)
	return result
}

func (t *trial) findAndModify(
	filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) store.FindAndModifyResult {
	t.Helper()
	result, err := t.FindAndModify(t.Context(), filter, change, options)
	require.NoError(t, err)
	return result
}

// requireCode checks that err is an error as a Store returns it, with a code.
func (t *trial) requireCode(code boterr.Code, err error, doing ...any) {
	t.Helper()
	require.Error(t, err, doing...)
	e, ok := boterr.AsError(err)
	require.True(t, ok, "the error is a %T, not a *boterr.Error: %v", err, err)
	require.Equal(t, string(code), string(e.Code), doing...)
	require.Empty(t, e.Op, "a Store names no operation in its errors")
}

// requireHolds checks that the collection holds these documents in this order.
func (t *trial) requireHolds(expected ...document.Object) {
	t.Helper()
	t.requireSame(expected, t.all())
}

// requireSame checks that two lists of documents are exactly the same.
func (t *trial) requireSame(expected, actual []document.Object, doing ...any) {
	t.Helper()
	require.Equal(t, literals(expected), literals(actual), doing...)
}

func (t *trial) requireIDs(expected []any, documents []document.Object, doing ...any) {
	t.Helper()
	ids := make([]any, 0, len(documents))
	for _, o := range documents {
		id, _ := o.Field(document.IDField)
		ids = append(ids, id)
	}
	require.Equal(t, literal(document.A(expected...)), literal(document.A(ids...)), doing...)
}

func ascending(paths ...string) []store.IndexKey {
	keys := make([]store.IndexKey, 0, len(paths))
	for _, path := range paths {
		keys = append(keys, store.IndexKey{Path: path, Kind: query.Ascending})
	}
	return keys
}

var cancelRules = []Rule{
	rule(endedContextIsCanceled, "if the context has ended, every operation is Canceled and writes nothing"),
	rule(passedDeadlineIsCanceled, "if the deadline has passed, every operation is Canceled and writes nothing"),
}

func endedContextIsCanceled(t *trial) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	t.requireCanceled(ctx)
}

func passedDeadlineIsCanceled(t *trial) {
	ctx, cancel := context.WithDeadline(t.Context(), time.UnixMilli(0))
	defer cancel()
	t.requireCanceled(ctx)
}

// answers returns the error of every operation of the collection.
func (t *trial) answers(ctx context.Context) map[string]error {
	change, replacement := t.change("$set", document.O("n", 9)), t.change("n", 9)
	_, _, get := t.Get(ctx, 1)
	return map[string]error{
		"Find":          failure(t.Find(ctx, nil, store.FindOptions{})),
		"Find by _id":   failure(t.Find(ctx, t.filter("_id", 1), store.FindOptions{})),
		"Get":           get,
		"Count":         failure(t.Count(ctx, nil)),
		"Distinct":      failure(t.Distinct(ctx, "n", nil)),
		"Insert":        t.Insert(ctx, document.O("_id", 3)),
		"Update":        failure(t.Update(ctx, nil, change, multi)),
		"Update by _id": failure(t.Update(ctx, t.filter("_id", 1), replacement, first)),
		"upsert":        failure(t.Update(ctx, t.filter("_id", 3), change, upsert)),
		"FindAndModify": failure(t.FindAndModify(ctx, nil, change, store.FindAndModifyOptions{})),
		"Delete":        failure(t.Delete(ctx, nil, store.DeleteOptions{Multi: true})),
		"EnsureIndex":   t.EnsureIndex(ctx, store.Index{Keys: ascending("n")}),
	}
}

// requireCanceled checks that all operations are Canceled, and that nothing was written.
func (t *trial) requireCanceled(ctx context.Context) {
	t.Helper()
	t.insert(numbered(2)...) //nolint:contextcheck // ctx has ended.
	t.requireCode(boterr.Canceled, failure(t.store.Now(ctx)), "Now")
	for name, err := range t.answers(ctx) {
		t.requireCode(boterr.Canceled, err, name)
	}
	t.requireHolds(numbered(2)...) //nolint:contextcheck // ctx has ended.
}

var collectionRules = []Rule{
	rule(collectionsAreApart, "collections are separate, however similar their names are"),
	rule(newCollectionReadsAsEmpty, "a collection that does not exist reads as empty, and exists once it is written to"),
	rule(badCollectionNamesAreRefused,
		`names are up to 200 bytes of UTF-8 without NUL and do not begin with "system."; others are InvalidArgument`),
	rule(longCollectionNamesAreTaken, "names are up to 200 bytes of UTF-8"),
	rule(nowIsTheStoresClock, "Now returns the time of the store's clock, which does not go back"),
}

func collectionsAreApart(t *trial) {
	names := []string{
		"storetest.a", "storetest.A", "storetest.a ", "storetest a", "storetest_a", "storetest.ä",
		"storetest.a.b", "storetest.😀", "storetest%2Ea", "storetest/a", "storetest.$a",
	}
	for i, name := range names {
		c := t.with(t.store.Collection(name))
		c.requireHolds()
		c.insert(document.O("_id", 1, "number", i))
	}
	for i, name := range names {
		t.with(t.store.Collection(name)).requireHolds(document.O("_id", 1, "number", i))
	}
	t.requireHolds()
}

func newCollectionReadsAsEmpty(t *trial) {
	t.requireHolds()
	count, err := t.Count(t.Context(), nil)
	require.NoError(t, err)
	require.Zero(t, count)
	removed, err := t.Delete(t.Context(), nil, store.DeleteOptions{Multi: true})
	require.NoError(t, err)
	require.Zero(t, removed)

	t.with(t.store.Collection("storetest")).insert(document.O("_id", 1))
	t.requireHolds(document.O("_id", 1))
}

func badCollectionNamesAreRefused(t *trial) {
	for _, name := range []string{"", "system.users", "nul\x00", "\xff\xfe", strings.Repeat("n", 201)} {
		for operation, err := range t.with(t.store.Collection(name)).answers(t.Context()) {
			t.requireCode(boterr.InvalidArgument, err, "%s in %q", operation, name)
		}
	}
}

func longCollectionNamesAreTaken(t *trial) {
	c := t.with(t.store.Collection("storetest" + strings.Repeat("é", 94)))
	c.insert(document.O("_id", 1))
	c.requireHolds(document.O("_id", 1))
}

func nowIsTheStoresClock(t *trial) {
	var last time.Time
	for range 3 {
		now, err := t.store.Now(t.Context())
		require.NoError(t, err)
		require.False(t, now.IsZero())
		require.False(t, now.Before(last), "%v after %v", now, last)
		last = now
	}
}
