package query

import (
	"math"
	"math/bits"
)

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
