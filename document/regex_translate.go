package document

import (
	"regexp"
	"strings"

	"github.com/botctx/go-sdk/boterr"
)

// What PCRE2, whose patterns MongoDB takes, means by some escapes, in the words of RE2
// for the inside of a character class.
const (
	verticalSpace   = `\n\x0b\f\r\x{85}\x{2028}\x{2029}`
	horizontalSpace = `\t\p{Zs}`
	anySpace        = `\s\x0b`
	unicodeSpace    = `\s\x0b\x{85}\p{Z}`
	unicodeWord     = `\p{L}\p{N}_`
)

// textEnd is what "$" means unless it ends lines: the end of the text, or the newline
// that ends it.
const textEnd = `(?:\n?\z)`

// multilineFlag finds the flag m inside a pattern.
var multilineFlag = regexp.MustCompile(`\(\?[a-zA-Z]*m`)

// patternTranslator writes a pattern of PCRE2 as one of RE2, as far as RE2 has what it
// says.
type patternTranslator struct {
	rest string
	out  strings.Builder
	// extended is the option x, unicode the verb (*UCP).
	extended, unicode bool
	// linesEnd tells that "$" ends lines.
	linesEnd bool
}

// translatePattern returns the pattern for Go's regexp package. What it does not know
// it leaves to that package to refuse.
func translatePattern(pattern, options string) (string, error) {
	t := patternTranslator{rest: pattern, extended: strings.Contains(options, "x")}
	t.verbs()
	t.linesEnd = strings.Contains(options, "m") || multilineFlag.MatchString(pattern)
	for t.rest != "" {
		if err := t.next(); err != nil {
			return "", err
		}
	}
	return t.out.String(), nil
}

// verbs reads the settings at the beginning. Patterns are UTF-8 always.
func (t *patternTranslator) verbs() {
	for {
		switch {
		case t.skip("(*UTF)"), t.skip("(*UTF8)"):
		case t.skip("(*UCP)"):
			t.unicode = true
		default:
			return
		}
	}
}

// skip drops a text at the beginning of the rest, if it stands there.
func (t *patternTranslator) skip(text string) bool {
	rest, ok := strings.CutPrefix(t.rest, text)
	t.rest = rest
	return ok
}

// next translates what comes next outside of a character class.
func (t *patternTranslator) next() error {
	switch c := t.rest[0]; {
	case c == '\\' && len(t.rest) > 1:
		return t.escape()
	case c == '[':
		return t.class()
	case c == '$' && !t.linesEnd:
		t.replace(1, textEnd)
	case strings.HasPrefix(t.rest, "(?#"):
		t.drop(")")
	case t.extended && c == '#':
		t.drop("\n")
	case t.extended && strings.IndexByte(" \t\n\v\f\r", c) >= 0:
		t.rest = t.rest[1:]
	default:
		t.copy(1)
	}
	return nil
}

// copy takes bytes as they are.
func (t *patternTranslator) copy(length int) { t.replace(length, t.rest[:length]) }

// replace writes other text for bytes of the pattern.
func (t *patternTranslator) replace(length int, text string) {
	t.out.WriteString(text)
	t.rest = t.rest[length:]
}

// drop leaves out everything up to an end.
func (t *patternTranslator) drop(end string) {
	_, t.rest, _ = strings.Cut(t.rest, end)
}

// escape translates a backslash and the letter behind it.
func (t *patternTranslator) escape() error {
	letter := t.rest[1]
	switch letter {
	case 'Q':
		quoted, _, _ := strings.Cut(t.rest[2:], `\E`)
		t.out.WriteString(regexp.QuoteMeta(quoted))
		t.rest = t.rest[2+len(quoted):]
		t.skip(`\E`)
		return nil
	case 'Z':
		t.replace(2, textEnd)
		return nil
	case 'R':
		t.replace(2, `(?:\r\n|[`+verticalSpace+`])`)
		return nil
	case 'N':
		t.replace(2, `[^\n]`)
		return nil
	case 'b', 'B':
		if t.unicode {
			return boterr.Invalid("", `patterns are RE2, which has no \%c beside (*UCP)`, letter)
		}
	}
	if set, negated, ok := t.set(letter); ok {
		if negated {
			set = "^" + set
		}
		t.replace(2, "["+set+"]")
		return nil
	}
	t.copy(2)
	return nil
}

// set returns the characters that an escape stands for, for a class, and whether it
// stands for all others.
func (t *patternTranslator) set(letter byte) (characters string, negated, ok bool) {
	switch letter {
	case 'v', 'V':
		return verticalSpace, letter == 'V', true
	case 'h', 'H':
		return horizontalSpace, letter == 'H', true
	case 's', 'S':
		if t.unicode {
			return unicodeSpace, letter == 'S', true
		}
		return anySpace, letter == 'S', true
	case 'd', 'D':
		return `\p{Nd}`, letter == 'D', t.unicode
	case 'w', 'W':
		return unicodeWord, letter == 'W', t.unicode
	case 'e':
		return `\x1b`, false, true
	default:
		return "", false, false
	}
}

// class translates a character class. A bracket that closes and comes first is one of
// its characters.
func (t *patternTranslator) class() error {
	t.copy(1)
	if strings.HasPrefix(t.rest, "^") {
		t.copy(1)
	}
	if strings.HasPrefix(t.rest, "]") {
		t.copy(1)
	}
	for t.rest != "" {
		switch {
		case t.rest[0] == ']':
			t.copy(1)
			return nil
		case strings.HasPrefix(t.rest, "[:"):
			t.named()
		case t.rest[0] == '\\' && len(t.rest) > 1:
			if err := t.escapeInClass(); err != nil {
				return err
			}
		default:
			t.copy(1)
		}
	}
	return nil
}

// escapeInClass is escape inside a character class.
func (t *patternTranslator) escapeInClass() error {
	letter := t.rest[1]
	if letter == 'b' {
		t.replace(2, `\x08`)
		return nil
	}
	set, negated, ok := t.set(letter)
	switch {
	case ok && letter == 'D':
		t.replace(2, `\P{Nd}`)
	case ok && letter == 'S' && !t.unicode:
		t.replace(2, `\x00-\x08\x0e-\x1f!-\x{10ffff}`)
	case ok && negated:
		return boterr.Invalid("", `patterns are RE2, which has no \%c inside a class`, letter)
	case ok:
		t.replace(2, set)
	default:
		t.copy(2)
	}
	return nil
}

// unicodeClasses are the named classes that (*UCP) widens.
var unicodeClasses = map[string]string{
	"alpha": `\p{L}`, "lower": `\p{Ll}`, "upper": `\p{Lu}`, "digit": `\p{Nd}`, "alnum": `\p{L}\p{N}`,
	"word": unicodeWord, "space": unicodeSpace, "blank": horizontalSpace,
}

// named translates a class with a name, such as [:alpha:].
func (t *patternTranslator) named() {
	name, _, ok := strings.Cut(t.rest[len("[:"):], ":]")
	if set, wider := unicodeClasses[name]; ok && wider && t.unicode {
		t.replace(len("[:")+len(name)+len(":]"), set)
		return
	}
	if !ok || strings.ContainsAny(name, `]\[`) {
		t.copy(1)
		return
	}
	t.copy(len("[:") + len(name) + len(":]"))
}
