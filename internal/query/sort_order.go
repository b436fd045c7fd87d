package query

import (
	"slices"

	"github.com/botctx/go-sdk/document"
)

// keyOrder sorts items by several keys, the first of which decides first. Items are numbered from
// 0; equal ones keep their order.
//
// The value of a key is computed once for an item, and only for items that are equal to another one
// by all earlier keys.
type keyOrder struct {
	keys int
	// value returns the value of a key of an item, compare orders two values of a key.
	value   func(item, key int) any
	compare func(a, b any, key int) int
}

// keyedItem is an item and the value of the key by which it is sorted now.
type keyedItem struct {
	value any
	item  int
}

// of returns so many items in order.
func (o *keyOrder) of(count int) []keyedItem {
	items := make([]keyedItem, count)
	for i := range items {
		items[i].item = i
	}
	o.sort(items, 0)
	return items
}

// sort sorts items, which the keys before one leave equal.
func (o *keyOrder) sort(items []keyedItem, key int) {
	for i := range items {
		items[i].value = o.value(items[i].item, key)
	}
	slices.SortFunc(items, func(a, b keyedItem) int {
		if order := o.compare(a.value, b.value, key); order != 0 {
			return order
		}
		return a.item - b.item
	})
	if key+1 < o.keys {
		o.sortEqual(items, key)
	}
}

// sortEqual sorts by the keys behind one what that one leaves equal.
func (o *keyOrder) sortEqual(items []keyedItem, key int) {
	for len(items) > 0 {
		equal := 1
		for equal < len(items) && o.compare(items[0].value, items[equal].value, key) == 0 {
			equal++
		}
		if equal > 1 {
			o.sort(items[:equal], key+1)
		}
		items = items[equal:]
	}
}

// inOrder returns values in an order of their numbers.
func inOrder[T any](values []T, order []keyedItem) []T {
	sorted := make([]T, len(values))
	for i, o := range order {
		sorted[i] = values[o.item]
	}
	return sorted
}

// Sort sorts documents in place; those that compare equal keep their order.
func (s *Sort) Sort(documents []document.Object) { s.sort(documents, nil) }

// Sort is Sort.Sort within the evaluation. Once the budget is spent the order means nothing, and
// Err tells why.
func (e *Evaluation) Sort(sort *Sort, documents []document.Object) {
	if sort != nil {
		e.measureVisited(documents)
		sort.sort(documents, e)
	}
}

// sort is Sort. A nil evaluation bounds nothing.
func (s *Sort) sort(documents []document.Object, e *Evaluation) {
	if s == nil || len(documents) < 2 {
		return
	}
	tuples := s.tuplesOf(documents, e)
	order := keyOrder{
		keys: len(s.keys),
		value: func(item, key int) any {
			if s.shares && tuples[item] != nil {
				return tuples[item][key]
			}
			if !e.spend(conditionWork) {
				return nil
			}
			return s.keys[key].of(documents[item], e)
		},
		compare: func(a, b any, key int) int {
			if !e.spend(stepWork + comparisonWork(a, b)) {
				return 0
			}
			return s.keys[key].signed(document.Compare(a, b))
		},
	}
	copy(documents, inOrder(documents, order.of(len(documents))))
}

// tuplesOf returns the values of all keys of each document that has arrays on their paths. It is
// for a sort with two keys that may lead through one array.
func (s *Sort) tuplesOf(documents []document.Object, e *Evaluation) [][]any {
	if !s.shares {
		return nil
	}
	tuples := make([][]any, len(documents))
	for i, o := range documents {
		if !e.spend(len(s.keys) * conditionWork) {
			break
		}
		if s.arraysIn(o) > 0 {
			tuples[i] = s.valuesOf(o, e)
		}
	}
	return tuples
}

// signed returns an order of two values in the direction of the key.
func (k *sortKey) signed(order int) int {
	if k.descending {
		return -order
	}
	return order
}
