package document

import (
	"hash/maphash"
	"math"
)

// repeats remembers values that came lately, so that equal values of many documents
// are one value in memory. That saves space, and a filter that compares them finds
// them in the processor's cache.
type repeats struct {
	seed maphash.Seed
	// came is the number of values that came.
	came int
	// strings and numbers have each value at the place that its hash gives; a later
	// value of the same place drives it out. They are made when it is likely to pay.
	strings *[repeatPlaces]any
	numbers *[repeatPlaces]any
}

const (
	// repeatBits is the number of bits of a place, repeatPlaces the number of places.
	repeatBits   = 10
	repeatPlaces = 1 << repeatBits
	// worthRepeats is the number of values from which on they are remembered.
	worthRepeats = 512
	// longestRepeat is the length in bytes up to which a text is remembered.
	longestRepeat = 40
)

// of returns a value that came before and is identical to this one, or this one.
func (r *repeats) of(value any) any {
	switch v := value.(type) {
	case string:
		if len(v) <= longestRepeat && r.isWorth() {
			return r.stringOf(v, value)
		}
	case int64:
		if v != int64(uint8(v)) && r.isWorth() { // Go has one of each byte already.
			return r.numberOf(uint64(v), value)
		}
	case float64:
		if r.isWorth() {
			return r.numberOf(math.Float64bits(v), value)
		}
	}
	return value
}

func (r *repeats) isWorth() bool {
	r.came++
	if r.came <= worthRepeats {
		return false
	}
	if r.strings == nil {
		r.seed, r.strings, r.numbers = maphash.MakeSeed(), new([repeatPlaces]any), new([repeatPlaces]any)
	}
	return true
}

func (r *repeats) stringOf(text string, value any) any {
	place := &r.strings[maphash.String(r.seed, text)%repeatPlaces]
	if kept, ok := (*place).(string); ok && kept == text {
		return *place
	}
	*place = value
	return value
}

// numberOf finds a place by multiplying the bits of the number with a large odd one,
// which leaves the best mixed ones at the top.
func (r *repeats) numberOf(bits uint64, value any) any {
	const mixer = 0x9e3779b97f4a7c15
	place := &r.numbers[bits*mixer>>(64-repeatBits)]
	if Identical(*place, value) {
		return *place
	}
	*place = value
	return value
}
