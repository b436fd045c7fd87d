package pcre

import "strings"

// verb reads what begins with "(*".
func (p *parser) verb() (item node, repeatable bool) {
	name, _, _ := strings.Cut(p.rest, ")")
	if word, _, ok := strings.Cut(name, ":"); ok {
		return p.namedGroup(word)
	}
	p.until(")")
	if p.inLook > 0 && name != "F" && name != "FAIL" {
		return p.fail("the verb (*%s) is not supported inside look-around", name), false
	}
	switch name {
	case "F", "FAIL":
		return never{}, false
	case "ACCEPT":
		p.verbs = true
		return accept{}, false
	case "PRUNE":
		return p.backtrackVerb(prune), false
	case "SKIP":
		return p.backtrackVerb(skip), false
	case "COMMIT":
		return p.backtrackVerb(commit), false
	default:
		return p.fail("the verb (*%s) is not supported", name), false
	}
}

func (p *parser) backtrackVerb(kind verbKind) node {
	p.verbs = true
	return verb(kind)
}

// namedGroup reads the groups that have a name beside their sign, such as (*atomic:...).
func (p *parser) namedGroup(word string) (item node, repeatable bool) {
	p.rest = p.rest[len(word)+len(":"):]
	switch word {
	case "atomic":
		return atomic{p.closed()}, true
	case "pla", "positive_lookahead":
		return p.look(look{}), true
	case "nla", "negative_lookahead":
		return p.look(look{negative: true}), true
	case "plb", "positive_lookbehind":
		return p.look(look{behind: true}), true
	case "nlb", "negative_lookbehind":
		return p.look(look{behind: true, negative: true}), true
	default:
		return p.fail("(*%s: is not supported", word), false
	}
}
