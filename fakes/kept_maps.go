package fakes

import (
	"maps"
	"slices"
)

// Most platforms never need most of what their services could keep. So a map of what is kept is nil until the
// first entry is put into it.

// put sets an entry of a map, which is made with its first one.
//
//nolint:gocritic // The pointer is to where the map is made.
func put[K comparable, V any](kept *map[K]V, key K, value V) {
	if *kept == nil {
		*kept = map[K]V{}
	}
	(*kept)[key] = value
}

// copyOfMap returns a copy of a map, nil where it is empty.
func copyOfMap[K comparable, V any](m map[K]V) map[K]V {
	if len(m) == 0 {
		return nil
	}
	return maps.Clone(m)
}

// copyOfLists returns a copy of a map of lists, nil where it is empty.
func copyOfLists[K comparable, V any](m map[K][]V) map[K][]V {
	lists := copyOfMap(m)
	for key, list := range lists {
		lists[key] = slices.Clone(list)
	}
	return lists
}
