package query_test

import (
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

func TestCompiler_Remembers(t *testing.T) {
	t.Parallel()
	var c query.Compiler
	source := func() document.Object { return document.O("a", document.O("$in", document.A(1, "x", true, nil, 2.5))) }
	first, err := c.Filter(source())
	require.NoError(t, err)
	again, err := c.Filter(source())
	require.NoError(t, err)
	require.Same(t, first, again)

	update, err := c.Update(document.O("$set", document.O("a.$[x]", 1)), document.O("x", 1))
	require.NoError(t, err)
	sameUpdate, err := c.Update(document.O("$set", document.O("a.$[x]", 1)), document.O("x", 1))
	require.NoError(t, err)
	require.Same(t, update, sameUpdate)

	sort, err := c.Sort(document.O("a", 1))
	require.NoError(t, err)
	sameSort, err := c.Sort(document.O("a", 1))
	require.NoError(t, err)
	require.Same(t, sort, sameSort)

	projection, err := c.Projection(document.O("a", 1))
	require.NoError(t, err)
	sameProjection, err := c.Projection(document.O("a", 1))
	require.NoError(t, err)
	require.Same(t, projection, sameProjection)
}

// TestCompiler_FilterWhereNarrows holds filters that are compiled in one step to those that are
// compiled and then narrowed.
func TestCompiler_FilterWhereNarrows(t *testing.T) {
	t.Parallel()
	var compiler query.Compiler
	scopes := [][]query.FieldValue{nil, {{Name: "app", Value: "a"}}, {{Name: "app", Value: "a"}, {Name: "_id", Value: "x"}}}
	sources := []document.Object{
		document.O("_id", "x"), document.O("_id", "x", "n", 1), document.O("n", 1), document.O("_id", document.O("$gt", "a")), document.O(),
	}
	candidates := []document.Object{
		document.O("_id", "x", "app", "a", "n", 1), document.O("_id", "x", "app", "b", "n", 1),
		document.O("_id", "y", "app", "a", "n", 1), document.O("_id", "x", "app", document.A("a"), "n", document.A(1)),
	}
	for _, source := range sources {
		for _, scope := range scopes {
			narrowed, err := compiler.FilterWhere(source, scope...)
			require.NoError(t, err)
			plain, err := query.CompileFilter(source)
			require.NoError(t, err)
			want := plain.Where(scope...)
			require.Equal(t, want.IsEquality(), narrowed.IsEquality(), "%v %v", source, scope)
			for _, o := range candidates {
				require.Equal(t, want.Match(o), narrowed.Match(o), "%v %v %v", source, scope, o)
			}
		}
	}
	_, err := compiler.FilterWhere(document.O("_id", "x", "n", document.O("$odd", 1)), scopes[1]...)
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

func TestFilter_WhereWithoutFieldsIsTheFilter(t *testing.T) {
	t.Parallel()
	filter, err := query.CompileFilter(document.O("_id", "x"))
	require.NoError(t, err)
	require.Same(t, filter, filter.Where())
	require.Nil(t, (*query.Filter)(nil).Where())
}

func TestCompiler_DiffersByALetter(t *testing.T) {
	t.Parallel()
	var c query.Compiler
	seen := map[*query.Filter]string{}
	for _, source := range []document.Object{
		document.O("a", 1), document.O("a", 1.0), document.O("a", "1"), document.O("a", true), document.O("a", nil),
		document.O("a", document.O("b", 1)), document.O("a", document.A(1)), document.O("a", document.A(document.A(1))),
		document.O("a", 1, "b", 2), document.O("b", 2, "a", 1), document.O("ab", 1), document.O(),
	} {
		f, err := c.Filter(source)
		require.NoError(t, err)
		require.Equal(t, source, f.Source())
		require.Empty(t, seen[f], "the filter of %s was given for %s", seen[f], source)
		seen[f] = source.String()
	}
	u, err := c.Update(document.O("$set", document.O("a.$[x]", 1)), document.O("x", 1))
	require.NoError(t, err)
	other, err := c.Update(document.O("$set", document.O("a.$[x]", 1)), document.O("x", 1.0))
	require.NoError(t, err)
	require.NotSame(t, u, other)
}

func TestCompiler_RefusesEachTime(t *testing.T) {
	t.Parallel()
	var c query.Compiler
	for range 2 {
		_, err := c.Filter(document.O("$no", 1))
		require.ErrorIs(t, err, boterr.InvalidArgument)
		_, err = c.Update(document.O("$set", document.O("a", make(chan int))))
		require.ErrorIs(t, err, boterr.InvalidArgument)
		_, err = c.Sort(document.O("a", 2))
		require.ErrorIs(t, err, boterr.InvalidArgument)
		_, err = c.Projection(document.O("a", 1, "b", 0))
		require.ErrorIs(t, err, boterr.InvalidArgument)
	}
}

func TestCompiler_Nil(t *testing.T) {
	t.Parallel()
	var c *query.Compiler
	f, err := c.Filter(document.O("a", 1))
	require.NoError(t, err)
	require.True(t, f.Match(document.O("a", 1)))
	s, err := c.Sort(document.Object{})
	require.NoError(t, err)
	require.Nil(t, s)
	p, err := c.Projection(document.Object{})
	require.NoError(t, err)
	require.Nil(t, p)
}

func TestCompiler_ConcurrentUse(t *testing.T) {
	t.Parallel()
	var c query.Compiler
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := range 2_000 {
				n := (i + worker) % 700
				f, err := c.Filter(document.O("n", n))
				if err != nil || !f.Match(document.O("n", n)) || f.Match(document.O("n", n+1)) {
					t.Errorf("%d: %v", n, err)
				}
			}
		})
	}
	all.Wait()
}

func BenchmarkCompiler(b *testing.B) {
	sources := map[string]document.Object{
		"by id": document.O("_id", "entry-004242"),
		"three fields": document.O("area", "area-7", "stars", document.O("$gte", 2),
			"tags", document.O("$in", document.A("a", "b"))),
	}
	for name, source := range sources {
		b.Run(name+"/compiled", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := query.CompileFilter(source); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/remembered", func(b *testing.B) {
			var c query.Compiler
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Filter(source); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/forgotten", func(b *testing.B) {
			var c query.Compiler
			others := make([]document.Object, 3_000)
			for i := range others {
				others[i] = source.With("_id", strconv.Itoa(i))
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := c.Filter(others[i%len(others)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
