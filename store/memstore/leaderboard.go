package memstore

import (
	"container/heap"
	"slices"
)

// leaderboard keeps the first of the items that it is given, in the order of
// compare; items that compare equal stay in the order in which they came.
type leaderboard[T any] struct {
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
func (l *leaderboard[T]) add(item T) {
	r := ranked[T]{item: item, number: l.came}
	l.came++
	switch {
	case l.size == 0:
		l.kept = append(l.kept, r)
	case int64(len(l.kept)) < l.size:
		heap.Push(l, r)
	case l.order(r, l.kept[0]) < 0:
		l.kept[0] = r
		heap.Fix(l, 0)
	}
}

// order says which of two items comes first.
func (l *leaderboard[T]) order(a, b ranked[T]) int {
	if order := l.compare(a.item, b.item); order != 0 {
		return order
	}
	return a.number - b.number
}

// ranking returns the items in order. Nothing can be added any more.
func (l *leaderboard[T]) ranking() []T {
	slices.SortFunc(l.kept, l.order)
	items := make([]T, len(l.kept))
	for i, r := range l.kept {
		items[i] = r.item
	}
	return items
}

// The methods of heap.Interface make kept a heap with the last item at its root.

// Len returns the number of items kept.
func (l *leaderboard[T]) Len() int { return len(l.kept) }

// Less reports whether item i comes after item j.
func (l *leaderboard[T]) Less(i, j int) bool { return l.order(l.kept[i], l.kept[j]) > 0 }

// Swap swaps two items.
func (l *leaderboard[T]) Swap(i, j int) { l.kept[i], l.kept[j] = l.kept[j], l.kept[i] }

// Push appends an item.
func (l *leaderboard[T]) Push(item any) { l.kept = append(l.kept, item.(ranked[T])) }

// Pop takes the last item off.
func (l *leaderboard[T]) Pop() any {
	last := len(l.kept) - 1
	item := l.kept[last]
	l.kept = l.kept[:last]
	return item
}
