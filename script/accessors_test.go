package script_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/script"
)

func TestThis_HasGettersOfScripts(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	for source, want := range map[string]string{
		"Object.defineProperty(this, 'greeting', { get() { return 'Hi ' + this.member.firstName } }); return [this.greeting, 'greeting' in this]": `["Hi Ada",true]`,
		"let n = 1; Object.defineProperties(this, { a: { get: () => n, set(x) { n = x * 2 } }, b: { value: 4, enumerable: true } })\n" +
			"this.a = 5; return [this.a, this.b, Object.keys(this).includes('a'), delete this.a, this.a]": `[10,4,false,false,10]`,
		"Object.defineProperty(this, 'c', { value: 1 }); this.c++; return this.c":                                          `1`,
		"'use strict'; Object.defineProperty(this, 'd', { get: () => 1 }); try { this.d = 2 } catch (e) { return e.name }": `"TypeError"`,
		"const o = {}; Object.defineProperty(o, 'x', { get: () => 3 }); return o.x":                                        `3`,
	} {
		require.JSONEq(t, want, s.returns(source), source)
	}
}

// A text that was cut in the middle of a character is stored as Node.js writes it.
func TestLanguage_HalfOfACharacter(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	require.Equal(t, "\"a\ufffd\"", s.returns("return 'a😀'.slice(0, 2)"))
	require.JSONEq(t, `["\\ud83d",1]`, s.returns("return [JSON.stringify('😀'[0]).slice(1, 7), '😀'[0].length]"))
}
