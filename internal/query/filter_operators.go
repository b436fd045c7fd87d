package query

import (
	"maps"
	"math"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// fieldOperators are the operators that can stand on a field, and logicalOperators those in its place, for
// the errors that name one.
var (
	fieldOperators = []string{
		"$all", "$bitsAllClear", "$bitsAllSet", "$bitsAnyClear", "$bitsAnySet", "$elemMatch", "$eq", "$exists",
		"$geoIntersects", "$geoWithin", "$gt", "$gte", "$in", "$lt", "$lte", "$mod", "$ne", "$near", "$nearSphere",
		"$nin", "$not", "$options", "$regex", "$size", "$type",
	}
	logicalOperators = []string{"$and", "$comment", "$expr", "$nor", "$or"}
)

// operator compiles one operator of a field. beside is the object in which it
// stands, which $regex and $options share.
func (c filterCompiler) operator(operator string, operand any, beside document.Object) ([]fieldCondition, error) {
	switch operator {
	case "$eq":
		return one(equalCondition(operand)), nil
	case "$ne":
		return negate(one(equalCondition(operand))), nil
	case "$gt", "$gte", "$lt", "$lte":
		return one(compareCondition(operator, operand)), nil
	case "$in", "$nin":
		return c.listCondition(operator, operand)
	case "$exists":
		return existsCondition(operand), nil
	case "$type":
		return typeCondition(operand)
	case "$mod":
		return modCondition(operand)
	case "$regex":
		return c.regexCondition(operand, beside)
	case "$options":
		return optionsCondition(beside)
	case "$not":
		return c.notCondition(operand)
	case "$all":
		return c.allCondition(operand)
	case "$size":
		return sizeCondition(operand)
	case "$elemMatch":
		return c.elemMatchCondition(operand)
	default:
		return furtherOperator(operator, operand, beside)
	}
}

// furtherOperator compiles the operators that are needed less often.
func furtherOperator(operator string, operand any, beside document.Object) ([]fieldCondition, error) {
	switch operator {
	case "$bitsAllSet", "$bitsAllClear", "$bitsAnySet", "$bitsAnyClear":
		return bitsCondition(operator, operand)
	default:
		return geoCondition(operator, operand, beside)
	}
}

// one is a condition on one of the values at a path, the elements of an array
// included.
func one(test candidateTest) []fieldCondition { return []fieldCondition{{test: test}} }

// negate turns a condition round.
func negate(conditions []fieldCondition) []fieldCondition {
	group := conditionGroup(conditions)
	if group.negated {
		group = fieldCondition{all: []fieldCondition{group}}
	}
	group.negated = true
	return []fieldCondition{group}
}

func compareCondition(operator string, operand any) candidateTest {
	c := &ordered{
		operand: operand,
		class:   document.ClassOf(operand),
		less:    operator == "$lt" || operator == "$lte",
		equal:   operator == "$lte" || operator == "$gte",
		greater: operator == "$gt" || operator == "$gte",
	}
	c.numbers = c.intervalOfNumbers()
	return c
}

// intervalOfNumbers returns the numbers that are meant, where a float64 holds the operand and what is next to it.
func (c *ordered) intervalOfNumbers() interval {
	operand, isExact := exactNumber(c.operand)
	if !isExact || math.IsNaN(operand) || math.IsInf(operand, 0) {
		return interval{}
	}
	found := interval{low: math.Inf(-1), high: math.Inf(1), isKnown: true}
	switch {
	case c.greater && c.equal:
		found.low = operand
	case c.greater:
		found.low = math.Nextafter(operand, math.Inf(1))
	case c.equal:
		found.high = operand
	default:
		found.high = math.Nextafter(operand, math.Inf(-1))
	}
	return found
}

// exactNumber returns a number that a float64 holds exactly.
func exactNumber(value any) (number float64, isExact bool) {
	switch v := value.(type) {
	case float64:
		return v, true
	case int64:
		return float64(v), -document.MaxExact < v && v < document.MaxExact
	default:
		return 0, false
	}
}

func existsCondition(operand any) []fieldCondition {
	conditions := []fieldCondition{{test: exists{}, mode: leafWhole}}
	if isTrue(operand) {
		return conditions
	}
	return negate(conditions)
}

// isTrue reads a value as a truth value, as MongoDB does: false, 0 and null are
// false.
func isTrue(value any) bool {
	switch v := value.(type) {
	case nil:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	default:
		return true
	}
}

// typeAliases are the names of $type. The numbers of types that no value has are
// there so that asking for them finds nothing rather than failing.
var typeAliases = map[string][]int64{
	"double": {typeDouble}, "string": {typeString}, "object": {typeObject}, "array": {typeArray},
	"binData": {5}, "undefined": {6}, "objectId": {7}, "bool": {typeBool}, "date": {typeDate},
	"null": {typeNull}, "regex": {11}, "dbPointer": {12}, "javascript": {13}, "symbol": {14},
	"javascriptWithScope": {15}, "int": {typeInt}, "timestamp": {17}, "long": {typeLong},
	"decimal": {19}, "minKey": {-1}, "maxKey": {127},
	"number": {typeDouble, typeInt, typeLong, 19},
}

func typeCondition(operand any) ([]fieldCondition, error) {
	list, ok := operand.(document.Array)
	if !ok {
		list = document.A(operand)
	}
	if list.Len() == 0 {
		return nil, boterr.Invalid("", "must name at least one type")
	}
	types := ofType{}
	for i, item := range list.All() {
		numbers, err := typeNumbers(item)
		if err != nil {
			return nil, boterr.PrefixField(boterr.Index(i), err)
		}
		for _, number := range numbers {
			types[number] = struct{}{}
		}
	}
	return one(types), nil
}

// typeNumbers reads an alias or a number of $type.
func typeNumbers(operand any) ([]int64, error) {
	if alias, ok := operand.(string); ok {
		if numbers, ok := typeAliases[alias]; ok {
			return numbers, nil
		}
		return nil, boterr.Invalid("", "%q is no name of a type", alias)
	}
	number, ok := document.WholeNumber(operand)
	if !ok {
		return nil, boterr.Invalid("", "must be the name or number of a type, got %s", document.Excerpt(operand))
	}
	for numbers := range maps.Values(typeAliases) {
		if slices.Contains(numbers, number) {
			return []int64{number}, nil
		}
	}
	return nil, boterr.Invalid("", "%d is no number of a type", number)
}

func modCondition(operand any) ([]fieldCondition, error) {
	list, ok := operand.(document.Array)
	if !ok || list.Len() != 2 {
		return nil, boterr.Invalid("", "must be [divisor, remainder], got %s", document.Excerpt(operand))
	}
	divisor, ok1 := truncated(list.At(0))
	wanted, ok2 := truncated(list.At(1))
	if !ok1 || !ok2 {
		return nil, boterr.Invalid("", "must be two numbers in the range of int64, got %s", document.Excerpt(operand))
	}
	if divisor == 0 {
		return nil, boterr.Invalid("", "the divisor must not be 0")
	}
	return one(remainder{divisor: divisor, remainder: wanted}), nil
}

func sizeCondition(operand any) ([]fieldCondition, error) {
	size, ok := document.WholeNumber(operand)
	if !ok || size < 0 || size > math.MaxInt32 {
		return nil, boterr.Invalid("", "must be a whole number from 0, got %s", document.Excerpt(operand))
	}
	return []fieldCondition{{test: ofLength(size), mode: leafWhole}}, nil
}

// notCondition compiles $not, which takes operators.
func (c filterCompiler) notCondition(operand any) ([]fieldCondition, error) {
	operators, ok := operand.(document.Object)
	if !ok || !isOperatorObject(operators) {
		return nil, boterr.Invalid("", "must be an object of operators, got %s", document.Excerpt(operand))
	}
	conditions, err := c.conditions(operators)
	if err != nil {
		return nil, err
	}
	return negate(conditions), nil
}

// elemMatchCondition compiles $elemMatch: operators look at each element, a query
// at each element that is an object.
func (c filterCompiler) elemMatchCondition(operand any) ([]fieldCondition, error) {
	inner, ok := operand.(document.Object)
	if !ok {
		return nil, document.WrongType("object", operand)
	}
	if isOperatorObject(inner) && !isLogical(inner.NameAt(0)) {
		conditions, err := c.conditions(inner)
		if err != nil {
			return nil, err
		}
		condition := conditionGroup(conditions).onElement()
		return []fieldCondition{{test: valuesOf{condition}, mode: leafWhole}}, nil
	}
	query, err := filterCompiler{instructions: c.instructions}.query(inner)
	if err != nil {
		return nil, err
	}
	return []fieldCondition{{test: elementsOf{query}, mode: leafWhole}}, nil
}

func isLogical(operator string) bool {
	switch operator {
	case "$and", "$or", "$nor", "$comment":
		return true
	default:
		return false
	}
}
