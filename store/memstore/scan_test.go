package memstore_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// randomSource makes small documents, filters and sorts from few different values, so that many match and
// many are equal.
type randomSource struct{ *rand.Rand }

func (r randomSource) scalar() any {
	switch r.IntN(8) {
	case 0:
		return nil
	case 1:
		return float64(r.IntN(4)) + 0.5
	case 2:
		return string(rune('a' + r.IntN(3)))
	case 3:
		return r.IntN(2) == 0
	case 4:
		return []any{math.NaN(), math.Inf(1), math.Inf(-1), float64(1)}[r.IntN(4)]
	default:
		return r.IntN(4)
	}
}

func (r randomSource) value(depth int) any {
	kind := r.IntN(8)
	switch {
	case depth > 0 && kind == 0:
		return r.object(depth - 1)
	case depth > 0 && kind == 1:
		items := make([]any, r.IntN(3))
		for i := range items {
			items[i] = r.value(depth - 1)
		}
		return document.A(items...)
	default:
		return r.scalar()
	}
}

func (r randomSource) name() string { return string(rune('a' + r.IntN(3))) }

func (r randomSource) object(depth int) document.Object {
	o := document.O()
	for range r.IntN(4) {
		o = o.With(r.name(), r.value(depth))
	}
	return o
}

func (r randomSource) path() string {
	if r.IntN(3) == 0 {
		return r.name() + "." + r.name()
	}
	return r.name()
}

func (r randomSource) condition() any {
	o, a := document.O, document.A
	switch r.IntN(12) {
	case 0:
		return o("$in", a(r.scalar(), r.scalar(), []any{r.scalar(), r.pattern()}[r.IntN(2)]))
	case 1:
		return o("$elemMatch", o(r.order(), r.scalar(), r.order(), r.scalar()))
	case 2:
		return o("$elemMatch", o(r.name(), r.scalar()))
	case 3:
		return o("$ne", r.scalar())
	case 4:
		return r.pattern()
	case 5, 6, 7:
		return o(r.order(), r.scalar())
	case 8:
		return o(r.order(), r.value(1), r.order(), r.scalar())
	default:
		return r.value(1)
	}
}

func (r randomSource) pattern() document.Object {
	return document.O("$regex", "^"+string(rune('a'+r.IntN(3))))
}

func (r randomSource) order() string { return []string{"$gt", "$gte", "$lt", "$lte", "$eq"}[r.IntN(5)] }

func (r randomSource) filter() document.Object {
	f := document.O()
	for range r.IntN(3) {
		f = f.With(r.path(), r.condition())
	}
	if r.IntN(4) == 0 {
		f = f.With("$or", document.A(document.O(r.path(), r.condition()), document.O(r.path(), r.condition())))
	}
	return f
}

func (r randomSource) sort() document.Object {
	s := document.O()
	for range r.IntN(3) {
		s = s.With(r.path(), 1-2*r.IntN(2))
	}
	return s
}

// TestIndex_FindsWhatScanFinds compares a collection with indexes with one that has none: over the same
// documents, the same filters must give the same results in the same order.
func TestIndex_FindsWhatScanFinds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(rounds.Of(t, 4, 80)) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			r := randomSource{rand.New(rand.NewPCG(seed, 1))}
			database := memstore.New()
			scanned, indexed := database.Collection("scanned"), database.Collection("indexed")
			for range r.IntN(4) + 1 {
				index := keys([]string{"a", "b", "-c", "a.b", "-b.a"}[r.IntN(5)])
				if r.IntN(2) == 0 {
					index.Keys = keys([]string{"a", "b"}[r.IntN(2)], []string{"-c", "c.a", "-c.b"}[r.IntN(3)]).Keys
				}
				index.Sparse = r.IntN(4) == 0
				_ = indexed.EnsureIndex(t.Context(), index) // The same keys may appear twice with other options.
			}
			for id := range 60 {
				o := document.O("_id", id)
				for key, value := range r.object(2 * (int(seed) % 2)).All() { // With even seeds, there are no arrays.
					o = o.With(key, value)
				}
				if indexed.Insert(t.Context(), o) == nil { // Two arrays in one index are refused.
					require.NoError(t, scanned.Insert(t.Context(), o))
				}
			}
			compareReads(t, r, scanned, indexed)
			change := change(t, "$set", document.O("a", r.scalar()))
			for _, c := range []store.Collection{scanned, indexed} {
				require.NoError(t, failure(c.Update(t.Context(), filter(t, "b", document.O("$gte", 1)), change, store.UpdateOptions{Multi: true})))
				require.NoError(t, failure(c.Delete(t.Context(), filter(t, "a", 2), store.DeleteOptions{Multi: true})))
			}
			compareReads(t, r, scanned, indexed)
		})
	}
}

// compareReads compares the results of random filters and sorts in two collections.
func compareReads(t *testing.T, r randomSource, scanned, indexed store.Collection) {
	t.Helper()
	for range 150 {
		source, order := r.filter(), r.sort()
		f, err := query.CompileFilter(source)
		require.NoError(t, err)
		s, err := query.CompileSort(order)
		require.NoError(t, err)
		options := store.FindOptions{Sort: s, Skip: int64(r.IntN(3)), Limit: int64(r.IntN(6))}
		want, err := scanned.Find(t.Context(), f, options)
		got, gotErr := indexed.Find(t.Context(), f, options)
		require.Equal(t, err, gotErr, "filter %s sort %s", source, order) // A sort by two arrays is refused.
		require.Equal(t, texts(want), texts(got), "filter %s sort %s %+v", source, order, options)
		all := find(t, scanned, nil, store.FindOptions{})
		wantCount := int64(0)
		for _, o := range all {
			if f.Match(o) {
				wantCount++
			}
		}
		scannedCount := countOf(t, scanned, f)
		require.Equal(t, wantCount, scannedCount, "count of %s without an index", source)
		gotCount := countOf(t, indexed, f)
		require.Equal(t, wantCount, gotCount, "count of %s", source)
	}
}

func TestIndex_NameLikeAnIndex(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"-1", "+1", "01"} {
		path := "a." + name
		c := memstore.New().Collection("c")
		require.NoError(t, c.EnsureIndex(t.Context(), store.Index{Keys: ascending(path)}))
		require.NoError(t, c.Insert(t.Context(),
			document.O("_id", 1, "a", document.A(document.O(name, 5), 7)), document.O("_id", 2, "a", document.A(5, 5))))
		found := find(t, c, filter(t, path, 5), store.FindOptions{})
		require.Len(t, found, 1, name)
		count := countOf(t, c, filter(t, path, 7))
		require.Zero(t, count, name)
	}
}

func TestIndex_ElemMatchInNestedArray(t *testing.T) {
	t.Parallel()
	plain, indexed := memstore.New().Collection("c"), memstore.New().Collection("c")
	require.NoError(t, indexed.EnsureIndex(t.Context(), store.Index{Keys: ascending("a.b")}))
	nested := document.A(document.A(document.O("b", 5), 7))
	for query, want := range map[string]int64{
		`{"b":5}`: 0, `{"b":null}`: 1, `{"b":{"$ne":5}}`: 1, `{"0.b":5}`: 1, `{"1":7}`: 1, `{"$elemMatch":{"b":5}}`: 1,
	} {
		for _, c := range []store.Collection{plain, indexed} {
			require.NoError(t, failure(c.Delete(t.Context(), nil, store.DeleteOptions{})))
			require.NoError(t, c.Insert(t.Context(), document.O("_id", 1, "a", nested)))
			inner, err := document.ParseJSON([]byte(query))
			require.NoError(t, err)
			count := countOf(t, c, filter(t, "a", document.O("$elemMatch", inner)))
			require.Equal(t, want, count, query)
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
	f := filter(t, "a", both, "b", both)
	found := find(t, c, f, store.FindOptions{})
	require.Len(t, found, 20)
	count := countOf(t, c, f)
	require.EqualValues(t, 20, count)
	plan, err := database.Explain(t.Context(), "c", f, store.FindOptions{})
	require.NoError(t, err)
	require.Equal(t, store.Explanation{Index: "a_1_b_1", Bound: 1, Examined: 40, Returned: 20}, plan)
}
