package query

import (
	"slices"

	"github.com/botctx/go-sdk/document"
)

// setFunctions are the operators that see arrays as sets. Sets that they make are in
// the order of Compare, but for $setDifference, which keeps that of its first argument.
var setFunctions = map[string]function{
	"$setUnion":        {nullFirst: true, compute: union},
	"$setIntersection": {nullFirst: true, compute: intersection},
	"$setDifference":   {least: 2, most: 2, compute: setDifference},
	"$setEquals":       {least: 2, compute: setsAreEqual},
	"$setIsSubset":     {least: 2, most: 2, compute: isSubset},
	"$anyElementTrue":  {least: 1, most: 1, compute: anyElementTrue},
	"$allElementsTrue": {least: 1, most: 1, compute: allElementsTrue},
}

func anyElementTrue(run *expressionRun, arguments []any) (any, error) {
	array, ok := arguments[0].(document.Array)
	if !ok {
		return nil, needsArray(arguments[0])
	}
	return slices.ContainsFunc(array.Items(), isTruthy), run.limits.steps(array.Len())
}

func allElementsTrue(run *expressionRun, arguments []any) (any, error) {
	array, ok := arguments[0].(document.Array)
	if !ok {
		return nil, needsArray(arguments[0])
	}
	return !slices.ContainsFunc(array.Items(), isFalsy), run.limits.steps(array.Len())
}

func isFalsy(value any) bool { return !isTruthy(value) }

// valueKeys are the keys of the values in a set.
type valueKeys map[string]struct{}

// keyOf returns the key of a value, and counts the work.
func (run *expressionRun) keyOf(value any) (string, error) {
	if err := run.limits.spend(keyWork + readingWork(value)); err != nil {
		return "", err
	}
	return string(document.AppendKey(nil, value)), nil
}

// distinct returns the different values of an array, the first of those that are
// equal, and their keys.
func (run *expressionRun) distinct(value any) ([]any, valueKeys, error) {
	array, ok := value.(document.Array)
	if !ok {
		return nil, nil, needsArray(value)
	}
	if err := run.limits.items(array.Len()); err != nil {
		return nil, nil, err
	}
	items := make([]any, 0, array.Len())
	keys := valueKeys{}
	for _, item := range array.Items() {
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

// keep returns the values whose keys meet a condition.
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

// sortedSet makes an array of a set.
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
	if isNullish(arguments[0]) || isNullish(arguments[1]) {
		return nil, nil
	}
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

// holds reports whether a set holds all of another.
func (k valueKeys) holds(part valueKeys) bool {
	for key := range part {
		if !k.has(key) {
			return false
		}
	}
	return true
}

func (k valueKeys) has(key string) bool {
	_, ok := k[key]
	return ok
}
