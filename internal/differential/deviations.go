package differential

import (
	"maps"
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
			return s.isUnderstood() && s.meets(func(array document.Array, _ []string) bool { return holdsArray(array) })
		},
	},
	{
		name:   "$all, $elemMatch and arrays in arrays",
		reason: "$all and $elemMatch ask for the elements of the field's array, and not for those of an array in it",
		example: `{"kind":"count","docs":[{"_id":1,"a":[[3]]}],"filter":{"a":{"$all":[3]}},
			"expect":{"n":0}}`,
		concerns: func(s shape) bool {
			return s.isUnderstood() && s.asks(
				func(c condition) bool { return c.operator == "$all" || c.operator == "$elemMatch" },
				func(values []any) bool { return anyValue(document.A(values...), holdsArray) },
			)
		},
	},
	{
		name:   "a number in a path is a name, too",
		reason: "a number in a path is the index of an element and, in elements that are objects, the name of a field",
		example: `{"kind":"count","docs":[{"_id":1,"a":[{}]}],"filter":{"a.1":null},
			"expect":{"n":1}}`,
		concerns: func(s shape) bool { return s.isUnderstood() && s.meets(isAskedByNumber) },
	},
	{
		name:    "the type of a missing field",
		reason:  "$type matches fields that are there",
		example: `{"kind":"count","docs":[{"_id":1}],"filter":{"a":{"$type":"null"}},"expect":{"n":0}}`,
		concerns: func(s shape) bool {
			return s.isUnderstood() && s.asks(
				func(c condition) bool { return c.operator == "$type" && asksForNull(c.operand) },
				func(values []any) bool { return len(values) == 0 },
			)
		},
	},
	{
		name:   "$elemMatch behind an array",
		reason: "$elemMatch needs an array in the field itself, and values of several elements are none",
		example: `{"kind":"count","docs":[{"_id":1,"a":[{"b":1}]}],"filter":{"a.b":{"$elemMatch":{"$gt":0}}},
			"expect":{"n":0}}`,
		concerns: func(s shape) bool {
			return s.isUnderstood() && slices.ContainsFunc(conditionsIn(s.source, ""), func(c condition) bool {
				return c.operator == "$elemMatch" && s.stored(func(value any) bool {
					return meets(value, strings.Split(c.path, "."), holdsObject)
				})
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
		concerns: func(s shape) bool { return s.refused == nil && s.ours != nil && s.hasConflict() },
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
		reason: "$addToSet makes an array of a missing field, or fails to, also where it adds no values",
		example: `{"kind":"update","docs":[{"_id":1}],"filter":{},"update":{"$addToSet":{"a":{"$each":[]}}},
			"expect":{"matched":1,"modified":1,"upserted":false,"after":[{"_id":1,"a":[]}]}}`,
		concerns: func(s shape) bool {
			refuses := s.refused == nil && s.ours != nil && strings.Contains(s.ours.Error(), "cannot create the field")
			return (refuses || s.holdsAfter(isEmptyArray)) &&
				slices.ContainsFunc(operands(s.c.Update, "$addToSet"), func(value any) bool {
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
		reason: "a replacement is not inserted where the filter has a part of the _id",
		example: `{"kind":"replace","docs":[],"filter":{"_id.a":1},"update":{"b":1},"upsert":true,
			"expect":{"error":true}}`,
		concerns: func(s shape) bool {
			return s.refused == nil && s.ours != nil && isReplacement(s.update()) && s.upserts() &&
				slices.ContainsFunc(queryPaths(s.c.Filter), func(path string) bool {
					return strings.HasPrefix(path, document.IDField+".")
				})
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
			return (s.outcome.Upserted || s.theirs.Upserted) && s.hasValueBesideOperators()
		},
	},
	{
		name:   "$rename through a value without fields",
		reason: "a path that leads through a value that is no object is refused",
		example: `{"kind":"update","docs":[{"_id":1,"b":"A"}],"filter":{},"update":{"$rename":{"b.x":"d"}},
			"expect":{"error":true}}`,
		concerns: func(s shape) bool {
			return s.refused == nil && s.ours != nil && s.update().Has("$rename") &&
				(strings.Contains(s.ours.Error(), "$rename cannot go through") || strings.Contains(s.ours.Error(), "cannot create the field"))
		},
	},
	{
		name:   "$pop through a value without fields",
		reason: "$pop needs a path on which there can be a field",
		example: `{"kind":"update","docs":[{"_id":1,"b":"A"}],"filter":{},"update":{"$pop":{"b.x":1}},
			"expect":{"error":true}}`,
		concerns: func(s shape) bool {
			return s.refused == nil && s.ours != nil && s.update().Has("$pop") && strings.Contains(s.ours.Error(), "cannot create the field")
		},
	},
	{
		name:   "a sort through the elements of an array",
		reason: "of the values of several elements, the least or the greatest decides",
		example: `{"kind":"find","docs":[{"_id":1,"b":[{"b":1}]},{"_id":3}],"filter":{},"sort":[["b.b",1]],
			"expect":{"ids":[3,1]}}`,
		concerns: func(s shape) bool {
			return s.isUnderstood() && slices.ContainsFunc(s.c.Docs, func(o document.Object) bool {
				return slices.ContainsFunc(s.sortPaths(), func(path string) bool {
					return meets(o, strings.Split(path, "."), holdsObject)
				})
			})
		},
	},
	{
		name: "a change from int to long",
		reason: "MongoDB counts a number that only becomes a long as modified; JSON and the store have one type of integers, " +
			"and nothing has changed",
		example: `{"kind":"update","docs":[{"_id":1,"a":0}],"filter":{},"update":{"$mul":{"a":4611686018427387904}},
			"expect":{"matched":1,"modified":0,"upserted":false,"after":[{"_id":1,"a":0}]}}`,
		concerns: func(s shape) bool {
			return len(operands(s.c.Update, "$mul"))+len(operands(s.c.Update, "$bit")) > 0 &&
				s.theirs.Modified > s.outcome.Modified && s.differsIn(withoutModified)
		},
	},
	{
		name:   "a replacement by the same fields",
		reason: "a replacement counts as modified, as in MongoDB 8",
		example: `{"kind":"replace","docs":[{"_id":1}],"filter":{},"update":{},
			"expect":{"matched":1,"modified":1,"upserted":false,"after":[{"_id":1}]}}`,
		concerns: func(s shape) bool {
			return s.c.Kind == "replace" && s.outcome.Modified == 1 && s.theirs.Modified == 0 && s.differsIn(withoutModified)
		},
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
			return len(operands(s.c.Update, "$inc"))+len(operands(s.c.Update, "$mul")) > 0 && s.holdsAfter(isLong)
		},
	},
	{
		name:   "arrays and missing fields in elements",
		reason: "a path asks each element that is an object: its array is equal to an array, and its missing field to null",
		example: `{"kind":"count","docs":[{"_id":1,"a":[{"b":[]}]}],"filter":{"a.b":{"$exists":true}},
			"expect":{"n":1}}`,
		concerns: func(s shape) bool { return s.isUnderstood() && s.meets(hasArrayOrNothing) },
	},
	{
		name:   "bits beyond the 64th",
		reason: "a negative integer has all of its higher bits set",
		example: `{"kind":"count","docs":[{"_id":1,"a":-2}],"filter":{"a":{"$bitsAllSet":[70]}},
			"expect":{"n":1}}`,
		concerns: func(s shape) bool {
			return s.isUnderstood() && s.asks(
				func(c condition) bool {
					return strings.HasPrefix(c.operator, "$bits") && anyValue(c.operand, func(value any) bool { return value == int64(70) })
				},
				func(values []any) bool {
					return anyValue(document.A(values...), func(value any) bool { return document.Compare(value, int64(0)) < 0 })
				},
			)
		},
	},
	{
		name:   "$elemMatch with fields, and elements without",
		reason: "$elemMatch with a query asks for elements that are objects",
		example: `{"kind":"count","docs":[{"_id":1,"d":[1]}],"filter":{"d":{"$elemMatch":{"b":{"$exists":false}}}},
			"expect":{"n":0}}`,
		concerns: func(s shape) bool {
			return s.isUnderstood() && s.asks(
				func(c condition) bool { return c.operator == "$elemMatch" && isNoOperators(c.operand) },
				func(values []any) bool { return slices.ContainsFunc(values, isArray) },
			)
		},
	},
	{
		name:   "$all in an upsert",
		reason: "an upsert takes the value of an $all that has one",
		example: `{"kind":"update","docs":[],"filter":{"_id":1,"a":{"$all":[1]}},"update":{"$set":{"y":1}},
			"upsert":true,"expect":{"matched":0,"modified":0,"upserted":true,"after":[{"_id":1,"a":1,"y":1}]}}`,
		concerns: func(s shape) bool {
			return (s.outcome.Upserted || s.theirs.Upserted) && len(operands(s.c.Filter, "$all")) > 0
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
	{
		name:   "an $or in an $or in an upsert",
		reason: "an $or of one clause is that clause, so that an upsert takes its value, at any depth",
		example: `{"kind":"update","docs":[],"filter":{"_id":1,"$or":[{"$or":[{"a":1}]}]},"update":{"$set":{"y":1}},
			"upsert":true,"expect":{"matched":0,"modified":0,"upserted":true,"after":[{"_id":1,"a":1,"y":1}]}}`,
		concerns: func(s shape) bool {
			return (s.outcome.Upserted || s.theirs.Upserted) && slices.ContainsFunc(operands(s.c.Filter, "$or"), func(clauses any) bool {
				return len(operands(clauses, "$or"))+len(operands(clauses, "$and")) > 0
			})
		},
	},
	{
		name:   "integers beyond 64 bits",
		reason: "a sum or a product that a long cannot hold is refused",
		example: `{"kind":"update","docs":[{"_id":1,"a":2}],"filter":{},"update":{"$mul":{"a":4611686018427387904}},
			"expect":{"error":true}}`,
		concerns: func(s shape) bool {
			return s.refused == nil && s.ours != nil && strings.Contains(s.ours.Error(), "beyond the range of numbers")
		},
	},
	{
		name:   "an empty list in $all behind an array",
		reason: "a path through an array leads to the values of its elements, and they are no array themselves",
		example: `{"kind":"count","docs":[{"_id":1,"a":[]}],"filter":{"a.b":{"$all":[[]]}},
			"expect":{"n":0}}`,
		concerns: func(s shape) bool {
			return s.isUnderstood() && slices.ContainsFunc(conditionsIn(s.source, ""), func(c condition) bool {
				return c.operator == "$all" && anyValue(c.operand, holdsArray) && s.stored(func(value any) bool {
					return meets(value, strings.Split(c.path, "."), func(document.Array, []string) bool { return true })
				})
			})
		},
	},
	{
		name:   "NaN in comparisons",
		reason: "NaN is neither less nor greater than a number, although it sorts below all",
		example: `{"kind":"count","docs":[{"_id":1,"a":{"$numberDouble":"NaN"}}],"filter":{"a":{"$lt":1}},
			"expect":{"n":0}}`,
		concerns: func(s shape) bool {
			inElements := s.c.ArrayFilters != nil && anyValue(s.source, func(value any) bool { return isOneNaN(value, int64(0)) })
			return s.isUnderstood() && (inElements || slices.ContainsFunc(conditionsIn(s.source, ""), func(c condition) bool {
				return slices.Contains([]string{"$gt", "$gte", "$lt", "$lte"}, c.operator) &&
					s.stored(func(value any) bool {
						return anyValue(document.A(valuesAt(value, strings.Split(c.path, "."))...), func(inner any) bool {
							return anyValue(c.operand, func(asked any) bool { return isOneNaN(inner, asked) })
						})
					})
			}))
		},
	},
	{
		name:   "the order of operators",
		reason: "an update changes fields in the order of their names, and numbers in theirs",
		example: `{"kind":"update","docs":[{"_id":1,"a":[]}],"filter":{},"update":{"$min":{"a.3":1},"$mul":{"a.0":1}},
			"expect":{"matched":1,"modified":1,"upserted":false,"after":[{"_id":1,"a":[0,null,null,1]}]}}`,
		concerns: func(s shape) bool {
			fields := map[string]int{}
			for _, path := range s.updatePaths() {
				if field, _, nested := strings.Cut(path, "."); nested {
					fields[field]++
				}
			}
			return s.isUnderstood() && slices.Max(append(slices.Collect(maps.Values(fields)), 0)) > 1
		},
	},
	{
		name:   "an _id that equals the stored one",
		reason: "an update that gives a document the _id that it has changes nothing; 1.0 is 1",
		example: `{"kind":"replace","docs":[{"_id":1}],"filter":{},"update":{"_id":1.0,"a":1},
			"expect":{"matched":1,"modified":1,"upserted":false,"after":[{"_id":1,"a":1}]}}`,
		concerns: func(s shape) bool {
			return s.ours == nil && s.refused != nil && strings.Contains(s.refused.Error(), "_id is immutable")
		},
	},
	{
		name:   "a sort by two arrays",
		reason: "two keys of a sort may not both lead through arrays of one document, side by side",
		example: `{"kind":"find","docs":[{"_id":1,"a":[1],"b":[1]}],"filter":{},"sort":[["a",1],["b",1]],
			"expect":{"error":true}}`,
		concerns: func(s shape) bool {
			return s.refused == nil && s.ours != nil && strings.Contains(s.ours.Error(), "both lead through arrays")
		},
	},
	{
		name:   "the order of new fields",
		reason: "an update adds fields in the order of their names, and a new document begins with its _id",
		example: `{"kind":"update","docs":[{"_id":1}],"filter":{},"update":{"$set":{"b":1,"a":1}},
			"expect":{"matched":1,"modified":1,"upserted":false,"after":[{"_id":1,"a":1,"b":1}]}}`,
		concerns: func(s shape) bool {
			return (s.outcome.Upserted || len(s.updatePaths()) > 1) && s.differsIn(withFieldsInOneOrder)
		},
	},
}

func withoutModified(outcome document.Object) document.Object { return outcome.Without("modified") }

func withFieldsInOneOrder(outcome document.Object) document.Object {
	ordered, _ := inOneOrder(outcome).(document.Object)
	return ordered
}
