package pcre

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
)

const (
	// maxNesting is the most groups that may stand in one another, as in PCRE2.
	maxNesting = 250
	// maxRepeat is the largest number in a quantifier, as in PCRE2.
	maxRepeat = 65535
	// maxSets is the most ranges of characters, and characters with another case, that the
	// classes of a pattern may be made of, which is a few MiB.
	maxSets = 1 << 18
)

// flags are the options that hold at a place of the pattern.
type flags struct {
	fold, multiline, dotAll, extended, extendedMore, noCapture, ungreedy, sameNames bool
}

// parser reads a pattern. Its first error ends it.
type parser struct {
	rest string
	flags
	// unicode tells that (*UCP) began the pattern.
	unicode bool
	// quoted tells that \Q is open.
	quoted bool
	// groups are opened so far, and most the highest number of one.
	groups, most int
	names        map[string][]int
	uses         []*groupNames
	nesting      int
	inLook       int
	// calls and verbs tell that the pattern has some, which do not go together.
	calls, verbs bool
	sets         int
	err          error
}

// groupNames are the groups that a reference names. Names are looked up once all of the
// pattern is read, since groups may stand behind what refers to them.
type groupNames struct {
	name    string
	numbers []int
}

// parse reads all of a pattern.
func parse(source string, options flags) (node, *parser, error) {
	p := &parser{rest: source, flags: options, names: map[string][]int{}}
	p.settings()
	root := p.choices()
	if p.err == nil && p.rest != "" {
		p.fail("a closing parenthesis has none that opens")
	}
	if p.calls && p.verbs {
		p.fail("verbs beside calls of groups are not supported")
	}
	p.resolve()
	return root, p, p.err
}

// fail ends the parser.
func (p *parser) fail(format string, arguments ...any) node {
	if p.err == nil {
		p.err = boterr.Invalid("", "the pattern is not valid: "+format, arguments...)
	}
	p.rest, p.quoted = "", false
	return never{}
}

// settings reads the verbs at the beginning that say how all of the pattern is meant.
// Patterns are UTF-8 always, and those about speed change no outcome.
func (p *parser) settings() {
	for {
		switch {
		case p.skip("(*UTF)"), p.skip("(*UTF8)"), p.skip("(*LF)"), p.skip("(*BSR_UNICODE)"),
			p.skip("(*NO_AUTO_POSSESS)"), p.skip("(*NO_START_OPT)"), p.skip("(*NO_JIT)"), p.skip("(*NO_DOTSTAR_ANCHOR)"):
		case p.skip("(*UCP)"):
			p.unicode = true
		default:
			return
		}
	}
}

// resolve looks up what the references name.
func (p *parser) resolve() {
	for _, use := range p.uses {
		if use.name != "" {
			use.numbers = p.names[use.name]
		}
		if len(use.numbers) == 0 || use.numbers[0] > p.most {
			p.fail("a reference names no group of the pattern")
			return
		}
	}
}

// skip drops a text at the beginning of the rest, if it stands there.
func (p *parser) skip(text string) bool {
	rest, ok := strings.CutPrefix(p.rest, text)
	p.rest = rest
	return ok
}

// until cuts the rest behind an end, and returns what stood before it.
func (p *parser) until(end string) (string, bool) {
	text, rest, ok := strings.Cut(p.rest, end)
	if ok {
		p.rest = rest
	}
	return text, ok
}

// rune takes the next character.
func (p *parser) rune() rune {
	r, length := utf8.DecodeRuneInString(p.rest)
	p.rest = p.rest[length:]
	return r
}

// choices reads alternatives up to a closing parenthesis or the end.
func (p *parser) choices() node {
	list := alternatives{p.sequence()}
	for p.skip("|") {
		list = append(list, p.sequence())
	}
	if len(list) == 1 {
		return list[0]
	}
	return list
}

// sequence reads what follows one upon the other.
func (p *parser) sequence() node {
	var items sequence
	for p.more() {
		item, repeatable := p.item()
		items = append(items, p.quantified(item, repeatable))
	}
	return items.joined()
}

// more skips what is ignored, and reports whether the sequence goes on.
func (p *parser) more() bool {
	p.ignore()
	return p.rest != "" && (p.quoted || p.rest[0] != '|' && p.rest[0] != ')')
}

// ignore skips comments, what the option x leaves out, and opens and closes quotations.
func (p *parser) ignore() {
	for p.rest != "" {
		switch {
		case p.skip(`\E`):
			p.quoted = false
		case p.quoted:
			return
		case p.skip(`\Q`):
			p.quoted = true
		case strings.HasPrefix(p.rest, "(?#"):
			if _, ok := p.until(")"); !ok {
				p.fail("a comment has no closing parenthesis")
			}
		case p.extended && p.rest[0] == '#':
			if _, ok := p.until("\n"); !ok {
				p.rest = ""
			}
		case !p.extended || !p.skipSpace():
			return
		}
	}
}

// skipSpace drops one character of those that the option x leaves out.
func (p *parser) skipSpace() bool {
	switch r, length := utf8.DecodeRuneInString(p.rest); r {
	case ' ', '\t', '\n', '\v', '\f', '\r', 0x85, 0x200e, 0x200f, 0x2028, 0x2029:
		p.rest = p.rest[length:]
		return true
	default:
		return false
	}
}

// item reads what a quantifier can stand behind, and reports whether one can.
func (p *parser) item() (item node, repeatable bool) {
	if p.quoted {
		return p.character(p.rune()), true
	}
	switch c := p.rest[0]; c {
	case '*', '+', '?':
		return p.fail("a quantifier stands behind nothing that it can repeat"), false
	case '{':
		if _, _, ok := p.bounds(); ok {
			return p.fail("a quantifier stands behind nothing that it can repeat"), false
		}
	case '^', '$':
		p.rest = p.rest[1:]
		return p.edge(c), false
	case '.':
		p.rest = p.rest[1:]
		return p.dot(), true
	case '[':
		return p.bracket()
	case '(':
		return p.group()
	case '\\':
		return p.escape()
	}
	return p.character(p.rune()), true
}

// character returns the node of a character that stands for itself.
func (p *parser) character(r rune) node {
	text := string(r)
	if !p.fold {
		return literal(text)
	}
	if cases := (set{r, r}).folded(); len(cases) > 2 || cases[0] != cases[1] {
		return character{cases}
	}
	return literal(text)
}

// edge returns what ^ and $ mean.
func (p *parser) edge(c byte) node {
	switch {
	case c == '^' && p.multiline:
		return lineStart
	case c == '^':
		return textStart
	case p.multiline:
		return lineEnd
	default:
		return lastLineEnd
	}
}

func (p *parser) dot() node {
	if p.dotAll {
		return character{anyCharacter}
	}
	return character{anyButNewline}
}

// quantified reads the quantifier behind an item, if one stands there.
func (p *parser) quantified(item node, repeatable bool) node {
	p.ignore()
	if p.quoted || p.rest == "" {
		return item
	}
	least, most, ok := p.quantifier()
	switch {
	case !ok:
		return item
	case !repeatable:
		return p.fail("a quantifier stands behind nothing that it can repeat")
	case least > maxRepeat || most > maxRepeat:
		return p.fail("a quantifier repeats more than %d times", maxRepeat)
	case most != unbounded && least > most:
		return p.fail("the numbers of a quantifier are out of order")
	}
	if _, isLook := item.(look); isLook { // More than once would find the same.
		least = min(least, 1)
		if most != 0 {
			most = 1
		}
	}
	return repeat{body: item, least: least, most: most, kind: p.repeatKind()}
}

// quantifier reads * + ? and numbers in braces.
func (p *parser) quantifier() (least, most int, ok bool) {
	switch {
	case p.skip("*"):
		return 0, unbounded, true
	case p.skip("+"):
		return 1, unbounded, true
	case p.skip("?"):
		return 0, 1, true
	default:
		return p.bounds()
	}
}

// repeatKind reads what may stand behind a quantifier.
func (p *parser) repeatKind() repeatKind {
	p.ignore()
	isLazy := p.ungreedy
	switch {
	case p.quoted:
	case p.skip("+"):
		return possessive
	case p.skip("?"):
		isLazy = !isLazy
	}
	if isLazy {
		return lazy
	}
	return greedy
}

// bounds reads {2}, {2,} and {2,4}; all else in braces is literal.
func (p *parser) bounds() (least, most int, ok bool) {
	inside, ok := strings.CutPrefix(p.rest, "{")
	if !ok {
		return 0, 0, false
	}
	inside, rest, ok := strings.Cut(inside, "}")
	low, high, ranged := strings.Cut(inside, ",")
	least, lowOK := repeatCount(low)
	most = least
	if ranged {
		most = unbounded
	}
	highOK := true
	if high != "" {
		most, highOK = repeatCount(high)
	}
	if !ok || !lowOK || !highOK {
		return 0, 0, false
	}
	p.rest = rest
	return least, most, true
}

// repeatCount reads a number of digits alone. One that is too large is maxRepeat+1.
func repeatCount(digits string) (int, bool) {
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	if err != nil {
		return maxRepeat + 1, true
	}
	return n, true
}
