package language_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/scripttest"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/script"
)

// checks are short scripts that return true, one or two for each feature that scripts use. They only check that the
// feature exists; test262 checks it thoroughly.
var checks = map[string]string{ //nolint:gochecknoglobals // It does not change.
	"async function":              `const f = async (x) => x + 1; return await f(1) === 2;`,
	"await in a loop":             `let n = 0; for (const p of [1, Promise.resolve(2)]) n += await p; return n === 3;`,
	"await of a rejection":        `try { await Promise.reject(new Error("no")); } catch (e) { return e.message === "no"; }`,
	"then, catch, finally":        `let s = ""; await Promise.reject(1).catch((x) => { s += x; }).finally(() => { s += "f"; }).then(() => { s += "t"; }); return s === "1ft";`,
	"Promise.all":                 `return (await Promise.all([1, Promise.resolve(2)])).join() === "1,2";`,
	"Promise.allSettled":          `return (await Promise.allSettled([Promise.reject(1)]))[0].status === "rejected";`,
	"Promise.race and any":        `return await Promise.race([1]) === 1 && await Promise.any([Promise.reject(), 2]) === 2;`,
	"for await":                   `let s = 0; for await (const x of [Promise.resolve(1), 2]) s += x; return s === 3;`,
	"async generator":             `async function* f() { yield 1; yield 2; } let s = 0; for await (const x of f()) s += x; return s === 3;`,
	"generator":                   `function* f() { const x = yield 1; yield x * 2; } const g = f(); g.next(); return g.next(4).value === 8;`,
	"arrow function keeps this":   `return [1].every(() => typeof this.member === "object");`,
	"var is of the function":      `if (true) { var x = 1; } return x === 1;`,
	"let in a loop":               `const f = []; for (let i = 0; i < 2; i++) f.push(() => i); return f[0]() === 0;`,
	"template literal":            "return `a${1 + 1}` === 'a2';",
	"tagged template":             "const t = (s, ...v) => s.raw.join('|') + v; return t`a${1}b` === 'a|b1';",
	"destructuring":               `const {a: {b = 2} = {}, ...r} = {c: 3}; const [x, , ...y] = [1, 2, 3]; return b === 2 && r.c === 3 && x === 1 && y[0] === 3;`,
	"default and rest parameters": `const f = (a, b = a * 2, ...c) => a + b + c.length; return f(1) === 3 && f(1, 1, 1) === 3;`,
	"spread":                      `return Math.max(...[1, 3], ...new Set([2])) === 3 && {...{a: 1}, a: 2}.a === 2;`,
	"object literal":              `const k = "x", o = {k, [k + 1]: 2, get g() { return 3; }, m() { return 4; }}; return o.k + o.x1 + o.g + o.m() === "x234";`,
	"optional chaining":           `const o = null; return o?.a.b === undefined && o?.[1] === undefined && o?.() === undefined;`,
	"??":                          `return (null ?? 1) === 1 && (0 ?? 1) === 0;`,
	"??=, ||=, &&=":               `let a, b = 0, c = 1; a ??= 1; b ||= 2; c &&= 3; return a === 1 && b === 2 && c === 3;`,
	"**":                          `let x = 2; x **= 3; return x === 8 && 2 ** 0.5 > 1.41;`,
	"catch without a name":        `try { throw 1; } catch { return true; }`,
	"number with underscores":     `return 1_000 === 1000 && 0b11 === 3 && 0o17 === 15;`,
	"BigInt":                      `return 2n ** 64n === 18446744073709551616n && BigInt("9007199254740993") % 10n === 3n;`,
	"class":                       `class A { constructor(x) { this.x = x; } static of(x) { return new this(x); } } class B extends A { get y() { return super.constructor.name + this.x; } } return B.of(1).x === 1;`,
	"class fields":                `class A { x = 1; static n = 2; #p = 3; get p() { return this.#p; } static { this.m = this.n + 1; } #q() { return 4; } q() { return this.#q(); } has(o) { return #p in o; } } const a = new A(); return a.x === 1 && A.m === 3 && a.p === 3 && a.q() === 4 && a.has(a);`,
	"named group":                 `return /(?<y>\d{4})-(?<m>\d\d)/.exec("2026-11").groups.m === "11" && "a1".replace(/(?<d>\d)/, "[$<d>]") === "a[1]";`,
	"look-behind and look-ahead":  `return "1234567".replace(/\B(?=(\d{3})+(?!\d))/g, ",") === "1,234,567" && /(?<=\$)\d+/.exec("a $42")[0] === "42";`,
	"flags s, y, u":               `return /a.b/s.test("a\nb") && /^.$/u.test("😀") && /b/y.test("ab") === false;`,
	"matchAll":                    `return [..."a1b2".matchAll(/[a-z](\d)/g)].map((m) => m[1]).join() === "1,2";`,
	"code points in strings":      `return "a\u{1F600}b".length === 4 && [..."a😀"].length === 2;`,
	"strings":                     `return "a".padStart(3, "-") === "--a" && " x ".trim() === "x" && "aXa".replaceAll("a", "b") === "bXb" && "abc".at(-1) === "c" && "ab".includes("b");`,
	"arrays":                      `return [1, [2, [3]]].flat(Infinity).length === 3 && [1, 2].includes(2) && [3, 1].at(-1) === 1 && Array.from({length: 2}, (_, i) => i).join() === "0,1";`,
	"findLast, toSorted, with":    `return [1, 2, 3].findLast((x) => x < 3) === 2 && [2, 1].toSorted().join() === "1,2" && [1, 2].with(0, 3).join() === "3,2";`,
	"objects":                     `return Object.entries({a: 1}).flat().join() === "a,1" && Object.fromEntries([["a", 1]]).a === 1 && Object.hasOwn({a: 1}, "a");`,
	"Map, Set, WeakMap":           `const m = new Map([["a", 1]]), w = new WeakMap(), k = {}; w.set(k, 2); return m.get("a") + w.get(k) + new Set([1, 1]).size === 4;`,
	"Symbol.iterator":             `const o = {*[Symbol.iterator]() { yield 1; yield 2; }}; return [...o].length === 2;`,
	"Proxy and Reflect":           `return new Proxy({}, {get: (_, k) => k}).abc === "abc" && Reflect.ownKeys({a: 1}).length === 1;`,
	"JSON":                        `return JSON.parse('{"a":[1,2]}', (k, v) => v).a[1] === 2 && JSON.stringify({d: new Date(0), u: undefined}) === '{"d":"1970-01-01T00:00:00.000Z"}';`,
	"Date":                        `return new Date(Date.UTC(2026, 0, 31)).toISOString().slice(0, 10) === "2026-01-31" && Date.parse("2026-01-01T00:00:00Z") === 1767225600000;`,
	"errors":                      `class E extends TypeError {} try { throw new E("x", {cause: 7}); } catch (e) { return e instanceof TypeError && e.cause === 7 && e.stack.includes("check.js"); }`,
	"labels and switch":           `let n = 0; a: for (;;) { switch (n++) { case 2: break a; default: continue a; } } return n === 3;`,
	"typeof, instanceof, in":      `return typeof undefinedName === "undefined" && [] instanceof Array && "a" in {a: 1};`,
	"getter and defineProperty":   `const o = {}; Object.defineProperty(o, "x", {get: () => 5}); return o.x === 5;`,
	"function of the old style":   `function A() { this.x = 1; } A.prototype.y = function () { return arguments.length; }; return new A().y(1, 2) === 2;`,
	"structuredClone":             `return structuredClone({a: 1}).a === 1;`,
	"properties of characters":    `return /^\p{Lu}\p{L}+$/u.test("Ärger") && !/[^\p{ASCII}]/v.test("a");`,
	"Promise.withResolvers":       `const {promise, resolve} = Promise.withResolvers(); resolve(3); return await promise === 3;`,
	"groupBy":                     `return Object.groupBy([1, 2], (x) => x % 2 ? "odd" : "even").odd[0] === 1;`,
	"Array.fromAsync":             `return (await Array.fromAsync([1, Promise.resolve(2)]))[1] === 2;`,
	"helpers of iterators":        `return [1, 2].values().map((x) => x * 2).toArray()[1] === 4;`,
	"for await over what is made": `for await (const x of {[Symbol.asyncIterator]: () => ({next: async () => ({done: false, value: 7})})}) return x === 7;`,
	"a hash-bang":                 "#!/usr/bin/env node\nreturn true;",
	"union of sets":               `return new Set([1]).union(new Set([2])).size === 2;`,
	"eval and new Function":       `return eval("1 + 1") === 2 && new Function("return 2")() === 2;`,
	"pictures in patterns":        `return /^\p{Emoji}$/u.test("😀") && !/\p{Extended_Pictographic}/u.test("a");`,
	"flags d, v":                  `return /b/d.exec("ab").indices[0][0] === 1 && !/[[a-z]--[b]]/v.test("b") && /[[a-z]--[b]]/v.test("a");`,
	"timers":                      `let s = ""; await new Promise((done) => setTimeout(done, 5)); return s === "";`,
}

// lacks are the unsupported features, by their text in the guide. Each script would return true if the feature were
// supported.
var lacks = map[string]string{ //nolint:gochecknoglobals // It does not change.
	"`Intl`":            `return new Intl.NumberFormat("de").format(1234.5) === "1.234,5";`,
	"`Temporal`":        `return typeof Temporal.Now === "object";`,
	"`Buffer`":          `return Buffer.from("a").length === 1;`,
	"`import()`":        `return typeof await import("./prices.js") === "object";`,
	"`require(\"fs\")`": `return typeof require("fs") === "object";`,
	"`Blob`":            `return new Blob(["a"]).size === 1;`,
	"`FormData`":        `return new FormData().has("a") === false;`,
}

func TestLanguage_SmallChecks(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	for name, source := range checks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			value, err := result(t, engine, source)
			require.NoError(t, err)
			require.Equal(t, true, value)
		})
	}
}

// If an unsupported feature starts to work, it must be removed from the guide.
func TestLanguage_Lacks(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	guide, err := os.ReadFile("../../../docs/guides/scripts.md")
	require.NoError(t, err)
	for name, source := range lacks {
		if value, err := result(t, engine, source); err == nil && document.Equal(value, true) {
			t.Errorf("%s works", name)
		}
		require.Contains(t, string(guide), name)
	}
}

// newEngine returns an engine whose time limits no test reaches.
func newEngine(t *testing.T) *script.Engine {
	t.Helper()
	engine, err := script.New(script.Options{CacheDir: scripttest.CacheDir(), MaxBusy: time.Hour, Deadline: time.Hour})
	require.NoError(t, err)
	return engine
}

func result(t *testing.T, engine *script.Engine, source string) (any, error) {
	t.Helper()
	program, err := engine.Compile("check.js", source)
	if err != nil {
		return nil, err
	}
	return program.Run(t.Context(), fakes.New(fakes.For(t)).AddMember(member.Member{}).Context())
}
