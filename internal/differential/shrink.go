package differential

import (
	"context"
	"strings"

	"github.com/botctx/go-sdk/document"
)

// mostTrials bounds the work of shrinking.
const mostTrials = 5_000

// shrink returns a smaller case on which the engines still differ: it takes any
// smaller one that it finds, again and again, until there is none.
func shrink(ctx context.Context, failing document.Object) document.Object {
	trials := 0
	for {
		smaller, found := step(failing, func(candidate document.Object) bool {
			trials++
			return trials <= mostTrials && judge(ctx, candidate).difference != nil
		})
		if !found {
			return failing
		}
		failing = smaller
	}
}

// step returns the first smaller case that still fails.
func step(failing document.Object, fails func(document.Object) bool) (document.Object, bool) {
	for candidate := range smallerValues(failing) {
		if o, ok := candidate.(document.Object); ok && fails(o) {
			return o, true
		}
	}
	return failing, false
}

// smallerValues yields the values that are a step smaller than a value: without
// one of its parts, with a part in its place, or with a smaller part.
func smallerValues(value any) func(yield func(any) bool) {
	return func(yield func(any) bool) {
		switch v := value.(type) {
		case document.Object:
			smallerObjects(v, yield)
		case document.Array:
			smallerArrays(v, yield)
		case string:
			for _, shorter := range shorterPaths(v) {
				if !yield(shorter) {
					return
				}
			}
		case float64:
			yield(int64(1))
		case int64:
			if v > 1 || v < 0 {
				yield(int64(1))
			}
		}
	}
}

func smallerObjects(o document.Object, yield func(any) bool) {
	for key := range o.All() {
		if !yield(o.Without(key)) {
			return
		}
	}
	for key, value := range o.All() {
		for _, shorter := range shorterPaths(key) {
			if _, taken := o.Field(shorter); !taken && !yield(renamed(o, key, shorter)) {
				return
			}
		}
		for smaller := range smallerValues(value) {
			if !yield(o.With(key, smaller)) {
				return
			}
		}
		if !isScalar(value) && !yield(o.With(key, int64(1))) {
			return
		}
	}
}

func smallerArrays(a document.Array, yield func(any) bool) {
	for i := range a.Len() {
		if !yield(withItem(a, i)) {
			return
		}
	}
	for i, item := range a.All() {
		for smaller := range smallerValues(item) {
			if !yield(withItem(a, i, smaller)) {
				return
			}
		}
		if !isScalar(item) && !yield(withItem(a, i, int64(1))) {
			return
		}
	}
}

func isScalar(value any) bool {
	switch value.(type) {
	case document.Object, document.Array:
		return false
	default:
		return true
	}
}

// withItem returns an array with other items in the place of one.
func withItem(a document.Array, at int, items ...any) document.Array {
	var list []any
	for i, item := range a.All() {
		if i == at {
			list = append(list, items...)
		} else {
			list = append(list, item)
		}
	}
	return document.A(list...)
}

// shorterPaths returns a path without its first and without its last part.
func shorterPaths(path string) []string {
	_, rest, dotted := strings.Cut(path, ".")
	if !dotted {
		return nil
	}
	return []string{rest, path[:strings.LastIndex(path, ".")]}
}

// renamed returns an object with another name for one of its fields.
func renamed(o document.Object, from, to string) document.Object {
	next := document.O()
	for key, value := range o.All() {
		if key == from {
			key = to
		}
		next = next.With(key, value)
	}
	return next
}
