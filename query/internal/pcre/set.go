package pcre

import (
	"slices"
	"sort"
	"sync"
	"unicode"
)

// set is a set of characters: the first and the last of each of its ranges, in order, with
// something between any two.
type set []rune

// anyCharacter is the set of all characters.
var anyCharacter = set{0, unicode.MaxRune}

// anyButNewline is what a dot means without the option s.
var anyButNewline = set{0, '\n' - 1, '\n' + 1, unicode.MaxRune}

// has reports whether a character is in the set.
func (s set) has(r rune) bool {
	if len(s) <= 8 {
		for i := 0; i < len(s); i += 2 {
			if r <= s[i+1] {
				return r >= s[i]
			}
		}
		return false
	}
	i := sort.Search(len(s)/2, func(i int) bool { return s[2*i+1] >= r })
	return 2*i < len(s) && s[2*i] <= r
}

// negated returns the set of all other characters.
func (s set) negated() set {
	others := make(set, 0, len(s)+2)
	next := rune(0)
	for i := 0; i < len(s); i += 2 {
		if s[i] > next {
			others = append(others, next, s[i]-1)
		}
		next = s[i+1] + 1
	}
	if next <= unicode.MaxRune {
		others = append(others, next, unicode.MaxRune)
	}
	return others
}

// setOf returns the set of pairs in any order.
func setOf(pairs []rune) set {
	ranges := make([][2]rune, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		ranges = append(ranges, [2]rune{pairs[i], pairs[i+1]})
	}
	slices.SortFunc(ranges, func(a, b [2]rune) int { return int(a[0]) - int(b[0]) })
	var s set
	for _, r := range ranges {
		if last := len(s) - 1; last > 0 && r[0] <= s[last]+1 {
			s[last] = max(s[last], r[1])
		} else {
			s = append(s, r[0], r[1])
		}
	}
	return s
}

// united returns the set of all characters of some sets.
func united(sets ...set) set { return setOf(slices.Concat(sets...)) }

// folded returns the set with what differs from its characters by case alone.
func (s set) folded() set {
	all := slices.Clone(s)
	cased := casedCharacters()
	for i := 0; i < len(s); i += 2 {
		at, _ := slices.BinarySearch(cased, s[i])
		for ; at < len(cased) && cased[at] <= s[i+1]; at++ {
			for other := unicode.SimpleFold(cased[at]); other != cased[at]; other = unicode.SimpleFold(other) {
				if !s.has(other) {
					all = append(all, other, other)
				}
			}
		}
	}
	if len(all) == len(s) {
		return s
	}
	return setOf(all)
}

// cased counts the characters of the set that have another case.
func (s set) cased() int {
	count := 0
	for i := 0; i < len(s); i += 2 {
		from, _ := slices.BinarySearch(casedCharacters(), s[i])
		to, _ := slices.BinarySearch(casedCharacters(), s[i+1]+1)
		count += to - from
	}
	return count
}

// casedCharacters returns the characters that have another case, in order.
var casedCharacters = sync.OnceValue(func() []rune {
	var cased []rune
	for r := range unicode.MaxRune + 1 {
		if unicode.SimpleFold(r) != r {
			cased = append(cased, r)
		}
	}
	return cased
})

// ofTables returns the set of the characters in tables of Unicode.
func ofTables(tables ...*unicode.RangeTable) set {
	var pairs []rune
	add := func(low, high, stride rune) {
		if stride == 1 {
			pairs = append(pairs, low, high)
			return
		}
		for r := low; r <= high; r += stride {
			pairs = append(pairs, r, r)
		}
	}
	for _, table := range tables {
		for _, r := range table.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range table.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	return setOf(pairs)
}
