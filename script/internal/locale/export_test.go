package locale

import (
	"maps"
	"slices"
)

// Characters returns all characters with a known order.
func Characters() []rune {
	s := parsed()
	list := slices.Collect(maps.Keys(s.places))
	for _, span := range slices.Concat(s.known, s.split) {
		for r := span[0]; r <= span[1]; r++ {
			list = append(list, r)
		}
	}
	return list
}
