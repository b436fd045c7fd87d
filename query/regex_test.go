package query_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/query"
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
		{`^a\Rb$`, "", []string{"a\nb", "a\r\nb"}, []string{"a\n\nb"}},
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
	for _, test := range []struct {
		pattern, options string
		matches, others  []string
	}{
		{`foo(?!bar)`, "", []string{"foobaz", "foo"}, []string{"foobar"}},
		{`(?<=€)\d+`, "", []string{"€12"}, []string{"$12"}},
		{`(?<!a)b`, "", []string{"b", "cb"}, []string{"ab"}},
		{`(\w)\1`, "", []string{"book"}, []string{"bok"}},
		{`(?P<word>\w+)-(?P=word)`, "i", []string{"bye-BYE"}, []string{"bye-hi"}},
		{`^\d++\d`, "", nil, []string{"1234"}},
		{`^(?>a|ab)c`, "", []string{"ac"}, []string{"abc"}},
		{`^(\()?\d+(?(1)\))$`, "", []string{"(12)", "12"}, []string{"(12", "12)"}},
		{`(?x) a b # and no more`, "", []string{"ab"}, []string{"a b"}},
		{`ab\Kc`, "", []string{"abc"}, []string{"ac"}},
		{strings.Repeat("long", 8191), "", []string{strings.Repeat("long", 8192)}, []string{"long"}},
		{strings.Repeat("long", 8191), "i", []string{strings.Repeat("LONG", 8192)}, []string{"long"}},
		{`^$`, "m", []string{"", "a\n\nb"}, []string{"a\n"}},
		{`\w`, "i", []string{"k"}, []string{"\u212a"}},
		{`(*UCP)\bx`, "", []string{"x", "-x"}, []string{"éx"}},
		{`[\H]`, "", []string{"a"}, []string{" "}},
	} {
		filter, err := query.CompileFilter(document.O("a", document.O("$regex", test.pattern, "$options", test.options)))
		require.NoError(t, err, test.pattern)
		for _, text := range test.matches {
			require.True(t, filter.Match(document.O("a", text)), "%s matches %.20q", test.pattern, text)
		}
		for _, text := range test.others {
			require.False(t, filter.Match(document.O("a", text)), "%s does not match %.20q", test.pattern, text)
		}
	}
}

func TestRegex_Refuses(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{`[`, `(`, `a)`, `^*`, `(a)\2`, `(?<=a+)b`, `\X`, "a\x00", strings.Repeat("a", 32_765)} {
		_, err := query.CompileFilter(document.O("a", document.O("$regex", pattern)))
		requireInvalid(t, err, "a.$regex")
	}
	for _, options := range []string{"g", "im ", "é"} {
		_, err := query.CompileFilter(document.O("a", document.O("$regex", "a", "$options", options)))
		requireInvalid(t, err, "a.$regex")
	}
}
