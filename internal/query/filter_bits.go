package query

import (
	"math"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// bitsTest is $bitsAllSet, $bitsAllClear, $bitsAnySet and $bitsAnyClear: a condition
// on some bits of an integer, or of a double without a fraction. Numbers have 64 bits
// in two's complement; every bit beyond them is that of the sign.
type bitsTest struct {
	mask uint64
	// any tells that one of the bits is enough, clear that they must be 0.
	any, clear bool
}

func (c *bitsTest) test(value any, _ *Evaluation) bool {
	n, ok := document.WholeNumber(value)
	if !ok {
		return false
	}
	bits := uint64(n)
	if c.clear {
		bits = ^bits
	}
	if c.any {
		return bits&c.mask != 0
	}
	return bits&c.mask == c.mask
}

// signBit is the position of the bit that tells the sign.
const signBit = 63

// bitsCondition compiles the four operators on bits.
func bitsCondition(operator string, operand any) ([]fieldCondition, error) {
	condition := &bitsTest{
		any:   operator == "$bitsAnySet" || operator == "$bitsAnyClear",
		clear: operator == "$bitsAllClear" || operator == "$bitsAnyClear",
	}
	list, ok := operand.(document.Array)
	if !ok {
		mask, ok := document.WholeNumber(operand)
		if !ok || mask < 0 {
			return nil, boterr.Invalid("", "must be a mask, a whole number from 0, or a list of positions of bits, got %s",
				document.Excerpt(operand))
		}
		condition.mask = uint64(mask)
		return one(condition), nil
	}
	for i, item := range list.All() {
		position, ok := document.WholeNumber(item)
		if !ok || position < 0 || position > math.MaxInt32 {
			return nil, boterr.Invalid(boterr.Index(i), "must be the position of a bit, a whole number from 0, got %s", document.Excerpt(item))
		}
		condition.mask |= 1 << min(position, signBit)
	}
	return one(condition), nil
}
