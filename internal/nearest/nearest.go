// Package nearest finds the name that was probably meant by a misspelt one.
package nearest

import "strings"

// To returns the name most similar to the given one: the first if several are equally similar, or "" if none
// is similar. At most a third of its letters may differ, or one letter of a short name. Case is ignored.
func To[S ~string](name S, among []S) S {
	letters := []rune(strings.ToLower(string(name)))
	best, least := S(""), max(1, len(letters)/3)+1
	for _, other := range among {
		others := []rune(strings.ToLower(string(other)))
		if len(letters)-len(others) >= least || len(others)-len(letters) >= least {
			continue // Too different in length. A script may ask for a name of megabytes.
		}
		if d := distance(letters, others); d < least {
			best, least = other, d
		}
	}
	return best
}

// distance returns the number of letters to add, remove, change or swap with the next one to turn a into b.
func distance(a, b []rune) int {
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, letter := range a {
		next[0] = i + 1
		for j, other := range b {
			changed := row[j]
			if letter != other {
				changed++
			}
			next[j+1] = min(changed, next[j]+1, row[j+1]+1)
			if i > 0 && j > 0 && letter == b[j-1] && a[i-1] == other {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
