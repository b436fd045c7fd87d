package hostile

import (
	"slices"
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
		list[i] = o("s", o("$regex", strings.Repeat("(a?)", i%20)+"b"))
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

// patches are what was found to be costly, or is suspected of it; a list is a pipeline.
func patches() []any {
	found := []any{
		o("$set", o("l.1499999", 1)),
		o("$push", o("l", o("$each", repeated(5_000, nil), "$sort", 1))),
		o("$addToSet", o("l", o("$each", repeated(2_000, "x")))),
		o("$pull", o("o", o("$nor", repeated(300, o("a", o("$gt", 10)))))),
		o("$pullAll", o("n", repeated(5_000, 1))),
		o("$unset", manyPaths(500)),
		o("$set", manyPaths(500)),
		o("$set", o("x", strings.Repeat("x", 60_000))),
	}
	for _, e := range expressions() {
		found = append(found, a(o("$set", o("x", e))))
	}
	return found
}

// manyPaths are paths into elements of an array.
func manyPaths(n int) document.Object {
	pairs := make([]any, 0, 2*n)
	for i := range n {
		pairs = append(pairs, "o.$[].p"+strings.Repeat("q", i%50)+string(rune('a'+i%26))+strings.Repeat("r", i/1_300), 1)
	}
	return o(pairs...)
}

// seeds are the calls from which the search begins: each costly part through each operation
// that takes it.
func seeds() []Call {
	var calls []Call
	add := func(operation string, arguments document.Object) {
		calls = append(calls, Call{Operation: operation, Arguments: arguments})
	}
	for _, filter := range filters() {
		for _, operation := range []string{"fetchDataFromDataSource", "countDataSource"} {
			add(operation, o("dataSourceId", "things", "filter", filter))
		}
		add("fetchDistinctDataFromDataSource", o("dataSourceId", "things", "key", "o.b", "filter", filter))
		add("fetchGeoNearFromDataSource", o("dataSourceId", "things", "data", o("near", a(0, 0), "key", "at", "query", filter)))
		add("patchDataToDataSource", o("dataSourceId", "things", "filter", filter, "patch", o("x", 1)))
		add("findAndModifyDataFromDataSource", o("dataSourceId", "things", "filter", filter, "patch", o("$set", o("x", 1))))
		add("findAndModifyMember", o("filter", filter, "patch", o("$set", o("meta.x", 1))))
		add("patchMembers", o("filter", filter, "patch", o("meta.x", 1)))
		add("getAssignmentsByMeta", o("meta", filter))
	}
	for _, patch := range patches() {
		add("patchDataToDataSource", o("dataSourceId", "things", "patch", patch, "withModifier", true, "options", o("multi", true)))
		add("findAndModifyDataFromDataSource", o("dataSourceId", "things", "filter", o("_id", "wide0"), "patch", patch))
		add("patchMembers", o("patch", patch, "withModifier", true))
	}
	for _, e := range expressions() {
		add("findAndModifyDataFromDataSource", o("dataSourceId", "things", "filter", o("_id", "wide0"),
			"patch", o("$set", o("x", 1)), "options", o("projection", o("x", e))))
	}
	add("fetchDataFromDataSource", o("dataSourceId", "things", "sortBy", o("o.a", 1, "o.b", -1)))
	add("fetchDataFromDataSource", o("dataSourceId", "things", "sortBy", o("l", 1, "s", 1)))
	return calls
}
