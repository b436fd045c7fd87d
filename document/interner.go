package document

import (
	"hash/maphash"
	"math"
)

// interner makes equal values in many documents share memory, if they were seen recently. That saves space,
// and speeds up filters, which then compare values in the processor's cache.
type interner struct {
	seed maphash.Seed
	// came is the number of values seen.
	came int
	// strings and numbers hold each value in the slot of its hash; a later value evicts the earlier one. They
	// are allocated once interning is likely to pay off.
	strings *[internSlots]any
	numbers *[internSlots]any
}

const (
	// internBits is the number of bits of a slot's number. internSlots is the number of slots.
	internBits  = 10
	internSlots = 1 << internBits
	// internAfter is the number of values after which interning begins.
	internAfter = 512
	// maxInternedLength is the length in bytes up to which a text is interned.
	maxInternedLength = 40
)

// intern returns an identical earlier value, or value itself.
func (r *interner) intern(value any) any {
	switch v := value.(type) {
	case string:
		if len(v) <= maxInternedLength && r.isWorth() {
			return r.stringOf(v, value)
		}
	case int64:
		if v != int64(uint8(v)) && r.isWorth() { // Go already has a shared value for each byte.
			return r.numberOf(uint64(v), value)
		}
	case float64:
		if r.isWorth() {
			return r.numberOf(math.Float64bits(v), value)
		}
	}
	return value
}

func (r *interner) isWorth() bool {
	r.came++
	if r.came <= internAfter {
		return false
	}
	if r.strings == nil {
		r.seed, r.strings, r.numbers = maphash.MakeSeed(), new([internSlots]any), new([internSlots]any)
	}
	return true
}

func (r *interner) stringOf(text string, value any) any {
	place := &r.strings[maphash.String(r.seed, text)%internSlots]
	if kept, ok := (*place).(string); ok && kept == text {
		return *place
	}
	*place = value
	return value
}

// numberOf finds the slot by multiplying the bits of the number by a large odd number, which mixes the
// highest bits best.
func (r *interner) numberOf(bits uint64, value any) any {
	const mixer = 0x9e3779b97f4a7c15
	place := &r.numbers[bits*mixer>>(64-internBits)]
	if Identical(*place, value) {
		return *place
	}
	*place = value
	return value
}
