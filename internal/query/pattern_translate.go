package query

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
)

const (
	// maxFoldedCases limits the number of characters whose other cases are looked up, because they are in a range of
	// a class with the option i. maxProperties limits the number of Unicode properties in a pattern.
	maxFoldedCases = 1 << 14
	maxProperties  = 1000
	// maxGroupName is the maximum length of a group's name.
	maxGroupName = 32
)

// patternFlags are the options at a position of a pattern.
type patternFlags struct {
	fold, multiline, dotAll, extended, extendedMore, noCapture, ungreedy bool
}

// patternTranslator translates a pattern from PCRE2's syntax, which MongoDB uses, to the syntax of Go's regexp
// package. It refuses syntax that Go lacks. It stops at the first error.
type patternTranslator struct {
	rest string
	out  strings.Builder
	patternFlags
	// outer is the stack of the flags outside each open group.
	outer []patternFlags
	// isUnicode is true if the pattern began with (*UCP).
	isUnicode bool
	// captures is the number of groups written. groups[i] is the number of the source's group i among them;
	// group 0 is the match.
	captures int
	groups   []int
	names    map[string]bool
	// complements caches the results of the method complement.
	complements map[string]string
	// folded and properties are the counts that maxFoldedCases and maxProperties limit.
	folded, properties int
	err                error
}

// translatePattern translates a pattern to Go's syntax, and returns the translator with the result.
func translatePattern(source, options string) (*patternTranslator, error) {
	t := &patternTranslator{rest: source, groups: []int{0}, names: map[string]bool{}, complements: map[string]string{}}
	t.fold, t.multiline = strings.Contains(options, "i"), strings.Contains(options, "m")
	t.dotAll, t.extended = strings.Contains(options, "s"), strings.Contains(options, "x")
	for { // Verbs about speed and encoding do not change the result.
		if setting := patternSetting.FindString(t.rest); setting != "" {
			t.rest = t.rest[len(setting):]
			t.isUnicode = t.isUnicode || setting == "(*UCP)"
			continue
		}
		break
	}
	t.writeFlags(")")
	t.translate()
	if len(t.outer) > 0 {
		t.failf("a group has no closing parenthesis")
	}
	return t, t.err
}

var (
	patternSetting    = regexp.MustCompile(`^\(\*(?:UTF8?|UCP|LF|BSR_UNICODE|NO_(?:AUTO_POSSESS|START_OPT|JIT|DOTSTAR_ANCHOR))\)`)
	patternQuantifier = regexp.MustCompile(`^(?:[*+?]|\{(\d+)(?:,(\d*))?\})`)
	patternNamed      = regexp.MustCompile(`^\(\?(?:P?<(\w+)>|'(\w+)')`)
	patternOptions    = regexp.MustCompile(`^\(\?(\^?)([imsxnU]*)(?:-([imsxnU]*))?([:)])`)
	// As in PCRE2, an element such as [.a.] cannot contain another "[.", so the search for its end stops early.
	patternPosix    = regexp.MustCompile(`^\[(?:\.(?:[^\[\]\\]|\[+[^.\[\]\\])*\.|=(?:[^\[\]\\]|\[+[^=\[\]\\])*=|:(\^?)([^\]\\:]*):)\]`)
	patternProperty = regexp.MustCompile(`^\\[pP](?:\{(\^?)([^}]*)\}|(\w))`)
	patternNumber   = regexp.MustCompile(`^\\(?:x\{([[:xdigit:]]+)\}|x([[:xdigit:]]{0,2})|` +
		`N\{U\+([[:xdigit:]]+)\}|o\{([0-7]+)\}|([0-7]{1,3}))`)
)

// patternLacks lists syntax that Go's regexp package does not have, with replacements. The first match counts.
var patternLacks = []struct {
	begins     *regexp.Regexp
	name, hint string
}{
	{
		lack(`\(\?[=!*]|\(\*(?:pla|nla|napla|(?:positive|negative)_lookahead):`),
		"look-ahead", "match the text after it as well, or give another condition with $and or $not",
	},
	{
		lack(`\(\?<[=!*]|\(\*(?:plb|nlb|naplb|(?:positive|negative)_lookbehind):`),
		"look-behind", "match the text before it as well, or give another condition with $and or $not",
	},
	{lack(`\[\[:[<>]:\]\]`), "[[:<:]]", `write \b`},
	{lack(`\(\?>|\(\*atomic:`), "an atomic group", "write (?:...), since every pattern takes linear time"},
	{lack(`\(\?\|`), "a branch reset", "write (?:...), in which each group has its own number"},
	{lack(`\(\?\(`), "a condition", "write the alternatives with |"},
	{lack(`\(\?(?:R|[+-]?\d|&|P>)|\\g[<']`), "recursion", "write out the group that is called"},
	{lack(`\(\?P=|\\[1-9kg]`), "a back-reference", `write out what it repeats; a character by its number is \x{2b}`},
	{lack(`\(\?C`), "a callout", "leave it out"},
	{lack(`\(\?[a-zA-Z^]*J`), "the option J", "give each group a different name"},
	{lack(`\(\*(?:CR|CRLF|ANY|ANYCRLF|NUL)\)`), "another end of line than \\n", `write \r?\n`},
	{lack(`\(\*`), "a verb", "leave it out"},
	{lack(`\\K`), `\K`, "put the wanted part into a group, and read captures"},
	{lack(`\\G`), `\G`, `write \A`},
	{lack(`\\X`), `\X`, `write \P{M}\p{M}*`},
	{lack(`\\C`), `\C`, "write . with the option s"},
	{lack(`\\R`), `\R`, `write (?:\r\n|\n|\r)`},
	{lack(`\\N\{(?:[^U\d]|$)`), `\N{...}`, `write \x{2b}, the character's number`},
}

func lack(begins string) *regexp.Regexp { return regexp.MustCompile(`^(?:` + begins + `)`) }

func unsupportedPattern(construct, hint string) error {
	return boterr.New(boterr.Unsupported, "", "the pattern has %s, which patterns do not support: %s", construct, hint)
}

func invalidPattern(err error) error {
	var failed *syntax.Error
	if !errors.As(err, &failed) {
		return boterr.Invalid("", "the pattern is not valid: %w", err)
	}
	switch {
	case failed.Code == syntax.ErrInvalidRepeatSize:
		return unsupportedPattern("a quantifier of more than 1000, alone or by those around it", "repeat less")
	case failed.Code == syntax.ErrInvalidCharRange && (strings.HasPrefix(failed.Expr, `\p`) || strings.HasPrefix(failed.Expr, `\P`)):
		return unsupportedPattern(failed.Expr, `categories such as \p{Lu} and scripts such as \p{Greek} are`)
	}
	return boterr.Invalid("", "the pattern is not valid: %s", failed.Code)
}

func (t *patternTranslator) failf(format string, arguments ...any) {
	t.failWith(boterr.Invalid("", "the pattern is not valid: "+format, arguments...))
}

func (t *patternTranslator) failWith(err error) {
	if t.err == nil {
		t.err = err
	}
	t.rest = ""
}

func (t *patternTranslator) skip(text string) bool {
	rest, ok := strings.CutPrefix(t.rest, text)
	t.rest = rest
	return ok
}

func (t *patternTranslator) take() rune {
	r, length := utf8.DecodeRuneInString(t.rest)
	t.rest = t.rest[length:]
	return r
}

func (t *patternTranslator) translate() {
	repeatable := false // whether a quantifier can follow
	for t.ignore(); t.rest != ""; t.ignore() {
		t.refuse()
		if t.rest == "" {
			return
		}
		switch t.rest[0] {
		case '*', '+', '?', '{':
			repeatable = t.quantifier(repeatable)
		case '|':
			repeatable = false
			t.out.WriteRune(t.take())
		case '(':
			repeatable = false
			t.group()
		case ')':
			repeatable = true
			t.closeGroup()
		case '[':
			repeatable = true
			t.class()
		case '\\':
			repeatable = t.escape(repeatable)
		case '^':
			repeatable = false
			t.rest = t.rest[1:]
			if t.multiline {
				t.out.WriteString(`(?m:^)`)
			} else {
				t.out.WriteString(`\A`)
			}
		case '$':
			repeatable = false
			t.rest = t.rest[1:]
			if t.multiline {
				t.out.WriteString(`(?m:$)`)
			} else {
				t.end()
			}
		case '.':
			repeatable = true
			t.out.WriteRune(t.take())
		default:
			repeatable = true
			t.literal(string(t.take()))
		}
	}
}

func (t *patternTranslator) literal(text string) { t.out.WriteString(regexp.QuoteMeta(text)) }

// end writes the end of the text, or the position before a final newline. A separate group captures the
// newline, since it is not part of the match.
func (t *patternTranslator) end() {
	t.captures++
	t.out.WriteString(`(?:$|(\n)$)`)
}

// ignore skips comments, and text that the option x ignores.
func (t *patternTranslator) ignore() {
	for before := -1; before != len(t.rest); {
		before = len(t.rest)
		switch {
		case strings.HasPrefix(t.rest, "(?#"):
			_, rest, ok := strings.Cut(t.rest, ")")
			if t.rest = rest; !ok {
				t.failf("a comment has no closing parenthesis")
			}
		case t.extended && strings.HasPrefix(t.rest, "#"):
			_, t.rest, _ = strings.Cut(t.rest, "\n")
		case t.extended:
			t.rest = strings.TrimLeft(t.rest, patternSpace)
		}
	}
}

// patternSpace are the characters that the option x ignores.
const patternSpace = " \t\n\v\f\r\u0085\u200e\u200f\u2028\u2029"

// refuse ends the translation if the next syntax is one that Go's regexp package lacks.
func (t *patternTranslator) refuse() {
	isSpecial := strings.HasPrefix(t.rest, "(?") || strings.HasPrefix(t.rest, "(*") || strings.HasPrefix(t.rest, "[[:")
	isEscape := t.rest[0] == '\\' && len(t.rest) > 1 && strings.IndexByte("123456789kgCGKNRX", t.rest[1]) >= 0
	if !isSpecial && !isEscape {
		return
	}
	for _, lacking := range patternLacks {
		if lacking.begins.MatchString(t.rest) {
			t.failWith(unsupportedPattern(lacking.name, lacking.hint))
			return
		}
	}
}

// quantifier copies a quantifier with an optional question mark. Other braces are ordinary characters, which a
// quantifier may follow.
func (t *patternTranslator) quantifier(repeatable bool) (isCharacter bool) {
	q := patternQuantifier.FindStringSubmatch(t.rest)
	if q == nil {
		t.literal(string(t.take()))
		return true
	}
	low, _ := strconv.Atoi(q[1])
	high, err := strconv.Atoi(q[2])
	switch {
	case !repeatable:
		t.failf("a quantifier has nothing to repeat")
	case err == nil && low > high:
		t.failf("the numbers of a quantifier are out of order")
	}
	t.out.WriteString(q[0])
	t.rest = t.rest[min(len(q[0]), len(t.rest)):]
	t.ignore()
	switch {
	case strings.HasPrefix(t.rest, "+"):
		t.failWith(unsupportedPattern("a possessive quantifier", "leave out the second +, since every pattern takes linear time"))
	case t.skip("?"):
		t.out.WriteByte('?')
	}
	return false
}

func (t *patternTranslator) group() {
	before := t.patternFlags
	named, options := patternNamed.FindStringSubmatch(t.rest), patternOptions.FindStringSubmatch(t.rest)
	switch {
	case named != nil:
		t.rest = t.rest[len(named[0]):]
		t.name(named[1] + named[2])
		t.capture()
	case options != nil:
		t.rest = t.rest[len(options[0]):]
		t.setFlags(options[1], options[2], options[3])
		t.writeFlags(options[4])
		if options[4] == ")" {
			return // The options are in effect up to the end of the enclosing group.
		}
	case strings.HasPrefix(t.rest, "(?"):
		t.failf("%.10q is no group", t.rest)
	case t.noCapture:
		t.rest = t.rest[1:]
		t.out.WriteString("(?:")
	default:
		t.rest = t.rest[1:]
		t.capture()
	}
	t.outer = append(t.outer, before)
}

func (t *patternTranslator) name(name string) {
	if t.names[name] || unicode.IsDigit(rune(name[0])) || len(name) > maxGroupName {
		t.failf("%q names two groups, begins with a digit or is longer than %d characters", name, maxGroupName)
	}
	t.names[name] = true
}

func (t *patternTranslator) capture() {
	t.captures++
	t.groups = append(t.groups, t.captures)
	t.out.WriteString("(")
}

func (t *patternTranslator) closeGroup() {
	if len(t.outer) == 0 {
		t.failf("a closing parenthesis has none that opens")
		return
	}
	t.patternFlags = t.outer[len(t.outer)-1]
	t.outer = t.outer[:len(t.outer)-1]
	t.out.WriteRune(t.take())
}

// setFlags sets and clears options. A caret first clears all of them.
func (t *patternTranslator) setFlags(caret, on, off string) {
	f := &t.patternFlags
	if caret != "" {
		*f = patternFlags{ungreedy: f.ungreedy}
	}
	for letter, flag := range map[string]*bool{
		"i": &f.fold, "m": &f.multiline, "s": &f.dotAll, "x": &f.extended, "n": &f.noCapture, "U": &f.ungreedy,
	} {
		*flag = (*flag || strings.Contains(on, letter)) && !strings.Contains(off, letter)
	}
	if strings.Contains(on+off, "x") {
		f.extendedMore = f.extended && strings.Contains(on, "xx")
	}
}

// writeFlags writes the options that Go's syntax has. The others only affect the translation.
func (t *patternTranslator) writeFlags(end string) {
	on, off := []byte("(?"), []byte("-m") // The translation writes out the effect of m.
	for letter, isSet := range map[byte]bool{'i': t.fold, 's': t.dotAll, 'U': t.ungreedy} {
		if isSet {
			on = append(on, letter)
		} else {
			off = append(off, letter)
		}
	}
	t.out.WriteString(string(on) + string(off) + end)
}

// escape translates an escape sequence, and reports whether a quantifier can follow.
func (t *patternTranslator) escape(repeatable bool) bool {
	if t.skip(`\Q`) {
		text, rest, _ := strings.Cut(t.rest, `\E`)
		t.rest = rest
		t.literal(text)
		return repeatable || text != ""
	}
	if t.skip(`\E`) {
		return repeatable
	}
	for _, place := range []string{`\A`, `\z`, `\Z`, `\b`, `\B`} {
		switch {
		case !t.skip(place):
			continue
		case place == `\Z`:
			t.end()
		case t.isUnicode && place != `\A` && place != `\z`:
			t.failWith(unsupportedPattern(place+" after (*UCP)", `write (?:^|[^\p{L}\p{N}_]) or leave out (*UCP)`))
		default:
			t.out.WriteString(place)
		}
		return false
	}
	if members, ok := t.set(); ok {
		t.out.WriteString("(?-i:[" + members + "])")
	} else {
		t.literal(string(t.character()))
	}
	return true
}

// Escapes and named classes for sets of characters, as members of a class in Go's syntax. The ASCII sets, which Go
// has, too, apply unless the pattern starts with (*UCP).
const (
	horizontalSpace = `\t \x{a0}\x{1680}\x{180e}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}`
	verticalSpace   = `\n-\r\x{85}\x{2028}\x{2029}`
	unicodeSpace    = `\p{Z}` + horizontalSpace + verticalSpace
)

var (
	patternSets        = map[byte]string{'d': `\d`, 'w': `\w`, 's': `\t-\r `, 'h': horizontalSpace, 'v': verticalSpace}
	unicodePatternSets = map[byte]string{'d': `\p{Nd}`, 'w': `\p{L}\p{N}_`, 's': unicodeSpace, 'h': horizontalSpace, 'v': verticalSpace}
	patternClasses     = map[string]string{
		"alpha": `[:alpha:]`, "lower": `[:lower:]`, "upper": `[:upper:]`, "alnum": `[:alnum:]`, "ascii": `[:ascii:]`,
		"blank": `[:blank:]`, "cntrl": `[:cntrl:]`, "digit": `[:digit:]`, "graph": `[:graph:]`, "print": `[:print:]`,
		"punct": `[:punct:]`, "space": `[:space:]`, "word": `[:word:]`, "xdigit": `[:xdigit:]`,
	}
	unicodePatternClasses = map[string]string{
		"alpha": `\p{L}`, "lower": `\p{Ll}`, "upper": `\p{Lu}`, "alnum": `\p{L}\p{N}`, "cntrl": `\p{Cc}`, "digit": `\p{Nd}`,
		"blank": horizontalSpace, "space": unicodeSpace, "word": `\p{L}\p{N}_`, "punct": `\p{P}[:punct:]`,
		"ascii": `[:ascii:]`, "xdigit": `[:xdigit:]`,
	}
)

// set returns the members of a class in Go's syntax for an escape for a set of characters, if one is next.
func (t *patternTranslator) set() (members string, ok bool) {
	if len(t.rest) < 2 {
		return "", false
	}
	letter := t.rest[1]
	sets := patternSets
	if t.isUnicode {
		sets = unicodePatternSets
	}
	members, ok = sets[letter|0x20]
	switch {
	case letter == 'p' || letter == 'P':
		return t.property(), true
	case letter == 'N' && !strings.HasPrefix(t.rest, `\N{U`):
		t.rest = t.rest[2:]
		return `\x{0}-\t\x{b}-\x{10ffff}`, true
	case !ok:
		return "", false
	}
	t.rest = t.rest[2:]
	if letter < 'a' {
		members = t.complement(members)
	}
	return members, true
}

// property translates \pL, \p{Lu}, \p{^Lu} and \P{Lu}.
func (t *patternTranslator) property() (members string) {
	found := patternProperty.FindStringSubmatch(t.rest)
	if found == nil {
		t.failf(`\p has no name of a property, or no closing brace`)
		return ""
	}
	negated := (t.rest[1] == 'P') != (found[1] != "")
	name := found[2] + found[3]
	if strings.EqualFold(strings.TrimSpace(name), "L&") {
		name = "LC"
	}
	members = `\p{` + name + `}`
	if negated {
		members = `\P{` + name + `}`
	}
	t.properties++
	if t.properties > maxProperties {
		t.failf("it has more than %d properties of characters", maxProperties)
	}
	t.rest = t.rest[min(len(found[0]), len(t.rest)):]
	return members
}

// complement returns the characters outside a set. Both sets are members of a class in Go's syntax.
func (t *patternTranslator) complement(members string) string {
	ranges, ok := t.complements[members]
	if ok {
		return ranges
	}
	parsed, err := syntax.Parse("x[^"+members+"]", syntax.Perl)
	if err != nil {
		t.failWith(invalidPattern(err))
		return ""
	}
	var b strings.Builder
	for runes := parsed.Sub[1].Rune; len(runes) > 0; runes = runes[2:] {
		fmt.Fprintf(&b, `\x{%x}-\x{%x}`, runes[0], runes[1])
	}
	t.complements[members] = b.String()
	return t.complements[members]
}

// casedRunes returns the characters that have other cases, in ascending order.
var casedRunes = sync.OnceValue(func() (cased []rune) {
	for r := range rune(unicode.CaseRanges[len(unicode.CaseRanges)-1].Hi) + 1 {
		if unicode.SimpleFold(r) != r {
			cased = append(cased, r)
		}
	}
	return cased
})

// otherCases writes the characters that the option i adds to a range.
func (t *patternTranslator) otherCases(low, high rune) {
	cased := casedRunes()
	from, _ := slices.BinarySearch(cased, low)
	for _, r := range cased[from:] {
		if r > high {
			break
		}
		t.folded++
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			if other < low || other > high {
				fmt.Fprintf(&t.out, `\x{%x}`, other)
			}
		}
	}
	if t.folded > maxFoldedCases {
		t.failf("its classes of characters are too large: use fewer")
	}
}

// class translates a character class. The option i affects its characters and ranges, but not the sets in it.
func (t *patternTranslator) class() {
	if patternPosix.MatchString(t.rest) {
		t.failf("named classes such as [:alpha:] are allowed only inside other brackets")
		return
	}
	t.rest = t.rest[1:]
	opening := "(?-i:["
	if t.skip("^") {
		opening += "^"
	}
	t.out.WriteString(opening)
	for first := true; first || !t.skip("]"); first = false {
		if t.extendedMore {
			t.rest = strings.TrimLeft(t.rest, " \t")
		}
		low, members := t.member()
		high := low
		if len(t.rest) > 1 && t.rest[0] == '-' && t.rest[1] != ']' {
			t.rest = t.rest[1:]
			var end string
			if high, end = t.member(); members+end != "" || high < low {
				t.failf("a range of a class of characters is out of order, or begins or ends with a set")
			}
		}
		if t.err != nil {
			return
		}
		if members != "" {
			t.out.WriteString(members)
			continue
		}
		fmt.Fprintf(&t.out, `\x{%x}-\x{%x}`, low, high)
		if t.fold {
			t.otherCases(low, high)
		}
	}
	t.out.WriteString("])")
}

func (t *patternTranslator) member() (one rune, members string) {
	if named := patternPosix.FindStringSubmatch(t.rest); named != nil {
		return 0, t.namedClass(named)
	}
	switch {
	case t.rest == "":
		t.failf("a class of characters has no closing bracket")
		return 0, ""
	case t.rest[0] != '\\' || len(t.rest) == 1:
		return t.take(), ""
	case t.skip(`\b`):
		return '\b', ""
	case strings.IndexByte("BRXQE", t.rest[1]) >= 0, t.rest[1] == 'N' && !strings.HasPrefix(t.rest, `\N{U`):
		t.failWith(unsupportedPattern(t.rest[:2]+" inside a class of characters", `write \ before each character`))
		return 0, ""
	}
	if members, ok := t.set(); ok {
		return 0, members
	}
	return t.character(), ""
}

func (t *patternTranslator) namedClass(named []string) (members string) {
	t.rest = t.rest[len(named[0]):]
	name := named[2]
	classes := patternClasses
	if t.isUnicode {
		classes = unicodePatternClasses
	} else if t.fold && (name == "lower" || name == "upper") {
		name = "alpha"
	}
	members, ok := classes[name]
	switch {
	case !ok && t.isUnicode && patternClasses[name] != "":
		t.failWith(unsupportedPattern(named[0]+" after (*UCP)", "leave out (*UCP)"))
	case !ok:
		t.failf("%s is no class with a name", named[0])
	case named[1] != "":
		members = t.complement(members)
	}
	return members
}

// patternEscapes maps the letters of escapes to their characters.
var patternEscapes = map[byte]rune{'a': '\a', 'e': 0x1b, 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (t *patternTranslator) character() rune {
	if len(t.rest) == 1 {
		t.failf("it ends in a backslash")
		return 0
	}
	letter := t.rest[1]
	if found := patternNumber.FindStringSubmatch(t.rest); found != nil {
		return t.numbered(found)
	}
	t.rest = t.rest[1:]
	r, ok := patternEscapes[letter]
	switch {
	case letter == 'c' && len(t.rest) > 1 && t.rest[1] >= ' ' && t.rest[1] <= '~':
		r = unicode.ToUpper(rune(t.rest[1])) ^ 0x40
		t.rest = t.rest[2:]
	case ok:
		t.rest = t.rest[1:]
	case unicode.IsLetter(rune(letter)) && letter < utf8.RuneSelf:
		t.failf(`\%c is no escape, or lacks what belongs to it`, letter)
	default:
		r = t.take()
	}
	return r
}

func (t *patternTranslator) numbered(found []string) rune {
	digits, base := found[1]+found[2]+found[3], 16
	if octal := found[4] + found[5]; octal != "" {
		digits, base = octal, 8
	}
	t.rest = t.rest[len(found[0]):]
	number, err := strconv.ParseUint("0"+digits, base, 32)
	if err != nil || number > unicode.MaxRune || number >= 0xd800 && number < 0xe000 || found[0] == `\x` && strings.HasPrefix(t.rest, "{") {
		t.failf("%q is not the code of a character", found[0])
		return 0
	}
	return rune(number)
}
