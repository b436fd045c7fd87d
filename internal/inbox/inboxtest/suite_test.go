package inboxtest_test

import (
	"context"
	"slices"
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

// forgetful reports no error if an inserted document already exists.
type forgetful struct{ store.Collection }

func (f forgetful) Insert(ctx context.Context, documents ...document.Object) error {
	err := f.Collection.Insert(ctx, documents...)
	if boterr.CodeOf(err) == boterr.AlreadyExists {
		return nil
	}
	return err
}

// careless updates the document with an id even if it does not match the rest of the filter.
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

// reversed returns the found documents in reverse order.
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

// Some rules must pass over a store that works, and fail over a store that breaks them. Package inbox tests that all
// rules pass.
func TestRules_SeeBrokenStores(t *testing.T) {
	t.Parallel()
	works := func(c store.Collection) store.Collection { return c }
	for name, breaks := range map[string]func(store.Collection) store.Collection{
		"RepetitionIsNotHandled":    func(c store.Collection) store.Collection { return forgetful{c} },
		"DiscardedDeadLetterIsGone": func(c store.Collection) store.Collection { return careless{c} },
		"LaneInItsOrder":            func(c store.Collection) store.Collection { return reversed{c} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := slices.IndexFunc(inboxtest.Rules(), func(r inboxtest.Rule) bool { return r.Name == name })
			require.GreaterOrEqual(t, at, 0)
			check := func(breaks func(store.Collection) store.Collection) []string {
				return conformance.Violations(t.Context(), func(to conformance.T) {
					inboxtest.Rules()[at].Check(to, broken{memstore.New(), breaks})
				})
			}
			require.Empty(t, check(works))
			require.NotEmpty(t, check(breaks))
		})
	}
}

func Example() {
	for _, rule := range inboxtest.Rules() {
		if rule.Name == "LaneInItsOrder" {
			_ = rule.Text // the text that failures quote
		}
	}
	// func TestInbox(t *testing.T) { inboxtest.RunInbox(t, inboxtest.Outcomes, newStore) } checks all of them.

	// Output:
}
