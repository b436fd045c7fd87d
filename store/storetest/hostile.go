package storetest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
)

// MaxHostile is the maximum size in bytes of a call that RunHostile makes.
const MaxHostile = 64 << 10

// HostileDocuments returns sixteenths/16 of about 20 MB of documents on which a small call may take long: a
// few with long arrays, some with long texts, deep ones, and many small ones.
func HostileDocuments(sixteenths int) []document.Object {
	var documents []document.Object
	numbers, objects := make([]any, 1_250*sixteenths), make([]any, 1_250*sixteenths)
	for i := range numbers {
		numbers[i], objects[i] = i, document.O("a", i%7, "b", document.A(i, "x"))
	}
	for i := range 6 {
		documents = append(documents, document.O("_id", fmt.Sprint("wide", i), "l", document.A(make([]any, 6_250*sixteenths)...),
			"n", document.A(numbers...), "o", document.A(objects...), "at", document.A(i, i)))
	}
	for i := range 4 {
		text := strings.Repeat("ab", 31_250*sixteenths)
		documents = append(documents, document.O("_id", fmt.Sprint("long", i), "s", text, "t", strings.Clone(text), "i", i))
	}
	for i := range 3 * sixteenths {
		inner := any(i)
		for range 40 {
			inner = document.O("a", document.A(inner, document.O("a", 1)))
		}
		documents = append(documents, document.O("_id", fmt.Sprint("deep", i), "d", inner))
	}
	for i := range 1_875 * sixteenths {
		documents = append(documents, document.O("_id", strconv.Itoa(i), "s", fmt.Sprint("text ", i), "i", i, "n", document.A(i),
			"l", document.A(i, "x"), "o", document.A(document.O("a", i%7))))
	}
	return documents
}

// RunHostile runs a call, which is the JSON of a Case, on a collection that contains HostileDocuments. It
// fails if the error has no code, or if the call checks its context more often than its budget allows, which
// means that it continued after the budget was spent. It ignores a text that is not a small call.
func RunHostile(t *testing.T, call string, sixteenths int, collection store.Collection) (Outcome, error) {
	t.Helper()
	cases, err := ReadCases(strings.NewReader(call))
	if err != nil || len(cases) != 1 || len(call) > MaxHostile || len(cases[0].Docs)+len(cases[0].Indexes) > 0 {
		t.Skip("the text is not a small call")
	}
	ctx := &countingContext{Context: t.Context()}
	outcome, err := cases[0].Run(ctx, collection)
	if err != nil {
		require.NotEqual(t, boterr.Internal, boterr.CodeOf(err), "%v", err)
	}
	// A call may use work units, plus perSixteenth for each sixteenth of the documents, and checks its context
	// every betweenLooks units. Only a write that starts again reads a document twice.
	const work, perSixteenth, betweenLooks = 1 << 28, 1 << 26, 1 << 14
	require.Less(t, int(ctx.looks.Load()), (work+sixteenths*perSixteenth)/betweenLooks, "checks of the context by %.500s", call)
	return outcome, err
}

type countingContext struct {
	context.Context //nolint:containedctx // It is a context.

	looks atomic.Int64
}

func (c *countingContext) Err() error {
	c.looks.Add(1)
	return c.Context.Err()
}

// HostileCalls returns small calls on HostileDocuments that take long or produce much, or that might. Run
// them with RunHostile.
func HostileCalls() []string {
	var calls []string
	add := func(pairs ...any) { calls = append(calls, document.O(pairs...).String()) }
	for _, filter := range hostileFilters() {
		add("kind", "find", "filter", filter)
	}
	for _, patch := range hostilePatches() {
		add("kind", "update", "filter", o(), "multi", true, "update", patch)
	}
	for _, filters := range []document.Array{
		a(o("e.a", o("$gt", 3))),
		a(o("$nor", repeated(300, o("e.a", o("$gt", 10))))),
		a(o("$nor", repeated(3_000, o("e.a", o("$gt", 10))))),
		a(o("e.b", o("$elemMatch", o("$nin", repeated(5_000, "y"))))),
		a(o("e.b", o("$regex", "(?:a?b?){900}c"))),
	} {
		add("kind", "update", "filter", o(), "multi", true, "update", o("$inc", o("o.$[e].a", 1)), "arrayFilters", filters)
	}
	for _, projection := range []document.Object{
		manyNames("o.p", 3_000),
		o("l", o("$slice", a(-100_000, 100_000))),
		o("o", o("$elemMatch", o("$nor", repeated(500, o("a", o("$gt", 10)))))),
		o("n", o("$elemMatch", o("$nin", repeated(5_000, "y")))),
		o("o.a", 1, "n", 1, "l", 1),
		o("s", 0, "o.b", 0),
	} {
		add("kind", "find", "filter", o(), "projection", projection)
	}
	for _, keys := range []document.Array{
		a(a("o.a", 1), a("o.b", -1)), a(a("l", 1), a("s", 1)), a(a("n", -1)), a(a("s", 1)), a(a("i", -1)), a(a("d.a.a", 1), a("d.a.a.a", -1)),
	} {
		add("kind", "find", "filter", o(), "sort", keys)
		add("kind", "findAndModify", "filter", o(), "sort", keys, "update", o("$set", o("x", 1)))
	}
	for _, key := range []string{"l", "n", "o", "o.b", "s", "d.a.a", "_id"} {
		add("kind", "distinct", "filter", o(), "key", key)
	}
	add("kind", "geoNear", "geoNear", o("near", a(0, 0), "key", "at", "query", o("$expr", times(400_000, "$l.x"))))
	return calls
}

// o and a have short names because there are many calls.
var (
	o = document.O
	a = document.A
)

// times is an expression that repeats an expression n times.
func times(n int, in any) document.Object {
	return o("$map", o("input", o("$range", a(0, n)), "in", in))
}

func repeated(n int, value any) document.Array { return a(slices.Repeat([]any{value}, n)...) }

func hostileFilters() []document.Object {
	patterns := make([]any, 500)
	for i := range patterns {
		patterns[i] = o("s", o("$regex", strings.Repeat("(a?)", i%20)+[]string{"b", "[ab]*z$"}[i%2]))
	}
	nested := o("n", 1)
	for nested.Size() < MaxHostile/4 {
		nested = o("$nor", a(nested, nested.With("s", 1)))
	}
	filters := []document.Object{
		o("s", o("$regex", "(?:a?b?){900}c")),
		o("$nor", repeated(3_000, o("l", o("$gt", 1)))),
		o("$and", repeated(600, o("$expr", o("$gte", a(o("$size", times(1_000, 1)), 0))))),
		o("o", o("$elemMatch", o("$nor", repeated(500, o("a", o("$gt", 10)))))),
		o("o", o("$elemMatch", o("$nor", repeated(3_000, o("a", o("$gt", 10)))))),
		o("$or", a(patterns...)),
		o("s", o("$gt", strings.Repeat("ab", 20_000))),
		o("$or", repeated(500, o("s", strings.Repeat("ab", 50)))),
		o("d.a.a.a.a.a.a.a.a", 1),
		o("d.0.a.0.a.0.a.0.a.0.a.0.a.0.a.0.a.0.a.0", 1),
		o("l", o("$all", repeated(2_000, "x"))),
		o("l", repeated(5_000, nil)),
		o("at", o("$geoWithin", o("$polygon", zigzag(1_000)))),
		o("at", o("$geoIntersects", o("$geometry", o("type", "Polygon", "coordinates", a(zigzag(1_000)))))),
		nested,
		manyNames("p", 3_000),
	}
	for _, expression := range hostileExpressions() {
		filters = append(filters, o("$expr", expression))
	}
	return filters
}

func hostileExpressions() []document.Object {
	twice := func(concat string) document.Object { return o(concat, a("$$value", "$$value")) }
	return []document.Object{
		o("$let", o("vars", o("x", times(400_000, nil)), "in", times(400_000, o("$maxN", o("n", 1, "input", "$$x"))))),
		times(10_000, "$l.x"),
		times(10_000, o("$anyElementTrue", "$l")),
		times(10_000, o("$max", "$l")),
		times(10_000, o("$eq", a("$s", "$t"))),
		times(200_000, o("$convert", o("input", "$s", "to", "int", "onError", 0))),
		o("$regexMatch", o("input", "$s", "regex", "(?:a?b?){900}c")),
		o("$regexFindAll", o("input", "$s", "regex", strings.Repeat("(a?)", 200))),
		o("$regexFindAll", o("input", "$s", "regex", "a(?:.*z)?")),
		o("$reduce", o("input", o("$range", a(0, 30)), "initialValue", a(1), "in", twice("$concatArrays"))),
		o("$reduce", o("input", o("$range", a(0, 30)), "initialValue", "x", "in", twice("$concat"))),
		times(1_000, o("$sortArray", o("input", "$l", "sortBy", -1))),
		times(1_000, o("$setUnion", a("$l", "$n"))),
		times(1_000, o("$slice", a("$l", 1, 100_000))),
		times(1_000_000, o("a", "$_id")),
		o("$filter", o("input", "$o", "cond", o("$in", a("$$this.a", "$n")))),
		o("$zip", o("inputs", a("$l", "$n", "$o"), "useLongestLength", true)),
		times(1_000, o("$objectToArray", "$$ROOT")),
		times(100_000, o("$dateFromString", o("dateString", "2020-01-01T00:00:00Z", "onError", 1))),
		times(100_000, o("$dateToString", o("date", "$$NOW", "format", strings.Repeat("%j", 50)))),
		times(100_000, o("$round", a(o("$divide", a("$i", 7)), 90))),
		times(1_000, o("$trim", o("input", "$s", "chars", "ab"))),
		times(100_000, o("$getField", o("field", "a", "input", o("$mergeObjects", a("$o", o("b", 1)))))),
	}
}

func hostilePatches() []document.Object {
	paths := make([]any, 0, 1_000)
	for i := range 500 {
		paths = append(paths, "o.$[].p"+strings.Repeat("q", i%50)+string(rune('a'+i%26)), 1)
	}
	return []document.Object{
		o("$set", o("l.1499999", 1)),
		o("$push", o("l", o("$each", repeated(5_000, nil), "$sort", 1))),
		o("$push", o("o", o("$each", repeated(500, o("a", 1)), "$sort", o("b", 1, "a", -1), "$slice", -19_000))),
		o("$addToSet", o("l", o("$each", repeated(2_000, "x")))),
		o("$pull", o("o", o("$nor", repeated(300, o("a", o("$gt", 10)))))),
		o("$pull", o("o", o("$nor", repeated(3_000, o("a", o("$gt", 10)))))),
		o("$pullAll", o("n", repeated(5_000, 1))),
		o("$pop", o("l", 1, "n", -1, "o", 1)),
		o("$inc", o("n.$[]", 1)),
		o("$rename", o("l", "m", "o", "p")),
		o("$unset", o(paths...)),
		o("$set", o(paths...)),
		o("$set", o("x", strings.Repeat("x", 60_000))),
	}
}

// zigzag is a ring that crosses itself many times.
func zigzag(n int) document.Array {
	ring := make([]any, 0, n+1)
	for i := range n {
		ring = append(ring, a(float64(i%2)*10, math.Mod(float64(i)*7919, float64(n))/float64(n)*10))
	}
	return a(append(ring, ring[0])...)
}

// manyNames returns an object with n fields whose names begin alike.
func manyNames(prefix string, n int) document.Object {
	pairs := make([]any, 0, 2*n)
	for i := range n {
		pairs = append(pairs, prefix+strconv.Itoa(i), 1)
	}
	return o(pairs...)
}
