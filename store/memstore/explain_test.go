package memstore_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// keys makes an index of paths. The paths after a "-" are descending.
func keys(paths ...string) store.Index {
	var index store.Index
	for _, path := range paths {
		key := store.IndexKey{Path: path, Kind: query.Ascending}
		if path[0] == '-' {
			key = store.IndexKey{Path: path[1:], Kind: query.Descending}
		}
		index.Keys = append(index.Keys, key)
	}
	return index
}

// shelved returns a store with 100 books, and indexes of all kinds on them.
func shelved(t *testing.T) *memstore.Store {
	t.Helper()
	database := memstore.New()
	books := database.Collection("books")
	sparse := keys("lender")
	sparse.Sparse = true
	for _, index := range []store.Index{
		keys("shelf"), keys("shelf", "-year"), keys("year"), keys("tags"), keys("title", "-author"), sparse, keys("list.0"),
	} {
		require.NoError(t, books.EnsureIndex(t.Context(), index))
	}
	for i := range 100 {
		book := document.O("_id", i, "shelf", i%10, "year", 1900+i, "title", string(rune('a'+i%26))+"-title",
			"author", i%7, "tags", document.A(i%5, "t"))
		if i%20 == 0 {
			book.Set("lender", i)
		}
		require.NoError(t, books.Insert(t.Context(), book))
	}
	return database
}

// explain explains a search for books.
func explain(t *testing.T, books *memstore.Store, filter, sort document.Object, limit int64) store.Explanation {
	t.Helper()
	order, err := query.CompileSort(sort)
	require.NoError(t, err)
	options := store.FindOptions{Sort: order, Limit: limit}
	got, err := books.Explain(t.Context(), "books", sharedtest.FilterOf(t, filter), options)
	require.NoError(t, err)
	return got
}

// TestExplain_TellsTheIndex checks which index serves which filter and sort.
func TestExplain_TellsTheIndex(t *testing.T) {
	t.Parallel()
	database := shelved(t)
	none := store.Explanation{}
	o, a := document.O, document.A
	for _, test := range []struct {
		name         string
		filter, sort document.Object
		limit        int64
		want         store.Explanation
	}{
		{name: "nothing to look for", want: none},
		{name: "the _id", filter: o("_id", 7, "shelf", 7), want: store.Explanation{Index: "_id_", Bound: 1}},
		{
			name: "a list of _ids", filter: o("_id", o("$in", a(7, 8, "none")), "shelf", o("$lt", 8)),
			want: store.Explanation{Index: "_id_", Bound: 1},
		},
		{name: "a range of _ids", filter: o("_id", o("$gt", 7)), want: none},
		{name: "equality", filter: o("shelf", 3), want: store.Explanation{Index: "shelf_1", Bound: 1, Exact: true}},
		{
			name: "a condition beside it", filter: o("shelf", 3, "title", o("$ne", "x")),
			want: store.Explanation{Index: "shelf_1", Bound: 1},
		},
		{
			name: "two equalities", filter: o("shelf", 3, "year", 1913),
			want: store.Explanation{Index: "shelf_1_year_-1", Bound: 2, Exact: true},
		},
		{
			name: "in an $and", filter: o("$and", a(o("shelf", o("$eq", 3)), o("year", 1913))),
			want: store.Explanation{Index: "shelf_1_year_-1", Bound: 2, Exact: true},
		},
		{
			name: "a range", filter: o("year", o("$gte", 1910, "$lt", 1920)),
			want: store.Explanation{Index: "year_1", Bound: 1, Exact: true},
		},
		{
			name: "an equality and a range", filter: o("shelf", 3, "year", o("$gt", 1950)),
			want: store.Explanation{Index: "shelf_1_year_-1", Bound: 2, Exact: true},
		},
		{
			name: "more conditions on a key than are combined", filter: o("$and", a(slices.Repeat([]any{o("shelf", o("$gte", 3))}, 17)...)),
			want: store.Explanation{Index: "shelf_1", Bound: 1},
		},
		{name: "a list", filter: o("shelf", o("$in", a(1, 2))), want: store.Explanation{Index: "shelf_1", Bound: 1, Exact: true}},
		{
			name: "a list and a range", filter: o("shelf", o("$in", a(1, 2)), "year", o("$gt", 1950)),
			want: store.Explanation{Index: "shelf_1_year_-1", Bound: 2, Exact: true},
		},
		{
			name: "an $or on one path", filter: o("$or", a(o("shelf", 1), o("shelf", o("$gt", 8)))),
			want: store.Explanation{Index: "shelf_1", Bound: 1, Exact: true},
		},
		{name: "an $or on two paths", filter: o("$or", a(o("shelf", 1), o("author", 2))), want: none},
		{
			name: "the beginning of a text", filter: o("title", o("$regex", "^b-")),
			want: store.Explanation{Index: "title_1_author_-1", Bound: 1},
		},
		{name: "the middle of a text", filter: o("title", o("$regex", "b-")), want: none},
		{name: "null", filter: o("shelf", nil), want: store.Explanation{Index: "shelf_1", Bound: 1}},
		{name: "an element", filter: o("tags", "t"), want: store.Explanation{Index: "tags_1", Bound: 1, Exact: true}},
		{name: "a range of elements", filter: o("tags", o("$gt", 1, "$lt", 3)), want: store.Explanation{Index: "tags_1", Bound: 1}},
		{
			name: "one element for all conditions", filter: o("tags", o("$elemMatch", o("$gt", 1, "$lt", 3))),
			want: store.Explanation{Index: "tags_1", Bound: 1},
		},
		{name: "a whole array", filter: o("tags", a(1, "t")), want: none},
		{name: "what is not equal", filter: o("shelf", o("$ne", 3)), want: none},
		{name: "a second key alone", filter: o("author", 3), want: none},
		{name: "a sparse index", filter: o("lender", 40), want: store.Explanation{Index: "lender_1", Bound: 1, Exact: true}},
		{name: "null, which a sparse index lacks", filter: o("lender", nil), want: none},
		{name: "an index of elements", filter: o("list.0", 1), want: none},

		{name: "a sort", sort: o("year", -1), limit: 5, want: store.Explanation{Index: "year_1", Exact: true, Sorted: true}},
		{name: "a sort that a sparse index would shorten", sort: o("lender", 1), want: none},
		{
			name: "a sort behind an equality", filter: o("shelf", 3), sort: o("year", 1), limit: 1,
			want: store.Explanation{Index: "shelf_1_year_-1", Bound: 1, Exact: true, Sorted: true},
		},
		{
			name: "a sort of all keys", sort: o("title", -1, "author", 1), limit: 3,
			want: store.Explanation{Index: "title_1_author_-1", Exact: true, Sorted: true},
		},
		{name: "a sort in directions that the index lacks", sort: o("title", 1, "author", 1), want: none},
		{name: "a sort of the first key, whose ties are in the order of insertion", sort: o("title", 1), want: none},
		{name: "a sort by elements", sort: o("tags", 1), want: none},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := explain(t, database, test.filter, test.sort, test.limit)
			got.Examined, got.Returned = 0, 0
			require.Equal(t, test.want, got)
		})
	}
}

func TestExplain_CountsExamined(t *testing.T) {
	t.Parallel()
	database := shelved(t)
	for _, test := range []struct {
		name               string
		filter, sort       document.Object
		limit              int64
		examined, returned int64
	}{
		{name: "all", examined: 100, returned: 100},
		{name: "an index", filter: document.O("shelf", 3, "author", 3), examined: 10, returned: 2},
		{
			name: "a list of _ids", filter: document.O("_id", document.O("$in", document.A(7, 8, 9, 9.0, "none")), "shelf", document.O("$lt", 9)),
			examined: 3, returned: 2,
		},
		{name: "no index", filter: document.O("author", 3), examined: 100, returned: 14},
		{name: "a sort in the index ends at the limit", sort: document.O("year", -1), limit: 5, examined: 5, returned: 5},
		{name: "nothing can match", filter: document.O("year", document.O("$lt", 1, "$gt", 2))},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := explain(t, database, test.filter, test.sort, test.limit)
			require.Equal(t, test.examined, got.Examined, "examined")
			require.Equal(t, test.returned, got.Returned, "returned")
		})
	}
}

func TestExplain_RefusesLikeFind(t *testing.T) {
	t.Parallel()
	database := memstore.New()
	require.ErrorIs(t, failure(database.Explain(t.Context(), "", nil, store.FindOptions{})), boterr.InvalidArgument)
	require.ErrorIs(t, failure(database.Explain(t.Context(), "c", nil, store.FindOptions{Limit: -1})), boterr.InvalidArgument)
}

// A filter that fails on a document does not fail a search that ends before.
func TestExpr_FailsBeyondTheLimit(t *testing.T) {
	t.Parallel()
	c := memstore.New().Collection("ratios")
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 1, "n", 4), document.O("_id", 2, "n", 0)))
	atLeastTwo := sharedtest.Filter(t, "$expr", document.O("$gte", document.A(document.O("$divide", document.A(8, "$n")), 2)))
	require.Len(t, find(t, c, atLeastTwo, store.FindOptions{Limit: 1}), 1)
	require.ErrorIs(t, failure(c.Find(t.Context(), atLeastTwo, store.FindOptions{Limit: 2})), boterr.InvalidArgument)
}

func TestFilter_TimeOfTheStore(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_700_000_000_000).UTC()
	database := memstore.New(memstore.WithNow(func() time.Time { return now }))
	c := database.Collection("leases")
	require.NoError(t, c.EnsureIndex(t.Context(), store.Index{Keys: []store.IndexKey{{Path: "where", Kind: query.Geo2D}}}))
	require.NoError(t, c.Insert(t.Context(),
		document.O("_id", "old", "until", now.Add(-time.Minute), "where", document.A(0, 0)),
		document.O("_id", "new", "until", now.Add(time.Minute), "where", document.A(1, 1))))
	expired := document.O("$expr", document.O("$lt", document.A("$until", "$$NOW")))
	filter := sharedtest.FilterOf(t, expired)

	count := countOf(t, c, filter)
	require.Equal(t, int64(1), count)
	ids, err := c.Distinct(t.Context(), "_id", filter)
	require.NoError(t, err)
	require.Equal(t, []any{"old"}, ids)
	near, err := query.CompileGeoNear(document.O("near", document.A(0, 0), "key", "where", "query", expired))
	require.NoError(t, err)
	found, err := c.GeoNear(t.Context(), near)
	require.NoError(t, err)
	require.Len(t, found, 1)
	explained, err := database.Explain(t.Context(), "leases", filter, store.FindOptions{})
	require.NoError(t, err)
	require.Equal(t, int64(1), explained.Returned)
	update, err := query.CompileUpdate(document.Set("until", now.Add(time.Hour)))
	require.NoError(t, err)
	result, err := c.Update(t.Context(), filter, query.Change{Update: update}, store.UpdateOptions{Multi: true})
	require.NoError(t, err)
	require.Equal(t, int64(1), result.Matched)
	taken, err := c.FindAndModify(t.Context(), filter, query.Change{Update: update}, store.FindAndModifyOptions{})
	require.NoError(t, err)
	require.False(t, taken.Matched)
	removed, err := c.Delete(t.Context(), filter, store.DeleteOptions{Multi: true})
	require.NoError(t, err)
	require.Zero(t, removed)
}

// BenchmarkExpr counts 10,000 documents by expressions, and by the equivalent filter.
func BenchmarkExpr(b *testing.B) {
	_, c := filled(b, 10_000)
	for _, test := range []struct {
		name   string
		filter *query.Filter
	}{
		{"filter", sharedtest.Filter(b, "stars", document.O("$gt", 3))},
		{"comparison", sharedtest.Filter(b, "$expr", document.O("$gt", document.A("$stars", 3)))},
		{"two fields", sharedtest.Filter(b, "$expr", document.O("$lt", document.A("$stars", "$address.number")))},
		{"arithmetic", sharedtest.Filter(b, "$expr", document.O("$gt", document.A(document.O("$multiply", document.A("$stars", "$price")), 100)))},
		{"array", sharedtest.Filter(b, "$expr", document.O("$in", document.A("t3", "$tags")))},
		{"loop", sharedtest.Filter(b, "$expr", document.O("$gt", document.A(document.O("$size", document.O("$filter", document.O(
			"input", "$tags", "as", "tag", "cond", document.O("$eq", document.A("$$tag", "a"))))), 0)))},
	} {
		b.Run(test.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				count, err := c.Count(b.Context(), test.filter)
				if err != nil || count == 0 {
					b.Fatal(count, err)
				}
			}
		})
	}
}

func TestExpr_NarrowedByIndex(t *testing.T) {
	t.Parallel()
	database, c := filled(t, 200)
	require.NoError(t, c.EnsureIndex(t.Context(), store.Index{Keys: []store.IndexKey{{Path: "stars", Kind: query.Ascending}}}))
	narrowed := sharedtest.Filter(t, "stars", 3, "$expr", document.O("$gt", document.A("$address.number", 20)))
	explained, err := database.Explain(t.Context(), "entries", narrowed, store.FindOptions{})
	require.NoError(t, err)
	require.Equal(t, "stars_1", explained.Index)
	require.False(t, explained.Exact, "a document from the index need not meet the $expr")
	require.Equal(t, int64(40), explained.Examined)
	found := find(t, c, narrowed, store.FindOptions{})
	require.Len(t, found, 24)
	count := countOf(t, c, narrowed)
	require.Equal(t, int64(24), count)
}
