package memstore_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

func TestNow_GivenClock(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 5, 1, 12, 0, 0, 0, time.FixedZone("east", 3600))
	store := memstore.New(memstore.WithNow(func() time.Time { return at }))
	now, err := store.Now(t.Context())
	require.NoError(t, err)
	require.Equal(t, at.UTC(), now)
}

func TestDuplicateError_Names(t *testing.T) {
	t.Parallel()
	c := memstore.New().Collection("coupons")
	unique := store.Index{Unique: true, Keys: []store.IndexKey{
		{Path: "code", Kind: query.Ascending}, {Path: "shop.id", Kind: query.Descending},
	}}
	require.NoError(t, c.EnsureIndex(t.Context(), unique))
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 1, "code", "SPRING", "shop", document.O("id", 7))))

	err := c.Insert(t.Context(), document.O("_id", 2), document.O("_id", 3, "code", "SPRING", "shop", document.O("id", 7)))
	require.EqualError(t, err, `already exists: [1]: the collection "coupons" has a document with the key `+
		`{"code":"SPRING","shop.id":7} of the index code_1_shop.id_-1 already`)

	err = c.Insert(t.Context(), document.O("_id", 1))
	require.EqualError(t, err,
		`already exists: [0]._id: the collection "coupons" has a document with the key {"_id":1} of the index _id_ already`)

	for id, shown := range map[any]string{strings.Repeat("é", 1_000): `the key {"_id":"éé`, math.NaN(): "the key that has no JSON form"} {
		require.NoError(t, c.Insert(t.Context(), document.O("_id", id, "code", id)))
		err = c.Insert(t.Context(), document.O("_id", id))
		require.ErrorContains(t, err, shown)
		require.Less(t, len(err.Error()), 300)
	}
}

func TestUniqueIndex_OneElement(t *testing.T) {
	t.Parallel()
	c := memstore.New().Collection("c")
	require.NoError(t, c.EnsureIndex(t.Context(), store.Index{Keys: ascending("list.0"), Unique: true}))
	require.NoError(t, c.Insert(t.Context(),
		document.O("_id", 1, "list", document.A(1, 2)), document.O("_id", 2, "list", document.A(2, 1)),
		document.O("_id", 3, "list", document.O("0", 3)), document.O("_id", 4, "list", document.A()),
		document.O("_id", 5, "list", document.A(document.A(4, 5)))))
	for _, list := range []any{document.A(1), document.A(3, 9), document.A(document.A(4, 5)), nil} {
		require.ErrorIs(t, c.Insert(t.Context(), document.O("_id", 6, "list", list)), boterr.AlreadyExists, "%v", list)
	}
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 6, "list", document.A(5))), "the array in the array is one value")
}

func TestIndex_OneOfTwoParallelArrays(t *testing.T) {
	t.Parallel()
	c := memstore.New().Collection("c")
	require.NoError(t, c.EnsureIndex(t.Context(), store.Index{Keys: ascending("a", "b.c")}))
	list := document.A(1, 2)
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 1, "a", list), document.O("_id", 2, "b", document.O("c", list))))
	err := c.Insert(t.Context(), document.O("_id", 3, "a", list, "b", document.O("c", list)))
	require.EqualError(t, err, "invalid argument: [0].b.c: is an array beside the array a, "+
		"and a document can have only one of the two in an index of both")

	require.NoError(t, c.Insert(t.Context(), document.O("_id", 4, "a", 1, "b", document.A(document.O("c", 1)))))
}

func TestUniqueIndex_PathsThroughOneArray(t *testing.T) {
	t.Parallel()
	c := memstore.New().Collection("c")
	require.NoError(t, c.EnsureIndex(t.Context(), store.Index{Keys: ascending("rows.a", "rows.b"), Unique: true}))
	rows := func(pairs ...int) document.Array {
		list := document.A()
		for i := 0; i < len(pairs); i += 2 {
			list = list.Append(document.O("a", pairs[i], "b", pairs[i+1]))
		}
		return list
	}
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 1, "rows", rows(1, 2, 3, 4))))
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 2, "rows", rows(1, 4, 3, 2))), "no element has both values")
	require.ErrorIs(t, c.Insert(t.Context(), document.O("_id", 3, "rows", rows(9, 9, 3, 4))), boterr.AlreadyExists)
}

func TestGeoIndex_NotUnique(t *testing.T) {
	t.Parallel()
	keys := []store.IndexKey{{Path: "at", Kind: query.Geo2DSphere}}
	err := memstore.New().Collection("c").EnsureIndex(t.Context(), store.Index{Keys: keys, Unique: true})
	require.ErrorIs(t, err, boterr.Unsupported)
}

func TestGeoNear_FieldOfSeveralIndexes(t *testing.T) {
	t.Parallel()
	c := memstore.New().Collection("c")
	for _, path := range []string{"home", "work"} {
		keys := []store.IndexKey{{Path: path, Kind: query.Geo2D}, {Path: "kind", Kind: query.Ascending}}
		require.NoError(t, c.EnsureIndex(t.Context(), store.Index{Keys: keys}))
	}
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 1, "home", document.A(0, 0), "work", document.A(3, 4))))
	near := func(pairs ...any) ([]query.GeoResult, error) {
		query, err := query.CompileGeoNear(document.O(append(pairs, "near", document.A(0, 0))...))
		require.NoError(t, err)
		return c.GeoNear(t.Context(), query)
	}
	_, err := near()
	require.ErrorIs(t, err, boterr.InvalidArgument)
	results, err := near("key", "work")
	require.NoError(t, err)
	require.InDelta(t, 5, results[0].Distance, 1e-9)

	_, err = c.GeoNear(t.Context(), nil)
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

// endsLater is a context that ends after it was asked a number of times.
type endsLater struct {
	context.Context

	asked, left int
}

func (c *endsLater) Err() error {
	c.asked++
	if c.asked > c.left {
		return context.Canceled
	}
	return nil
}

// TestFind_CostlyFiltersYield asks for a few documents, of which each takes
// long.
func TestFind_CostlyFiltersYield(t *testing.T) {
	t.Parallel()
	_, c := filled(t, 20)
	for i := range 10 {
		require.NoError(t, c.Insert(t.Context(), document.O("_id", i, "name", strings.Repeat("b", 5_000))))
	}
	loop := document.O("$size", document.O("$map", document.O("input", document.O("$range", document.A(0, 10_000)), "in", 1)))
	for name, f := range map[string]*query.Filter{
		"an expression":   filter(t, "$expr", document.O("$gte", document.A(loop, 0))),
		"a large pattern": filter(t, "name", document.O("$regex", "(a?){500}")),
	} {
		_, err := c.Count(&endsLater{Context: t.Context(), left: 5}, f)
		require.ErrorIs(t, err, boterr.Canceled, name)
	}
}

func TestContext_EndsMidway(t *testing.T) {
	t.Parallel()
	_, c := filled(t, 3_000)
	change := change(t, "$inc", document.O("stars", 1))
	near, err := query.CompileGeoNear(document.O("near", document.A(0, 0), "key", "at"))
	require.NoError(t, err)
	for name, operation := range map[string]func(context.Context) error{
		"Find": func(ctx context.Context) error {
			_, err := c.Find(ctx, filter(t, "stars", 1), store.FindOptions{})
			return err
		},
		"Find with a sort": func(ctx context.Context) error {
			_, err := c.Find(ctx, nil, store.FindOptions{Sort: order(t, "stars", 1), Limit: 5})
			return err
		},
		"Count": func(ctx context.Context) error {
			_, err := c.Count(ctx, filter(t, "stars", 1))
			return err
		},
		"Distinct": func(ctx context.Context) error {
			_, err := c.Distinct(ctx, "stars", nil)
			return err
		},
		"GeoNear": func(ctx context.Context) error {
			_, err := c.GeoNear(ctx, near)
			return err
		},
		"Insert": func(ctx context.Context) error {
			documents := entries(6_000)[3_000:]
			return c.Insert(ctx, documents...)
		},
		"Update": func(ctx context.Context) error {
			_, err := c.Update(ctx, nil, change, store.UpdateOptions{Multi: true})
			return err
		},
		"FindAndModify": func(ctx context.Context) error {
			_, err := c.FindAndModify(ctx, nil, change, store.FindAndModifyOptions{Sort: order(t, "stars", -1)})
			return err
		},
		"Delete": func(ctx context.Context) error {
			_, err := c.Delete(ctx, nil, store.DeleteOptions{Multi: true})
			return err
		},
		"EnsureIndex": func(ctx context.Context) error {
			return c.EnsureIndex(ctx, store.Index{Keys: ascending("stars"), Sparse: true})
		},
	} {
		err := operation(&endsLater{Context: t.Context(), left: 4})
		require.ErrorIs(t, err, boterr.Canceled, name)
		require.ErrorIs(t, err, context.Canceled, name)
	}
	found, err := c.Find(t.Context(), nil, store.FindOptions{})
	require.NoError(t, err)
	require.Equal(t, texts(entries(3_000)), texts(found), "nothing was written")
	require.NoError(t, c.EnsureIndex(t.Context(), store.Index{Keys: ascending("stars")}), "no index was made")
}

func TestDocuments_LargestSize(t *testing.T) {
	t.Parallel()
	c := memstore.New().Collection("c")
	half := string(make([]byte, document.MaxSize/2))
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 1, "a", half)))
	require.ErrorIs(t, c.Insert(t.Context(), document.O("_id", 2, "a", half, "b", half)), boterr.InvalidArgument)

	_, err := c.Update(t.Context(), nil, change(t, "$set", document.O("b", half)), store.UpdateOptions{})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	found, err := c.Find(t.Context(), nil, store.FindOptions{})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, 2, found[0].Len())
}
