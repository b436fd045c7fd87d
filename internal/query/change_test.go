package query_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

// change returns an update given as JSON, with the kinds of fields that the layer above a store adds.
func change(t *testing.T, update string) query.Change {
	t.Helper()
	compiled := query.Must(query.CompileUpdate(parse(t, update)))
	return query.Change{
		Update: compiled, Now: now, Fixed: []string{"app"},
		Stamps:   query.Stamps{Set: document.O("at", 99), Increment: []string{"v"}},
		OnInsert: document.O("_id", "new", "app", "a1", "at", 99, "v", 1),
	}
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
		filter := query.Must(query.CompileFilter(parse(t, c.filter)))
		inserted, err := newCall(t).Insert(change(t, c.update), filter)
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
		{`{"_id.a":1}`, `{"x":1}`, "filter._id.a"},
	} {
		filter := query.Must(query.CompileFilter(parse(t, c.filter)))
		requireInvalid(t, failure(newCall(t).Insert(change(t, c.update), filter)), c.field)
	}
	requireInvalid(t, change(t, `{"$rename":{"x":"at"}}`).Check(), "update.$rename.x")
}

func TestUpdate_UsedAgain(t *testing.T) {
	t.Parallel()
	source := document.O("$set", document.O("a", 1, "b.c", 2), "$unset", document.O("x", 1, "y", 1), "$inc", document.O("n", 1))
	used := query.Must(query.CompileUpdate(source))
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
		fresh := query.Must(query.CompileUpdate(source))
		want, _, err := newCall(t).Change(query.Change{Update: fresh, Stamps: stamps}, nil, before)
		require.NoError(t, err)
		for range 2 {
			got, modified, err := newCall(t).Change(query.Change{Update: used, Stamps: stamps}, nil, before)
			require.NoError(t, err)
			require.Equal(t, want.String(), got.String(), before)
			require.Equal(t, want.Size(), got.Size())
			require.Equal(t, document.O(anyPairs(got)...).Size(), got.Size(), "the size equals the size of a new object")
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

func TestFilter_WhereWithoutFieldsIsTheFilter(t *testing.T) {
	t.Parallel()
	filter := query.Must(query.CompileFilter(document.O("_id", "x")))
	require.Same(t, filter, filter.Where())
	require.Nil(t, (*query.Filter)(nil).Where())
}

func BenchmarkCompileFilter(b *testing.B) {
	for name, source := range map[string]document.Object{
		"by id": document.O("_id", "entry-004242"),
		"three fields": document.O("area", "area-7", "stars", document.O("$gte", 2),
			"tags", document.O("$in", document.A("a", "b"))),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := query.CompileFilter(source); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
