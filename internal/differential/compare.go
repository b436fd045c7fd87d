package differential

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/storetest"
)

// answer is what an engine made of a case: an outcome, or an error.
type answer struct {
	outcome storetest.Outcome
	err     error
}

// compare returns how memstore's answer differs from lungo's.
func compare(c *storetest.Case, ours, theirs answer) error {
	switch {
	case theirs.err != nil && (errors.Is(ours.err, boterr.InvalidArgument) || errors.Is(ours.err, boterr.AlreadyExists)):
		return nil
	case ours.err != nil:
		return fmt.Errorf("memstore refuses or fails: %w", ours.err)
	case theirs.err != nil:
		return errors.New("memstore must refuse this")
	}
	return compareParts(c, expectation(c.Kind, ours.outcome), expectation(c.Kind, theirs.outcome))
}

// compareParts returns how memstore's outcome differs from lungo's in the parts of lungo's.
func compareParts(c *storetest.Case, ours, theirs document.Object) error {
	for part, value := range theirs.All() {
		own, _ := ours.Field(part)
		agree := same(value, own)
		if list, ok := value.(document.Array); ok && (part != "ids" || c.Sort == nil) {
			isSame := same
			if part == "values" {
				isSame = document.Equal // Of 1 and 1.0, either stands for both.
			}
			agree = sameInAnyOrder(list, own, isSame)
		}
		if !agree {
			return fmt.Errorf("%s: lungo gives %v, memstore %v", part, shown(value), shown(own))
		}
	}
	return nil
}

// sameInAnyOrder reports whether a value is an array with the items of another one.
func sameInAnyOrder(list document.Array, value any, isSame func(a, b any) bool) bool {
	other, _ := value.(document.Array)
	var rest []any
	for _, item := range other.All() {
		rest = append(rest, item)
	}
	for _, item := range list.All() {
		at := slices.IndexFunc(rest, func(candidate any) bool { return isSame(item, candidate) })
		if at < 0 {
			return false
		}
		rest = slices.Delete(rest, at, at+1)
	}
	return len(rest) == 0
}

// same reports whether two values are the same in type, content and order of fields.
func same(a, b any) bool {
	switch v := a.(type) {
	case document.Object:
		other, ok := b.(document.Object)
		return ok && sameObjects(v, other)
	case document.Array:
		other, ok := b.(document.Array)
		return ok && sameArrays(v, other)
	case float64:
		other, ok := b.(float64)
		return ok && (v == other || math.IsNaN(v) && math.IsNaN(other))
	default:
		return document.TypeName(a) == document.TypeName(b) && document.Equal(a, b)
	}
}

func sameObjects(a, b document.Object) bool {
	if a.IsZero() != b.IsZero() || !slices.Equal(a.Keys(), b.Keys()) {
		return false
	}
	for key, value := range a.All() {
		if another, _ := b.Field(key); !same(value, another) {
			return false
		}
	}
	return true
}

func sameArrays(a, b document.Array) bool {
	if a.Len() != b.Len() {
		return false
	}
	for i, item := range a.All() {
		if !same(item, b.At(i)) {
			return false
		}
	}
	return true
}
