package script_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/script"
)

func TestLanguage_PropertiesOfCharacters(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	for source, want := range map[string]string{
		`return [/\p{Lu}/u.test("Ä"), /\p{Lu}/u.test("ä"), /^\p{L}+$/u.test("Grüßeあ"), /\P{L}/u.test("a"), /p{2}/u.test("pp")]`: `[true,false,true,false,true]`,
		`return "a1 Ü!".replace(/[^\p{L}\p{N}]/gu, "")`:                                                                                 `"a1Ü"`,
		`return "x😀y👍🏽".replace(/\p{Extended_Pictographic}/gu, "*").startsWith("x*y*")`:                                                 `true`,
		`return [/\p{Script=Greek}/u.test("α"), /\p{sc=Hira}/u.test("あ"), /\p{gc=Decimal_Number}/u.test("٣"), /\p{Letter}/u.test("1")]`: `[true,true,true,false]`,
		`return [/[\P{ASCII}]/u.test("a"), /[\P{ASCII}]/u.test("ä"), /\p{Any}/u.test("😀"), /\p{White_Space}/u.test("\u00a0")]`:          `[false,true,true,true]`,
		`return new RegExp("^\\p{Alphabetic}+$", "u").test("Ähm")`:                                                                      `true`,
		`return ["aÄß".match(/\p{L}/gu), [..."b2".matchAll(/\p{Nd}/gu)][0][0], "ÄÖ".replace(/(?<=\p{L})\p{L}/u, "-")]`:                  `[["a","Ä","ß"],"2","Ä-"]`,
		`return [/^[\p{L}_]+$/v.test("a_"), /p/.test("p"), /\p{Lu}/.test("p{Lu}")]`:                                                     `[true,true,true]`,
		"#!/usr/bin/env node\nreturn 3": `3`,
	} {
		require.JSONEq(t, want, s.returns(source), source)
	}
}

func TestLanguage_RefusedPatterns(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	for source, want := range map[string]string{
		"\nreturn /\\p{Emoji}/u":                "test.js:2:8: unsupported: \\p{Emoji} is not supported in patterns: \\p{Extended_Pictographic}",
		"\nreturn /\\p{Nonsense}/u":             "test.js:2:8: invalid argument: \\p{Nonsense} is no property",
		"\nreturn /a\\p{L/u":                    "test.js:2:8: invalid argument: \\p{ in a pattern has no end",
		"\nreturn /a/d":                         "test.js:2:",
		"\nreturn new RegExp('a', 'd')":         "test.js:2:8: unsupported: the flag d of patterns",
		"\nreturn /[[a-z]--[b]]/v":              "sets of sets in patterns",
		"\nreturn new RegExp('\\\\q{ab}', 'v')": "sets of sets in patterns",
	} {
		program, err := s.engine.Compile("test.js", source)
		if err == nil {
			_, err = program.Run(t.Context(), s.ada.Context())
		}
		require.ErrorContains(t, err, want, source)
	}
}
