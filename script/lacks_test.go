package script_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/script"
)

func TestLanguage_WhatTheEngineLacks(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	for source, want := range map[string]string{
		"const {promise, resolve} = Promise.withResolvers(); setTimeout(resolve, 5, 3); return await promise": `3`,
		"return [await Promise.try((a) => a + 1, 2), await Promise.try(() => { throw 1 }).catch((e) => e)]":   `[3,1]`,
		"return Object.groupBy([1, 2, 3], (x) => x % 2 ? 'odd' : 'even')":                                     `{"odd":[1,3],"even":[2]}`,
		"const m = Map.groupBy([1, 2, 3], (x) => x % 2); return [m.get(1), m.size]":                           `[[1,3],2]`,
		"return await Array.fromAsync([1, Promise.resolve(2)], async (x) => x * 2)":                           `[2,4]`,
		"return Array.fromAsync((async function* () { yield 1; yield 2 })())":                                 `[1,2]`,
		"return Array.fromAsync({ length: 2, 0: 'a', 1: 'b' })":                                               `["a","b"]`,
		"const o = { [Symbol.asyncIterator]() { let n = 0; return { async next() { return { value: n, done: n++ > 2 } } } } }\n" +
			"const a = []; for await (const x of o) a.push(x); return a": `[0,1,2]`,
		"const o = { async *[Symbol.asyncIterator]() { yield* [1, 2] } }; const a = []; for await (const x of o) a.push(x); return a": `[1,2]`,
		"let closed; const o = { [Symbol.asyncIterator]: () => ({ next: async () => ({ value: 1, done: false }), return() { closed = true; return {} } }) }\n" +
			"for await (const x of o) break; return closed": `true`,
		"return [1, 2, 3].values().map((x) => x * 2).filter((x) => x > 2).toArray()":                                                  `[4,6]`,
		"return new Map([['a', 1], ['b', 2]]).entries().flatMap(([k, v]) => [k, v]).take(3).toArray()":                                `["a",1,"b"]`,
		"return [...'a1b2'.matchAll(/\\d/g).map((m) => m[0])]":                                                                        `["1","2"]`,
		"function* g() { for (let i = 0; ; i++) yield i } return g().drop(2).take(2).reduce((a, b) => a + b)":                         `5`,
		"function* g() { yield 1; yield 2 } return [g().some((x) => x > 1), g().every((x) => x > 1), g().find((x) => x)]":             `[true,false,1]`,
		"let n = 0; new Set([1, 2]).keys().forEach((x) => { n += x }); return n":                                                      `3`,
		"return Iterator.from({ next() { return { done: this.n > 2, value: this.n++ } }, n: 1 }).toArray()":                           `[1,2]`,
		"let n = 0; function* g() { try { yield 1; yield 2 } finally { n++ } } g().take(1).toArray(); g().find(() => true); return n": `2`,
		"return Object.entries({ a: 1 }).map(([k, v]) => k + v)":                                                                      `["a1"]`,
	} {
		require.JSONEq(t, want, s.returns(source), source)
	}
}
