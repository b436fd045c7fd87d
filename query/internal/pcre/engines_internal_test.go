package pcre

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/rounds"
)

// TestMatch_EnginesAgree writes patterns at random from what RE2 has, too.
func TestMatch_EnginesAgree(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	free := func(int) error { return nil }
	compared := 0
	tries := rounds.Of(t, 1000, 3000)
	for range tries {
		pattern := randomPattern(random, 2)
		p, err := Compile(pattern, []string{"", "i", "m", "s"}[random.IntN(4)])
		require.NoError(t, err, pattern)
		require.NotNil(t, p.linear, pattern)
		text := randomText(random)
		if !p.isLinear(text) {
			continue
		}
		compared++
		m := newMachine(p.program, text, free)
		matched, err := m.find(0)
		require.NoError(t, err)
		require.Equal(t, matched, p.linear.MatchString(text), "%s on %q", pattern, text)
		if found := p.linear.FindStringSubmatchIndex(text); matched && !p.emptyLoops {
			require.Equal(t, p.groupsOf(m), found, "%s on %q", pattern, text)
		}
	}
	require.Greater(t, compared, tries*2/3)
}

// pick returns one of the words of a text.
func pick(random *rand.Rand, words string) string {
	list := strings.Fields(words)
	return list[random.IntN(len(list))]
}

// randomPattern writes a pattern with groups in one another up to a depth.
func randomPattern(random *rand.Rand, depth int) string {
	var b strings.Builder
	for range 1 + random.IntN(3) {
		if depth == 0 || random.IntN(3) > 0 {
			b.WriteString(pick(random, `a b ab é \w \D [ab] [^a] . \s \b(?:) ^(?:) $(?:) \p{L} [[:upper:]]`))
		} else {
			b.WriteString(pick(random, "( (?: (?i: (?s:") + randomPattern(random, depth-1) + "|" + randomPattern(random, depth-1) + ")")
		}
		if random.IntN(2) == 0 {
			b.WriteString(pick(random, `* + ? *? +? ?? {2} {0,2} {1,}`))
		}
	}
	return b.String()
}

func randomText(random *rand.Rand) string {
	var b strings.Builder
	for range random.IntN(8) {
		b.WriteString(pick(random, `a b A é É 1 _ ab`))
	}
	return b.String()
}
