package differential

import (
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
			return s.isUnderstood() && s.c.Sort != nil && anyValue(s.docs(), isEmptyArray)
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
			return s.isUnderstood() && anyValue(s.docs(), holdsArray) && s.reads(func(path string) bool { return strings.Contains(path, ".") })
		},
	},
	{
		name:   "$all and arrays in arrays",
		reason: "$all asks for the elements of the field's array, and not for those of an array in it",
		example: `{"kind":"count","docs":[{"_id":1,"a":[[3]]}],"filter":{"a":{"$all":[3]}},
			"expect":{"n":0}}`,
		concerns: func(s shape) bool {
			return s.isUnderstood() && anyValue(s.docs(), holdsArray) && operands(s.source, "$all").Len() > 0
		},
	},
	{
		name:   "a number in a path is a name, too",
		reason: "a number in a path is the index of an element and, in elements that are objects, the name of a field",
		example: `{"kind":"count","docs":[{"_id":1,"a":[{}]}],"filter":{"a.1":null},
			"expect":{"n":1}}`,
		concerns: func(s shape) bool { return s.isUnderstood() && s.reads(hasNumber) && anyValue(s.docs(), holdsObject) },
	},
	{
		name:     "the type of a missing field",
		reason:   "$type matches fields that are there",
		example:  `{"kind":"count","docs":[{"_id":1}],"filter":{"a":{"$type":"null"}},"expect":{"n":0}}`,
		concerns: func(s shape) bool { return s.isUnderstood() && anyValue(operands(s.source, "$type"), isNullType) },
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
			return s.refused == nil && found != nil && strings.HasPrefix(found.Field, "arrayFilters")
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
			return s.isUnderstood() && anyValue(operands(s.c.Update, "$addToSet"), func(value any) bool {
				return anyValue(operands(value, "$each"), isEmptyArray)
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
}
