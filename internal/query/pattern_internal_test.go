package query

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/rounds"
)

// match is a pattern with options, a text, and the matches of PCRE2 10.42 in UTF mode: the bytes at which the match
// and its groups start and end, or nil.
type match struct {
	pattern, options, text string
	want                   []int
}

// matches are grouped by subject.
var matches = map[string][]match{
	"places": {
		{`^b$`, "m", "a\nb\n", []int{2, 3}},
		{`a$`, "", "a\n", []int{0, 1}},
		{`a$`, "", "a\n\n", nil},
		{`a$`, "m", "a\nb", []int{0, 1}},
		{`a\Z`, "m", "a\nb", nil},
		{`a\Z`, "", "a\n", []int{0, 1}},
		{`a\z`, "", "a\n", nil},
		{`\Ab`, "m", "a\nb", nil},
		{`\bk`, "", "\u212ak", []int{3, 4}},
		{`\Bb`, "", "ab", []int{1, 2}},
		{`(?m)^b`, "", "a\nb", []int{2, 3}},
		{`^(a|b$)`, "", "b", []int{0, 1, 0, 1}},
		{`^(a|b$)`, "", "bx", nil},
		{`a\$`, "", "a$", []int{0, 2}},
	},
	"letter case": {
		{`é`, "i", "É", []int{0, 2}},
		{`K`, "i", "\u212a", []int{0, 3}},
		{`[a-z]+`, "i", "ſK", []int{0, 3}},
		{`[^k]`, "i", "\u212a", nil},
		{`\w`, "i", "\u212a", nil},
		{`[[:alpha:]]`, "i", "\u212a", nil},
		{`[[:upper:]]`, "i", "k", []int{0, 1}},
		{`[[:lower:]]`, "i", "K", []int{0, 1}},
		{`\p{Lu}`, "i", "a", nil},
		{`[\p{Lu}]`, "i", "a", nil},
		{`(*UCP)[[:upper:]]`, "i", "k", nil},
		{`(*UCP)\w`, "i", "É", []int{0, 2}},
		{`σ`, "i", "ς", []int{0, 2}},
		{`(?i)a(?-i)b`, "", "AB", nil},
		{`(?i:a)b`, "", "Ab", []int{0, 2}},
		{`a(?i)b|c`, "", "C", []int{0, 1}},
		{`ß`, "i", "ẞ", []int{0, 3}},
		{`I`, "i", "ı", nil},
		{`[ß]`, "i", "ẞ", []int{0, 3}},
		{`[\x{100}-\x{3ff00}]`, "i", "ẞK", []int{0, 3}},
		{`[\x{100}-\x{3ff00}]+`, "i", "kß", []int{0, 3}},
	},
	"options": {
		{`.`, "", "\n", nil},
		{`.`, "s", "\n", []int{0, 1}},
		{`\N`, "s", "\n", nil},
		{`a b #c`, "x", "ab", []int{0, 2}},
		{`a\ b`, "x", "a b", []int{0, 3}},
		{`[a b]`, "x", " ", []int{0, 1}},
		{`(?xx)[a b]`, "", " ", nil},
		{"a#c\nb", "x", "ab", []int{0, 2}},
		{`a + b`, "x", "aab", []int{0, 3}},
		{`a (?#c)*`, "x", "aa", []int{0, 2}},
		{`(?s).(?-s).`, "", "\n\n", nil},
		{`(?^)A`, "i", "a", nil},
		{`(?U)a+`, "", "aa", []int{0, 1}},
		{`(?U)a+?`, "", "aa", []int{0, 2}},
		{`(?n)(a)`, "", "a", []int{0, 1}},
		{`(*UTF)(*UCP)é`, "", "é", []int{0, 2}},
		{`(*LF)a$`, "", "a\n", []int{0, 1}},
	},
	"characters": {
		{`\x41\x{1F600}`, "", "A😀", []int{0, 5}},
		{`\0\o{102}`, "", "\x00B", []int{0, 2}},
		{`\cA\e\a\f\t\r\n`, "", "\x01\x1b\x07\x0c\t\r\n", []int{0, 7}},
		{`\N{U+41}`, "", "A", []int{0, 1}},
		{`\Qa.b\E+`, "", "a.bb", []int{0, 4}},
		{`\Q*\E*`, "", "**", []int{0, 2}},
		{`\Q[`, "", "[", []int{0, 1}},
		{`a{,2}`, "", "a{,2}", []int{0, 5}},
		{`a{x}`, "", "a{x}", []int{0, 4}},
		{`]`, "", "]", []int{0, 1}},
		{`}`, "", "}", []int{0, 1}},
		{`\é\-`, "", "é-", []int{0, 3}},
		{`\x`, "", "\x00", []int{0, 1}},
	},
	"classes": {
		{`[]a]+`, "", "]a", []int{0, 2}},
		{`[[.a[.]+`, "", "a.[", []int{0, 3}},
		{`[[=a[=]+`, "", "a=[", []int{0, 3}},
		{`[^]a]`, "", "]b", []int{1, 2}},
		{`[a\]]+`, "", "a]", []int{0, 2}},
		{`[\w-]+`, "", "a-b", []int{0, 3}},
		{`[a-\x{64}]+`, "", "abcde", []int{0, 4}},
		{`[-a]+`, "", "a-", []int{0, 2}},
		{`[a-]+`, "", "a-", []int{0, 2}},
		{`[[:^alpha:]]`, "", "a1", []int{1, 2}},
		{`[[:word:][:space:]]+`, "", "a_ \x0b", []int{0, 4}},
		{`[[:punct:]]+`, "", "!^~a", []int{0, 3}},
		{`[[:graph:][:blank:]]+`, "", "a \t", []int{0, 3}},
		{`[\b]`, "", "\x08", []int{0, 1}},
		{`[\n\x09]+`, "", "\t\n", []int{0, 2}},
		{`[^\S ]`, "", "\t", []int{0, 1}},
		{`[\D]`, "", "1a", []int{1, 2}},
		{`[\H\V]`, "", "\n", []int{0, 1}},
		{`[\H]`, "", " ", nil},
		{`[\101-C]+`, "", "ABCD", []int{0, 3}},
		{`[$.^*(]+`, "", "(*^.$", []int{0, 5}},
		{`[[]`, "", "[", []int{0, 1}},
		{`[[:]`, "", ":", []int{0, 1}},
		{`[a[:]b]+`, "", "a]b", nil},
		{`[\8]`, "", "8", []int{0, 1}},
	},
	"sets": {
		{`\d+`, "", "12٣", []int{0, 2}},
		{`(*UCP)\d+`, "", "12٣", []int{0, 4}},
		{`\w+`, "", "aé", []int{0, 1}},
		{`(*UCP)\w+`, "", "aé_", []int{0, 4}},
		{`\s+`, "", " \t\x0b\x0c\u00a0", []int{0, 4}},
		{`(*UCP)\s+`, "", " \u00a0\u2028", []int{0, 6}},
		{`\h+`, "", "\t\u00a0\u180e\n", []int{0, 6}},
		{`\v+`, "", "\n\u0085\u2028 ", []int{0, 6}},
		{`\H\V`, "", "ab", []int{0, 2}},
		{`\p{L}\pN\P{L}\p{^L}`, "", "a1--", []int{0, 4}},
		{`\p{Greek}\p{Thai}`, "", "αก", []int{0, 5}},
		{`\p{L&}`, "", "a", []int{0, 1}},
		{`\p{greek}\p{ Lu }`, "", "αA", []int{0, 3}},
		{`\byster`, "", "Öyster", []int{2, 7}},
		{`(*UCP)[[:punct:]]+`, "", "!$«", []int{0, 4}},
		{`[^\W_]+`, "", "_a1", []int{1, 3}},
		{`(*UCP)[\W]`, "", "é-", []int{2, 3}},
	},
	"groups": {
		{`(a)(?:b)(c)`, "", "abc", []int{0, 3, 0, 1, 2, 3}},
		{`(a)*`, "", "aa", []int{0, 2, 1, 2}},
		{`(a|ab)(c|bcd)`, "", "abcd", []int{0, 4, 0, 1, 1, 4}},
		{`(a|(b))*`, "", "ba", []int{0, 2, 1, 2, 0, 1}},
		{`()`, "", "a", []int{0, 0, 0, 0}},
		{`(?:)`, "", "a", []int{0, 0}},
		{`a||b`, "", "b", []int{0, 0}},
	},
	"quantifiers": {
		{`a{2}`, "", "aaa", []int{0, 2}},
		{`a{2,}`, "", "aaaa", []int{0, 4}},
		{`a{1,2}`, "", "aaa", []int{0, 2}},
		{`a*?b`, "", "aab", []int{0, 3}},
		{`a+?`, "", "aa", []int{0, 1}},
		{`a??`, "", "a", []int{0, 0}},
		{`a{1,2}?`, "", "aa", []int{0, 1}},
		{`(?:ab){2,3}`, "", "ababab", []int{0, 6}},
		{`(?:ab)*?c`, "", "ababc", []int{0, 5}},
		{`(a){0}b`, "", "ab", []int{1, 2, -1, -1}},
	},
}

// free charges an unlimited budget.
func free(int) error { return nil }

func newPattern(t *testing.T, pattern, options string) *pattern {
	t.Helper()
	p, err := compilePattern(pattern, options)
	require.NoError(t, err, "%s with %q", pattern, options)
	return p
}

func TestPattern_AsInPCRE2(t *testing.T) {
	t.Parallel()
	for subject, list := range matches {
		t.Run(subject, func(t *testing.T) {
			t.Parallel()
			for _, m := range list {
				p := newPattern(t, m.pattern, m.options)
				found, err := p.find(m.text, 0, free)
				require.NoError(t, err, m.pattern)
				require.Equal(t, m.want, found, "%s with %q on %q", m.pattern, m.options, m.text)
				matched, err := p.match(m.text, free)
				require.NoError(t, err, m.pattern)
				require.Equal(t, m.want != nil, matched, "%s with %q on %q", m.pattern, m.options, m.text)
			}
		})
	}
}

func TestPattern_SeesWhatStandsBefore(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern, text string
		want          []int
	}{
		{`^b`, "abb", nil},
		{`(?m)^b`, "\nbb", []int{1, 2}},
		{`\bb`, "abb", nil},
		{`\bb`, "ébb", []int{2, 3}},
		{`b`, "abb", []int{1, 2}},
		{`(b)$`, "abb\n", []int{2, 3, 2, 3}},
		{`$`, "abb", []int{3, 3}},
	} {
		_, length := utf8.DecodeRuneInString(test.text)
		found, err := newPattern(t, test.pattern, "").find(test.text, length, free)
		require.NoError(t, err)
		require.Equal(t, test.want, found, test.pattern)
	}
}

func TestPattern_RefusesLikePCRE2(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{
		`[`, `(`, `a)`, `*a`, `a{2,1}`, `\`, `[z-a]`, `[[:nope:]]`, `(?`, `[\`, `[^`, `[]`, `[[:`, `[:alpha:]`,
		`^*`, `$*`, `\b+`, `\A?`, `a**`, `a{2}{3}`, `|*`, `(?i)*`, `\Q\E*`, `(?<n>a)(?<n>b)`, `(?<1a>a)`,
		`[\d-z]`, `[a-\d]`, `[[.a.]]`, `[[.a[b.]]`, `[[=a[=a=]]`, `\x{110000}`, `\x{d800}`, `\x{zz}`, `\o{9}`, `\x{1`, `\cé`, `\c`, `\p{L`,
		`\u0041`, `\L`, `(?#`, `(?z)`, strings.Repeat("(", 1001) + strings.Repeat(")", 1001),
	} {
		_, err := compilePattern(pattern, "")
		require.ErrorIs(t, err, boterr.InvalidArgument, pattern)
	}
}

func TestPattern_UnsupportedByName(t *testing.T) {
	t.Parallel()
	for name, patterns := range map[string][]string{
		"look-ahead":                     {`foo(?=bar)`, `foo(?!bar)`, `(*pla:a)a`, `(*negative_lookahead:a)b`},
		"look-behind":                    {`(?<=foo)bar`, `(?<!foo)bar`, `(*nlb:a)b`},
		"[[:<:]]":                        {`[[:<:]]b`, `a[[:>:]]`},
		"an atomic group":                {`(?>a*)b`, `(*atomic:a+)b`},
		"a possessive quantifier":        {`a++`, `a*+b`, `a?+`, `(?:ab){1,2}+`, `(?x)a+ +`, `a+(?#c)+`},
		"a branch reset":                 {`(?|(a)|(b))`},
		"a condition":                    {`(a)?(?(1)b|c)`, `(?(DEFINE)a)`, `(?(?=a)ab|cd)`, `(?(R)a)`},
		"recursion":                      {`\((?:[^()]|(?R))*\)`, `(a)(?1)`, `(?+1)(a)`, `(a)(?-1)`, `(?<n>a)(?&n)`, `(?<n>a)(?P>n)`, `(a)\g<1>`},
		"a back-reference":               {`(a)\1`, `(?<n>a)\k<n>`, `(a)\g{-1}`, `(?P<n>a)(?P=n)`},
		"a callout":                      {`(?C1)a`},
		"the option J":                   {`(?J)(?<n>a)|(?<n>b)`},
		"another end of line":            {`(*CRLF)a`},
		"a verb":                         {`a(*THEN)b`, `a(*ACCEPT)`, `(*MARK:x)a`},
		`\K`:                             {`a\Kb`},
		`\G`:                             {`\Ga`},
		`\X`:                             {`\X`, `[\X]`},
		`\C`:                             {`\C`},
		`\R`:                             {`\R`},
		`\N{...}`:                        {`\N{name}`},
		`\Q`:                             {`[\Qa]\E]`},
		`\p{Xan}`:                        {`\p{Xan}`},
		`\P{bidi_class=L}`:               {`\P{bidi_class=L}`},
		`\b after (*UCP)`:                {`(*UCP)\ba`},
		"[:graph:] after (*UCP)":         {`(*UCP)[[:graph:]]`},
		"a quantifier of more than 1000": {`a{1001}`, `(?:a{50}){50}`},
		"$":                              {`a$\n`, `(a$)*`, `$^`},
		"^ with the option m":            {`(?m)^$`, `(?m)\n^\s*`},
	} {
		for _, pattern := range patterns {
			_, err := compilePattern(pattern, "")
			require.ErrorIs(t, err, boterr.Unsupported, pattern)
			require.ErrorContains(t, err, "the pattern has "+name, pattern)
			require.ErrorContains(t, err, ": ", pattern)
		}
	}
}

func TestPattern_EmptyLoopsMatchButAreNotFound(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{`(a*)*b`, `(a|)+b`, `(?:a?){2,3}b`, `(?:a{0,2})*b`} {
		p := newPattern(t, pattern, "")
		matched, err := p.match("aab", free)
		require.NoError(t, err)
		require.True(t, matched, pattern)
		_, err = p.find("aab", 0, free)
		require.ErrorIs(t, err, boterr.Unsupported, pattern)
	}
}

// TestPattern_FindsWhatMatches tests random patterns.
func TestPattern_FindsWhatMatches(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	matches := 0
	tries := rounds.Of(t, 1000, 3000)
	for range tries {
		source := randomPattern(random, 2)
		p, err := compilePattern(source, []string{"", "i", "m", "s"}[random.IntN(4)])
		if errors.Is(err, boterr.Unsupported) || p.emptyLoops {
			continue
		}
		require.NoError(t, err, source)
		text := randomText(random)
		matched, err := p.match(text, free)
		require.NoError(t, err)
		found, err := p.find(text, 0, free)
		require.NoError(t, err)
		require.Equal(t, matched, found != nil, "%s on %q", source, text)
		if matched {
			matches++
			again, err := p.find("é"+text, len("é"), free)
			require.NoError(t, err)
			require.True(t, len(again) == 0 || again[0] >= len("é"), "%s on %q", source, text)
			require.True(t, strings.HasPrefix(text, p.indexPrefix()), "%s on %q", source, text)
		}
	}
	require.Greater(t, matches, tries/20)
}

func pick(random *rand.Rand, words string) string {
	list := strings.Fields(words)
	return list[random.IntN(len(list))]
}

// randomPattern returns a pattern with groups nested up to a depth.
func randomPattern(random *rand.Rand, depth int) string {
	var b strings.Builder
	for range 1 + random.IntN(3) {
		if depth == 0 || random.IntN(3) > 0 {
			b.WriteString(pick(random, `a b ab é \w \D [ab] [^a] . \s \b(?:) ^(?:) $(?:) \p{L} [[:upper:]]`))
		} else {
			b.WriteString(pick(random, "( (?: (?i: (?s:") + randomPattern(random, depth-1) + "|" + randomPattern(random, depth-1) + ")")
		}
		if random.IntN(2) == 0 {
			b.WriteString(pick(random, `* + ? *? +? ?? {2} {0,2} {1,}`))
		}
	}
	return b.String()
}

func randomText(random *rand.Rand) string {
	var b strings.Builder
	for range random.IntN(8) {
		b.WriteString(pick(random, `a b A é É 1 _ ab`))
	}
	return b.String()
}

func TestPattern_IndexPrefix(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ pattern, options, want string }{
		{`^abc`, "", "abc"},
		{`^abc.*d`, "", "abc"},
		{`\Aab(c)`, "", "ab"},
		{`^\Qa.b\E`, "", "a.b"},
		{`^ab*`, "", "a"},
		{`^abc`, "m", ""},
		{`^abc`, "i", ""},
		{`abc`, "", ""},
		{`^a|b`, "", ""},
		{`^(?:ab|ac)`, "", "a"},
	} {
		require.Equal(t, test.want, newPattern(t, test.pattern, test.options).indexPrefix(), test.pattern)
	}
}

var errSpent = errors.New("the budget is spent")

func spend(budget int) (charge func(work int) error, spent *int) {
	done := 0
	return func(work int) error {
		if done += work; done > budget {
			return errSpent
		}
		return nil
	}, &done
}

func TestPattern_ChargesBeforeItMatches(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a", 1<<16) + "!"
	for _, pattern := range []string{`a*b$`, `b`, `[bc]`, `^a*b`, `(a?){50}b`, `(?:a?){990}b`, `(x+x+)+y`, `(?i)word`} {
		p := newPattern(t, pattern, "")
		for name, match := range map[string]func(charge func(int) error) error{
			"match": func(charge func(int) error) error { _, err := p.match(text, charge); return err },
			"find":  func(charge func(int) error) error { _, err := p.find(text, 1, charge); return err },
		} {
			if p.emptyLoops && name == "find" {
				continue
			}
			charge, done := spend(0)
			require.ErrorIs(t, match(charge), errSpent, name+" "+pattern)
			require.Less(t, *done, 500, name+" "+pattern)
		}
	}
}

func TestPattern_ChargesItsSizeForEachByte(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern     string
		least, most int
	}{
		{`(a|a)*b`, 8, 64},
		{`\w+@`, 8, 64},
		{`(?i)hullo|world`, 16, 128},
		{`(?:a?b?){100}c`, 1_000, 20_000},
		{`(?:a?){990}b`, 20_000, 80_000},
	} {
		p := newPattern(t, test.pattern, "")
		text := strings.Repeat("a", 1000)
		charge, done := spend(1 << 40)
		_, err := p.match(text, charge)
		require.NoError(t, err)
		require.Greater(t, *done, test.least*len(text), test.pattern)
		require.Less(t, *done, test.most*len(text), test.pattern)
	}
}

func TestPattern_PlainBeginningIsCheap(t *testing.T) {
	t.Parallel()
	prose := strings.Repeat("The quick brown fox jumps over the lazy dog, and mails bob.\n", 1000)
	for _, pattern := range []string{`hullo`, `^Thin? [a-z]+`, `bobsy\b.*`, `\Athe`} {
		charge, done := spend(1 << 40)
		_, err := newPattern(t, pattern, "").match(prose, charge)
		require.NoError(t, err)
		require.Less(t, *done, len(prose), pattern)
	}
}

func TestPattern_FindStopsWhenNothingIsLeft(t *testing.T) {
	t.Parallel()
	p := newPattern(t, `a(?:.*z)?`, "")
	text := strings.Repeat("a", 1<<16)
	charge, done := spend(100_000)
	_, err := p.find(text, 1, charge)
	require.ErrorIs(t, err, errSpent)
	require.Less(t, *done, 101_000)
}

func TestPattern_ChargesShortText(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{`b`, `^b`, `(a?)(a?)b`} {
		charge, done := spend(1 << 40)
		_, err := newPattern(t, pattern, "").match("", charge)
		require.NoError(t, err)
		require.GreaterOrEqual(t, *done, 50, pattern)
	}
}

func TestPattern_TooLarge(t *testing.T) {
	t.Parallel()
	for name, pattern := range map[string]string{
		"properties":    strings.Repeat(`\p{L}`, 6000),
		"cased classes": "(?i)" + strings.Repeat(`[\x01-\x{10fffe}]`, 1800),
		"repetitions":   strings.Repeat(`x{1000}`, 100),
		"nested":        strings.Repeat("(", 1000) + "a" + strings.Repeat("){1000}", 1000),
	} {
		_, err := compilePattern(pattern, "")
		require.Error(t, err, name)
		require.Contains(t, []boterr.Code{boterr.InvalidArgument, boterr.Unsupported}, boterr.CodeOf(err), name)
	}
}

// For an element that has no end, the rest of the pattern must not be searched.
func TestPattern_ManyElementsWithoutEnd(t *testing.T) {
	t.Parallel()
	for _, opening := range []string{"[.", "[=", "[:"} {
		newPattern(t, "["+strings.Repeat(opening, 16_000)+"a]", "")
	}
}
