package textdiff_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/textdiff"
)

func TestUnified(t *testing.T) {
	t.Parallel()
	numbers := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n"
	for _, c := range []struct{ first, second, want string }{
		{"a\n", "a\n", ""},
		{"", "a\n", "@@ -0,0 +1,1 @@\n+a\n"},
		{"a\n", "", "@@ -1,1 +0,0 @@\n-a\n"},
		{"a", "a\n", "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		{"a\nb\nc\n", "a\nx\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"},
		{"a\nb\nc\n", "b\nc\nd\n", "@@ -1,3 +1,3 @@\n-a\n b\n c\n+d\n"},
		{
			numbers, strings.Replace(strings.Replace(numbers, "1\n2\n", "1\n", 1), "12\n", "12\n13\n", 1),
			"@@ -1,5 +1,4 @@\n 1\n-2\n 3\n 4\n 5\n@@ -10,3 +9,4 @@\n 10\n 11\n 12\n+13\n",
		},
	} {
		require.Equal(t, c.want, textdiff.Unified(c.first, c.second), "%q and %q", c.first, c.second)
	}
}

// Lines marked ' ' and '-' are the first text, lines marked ' ' and '+' the second.
func TestUnified_HasBothTexts(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		first, second := someLines(random), someLines(random)
		var a, b strings.Builder
		for line := range strings.Lines(textdiff.Unified(first, second)) {
			switch line[0] {
			case '-':
				a.WriteString(line[1:])
			case '+':
				b.WriteString(line[1:])
			case ' ':
				a.WriteString(line[1:])
				b.WriteString(line[1:])
			}
		}
		if first != second {
			require.Equal(t, first, a.String())
			require.Equal(t, second, b.String())
		}
	}
}

// someLines returns at most three lines, so few that a diff shows all of them.
func someLines(random *rand.Rand) string {
	var text strings.Builder
	for range random.IntN(4) {
		text.WriteString(string("abc"[random.IntN(3)]) + "\n")
	}
	return text.String()
}

func TestUnified_TooMuchToCompare(t *testing.T) {
	t.Parallel()
	first := "same\n" + strings.Repeat("a\n", 3000) + "same\n"
	second := "same\n" + strings.Repeat("b\n", 3000) + "same\n"
	diff := textdiff.Unified(first, second)
	require.True(t, strings.HasPrefix(diff, "@@ -1,3002 +1,3002 @@\n same\n-a\n"), diff[:60])
	require.Equal(t, 3000, strings.Count(diff, "\n+b"))
}
