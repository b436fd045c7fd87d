package pcre

import (
	"strings"
	"unicode"
)

// group reads what a parenthesis opens, and reports whether a quantifier can stand behind it.
func (p *parser) group() (item node, repeatable bool) {
	p.rest = p.rest[1:]
	return p.opened()
}

// opened is group behind the parenthesis.
func (p *parser) opened() (item node, repeatable bool) {
	p.nesting++
	if p.nesting > maxNesting {
		return p.fail("groups stand in one another more than %d deep", maxNesting), false
	}
	defer func() { p.nesting-- }()
	switch {
	case p.skip("?"):
		return p.special()
	case p.skip("*"):
		return p.verb()
	case p.noCapture:
		return p.closed(), true
	default:
		return p.capturing(""), true
	}
}

// closed reads alternatives and the closing parenthesis, where options end that were set
// within.
func (p *parser) closed() node {
	before := p.flags
	body := p.choices()
	p.flags = before
	p.close()
	return body
}

func (p *parser) close() {
	if !p.skip(")") {
		p.fail("a group has no closing parenthesis")
	}
}

// capturing reads a group that catches, with a name or without.
func (p *parser) capturing(name string) node {
	p.groups++
	p.most = max(p.most, p.groups)
	number := p.groups
	if name != "" {
		p.nameGroup(name, number)
	}
	return capture{number: number, body: p.closed()}
}

// nameGroup notes the name of a group.
func (p *parser) nameGroup(name string, number int) {
	numbers := p.names[name]
	switch {
	case len(numbers) == 0, p.sameNames:
		p.names[name] = append(numbers, number)
	case numbers[0] != number:
		p.fail("two groups have the name %q, which needs (?J)", name)
	}
}

// special reads a group that begins with "(?".
func (p *parser) special() (item node, repeatable bool) {
	switch {
	case p.skip(":"):
		return p.closed(), true
	case p.skip("|"):
		return p.branchReset(), true
	case p.skip(">"):
		return atomic{p.closed()}, true
	case p.skip("="):
		return p.look(look{}), true
	case p.skip("!"):
		return p.look(look{negative: true}), true
	case p.skip("<="):
		return p.look(look{behind: true}), true
	case p.skip("<!"):
		return p.look(look{behind: true, negative: true}), true
	case p.skip("("):
		return p.conditional(), true
	case p.skip("P<"), p.skip("<"):
		return p.capturing(p.groupName(">")), true
	case p.skip("'"):
		return p.capturing(p.groupName("'")), true
	default:
		return p.reference()
	}
}

// reference reads a group that refers to another one, or sets options.
func (p *parser) reference() (item node, repeatable bool) {
	switch {
	case p.skip("P="):
		return p.backReference(p.use(&groupNames{name: p.groupName(")")})), true
	case p.skip("P>"), p.skip("&"):
		return p.callOf(p.use(&groupNames{name: p.groupName(")")})), true
	case p.skip("R)"):
		return p.callOf(&groupNames{numbers: []int{0}}), true
	case p.rest != "" && isDigit(p.rest[0]), len(p.rest) > 1 && strings.IndexByte("+-", p.rest[0]) >= 0 && isDigit(p.rest[1]):
		text, _ := p.until(")")
		return p.callOf(p.numbered(text)), true
	default:
		return p.options()
	}
}

// options reads (?i), which holds to the end of the group around it, and (?i:...).
func (p *parser) options() (item node, repeatable bool) {
	before := p.flags
	on := true
	if p.skip("^") {
		p.flags = flags{ungreedy: p.ungreedy, sameNames: p.sameNames}
	}
	for p.rest != "" {
		c := p.rest[0]
		p.rest = p.rest[1:]
		switch {
		case c == ')':
			return sequence{}, false
		case c == ':':
			item = p.closed()
			p.flags = before
			return item, true
		case c == '-' && on:
			on = false
		case !p.option(c, on):
			return p.fail("%q is nothing that can stand behind (?", c), false
		}
	}
	return p.fail("a group has no closing parenthesis"), false
}

// option sets one option, and reports whether there is such a one.
func (p *parser) option(letter byte, on bool) bool {
	switch letter {
	case 'i':
		p.fold = on
	case 'm':
		p.multiline = on
	case 's':
		p.dotAll = on
	case 'x':
		p.extendedMore = on && p.skip("x")
		p.extended = on
	case 'n':
		p.noCapture = on
	case 'U':
		p.ungreedy = on
	case 'J':
		p.sameNames = on
	default:
		return false
	}
	return true
}

// branchReset reads (?|...), whose alternatives number their groups alike.
func (p *parser) branchReset() node {
	before, first, most := p.flags, p.groups, p.groups
	var list alternatives
	for {
		p.groups = first
		list = append(list, p.sequence())
		most = max(most, p.groups)
		if !p.skip("|") {
			break
		}
	}
	p.flags, p.groups = before, most
	p.close()
	return list
}

// look reads the rest of a look-ahead or look-behind.
func (p *parser) look(l look) node {
	p.inLook++
	l.body = p.closed()
	p.inLook--
	if l.behind && !isFixed(l.body) {
		return p.fail("look-behind needs alternatives of a fixed length each")
	}
	return l
}

// isFixed reports whether each of the alternatives has one length.
func isFixed(body node) bool {
	list, ok := body.(alternatives)
	if !ok {
		list = alternatives{body}
	}
	for _, one := range list {
		if least, most := one.width(); least != most {
			return false
		}
	}
	return true
}

// conditional reads (?(test)yes|no).
func (p *parser) conditional() node {
	c := conditional{test: p.test(), no: sequence{}}
	before := p.flags
	c.yes = p.sequence()
	if p.skip("|") {
		c.no = p.sequence()
	}
	if strings.HasPrefix(p.rest, "|") {
		return p.fail("a conditional group has more than two alternatives")
	}
	p.flags = before
	p.close()
	return c
}

// test reads the test of a conditional group.
func (p *parser) test() node {
	if strings.HasPrefix(p.rest, "?") || strings.HasPrefix(p.rest, "*") {
		assertion, _ := p.opened()
		if _, ok := assertion.(look); !ok {
			return p.fail("the test of a conditional group is neither a group nor look-around")
		}
		return assertion
	}
	text, _ := p.until(")")
	switch {
	case text == "DEFINE":
		return never{}
	case strings.HasPrefix(text, "R"):
		return p.callTest(text)
	case len(text) > 2 && (text[0] == '<' || text[0] == '\''):
		return groupTest{p.use(&groupNames{name: text[1 : len(text)-1]})}
	default:
		return groupTest{p.named(text)}
	}
}

// callTest reads a test of calls, unless it is the name of a group that begins alike.
func (p *parser) callTest(text string) node {
	switch {
	case text == "R":
		return callTest{}
	case strings.HasPrefix(text, "R&"):
		return callTest{p.use(&groupNames{name: text[len("R&"):]})}
	case isDigit(text[1]):
		return callTest{p.numbered(text[1:])}
	default:
		return groupTest{p.use(&groupNames{name: text})}
	}
}

// use notes a reference, for resolve.
func (p *parser) use(groups *groupNames) *groupNames {
	p.uses = append(p.uses, groups)
	return groups
}

func (p *parser) backReference(groups *groupNames) node {
	return reference{groups: groups, fold: p.fold}
}

func (p *parser) callOf(groups *groupNames) node {
	p.calls = true
	return call{groups}
}

// numbered returns the group of a number, which counts from here where it has a sign.
func (p *parser) numbered(text string) *groupNames {
	digits := strings.TrimLeft(text, "+-")
	number, ok := repeatCount(digits)
	if !ok || len(text)-len(digits) > 1 {
		p.fail("%q is no number of a group", text)
	}
	switch {
	case strings.HasPrefix(text, "+") && number > 0:
		number += p.groups
	case strings.HasPrefix(text, "-") && number > 0 && number <= p.groups:
		number = p.groups + 1 - number
	case len(text) != len(digits):
		p.fail("a reference names no group of the pattern")
	}
	return p.use(&groupNames{numbers: []int{number}})
}

// groupName reads the name of a group up to what ends it.
func (p *parser) groupName(end string) string {
	name, ok := p.until(end)
	if !ok || name == "" || len(name) > 32 || isDigit(name[0]) || strings.ContainsFunc(name, notInName) {
		p.fail("the name of a group is up to 32 letters, digits and underscores, and begins with no digit")
	}
	return name
}

func notInName(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.Is(unicode.Nd, r) }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
