// Package nearest finds what a misspelt name may have meant.
package nearest

import "unicode/utf8"

// To returns the one of several names that is most like a name, the first of equals, "" where
// none is like it: a third of its letters may differ, and at least one.
func To(name string, among []string) string {
	best, least := "", max(1, utf8.RuneCountInString(name)/3)+1
	for _, other := range among {
		if d := distance([]rune(name), []rune(other)); d < least {
			best, least = other, d
		}
	}
	return best
}

// distance is how many letters have to be added, removed or changed to make one word of another.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, letter := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, other := range b {
			changed := diagonal
			if letter != other {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
