package differential

import (
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// deviations are the known ones.
var deviations = []deviation{
	{
		name:   "an empty array in a sort",
		reason: "an empty array sorts below null and a missing field",
		example: `{"kind":"find","docs":[{"_id":1},{"_id":2,"a":[]}],"filter":{},"sort":[["a",1]],
			"expect":{"ids":[2,1]}}`,
		concerns: func(s shape) bool {
			return s.isUnderstood() && s.sortsBy(isEmptyArray)
		},
	},
	{
		name: "objects of different types of values",
		reason: "objects compare field by field, and of two fields first the types of the values, then the names, " +
			"then the values",
		example: `{"kind":"find","docs":[{"_id":1,"a":{"x":1}},{"_id":2,"a":{"b":[]}}],"filter":{},"sort":[["a",1]],
			"expect":{"ids":[1,2]}}`,
		concerns: func(s shape) bool { return s.isUnderstood() && s.comparesByType() },
	},
	{
		name:   "arrays in arrays",
		reason: "a path goes into the elements of an array that are objects, and not into those that are arrays",
		example: `{"kind":"count","docs":[{"_id":1,"a":[[{"b":1}]]}],"filter":{"a.b":{"$exists":true}},
			"expect":{"n":0}}`,
		concerns: func(s shape) bool {
			return s.isUnderstood() && s.stored(holdsArray) && s.reads(func(path string) bool { return strings.Contains(path, ".") })
		},
	},
	{
		name:   "$all, $elemMatch and arrays in arrays",
		reason: "$all and $elemMatch ask for the elements of the field's array, and not for those of an array in it",
		example: `{"kind":"count","docs":[{"_id":1,"a":[[3]]}],"filter":{"a":{"$all":[3]}},
			"expect":{"n":0}}`,
		concerns: func(s shape) bool {
			return s.isUnderstood() && s.stored(holdsArray) &&
				len(operands(s.source, "$all"))+len(operands(s.source, "$elemMatch")) > 0
		},
	},
	{
		name:   "a number in a path is a name, too",
		reason: "a number in a path is the index of an element and, in elements that are objects, the name of a field",
		example: `{"kind":"count","docs":[{"_id":1,"a":[{}]}],"filter":{"a.1":null},
			"expect":{"n":1}}`,
		concerns: func(s shape) bool { return s.isUnderstood() && s.reads(hasNumber) && s.stored(isArray) },
	},
	{
		name:    "the type of a missing field",
		reason:  "$type matches fields that are there",
		example: `{"kind":"count","docs":[{"_id":1}],"filter":{"a":{"$type":"null"}},"expect":{"n":0}}`,
		concerns: func(s shape) bool {
			return s.isUnderstood() && slices.ContainsFunc(operands(s.source, "$type"), asksForNull)
		},
	},
	{
		name:   "$elemMatch behind an array",
		reason: "$elemMatch needs an array in the field itself, and values of several elements are none",
		example: `{"kind":"count","docs":[{"_id":1,"a":[{"b":1}]}],"filter":{"a.b":{"$elemMatch":{"$gt":0}}},
			"expect":{"n":0}}`,
		concerns: func(s shape) bool {
			return s.isUnderstood() && s.hasCondition(func(path, operator string) bool {
				return operator == "$elemMatch" && strings.Contains(path, ".")
			})
		},
	},
	{
		name:   "array filters that are not used",
		reason: "every array filter is read, is about one name, and has to be used in the update",
		example: `{"kind":"update","docs":[{"_id":1}],"filter":{},"update":{"$set":{"a":1}},"arrayFilters":[{"e":1}],
			"expect":{"error":true}}`,
		concerns: func(s shape) bool {
			found, _ := boterr.AsError(s.ours)
			return s.refused == nil && found != nil &&
				(strings.HasPrefix(found.Field, "arrayFilters") || strings.Contains(found.Message(), "no array filter for"))
		},
	},
	{
		name:   "operators that conflict",
		reason: "two operators on one path, or on a path and one below it, are refused whatever they do to a document",
		example: `{"kind":"update","docs":[{"_id":1}],"filter":{},"update":{"$push":{"a":1},"$addToSet":{"a":1}},
			"expect":{"error":true}}`,
		concerns: func(s shape) bool { return s.refused == nil && s.hasConflict() },
	},
	{
		name:   "$rename and numbers",
		reason: "$rename refuses a path through an array, and a number is a name where there is none",
		example: `{"kind":"update","docs":[{"_id":1,"a":{"0":1}}],"filter":{},"update":{"$rename":{"a.0":"b"}},
			"expect":{"matched":1,"modified":1,"upserted":false,"after":[{"_id":1,"a":{},"b":1}]}}`,
		concerns: func(s shape) bool {
			return s.refused != nil && strings.Contains(s.refused.Error(), "$rename: path cannot be an array")
		},
	},
	{
		name:   "$addToSet of nothing",
		reason: "$addToSet makes an array of a missing field, also where it adds no values",
		example: `{"kind":"update","docs":[{"_id":1}],"filter":{},"update":{"$addToSet":{"a":{"$each":[]}}},
			"expect":{"matched":1,"modified":1,"upserted":false,"after":[{"_id":1,"a":[]}]}}`,
		concerns: func(s shape) bool {
			return s.isUnderstood() && slices.ContainsFunc(operands(s.c.Update, "$addToSet"), func(value any) bool {
				return slices.ContainsFunc(operands(value, "$each"), isEmptyArray)
			})
		},
	},
	{
		name:   "$push, sorted by a field that elements lack",
		reason: "elements that are no objects sort as if they lacked the field",
		example: `{"kind":"update","docs":[{"_id":1,"a":[{"b":1}]}],"filter":{},
			"update":{"$push":{"a":{"$each":[7],"$sort":{"b":1}}}},
			"expect":{"matched":1,"modified":1,"upserted":false,"after":[{"_id":1,"a":[7,{"b":1}]}]}}`,
		concerns: func(s shape) bool {
			return s.refused != nil && strings.Contains(s.refused.Error(), "$sort with field document requires")
		},
	},
	{
		name:   "parts of an _id in an upsert",
		reason: "an upsert is refused where the filter has a part of the _id",
		example: `{"kind":"replace","docs":[],"filter":{"_id.a":1},"update":{"b":1},"upsert":true,
			"expect":{"error":true}}`,
		concerns: func(s shape) bool {
			return s.refused == nil && s.ours != nil && isReplacement(s.update()) && s.upserts() &&
				s.reads(func(path string) bool { return strings.HasPrefix(path, document.IDField+".") })
		},
	},
	{
		name:   "an array as _id",
		reason: "an _id cannot be an array",
		example: `{"kind":"update","docs":[],"filter":{"_id":{"$eq":[]}},"update":{"$set":{"b":1}},"upsert":true,
			"expect":{"error":true}}`,
		concerns: func(s shape) bool {
			found, _ := boterr.AsError(s.ours)
			return s.refused == nil && found != nil && strings.HasSuffix(found.Field, document.IDField) && s.upserts()
		},
	},
	{
		name:   "$eq and $in beside other operators in an upsert",
		reason: "an upsert takes the field of every $eq and every $in of one value, also beside other operators",
		example: `{"kind":"update","docs":[],"filter":{"_id":1,"x":{"$mod":[1,0],"$eq":1}},"update":{"$set":{"y":1}},
			"upsert":true,"expect":{"matched":0,"modified":0,"upserted":true,"after":[{"_id":1,"x":1,"y":1}]}}`,
		concerns: func(s shape) bool {
			return s.isUnderstood() && s.upserts() && s.hasValueBesideOperators()
		},
	},
	{
		name:   "$rename through a value without fields",
		reason: "a path that leads through a value that is no object is refused",
		example: `{"kind":"update","docs":[{"_id":1,"b":"A"}],"filter":{},"update":{"$rename":{"b.x":"d"}},
			"expect":{"error":true}}`,
		concerns: func(s shape) bool {
			return s.refused == nil && s.ours != nil && strings.Contains(s.ours.Error(), "$rename cannot go through")
		},
	},
	{
		name:   "a sort through the elements of an array",
		reason: "of the values of several elements, the least or the greatest decides",
		example: `{"kind":"find","docs":[{"_id":1,"b":[{"b":1}]},{"_id":3}],"filter":{},"sort":[["b.b",1]],
			"expect":{"ids":[3,1]}}`,
		concerns: func(s shape) bool {
			return s.isUnderstood() && s.stored(holdsObject) &&
				slices.ContainsFunc(s.sortPaths(), func(path string) bool { return strings.Contains(path, ".") })
		},
	},
	{
		name: "a change from int to long",
		reason: "MongoDB counts a number that only becomes a long as modified; JSON and the store have one type of integers, " +
			"and nothing has changed",
		example: `{"kind":"update","docs":[{"_id":1,"a":0}],"filter":{},"update":{"$mul":{"a":4611686018427387904}},
			"expect":{"matched":1,"modified":0,"upserted":false,"after":[{"_id":1,"a":0}]}}`,
		concerns: func(s shape) bool {
			return s.isUnderstood() && len(operands(s.c.Update, "$mul"))+len(operands(s.c.Update, "$bit")) > 0
		},
	},
	{
		name:   "a replacement by the same fields",
		reason: "a replacement counts as modified, as in MongoDB 8",
		example: `{"kind":"replace","docs":[{"_id":1}],"filter":{},"update":{},
			"expect":{"matched":1,"modified":1,"upserted":false,"after":[{"_id":1}]}}`,
		concerns: func(s shape) bool { return s.isUnderstood() && s.c.Kind == "replace" },
	},
	{
		name:   "$[name] within elements that are not selected",
		reason: "a path goes on only in the elements that $[name] selects, and the others may be no arrays",
		example: `{"kind":"update","docs":[{"_id":1,"d":[1]}],"filter":{},"update":{"$set":{"d.$[e].$[f]":1}},
			"arrayFilters":[{"e":5},{"f":{"$ne":1}}],"expect":{"matched":1,"modified":0,"upserted":false,"after":[{"_id":1,"d":[1]}]}}`,
		concerns: func(s shape) bool {
			return s.ours == nil && s.refused != nil && strings.Contains(s.refused.Error(), "expected array at")
		},
	},
	{
		name:   "integers beyond 32 bits",
		reason: "a sum or a product that an int cannot hold becomes a long",
		example: `{"kind":"update","docs":[{"_id":1,"a":2147483647}],"filter":{},"update":{"$inc":{"a":1}},
			"expect":{"matched":1,"modified":1,"upserted":false,"after":[{"_id":1,"a":2147483648}]}}`,
		concerns: func(s shape) bool {
			return s.isUnderstood() && len(operands(s.c.Update, "$inc"))+len(operands(s.c.Update, "$mul")) > 0 &&
				(s.stored(isLargeInt) || anyValue(s.c.Update, isLargeInt))
		},
	},
	{
		name:   "arrays and missing fields in elements",
		reason: "a path asks each element that is an object: its array is equal to an array, and its missing field to null",
		example: `{"kind":"count","docs":[{"_id":1,"a":[{"b":[]}]}],"filter":{"a.b":{"$exists":true}},
			"expect":{"n":1}}`,
		concerns: func(s shape) bool {
			asksForNull := anyValue(s.c.Filter, func(value any) bool { return value == nil })
			return s.isUnderstood() && (s.stored(isEmptyArray) || s.stored(holdsObjectWithArray) || asksForNull) &&
				s.reads(func(path string) bool { return strings.Contains(path, ".") })
		},
	},
	{
		name:   "bits beyond the 64th",
		reason: "a negative integer has all of its higher bits set",
		example: `{"kind":"count","docs":[{"_id":1,"a":-2}],"filter":{"a":{"$bitsAllSet":[70]}},
			"expect":{"n":1}}`,
		concerns: func(s shape) bool {
			return s.isUnderstood() && s.hasCondition(func(_, operator string) bool { return strings.HasPrefix(operator, "$bits") }) &&
				anyValue(s.c.Filter, func(value any) bool { return value == int64(70) })
		},
	},
	{
		name:   "$elemMatch with fields, and elements without",
		reason: "$elemMatch with a query asks for elements that are objects",
		example: `{"kind":"count","docs":[{"_id":1,"d":[1]}],"filter":{"d":{"$elemMatch":{"b":{"$exists":false}}}},
			"expect":{"n":0}}`,
		concerns: func(s shape) bool {
			return s.isUnderstood() && slices.ContainsFunc(operands(s.source, "$elemMatch"), isNoOperators)
		},
	},
	{
		name:   "$all in an upsert",
		reason: "an upsert takes the value of an $all that has one",
		example: `{"kind":"update","docs":[],"filter":{"_id":1,"a":{"$all":[1]}},"update":{"$set":{"y":1}},
			"upsert":true,"expect":{"matched":0,"modified":0,"upserted":true,"after":[{"_id":1,"a":1,"y":1}]}}`,
		concerns: func(s shape) bool {
			return s.isUnderstood() && s.upserts() && len(operands(s.c.Filter, "$all")) > 0
		},
	},
	{
		name:   "fields that contradict in an upsert",
		reason: "an upsert refuses a filter that gives a field and one in it; a replacement takes the _id alone",
		example: `{"kind":"update","docs":[],"filter":{"c":{},"c.a":1},"update":{"$set":{"y":1}},"upsert":true,
			"expect":{"error":true}}`,
		concerns: func(s shape) bool {
			found, _ := boterr.AsError(s.ours)
			return s.upserts() && (s.refused == nil && found != nil && strings.HasPrefix(found.Field, "filter.") ||
				s.ours == nil && s.refused != nil && strings.Contains(s.refused.Error(), "cannot put value at"))
		},
	},
}
