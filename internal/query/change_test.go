package query_test

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

// change compiles an update in JSON with the fields that a layer above adds.
func change(t *testing.T, update string) query.Change {
	t.Helper()
	compiled, err := query.CompileUpdate(parse(t, update))
	require.NoError(t, err)
	return query.Change{
		Update: compiled, Now: now, Fixed: []string{"app"},
		Stamps:   query.Stamps{Set: document.O("at", 99), Increment: []string{"v"}},
		OnInsert: document.O("_id", "new", "app", "a1", "at", 99, "v", 1),
	}
}

const stored = `{"_id":"1","app":"a1","at":5,"v":3,"x":1}`

func TestChange_RenewsStamps(t *testing.T) {
	t.Parallel()
	for update, want := range map[string]string{
		`{"$set":{"x":2}}`:                   `{"_id":"1","app":"a1","at":99,"v":4,"x":2}`,
		`{"x":2}`:                            `{"_id":"1","app":"a1","at":99,"v":4,"x":2}`,
		`{"$set":{"x":2,"at":7,"v":50}}`:     `{"_id":"1","app":"a1","at":99,"v":4,"x":2}`,
		`{"$unset":{"at":"","x":"","v":""}}`: `{"_id":"1","app":"a1","at":99,"v":4}`,
		`{"$set":{"x":1}}`:                   stored,
		`{"$set":{"at":7},"$inc":{"v":1}}`:   stored,
		`{"_id":"1","x":1,"at":0}`:           stored,
	} {
		after, modified, err := change(t, update).Apply(nil, parse(t, stored))
		require.NoError(t, err, update)
		require.JSONEq(t, want, after.String(), update)
		require.Equal(t, want != stored, modified, update)
	}
}

func TestChange_ReplacementWithoutID(t *testing.T) {
	t.Parallel()
	after, modified, err := change(t, `{"x":1,"at":0}`).Apply(nil, parse(t, stored))
	require.NoError(t, err)
	require.True(t, modified)
	require.JSONEq(t, stored, after.String(), "what does not change renews no stamps")
}

func TestChange_FixedFieldStays(t *testing.T) {
	t.Parallel()
	for _, update := range []string{
		`{"$set":{"app":"a2"}}`, `{"$unset":{"app":""}}`, `{"$rename":{"app":"b"}}`, `{"$rename":{"x":"app"}}`,
		`{"app":"a2"}`, `{"$set":{"app.x":1}}`, `{"$push":{"app":1}}`, `{"$inc":{"app":1}}`, `{"$set":{"app":null}}`,
	} {
		_, modified, err := change(t, update).Apply(nil, parse(t, stored))
		require.Error(t, err, update)
		require.False(t, modified)
	}
	for _, update := range []string{`{"$set":{"app":"a1","x":2}}`, `{"app":"a1","x":2}`, `{"x":2}`} {
		after, _, err := change(t, update).Apply(nil, parse(t, stored))
		require.NoError(t, err, update)
		require.Equal(t, "a1", document.Get(after, "app", ""), update)
	}
}

func TestChange_FixedFieldIsNotAdded(t *testing.T) {
	t.Parallel()
	_, _, err := change(t, `{"$set":{"app":"a1"}}`).Apply(nil, parse(t, `{"_id":"1"}`))
	requireInvalid(t, err, "update.app")
}

func TestUpsert_InsertsWhatFilterRequires(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ filter, update, want string }{
		{`{"k":1}`, `{"$set":{"x":2}}`, `{"_id":"new","app":"a1","at":99,"v":1,"k":1,"x":2}`},
		{`{"_id":"mine","o.p":1}`, `{"$setOnInsert":{"x":2}}`, `{"_id":"mine","app":"a1","at":99,"v":1,"o":{"p":1},"x":2}`},
		{`{"k":{"$gt":1},"$or":[{"j":2}]}`, `{"$inc":{"n":1}}`, `{"_id":"new","app":"a1","at":99,"v":1,"j":2,"n":1}`},
		{`{"k":1}`, `{"x":2}`, `{"_id":"new","app":"a1","at":99,"v":1,"x":2}`},
		{`{"_id":"mine"}`, `{"x":2}`, `{"_id":"mine","app":"a1","at":99,"v":1,"x":2}`},
		{`{}`, `{"$set":{"_id":"given","at":1,"v":7}}`, `{"_id":"given","app":"a1","at":99,"v":1}`},
		{`{"app":"a1"}`, `{"$set":{"x":1}}`, `{"_id":"new","app":"a1","at":99,"v":1,"x":1}`},
		{`{"_id.a":1}`, `{"$set":{"x":2}}`, `{"_id":{"a":1},"app":"a1","at":99,"v":1,"x":2}`},
		{`{"k":{"$in":[4]}}`, `{"$push":{"l":1}}`, `{"_id":"new","app":"a1","at":99,"v":1,"k":4,"l":[1]}`},
	} {
		filter, err := query.CompileFilter(parse(t, c.filter))
		require.NoError(t, err)
		inserted, err := change(t, c.update).Insert(filter)
		require.NoError(t, err, c.filter)
		require.Equal(t, c.want, inserted.String())
	}
}

func TestUpsert_RefusesContradictions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ filter, update, field string }{
		{`{"$and":[{"k":1},{"k":2}]}`, `{"$set":{"x":1}}`, "filter.k"},
		{`{"k":1,"k.j":2}`, `{"$set":{"x":1}}`, "filter.k.j"},
		{`{"app":"a2"}`, `{"$set":{"x":1}}`, "filter.app"},
		{`{}`, `{"$set":{"app":"a2"}}`, "update.app"},
		{`{}`, `{"app":"a2"}`, "update.app"},
		{`{"_id":"1"}`, `{"$set":{"_id":"2"}}`, "update._id"},
		{`{"_id":"1"}`, `{"_id":"2"}`, "update._id"},
		{`{"_id":"1"}`, `{"$unset":{"_id":1}}`, "update._id"},
		{`{"_id":"1"}`, `{"$rename":{"_id":"k"}}`, "update._id"},
		{`{"_id.a":1}`, `{"$set":{"_id.b":2}}`, "update._id"},
		{`{"k":1}`, `{"$set":{"k.x":2}}`, "update.k.x"},
		{`{"l":1}`, `{"$push":{"l":2}}`, "update.l"},
		{`{}`, `{"$set":{"l.$":2}}`, "update.l"},
	} {
		filter, err := query.CompileFilter(parse(t, c.filter))
		require.NoError(t, err)
		_, err = change(t, c.update).Insert(filter)
		requireInvalid(t, err, c.field)
	}
}

func TestUpsert_PartOfAnID(t *testing.T) {
	t.Parallel()
	filter, err := query.CompileFilter(document.O("_id.a", 1))
	require.NoError(t, err)
	_, err = change(t, `{"x":1}`).Insert(filter)
	requireInvalid(t, err, "filter._id.a")
}

func TestUpdate_UsedAgain(t *testing.T) {
	t.Parallel()
	source := document.O("$set", document.O("a", 1, "b.c", 2), "$unset", document.O("x", 1, "y", 1), "$inc", document.O("n", 1))
	used, err := query.CompileUpdate(source)
	require.NoError(t, err)
	stamps := query.Stamps{Set: document.O("at", 5), Increment: []string{"_version"}}
	names := []string{"a", "b", "x", "y", "n", "at", "_version", "z"}
	random := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		pairs := []any{"_id", 1}
		for _, i := range random.Perm(len(names))[:random.IntN(len(names))] {
			value := any(random.IntN(3))
			if names[i] == "b" {
				value = document.O("c", value)
			}
			pairs = append(pairs, names[i], value)
		}
		before := document.O(pairs...)
		fresh, err := query.CompileUpdate(source)
		require.NoError(t, err)
		want, _, err := query.Change{Update: fresh, Stamps: stamps}.Apply(nil, before)
		require.NoError(t, err)
		for range 2 {
			got, modified, err := query.Change{Update: used, Stamps: stamps}.Apply(nil, before)
			require.NoError(t, err)
			require.Equal(t, want.String(), got.String(), before)
			require.Equal(t, want.Size(), got.Size())
			require.Equal(t, document.O(anyPairs(got)...).Size(), got.Size(), "the size is that of the object made anew")
			require.Equal(t, before.String() != got.String(), modified)
			require.False(t, got.Has("x") || got.Has("y"))
		}
	}
}

func anyPairs(o document.Object) []any {
	var pairs []any
	for name, value := range o.All() {
		pairs = append(pairs, name, value)
	}
	return pairs
}

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
