package query_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/arbitrary"
	"github.com/botctx/go-sdk/internal/query"
)

// samples is the number of random inputs of a property.
const samples = 1000

// randomDocument returns a document with fields whose names come again and again.
func randomDocument(random *rand.Rand) document.Object {
	o := document.O("_id", random.IntN(3))
	for _, name := range []string{"a", "b", "c"} {
		if random.IntN(4) > 0 {
			o = o.With(name, arbitrary.Value(random, 3))
		}
	}
	return o
}

// requireOrder checks the laws of a total order on three things.
func requireOrder[T any](t *testing.T, compare func(a, b T) int, a, b, c T) {
	t.Helper()
	require.Zero(t, compare(a, a), "%v is equal to itself", a)
	require.Equal(t, compare(a, b), -compare(b, a), "%v and %v the other way round", a, b)
	if compare(a, b) <= 0 && compare(b, c) <= 0 {
		require.LessOrEqual(t, compare(a, c), 0, "%v, %v, %v in a row", a, b, c)
	}
	if compare(a, b) == 0 {
		require.Equal(t, compare(a, c), compare(b, c), "%v and %v are equal beside %v", a, b, c)
	}
}

func TestCompare_TotalOrder(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	edges := arbitrary.EdgeValues()
	for _, a := range edges {
		for _, b := range edges {
			requireOrder(t, document.Compare, a, b, edges[random.IntN(len(edges))])
		}
	}
	for range samples {
		a, b, c := arbitrary.Value(random, 3), arbitrary.Value(random, 3), arbitrary.Value(random, 3)
		requireOrder(t, document.Compare, a, b, c)
		require.Equal(t, document.Compare(a, b) == 0, document.Equal(a, b))
	}
}

func TestSort_TotalOrder(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(2, 2))
	for _, source := range []document.Object{
		document.O("a", 1), document.O("a", -1), document.O("a.b", 1, "b", -1), document.O("b.0", -1, "a", 1, "_id", 1),
		document.O("none", 1), document.O("a.a", 1, "a.b", -1), document.O("a.b", -1, "b", 1, "a", 1), document.O("a.0.b", 1, "a.b.0", -1),
	} {
		order, err := query.CompileSort(source)
		require.NoError(t, err)
		for range samples / 3 {
			requireOrder(t, order.Compare, randomDocument(random), randomDocument(random), randomDocument(random))
		}
		documents := make([]document.Object, 50)
		for i := range documents {
			documents[i] = randomDocument(random).With("place", i)
		}
		order.Sort(documents)
		require.True(t, slices.IsSortedFunc(documents, func(a, b document.Object) int {
			if c := order.Compare(a, b); c != 0 {
				return c
			}
			return document.Get(a, "place", 0) - document.Get(b, "place", 0)
		}), "by %s, and ties as they were", source)
	}
}

// A path that leads nowhere beside another one decides nothing, and makes the sort look for
// whole tuples.
func TestSort_TwoPathsAgreeWithOne(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(4, 4))
	for _, path := range []string{"a", "a.b", "a.0", "a.1.b", "a.b.0", "a.0.1", "a.0.b.1"} {
		for _, direction := range []int{1, -1} {
			alone, err := query.CompileSort(document.O(path, direction))
			require.NoError(t, err)
			beside, err := query.CompileSort(document.O(path, direction, "a.none.none", 1))
			require.NoError(t, err)
			for range samples {
				one, other := randomDocument(random), randomDocument(random)
				if beside.Check(one) == nil && beside.Check(other) == nil {
					require.Equal(t, alone.Compare(one, other), beside.Compare(one, other), "%s by %s %d", one, path, direction)
				}
			}
		}
	}
}

func TestFilter_AsOperatorsAreDefined(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	matches := func(o document.Object, pairs ...any) bool {
		filter, err := query.CompileFilter(document.O(pairs...))
		require.NoError(t, err)
		return filter.Match(o)
	}
	for range samples {
		o := randomDocument(random)
		v, w := arbitrary.Value(random, 2), arbitrary.Value(random, 2)
		equal := matches(o, "a", document.O("$eq", v))
		require.Equal(t, !equal, matches(o, "a", document.O("$ne", v)), "$ne %v of %s", v, o)
		require.Equal(t, !equal, matches(o, "a", document.O("$not", document.O("$eq", v))))
		other := matches(o, "a", document.O("$eq", w))
		require.Equal(t, equal || other, matches(o, "a", document.O("$in", document.A(v, w))), "$in %v, %v of %s", v, w, o)
		require.Equal(t, !equal && !other, matches(o, "a", document.O("$nin", document.A(v, w))))
		require.Equal(t, equal && other, matches(o, "a", document.O("$all", document.A(v, w))), "$all %v, %v of %s", v, w, o)
		byB := matches(o, "b", document.O("$gte", w))
		require.Equal(t, equal && byB, matches(o, "a", document.O("$eq", v), "b", document.O("$gte", w)))
		clauses := document.A(document.O("a", document.O("$eq", v)), document.O("b", document.O("$gte", w)))
		require.Equal(t, equal && byB, matches(o, "$and", clauses))
		require.Equal(t, equal || byB, matches(o, "$or", clauses))
		require.Equal(t, !equal && !byB, matches(o, "$nor", clauses))
		more, less := matches(o, "a", document.O("$gt", v)), matches(o, "a", document.O("$lt", v))
		require.Equal(t, more || equal, matches(o, "a", document.O("$gte", v)), "$gte %v of %s", v, o)
		require.Equal(t, less || equal, matches(o, "a", document.O("$lte", v)), "$lte %v of %s", v, o)
	}
}
