package explore

import "slices"

// smallest returns a part of a list for which fails still holds, and does not where any one thing is left
// out: delta debugging, by halves, quarters and so on.
func smallest[A any](list []A, fails func([]A) bool) []A {
	for parts := 2; len(list) > 0; {
		size := (len(list) + parts - 1) / parts
		if rest, found := without(list, size, fails); found {
			list, parts = rest, max(2, parts-1)
			continue
		}
		if size == 1 {
			return list
		}
		parts = min(2*parts, len(list))
	}
	return list
}

// without leaves a part of a size out of a list, so that fails still holds.
func without[A any](list []A, size int, fails func([]A) bool) (rest []A, found bool) {
	for from := 0; from < len(list); from += size {
		rest = slices.Concat(list[:from], list[min(from+size, len(list)):])
		if fails(rest) {
			return rest, true
		}
	}
	return nil, false
}
