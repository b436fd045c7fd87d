package pcre_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/query/internal/pcre"
)

// match is a pattern with its options, a text, and what PCRE2 10.42 finds in it in UTF mode:
// the bytes where the match and its groups begin and end, nil for none.
type match struct {
	pattern, options, text string
	want                   []int
}

// matches are grouped by what they are about.
var matches = map[string][]match{
	"places": {
		{`^$`, "m", "a\n", nil},
		{`^$`, "m", "a\n\nb", []int{2, 2}},
		{`^b$`, "m", "a\nb\n", []int{2, 3}},
		{`a$`, "", "a\n", []int{0, 1}},
		{`a$`, "", "a\n\n", nil},
		{`a$`, "m", "a\nb", []int{0, 1}},
		{`a\Z`, "m", "a\nb", nil},
		{`a\Z`, "", "a\n", []int{0, 1}},
		{`a\z`, "", "a\n", nil},
		{`$^`, "", "\n", []int{0, 0}},
		{`$^`, "", "", []int{0, 0}},
		{`$^`, "", "a", nil},
		{"a$\n", "", "a\n", []int{0, 2}},
		{`\Ab`, "m", "a\nb", nil},
		{`\bk`, "", "\u212ak", []int{3, 4}},
		{`\Bb`, "", "ab", []int{1, 2}},
		{`(?m)^b`, "", "a\nb", []int{2, 3}},
		{`[[:<:]]b`, "", "ab b", []int{3, 4}},
		{`a[[:>:]]`, "", "ab a", []int{3, 4}},
		{`\Ga`, "", "ba", nil},
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
		{`(a)(?i)\1`, "", "aA", []int{0, 2, 0, 1}},
		{`((?i)a)\1`, "", "Aa", nil},
		{`ß`, "i", "ẞ", []int{0, 3}},
		{`I`, "i", "ı", nil},
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
		{`a+ +a`, "x", "aa", nil},
		{`a (?#c)*`, "x", "aa", []int{0, 2}},
		{`(?s).(?-s).`, "", "\n\n", nil},
		{`(?^)A`, "i", "a", nil},
		{`(?U)a+`, "", "aa", []int{0, 1}},
		{`(?U)a+?`, "", "aa", []int{0, 2}},
		{`(?n)(a)`, "", "a", []int{0, 1}},
		{`(?J)(?<n>a)|(?<n>b)`, "", "b", []int{0, 1, -1, -1, 0, 1}},
		{`(*UTF)(*UCP)é`, "", "é", []int{0, 2}},
		{`(*LF)a$`, "", "a\n", []int{0, 1}},
	},
	"characters": {
		{`\x41\x{1F600}`, "", "A😀", []int{0, 5}},
		{`\101\0\o{102}`, "", "A\x00B", []int{0, 3}},
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
		{`[\Q^\E-z]`, "", "y", []int{0, 1}},
		{`\12`, "", "\n", []int{0, 1}},
	},
	"classes": {
		{`[]a]+`, "", "]a", []int{0, 2}},
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
		{`\R`, "", "\r\n", []int{0, 2}},
		{`\R\n`, "", "\r\n", nil},
		{`\R{2}`, "", "\r\n\u2028", []int{0, 5}},
		{`\p{L}\pN\P{L}\p{^L}`, "", "a1--", []int{0, 4}},
		{`\p{Greek}\p{Thai}`, "", "αก", []int{0, 5}},
		{`\p{L&}`, "", "a", []int{0, 1}},
		{`\p{Any}\p{Xan}\p{Xwd}\p{Xsp}`, "", "-a_ ", []int{0, 4}},
		{`\p{greek}\p{ Lu }`, "", "αA", []int{0, 3}},
		{`(*UCP)\byster`, "", "Öyster", nil},
		{`\byster`, "", "Öyster", []int{2, 7}},
		{`(*UCP)[[:punct:]]+`, "", "!$«", []int{0, 4}},
		{`(*UCP)\B.`, "", "éa", []int{2, 3}},
		{`[^\W_]+`, "", "_a1", []int{1, 3}},
		{`(*UCP)[\W]`, "", "é-", []int{2, 3}},
	},
	"groups": {
		{`(a)(?:b)(c)`, "", "abc", []int{0, 3, 0, 1, 2, 3}},
		{`(?<n>a)\k<n>\k'n'\k{n}(?P=n)\g{n}\1`, "", "aaaaaaa", []int{0, 7, 0, 1}},
		{`(?P<n>a)(?'m'b)\g2\g{-1}`, "", "abbb", []int{0, 4, 0, 1, 1, 2}},
		{`(?|(a)|(b))\1`, "", "bb", []int{0, 2, 0, 1}},
		{`(?|(a)(b)|(c))(d)`, "", "cd", []int{0, 2, 0, 1, -1, -1, 1, 2}},
		{`(a)|b\1`, "", "ba", []int{1, 2, 1, 2}},
		{`(a\1?){3}`, "", "aaaa", []int{0, 4, 3, 4}},
		{`(a)*`, "", "aa", []int{0, 2, 1, 2}},
		{`(a|ab)(c|bcd)`, "", "abcd", []int{0, 4, 0, 1, 1, 4}},
		{`(a*)*`, "", "aa", []int{0, 2, 2, 2}},
		{`(a|(b))*`, "", "ba", []int{0, 2, 1, 2, 0, 1}},
		{`()`, "", "a", []int{0, 0, 0, 0}},
		{`(?:)`, "", "a", []int{0, 0}},
		{`a||b`, "", "b", []int{0, 0}},
		{`\g{+1}(a)|b`, "", "b", []int{0, 1, -1, -1}},
		{`(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)\11\10`, "", "abcdefghij\tj", []int{0, 12, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10}},
	},
	"quantifiers": {
		{`a{2}`, "", "aaa", []int{0, 2}},
		{`a{2,}`, "", "aaaa", []int{0, 4}},
		{`a{1,2}`, "", "aaa", []int{0, 2}},
		{`a*?b`, "", "aab", []int{0, 3}},
		{`a+?`, "", "aa", []int{0, 1}},
		{`a??`, "", "a", []int{0, 0}},
		{`a{1,2}?`, "", "aa", []int{0, 1}},
		{`a++a`, "", "aaa", nil},
		{`a*+b`, "", "aab", []int{0, 3}},
		{`a?+a`, "", "a", nil},
		{`a{1,2}+a`, "", "aa", nil},
		{`(?:ab){2,3}`, "", "ababab", []int{0, 6}},
		{`(?:ab)*?c`, "", "ababc", []int{0, 5}},
		{`(?:a|ab)++c`, "", "abc", nil},
		{`(?=a)*a`, "", "a", []int{0, 1}},
		{`(a){0}b`, "", "ab", []int{1, 2, -1, -1}},
		{`(a|)+`, "", "aa", []int{0, 2, 2, 2}},
		{`(?:a?){2,3}`, "", "aa", []int{0, 2}},
		{`(a?)*?$`, "", "aa", []int{0, 2, 1, 2}},
		{`x{1001}`, "", strings.Repeat("x", 1001), []int{0, 1001}},
	},
	"look-around": {
		{`foo(?!bar)`, "", "foobar foobaz", []int{7, 10}},
		{`foo(?=bar)`, "", "foobar", []int{0, 3}},
		{`(?<=foo)bar`, "", "foobar", []int{3, 6}},
		{`(?<!foo)bar`, "", "foobar xbar", []int{8, 11}},
		{`(?<=a|bc)d`, "", "bcd", []int{2, 3}},
		{`(?<=é)b`, "", "éb", []int{2, 3}},
		{`(?<=(a))b\1`, "", "aba", []int{1, 3, 0, 1}},
		{`(?=(a+))a*b\1`, "", "aaab", nil},
		{`(?!(a)b)a`, "", "ac", []int{0, 1, -1, -1}},
		{`(?<=^|,)b`, "", "a,b", []int{2, 3}},
		{`(*pla:a)a`, "", "a", []int{0, 1}},
		{`(*nlb:a)b`, "", "ab", nil},
		{`^(?=.*\d)(?=.*[a-z]).{4,}$`, "", "abc1", []int{0, 4}},
		{`(?:(?!ab).)*`, "", "xxab", []int{0, 2}},
		{`(?<![\w.])\d+`, "", "a1 22", []int{3, 5}},
	},
	"the rest": {
		{`(?>a*)ab`, "", "aab", nil},
		{`(?>a|ab)c`, "", "abc", nil},
		{`(*atomic:a+)b`, "", "aab", []int{0, 3}},
		{`(a)?(?(1)b|c)`, "", "ab", []int{0, 2, 0, 1}},
		{`(a)?(?(1)b|c)`, "", "c", []int{0, 1, -1, -1}},
		{`(?<n>a)?(?(<n>)b|c)`, "", "ab", []int{0, 2, 0, 1}},
		{`(?(?=a)ab|cd)`, "", "cd", []int{0, 2}},
		{`(?(?!a)cd|ab)`, "", "ab", []int{0, 2}},
		{`(?(?<=x)a|b)`, "", "xa", []int{1, 2}},
		{`(?(1)a|b)(c)`, "", "bc", []int{0, 2, 1, 2}},
		{`a\Kb`, "", "ab", []int{1, 2}},
		{`(a\Kb)c`, "", "abc", []int{1, 3, 0, 2}},
		{`\((?:[^()]|(?R))*\)`, "", "x(a(b)c)", []int{1, 8}},
		{`(?<p>\((?:[^()]|(?&p))*\))`, "", "((a))", []int{0, 5, 0, 5}},
		{`(\w)(?1)`, "", "ab", []int{0, 2, 0, 1}},
		{`(?(DEFINE)(?<d>\d+))(?&d)-(?P>d)`, "", "12-34", []int{0, 5, -1, -1}},
		{`^(.|(.)(?1)\2)$`, "", "abcba", []int{0, 5, 0, 5, 0, 1}},
		{`(a(?(R)b|c(?1)))`, "", "acab", []int{0, 4, 0, 4}},
		{`(a|(?1)b)`, "", "ab", []int{0, 1, 0, 1}},
		{`foo(*SKIP)(*F)|o`, "", "foo o", []int{4, 5}},
		{`a(*COMMIT)b`, "", "ac", nil},
		{`a(*PRUNE)b|c`, "", "ac", []int{1, 2}},
		{`a(*ACCEPT)b`, "", "a", []int{0, 1}},
		{`(a(*ACCEPT)b)c`, "", "a", []int{0, 1, 0, 1}},
		{`(*FAIL)|a`, "", "a", []int{0, 1}},
		{`(?:(a)|b)(?(1)c|d)`, "", "bd", []int{0, 2, -1, -1}},
	},
}

// free is a budget without end.
func free(int) error { return nil }

func compile(t *testing.T, pattern, options string) *pcre.Pattern {
	t.Helper()
	p, err := pcre.Compile(pattern, options)
	require.NoError(t, err, "%s with %q", pattern, options)
	return p
}

func TestMatch_AsInPCRE2(t *testing.T) {
	t.Parallel()
	for subject, list := range matches {
		t.Run(subject, func(t *testing.T) {
			t.Parallel()
			for _, m := range list {
				p := compile(t, m.pattern, m.options)
				found, err := p.Find(m.text, 0, free)
				require.NoError(t, err, m.pattern)
				require.Equal(t, m.want, found, "%s with %q on %q", m.pattern, m.options, m.text)
				matched, err := p.Match(m.text, free)
				require.NoError(t, err, m.pattern)
				require.Equal(t, m.want != nil, matched, "%s with %q on %q", m.pattern, m.options, m.text)
			}
		})
	}
}

func TestMatch_SeesWhatStandsBefore(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern string
		want    []int
	}{
		{`^b`, nil},
		{`\bb`, nil},
		{`(?<=a)b`, []int{1, 2}},
		{`\Gb`, []int{1, 2}},
		{`b`, []int{1, 2}},
		{`$`, []int{3, 3}},
	} {
		found, err := compile(t, test.pattern, "").Find("abb", 1, free)
		require.NoError(t, err)
		require.Equal(t, test.want, found, test.pattern)
	}
}

func TestCompile_RefusesLikePCRE2(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{
		`[`, `(`, `a)`, `*a`, `a{2,1}`, `a{65536}`, `\`, `[z-a]`, `[[:nope:]]`, `(?`, `[\`, `[^`, `[]`, `[[:`, `[:alpha:]`,
		`^*`, `$*`, `\b+`, `\A?`, `a**`, `a{2}{3}`, `|*`, `(?i)*`, `\K*`, `\Q\E*`, `(?<=a+)b`, `(?<=a(b|cd))e`, `(?=a\K)`,
		`\1`, `\8`, `(a)\2`, `\g{-1}`, `\k<n>`, `(?&n)`, `(?2)(a)`, `(?(1)a)`, `(a)(?(1)a|b|c)`, `(?<n>a)(?<n>b)`, `(?<1a>a)`,
		`[\d-z]`, `[a-\d]`, `[\N]`, `[\R]`, `[[.a.]]`, `\x{110000}`, `\x{d800}`, `\x{zz}`, `\o{9}`, `\x{1`, `\cé`, `\p{Nope}`, `\p{L`,
		`\u0041`, `\L`, `\N{name}`, `(?#`, `(?z)`, `(*NOPE)`, `a(*UTF)`, strings.Repeat("(", 251) + strings.Repeat(")", 251),
	} {
		_, err := pcre.Compile(pattern, "")
		require.ErrorIs(t, err, boterr.InvalidArgument, pattern)
	}
}

func TestCompile_UnsupportedByName(t *testing.T) {
	t.Parallel()
	for pattern, name := range map[string]string{
		`\X`: `\X`, `\C`: `\C`, `a(*THEN)b`: "(*THEN)", `(*MARK:x)a`: "(*MARK:", `(*CRLF)a`: "(*CRLF)", `(?*a)`: "(?",
		`(?=a(*COMMIT))`: "(*COMMIT)", `(a)(?1)(*PRUNE)`: "verbs", `\p{bidi_class=L}`: "bidi_class=L", `(?C1)a`: "(?",
	} {
		_, err := pcre.Compile(pattern, "")
		require.ErrorIs(t, err, boterr.InvalidArgument, pattern)
		require.ErrorContains(t, err, name)
	}
}

func TestPrefix(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ pattern, options, want string }{
		{`^abc`, "", "abc"},
		{`^abc.*(?=d)`, "", "abc"},
		{`\Aab(c)`, "", "ab"},
		{`^\Qa.b\E`, "", "a.b"},
		{`^ab*`, "", "a"},
		{`^abc`, "m", ""},
		{`^abc`, "i", ""},
		{`abc`, "", ""},
		{`^a|b`, "", ""},
		{`^(?:ab|ac)`, "", ""},
	} {
		require.Equal(t, test.want, compile(t, test.pattern, test.options).Prefix(), test.pattern)
	}
}
