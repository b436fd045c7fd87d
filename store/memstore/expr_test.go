package memstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

func TestExpr_FailsTheWholeOperation(t *testing.T) {
	t.Parallel()
	c := memstore.New().Collection("ratios")
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 1, "n", 4), document.O("_id", 2, "n", 0)))
	filter, err := query.CompileFilter(document.O("$expr",
		document.O("$gte", document.A(document.O("$divide", document.A(8, "$n")), 2))))
	require.NoError(t, err)
	update, err := query.CompileUpdate(document.Set("seen", true))
	require.NoError(t, err)
	change := query.Change{Update: update}

	_, err = c.Find(t.Context(), filter, store.FindOptions{})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = c.Count(t.Context(), filter)
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = c.Distinct(t.Context(), "n", filter)
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = c.Update(t.Context(), filter, change, store.UpdateOptions{Multi: true})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = c.Delete(t.Context(), filter, store.DeleteOptions{Multi: true})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	docs, err := c.Find(t.Context(), nil, store.FindOptions{})
	require.NoError(t, err)
	require.Equal(t, []document.Object{document.O("_id", 1, "n", 4), document.O("_id", 2, "n", 0)}, docs)

	found, err := c.Find(t.Context(), filter, store.FindOptions{Limit: 1})
	require.NoError(t, err, "the document on which it fails is not reached")
	require.Len(t, found, 1)
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
	filter, err := query.CompileFilter(expired)
	require.NoError(t, err)

	count, err := c.Count(t.Context(), filter)
	require.NoError(t, err)
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

// BenchmarkExpr counts 10,000 documents by expressions, beside the filter that says the
// same.
func BenchmarkExpr(b *testing.B) {
	_, c := filled(b, 10_000)
	for _, test := range []struct {
		name   string
		filter *query.Filter
	}{
		{"filter", filter(b, "stars", document.O("$gt", 3))},
		{"comparison", filter(b, "$expr", document.O("$gt", document.A("$stars", 3)))},
		{"two fields", filter(b, "$expr", document.O("$lt", document.A("$stars", "$address.number")))},
		{"arithmetic", filter(b, "$expr", document.O("$gt", document.A(document.O("$multiply", document.A("$stars", "$price")), 100)))},
		{"array", filter(b, "$expr", document.O("$in", document.A("t3", "$tags")))},
		{"loop", filter(b, "$expr", document.O("$gt", document.A(document.O("$size", document.O("$filter", document.O(
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
	narrowed, err := query.CompileFilter(document.O("stars", 3, "$expr", document.O("$gt", document.A("$address.number", 20))))
	require.NoError(t, err)
	explained, err := database.Explain(t.Context(), "entries", narrowed, store.FindOptions{})
	require.NoError(t, err)
	require.Equal(t, "stars_1", explained.Index)
	require.False(t, explained.Exact, "what the index finds need not meet the $expr")
	require.Equal(t, int64(40), explained.Examined)
	found, err := c.Find(t.Context(), narrowed, store.FindOptions{})
	require.NoError(t, err)
	require.Len(t, found, 24)
	count, err := c.Count(t.Context(), narrowed)
	require.NoError(t, err)
	require.Equal(t, int64(24), count)
}
