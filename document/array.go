package document

import (
	"iter"
	"slices"

	"github.com/botctx/go-sdk/boterr"
)

// Array is a list of values. Like Object, it never changes once it is in use, its zero value counts as absent,
// and an Array made of something that is not a value carries an error.
type Array struct{ node *arrayNode }

// arrayNode is one version of an array. It must not change once it is reachable through an Array.
type arrayNode struct {
	items []any
	depth int
	// size is the size in BSON, in which elements are named by their indexes.
	size int
	err  error
}

// A returns an array of values converted by ValueOf: A(1, "two", O("n", 3)). A() is empty but present.
func A(items ...any) Array {
	values := make([]any, 0, len(items))
	var failed error
	for i, item := range items {
		value, err := ValueOf(item)
		if err != nil && failed == nil {
			failed = boterr.PrefixField(boterr.Index(i), err)
		}
		values = append(values, value)
	}
	a := ArrayOf(values)
	if failed != nil {
		a.node.err = failed
	}
	return a
}

// ArrayOf returns an array of values. The caller must not use the slice afterwards.
func ArrayOf(values []any) Array {
	if len(values) == 0 {
		return Array{emptyArray}
	}
	node := &arrayNode{items: values, size: emptySize}
	for i, v := range values {
		node.depth = max(node.depth, depthOf(v))
		node.size = addSizes(node.size, elementSize(i, v))
		if err := errOf(v); err != nil && node.err == nil {
			node.err = boterr.PrefixField(boterr.Index(i), err)
		}
	}
	node.depth++
	if node.err == nil && node.depth > MaxNesting {
		node.err = boterr.Invalid("", "is nested deeper than %d levels", MaxNesting)
	}
	return Array{node}
}

// emptyArray is the node of the array without elements.
var emptyArray = &arrayNode{items: []any{}, size: emptySize, depth: 1}

// elementSize returns the size that an element adds to an array. The name of its field is the index in decimal.
func elementSize(i int, value any) int {
	digits := 1
	for ; i > 9; i /= 10 {
		digits++
	}
	return digits + 2 + SizeOf(value)
}

// Items returns the elements. They must not be changed.
func (a Array) Items() []any {
	if a.node == nil {
		return nil
	}
	return a.node.items
}

// Len returns the number of elements.
func (a Array) Len() int { return len(a.Items()) }

// At returns element i, counted from 0, or nil if there is none.
func (a Array) At(i int) any {
	if i < 0 || i >= a.Len() {
		return nil
	}
	return a.node.items[i]
}

// All returns the elements in order.
func (a Array) All() iter.Seq2[int, any] { return slices.All(a.Items()) }

// Size returns the number of bytes that MongoDB would need for a.
func (a Array) Size() int {
	if a.node == nil {
		return emptySize
	}
	return a.node.size
}

// Append returns the array with elements appended.
func (a Array) Append(items ...any) Array {
	return A(slices.Concat(a.Items(), items)...)
}

// IsZero reports whether a is the zero Array, which counts as absent.
func (a Array) IsZero() bool { return a.node == nil }

// Err returns the error that a carries, or nil.
func (a Array) Err() error {
	if a.node == nil {
		return nil
	}
	return a.node.err
}

// String returns a as JSON, for logs and failure messages.
func (a Array) String() string { return wholeText(a) }

// GoString returns the type and String, so that test failures are readable.
func (a Array) GoString() string { return "document.Array" + a.String() }
