package query_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/arbitrary"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/store/storetest"
)

// requireCoded fails if an error has no specific code.
func requireCoded(t *testing.T, err error) {
	t.Helper()
	require.NotEqual(t, boterr.Internal, boterr.CodeOf(err), "%v", err)
}

func FuzzFilter(f *testing.F) {
	f.Add(`{"a":{"$gt":1},"$or":[{"b.0":{"$in":[1]}}]}`, `{"a":2,"b":[1]}`)
	f.Add(`{"a":{"$elemMatch":{"$not":{"$regex":"x","$options":"ix"}}}}`, `{"a":["y"]}`)
	f.Add(`{"a":{"$geoWithin":{"$geometry":{"type":"Polygon","coordinates":[[[0,0],[9,0],[9,9],[0,0]],[[4,3],[6,3],[6,5],[4,3]]]}}}}`, `{"a":[5,1]}`)
	f.Add(`{"a":{"$geoIntersects":{"$geometry":{"type":"LineString","coordinates":[[0,0],[180,0],[-180,1]]}}}}`,
		`{"a":{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[0,90],[0,0]]]]}}`)
	f.Add(`{"a":{"$nearSphere":[0,0],"$maxDistance":1}}`, `{"a":{"type":"GeometryCollection","geometries":[{"type":"MultiPoint","coordinates":[[1,1]]}]}}`)
	f.Add(`{"a":{"$in":["x",{"$regex":"^Y","$options":"i"}],"$all":[{"$regex":"y"},1]}}`, `{"a":["y",1]}`)
	f.Add(`{"a":{"$all":[{"$elemMatch":{"b":1}}],"$size":1,"$mod":[3,1],"$type":["int"]}}`, `{"a":[{"b":1}]}`)
	f.Fuzz(func(t *testing.T, filter, doc string) {
		source, target := object(filter), object(doc)
		compiled, err := query.CompileFilter(source)
		if err != nil {
			requireCoded(t, err)
			return
		}
		matched, err := compiled.Check(target)
		if err != nil {
			requireCoded(t, err)
			require.False(t, compiled.Match(target))
			return
		}
		if source.IsZero() || compiled.Near() != nil { // A search by distance cannot be negated.
			return
		}
		negated := query.Must(query.CompileFilter(document.O("$nor", document.A(source))))
		require.NotEqual(t, matched, negated.Match(target))
		_, err = query.CompileGeoNear(source)
		if err != nil {
			requireCoded(t, err)
		}
	})
}

// FuzzEvaluation_IsBounded searches for small filters, changes, sorts and projections that continue after a
// sixteenth of a budget is spent. As a test it runs one in eight known calls, or all in a thorough run.
func FuzzEvaluation_IsBounded(f *testing.F) {
	documents := storetest.HostileDocuments(1)
	for i, call := range storetest.HostileCalls() {
		if i%8 == 0 || rounds.Thorough(f) {
			f.Add(call)
		}
	}
	f.Fuzz(func(t *testing.T, call string) {
		cases, err := storetest.ReadCases(strings.NewReader(call))
		if err != nil || len(cases) != 1 || len(call) > storetest.MaxHostile {
			t.Skip("the text is not a small call")
		}
		arguments, err := cases[0].Arguments()
		if err != nil {
			requireCoded(t, err)
			return
		}
		const many = 1 << 40
		ctx := &endsLater{Context: t.Context(), left: many}
		if err := evaluateAll(query.NewPartialEvaluation(ctx, 1, 16), arguments, documents); err != nil {
			requireCoded(t, err)
		}
		const work, ofDocuments, betweenLooks = 1 << 24, 1 << 26, 1 << 14
		require.Less(t, many-ctx.left, (work+ofDocuments)/betweenLooks, "checks of the context")
	})
}

// evaluateAll filters, changes, projects and sorts all documents.
func evaluateAll(e *query.Evaluation, arguments storetest.Arguments, documents []document.Object) error {
	filter, err := query.CompileFilter(arguments.Filter)
	if err != nil {
		return err
	}
	update, err := query.CompileUpdate(arguments.Update, arguments.ArrayFilters...)
	if err != nil {
		return err
	}
	projection, err := query.CompileProjection(arguments.Projection)
	if err != nil {
		return err
	}
	sort, err := query.CompileSort(arguments.Sort)
	if err != nil {
		return err
	}
	for _, o := range documents {
		if _, err := e.Check(filter, o); err != nil {
			return err
		}
		if err := e.CheckSort(sort, o); err != nil {
			return err
		}
		if _, _, err := e.Change(query.Change{Update: update, Now: now}, filter, o); err != nil {
			return err
		}
		if _, err := e.Project(projection, filter, o); err != nil {
			return err
		}
	}
	e.Sort(sort, slices.Clone(documents))
	return e.Err()
}

func FuzzUpdate(f *testing.F) {
	for _, seed := range []string{
		`{"$set":{"a.b":1},"$inc":{"n":1},"$push":{"l":{"$each":[1],"$slice":-2,"$sort":1}}}`,
		`{"$unset":{"l.0":1},"$rename":{"a":"z"},"$pull":{"l":{"$gt":1}}}`,
		`{"$set":{"l.$[].x":1},"$mul":{"n":-1}}`, `{"x":1}`, ``,
	} {
		f.Add(seed, `{"_id":1,"a":{"b":2},"n":9223372036854775807,"l":[3,{"x":1}]}`)
	}
	f.Fuzz(func(t *testing.T, update, doc string) {
		before := object(doc)
		text := before.String()
		compiled, err := query.CompileUpdate(object(update))
		if err != nil {
			requireCoded(t, err)
			return
		}
		after, modified, err := newCall(t).Change(query.Change{Update: compiled, Now: now}, nil, before)
		require.Equal(t, text, before.String(), "the original document does not change")
		if err != nil {
			requireCoded(t, err)
			return
		}
		require.NoError(t, after.Err())
		if !modified {
			require.Equal(t, text, after.String())
		}
	})
}

func FuzzExpression(f *testing.F) {
	for _, seed := range []string{
		`{"$add":["$n",{"$size":"$l"}]}`, `{"$map":{"input":"$l","as":"x","in":{"$mergeObjects":["$$x","$a"]}}}`,
		`{"$let":{"vars":{"x":{"$range":[0,"$n",3]}},"in":{"$reduce":{"input":"$$x","initialValue":[],"in":["$$value","$$this"]}}}}`,
		`{"$switch":{"branches":[{"case":{"$in":["$s","$l"]},"then":{"$split":["$s","b"]}}],"default":{"$toDate":"$s"}}}`,
		`{"$regexFindAll":{"input":"$s","regex":"$p","options":"i"}}`, `{"$setUnion":["$l",["$a.b"]]}`,
		`{"$dateTrunc":{"date":"$$NOW","unit":"week","binSize":2,"timezone":"+01:00"}}`, `{"$convert":{"input":"$s","to":"double","onError":"$$REMOVE"}}`,
		`{"$dateFromString":{"dateString":"$s","format":"%Y-%m-%d"}}`, `{"$zip":{"inputs":["$l","$l"],"useLongestLength":true}}`,
		`{"$round":["$f",{"$subtract":["$n",4]}]}`, `{"$arrayToObject":{"$objectToArray":"$$ROOT"}}`, `{"$sortArray":{"input":"$l","sortBy":{"x":-1}}}`,
	} {
		f.Add(seed, `{"_id":1,"a":{"b":2},"n":5,"f":2.675,"s":"abc","p":"b?","l":[3,{"x":1},"abc",null]}`)
	}
	f.Fuzz(func(t *testing.T, expression, doc string) {
		source, err := document.ParseJSON([]byte(expression))
		if err != nil {
			return
		}
		before := object(doc)
		text := before.String()
		value, isThere, err := query.EvaluateExpression(source, before, now)
		require.Equal(t, text, before.String(), "the document does not change")
		if err != nil {
			requireCoded(t, err)
			return
		}
		if !isThere {
			return
		}
		made := document.A(value)
		require.NoError(t, made.Err())
		require.LessOrEqual(t, document.O("r", value).Size(), document.MaxSize+100)
		again, _, err := query.EvaluateExpression(source, before, now)
		require.NoError(t, err)
		require.Equal(t, made.String(), document.A(again).String(), "the same document gives the same result")
	})
}

func object(text string) document.Object {
	value, err := document.ParseJSON([]byte(text))
	if err != nil {
		return document.Object{}
	}
	o, _ := value.(document.Object)
	return o
}

func FuzzSort(f *testing.F) {
	f.Add(`{"a":1,"b.0":-1}`, `{"a":[3,1],"b":[{"0":1}]}`, `{"a":null,"b":[]}`)
	f.Add(`{"a.b":-1,"_id":1}`, `{"_id":1,"a":[{"b":1},{"b":[2]}]}`, `{"_id":1.0,"a":[[{"b":1}]]}`)
	f.Fuzz(func(t *testing.T, sort, first, second string) {
		compiled, err := query.CompileSort(object(sort))
		if err != nil {
			requireCoded(t, err)
			return
		}
		a, b := object(first), object(second)
		require.Equal(t, newCall(t).Compare(compiled, a, b), -newCall(t).Compare(compiled, b, a))
		require.Zero(t, newCall(t).Compare(compiled, a, a))
	})
}

func FuzzProjection(f *testing.F) {
	const doc = `{"_id":1,"a":{"b":2,"c":[{"d":1},2]},"l":[3,{"x":1}]}`
	for _, seed := range []string{
		`{"a.b":1,"_id":0}`, `{"a":{"c":{"d":0}}}`, `{"l":{"$slice":[-1,1]}}`, `{"l":{"$elemMatch":{"x":1}},"a":1}`,
		`{"l.$":1}`, `{"n":"text","a":{"b":{"$add":["$a.b",1]}}}`, `{"l":{"x":"$_id"}}`,
	} {
		f.Add(seed, `{"l":3}`, doc)
	}
	f.Fuzz(func(t *testing.T, projection, filter, doc string) {
		compiled, err := query.CompileProjection(object(projection))
		if err != nil {
			requireCoded(t, err)
			return
		}
		matching, err := query.CompileFilter(object(filter))
		if err != nil {
			return
		}
		before := object(doc)
		text := before.String()
		for range 2 {
			after, err := newCall(t).Project(compiled, matching, before)
			require.Equal(t, text, before.String(), "the original document does not change")
			if err != nil {
				requireCoded(t, err)
				return
			}
			require.NoError(t, after.Err())
		}
	})
}

// samples is the number of random inputs per property.
const samples = 1000

// randomDocument returns a document with few different field names.
func randomDocument(random *rand.Rand) document.Object {
	o := document.O("_id", random.IntN(3))
	for _, name := range []string{"a", "b", "c"} {
		if random.IntN(4) > 0 {
			o = o.With(name, arbitrary.Value(random, 3))
		}
	}
	return o
}

// requireOrder checks the laws of a total order on three values.
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
		order := query.Must(query.CompileSort(source))
		for range samples / 3 {
			compare := func(a, b document.Object) int { return newCall(t).Compare(order, a, b) }
			requireOrder(t, compare, randomDocument(random), randomDocument(random), randomDocument(random))
		}
		documents := make([]document.Object, 50)
		for i := range documents {
			documents[i] = randomDocument(random).With("place", i)
		}
		newCall(t).Sort(order, documents)
		require.True(t, slices.IsSortedFunc(documents, func(a, b document.Object) int {
			if c := newCall(t).Compare(order, a, b); c != 0 {
				return c
			}
			return document.Get(a, "place", 0) - document.Get(b, "place", 0)
		}), "by %s, and ties as they were", source)
	}
}

// A second path without values does not change the order. But with two paths, the sort compares whole tuples.
func TestSort_TwoPathsAgreeWithOne(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(4, 4))
	for _, path := range []string{"a", "a.b", "a.0", "a.1.b", "a.b.0", "a.0.1", "a.0.b.1"} {
		for _, direction := range []int{1, -1} {
			alone := query.Must(query.CompileSort(document.O(path, direction)))
			beside := query.Must(query.CompileSort(document.O(path, direction, "a.none.none", 1)))
			for range rounds.Of(t, samples/10, samples) {
				one, other := randomDocument(random), randomDocument(random)
				if newCall(t).CheckSort(beside, one) == nil && newCall(t).CheckSort(beside, other) == nil {
					require.Equal(t, newCall(t).Compare(alone, one, other), newCall(t).Compare(beside, one, other), "%s by %s %d", one, path, direction)
				}
			}
		}
	}
}

func TestFilter_AsOperatorsAreDefined(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	matches := func(o document.Object, pairs ...any) bool {
		filter := query.Must(query.CompileFilter(document.O(pairs...)))
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
