package query

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// beyondBudget is a condition that no budget allows. It counts how often it is asked.
type beyondBudget struct{ asked *int }

func (c beyondBudget) match(_ any, e *Evaluation) bool {
	*c.asked++
	return e.spend(maxAtOnce)
}

// A call that may do no more ends soon: of the conditions that are left, however they are put together, it
// asks none.
func TestCheck_AsksNoMoreOnceTheBudgetIsUsedUp(t *testing.T) {
	t.Parallel()
	const many = 50
	for name, combine := range map[string]func(conditions []matcher) matcher{
		"$and":         func(c []matcher) matcher { return allOf(c) },
		"$or":          func(c []matcher) matcher { return anyOf(c) },
		"$nor":         func(c []matcher) matcher { return noneOf(c) },
		"$and of $or":  func(c []matcher) matcher { return allOf(eachAs(c, func(m matcher) matcher { return anyOf{m, m} })) },
		"$and of $nor": func(c []matcher) matcher { return allOf(eachAs(c, func(m matcher) matcher { return noneOf{m, m} })) },
		"$or of $and":  func(c []matcher) matcher { return anyOf(eachAs(c, func(m matcher) matcher { return allOf{m, m} })) },
		"$nor of $nor": func(c []matcher) matcher { return noneOf(eachAs(c, func(m matcher) matcher { return noneOf{m, m} })) },
	} {
		asked := 0
		conditions := make([]matcher, many)
		for i := range conditions {
			conditions[i] = beyondBudget{&asked}
		}
		matched, err := NewEvaluation(t.Context()).Check(&Filter{root: combine(conditions)}, document.O("a", 1))
		require.ErrorIs(t, err, boterr.ResourceExhausted, name)
		require.False(t, matched, name)
		require.Equal(t, 1, asked, "%s: conditions are asked although the match is void", name)
	}
}

// eachAs replaces each of the matchers.
func eachAs(matchers []matcher, replace func(matcher) matcher) []matcher {
	replaced := make([]matcher, len(matchers))
	for i, m := range matchers {
		replaced[i] = replace(m)
	}
	return replaced
}
