package differential

import (
	"math"
	"slices"
	"strconv"

	"github.com/botctx/go-sdk/document"
)

// converted returns a value with its innermost values, and then all around them,
// replaced.
func converted(value any, replace func(any) any) any {
	switch v := value.(type) {
	case document.Object:
		if v.IsZero() {
			return v
		}
		changed := document.O()
		for key, inner := range v.All() {
			changed = changed.With(key, converted(inner, replace))
		}
		return replace(changed)
	case document.Array:
		items := make([]any, 0, v.Len())
		for _, item := range v.All() {
			items = append(items, converted(item, replace))
		}
		return replace(document.A(items...))
	default:
		return replace(v)
	}
}

// numberName is the name under which MongoDB's extended JSON has the numbers that
// JSON lacks.
const numberName = "$numberDouble"

// shown returns a value that JSON can hold: NaN and infinities become objects that
// name them.
func shown(value any) any {
	return converted(value, func(inner any) any {
		if f, ok := inner.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
			return document.O(numberName, strconv.FormatFloat(f, 'g', -1, 64))
		}
		return inner
	})
}

// read is the way back from shown.
func read(value any) any {
	return converted(value, func(inner any) any {
		o, _ := inner.(document.Object)
		if text := document.Get(o, numberName, ""); text != "" {
			if f, err := strconv.ParseFloat(text, 64); err == nil {
				return f
			}
		}
		return inner
	})
}

// inOneOrder returns a value with the fields of its objects in the order of their names.
func inOneOrder(value any) any {
	return converted(value, func(inner any) any {
		o, ok := inner.(document.Object)
		if !ok {
			return inner
		}
		ordered := document.O()
		for _, key := range slices.Sorted(slices.Values(o.Keys())) {
			field, _ := o.Field(key)
			ordered = ordered.With(key, field)
		}
		return ordered
	})
}
