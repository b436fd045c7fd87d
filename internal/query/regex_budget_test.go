package query_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/internal/rounds"
)

// endless is a pattern that takes long on long texts.
const endless = `(?:a?){990}b`

// manyLetters is a text that it does not match.
var manyLetters = strings.Repeat("a", 5000) + "!"

func withManyLetters() document.Object {
	return document.O("_id", 1, "a", manyLetters, "b", 1, "l", document.A(manyLetters))
}

// partialCall returns a call with a part of the budget, which such a pattern must not exceed either.
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
		filter, err := query.CompileFilter(condition)
		require.NoError(t, err)
		matched, err := partialCall(t).Check(filter, withManyLetters())
		require.False(t, matched)
		require.ErrorIs(t, err, boterr.ResourceExhausted, name)
	}
}

func TestExpression_PatternWithoutEnd(t *testing.T) {
	t.Parallel()
	for _, operator := range []string{"$regexMatch"} {
		filter, err := query.CompileFilter(document.O("$expr", document.O(operator, document.O("input", "$a", "regex", endless))))
		require.NoError(t, err)
		matched, err := filter.Check(withManyLetters())
		require.False(t, matched)
		require.ErrorIs(t, err, boterr.InvalidArgument, operator)
	}
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
	patterns := func(count int) document.Object {
		return document.O("$in", document.A(slices.Repeat([]any{document.O("$regex", "(a?){990}")}, count)...))
	}
	for name, compile := range map[string]func(condition document.Object) error{
		"in a list": func(condition document.Object) error {
			_, err := query.CompileFilter(document.O("a", condition))
			return err
		},
		"of fields of elements": func(condition document.Object) error {
			_, err := query.CompileFilter(document.O("a", document.O("$elemMatch", document.O("b", condition))))
			return err
		},
		"of $pull": func(condition document.Object) error {
			_, err := query.CompileUpdate(document.O("$pull", document.O("a", condition)))
			return err
		},
		"of a projection": func(condition document.Object) error {
			_, err := query.CompileProjection(document.O("a", document.O("$elemMatch", condition)))
			return err
		},
	} {
		require.NoError(t, compile(patterns(10)), name)
		require.ErrorIs(t, compile(patterns(100)), boterr.InvalidArgument, name)
	}
}

func TestExpression_PatternsCountTogether(t *testing.T) {
	t.Parallel()
	matches := func(pattern string, count int) document.Object {
		clauses := make([]any, count)
		for i := range clauses {
			clauses[i] = document.O("$expr", document.O("$regexMatch", document.O("input", "$a", "regex", pattern)))
		}
		return document.O("$or", document.A(clauses...))
	}
	_, err := query.CompileFilter(matches("(a?){990}", 10))
	require.NoError(t, err)
	_, err = query.CompileFilter(matches("(a?){990}", 100))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = query.CompileFilter(matches(`\p{L}`, 100))
	require.NoError(t, err)
	_, err = query.CompileFilter(matches(`\p{L}`, 5_000))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = query.CompileProjection(document.O("x", matches("(a?){990}", 100)))
	require.ErrorIs(t, err, boterr.InvalidArgument)
}
