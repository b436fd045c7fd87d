package query

import (
	"math"
	"math/bits"

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

// summation adds numbers without losing what is small beside what is large: integers
// exactly, doubles as the sum of two.
type summation struct {
	// high and low are the sum of the integers in 128 bits.
	high int64
	low  uint64
	// sum and rest together are the sum of the doubles. plain is their plain sum, which counts
	// where that is infinite or NaN.
	sum, rest, plain float64
	hasDouble        bool
	count            int64
}

// add adds a value, unless it is no number.
func (s *summation) add(value any) {
	switch n := value.(type) {
	case int64:
		low, carry := bits.Add64(s.low, uint64(n), 0)
		s.low = low
		s.high += n>>63 + int64(carry)
	case float64:
		s.hasDouble = true
		s.addDouble(n)
	default:
		return
	}
	s.count++
}

func (s *summation) addDouble(f float64) {
	s.plain += f
	total := s.sum + f
	part := total - s.sum
	s.rest += (s.sum - (total - part)) + (f - part)
	s.sum = total
}

// total returns the sum: an integer where only integers were added and an int64 can
// hold it, else a double.
func (s *summation) total() any {
	if !s.hasDouble && s.high == int64(s.low)>>63 {
		return int64(s.low)
	}
	return s.float()
}

// float returns the sum as a double.
func (s *summation) float() float64 {
	whole := *s
	const upper = 1 << 32
	whole.addDouble(float64(s.high) * upper * upper)
	whole.addDouble(float64(s.low>>32) * upper)
	whole.addDouble(float64(s.low & (upper - 1)))
	total := whole.sum + whole.rest
	if math.IsNaN(total) {
		return whole.plain
	}
	return total
}
