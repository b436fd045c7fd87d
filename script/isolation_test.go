package script_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/script"
)

func TestRun_SharesNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	s.returns("x = 1; var y = 2; globalThis.z = 3; Object.prototype.polluted = 4; Array.prototype.map = () => 5\n" +
		"({}).__proto__.constructor.prototype.toString = () => 6; JSON.parse = null; Promise.prototype.then = null")
	require.JSONEq(t, `["undefined","undefined","undefined",[2],"[object Object]",null,1]`, s.returns(
		"return [typeof x, typeof y, typeof z, [1].map((a) => a + 1), '' + {}, {}.polluted, await Promise.resolve(JSON.parse('1'))]"))
}

func TestRun_HasNothingOfTheHost(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	require.JSONEq(t, `["object","undefined","undefined","undefined","undefined","undefined","undefined"]`, s.returns(
		"return [typeof process, typeof Deno, typeof Bun, typeof Go, typeof XMLHttpRequest, typeof WebAssembly, typeof importScripts]"))
	require.JSONEq(t, `["agendaMeta","channel","group","member","messageEvent","node"]`, s.returns("return Object.keys(this).sort()"))
}
