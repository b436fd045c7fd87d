package script

import (
	"math/rand/v2"
	"testing"

	"github.com/dop251/goja"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/rounds"
)

// What is tried has to be what the engine does: as many matches, in any text.
func TestTrial_FindsWhatTheEngineFinds(t *testing.T) {
	t.Parallel()
	engine, err := New(Options{})
	require.NoError(t, err)
	program, err := engine.Compile("trial.js", "return 1")
	require.NoError(t, err)
	r := program.newRun()
	find, err := r.vm.RunString("(text, pattern) => { const found = text.match(pattern); return found ? found.length : 0 }")
	require.NoError(t, err)
	call, _ := goja.AssertFunction(find)
	random := rand.New(rand.NewPCG(1, 2))
	for _, source := range []string{
		"/a/g", "/a+|b/g", "/a*/g", "/(a|ab)(c|bcd)?/g", "/^a/g", "/^a/gm", "/a$/gm", "/\\bab?/g", "/\\B/g", "/\\s+/g", "/[^b]*b/g",
		"/<[^>]*>|</g", "/A/gi", "/a.b/gs", "/a.b/g", "/a(?=b)/g", "/(a)\\1/g", "/(?!a)./g", "/\u00fc+/g", "/\u00fc|./gu", "/$/g", "/x?$/gm",
	} {
		pattern, err := r.vm.RunString(source)
		require.NoError(t, err)
		p, isPattern := patternOf(pattern)
		require.True(t, isPattern && p.global && p.isStandard, source)
		for range rounds.Of(t, 30, 2000) {
			text := r.vm.ToValue(randomText(random)).(goja.String)
			want, err := call(goja.Undefined(), text, pattern)
			require.NoError(t, err)
			require.InDelta(t, want.ToFloat(), r.trying(p, text).count(), 0, "%s in %q", source, text)
		}
	}
}

// randomText returns a text of few different characters.
func randomText(random *rand.Rand) string {
	some := []rune("aab<> \nA")
	if random.IntN(2) == 0 {
		some = append(some, '\u00fc', '\U0001F600')
	}
	text := make([]rune, random.IntN(12))
	for i := range text {
		text[i] = some[random.IntN(len(some))]
	}
	return string(text)
}

func TestPatternOf_IsWhatTheEngineHas(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]pattern{
		"/a/":      {source: "a", isStandard: true},
		"/a/gimsu": {source: "a", isStandard: true, global: true, ignoreCase: true, multiline: true, dotAll: true, unicode: true},
		"const p = /a/g; Object.defineProperty(p, 'global', { value: false }); p": {source: "a", global: true},
		"class A extends RegExp {}; new A('a')":                                   {source: "a"},
		"RegExp.prototype.exec = () => null; /b/":                                 {source: "b"},
		"'a'": {source: "a"},
	} {
		value, err := goja.New().RunString(source)
		require.NoError(t, err)
		got, isPattern := patternOf(value)
		require.True(t, isPattern, source)
		require.Equal(t, want, got, source)
	}
	for _, source := range []string{"RegExp.prototype", "new Proxy(/a/, {})", "({})", "1", "Object.create(RegExp.prototype)"} {
		value, err := goja.New().RunString(source)
		require.NoError(t, err)
		_, isPattern := patternOf(value)
		require.False(t, isPattern, source)
	}
}
