package inboxtest_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/conformance"
	"github.com/botctx/go-sdk/internal/inbox/inboxtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

type broken struct {
	store.Store
	breaks func(store.Collection) store.Collection
}

func (b broken) Collection(name string) store.Collection { return b.breaks(b.Store.Collection(name)) }

// forgetful reports inserts of events that were already there as new.
type forgetful struct{ store.Collection }

func (f forgetful) Insert(ctx context.Context, documents ...document.Object) error {
	err := f.Collection.Insert(ctx, documents...)
	if boterr.CodeOf(err) == boterr.AlreadyExists {
		return nil
	}
	return err
}

// careless changes what a filter does not match.
type careless struct{ store.Collection }

func (c careless) Update(
	ctx context.Context, filter *query.Filter, change query.Change, options store.UpdateOptions,
) (store.UpdateResult, error) {
	id, _ := filter.Source().Field(document.IDField)
	byID, err := query.CompileFilter(document.O(document.IDField, id))
	if err != nil {
		return store.UpdateResult{}, err
	}
	return c.Collection.Update(ctx, byID, change, options)
}

// reversed returns the last first.
type reversed struct{ store.Collection }

func (r reversed) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	found, err := r.Collection.Find(ctx, filter, options)
	turned := make([]document.Object, len(found))
	for i, o := range found {
		turned[len(found)-1-i] = o
	}
	return turned, err
}

// violated returns the rules that are broken over a store.
func violated(t *testing.T, breaks func(store.Collection) store.Collection) []string {
	t.Helper()
	var names []string
	for _, rule := range inboxtest.Rules() {
		if rule.Name == "EachOnceByManyProcesses" {
			continue // It waits for what a broken store loses.
		}
		database := broken{memstore.New(), breaks}
		if !rule.Applies(database) {
			continue
		}
		if len(conformance.Violations(t.Context(), func(to conformance.T) { rule.Check(to, database) })) > 0 {
			names = append(names, rule.Name)
		}
	}
	return names
}

func TestRules_SeeBrokenStores(t *testing.T) {
	t.Parallel()
	require.Empty(t, violated(t, func(c store.Collection) store.Collection { return c }))
	require.Contains(t, violated(t, func(c store.Collection) store.Collection { return forgetful{c} }), "RepetitionIsNotHandled")
	require.Contains(t, violated(t, func(c store.Collection) store.Collection { return careless{c} }), "DiscardedDeadLetterIsGone")
	require.Contains(t, violated(t, func(c store.Collection) store.Collection { return reversed{c} }), "LaneInItsOrder")
}

func Example() {
	for _, rule := range inboxtest.Rules() {
		if rule.Name == "LaneInItsOrder" {
			_ = rule.Text // What a report of it quotes.
		}
	}
	// func TestInbox(t *testing.T) { inboxtest.RunInbox(t, newStore) } checks all of them.

	// Output:
}
