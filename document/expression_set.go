package document

// setFunctions are the operators that see arrays as sets. Sets that they make are in
// the order of Compare, but for $setDifference, which keeps that of its first argument.
var setFunctions = map[string]function{
	"$setUnion":        {nullFirst: true, compute: union},
	"$setIntersection": {nullFirst: true, compute: intersection},
	"$setDifference":   {least: 2, most: 2, compute: setDifference},
	"$setEquals":       {least: 2, compute: setsAreEqual},
	"$setIsSubset":     {least: 2, most: 2, compute: isSubset},
	"$anyElementTrue":  {least: 1, most: 1, compute: elementIs(true)},
	"$allElementsTrue": {least: 1, most: 1, compute: elementIs(false)},
}

// elementIs makes an operator that answers found where an element has that truth.
func elementIs(found bool) func(*expressionRun, []any) (any, error) {
	return func(_ *expressionRun, arguments []any) (any, error) {
		array, ok := arguments[0].(Array)
		if !ok {
			return nil, needsArray(arguments[0])
		}
		for _, item := range array.items() {
			if isTruthy(item) == found {
				return found, nil
			}
		}
		return !found, nil
	}
}

// valueKeys are the keys of the values in a set.
type valueKeys map[string]struct{}

// keyOf returns the key of a value, and counts the work.
func (run *expressionRun) keyOf(value any) (string, error) {
	if err := run.limits.spend(stepWork + run.limits.size(value)); err != nil {
		return "", err
	}
	return string(AppendKey(nil, value)), nil
}

// distinct returns the different values of an array, the first of those that are
// equal, and their keys.
func (run *expressionRun) distinct(value any) ([]any, valueKeys, error) {
	array, ok := value.(Array)
	if !ok {
		return nil, nil, needsArray(value)
	}
	items := make([]any, 0, array.Len())
	keys := make(valueKeys, array.Len())
	for _, item := range array.items() {
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

// among returns the values whose keys are in a set, or those whose keys are not.
func (run *expressionRun) among(items []any, keys valueKeys, wanted bool) ([]any, error) {
	kept := []any{}
	for _, item := range items {
		key, err := run.keyOf(item)
		if err != nil {
			return nil, err
		}
		if _, found := keys[key]; found == wanted {
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
	if err := run.sort(items, Compare); err != nil {
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
		} else if items, err = run.among(items, keys, true); err != nil {
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
	kept, err := run.among(items, keys, false)
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
		if _, ok := k[key]; !ok {
			return false
		}
	}
	return true
}
