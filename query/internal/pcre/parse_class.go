package pcre

import "strings"

// bracket reads a class of characters.
func (p *parser) bracket() (item node, repeatable bool) {
	switch {
	case p.skip("[[:<:]]"):
		p.rest = `\b(?=\w)` + p.rest
		return p.escape()
	case p.skip("[[:>:]]"):
		p.rest = `\b(?<=\w)` + p.rest
		return p.escape()
	case isNamed(p.rest):
		return p.fail("classes with a name stand inside other brackets only"), false
	}
	p.rest = p.rest[1:]
	negated := p.skip("^")
	c := class{parser: p}
	c.read()
	characters := c.all()
	if negated {
		characters = characters.negated()
	}
	return character{p.counted(characters)}, true
}

// class collects what a class of characters holds.
type class struct {
	*parser

	// pairs are the ranges that the option i widens, and fixed those that it leaves alone.
	pairs, fixed []rune
}

// all returns the characters of the class.
func (c *class) all() set {
	pairs := setOf(c.pairs)
	if c.fold && c.countSets(pairs.cased()) {
		pairs = pairs.folded()
	}
	return united(pairs, c.fixed)
}

// read reads the class up to its closing bracket. One that comes first is a character.
func (c *class) read() {
	for first := true; ; first = false {
		c.ignoreInClass()
		switch {
		case c.rest == "":
			c.fail("a class of characters has no closing bracket")
			return
		case !c.quoted && !first && c.skip("]"):
			return
		default:
			c.member()
		}
	}
}

// ignoreInClass opens and closes quotations, and skips what the option xx leaves out.
func (c *class) ignoreInClass() {
	for {
		switch {
		case c.skip(`\E`):
			c.quoted = false
		case c.quoted:
			return
		case c.skip(`\Q`):
			c.quoted = true
		case c.extendedMore && (c.skip(" ") || c.skip("\t")):
		default:
			return
		}
	}
}

// member reads a character, a range or a set of characters.
func (c *class) member() {
	low, characters, single := c.element()
	c.ignoreInClass()
	isRange := !c.quoted && len(c.rest) > 1 && c.rest[0] == '-' && c.rest[1] != ']'
	switch {
	case isRange && !single:
		c.fail("a class of characters has a range that begins with a set")
	case !single:
		c.fixed = append(c.fixed, characters...)
	case isRange:
		c.rangeFrom(low)
	default:
		c.pairs = append(c.pairs, low, low)
	}
}

// rangeFrom reads the hyphen and the end of a range. What follows may turn out to be the
// end of the class, as behind an empty quotation.
func (c *class) rangeFrom(low rune) {
	c.rest = c.rest[1:]
	c.ignoreInClass()
	if !c.quoted && strings.HasPrefix(c.rest, "]") {
		c.pairs = append(c.pairs, low, low, '-', '-')
		return
	}
	high, _, single := c.element()
	if !single || high < low {
		c.fail("a range of a class of characters is out of order")
		return
	}
	c.pairs = append(c.pairs, low, high)
}

// element reads one character, or a set of them.
func (c *class) element() (one rune, characters set, single bool) {
	switch {
	case c.quoted || c.rest == "":
		return c.rune(), nil, true
	case isNamed(c.rest):
		return 0, c.namedClass(), false
	case c.rest[0] != '\\' || len(c.rest) == 1:
		return c.rune(), nil, true
	}
	switch c.rest[1] {
	case 'b':
		c.rest = c.rest[2:]
		return '\b', nil, true
	case 'N', 'B', 'R', 'X':
		if !strings.HasPrefix(c.rest, `\N{U+`) {
			c.fail(`\%c cannot stand inside a class of characters`, c.rest[1])
			return 0, nil, true
		}
	}
	if characters, ok := c.setEscape(); ok {
		return 0, characters, false
	}
	return c.characterEscape(), nil, true
}

// isNamed reports whether a text begins with a class with a name, such as [:alpha:].
func isNamed(text string) bool {
	if len(text) < len("[::]") || text[0] != '[' || strings.IndexByte(":.=", text[1]) < 0 {
		return false
	}
	mark := text[1]
	for i := 2; i+1 < len(text); i++ {
		switch {
		case text[i] == '\\' && (text[i+1] == ']' || text[i+1] == '\\'):
			i++
		case text[i] == mark && text[i+1] == ']':
			return true
		case text[i] == ']', text[i] == '[' && text[i+1] == mark:
			return false
		}
	}
	return false
}

// namedClass reads a class with a name.
func (c *class) namedClass() set {
	mark := c.rest[1:2]
	c.rest = c.rest[2:]
	name, _ := c.until(mark + "]")
	name, negated := strings.CutPrefix(name, "^")
	characters, ok := namedClasses[name]
	if !ok || mark != ":" {
		c.fail("[%s%s%s] is no class with a name", mark, name, mark)
		return nil
	}
	if c.fold && !c.unicode && (name == "lower" || name == "upper") {
		name = "alpha"
		characters = namedClasses[name]
	}
	if wide, ok := unicodeClasses[name]; ok && c.unicode {
		characters = wide()
	}
	if negated {
		characters = characters.negated()
	}
	return c.counted(characters)
}
