package query

import (
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// arrayFunctions are the operators that read arrays.
var arrayFunctions = map[string]function{
	"$arrayElemAt":  {least: 2, most: 2, nulls: 2, takes: []argumentType{anArray}, compute: elementAt},
	"$first":        {least: 1, most: 1, nulls: 1, all: anArray, compute: endOf(0)},
	"$last":         {least: 1, most: 1, nulls: 1, all: anArray, compute: endOf(-1)},
	"$firstN":       {least: 2, names: []string{"n", "input"}, compute: someOf(endItems(1))},
	"$lastN":        {least: 2, names: []string{"n", "input"}, compute: someOf(endItems(-1))},
	"$minN":         {least: 2, names: []string{"n", "input"}, compute: someOf(extremeItems(1))},
	"$maxN":         {least: 2, names: []string{"n", "input"}, compute: someOf(extremeItems(-1))},
	"$in":           {least: 2, most: 2, takes: []argumentType{nil, anArray}, compute: isAmong},
	"$indexOfArray": {least: 2, most: 4, nulls: 1, takes: []argumentType{anArray}, compute: indexOfItem},
	"$isArray":      {least: 1, most: 1, compute: isArray},
	"$size":         {least: 1, most: 1, all: anArray, compute: sizeOf},
	"$slice":        {least: 2, most: 3, nulls: 3, takes: []argumentType{anArray}, compute: sliceOf},
	"$reverseArray": {least: 1, most: 1, nulls: 1, all: anArray, compute: reversed},
	"$concatArrays": {nullFirst: true, all: anArray, compute: concatenated},
	"$range":        {least: 2, most: 3, compute: numbersBetween},
}

// elementAt is $arrayElemAt. A negative index counts from the end.
func elementAt(_ *expressionRun, arguments []any) (any, error) {
	index, ok := int32Number(arguments[1])
	if !ok {
		return nil, boterr.Invalid("", "needs an index that is a 32-bit integer, got %s", document.Excerpt(arguments[1]))
	}
	return itemAt(elementsIn(arguments[0]), index), nil
}

func elementsIn(argument any) []any { return argument.(document.Array).Items() }

// itemAt returns an element, or missing if there is none.
func itemAt(items []any, index int64) any {
	if index < 0 {
		index += int64(len(items))
	}
	if index < 0 || index >= int64(len(items)) {
		return document.Missing
	}
	return items[index]
}

func endOf(index int64) func(*expressionRun, []any) (any, error) {
	return func(_ *expressionRun, arguments []any) (any, error) {
		return itemAt(elementsIn(arguments[0]), index), nil
	}
}

// someOf returns the function for $firstN, $lastN, $minN or $maxN from a function that picks n elements.
func someOf(pick func(run *expressionRun, items []any, n int64) ([]any, error)) func(*expressionRun, []any) (any, error) {
	return func(run *expressionRun, arguments []any) (any, error) {
		n, ok := document.WholeNumber(arguments[0])
		if !ok || n < 1 {
			return nil, boterr.PrefixField("n", boterr.Invalid("",
				"must be a whole number of at least 1, got %s", document.Excerpt(orNull(arguments[0]))))
		}
		array, ok := arguments[1].(document.Array)
		if !ok {
			return nil, boterr.PrefixField("input", anArray(arguments[1]))
		}
		picked, err := pick(run, array.Items(), n)
		if err != nil {
			return nil, err
		}
		return run.limits.array(picked)
	}
}

// endItems picks the first elements for the sign 1, and the last for -1.
func endItems(sign int64) func(*expressionRun, []any, int64) ([]any, error) {
	return func(run *expressionRun, items []any, n int64) ([]any, error) {
		return run.copied(firstOrLast(items, sign*n))
	}
}

func (run *expressionRun) copied(items []any) ([]any, error) {
	if err := run.limits.items(len(items)); err != nil {
		return nil, err
	}
	return append(make([]any, 0, len(items)), items...), nil
}

// extremeItems picks the least elements for the sign 1, and the greatest for -1. Null does not count.
func extremeItems(sign int) func(*expressionRun, []any, int64) ([]any, error) {
	return func(run *expressionRun, items []any, n int64) ([]any, error) {
		present, err := run.copied(items)
		if err != nil {
			return nil, err
		}
		present = slices.DeleteFunc(present, func(item any) bool { return item == nil })
		if present, err = wholeOrder(sign < 0).sorted(present, run.limits.ordering); err != nil {
			return nil, err
		}
		return slices.Clone(present[:min(n, int64(len(present)))]), nil // The copy does not keep the other elements in memory.
	}
}

func isAmong(run *expressionRun, arguments []any) (any, error) {
	index, err := run.indexOf(elementsIn(arguments[1]), arguments[0])
	return index >= 0, err
}

func (run *expressionRun) indexOf(items []any, value any) (int, error) {
	if err := run.limits.spend((stepWork + readingWork(value)) * len(items)); err != nil {
		return -1, err
	}
	return slices.IndexFunc(items, func(item any) bool { return document.Equal(item, value) }), nil
}

func indexOfItem(run *expressionRun, arguments []any) (any, error) {
	items := elementsIn(arguments[0])
	length := int64(len(items))
	bounds, err := searchBoundsIn(arguments[2:], length)
	if err != nil {
		return nil, err
	}
	if bounds.start > length || bounds.start > bounds.end {
		return int64(-1), nil
	}
	index, err := run.indexOf(items[bounds.start:bounds.end], arguments[1])
	if index < 0 || err != nil {
		return int64(-1), err
	}
	return bounds.start + int64(index), nil
}

func isArray(_ *expressionRun, arguments []any) (any, error) {
	_, ok := arguments[0].(document.Array)
	return ok, nil
}

func sizeOf(_ *expressionRun, arguments []any) (any, error) {
	return int64(len(elementsIn(arguments[0]))), nil
}

// sliceOf is $slice: the first n elements, the last n if n is negative, or n elements from a position.
func sliceOf(run *expressionRun, arguments []any) (any, error) {
	all := elementsIn(arguments[0])
	var numbers [2]int64
	for i, argument := range arguments[1:] {
		var ok bool
		if numbers[i], ok = int32Number(argument); !ok {
			return nil, boterr.Invalid("", "needs 32-bit integers, got %s", document.Excerpt(argument))
		}
	}
	part := firstOrLast(all, numbers[0])
	if len(arguments) == 3 {
		if numbers[1] <= 0 {
			return nil, boterr.Invalid("", "the number of elements must be above 0, got %d", numbers[1])
		}
		part = sliced(all, numbers[0], numbers[1])
	}
	items, err := run.copied(part)
	if err != nil {
		return nil, err
	}
	return run.limits.array(items)
}

func reversed(run *expressionRun, arguments []any) (any, error) {
	items, err := run.copied(elementsIn(arguments[0]))
	if err != nil {
		return nil, err
	}
	slices.Reverse(items)
	return run.limits.array(items)
}

func concatenated(run *expressionRun, arguments []any) (any, error) {
	length := 0
	for _, argument := range arguments {
		length += len(elementsIn(argument))
	}
	if err := run.limits.items(length); err != nil {
		return nil, err
	}
	items := make([]any, 0, length)
	for _, argument := range arguments {
		items = append(items, elementsIn(argument)...)
	}
	return run.limits.array(items)
}

// numbersBetween is $range. The end is not included.
func numbersBetween(run *expressionRun, arguments []any) (any, error) {
	numbers := [3]int64{2: 1}
	for i, argument := range arguments {
		var ok bool
		if numbers[i], ok = int32Number(argument); !ok {
			return nil, boterr.Invalid("", "needs 32-bit integers, got %s", document.Excerpt(orNull(argument)))
		}
	}
	start, end, step := numbers[0], numbers[1], numbers[2]
	if step == 0 {
		return nil, boterr.Invalid("", "needs a step that is not 0")
	}
	count := max(0, (end-start+step-step/max(step, -step))/step)
	if err := run.limits.items(int(count)); err != nil {
		return nil, err
	}
	items := make([]any, 0, count)
	for n := start; int64(len(items)) < count; n += step {
		items = append(items, n)
	}
	return run.limits.array(items)
}

// zipped is $zip. It returns an array for each index, with the elements of all inputs at this index.
type zipped struct {
	inputs []expression
	// longest is true if the longest input determines the number of arrays. Otherwise, the shortest does.
	longest bool
	// defaults replace the missing elements of shorter inputs. nil means null.
	defaults []expression
}

func (c expressionCompiler) zip(operand any) (expression, error) {
	source, err := namedArguments(operand, []string{"inputs", "useLongestLength", "defaults"}, 1)
	if err != nil {
		return nil, err
	}
	e := &zipped{}
	if e.inputs, err = c.listOf(source["inputs"]); err != nil {
		return nil, boterr.PrefixField("inputs", err)
	}
	if len(e.inputs) == 0 {
		return nil, boterr.Invalid("inputs", "needs at least one array")
	}
	if longest, ok := source["useLongestLength"]; ok {
		if e.longest, ok = longest.(bool); !ok {
			return nil, boterr.PrefixField("useLongestLength", document.WrongType("bool", longest))
		}
	}
	defaults, ok := source["defaults"]
	if !ok {
		return e, nil
	}
	if e.defaults, err = c.listOf(defaults); err != nil {
		return nil, boterr.PrefixField("defaults", err)
	}
	if !e.longest || len(e.defaults) != len(e.inputs) {
		return nil, boterr.Invalid("defaults", "needs useLongestLength: true, and one value for each input")
	}
	return e, nil
}

func (c expressionCompiler) listOf(operand any) ([]expression, error) {
	list, ok := operand.(document.Array)
	if !ok {
		return nil, document.WrongType("array", operand)
	}
	return c.expressions(list)
}

func (e *zipped) evaluate(run *expressionRun) (any, error) {
	inputs := make([][]any, 0, len(e.inputs))
	length := -1
	for _, input := range e.inputs {
		value, err := input.evaluate(run)
		if err != nil || isNullish(value) {
			return nil, err
		}
		array, ok := value.(document.Array)
		if !ok {
			return nil, boterr.PrefixField("$zip", anArray(value))
		}
		inputs = append(inputs, array.Items())
		if length < 0 || e.longest == (array.Len() > length) {
			length = array.Len()
		}
	}
	defaults := make([]any, len(inputs))
	for i, value := range e.defaults {
		v, err := value.evaluate(run)
		if err != nil {
			return nil, err
		}
		defaults[i] = orNull(v)
	}
	return run.zip(inputs, defaults, length)
}

// zip returns an array of length rows. Row i contains element i of each input, or its default if the input is
// shorter.
func (run *expressionRun) zip(inputs [][]any, defaults []any, length int) (any, error) {
	if err := run.limits.items(length); err != nil {
		return nil, boterr.PrefixField("$zip", err)
	}
	rows := make([]any, 0, length)
	for i := range length {
		row := make([]any, 0, len(inputs))
		for j, items := range inputs {
			if i < len(items) {
				row = append(row, items[i])
			} else {
				row = append(row, defaults[j])
			}
		}
		made, err := run.limits.array(row)
		if err != nil {
			return nil, boterr.PrefixField("$zip", err)
		}
		rows = append(rows, made)
	}
	return run.limits.array(rows)
}

type sortedArray struct {
	input expression
	order itemOrder
}

func (c expressionCompiler) sortArray(operand any) (expression, error) {
	source, err := namedArguments(operand, []string{"input", "sortBy"}, 2)
	if err != nil {
		return nil, err
	}
	e := &sortedArray{}
	if e.order, err = compileItemOrder(source["sortBy"]); err != nil {
		return nil, boterr.PrefixField("sortBy", err)
	}
	e.input, err = c.expression(source["input"])
	return e, boterr.PrefixField("input", err)
}

func (e *sortedArray) evaluate(run *expressionRun) (any, error) {
	input, err := e.input.evaluate(run)
	if err != nil || isNullish(input) {
		return nil, err
	}
	array, ok := input.(document.Array)
	if !ok {
		return nil, boterr.PrefixField("$sortArray", anArray(input))
	}
	if err := run.limits.items(array.Len()); err != nil {
		return nil, boterr.PrefixField("$sortArray", err)
	}
	items, err := e.order.sorted(array.Items(), run.limits.ordering)
	if err != nil {
		return nil, boterr.PrefixField("$sortArray", err)
	}
	return run.limits.array(items)
}

// setFunctions are the operators that treat arrays as sets. Results are in the order of Compare, but $setDifference
// keeps the order of its first argument.
var setFunctions = map[string]function{
	"$setUnion":        {nullFirst: true, all: anArray, compute: union},
	"$setIntersection": {nullFirst: true, all: anArray, compute: intersection},
	"$setDifference":   {least: 2, most: 2, nulls: 2, all: anArray, compute: setDifference},
	"$setEquals":       {least: 2, all: anArray, compute: setsAreEqual},
	"$setIsSubset":     {least: 2, most: 2, all: anArray, compute: isSubset},
	"$anyElementTrue":  {least: 1, most: 1, all: anArray, compute: anyElementTrue},
	"$allElementsTrue": {least: 1, most: 1, all: anArray, compute: allElementsTrue},
}

func anyElementTrue(run *expressionRun, arguments []any) (any, error) {
	items := elementsIn(arguments[0])
	return slices.ContainsFunc(items, isTruthy), run.limits.steps(len(items))
}

func allElementsTrue(run *expressionRun, arguments []any) (any, error) {
	items := elementsIn(arguments[0])
	return !slices.ContainsFunc(items, isFalsy), run.limits.steps(len(items))
}

func isFalsy(value any) bool { return !isTruthy(value) }

func (run *expressionRun) keyOf(value any) (string, error) {
	if err := run.limits.spend(keyWork + readingWork(value)); err != nil {
		return "", err
	}
	return string(document.AppendKey(nil, value)), nil
}

func (run *expressionRun) distinct(array any) ([]any, valueKeys, error) {
	all := elementsIn(array)
	if err := run.limits.items(len(all)); err != nil {
		return nil, nil, err
	}
	items := make([]any, 0, len(all))
	keys := valueKeys{}
	for _, item := range all {
		key, err := run.keyOf(item)
		if err != nil {
			return nil, nil, err
		}
		if _, known := keys[key]; !known {
			keys[key] = struct{}{}
			items = append(items, item)
		}
	}
	return items, keys, nil
}

func (run *expressionRun) keep(items []any, meets func(key string) bool) ([]any, error) {
	kept := []any{}
	for _, item := range items {
		key, err := run.keyOf(item)
		if err != nil {
			return nil, err
		}
		if meets(key) {
			kept = append(kept, item)
		}
	}
	return kept, nil
}

func union(run *expressionRun, arguments []any) (any, error) {
	all, err := concatenated(run, arguments)
	if err != nil {
		return nil, err
	}
	items, _, err := run.distinct(all)
	if err != nil {
		return nil, err
	}
	return run.sortedSet(items)
}

func (run *expressionRun) sortedSet(items []any) (any, error) {
	items, err := wholeOrder(false).sorted(items, run.limits.ordering)
	if err != nil {
		return nil, err
	}
	return run.limits.array(items)
}

func intersection(run *expressionRun, arguments []any) (any, error) {
	items := []any{}
	for i, argument := range arguments {
		others, keys, err := run.distinct(argument)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			items = others
		} else if items, err = run.keep(items, keys.has); err != nil {
			return nil, err
		}
	}
	return run.sortedSet(items)
}

func setDifference(run *expressionRun, arguments []any) (any, error) {
	items, _, err := run.distinct(arguments[0])
	if err != nil {
		return nil, err
	}
	_, keys, err := run.distinct(arguments[1])
	if err != nil {
		return nil, err
	}
	kept, err := run.keep(items, func(key string) bool { return !keys.has(key) })
	if err != nil {
		return nil, err
	}
	return run.limits.array(kept)
}

func setsAreEqual(run *expressionRun, arguments []any) (any, error) {
	_, first, err := run.distinct(arguments[0])
	if err != nil {
		return nil, err
	}
	equal := true
	for _, argument := range arguments[1:] {
		_, keys, err := run.distinct(argument)
		if err != nil {
			return nil, err
		}
		equal = equal && len(keys) == len(first) && first.holds(keys)
	}
	return equal, nil
}

func isSubset(run *expressionRun, arguments []any) (any, error) {
	_, part, err := run.distinct(arguments[0])
	if err != nil {
		return nil, err
	}
	_, whole, err := run.distinct(arguments[1])
	return whole.holds(part), err
}

// holds reports whether k contains all keys of part.
func (k valueKeys) holds(part valueKeys) bool {
	for key := range part {
		if !k.has(key) {
			return false
		}
	}
	return true
}
