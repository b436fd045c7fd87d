package query_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

func TestRegex_AsInPCRE(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern, options string
		matches, others  []string
	}{
		{"abc$", "", []string{"abc", "abc\n"}, []string{"abc\n\n", "abc\nd"}},
		{"abc$", "m", []string{"abc\nd"}, []string{"abcd"}},
		{"(?m)abc$", "", []string{"abc\nd"}, []string{"abcd"}},
		{`abc\Z`, "", []string{"abc", "abc\n"}, []string{"abc\n\n"}},
		{`abc\z`, "", []string{"abc"}, []string{"abc\n"}},
		{`^(a|b$)`, "", []string{"ax", "b"}, []string{"bx"}},
		{`a\$`, "", []string{"a$"}, []string{"a"}},
		{`[$]`, "", []string{"$"}, []string{"a"}},
		{`a\sb`, "", []string{"a b", "a\vb"}, []string{"a\u00a0b"}},
		{`a\Sb`, "", []string{"axb"}, []string{"a\vb"}},
		{`a[\s,]b`, "", []string{"a\vb", "a,b"}, []string{"axb"}},
		{`a[\S]b`, "", []string{"axb", "a\u00a0b"}, []string{"a\vb", "a b"}},
		{`a\hb`, "", []string{"a\tb", "a\u00a0b"}, []string{"a\nb"}},
		{`a\Hb`, "", []string{"axb"}, []string{"a b"}},
		{`^a\vb$`, "", []string{"a\nb", "a\u2028b"}, []string{"a b"}},
		{`a\Nb`, "s", []string{"axb"}, []string{"a\nb"}},
		{`[\b]`, "", []string{"\b"}, []string{"b"}},
		{`\e`, "", []string{"\x1b"}, []string{"e"}},
		{`a(?# note)b`, "", []string{"ab"}, []string{"a note"}},
		{`\Qa.b\E+`, "", []string{"a.b", "a.bb"}, []string{"axb"}},
		{`\Qa b`, "x", []string{"a b"}, []string{"ab"}},
		{"a b # note\n c", "x", []string{"abc"}, []string{"a b c"}},
		{`[ #]b`, "x", []string{" b", "#b"}, []string{"xb"}},
		{`[]x]b`, "", []string{"]b", "xb"}, []string{"b"}},
		{`[^]x]b`, "", []string{"ab"}, []string{"]b"}},
		{`[[:alpha:]$]`, "", []string{"a", "$"}, []string{"é", "1"}},
		{`[[]`, "", []string{"["}, []string{"]"}},
		{`(*UTF)^.$`, "", []string{"é"}, []string{"ab"}},
		{`(*UTF8)(*UCP)^\w+$`, "", []string{"café", "жук", "a_1"}, []string{"a-b"}},
		{`(*UCP)^\W$`, "", []string{"-"}, []string{"é"}},
		{`(*UCP)^[\d\w]$`, "", []string{"é", "١"}, []string{"-"}},
		{`(*UCP)^\d$`, "", []string{"١", "1"}, []string{"é"}},
		{`(*UCP)^[\D]$`, "", []string{"é"}, []string{"١"}},
		{`(*UCP)^\s$`, "", []string{"\u00a0"}, []string{"x"}},
		{`(*UCP)^[[:upper:]]$`, "", []string{"É"}, []string{"é"}},
		{`(*UCP)^[[:punct:]]$`, "", []string{"!"}, []string{"é"}},
		{`^\d$`, "", []string{"1"}, []string{"١"}},
		{`^\w$`, "", []string{"e"}, []string{"é"}},
		{`(?x) a b # and no more`, "", []string{"ab"}, []string{"a b"}},
		{`\w`, "i", []string{"k"}, []string{"\u212a"}},
		{`[\H]`, "", []string{"a"}, []string{" "}},
	} {
		filter, err := query.CompileFilter(document.O("a", document.O("$regex", test.pattern, "$options", test.options)))
		require.NoError(t, err, test.pattern)
		for _, text := range test.matches {
			require.True(t, filter.Match(document.O("a", text)), "%s matches %q", test.pattern, text)
		}
		for _, text := range test.others {
			require.False(t, filter.Match(document.O("a", text)), "%s does not match %q", test.pattern, text)
		}
	}
}

func TestRegex_WhatRE2Lacks(t *testing.T) {
	t.Parallel()
	for pattern, name := range map[string]string{
		`foo(?!bar)`: "look-ahead", `(?<=€)\d+`: "look-behind", `(\w)\1`: "a back-reference", `^\d++\d`: "a possessive quantifier",
		`^(?>a|ab)c`: "an atomic group", `^(\()?\d+(?(1)\))$`: "a condition", `ab\Kc`: `\K`, `\((?R)?\)`: "recursion",
	} {
		for field, condition := range map[string]document.Object{
			"a.$regex":                document.O("a", document.O("$regex", pattern)),
			"a.$not.$regex":           document.O("a", document.O("$not", document.O("$regex", pattern))),
			"a.$in[1].$regex":         document.O("a", document.O("$in", document.A(1, document.O("$regex", pattern)))),
			"$expr.$regexMatch.regex": document.O("$expr", document.O("$regexMatch", document.O("input", "$a", "regex", pattern))),
		} {
			_, err := query.CompileFilter(condition)
			require.ErrorIs(t, err, boterr.Unsupported, pattern)
			failed, _ := boterr.AsError(err)
			require.Equal(t, field, failed.Field)
			require.ErrorContains(t, err, "the pattern has "+name)
		}
	}
	computed, err := query.CompileFilter(document.O("$expr", document.O("$regexMatch", document.O("input", "x", "regex", "$a"))))
	require.NoError(t, err)
	_, err = computed.Check(document.O("a", "x(?=y)"))
	require.ErrorIs(t, err, boterr.Unsupported)
}

func TestRegex_Long(t *testing.T) {
	t.Parallel()
	for options, times := range map[string]int{"": 8191, "i": 100} {
		filter, err := query.CompileFilter(document.O("a", document.O("$regex", strings.Repeat("long", times), "$options", options)))
		require.NoError(t, err)
		require.True(t, filter.Match(document.O("a", strings.Repeat("long", times+1))))
		require.Equal(t, options == "i", filter.Match(document.O("a", strings.Repeat("LONG", times+1))))
		require.False(t, filter.Match(document.O("a", "long")))
	}
}

func TestRegex_Refuses(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{`[`, `(`, `a)`, `^*`, "a\x00", strings.Repeat("a", 32_765)} {
		_, err := query.CompileFilter(document.O("a", document.O("$regex", pattern)))
		requireInvalid(t, err, "a.$regex")
	}
	for _, options := range []string{"g", "im ", "é"} {
		_, err := query.CompileFilter(document.O("a", document.O("$regex", "a", "$options", options)))
		requireInvalid(t, err, "a.$regex")
	}
}
