package query

import (
	"math"

	"github.com/botctx/go-sdk/document"
)

// accumulatingFunctions are the operators that look at the values of all arguments, or
// at the elements of a single one that is an array.
var accumulatingFunctions = map[string]function{
	"$sum":        {compute: overAll(sumOf)},
	"$avg":        {compute: overAll(averageOf)},
	"$min":        {compute: overAll(extremeOf(-1))},
	"$max":        {compute: overAll(extremeOf(1))},
	"$stdDevPop":  {compute: overAll(deviationOf(0))},
	"$stdDevSamp": {compute: overAll(deviationOf(1))},
}

// overAll takes the elements of a single argument that is an array in its place.
func overAll(compute func(run *expressionRun, values []any) (any, error)) func(*expressionRun, []any) (any, error) {
	return func(run *expressionRun, arguments []any) (any, error) {
		if len(arguments) == 1 {
			if array, ok := arguments[0].(document.Array); ok {
				arguments = array.Items()
			}
		}
		if err := run.limits.steps(len(arguments)); err != nil {
			return nil, err
		}
		return compute(run, arguments)
	}
}

// sumOf adds the numbers among values.
func sumOf(_ *expressionRun, values []any) (any, error) {
	var sum summation
	for _, value := range values {
		sum.add(value)
	}
	return sum.total(), nil
}

// averageOf returns the average of the numbers among values, null where there is none.
func averageOf(_ *expressionRun, values []any) (any, error) {
	var sum summation
	for _, value := range values {
		sum.add(value)
	}
	if sum.count == 0 {
		return nil, nil
	}
	return sum.float() / float64(sum.count), nil
}

// extremeOf returns the least value where sign is -1, and the greatest where it is 1.
// Null and missing values do not count.
func extremeOf(sign int) func(*expressionRun, []any) (any, error) {
	return func(run *expressionRun, values []any) (any, error) {
		var best any
		for _, value := range values {
			if isNullish(value) {
				continue
			}
			if err := run.limits.comparing(value, best); err != nil {
				return nil, err
			}
			if best == nil || document.Compare(value, best)*sign > 0 {
				best = value
			}
		}
		return best, nil
	}
}

// deviationOf returns the standard deviation of the numbers among values. lost are the degrees of
// freedom that it loses: 1 for that of a sample, which a single number does not have.
func deviationOf(lost int) func(*expressionRun, []any) (any, error) {
	return func(_ *expressionRun, values []any) (any, error) {
		var mean, squares float64
		count := 0
		for _, value := range values {
			f, ok := document.FloatNumber(value)
			if !ok {
				continue
			}
			count++
			delta := f - mean
			mean += delta / float64(count)
			squares += delta * (f - mean)
		}
		if count <= lost {
			return nil, nil
		}
		return math.Sqrt(squares / float64(count-lost)), nil
	}
}
