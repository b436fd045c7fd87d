package pcre

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

type (
	// textStep takes a text.
	textStep struct{ text string }
	// setStep takes one character of a set; ascii holds those below 128.
	setStep struct {
		ascii [2]uint64
		set   set
	}
	// runStep takes from least to most characters of a set.
	runStep struct {
		set         *setStep
		least, most int
		kind        repeatKind
	}
	// placeStep asserts the place.
	placeStep assertion
	// backStep goes back so many characters.
	backStep int
	// referenceStep takes what a group has caught.
	referenceStep reference
	// saveStep sets a register to the place.
	saveStep struct{ register int }
	// closeStep ends a group that catches.
	closeStep openCapture
	// jumpStep goes on elsewhere.
	jumpStep struct{ to int }
	// splitStep goes on, and else elsewhere.
	splitStep struct{ otherwise int }
	// failStep goes back to the last choice.
	failStep struct{}
	// acceptStep ends the match.
	acceptStep struct{}
	// verbStep notes a verb.
	verbStep verb
)

func (s textStep) step(m *machine) bool {
	end := m.pos + len(s.text)
	m.spend(len(s.text) / 8)
	if end > len(m.text) || m.text[m.pos:end] != s.text {
		return false
	}
	m.pos = end
	return true
}

func newSetStep(characters set) *setStep {
	s := &setStep{set: characters}
	for r := range rune(utf8.RuneSelf) {
		if characters.has(r) {
			s.ascii[r/64] |= 1 << (r % 64)
		}
	}
	return s
}

func (s *setStep) step(m *machine) bool {
	if m.pos == len(m.text) {
		return false
	}
	c := m.text[m.pos]
	if c < utf8.RuneSelf {
		m.pos += int(s.ascii[c/64] >> (c % 64) & 1)
		return s.ascii[c/64]>>(c%64)&1 == 1
	}
	r, length := utf8.DecodeRuneInString(m.text[m.pos:])
	if !s.set.has(r) {
		return false
	}
	m.pos += length
	return true
}

func (s *runStep) step(m *machine) bool {
	at := m.pc - 1
	enough := m.pos
	wanted := s.most
	if s.kind == lazy {
		wanted = s.least
	}
	count := 0
	for wanted == unbounded || count < wanted {
		if !s.set.step(m) {
			break
		}
		count++
		if count == s.least {
			enough = m.pos
		}
	}
	m.spend(2 * count)
	switch {
	case count < s.least:
		return false
	case s.kind == greedy && m.pos > enough:
		m.push(greedyEntry, at, m.pos, enough)
	case s.kind == lazy && s.most == unbounded:
		m.push(lazyEntry, at, m.pos, unbounded)
	case s.kind == lazy && s.most > s.least:
		m.push(lazyEntry, at, m.pos, s.most-s.least)
	}
	return true
}

func (kind placeStep) step(m *machine) bool {
	before, after := m.text[:m.pos], m.text[m.pos:]
	switch assertion(kind) {
	case textStart:
		return before == ""
	case lineStart:
		return before == "" || before[len(before)-1] == '\n' && after != ""
	case textEnd:
		return after == ""
	case lastLineEnd:
		return after == "" || after == "\n"
	case lineEnd:
		return after == "" || after[0] == '\n'
	case searchStart:
		return m.pos == m.from
	case wordEdge:
		return asciiWord.endsIn(before) != asciiWord.begins(after)
	case noWordEdge:
		return asciiWord.endsIn(before) == asciiWord.begins(after)
	case wordEdgeUnicode:
		return unicodeWord().endsIn(before) != unicodeWord().begins(after)
	default:
		return unicodeWord().endsIn(before) == unicodeWord().begins(after)
	}
}

// endsIn reports whether a text ends in a character of the set.
func (s set) endsIn(text string) bool {
	r, length := utf8.DecodeLastRuneInString(text)
	return length > 0 && s.has(r)
}

// begins reports whether a text begins with a character of the set.
func (s set) begins(text string) bool {
	r, length := utf8.DecodeRuneInString(text)
	return length > 0 && s.has(r)
}

func (count backStep) step(m *machine) bool {
	m.spend(int(count))
	for range int(count) {
		if m.pos == 0 {
			return false
		}
		_, length := utf8.DecodeLastRuneInString(m.text[:m.pos])
		m.pos -= length
	}
	return true
}

func (s referenceStep) step(m *machine) bool {
	at := slices.IndexFunc(s.groups.numbers, m.isSet)
	if at < 0 {
		return false
	}
	number := s.groups.numbers[at]
	caught := m.text[m.registers[2*number]:m.registers[2*number+1]]
	m.spend(len(caught))
	if s.fold {
		return m.takeFolded(caught)
	}
	return textStep{caught}.step(m)
}

// isSet reports whether a group has caught something.
func (m *machine) isSet(group int) bool { return m.registers[2*group+1] != none }

// takeFolded takes a text whose case does not count.
func (m *machine) takeFolded(text string) bool {
	rest := m.text[m.pos:]
	for _, want := range text {
		r, length := utf8.DecodeRuneInString(rest)
		if length == 0 || !sameFolded(r, want) {
			return false
		}
		rest = rest[length:]
	}
	m.pos = len(m.text) - len(rest)
	return true
}

// sameFolded reports whether two characters are the same but for their case.
func sameFolded(a, b rune) bool {
	if a == b {
		return true
	}
	for other := unicode.SimpleFold(a); other != a; other = unicode.SimpleFold(other) {
		if other == b {
			return true
		}
	}
	return false
}

func (s saveStep) step(m *machine) bool {
	m.set(s.register, m.pos)
	return true
}

func (s closeStep) step(m *machine) bool {
	m.set(2*s.number, m.registers[s.register])
	m.set(2*s.number+1, m.pos)
	return true
}

func (s *jumpStep) step(m *machine) bool {
	m.pc = s.to
	return true
}

func (s *splitStep) step(m *machine) bool {
	m.push(choiceEntry, s.otherwise, m.pos, 0)
	return true
}

func (failStep) step(*machine) bool { return false }

func (acceptStep) step(m *machine) bool {
	m.pc = none
	return true
}

func (s verbStep) step(m *machine) bool {
	m.push(verbEntry, int(s), m.pos, 0)
	return true
}
