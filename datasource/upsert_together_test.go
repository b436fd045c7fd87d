package datasource_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// upsertAll upserts elements in one call.
func upsertAll(ctx context.Context, s *datasource.Service, elements ...document.Object) (datasource.UpsertOutcome, error) {
	done, err := s.UpsertDataToDataSource(ctx, datasource.UpsertDataToDataSourceParams{DataSourceID: table, Data: elements})
	return done.Result, err
}

// withCodes returns a service whose entries have a "code" that no two share.
func withCodes(t *testing.T) *datasource.Service {
	t.Helper()
	database := memstore.New()
	require.NoError(t, datasource.EnsureIndex(t.Context(), database, "app", table, store.Index{
		Keys: []store.IndexKey{{Path: "code", Kind: query.Ascending}}, Unique: true, Sparse: true,
	}))
	return datasource.New(record.Env{Store: database}, record.Scope{App: "app"})
}

// contents shows the entries in their order, with "new" for an _id that the store gave, and without times.
func contents(t *testing.T, s *datasource.Service) (shown []string) {
	t.Helper()
	found, err := s.FetchDataFromDataSource(t.Context(), datasource.FetchDataFromDataSourceParams{DataSourceID: table})
	require.NoError(t, err)
	for _, o := range found.Entries {
		if _, isGiven := o.Value(record.FieldID).(int64); !isGiven {
			o = o.With(record.FieldID, "new")
		}
		shown = append(shown, o.Without(record.FieldCreatedAt).Without(record.FieldUpdatedAt).String())
	}
	return shown
}

// Elements that are inserted together end as if each had a call of its own, up to the first that is refused.
func TestUpsertData_TogetherAsOneByOne(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		together, apart := withCodes(t), withCodes(t)
		for range 3 {
			var elements []document.Object
			for _, id := range random.Perm(12)[:1+random.IntN(11)] {
				element := document.O("n", random.IntN(3))
				if random.IntN(3) > 0 {
					element = element.With(record.FieldID, id)
				}
				if random.IntN(4) == 0 {
					element = element.With("code", random.IntN(30))
				}
				elements = append(elements, element)
			}
			got, refused := upsertAll(t.Context(), together, elements...)
			var want datasource.UpsertOutcome
			for i, element := range elements {
				one, err := upsertAll(t.Context(), apart, element)
				if err != nil {
					require.Error(t, refused, "seed %d: element %d alone: %v", seed, i, err)
					require.Equal(t, boterr.CodeOf(err), boterr.CodeOf(refused), "seed %d", seed)
					require.Equal(t, strings.Replace(err.Error(), "data[0]", fmt.Sprintf("data[%d]", i), 1), refused.Error(), "seed %d", seed)
					want = datasource.UpsertOutcome{}
					break
				}
				want.Matched, want.Modified, want.Inserted = want.Matched+one.Matched, want.Modified+one.Modified, want.Inserted+one.Inserted
				want.DocsIDs.Updated = append(want.DocsIDs.Updated, one.DocsIDs.Updated...)
				want.DocsIDs.Upserted = append(want.DocsIDs.Upserted, one.DocsIDs.Upserted...)
				want.DocsIDs.Inserted = append(want.DocsIDs.Inserted, one.DocsIDs.Inserted...)
			}
			require.Equal(t, contents(t, apart), contents(t, together), "seed %d", seed)
			if refused != nil {
				continue
			}
			require.Len(t, got.DocsIDs.Inserted, len(want.DocsIDs.Inserted), "seed %d", seed)
			require.ElementsMatch(t, want.DocsIDs.Upserted, got.DocsIDs.Upserted, "seed %d", seed)
			require.ElementsMatch(t, want.DocsIDs.Updated, got.DocsIDs.Updated, "seed %d", seed)
			got.DocsIDs, want.DocsIDs = datasource.UpsertedIDs{}, datasource.UpsertedIDs{}
			require.Equal(t, want, got, "seed %d", seed)
		}
	}
}

// Of several calls at once that bring the same elements, each element is inserted by one of them, and updated by
// the others.
func TestUpsertData_SameElementsAtOnce(t *testing.T) {
	t.Parallel()
	const calls, count = 8, 40
	s := withCodes(t)
	var inserted, matched atomic.Int64
	var all sync.WaitGroup
	for range calls {
		all.Go(func() {
			elements := make([]document.Object, count)
			for i := range elements {
				elements[i] = document.O(record.FieldID, i, "n", 1)
			}
			done, err := upsertAll(t.Context(), s, elements...)
			if err == nil {
				inserted.Add(done.Inserted)
				matched.Add(done.Matched)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, count, inserted.Load())
	require.EqualValues(t, (calls-1)*count, matched.Load())
	require.Len(t, contents(t, s), count)
}

// countedStore counts the calls of its collections, and fails inserts with an error where it has one.
type countedStore struct {
	store.Store

	calls  atomic.Int64
	refuse error
}

func (s *countedStore) Collection(name string) store.Collection {
	return countedCollection{s.Store.Collection(name), s}
}

type countedCollection struct {
	store.Collection

	of *countedStore
}

func (c countedCollection) Distinct(ctx context.Context, path string, filter *query.Filter) ([]any, error) {
	c.of.calls.Add(1)
	return c.Collection.Distinct(ctx, path, filter)
}

func (c countedCollection) Insert(ctx context.Context, documents ...document.Object) error {
	c.of.calls.Add(1)
	if c.of.refuse != nil {
		return c.of.refuse
	}
	return c.Collection.Insert(ctx, documents...)
}

func (c countedCollection) Update(ctx context.Context, filter *query.Filter, change query.Change, options store.UpdateOptions) (store.UpdateResult, error) {
	c.of.calls.Add(1)
	return c.Collection.Update(ctx, filter, change, options)
}

func TestUpsertData_ManyNewOnesTakeTwoCallsOfTheStore(t *testing.T) {
	t.Parallel()
	counted := &countedStore{Store: memstore.New()}
	s := datasource.New(record.Env{Store: counted}, record.Scope{App: "app"})
	elements := make([]document.Object, 1_000)
	for i := range elements {
		elements[i] = document.O(record.FieldID, i, "n", 1)
	}
	done, err := upsertAll(t.Context(), s, elements...)
	require.NoError(t, err)
	require.EqualValues(t, len(elements), done.Inserted)
	require.EqualValues(t, 2, counted.calls.Load(), "a look at all, and one insert")
}

// Where it is not known what a store has kept, nothing is tried again: elements without an _id would come twice.
func TestUpsertData_StoreFailsAmongMany(t *testing.T) {
	t.Parallel()
	counted := &countedStore{Store: memstore.New(), refuse: boterr.New(boterr.Unavailable, "", "%w", errors.New("the line is cut"))}
	s := datasource.New(record.Env{Store: counted}, record.Scope{App: "app"})
	_, err := upsertAll(t.Context(), s, document.O("n", 1), document.O("n", 2), document.O("n", 3))
	require.ErrorIs(t, err, boterr.Unavailable)
	require.ErrorContains(t, err, "data[0]")
	require.EqualValues(t, 1, counted.calls.Load())
}
