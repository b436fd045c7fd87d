package document

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// MissingValue is the type of Missing.
type MissingValue struct{}

// Missing is the value of a field that does not exist, for functions that return one value. Objects and
// arrays never contain it.
var Missing = MissingValue{}

// The order of types in MongoDB, lowest first. Both types of numbers share a class.
const (
	ClassMissing = iota
	ClassNull
	ClassNumber
	ClassString
	ClassObject
	ClassArray
	ClassBool
	ClassDate
)

// ClassOf returns the class of a value's type, such as ClassNumber.
func ClassOf(value any) int {
	switch value.(type) {
	case nil:
		return ClassNull
	case int64, float64:
		return ClassNumber
	case string:
		return ClassString
	case Object:
		return ClassObject
	case Array:
		return ClassArray
	case bool:
		return ClassBool
	case time.Time:
		return ClassDate
	default:
		return ClassMissing
	}
}

// Compare orders any two values as MongoDB does: first by type (null, numbers, strings, objects, arrays,
// booleans, dates), then by value. Integers and doubles compare by their numeric value; NaN is below all
// numbers and equal to itself; strings compare by bytes; objects field by field, type then name then value;
// arrays element by element. It is a total order.
func Compare(a, b any) int {
	class := ClassOf(a)
	if byClass := cmp.Compare(class, ClassOf(b)); byClass != 0 {
		return byClass
	}
	switch class {
	case ClassNumber:
		return compareNumbers(a, b)
	case ClassString:
		return strings.Compare(a.(string), b.(string))
	case ClassObject:
		return compareObjects(a.(Object), b.(Object))
	case ClassArray:
		return compareItems(a.(Array).Items(), b.(Array).Items())
	case ClassBool:
		return compareBools(a.(bool), b.(bool))
	case ClassDate:
		return a.(time.Time).Compare(b.(time.Time))
	default:
		return 0
	}
}

// Equal reports whether two values are equal in the sense of filters: 1 equals 1.0, and the order of an
// object's fields matters.
func Equal(a, b any) bool {
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		return ok && x == y
	case bool:
		y, ok := b.(bool)
		return ok && x == y
	case int64:
		if y, ok := b.(int64); ok {
			return x == y
		}
	case nil:
		return b == nil
	}
	return Compare(a, b) == 0
}

func compareNumbers(a, b any) int {
	i, aIsInt := a.(int64)
	j, bIsInt := b.(int64)
	switch {
	case aIsInt && bIsInt:
		return cmp.Compare(i, j)
	case aIsInt:
		return compareIntFloat(i, b.(float64))
	case bIsInt:
		return -compareIntFloat(j, a.(float64))
	default:
		return cmp.Compare(a.(float64), b.(float64))
	}
}

// compareIntFloat compares exactly; converting to either type would lose precision.
func compareIntFloat(i int64, f float64) int {
	switch {
	case math.IsNaN(f), f < math.MinInt64:
		return 1
	case f >= math.MaxInt64: // As a float64, MaxInt64 is 2^63, above every int64.
		return -1
	}
	whole := math.Trunc(f)
	if c := cmp.Compare(i, int64(whole)); c != 0 {
		return c
	}
	return cmp.Compare(0, f-whole)
}

func compareObjects(a, b Object) int {
	if a.node == b.node {
		return 0
	}
	for i := range min(a.Len(), b.Len()) {
		v, w := a.node.at(i), b.node.at(i)
		if c := cmp.Compare(ClassOf(v), ClassOf(w)); c != 0 {
			return c
		}
		if c := strings.Compare(a.node.shape.names[i], b.node.shape.names[i]); c != 0 {
			return c
		}
		if c := Compare(v, w); c != 0 {
			return c
		}
	}
	return cmp.Compare(a.Len(), b.Len())
}

func compareItems(a, b []any) int {
	for i := range min(len(a), len(b)) {
		if c := Compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// Identical reports whether two values are exactly the same, including the type of numbers and the order of
// fields. An update that leaves a value identical does not count as a modification.
func Identical(a, b any) bool {
	switch a := a.(type) {
	case Object:
		b, ok := b.(Object)
		return ok && identicalObjects(a, b)
	case Array:
		b, ok := b.(Array)
		return ok && identicalItems(a.Items(), b.Items())
	case float64:
		b, ok := b.(float64)
		return ok && math.Float64bits(a) == math.Float64bits(b)
	case time.Time:
		b, ok := b.(time.Time)
		return ok && a.Equal(b)
	default:
		return a == b
	}
}

func identicalObjects(a, b Object) bool {
	if a.node == b.node {
		return true
	}
	if fields := a.Len(); fields == 0 || fields != b.Len() {
		return fields == b.Len()
	}
	if a.node.shape != b.node.shape && !slices.Equal(a.node.shape.names, b.node.shape.names) {
		return false
	}
	if a.node.wide() != nil {
		return identicalPages(a.node.wide().pages, b.node.wide().pages)
	}
	return identicalItems(a.node.values, b.node.values)
}

// identicalPages compares the values of two wide objects. Versions of one object share most of their pages.
func identicalPages(a, b []*[pageFields]any) bool {
	for i := range a {
		if a[i] != b[i] && !identicalItems(a[i][:], b[i][:]) {
			return false
		}
	}
	return true
}

func identicalItems(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Identical(a[i], b[i]) {
			return false
		}
	}
	return true
}
