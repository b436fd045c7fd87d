package pcre_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/query/internal/pcre"
)

var errSpent = errors.New("the budget is spent")

// spend returns a budget, and what was charged to it.
func spend(budget int) (pcre.Charge, *int) {
	done := 0
	return func(work int) error {
		if done += work; done > budget {
			return errSpent
		}
		return nil
	}, &done
}

// TestMatch_EndsWithItsBudget matches patterns that RE2 lacks on texts for which they
// try exponentially or quadratically many ways.
func TestMatch_EndsWithItsBudget(t *testing.T) {
	t.Parallel()
	const budget = 2 << 20
	text := strings.Repeat("a", 2000)
	for _, pattern := range []string{
		`(?=(a+)+$)a`, `(a|a)*(?=b)(?:c|d)`, `(?=(a|aa)+$)a`, `(a*)*\1(?:b|c)`, `(?<!b)(?:a?){30}a{30}(?:c|d)\b(?!x)`, `(a+)\1*(?!a)(?:b|c)`, `(?:a|(?1))*(a)(?:b|c)`,
	} {
		p := compile(t, pattern, "")
		var works []int
		for range 2 {
			charge, done := spend(budget)
			matched, err := p.Match(text+"!", charge)
			require.ErrorIs(t, err, errSpent, pattern)
			require.False(t, matched)
			works = append(works, *done)
		}
		require.Equal(t, works[0], works[1], "%s does the same work each time", pattern)
		require.Less(t, works[0], budget+budget/8, "%s ends soon after its budget", pattern)
	}
}

// TestMatch_LinearWhereRE2Can doubles texts on which trying takes exponentially long.
func TestMatch_LinearWhereRE2Can(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{`(a|a)*b`, `(a*)*b`, `^(a|aa)+$`, `(?:a?b?){100}c`, `(x+x+)+y`, `(.*)*=.*`, `\w+@`} {
		p := compile(t, pattern, "")
		short, long := workOf(t, p, 10_000), workOf(t, p, 20_000)
		require.Positive(t, short)
		require.LessOrEqual(t, long, 3*short, "%s takes %d and then %d", pattern, short, long)
	}
}

func workOf(t *testing.T, p *pcre.Pattern, length int) int {
	t.Helper()
	charge, done := spend(1 << 40)
	_, err := p.Match(strings.Repeat("a", length)+"!", charge)
	require.NoError(t, err)
	return *done
}

// TestMatch_NothingIsLeft matches patterns that look at the whole text before
// they are charged for it, after the budget is spent: a filter may have many of them.
func TestMatch_NothingIsLeft(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a", 1<<16)
	for _, pattern := range []string{`a*b$`, `(?=a*)b`, `b`, `[bc]`, `^a*b`, `(a?){50}b`} {
		p := compile(t, pattern, "")
		for name, match := range map[string]func(charge pcre.Charge) error{
			"Match": func(charge pcre.Charge) error { _, err := p.Match(text, charge); return err },
			"Find":  func(charge pcre.Charge) error { _, err := p.Find(text, 1, charge); return err },
		} {
			charge, done := spend(0)
			require.ErrorIs(t, match(charge), errSpent, name+" "+pattern)
			require.Less(t, *done, 500, name+" "+pattern)
		}
	}
}

func TestMatch_ChargesShortText(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{`b`, `^b`, `(a?)(a?)b`, `(?=b)b`} {
		p := compile(t, pattern, "")
		charge, done := spend(1 << 40)
		for range 3 {
			before := *done
			_, err := p.Match("", charge)
			require.NoError(t, err)
			require.GreaterOrEqual(t, *done-before, 50, pattern)
		}
	}
}

// TestMatch_ForgetsTextBefore matches texts one after the other, of which some end in
// the midst of what they caught.
func TestMatch_ForgetsTextBefore(t *testing.T) {
	t.Parallel()
	p := compile(t, `(x)?(?:(a)|b(?2)(?!y))+\z`, "")
	tight, _ := spend(100)
	for range 3 {
		found, err := p.Find("xa", 0, free)
		require.NoError(t, err)
		require.Equal(t, []int{0, 2, 0, 1, 1, 2}, found)
		_, err = p.Find("x"+strings.Repeat("ba", 10_000), 0, tight)
		require.ErrorIs(t, err, errSpent)
		found, err = p.Find("a", 0, free)
		require.NoError(t, err)
		require.Equal(t, []int{0, 1, -1, -1, 0, 1}, found)
	}
}

func TestMatch_ChargesLargePattern(t *testing.T) {
	t.Parallel()
	charge, _ := spend(2 << 30)
	_, err := compile(t, `(?:a?b?){900}(?:c|d)`, "").Match(strings.Repeat("ab", 1<<19), charge)
	require.ErrorIs(t, err, errSpent)
}

func TestMatch_UsualPatternsAreCheap(t *testing.T) {
	t.Parallel()
	prose := strings.Repeat("The quick brown fox jumps over the lazy dog, and mails bob.\n", 1000)
	for pattern, options := range map[string]string{
		`hullo`: "", `^The`: "", `hullo|world`: "i", `john(?=son)`: "i", `\d{4}-\d\d`: "", `z[aeiou]p`: "i", `\p{Lu}{3}`: "",
	} {
		charge, done := spend(1 << 40)
		matched, err := compile(t, pattern+`(?!\d\d\d)`, options).Match(prose, charge)
		require.NoError(t, err)
		require.Equal(t, strings.HasPrefix(pattern, "^"), matched, pattern)
		require.Less(t, *done, 16*len(prose), pattern)
	}
}

// TestMatch_LongTextIsCheap has a text without ends of lines, in
// which the pattern could begin often.
func TestMatch_LongTextIsCheap(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("Lorem ipsum dolor sit amet, consetetur sadipscing elitr, sed diam nonumy ", 500)
	for _, pattern := range []string{
		`lorem.*dolor ipsum`, `lorem.*sed.*ipsum sit`, `lorem.*ipsum dolor \d+`, `(?<=a)(lorem).*(?:dolor ipsum)+`, `lorem.*dolor ipsum(?!x)`,
	} {
		for _, text := range []string{text, "dolor ipsum sed ipsum sit ipsum dolor 12 " + text} {
			charge, done := spend(1 << 40)
			matched, err := compile(t, pattern, "i").Match(text, charge)
			require.NoError(t, err)
			require.False(t, matched, pattern)
			require.Less(t, *done, 40*len(text), pattern)
		}
	}
}

func TestMatch_ChargesCalledGroups(t *testing.T) {
	t.Parallel()
	charge, done := spend(1 << 40)
	_, err := compile(t, `(?R)?a(?!a)(?:b|c)`, "").Match(strings.Repeat("a", 20), charge)
	require.ErrorIs(t, err, boterr.ResourceExhausted)
	require.Greater(t, *done, 32<<20, "its calls save two million registers")
}

func TestMatch_RefusesToFillMemory(t *testing.T) {
	t.Parallel()
	for pattern, text := range map[string]string{
		`(?:a|b)*(?=c)(?:d|e)`:        strings.Repeat("ab", 1<<20),
		`(a(?1)?)(?:b|c)(?!c)`:        strings.Repeat("a", 1<<20),
		`((?1))`:                      "a",
		`(?:(x)|(?1)*a)*(?=b)(?:c|d)`: strings.Repeat("a", 1<<20),
	} {
		_, err := compile(t, pattern, "").Match(text, free)
		require.ErrorIs(t, err, boterr.ResourceExhausted, pattern)
	}
}

func TestCompile_TooMuch(t *testing.T) {
	t.Parallel()
	nested := strings.Repeat("(", 200) + strings.Repeat("a|b", 200) + strings.Repeat(")", 200)
	for name, pattern := range map[string]string{
		"classes":       strings.Repeat(`\p{L}`, 6000),
		"cased classes": "(?i)" + strings.Repeat(`[\x01-\x{10fffe}]`, 1800),
		"called groups": calledGroups(nested),
	} {
		_, err := pcre.Compile(pattern, "")
		require.ErrorIs(t, err, boterr.InvalidArgument, name)
	}
}

// calledGroups calls each of 200 groups that stand in one another.
func calledGroups(nested string) string {
	var b strings.Builder
	b.WriteString(nested)
	for i := range 200 {
		b.WriteString("(?" + string(rune('0'+(i+1)/100)) + string(rune('0'+(i+1)/10%10)) + string(rune('0'+(i+1)%10)) + ")")
	}
	return b.String()
}
