package hostile

import (
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/document"
)

// o and a are short, since the calls below are many.
var (
	o = document.O
	a = document.A
)

// times is an expression that does something so many times.
func times(n int, in any) document.Object {
	return o("$map", o("input", o("$range", a(0, n)), "in", in))
}

// repeated is a list of one value.
func repeated(n int, value any) document.Array { return a(slices.Repeat([]any{value}, n)...) }

// expressions are what was found to be costly, or is suspected of it.
func expressions() []any {
	return []any{
		o("$let", o("vars", o("x", times(400_000, nil)), "in", times(400_000, o("$maxN", o("n", 1, "input", "$$x"))))),
		times(10_000, "$l.x"),
		times(10_000, o("$anyElementTrue", "$l")),
		times(10_000, o("$max", "$l")),
		times(10_000, o("$eq", a("$s", "$t"))),
		times(200_000, o("$convert", o("input", "$s", "to", "int", "onError", 0))),
		o("$regexMatch", o("input", "$s", "regex", "(?:a?b?){900}c")),
		o("$regexFindAll", o("input", "$s", "regex", strings.Repeat("(a?)", 200))),
		o("$reduce", o("input", o("$range", a(0, 30)), "initialValue", a(1), "in", o("$concatArrays", a("$$value", "$$value")))),
		o("$reduce", o("input", o("$range", a(0, 30)), "initialValue", "x", "in", o("$concat", a("$$value", "$$value")))),
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

// filters are what was found to be costly, or is suspected of it.
func filters() []document.Object {
	found := []document.Object{
		o("s", o("$regex", "(?:a?b?){900}c")),
		o("$nor", repeated(3_000, o("l", o("$gt", 1)))),
		o("$and", repeated(600, o("$expr", o("$gte", a(o("$size", times(1_000, 1)), 0))))),
		o("o", o("$elemMatch", o("$nor", repeated(500, o("a", o("$gt", 10)))))),
		o("o", o("$elemMatch", o("$nor", repeated(3_000, o("a", o("$gt", 10)))))),
		o("$or", patterns(500)),
		o("s", o("$gt", strings.Repeat("ab", 20_000))),
		o("$or", repeated(500, o("s", strings.Repeat("ab", 50)))),
		o("d.a.a.a.a.a.a.a.a", 1),
		o("d.0.a.0.a.0.a.0.a.0.a.0.a.0.a.0.a.0.a.0", 1),
		o("l", o("$all", repeated(2_000, "x"))),
		o("at", o("$geoWithin", o("$polygon", zigzag(1_000)))),
		o("at", o("$geoIntersects", o("$geometry", o("type", "Polygon", "coordinates", a(zigzag(1_000)))))),
		nested(90),
	}
	for _, e := range expressions() {
		found = append(found, o("$expr", e))
	}
	return found
}

// patterns are patterns that differ.
func patterns(n int) document.Array {
	list := make([]any, n)
	for i := range list {
		list[i] = o("s", o("$regex", strings.Repeat("(a?)", i%20)+[]string{"b", "[ab]*z$"}[i%2]))
	}
	return a(list...)
}

// zigzag is a ring that crosses itself many times.
func zigzag(n int) document.Array {
	ring := make([]any, 0, n+1)
	for i := range n {
		ring = append(ring, a(float64(i%2)*10, float64(i*7919%n)/float64(n)*10))
	}
	return a(append(ring, ring[0])...)
}

// nested is a filter within filters.
func nested(levels int) document.Object {
	inner := o("n", 1)
	for range levels {
		inner = o("$nor", a(inner, inner.With("s", 1)))
		if inner.Size() > MostInput/4 {
			break
		}
	}
	return inner
}

// patches are what was found to be costly, or is suspected of it, by the arrays of the data
// source. Pipelines are no patches.
func patches() []document.Object {
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
		o("$unset", manyPaths(500)),
		o("$set", manyPaths(500)),
		o("$set", o("x", strings.Repeat("x", 60_000))),
	}
}

// arrayFilters are what patches of filtered elements are made with.
func arrayFilters() []document.Array {
	return []document.Array{
		a(o("e.a", o("$gt", 3))),
		a(o("$nor", repeated(300, o("e.a", o("$gt", 10))))),
		a(o("$nor", repeated(3_000, o("e.a", o("$gt", 10))))),
		a(o("e.b", o("$elemMatch", o("$nin", repeated(5_000, "y"))))),
		a(o("e.b", o("$regex", "(?:a?b?){900}c"))),
	}
}

// projections are what was found to be costly, or is suspected of it.
func projections() []document.Object {
	return []document.Object{
		manyNames("o.p", 3_000),
		o("l", o("$slice", a(-100_000, 100_000))),
		o("o", o("$elemMatch", o("$nor", repeated(500, o("a", o("$gt", 10)))))),
		o("n", o("$elemMatch", o("$nin", repeated(5_000, "y")))),
		o("o.a", 1, "n", 1, "l", 1),
		o("s", 0, "o.b", 0),
	}
}

// orders are what was found to be costly to sort by, or is suspected of it.
func orders() []document.Object {
	return []document.Object{
		o("o.a", 1, "o.b", -1), o("l", 1, "s", 1), o("n", -1), o("s", 1), o("i", -1), o("d.a.a", 1, "d.a.a.a", -1),
		manyNames("o.b.", 32), //nolint:mnd // The most that a sort takes.
	}
}

// schedules are patterns of agendas: those that run seldom or never, and long ones.
func schedules() []string {
	return []string{
		"0 0 31 2 *", "0 0 29 2 *", "0 0 0 29 2 1 2099", "59 59 23 31 12 6 2099", "* * * * * * *",
		strings.Repeat("1-59/2,", 30) + "0 * * * *",
	}
}

// metas are data that are compared as equal.
func metas() []document.Object {
	return []document.Object{
		o("s", strings.Repeat("ab", 20_000)), o("l", repeated(5_000, nil)), o("l.0.a", 1), manyNames("p", 3_000),
	}
}

// manyNames are names of fields that begin alike.
func manyNames(prefix string, n int) document.Object {
	pairs := make([]any, 0, 2*n)
	for i := range n {
		pairs = append(pairs, prefix+strconv.Itoa(i), 1)
	}
	return o(pairs...)
}

// manyPaths are paths into elements of an array.
func manyPaths(n int) document.Object {
	pairs := make([]any, 0, 2*n)
	for i := range n {
		pairs = append(pairs, "o.$[].p"+strings.Repeat("q", i%50)+string(rune('a'+i%26))+strings.Repeat("r", i/1_300), 1)
	}
	return o(pairs...)
}
