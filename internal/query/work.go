package query

import (
	"math"

	"github.com/botctx/go-sdk/document"
)

// What is done counts as work, in about nanoseconds.
const (
	// stepWork is looking at one element of an array, conditionWork asking a condition on a
	// path of a document.
	stepWork      = 16
	conditionWork = 32
	// arrayWork and objectWork are making an array or an object, beside its elements, keyWork
	// is keeping a key.
	arrayWork  = 64
	objectWork = 256
	keyWork    = 64
	// tupleWork is taking a value of an element for a sort by several of its fields.
	tupleWork = 64
	// roundingWork, zoneWork and dateWork are rounding to places, looking up a time zone and
	// reading a date; partWork is asking a date for one of its parts, formatWork writing it, for
	// each byte of the format.
	roundingWork = 1 << 12
	zoneWork     = 1 << 10
	dateWork     = 1 << 11
	partWork     = 1 << 8
	formatWork   = 1 << 6
	// conversionWork is converting a value to another type, failureWork telling that it cannot be.
	conversionWork = 1 << 7
	failureWork    = 1 << 11
	// matchWork is making what is told of a match.
	matchWork = 1 << 9
	// bytesOfWork is the number of bytes of two strings that are compared in one unit.
	bytesOfWork = 8
	// growthWork is storing a byte by which a document has grown in memory. At most half of a budget
	// goes there before there is no room left.
	growthWork = 2
	// containerWork is the work for a byte of an object or array, by its size in BSON, that
	// is compared or written.
	containerWork = 2
)

// comparisonWork is the work of comparing two values.
func comparisonWork(a, b any) int {
	switch v := a.(type) {
	case string:
		w, _ := b.(string)
		return min(len(v), len(w)) / bytesOfWork
	case document.Object, document.Array:
		return min(readingWork(a), readingWork(b))
	default:
		return 0
	}
}

// readingWork is the work of reading all of a value, to write its key for example.
func readingWork(value any) int {
	switch v := value.(type) {
	case string:
		return len(v) / bytesOfWork
	case document.Object:
		return v.Size() * containerWork
	case document.Array:
		return document.SizeOf(v) * containerWork
	default:
		return 0
	}
}

// comparing counts the work of comparing two values.
func (e *Evaluation) comparing(a, b any) bool {
	work := comparisonWork(a, b)
	return work == 0 || e.spend(work)
}

// reading counts the work of reading all of a value.
func (e *Evaluation) reading(value any) bool {
	work := readingWork(value)
	return work == 0 || e.spend(work)
}

// readingText is reading for so many bytes of a string.
func (e *Evaluation) readingText(length int) bool {
	return length < bytesOfWork || e.spend(length/bytesOfWork)
}

// sourceWork is the work of doing once what a source document says, estimated by its size.
func sourceWork(size int) int { return stepWork + size/2 } //nolint:mnd // A step takes ten bytes or more.

// readingAllWork is the work of reading values.
func readingAllWork(values []any) int {
	work := 0
	for _, value := range values {
		work = addWork(work, readingWork(value))
	}
	return work
}

// settingWork is the work of adding values to a set of others.
func settingWork(items, added []any) int {
	all := len(items) + len(added)
	if all > fewValues {
		return all*keyWork + addWork(readingAllWork(items), readingAllWork(added))
	}
	return all*stepWork + readingAllWork(items)*len(added)
}

// addWork adds work or sizes without overflow: values that share parts again and again may count
// for more than there is memory.
func addWork(a, b int) int { return min(a+b, math.MaxInt32) }
