package query_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/internal/rounds"
)

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
	computed := query.Must(query.CompileFilter(document.O("$expr", document.O("$regexMatch", document.O("input", "x", "regex", "$a")))))
	require.ErrorIs(t, failure(computed.Check(document.O("a", "x(?=y)"))), boterr.Unsupported)
}

func TestRegex_Long(t *testing.T) {
	t.Parallel()
	for options, times := range map[string]int{"": 8191, "i": 100} {
		filter := query.Must(query.CompileFilter(document.O("a", document.O("$regex", strings.Repeat("long", times), "$options", options))))
		require.True(t, filter.Match(document.O("a", strings.Repeat("long", times+1))))
		require.Equal(t, options == "i", filter.Match(document.O("a", strings.Repeat("LONG", times+1))))
		require.False(t, filter.Match(document.O("a", "long")))
	}
}

func TestRegex_Refuses(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{`[`, `(`, `a)`, `^*`, "a\x00", strings.Repeat("a", 32_765)} {
		requireInvalid(t, failure(query.CompileFilter(document.O("a", document.O("$regex", pattern)))), "a.$regex")
	}
	for _, options := range []string{"g", "im ", "é"} {
		requireInvalid(t, failure(query.CompileFilter(document.O("a", document.O("$regex", "a", "$options", options)))), "a.$regex")
	}
}

// endless is a pattern that takes long on long texts.
const endless = `(?:a?){990}b`

// manyLetters is a text that endless does not match.
var manyLetters = strings.Repeat("a", 5000) + "!"

func withManyLetters() document.Object {
	return document.O("_id", 1, "a", manyLetters, "b", 1, "l", document.A(manyLetters))
}

// partialCall returns a call with a sixteenth of the budget, or with all of it in a thorough run.
func partialCall(t *testing.T) *query.Evaluation {
	t.Helper()
	return query.NewPartialEvaluation(t.Context(), rounds.Of(t, 1, 16), 16)
}

func TestCheck_PatternWithoutEnd(t *testing.T) {
	t.Parallel()
	for name, condition := range map[string]document.Object{
		"alone":        document.O("a", document.O("$regex", endless)),
		"denied":       document.O("a", document.O("$not", document.O("$regex", endless))),
		"in $nor":      document.O("$nor", document.A(document.O("a", document.O("$regex", endless)))),
		"of elements":  document.O("l", document.O("$elemMatch", document.O("$regex", endless))),
		"in a list":    document.O("a", document.O("$in", document.A("x", document.O("$regex", endless)))),
		"alone in one": document.O("a", document.O("$in", document.A(document.O("$regex", endless)))),
		"in no list":   document.O("l", document.O("$nin", document.A("x", document.O("$regex", endless)))),
		"in all":       document.O("l", document.O("$all", document.A(manyLetters, document.O("$regex", endless)))),
		"beside other": document.O("b", 1, "a", document.O("$regex", endless)),
	} {
		filter := query.Must(query.CompileFilter(condition))
		matched, err := partialCall(t).Check(filter, withManyLetters())
		require.False(t, matched)
		require.ErrorIs(t, err, boterr.ResourceExhausted, name)
	}
}

func TestExpression_PatternWithoutEnd(t *testing.T) {
	t.Parallel()
	filter := query.Must(query.CompileFilter(document.O("$expr", document.O("$regexMatch", document.O("input", "$a", "regex", endless)))))
	matched, err := filter.Check(withManyLetters())
	require.False(t, matched)
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

func TestChange_PatternWithoutEnd(t *testing.T) {
	t.Parallel()
	o := document.O("_id", 1, "l", document.A("b", manyLetters))
	for name, compile := range map[string]func() (*query.Update, error){
		"$pull": func() (*query.Update, error) {
			return query.CompileUpdate(document.O("$pull", document.O("l", document.O("$regex", endless))))
		},
		"$pull of a list": func() (*query.Update, error) {
			return query.CompileUpdate(document.O("$pull", document.O("l", document.O("$in", document.A("x", document.O("$regex", endless))))))
		},
		"array filter": func() (*query.Update, error) {
			return query.CompileUpdate(document.Set("l.$[e]", 1), document.O("e", document.O("$regex", endless)))
		},
	} {
		update, err := compile()
		require.NoError(t, err)
		_, _, err = partialCall(t).Change(query.Change{Update: update}, nil, o)
		require.ErrorIs(t, err, boterr.ResourceExhausted, name)
	}
}

func TestPatterns_CountTogether(t *testing.T) {
	t.Parallel()
	const large = "(a?){990}"
	list := func(count int, pattern, options string) document.Object {
		return document.O("$in", repeated(count, document.O("$regex", pattern, "$options", options)))
	}
	matches := func(count int, pattern string) document.Object {
		match := document.O("$regexMatch", document.O("input", "$a", "regex", pattern))
		return document.O("$or", repeated(count, document.O("$expr", match)))
	}
	for name, test := range map[string]struct {
		few, many int
		compile   func(count int) error
	}{
		"in a list": {10, 100, func(count int) error { return failure(query.CompileFilter(document.O("a", list(count, large, "")))) }},
		"of fields of elements": {10, 100, func(count int) error {
			return failure(query.CompileFilter(document.O("a", document.O("$elemMatch", document.O("b", list(count, large, ""))))))
		}},
		"of $pull": {10, 100, func(count int) error {
			return failure(query.CompileUpdate(document.O("$pull", document.O("a", list(count, large, "")))))
		}},
		"of a projection": {10, 100, func(count int) error {
			return failure(query.CompileProjection(document.O("a", document.O("$elemMatch", list(count, large, "")))))
		}},
		"whose letters have many other cases": {10, 500, func(count int) error {
			return failure(query.CompileFilter(document.O("a", list(count, `[\x{100}-\x{3ff00}]`, "i"))))
		}},
		"of expressions": {10, 100, func(count int) error { return failure(query.CompileFilter(matches(count, large))) }},
		"of properties":  {100, 5_000, func(count int) error { return failure(query.CompileFilter(matches(count, `\p{L}`))) }},
		"of a computed field": {10, 100, func(count int) error {
			return failure(query.CompileProjection(document.O("x", document.O("$or",
				repeated(count, document.O("$regexMatch", document.O("input", "$a", "regex", large)))))))
		}},
	} {
		require.NoError(t, test.compile(test.few), name)
		require.ErrorIs(t, test.compile(test.many), boterr.InvalidArgument, name)
	}
}
