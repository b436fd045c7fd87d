package pcre

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/rounds"
)

// boundIn returns where the last match may begin in a text.
func boundIn(p *Pattern, text string) int {
	m := newMachine(p.program, text, func(int) error { return nil })
	m.done = boundAfterLeast + boundAfter*len(text)
	m.bound()
	return m.last
}

// briefly returns a budget for what does not try too many ways.
func briefly() Charge {
	left := 1 << 16
	return func(work int) error {
		if left -= work; left < 0 {
			return errNoTrial
		}
		return nil
	}
}

func TestBound_NoMatchBehindIt(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	bounded := 0
	tries := rounds.Of(t, 1000, 3000)
	for range tries {
		pattern := randomPattern(random, 2)
		p, err := Compile(pattern, []string{"", "i", "m", "s"}[random.IntN(4)])
		require.NoError(t, err, pattern)
		text := randomText(random) + randomText(random)
		last := boundIn(p, text)
		if last < len(text) {
			bounded++
		}
		for from := range text {
			if found, err := p.Find(text, from, briefly()); err == nil && found != nil && from <= found[0] {
				require.LessOrEqual(t, found[0], last, "%s on %q", pattern, text)
			}
		}
	}
	require.Greater(t, bounded, tries/3)
}

func TestBound_AllPiecesFollow(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern, options, text string
		bound                  int
	}{
		{`lorem.*dolor ipsum`, "i", "Lorem Dolor", none},
		{`lorem.*dolor ipsum`, "i", "lorem DOLOR IPSUM lorem", 0},
		{`a+b`, "", "ab aab a", 4},
		{`a(?:xy){2,}b`, "", "axyb a axyxyb", 7},
		{`a(?=b).c`, "", "abc ab", 0},
		{`a(*ACCEPT)b`, "", "ab a", 4},
		{`a(?:(*ACCEPT)|x)b`, "", "ab a", 4},
		{`a(b)?c`, "", "abc a", 0},
		{`(?:a|b)c`, "", "ac bc b", 4},
		{`k.`, "i", "\u212a kx", 4},
		{`x?`, "", "abc", 3},
		{strings.Repeat("a", 100), "", strings.Repeat("a", 20), 4},
	} {
		p, err := Compile(test.pattern, test.options)
		require.NoError(t, err)
		require.Equal(t, test.bound, boundIn(p, test.text), "%s on %q", test.pattern, test.text)
	}
}
