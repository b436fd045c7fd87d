package pcre

import (
	"strconv"
	"strings"
	"unicode"
)

// escape reads a backslash and what belongs to it, and reports whether a quantifier can
// stand behind that.
func (p *parser) escape() (item node, repeatable bool) {
	if len(p.rest) == 1 {
		return p.fail("it ends in a backslash"), false
	}
	letter := p.rest[1]
	if kind, ok := p.place(letter); ok {
		p.rest = p.rest[2:]
		return kind, false
	}
	if set, ok := p.setEscape(); ok {
		return character{set}, true
	}
	switch letter {
	case 'R':
		p.rest = p.rest[2:]
		return atomic{alternatives{literal("\r\n"), character{verticalSpace}}}, true
	case 'K':
		return p.keep(), false
	case 'g', 'k':
		p.rest = p.rest[2:]
		return p.referenceEscape(letter), true
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if number, length := leadingNumber(p.rest[1:]); number < 10 || letter >= '8' || number <= p.groups {
			p.rest = p.rest[1+length:]
			return p.backReference(p.use(&groupNames{numbers: []int{number}})), true
		}
	}
	return p.character(p.characterEscape()), true
}

// place returns the assertion that an escape stands for.
func (p *parser) place(letter byte) (assertion, bool) {
	switch letter {
	case 'A':
		return textStart, true
	case 'Z':
		return lastLineEnd, true
	case 'z':
		return textEnd, true
	case 'G':
		return searchStart, true
	case 'b':
		if p.unicode {
			return wordEdgeUnicode, true
		}
		return wordEdge, true
	case 'B':
		if p.unicode {
			return noWordEdgeUnicode, true
		}
		return noWordEdge, true
	default:
		return 0, false
	}
}

func (p *parser) keep() node {
	p.rest = p.rest[2:]
	if p.inLook > 0 {
		return p.fail(`\K stands inside look-around`)
	}
	return keep{}
}

// leadingNumber reads the digits at the beginning of a text.
func leadingNumber(text string) (number, length int) {
	for length < len(text) && isDigit(text[length]) {
		number = min(number*10+int(text[length]-'0'), maxRepeat+1)
		length++
	}
	return number, length
}

// referenceEscape reads what stands behind \g and \k.
func (p *parser) referenceEscape(letter byte) node {
	for _, brackets := range []string{"{}", "<>", "''"} {
		if !p.skip(brackets[:1]) {
			continue
		}
		text, _ := p.until(brackets[1:])
		if letter == 'k' {
			return p.backReference(p.use(&groupNames{name: text}))
		}
		if brackets == "{}" {
			return p.backReference(p.named(text))
		}
		return p.callOf(p.named(text))
	}
	sign := 0
	if strings.HasPrefix(p.rest, "-") || strings.HasPrefix(p.rest, "+") {
		sign = 1
	}
	_, length := leadingNumber(p.rest[sign:])
	if letter == 'k' || length == 0 {
		return p.fail(`\%c names no group`, letter)
	}
	text := p.rest[:sign+length]
	p.rest = p.rest[sign+length:]
	return p.backReference(p.numbered(text))
}

// named returns the group of a name or a number.
func (p *parser) named(text string) *groupNames {
	if text != "" && (isDigit(text[0]) || text[0] == '-' || text[0] == '+') {
		return p.numbered(text)
	}
	return p.use(&groupNames{name: text})
}

// setEscape reads an escape that stands for a set of characters, if one is next.
func (p *parser) setEscape() (set, bool) {
	letter := p.rest[1]
	var characters set
	switch letter {
	case 'd', 'D':
		characters = p.either(asciiDigit, unicodeDigit)
	case 'w', 'W':
		characters = p.either(asciiWord, unicodeWord)
	case 's', 'S':
		characters = p.either(asciiSpace, unicodeSpace)
	case 'h', 'H':
		characters = horizontalSpace
	case 'v', 'V':
		characters = verticalSpace
	case 'p', 'P':
		return p.propertyEscape(), true
	case 'N':
		if strings.HasPrefix(p.rest, `\N{U+`) {
			return nil, false
		}
		return p.notNewline(), true
	default:
		return nil, false
	}
	p.rest = p.rest[2:]
	if letter <= 'Z' {
		characters = characters.negated()
	}
	return p.counted(characters), true
}

// notNewline reads \N. A name of a character behind it is not supported.
func (p *parser) notNewline() set {
	p.rest = p.rest[2:]
	rest := p.rest
	if _, _, ok := p.bounds(); !ok && strings.HasPrefix(rest, "{") {
		p.fail(`\N{ is not supported, except as \N{U+...}`)
		return nil
	}
	p.rest = rest
	return anyButNewline
}

// either returns what an escape means without (*UCP) or after it.
func (p *parser) either(ascii set, wide func() set) set {
	if p.unicode {
		return wide()
	}
	return ascii
}

// counted counts the ranges of a set, and refuses too many.
func (p *parser) counted(s set) set {
	p.countSets(len(s))
	return s
}

// countSets counts what the classes are made of, and reports whether it may be so much.
func (p *parser) countSets(count int) bool {
	if p.sets += count; p.sets > maxSets {
		p.fail("its classes of characters are too large: use fewer")
	}
	return p.err == nil
}

// propertyEscape reads \pL, \p{Lu}, \p{^Lu} and \P{Lu}.
func (p *parser) propertyEscape() set {
	negated := p.rest[1] == 'P'
	p.rest = p.rest[2:]
	name := ""
	switch {
	case p.skip("{"):
		inside, ok := p.until("}")
		if !ok {
			p.fail(`\p{ has no closing brace`)
			return nil
		}
		trimmed, caret := strings.CutPrefix(inside, "^")
		name, negated = trimmed, negated != caret
	case p.rest != "":
		name = string(p.rune())
	}
	characters, ok := property(name)
	if !ok {
		p.fail(`%q is no category, script or property for \p that is supported`, name)
	}
	if negated {
		characters = characters.negated()
	}
	return p.counted(characters)
}

// plainEscapes are the letters that stand for one character.
var plainEscapes = map[byte]rune{'a': '\a', 'e': 0x1b, 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// characterEscape reads an escape that stands for one character.
func (p *parser) characterEscape() rune {
	p.rest = p.rest[1:]
	if p.rest == "" {
		p.fail("it ends in a backslash")
		return 0
	}
	letter := p.rest[0]
	if r, ok := plainEscapes[letter]; ok {
		p.rest = p.rest[1:]
		return r
	}
	switch {
	case p.skip("x{"):
		return p.braced(16)
	case p.skip("x"):
		return p.digits(16, 2)
	case p.skip("o{"):
		return p.braced(8)
	case p.skip("N{U+"):
		return p.braced(16)
	case p.skip("c"):
		return p.control()
	case letter >= '0' && letter <= '7':
		return p.digits(8, 3)
	case letter >= '8' && letter <= '9':
		return p.rune()
	case letter < 0x80 && unicode.IsLetter(rune(letter)):
		p.fail(`\%c is not supported`, letter)
		return 0
	default:
		return p.rune()
	}
}

// braced reads the number of a character up to a closing brace.
func (p *parser) braced(base int) rune {
	digits, closed := p.until("}")
	number, err := strconv.ParseUint(digits, base, 32)
	if err != nil || !closed || number > unicode.MaxRune || number >= 0xd800 && number < 0xe000 {
		p.fail("%q is no number of a character", digits)
		return 0
	}
	return rune(number)
}

// digits reads up to so many digits as the number of a character.
func (p *parser) digits(base, most int) rune {
	length := 0
	number := uint64(0)
	for length < min(most, len(p.rest)) {
		next, err := strconv.ParseUint(p.rest[:length+1], base, 32)
		if err != nil {
			break
		}
		number = next
		length++
	}
	p.rest = p.rest[length:]
	return rune(number)
}

// control reads the letter behind \c.
func (p *parser) control() rune {
	if p.rest == "" || p.rest[0] < ' ' || p.rest[0] > '~' {
		p.fail(`\c stands before no printable character of ASCII`)
		return 0
	}
	return unicode.ToUpper(p.rune()) ^ 0x40
}
