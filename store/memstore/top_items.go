package memstore

import (
	"container/heap"
	"slices"
)

// topItems keeps the first of the items that it is given, in the order of
// compare; items that compare equal stay in the order in which they came.
type topItems[T any] struct {
	compare func(a, b T) int
	// size is the most items to keep; 0 keeps all.
	size int64
	came int
	kept []ranked[T]
}

// ranked is an item and its number in the order in which they came.
type ranked[T any] struct {
	item   T
	number int
}

// add takes an item in, and drops the last one where there are too many.
func (t *topItems[T]) add(item T) {
	r := ranked[T]{item: item, number: t.came}
	t.came++
	switch {
	case t.size == 0:
		t.kept = append(t.kept, r)
	case int64(len(t.kept)) < t.size:
		heap.Push(t, r)
	case t.order(r, t.kept[0]) < 0:
		t.kept[0] = r
		heap.Fix(t, 0)
	}
}

// order says which of two items comes first.
func (t *topItems[T]) order(a, b ranked[T]) int {
	if order := t.compare(a.item, b.item); order != 0 {
		return order
	}
	return a.number - b.number
}

// sorted returns the items in order. Nothing can be added any more.
func (t *topItems[T]) sorted() []T {
	slices.SortFunc(t.kept, t.order)
	items := make([]T, len(t.kept))
	for i, r := range t.kept {
		items[i] = r.item
	}
	return items
}

// The methods of heap.Interface make kept a heap with the last item at its root.

// Len returns the number of items kept.
func (t *topItems[T]) Len() int { return len(t.kept) }

// Less reports whether item i comes after item j.
func (t *topItems[T]) Less(i, j int) bool { return t.order(t.kept[i], t.kept[j]) > 0 }

// Swap swaps two items.
func (t *topItems[T]) Swap(i, j int) { t.kept[i], t.kept[j] = t.kept[j], t.kept[i] }

// Push appends an item.
func (t *topItems[T]) Push(item any) { t.kept = append(t.kept, item.(ranked[T])) }

// Pop takes the last item off.
func (t *topItems[T]) Pop() any {
	last := len(t.kept) - 1
	item := t.kept[last]
	t.kept = t.kept[:last]
	return item
}
