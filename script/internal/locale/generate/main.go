// Command generate writes the data of package locale by comparing package collate with the node in the PATH.
// characters.txt lists the characters that collate orders as Node.js does, at all strengths. moved.txt lists the
// places of the other characters.
//
// moved.txt uses a notation like ICU's rules: in a<b<<c<<<d=e, b comes after a and is another letter, c is b with an
// accent, d is a variant of c, and e equals d. b-c means all characters from b to c, with the same sign before each.
// =a-c means characters that collate treats as letters, but Node.js as accented letters.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

const (
	levels = 3
	// between is the first byte of the text that package locale adds to the weight of a character to place another
	// one between it and the next.
	between = "\xFF"
)

// character is a character in the order of Node.js.
type character struct {
	Char rune
	// Differs is the first level at which the character differs from the previous one, or levels if they are equal.
	Differs int
	// weights are the character's weights in collate at each level. If isSplit, they are the weights of its split
	// form.
	weights [levels]string
	isSplit bool
	isKnown bool
}

// icu is the version of ICU in node. Other versions have other characters.
const icu = "78.2"

func main() {
	var version string
	if _, err := exec.LookPath("node"); err == nil {
		ask("const answer = process.versions.icu", nil, &version)
	}
	if version != icu {
		fmt.Fprintf(os.Stderr, "the data of localeCompare stays as it is: it is made by a node with ICU %s, and here is %q\n", icu, version)
		return
	}
	var sorted []character
	ask(sortScript, nil, &sorted)
	collator := collate.New(language.English)
	for i, c := range sorted {
		sorted[i].weights = weigh(collator, string(c.Char))
	}
	know(sorted)
	for i, c := range sorted {
		if parts := []rune(norm.NFD.String(string(c.Char))); !c.isKnown && len(parts) > 1 {
			sorted[i].weights = weigh(collator, string(parts[0])+"\u034F"+string(parts[1:]))
			sorted[i].isSplit = true
		}
	}
	know(sorted)
	var known, split []rune
	for _, c := range sorted {
		if c.isKnown && c.isSplit {
			split = append(split, c.Char)
		} else if c.isKnown {
			known = append(known, c.Char)
		}
	}
	write("characters.txt", spans(known, ""))
	write("moved.txt", append(spans(split, "="), chains(sorted)...))
}

// know sets isKnown for the characters that collate and Node.js order alike.
func know(sorted []character) {
	all := make([]int, len(sorted))
	for i := range sorted {
		all[i] = i
		sorted[i].isKnown = false
	}
	for _, i := range choose(sorted, all, 0).members {
		sorted[i].isKnown = true
	}
}

// sortScript sorts all normalized characters, except Han characters of the extensions, which collate does not know.
const sortScript = `
const list = []
for (let r = 0; r < 0xE01F0; r++) {
  const one = String.fromCodePoint(r)
  const isRare = r >= 0x3400 && r < 0x4DC0 || r >= 0x20000 && r < 0xE0000 || r >= 0x17000 && r < 0x19000
  if (!isRare && /[^\p{Cn}\p{Cs}\p{Co}]/u.test(one) && one.normalize() === one) list.push(one)
}
const levels = ['base', 'accent', 'variant'].map((sensitivity) => new Intl.Collator('en', { sensitivity }).compare)
list.sort((a, b) => levels[2](a, b) || a.codePointAt() - b.codePointAt())
const differs = (one, other) => levels.findIndex((compare) => compare(one, other) !== 0)
const answer = list.map((one, i) => ({ Char: one.codePointAt(), Differs: i === 0 ? 0 : (differs(list[i - 1], one) + 4) % 4 }))`

// followScript reports for pairs of characters whether the second comes after all texts that begin with the first.
// U+FFFF is the greatest letter.
const followScript = `
const { compare } = new Intl.Collator('en', { sensitivity: 'base' })
const answer = given.map(([one, other]) => compare(String.fromCodePoint(one, 0xFFFF), String.fromCodePoint(other)) < 0)`

// ask runs a script in node with given as its input, and decodes the answer.
func ask(script string, given, answer any) {
	value, err := json.Marshal(given)
	must(err)
	command := exec.CommandContext(context.Background(), "node", "-")
	command.Stdin = strings.NewReader("const given = " + string(value) + "\n" + script + "\nprocess.stdout.write(JSON.stringify(answer))")
	command.Stderr = os.Stderr
	printed, err := command.Output()
	must(err)
	must(json.Unmarshal(printed, answer))
}

func weigh(collator *collate.Collator, text string) (weights [levels]string) {
	key := collator.KeyFromString(&collate.Buffer{}, text)
	for level := range weights {
		end := 0
		for end < len(key) && (level == levels-1 || key[end] != 0 || key[end+1] != 0) {
			end += size(level, key[end])
		}
		weights[level] = string(key[:end])
		key = key[min(len(key), end+len("\x00\x00")):]
	}
	return weights
}

// size returns the length in bytes of a weight that begins with first.
func size(level int, first byte) int {
	switch {
	case level == levels-1:
		return 1
	case level == 0 && first >= 0x80:
		return 3
	}
	return 2
}

// chosen is a set of characters with the sum of their values.
type chosen struct {
	members []int
	value   int
}

// value returns how important a correct order of the character is.
func value(r rune) int {
	switch {
	case r < 0x80:
		return 1000
	case r < 0x530 && !norm.NFD.IsNormalString(string(r)):
		return 4
	case r < 0x530 || r >= 0x4E00 && r < 0xA000 || r >= 0x3000 && r < 0x3100:
		return 5
	}
	return 1
}

// choose returns the most valuable subset of the characters at items whose weights, from level on, are in order.
func choose(sorted []character, items []int, level int) chosen {
	if level == levels {
		all := chosen{members: items}
		for _, i := range items {
			all.value += value(sorted[i].Char)
		}
		return all
	}
	ranks := ranksOf(sorted, items, level)
	best := make(links, len(ranks)+1)
	for start := 0; start < len(items); {
		end := start + 1
		for end < len(items) && difference(sorted, items[end-1], items[end]) > level {
			end++
		}
		same := map[int][]int{}
		for _, i := range items[start:end] {
			rank := ranks[sorted[i].weights[level]]
			same[rank] = append(same[rank], i)
		}
		ends := slices.Sorted(maps.Keys(same))
		slices.Reverse(ends)
		for _, rank := range ends {
			best.add(rank, choose(sorted, same[rank], level+1))
		}
		start = end
	}
	var all chosen
	for at := best.upTo(len(ranks)); at != nil; at = at.before {
		all.members = append(all.members, at.members...)
		all.value += at.value
	}
	slices.Sort(all.members)
	return all
}

// ranksOf returns the ranks of the weights in sorted order, starting with 1.
func ranksOf(sorted []character, items []int, level int) map[string]int {
	ranks := map[string]int{}
	for _, i := range items {
		ranks[sorted[i].weights[level]] = 0
	}
	for i, weight := range slices.Sorted(maps.Keys(ranks)) {
		ranks[weight] = i + 1
	}
	return ranks
}

// link is the end of a list with rising ranks.
type link struct {
	chosen
	before *link
	total  int
}

// links is a Fenwick tree. It holds the best list that ends at or below each rank.
type links []*link

func (l links) upTo(rank int) *link {
	var found *link
	for ; rank > 0; rank -= rank & -rank {
		if l[rank] != nil && (found == nil || l[rank].total > found.total) {
			found = l[rank]
		}
	}
	return found
}

// add appends the chosen characters to the best list of lower ranks, and stores the result at rank.
func (l links) add(rank int, what chosen) {
	one := &link{chosen: what, before: l.upTo(rank - 1), total: what.value}
	if one.before != nil {
		one.total += one.before.total
	}
	for ; rank < len(l); rank += rank & -rank {
		if l[rank] == nil || l[rank].total < one.total {
			l[rank] = one
		}
	}
}

// difference returns the first level at which two characters of a sorted list differ.
func difference(sorted []character, one, other int) int {
	least := levels
	for _, c := range sorted[one+1 : other+1] {
		least = min(least, c.Differs)
	}
	return least
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// isPlaced reports whether an unknown character gets a place. Characters of modern scripts and emoji get one, except
// a composed letter whose other case is not a single character, like ẖ: the two cases would be apart.
func isPlaced(r rune) bool {
	isAlone := !norm.NFD.IsNormalString(string(r)) && unicode.ToUpper(r) == unicode.ToLower(r)
	return !isAlone && (r < 0x10000 || r >= 0x1F000 && r < 0x1FC00)
}

func chains(sorted []character) []string {
	for follows := map[[2]rune]bool{}; ; {
		count := len(follows)
		made := placed(sorted, follows)
		if len(follows) == count {
			return made
		}
		pairs := slices.Collect(maps.Keys(follows))
		answers := make([]bool, len(pairs))
		ask(followScript, pairs, &answers)
		for i, pair := range pairs {
			follows[pair] = answers[i]
		}
	}
}

// chain is a known character with the unknown characters after it.
type chain struct {
	anchor, last int // the items of the first and the last character in the list
	level        int // of the first difference between the two
	text         strings.Builder
	sign         string
	first        rune // of the characters that the text ends with, up to last
}

// add adds an item that differs from the last one at level differs.
func (c *chain) add(sorted []character, i, differs int) {
	sign := strings.Repeat("<", differs+1)
	if differs == levels {
		sign = "="
	}
	if sign != c.sign || sorted[i].Char != sorted[c.last].Char+1 {
		c.end(sorted)
		c.sign, c.first = sign, sorted[i].Char
	}
	c.last, c.level = i, min(c.level, differs)
}

// end writes the characters since first.
func (c *chain) end(sorted []character) {
	c.text.WriteString(c.sign + span(c.first, sorted[c.last].Char))
}

// placed returns the chains of all characters that can be placed. follows contains the answers of followScript;
// placed adds missing pairs as true.
func placed(sorted []character, follows map[[2]rune]bool) []string {
	var made []string
	open := &chain{}
	known, letter := 0, 0 // the last known item, and the last one that is a single letter
	begin := func(anchor int) {
		if open.anchor != open.last {
			open.end(sorted)
			made = append(made, open.text.String())
		}
		open = &chain{anchor: anchor, last: anchor, level: levels, first: sorted[anchor].Char}
	}
	for i, c := range sorted {
		if c.isKnown {
			known = i
			begin(i)
		}
		if c.isKnown && isLetter(c) {
			letter = i
		}
		if c.isKnown || !isPlaced(c.Char) {
			continue
		}
		differs := difference(sorted, open.last, i)
		anchor, before := open.anchor, open.last
		if differs == 0 && !isLetter(sorted[anchor]) {
			anchor, before = letter, letter
		}
		if differs == 0 && !isAfter(follows, sorted[before].Char, c.Char) || !fits(sorted, anchor, known, i) {
			continue
		}
		if anchor != open.anchor {
			begin(anchor)
		}
		open.add(sorted, i, differs)
	}
	begin(0)
	return made
}

func isAfter(follows map[[2]rune]bool, before, r rune) bool {
	pair := [2]rune{before, r}
	if _, isAsked := follows[pair]; !isAsked {
		follows[pair] = true
	}
	return follows[pair]
}

// isLetter reports whether a character has the weights of a letter.
func isLetter(c character) bool {
	return c.weights[0] != "" && len(c.weights[0]) == size(0, c.weights[0][0])
}

// fits reports whether characters after anchor also fit between the known characters around an item.
func fits(sorted []character, anchor, known, i int) bool {
	level := difference(sorted, anchor, i)
	if level == levels {
		return true
	}
	weight := sorted[anchor].weights[level] + between
	if sorted[known].weights[level] >= weight {
		return false
	}
	for next := i + 1; next < len(sorted); next++ {
		if n := sorted[next]; n.isKnown {
			apart := difference(sorted, i, next)
			return apart <= level && (apart < level || n.weights[level] > weight)
		}
	}
	return true
}

// spans returns the ranges of the characters, each preceded by sign.
func spans(list []rune, sign string) []string {
	slices.Sort(list)
	var made []string
	for start := 0; start < len(list); {
		end := start + 1
		for end < len(list) && list[end] == list[end-1]+1 {
			end++
		}
		made = append(made, sign+span(list[start], list[end-1]))
		start = end
	}
	return made
}

func span(first, last rune) string {
	if first == last {
		return fmt.Sprintf("%x", first)
	}
	return fmt.Sprintf("%x-%x", first, last)
}

// write writes the fields to a file, wrapped into lines.
func write(name string, fields []string) {
	var text strings.Builder
	width := 0
	for _, field := range fields {
		switch {
		case width == 0:
		case width+1+len(field) > 120:
			text.WriteByte('\n')
			width = 0
		default:
			text.WriteByte(' ')
			width++
		}
		text.WriteString(field)
		width += len(field)
	}
	text.WriteByte('\n')
	must(os.WriteFile(name, []byte(text.String()), 0o600))
}
