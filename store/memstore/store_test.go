package memstore_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	engine "github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
	"github.com/botctx/go-sdk/store/storetest"
)

func TestNow_GivenClock(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 5, 1, 12, 0, 0, 0, time.FixedZone("east", 3600))
	now, err := memstore.New(memstore.WithNow(func() time.Time { return at })).Now(t.Context())
	require.NoError(t, err)
	require.Equal(t, at.UTC(), now)
	now, err = memstore.New(nil, memstore.WithNow(nil)).Now(t.Context())
	require.NoError(t, err)
	require.False(t, now.IsZero())
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
	require.EqualError(t, err, "invalid argument: [0].b.c: and a are both arrays; "+
		"in an index of both, only one of them can be an array")

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
	require.ErrorIs(t, failure(near()), boterr.InvalidArgument)
	results, err := near("key", "work")
	require.NoError(t, err)
	require.InDelta(t, 5, results[0].Distance, 1e-9)

	require.ErrorIs(t, failure(c.GeoNear(t.Context(), nil)), boterr.InvalidArgument)
}

// endsLater is a context that ends after a number of checks.
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

// TestFind_CostlyFiltersYield finds a few documents by a filter that is slow on each.
func TestFind_CostlyFiltersYield(t *testing.T) {
	t.Parallel()
	_, c := filled(t, 20)
	for i := range 10 {
		require.NoError(t, c.Insert(t.Context(), document.O("_id", i, "name", strings.Repeat("b", 5_000))))
	}
	loop := document.O("$size", document.O("$map", document.O("input", document.O("$range", document.A(0, 10_000)), "in", 1)))
	for name, f := range map[string]*query.Filter{
		"an expression":   sharedtest.Filter(t, "$expr", document.O("$gte", document.A(loop, 0))),
		"a large pattern": sharedtest.Filter(t, "name", document.O("$regex", "(a?){500}")),
	} {
		require.ErrorIs(t, failure(c.Count(&endsLater{Context: t.Context(), left: 5}, f)), boterr.Canceled, name)
	}
}

func TestContext_EndsMidway(t *testing.T) {
	t.Parallel()
	_, c := filled(t, 3_000)
	change := sharedtest.Change(t, "$inc", document.O("stars", 1))
	near, err := query.CompileGeoNear(document.O("near", document.A(0, 0), "key", "at"))
	require.NoError(t, err)
	for name, operation := range map[string]func(context.Context) error{
		"Find": func(ctx context.Context) error {
			return failure(c.Find(ctx, sharedtest.Filter(t, "stars", 1), store.FindOptions{}))
		},
		"Find with a sort": func(ctx context.Context) error {
			return failure(c.Find(ctx, nil, store.FindOptions{Sort: sharedtest.Sort(t, "stars", 1), Limit: 5}))
		},
		"Count":    func(ctx context.Context) error { return failure(c.Count(ctx, sharedtest.Filter(t, "stars", 1))) },
		"Distinct": func(ctx context.Context) error { return failure(c.Distinct(ctx, "stars", nil)) },
		"GeoNear":  func(ctx context.Context) error { return failure(c.GeoNear(ctx, near)) },
		"Insert": func(ctx context.Context) error {
			documents := entries(6_000)[3_000:]
			return c.Insert(ctx, documents...)
		},
		"Update": func(ctx context.Context) error {
			return failure(c.Update(ctx, nil, change, store.UpdateOptions{Multi: true}))
		},
		"FindAndModify": func(ctx context.Context) error {
			return failure(c.FindAndModify(ctx, nil, change, store.FindAndModifyOptions{Sort: sharedtest.Sort(t, "stars", -1)}))
		},
		"Delete": func(ctx context.Context) error { return failure(c.Delete(ctx, nil, store.DeleteOptions{Multi: true})) },
		"EnsureIndex": func(ctx context.Context) error {
			return c.EnsureIndex(ctx, store.Index{Keys: ascending("stars"), Sparse: true})
		},
	} {
		err := operation(&endsLater{Context: t.Context(), left: 4})
		require.ErrorIs(t, err, boterr.Canceled, name)
		require.ErrorIs(t, err, context.Canceled, name)
	}
	found := find(t, c, nil, store.FindOptions{})
	require.Equal(t, texts(entries(3_000)), texts(found), "nothing was written")
	require.NoError(t, c.EnsureIndex(t.Context(), store.Index{Keys: ascending("stars")}), "no index was made")
}

func TestDocuments_LargestSize(t *testing.T) {
	t.Parallel()
	c := memstore.New().Collection("c")
	half := string(make([]byte, document.MaxSize/2))
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 1, "a", half)))
	require.ErrorIs(t, c.Insert(t.Context(), document.O("_id", 2, "a", half, "b", half)), boterr.InvalidArgument)

	_, err := c.Update(t.Context(), nil, sharedtest.Change(t, "$set", document.O("b", half)), store.UpdateOptions{})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	found := find(t, c, nil, store.FindOptions{})
	require.Len(t, found, 1)
	require.Equal(t, 2, found[0].Len())
}

// failure returns the error of a call whose result does not matter.
func failure[T any](_ T, err error) error { return err }

// find finds documents, which must succeed.
func find(tb testing.TB, c store.Collection, f *query.Filter, options store.FindOptions) []document.Object {
	tb.Helper()
	found, err := c.Find(tb.Context(), f, options)
	require.NoError(tb, err)
	return found
}

// countOf counts documents, which must succeed.
func countOf(tb testing.TB, c store.Collection, f *query.Filter) int64 {
	tb.Helper()
	count, err := c.Count(tb.Context(), f)
	require.NoError(tb, err)
	return count
}

func ascending(paths ...string) []store.IndexKey {
	keys := make([]store.IndexKey, 0, len(paths))
	for _, path := range paths {
		keys = append(keys, store.IndexKey{Path: path, Kind: query.Ascending})
	}
	return keys
}

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.RunStore(t, func(*testing.T) store.Store { return memstore.New() })
}

func TestNumbers_EqualAreOneKey(t *testing.T) {
	t.Parallel()
	c := memstore.New().Collection("numbers")
	require.NoError(t, c.EnsureIndex(t.Context(), store.Index{
		Keys: []store.IndexKey{{Path: "u", Kind: query.Ascending}}, Unique: true,
	}))
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 1, "u", 5, "n", 1), document.O("_id", math.NaN(), "u", math.NaN(), "n", 1.0)))
	require.ErrorIs(t, c.Insert(t.Context(), document.O("_id", 1.0, "u", 6)), boterr.AlreadyExists)
	require.ErrorIs(t, c.Insert(t.Context(), document.O("_id", 2, "u", 5.0)), boterr.AlreadyExists)
	require.ErrorIs(t, c.Insert(t.Context(), document.O("_id", math.NaN(), "u", 7)), boterr.AlreadyExists)
	require.ErrorIs(t, c.Insert(t.Context(), document.O("_id", 3, "u", math.NaN())), boterr.AlreadyExists)
	require.NoError(t, c.Insert(t.Context(), document.O("_id", int64(1)<<53+1, "u", int64(1)<<53+1, "n", math.Inf(1))))
	require.NoError(t, c.Insert(t.Context(), document.O("_id", float64(int64(1)<<53), "u", float64(int64(1)<<53), "n", math.Copysign(0, -1))))
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 9, "u", 9, "n", 0)))

	values, err := c.Distinct(t.Context(), "n", nil)
	require.NoError(t, err)
	require.Equal(t, []any{int64(1), math.Inf(1), math.Copysign(0, -1)}, values)
	for _, value := range []any{1.0, int64(1)} {
		for _, path := range []string{"_id", "n"} {
			filter := sharedtest.Filter(t, path, value)
			found := find(t, c, filter, store.FindOptions{})
			require.Len(t, found, map[string]int{"_id": 1, "n": 2}[path], "%s %v", path, value)
		}
	}
	filter := sharedtest.Filter(t, "u", document.O("$gte", 5.0, "$lt", int64(1)<<53+1))
	count := countOf(t, c, filter)
	require.Equal(t, int64(3), count, "with the index, too, NaN is below no number and 2^53 is not 2^53 + 1")
}

// FuzzCall_IsBounded searches for small calls that do more than their budget allows. As a test it runs one in
// 24 known calls, or all in a thorough run.
func FuzzCall_IsBounded(f *testing.F) {
	const size = 1
	filled := memstore.New()
	documents := storetest.HostileDocuments(size)
	require.NoError(f, filled.Collection("c").Insert(f.Context(), documents...))
	for i, call := range storetest.HostileCalls() {
		if i%24 == 0 || rounds.Thorough(f) {
			f.Add(call)
		}
	}
	f.Fuzz(func(t *testing.T, call string) {
		c := filled.Fork().Collection("c")
		_, failed := storetest.RunHostile(t, call, size, c)
		after := find(t, c, nil, store.FindOptions{})
		if failed != nil {
			require.Len(t, after, len(documents), "nothing is half done")
			for i, o := range after {
				require.True(t, document.Identical(documents[i], o), "nothing is half done")
			}
		}
	})
}

func TestBudget_KeysOfIndexes(t *testing.T) {
	t.Parallel()
	c := memstore.New().Collection("c")
	require.NoError(t, c.EnsureIndex(t.Context(), store.Index{Keys: []store.IndexKey{
		{Path: "text", Kind: query.Ascending}, {Path: "tags", Kind: query.Ascending},
	}}))
	text := strings.Repeat("x", 50_000)
	for i := range 20 {
		require.NoError(t, c.Insert(t.Context(), document.O("_id", i, "text", text)))
	}
	tags := make([]any, 100)
	for i := range tags {
		tags[i] = i
	}
	set := sharedtest.Change(t, "$set", document.O("tags", document.A(tags...)))
	result, err := c.Update(t.Context(), sharedtest.Filter(t, "_id", 3), set, store.UpdateOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 1, result.Modified)
	require.ErrorIs(t, failure(c.Update(t.Context(), nil, set, store.UpdateOptions{Multi: true})), boterr.ResourceExhausted, "100 MB of keys")
	count := countOf(t, c, sharedtest.Filter(t, "tags", 5))
	require.EqualValues(t, 1, count, "nothing is half done")
}

// An index holds what all calls together have stored, so the budget of one call does not limit it.
func TestBudget_IndexOfExistingDocuments(t *testing.T) {
	t.Parallel()
	c := memstore.New().Collection("c")
	text := strings.Repeat("x", 50_000)
	documents := make([]document.Object, 1_500)
	for i := range documents {
		documents[i] = document.O("_id", i, "text", text)
	}
	require.NoError(t, c.Insert(t.Context(), documents...))
	require.NoError(t, c.EnsureIndex(t.Context(), store.Index{Keys: ascending("text", "_id")}))
}

func TestBudget_ManyDocumentsPass(t *testing.T) {
	t.Parallel()
	many := rounds.Of(t, 20_000, 200_000)
	c := memstore.New().Collection("c")
	for _, path := range []string{"name", "at", "tags"} {
		require.NoError(t, c.EnsureIndex(t.Context(), store.Index{Keys: []store.IndexKey{{Path: path, Kind: query.Ascending}}}))
	}
	documents := make([]document.Object, many)
	for i := range documents {
		documents[i] = document.O("_id", i, "name", fmt.Sprint("name ", i), "at", i, "tags", document.A("a", i))
	}
	require.NoError(t, c.Insert(t.Context(), documents...))
	for _, path := range []string{"name", "tags"} {
		values, err := c.Distinct(t.Context(), path, nil)
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(values), many)
	}
}

func TestWork_WritesCount(t *testing.T) {
	t.Parallel()
	const many, each = 1_000, 2048
	c := memstore.New().Collection("coupons")
	var work atomic.Int64
	ctx := engine.CountWork(t.Context(), &work)
	coupons := make([]document.Object, many)
	for i := range coupons {
		coupons[i] = document.O("_id", i)
	}
	require.NoError(t, c.Insert(ctx, coupons...))
	require.Greater(t, work.Swap(0), int64(many*each*9/10))
	require.NoError(t, failure(c.Delete(ctx, nil, store.DeleteOptions{Multi: true})))
	require.Greater(t, work.Load(), int64(many*each*9/10))
}

func TestWork_KeysCount(t *testing.T) {
	t.Parallel()
	const many, each = 1_000, 256
	c := memstore.New().Collection("coupons")
	require.NoError(t, c.EnsureIndex(t.Context(), store.Ascending("n")))
	require.NoError(t, c.Insert(t.Context(), document.O("_id", "first")))
	keys := make([]any, many)
	for i := range keys {
		keys[i] = i
	}
	var work atomic.Int64
	ctx := engine.CountWork(t.Context(), &work)
	for _, path := range []string{"_id", "n"} {
		missing := sharedtest.Filter(t, path, document.O("$in", document.A(keys...)))
		require.NoError(t, failure(c.Find(ctx, missing, store.FindOptions{})))
		require.Greater(t, work.Swap(0), int64(many*each*9/10), path)
		require.NoError(t, failure(c.Count(ctx, missing)))
		require.Greater(t, work.Swap(0), int64(many*each*9/10), path)
	}
}

func TestBudget_DistinctValues(t *testing.T) {
	t.Parallel()
	rounds.OnlyThorough(t)
	c := memstore.New().Collection("c")
	items := make([]any, 100_000)
	for i := range items {
		items[i] = i
	}
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 1, "l", document.A(items...))))
	values, err := c.Distinct(t.Context(), "l", nil)
	require.NoError(t, err)
	require.Len(t, values, len(items))
	for id := range 20 {
		part := make([]any, 0, len(items))
		for i := range items {
			part = append(part, id*len(items)+i)
		}
		require.NoError(t, c.Insert(t.Context(), document.O("_id", id+2, "l", document.A(part...))))
	}
	require.ErrorIs(t, failure(c.Distinct(t.Context(), "l", nil)), boterr.ResourceExhausted, "two million values")
}

// star is a ring of n corners around a point.
func star(corners int, radius float64) document.Array {
	ring := make([]any, 0, corners+1)
	for i := range corners {
		angle := 2 * math.Pi * float64(i) / float64(corners)
		ring = append(ring, document.A(10+radius*math.Cos(angle), 10+radius*math.Sin(angle)))
	}
	return document.A(append(ring, ring[0])...)
}

func TestBudget_Places(t *testing.T) {
	t.Parallel()
	rounds.OnlyThorough(t)
	c := memstore.New().Collection("c")
	shape := document.O("type", "Polygon", "coordinates", document.A(star(1_000, 5)))
	for i := range 20 {
		require.NoError(t, c.Insert(t.Context(), document.O("_id", i, "a", shape)))
	}
	intersects := document.O("$geoIntersects", document.O("$geometry", document.O("type", "Polygon", "coordinates", document.A(star(8, 4)))))
	found := find(t, c, sharedtest.Filter(t, "a", intersects), store.FindOptions{})
	require.Len(t, found, 20)
	conditions := slices.Repeat([]any{document.O("a", intersects)}, 100)
	_, err := c.Find(t.Context(), sharedtest.Filter(t, "$and", document.A(conditions...)), store.FindOptions{})
	require.ErrorIs(t, err, boterr.ResourceExhausted)
}

func TestBudget_NearManyPlacesPasses(t *testing.T) {
	t.Parallel()
	c := memstore.New().Collection("c")
	documents := make([]document.Object, rounds.Of(t, 10_000, 100_000))
	for i := range documents {
		documents[i] = document.O("_id", i, "a", document.O("type", "Point", "coordinates", document.A(float64(i%180), float64(i%90))))
	}
	require.NoError(t, c.Insert(t.Context(), documents...))
	near, err := query.CompileGeoNear(document.O(
		"near", document.O("type", "Point", "coordinates", document.A(1, 2)), "key", "a", "spherical", true))
	require.NoError(t, err)
	found, err := c.GeoNear(t.Context(), near)
	require.NoError(t, err)
	require.Len(t, found, len(documents))
}

func TestWatcher_PanicsOrEndsGoroutine(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(){"panic": func() { panic("a broken watcher") }, "goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := memstore.New()
			var told []string
			defer database.Watch("a", func(_, after document.Object) {
				if id, _ := after.Field("_id"); id == "bad" {
					harm()
				}
			}, func() {})()
			defer database.Watch("a", func(_, after document.Object) { told = append(told, after.String()) }, func() {})()
			thrown := make(chan any, 1)
			go func() {
				defer func() { thrown <- recover() }()
				_ = database.Collection("a").Insert(context.Background(), document.O("_id", "bad"))
			}()
			if cause := <-thrown; name == "panic" {
				require.Equal(t, "a broken watcher", cause)
			}
			put(t, database, "a", 1)
			require.Equal(t, []string{`{"_id":"bad"}`, `{"_id":1}`}, contents(t, database, "a"))
			require.Equal(t, contents(t, database, "a"), told, "the other watcher gets all changes")
		})
	}
}

// heldContext is a context whose first write does not begin until it is released.
type heldContext struct {
	context.Context

	asked atomic.Int64
	goOn  chan struct{}
}

// Err is called when the write is called, and again when it begins.
func (c *heldContext) Err() error {
	if c.asked.Add(1) == 2 {
		<-c.goOn
	}
	return c.Context.Err()
}

// pausingContext is a context that pauses a write at its n-th check until it is released.
type pausingContext struct {
	context.Context

	asked atomic.Int64
	goOn  chan struct{}
}

// pauseAt is larger than the number of times that a write checks its context under the lock.
const pauseAt = 100

func (c *pausingContext) Err() error {
	if c.asked.Add(1) == pauseAt {
		<-c.goOn
	}
	return c.Context.Err()
}

// twoTenants calls test with a store in which each of two apps has 200 documents of one collection.
func twoTenants(t *testing.T, test func(t *testing.T, store store.Store)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		database := memstore.New()
		for i := range 200 {
			for _, app := range []string{"slow", "quick"} {
				o := document.O("_id", fmt.Sprint(app, i), "app", app, "n", 0)
				require.NoError(t, database.Collection("c").Insert(t.Context(), o))
			}
		}
		test(t, database)
	})
}

// costly is a filter that matches all documents of the slow tenant, and costs so much for each of them that a
// write checks its context.
func costly(t *testing.T) *query.Filter {
	t.Helper()
	loop := document.O("$map", document.O("input", document.O("$range", document.A(0, 1_000)), "in", "$n"))
	isCounted := document.O("$gte", document.A("$n", 0))
	return sharedtest.Filter(t, "app", "slow", "$expr", document.O("$and", document.A(isCounted, document.O("$size", loop))))
}

// count adds one to n.
func count(t *testing.T) query.Change {
	t.Helper()
	return sharedtest.Change(t, "$inc", document.O("n", 1))
}

// slowUpdate updates all documents of the slow tenant in another goroutine, and pauses in the middle. The
// channel receives the result.
func slowUpdate(t *testing.T, ctx context.Context, database store.Store) (*pausingContext, <-chan string) { //nolint:revive // t comes first in tests.
	t.Helper()
	paused := &pausingContext{Context: ctx, goOn: make(chan struct{})}
	told, f, inc := make(chan string, 1), costly(t), count(t)
	go func() {
		result, err := database.Collection("c").Update(paused, f, inc, store.UpdateOptions{Multi: true})
		told <- fmt.Sprintf("%d %d %v", result.Matched, result.Modified, boterr.CodeOf(err))
	}()
	synctest.Wait()
	return paused, told
}

// total is the sum of n in the documents of an app.
func total(t *testing.T, database store.Store, app string) (total int64) {
	t.Helper()
	found := find(t, database.Collection("c"), sharedtest.Filter(t, "app", app), store.FindOptions{})
	for _, o := range found {
		total += document.Get(o, "n", int64(0))
	}
	return total
}

func TestLongWrite_HoldsNobodyUp(t *testing.T) {
	t.Parallel()
	twoTenants(t, func(t *testing.T, database store.Store) {
		t.Helper()
		paused, outcome := slowUpdate(t, t.Context(), database)
		c := database.Collection("c")
		require.NoError(t, failure(c.Update(t.Context(), sharedtest.Filter(t, "_id", "quick7"), count(t), store.UpdateOptions{})))
		require.NoError(t, failure(c.Update(t.Context(), sharedtest.Filter(t, "app", "quick"), count(t), store.UpdateOptions{Multi: true})))
		require.NoError(t, failure(c.Delete(t.Context(), sharedtest.Filter(t, "_id", "quick8"), store.DeleteOptions{})))
		require.NoError(t, c.Insert(t.Context(), document.O("_id", "quick200", "app", "quick", "n", 1)))
		require.NoError(t, c.EnsureIndex(t.Context(), store.Index{Keys: ascending("n")}))
		require.NoError(t, database.Collection("other").Insert(t.Context(), document.O("_id", 1)))
		require.Empty(t, outcome)
		require.Zero(t, total(t, database, "slow"))

		close(paused.goOn)
		require.Equal(t, "200 200 ", <-outcome)
		require.EqualValues(t, 200, total(t, database, "slow"))
		require.EqualValues(t, 201, total(t, database, "quick"))
		found := countOf(t, c, sharedtest.Filter(t, "n", 1, "app", "slow"))
		require.EqualValues(t, 200, found, "the new index includes the changed documents")
	})
}

func TestLongWrite_SeesOthersChanges(t *testing.T) {
	t.Parallel()
	twoTenants(t, func(t *testing.T, database store.Store) {
		t.Helper()
		paused, outcome := slowUpdate(t, t.Context(), database)
		c := database.Collection("c")
		_, err := c.Update(t.Context(), sharedtest.Filter(t, "_id", "slow150"), sharedtest.Change(t, "$set", document.O("n", 1000)), store.UpdateOptions{})
		require.NoError(t, err)
		_, err = c.Update(t.Context(), sharedtest.Filter(t, "_id", "slow3"), sharedtest.Change(t, "$set", document.O("n", -1)), store.UpdateOptions{})
		require.NoError(t, err)
		require.NoError(t, c.Insert(t.Context(), document.O("_id", "slow200", "app", "slow", "n", 0)))
		close(paused.goOn)
		require.Equal(t, "200 200 ", <-outcome, "one more document matches, and one less")
		require.EqualValues(t, 1000-1+200, total(t, database, "slow"))
	})
}

func TestLongWrite_ContextEnds(t *testing.T) {
	t.Parallel()
	twoTenants(t, func(t *testing.T, store store.Store) {
		t.Helper()
		ctx, end := context.WithCancel(t.Context())
		paused, outcome := slowUpdate(t, ctx, store)
		end()
		close(paused.goOn)
		require.Equal(t, "0 0 canceled", <-outcome)
		require.Zero(t, total(t, store, "slow"))
	})
}

func TestLock_ContextEndsWhileWaiting(t *testing.T) {
	t.Parallel()
	twoTenants(t, func(t *testing.T, store store.Store) {
		t.Helper()
		held := &heldContext{Context: t.Context(), goOn: make(chan struct{})}
		holds := make(chan error, 1)
		go func() { holds <- store.Collection("c").Insert(held, document.O("_id", "holds")) }()
		synctest.Wait()
		ctx, end := context.WithCancel(t.Context())
		waits := make(chan error, 1)
		go func() { waits <- store.Collection("c").Insert(ctx, document.O("_id", "waits")) }()
		synctest.Wait()
		end()
		require.ErrorIs(t, <-waits, boterr.Canceled)
		close(held.goOn)
		require.NoError(t, <-holds)
		require.NoError(t, store.Collection("c").Insert(t.Context(), document.O("_id", "after")))
		found := countOf(t, store.Collection("c"), sharedtest.Filter(t, "_id", "waits"))
		require.Zero(t, found)
	})
}

func TestLongInsert_KeyTakenMeanwhile(t *testing.T) {
	t.Parallel()
	twoTenants(t, func(t *testing.T, store store.Store) {
		t.Helper()
		documents := make([]document.Object, 10_000)
		for i := range documents {
			documents[i] = document.O("_id", i)
		}
		paused := &pausingContext{Context: t.Context(), goOn: make(chan struct{})}
		outcome := make(chan error, 1)
		go func() { outcome <- store.Collection("c").Insert(paused, documents...) }()
		synctest.Wait()
		require.NoError(t, store.Collection("c").Insert(t.Context(), document.O("_id", 9_000)))
		close(paused.goOn)
		err, ok := boterr.AsError(<-outcome)
		require.True(t, ok)
		require.Equal(t, boterr.AlreadyExists, err.Code)
		require.Equal(t, "[9000]._id", err.Field)
	})
}

// heap returns the size of the memory in use.
func heap() int {
	var stats runtime.MemStats
	runtime.GC() //nolint:revive // Garbage must not count.
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}

// Elements that an update removes must not stay in memory, and neither must the space they took in the array.
func TestUpdate_RemovedElements(t *testing.T) { //nolint:paralleltest // Other tests' allocations would count.
	const documents, elements, text, room = 20, 1000, 50, 16
	for name, update := range map[string]query.Change{
		"the last ones, one by one":  sharedtest.Change(t, "$pop", document.O("a", 1)),
		"the first ones, one by one": sharedtest.Change(t, "$pop", document.O("a", -1)),
		"a slice from the beginning": sharedtest.Change(t, "$push", document.O("a", document.O("$each", document.A(), "$slice", 1))),
		"a slice from the end":       sharedtest.Change(t, "$push", document.O("a", document.O("$each", document.A(), "$slice", -1))),
		"by a condition":             sharedtest.Change(t, "$pull", document.O("a", document.O("$gte", "x"))),
	} {
		before, stored := heap(), memstore.New().Collection("things")
		for i := range documents {
			items := make([]any, elements+1)
			for j := range items {
				items[j] = strings.Repeat("x", text)
			}
			items[elements] = "kept"
			require.NoError(t, stored.Insert(t.Context(), document.O("_id", i, "a", document.ArrayOf(items))))
		}
		left := elements + 1
		for times := 0; left > 1; times++ {
			require.Less(t, times, elements)
			require.NoError(t, failure(stored.Update(t.Context(), nil, update, store.UpdateOptions{Multi: true})))
			o, _, err := stored.Get(t.Context(), 0)
			require.NoError(t, err)
			left = document.Get(o, "a", document.A()).Len()
		}
		// Until the next write, the store keeps the documents as they were before the last write.
		require.NoError(t, stored.Insert(t.Context(), document.O("_id", "last")))
		require.Less(t, heap(), before+documents*elements*room/2, name)
		runtime.KeepAlive(stored)
	}
}

// A write that stores no document must not create its collection, because callers may name any.
func TestWrite_OfNothingCreatesNoCollection(t *testing.T) {
	t.Parallel()
	s := memstore.New()
	c := s.Collection("things")
	set := sharedtest.Change(t, "$setOnInsert", document.O("_id", 1))
	require.NoError(t, failure(c.Update(t.Context(), nil, set, store.UpdateOptions{Multi: true})))
	require.NoError(t, failure(c.FindAndModify(t.Context(), nil, set, store.FindAndModifyOptions{})))
	require.NoError(t, failure(c.Delete(t.Context(), nil, store.DeleteOptions{Multi: true})))
	require.NoError(t, c.Insert(t.Context()))
	require.ErrorIs(t, c.Insert(t.Context(), document.O("name", "without an _id")), boterr.InvalidArgument)
	require.Empty(t, s.Snapshot().Collections())
	upserted, err := c.Update(t.Context(), nil, set, store.UpdateOptions{Upsert: true})
	require.NoError(t, err)
	require.EqualValues(t, 1, upserted.UpsertedID)
	require.Equal(t, []string{"things"}, s.Snapshot().Collections())
}
