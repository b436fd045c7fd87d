package script_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/script"
)

// language are scripts that use what the language got from 2015 on, and what they return.
var language = map[string]string{
	"const [a, , b = 2, ...c] = [1, 0, undefined, 3, 4]; return [a, b, c]":                                                                                    `[1,2,[3,4]]`,
	"const {a, b: {c = 3} = {}, ...d} = {a: 1, e: 5}; return [a, c, d]":                                                                                       `[1,3,{"e":5}]`,
	"const f = (...x) => Math.max(...x, ...[7]); return f(1, 2)":                                                                                              `7`,
	"return [...'aö😀', ...new Set([1, 1]), ...new Map([[1, 2]])]":                                                                                             `["a","ö","😀",1,[1,2]]`,
	"let a; a ??= 1; a ||= 2; a &&= 3; return [a, a?.b?.c ?? 'none', this.nothing?.()]":                                                                       `[3,"none",null]`,
	"class A { #x = 1; static n = 2; get x() { return this.#x } static #p() { return 3 } static q() { return A.#p() } } return [new A().x, A.n, A.q()]":       `[1,2,3]`,
	"function* g() { yield* [1, 2]; return 3 } return [...g()]":                                                                                               `[1,2]`,
	"async function* g() { yield 1; yield 2 } const a = []; for await (const x of g()) a.push(x); return a":                                                   `[1,2]`,
	"const a = []; for await (const x of [Promise.resolve(1), 2]) a.push(x); return a":                                                                        `[1,2]`,
	"return [2 ** 10, (-2) ** 3, 1 << 4, (2n ** 70n).toString(), String(1n << 70n), 1_000]":                                                                   `[1024,-8,16,"1180591620717411303424","1180591620717411303424",1000]`,
	"let a = 3; a **= 2; let b = {c: 1}; b.c <<= 5; return [a, b.c]":                                                                                          `[9,32]`,
	"return '2026-11-22'.match(/(?<y>\\d+)-(?<m>\\d+)/u).groups.y + '1234567'.replace(/\\B(?=(\\d{3})+(?!\\d))/g, ',')":                                       `"20261,234,567"`,
	"return ['aXbX'.replaceAll('X', '-'), 'abc'.at(-1), [3, 1].toSorted(), [1, [2, [3]]].flat(Infinity), 'é'.normalize('NFD').length]":                        `["a-b-","c",[1,3],[1,2,3],2]`,
	"label: for (const i of [1, 2]) { for (;;) { if (i === 1) continue label; break label } } return 'end'":                                                   `"end"`,
	"try { null.x } catch { return 'caught' } finally { this.x = 1 }":                                                                                         `"caught"`,
	"const tag = (s, ...v) => s.raw.join('|') + v; return tag`a${1}\\n${2}`":                                                                                  `"a|\\n|1,2"`,
	"return Object.fromEntries(Object.entries({a: 1}).map(([k, v]) => [k + 'b', v]))":                                                                         `{"ab":1}`,
	"return (await Promise.allSettled([1, Promise.reject(new Error('x'))])).map((r) => r.status)":                                                             `["fulfilled","rejected"]`,
	"var s = Symbol('x'); var o = {[s]: 1, get y() { return 2 }, 'z': 3, async m() { return 4 }}; return [o[s], {y: o.y, z: o.z}, await o.m()]":               `[1,{"y":2,"z":3},4]`,
	"x = 5; return [typeof x, new Date(0).toISOString(), JSON.stringify({a: [1, {b: 2}], c: undefined}, null, 1), JSON.stringify({a: 1, b: 2}, ['b'])]":       `["number","1970-01-01T00:00:00.000Z","{\n \"a\": [\n  1,\n  {\n   \"b\": 2\n  }\n ]\n}","{\"b\":2}"]`,
	"return [structuredClone({a: [1]}), btoa('hi'), atob('aGk='), new URL('https://a.example/b?c=d').searchParams.get('c'), encodeURIComponent('ä')]":         `[{"a":[1]},"aGk=","hi","d","%C3%A4"]`,
	"return [Array.from({length: 2}, (_, i) => i), Array.from('ab'), new Uint8Array([1, 256]).length, [].concat([1], [[2]]), Array.isArray([])]":              `[[0,1],["a","b"],2,[1,[2]],true]`,
	"class B extends Array {} class C extends Map {} const m = new C([[1, 2]]); return [new B(1, 2).length, m instanceof Map, m.get(1), m.constructor === C]": `[2,true,2,true]`,
	"return [/a/ instanceof RegExp, new RegExp('a', 'gi').flags, 'aAb'.replace(/a/gi, (m) => m + m), 'a-b'.split(/-/), [...'a1b2'.matchAll(/\\d/g)].length]":  `[true,"gi","aaAAb",["a","b"],2]`,
}

func TestLanguage_OfTheseYears(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	for source, want := range language {
		program, err := s.engine.Compile("test.js", source)
		require.NoError(t, err, source)
		_, err = program.Run(t.Context(), s.ada.Context())
		require.NoError(t, err, source)
		require.JSONEq(t, want, s.returns(source), source)
	}
}
