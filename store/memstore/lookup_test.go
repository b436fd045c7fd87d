package memstore_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// Each call of the store has a limit of allocations.
//
//nolint:paralleltest // The allocations of other tests would be counted.
func TestAllocations_OfLookUpsAndWrites(t *testing.T) {
	const runs = 200
	things := memstore.New().Collection("things")
	require.NoError(t, things.EnsureIndex(t.Context(), indexOf(false, query.Ascending, query.Ascending)))
	for i := range 100 {
		require.NoError(t, things.Insert(t.Context(), document.O("_id", strconv.Itoa(i), "a", "x", "b", i, "seats", 0)))
	}
	id, a := query.FieldValue{Name: "_id", Value: "7"}, query.FieldValue{Name: "a", Value: "x"}
	update, err := query.CompileUpdate(document.Inc("seats", 1))
	require.NoError(t, err)
	find := func(filter *query.Filter) func() error {
		return func() error {
			found, err := things.Find(t.Context(), filter, store.FindOptions{Limit: 1})
			if len(found) != 1 {
				t.Error("not found")
			}
			return err
		}
	}
	byID := query.FieldsEqual(id, a)
	for name, c := range map[string]struct {
		call func() error
		most float64
	}{
		"by id": {func() error {
			_, _, err := things.Get(t.Context(), "7")
			return err
		}, 0},
		"by id in a scope":   {find(byID), 2},
		"by an index's keys": {find(query.FieldsEqual(a, query.FieldValue{Name: "b", Value: int64(7)})), 2},
		"findAndModify by id": {func() error {
			return failure(things.FindAndModify(t.Context(), byID, query.Change{Update: update}, store.FindAndModifyOptions{}))
		}, 7},
	} {
		var failed error
		allocated := testing.AllocsPerRun(runs, func() {
			if err := c.call(); err != nil {
				failed = err
			}
		})
		require.NoError(t, failed, name)
		require.LessOrEqual(t, allocated, c.most, name)
	}
}

func TestFind_ByFieldsFindsWhatTheirQueryDocumentFinds(t *testing.T) {
	t.Parallel()
	values := []any{nil, true, int64(1), 1.0, 1.5, "", "a", "a\x00b", "\xc3\xbf", int64(1) << 60}
	arrays := append([]any{document.A("a", 1), document.A()}, values...)
	for name, c := range map[string]struct {
		index  store.Index
		values []any
	}{
		"no index":       {store.Index{}, values},
		"of both":        {indexOf(false, query.Ascending, query.Ascending), values},
		"the other way":  {indexOf(false, query.Ascending, query.Descending), values},
		"sparse":         {indexOf(true, query.Descending, query.Ascending), values},
		"of one of them": {indexOf(false, query.Descending), values},
		"with arrays":    {indexOf(false, query.Ascending), arrays},
		"sparse of one":  {indexOf(true, query.Ascending), values},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compareFields(t, c.index, c.values)
		})
	}
}

func TestFind_ByIDAndFieldsFindsWhatTheirQueryDocumentFinds(t *testing.T) {
	t.Parallel()
	values := []any{nil, true, int64(1), 1.0, "a", document.A("a", 1), document.A(), document.O("a", 1)}
	things := memstore.New().Collection("things")
	ids := []any{int64(0), 0.5, "x", true, document.O("a", 1)}
	for i, id := range ids {
		require.NoError(t, things.Insert(t.Context(), document.O("_id", id, "a", values[i], "b", values[i+3])))
	}
	for _, id := range append(ids, 0.0, "y", nil) {
		for _, a := range values {
			source := document.O("$and", document.A(document.O("_id", id), document.O("a", a)))
			requireSame(t, things, query.FieldsEqual(query.FieldValue{Name: "_id", Value: id}, query.FieldValue{Name: "a", Value: a}), source)
		}
	}
}

// indexOf returns an index of the fields a and b, or only of a.
func indexOf(isSparse bool, kinds ...query.IndexKind) store.Index {
	index := store.Index{Sparse: isSparse}
	for i, kind := range kinds {
		index.Keys = append(index.Keys, store.IndexKey{Path: []string{"a", "b"}[i], Kind: kind})
	}
	return index
}

// compareFields fills a collection, and looks up all pairs of values by a filter of fields and by a query
// document.
func compareFields(t *testing.T, index store.Index, values []any) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	things := memstore.New().Collection("things")
	if len(index.Keys) > 0 {
		require.NoError(t, things.EnsureIndex(t.Context(), index))
	}
	for i := range 300 {
		o := document.O("_id", i)
		for _, field := range []string{"a", "b"} {
			if at := random.IntN(len(values) + 1); at < len(values) {
				o = o.With(field, values[at])
			}
		}
		require.NoError(t, things.Insert(t.Context(), o))
	}
	for _, a := range values {
		if _, isArray := a.(document.Array); isArray {
			continue // No scalar.
		}
		requireSame(t, things, query.FieldsEqual(query.FieldValue{Name: "a", Value: a}), document.O("a", a))
		for _, b := range values {
			if _, isArray := b.(document.Array); !isArray {
				both := query.FieldsEqual(query.FieldValue{Name: "a", Value: a}, query.FieldValue{Name: "b", Value: b})
				requireSame(t, things, both, document.O("a", a, "b", b))
			}
		}
	}
}

// requireSame checks that a filter and a query document find the same documents.
func requireSame(t *testing.T, things store.Collection, filter *query.Filter, source document.Object) {
	t.Helper()
	compiled := sharedtest.FilterOf(t, source)
	inOrder := sharedtest.Sort(t, "_id", 1)
	wanted := find(t, things, compiled, store.FindOptions{Sort: inOrder})
	for _, limit := range []int64{0, 1, 2, 1000} {
		found := find(t, things, filter, store.FindOptions{Limit: limit})
		if limit == 0 || limit > int64(len(wanted)) {
			limit = int64(len(wanted))
		}
		require.Equal(t, texts(wanted[:limit]), texts(found), "%s", source)
	}
	count := countOf(t, things, filter)
	require.EqualValues(t, len(wanted), count, "%s", source)
}

func TestSnapshot_DocumentsAreThoseOfItsMoment(t *testing.T) {
	t.Parallel()
	s := memstore.New()
	for _, id := range []string{"b", "a", "c"} {
		require.NoError(t, s.Collection("letters").Insert(t.Context(), document.O("_id", id)))
	}
	require.NoError(t, s.Collection("digits").Insert(t.Context(), document.O("_id", 1)))
	taken := s.Snapshot()
	require.NoError(t, s.Collection("letters").Insert(t.Context(), document.O("_id", "d")))
	require.NoError(t, s.Collection("more").Insert(t.Context(), document.O("_id", "d")))

	require.Equal(t, []string{"digits", "letters"}, taken.Collections())
	var ids []string
	for one := range taken.Documents("letters") {
		ids = append(ids, document.Get(one, "_id", ""))
	}
	require.Equal(t, []string{"b", "a", "c"}, ids)
	for one := range taken.Documents("letters") {
		require.Equal(t, "b", document.Get(one, "_id", ""))
		break
	}
	require.Empty(t, slices.Collect(taken.Documents("more")))
	require.Empty(t, memstore.Snapshot{}.Collections())
}

func TestIndex_NameLikeAnIndex(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"-1", "+1", "01"} {
		path := "a." + name
		c := memstore.New().Collection("c")
		require.NoError(t, c.EnsureIndex(t.Context(), store.Index{Keys: ascending(path)}))
		require.NoError(t, c.Insert(t.Context(),
			document.O("_id", 1, "a", document.A(document.O(name, 5), 7)), document.O("_id", 2, "a", document.A(5, 5))))
		found := find(t, c, sharedtest.Filter(t, path, 5), store.FindOptions{})
		require.Len(t, found, 1, name)
		count := countOf(t, c, sharedtest.Filter(t, path, 7))
		require.Zero(t, count, name)
	}
}

func TestIndex_ElemMatchInNestedArray(t *testing.T) {
	t.Parallel()
	plain, indexed := memstore.New().Collection("c"), memstore.New().Collection("c")
	require.NoError(t, indexed.EnsureIndex(t.Context(), store.Index{Keys: ascending("a.b")}))
	nested := document.A(document.A(document.O("b", 5), 7))
	for source, want := range map[string]int64{
		`{"b":5}`: 0, `{"b":null}`: 1, `{"b":{"$ne":5}}`: 1, `{"0.b":5}`: 1, `{"1":7}`: 1, `{"$elemMatch":{"b":5}}`: 1,
	} {
		for _, c := range []store.Collection{plain, indexed} {
			require.NoError(t, failure(c.Delete(t.Context(), nil, store.DeleteOptions{})))
			require.NoError(t, c.Insert(t.Context(), document.O("_id", 1, "a", nested)))
			inner, err := document.ParseJSON([]byte(source))
			require.NoError(t, err)
			count := countOf(t, c, sharedtest.Filter(t, "a", document.O("$elemMatch", inner)))
			require.Equal(t, want, count, source)
		}
	}
}

// TestIndex_ListsAtTwoKeys filters by lists of values at both keys of an index. There are more pairs of
// values than ranges that a plan may have, so the index serves only the first list.
func TestIndex_ListsAtTwoKeys(t *testing.T) {
	t.Parallel()
	database := memstore.New()
	c := database.Collection("c")
	require.NoError(t, c.EnsureIndex(t.Context(), keys("a", "b")))
	for i := range 100 {
		require.NoError(t, c.Insert(t.Context(), document.O("_id", i, "a", i%50, "b", i)))
	}
	var list []any
	for i := range 20 {
		list = append(list, i)
	}
	both := document.O("$in", document.A(list...))
	f := sharedtest.Filter(t, "a", both, "b", both)
	found := find(t, c, f, store.FindOptions{})
	require.Len(t, found, 20)
	count := countOf(t, c, f)
	require.EqualValues(t, 20, count)
	plan, err := database.Explain(t.Context(), "c", f, store.FindOptions{})
	require.NoError(t, err)
	require.Equal(t, store.Explanation{Index: "a_1_b_1", Bound: 1, Examined: 40, Returned: 20}, plan)
}
