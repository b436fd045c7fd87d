package script_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/script"
)

// hostile are scripts that ask for more than they may have, by what they try.
var hostile = map[string]string{
	"endless loop":                      "\nlet i = 0; for (;;) i++",
	"endless loop of natives":           "\nfor (;;) [1].map((x) => x)",
	"endless microtasks":                "\nconst f = () => Promise.resolve().then(f); await f()",
	"endless timers":                    "\nconst f = () => setTimeout(f, 0); f(); await new Promise(() => {})",
	"recursion":                         "\nfunction f() { return f() + 1 }; f()",
	"recursion by getter":               "\nconst o = { get x() { return this.x } }; o.x",
	"recursion by Proxy":                "\nconst p = new Proxy({}, { get(t, k) { return p[k] } }); p.x",
	"recursion by toString":             "\nconst o = { toString() { return '' + o } }; '' + o",
	"never settled":                     "\nawait new Promise(() => {})",
	"100,000 pending calls":             "\nawait Promise.all(Array.from({ length: 100000 }, () => this.getMember({ memberId: 'x' })))",
	"100,000 timers":                    "\nfor (let i = 0; i < 100000; i++) setTimeout(() => {}, 1000000)",
	"doubled text":                      "\nlet s = 'x'; for (;;) s += s",
	"doubled list":                      "\nlet a = [1]; for (;;) a = [...a, ...a]",
	"doubled list by concat":            "\nlet a = [1]; for (;;) a = a.concat(a)",
	"growing list":                      "\nconst a = []; for (;;) a.push({})",
	"growing list of texts":             "\nconst a = []; for (let i = 0;; i++) a.push('x'.repeat(1000) + i)",
	"growing object":                    "\nconst o = {}; for (let i = 0;; i++) o['k' + i] = [i]",
	"growing map":                       "\nconst m = new Map(); for (let i = 0;; i++) m.set(i, {})",
	"growing closures":                  "\nlet f = () => 1; for (;;) { const g = f; f = () => g() + 1 }",
	"repeat":                            "\n'x'.repeat(1e9)",
	"repeat that overflows":             "\n'ab'.repeat(2 ** 62)",
	"repeat by another name":            "\n'x'['rep' + 'eat'](1e9)",
	"repeat by Reflect":                 "\nReflect.get(Object(''), 'repeat').call('x', 1e9)",
	"padStart":                          "\n'x'.padStart(1e9)",
	"join":                              "\nnew Array(1e9).join('xx')",
	"join of large texts":               "\nconst s = 'x'.repeat(1e6); new Array(1000).fill(s).join()",
	"implicit join":                     "\nconst s = 'x'.repeat(1e6); '' + new Array(1000).fill(s)",
	"join of lists of lists":            "\nlet a = ['x'.repeat(1000)]; for (let i = 0; i < 40; i++) a = [a, a]; `${a}`",
	"fill":                              "\nnew Array(1e9).fill(0)",
	"spread of a long list":             "\nconst a = []; a.length = 4e9; [...a]",
	"rest of a long list":               "\nconst a = []; a.length = 4e9; const [b, ...c] = a",
	"endless iterator":                  "\n[...{ [Symbol.iterator]: () => ({ next: Object }) }]",
	"endless set":                       "\nnew Set({ [Symbol.iterator]: () => ({ next: Object }) })",
	"endless Array.from":                "\nArray.from({ [Symbol.iterator]: () => ({ next: Object }) })",
	"Array.from length":                 "\nArray.from({ length: 1e9 })",
	"indexOf what is endless":           "\n[].indexOf.call({ length: 2 ** 53 - 1 }, 1)",
	"computed length":                   "\nlet n = 0; [].indexOf.call({ get length() { return n++ ? 2 ** 53 - 1 : 1 } }, 1)",
	"length of a Proxy":                 "\n[].indexOf.call(new Proxy({ length: 2 ** 53 - 1 }, {}), 1)",
	"sort":                              "\nconst a = []; a.length = 4e9; a.sort()",
	"apply":                             "\nMath.max.apply(null, { length: 1e9 })",
	"flat of itself":                    "\nconst a = []; a.push(a); a.flat(Infinity)",
	"flat":                              "\nlet a = [1]; for (let i = 0; i < 40; i++) a = [a, a]; a.flat(Infinity)",
	"replaceAll":                        "\n'x'.repeat(1e6).replaceAll('x', 'y'.repeat(1e6))",
	"replace by what is left":           "\n'x'.repeat(1e6).replace(/x/g, \"$'\")",
	"JSON of what is shared":            "\nlet o = 1; for (let i = 0; i < 60; i++) o = [o, o]; JSON.stringify(o)",
	"JSON of what is deep":              "\nlet o = {}; for (let i = 0; i < 100000; i++) o = { o }; JSON.stringify(o)",
	"JSON without an end":               "\nJSON.stringify(1, () => ({ a: 1 }))",
	"deep JSON":                         "\nJSON.parse('['.repeat(1e6))",
	"typed array":                       "\nnew Uint8Array(4e9)",
	"typed array by its own":            "\nnew (new Uint8Array(1).constructor)(4e9)",
	"array buffer":                      "\nnew ArrayBuffer(1e10)",
	"BigInt shift":                      "\n1n << 100000000000n",
	"BigInt shift of a field":           "\nconst o = { x: 1n }; o.x <<= 100000000000n",
	"BigInt power":                      "\n3n ** 10000000000n",
	"BigInt.asUintN":                    "\nBigInt.asUintN(2 ** 52, -1n)",
	"ReDoS by look-ahead":               "\n/^(?=(a+)+$)(a+)+$/.test('a'.repeat(50) + '!')",
	"ReDoS by back-reference":           "\n/^(a+)+\\1$/.exec('a'.repeat(50) + '!')",
	"ReDoS of a later match":            "\nconst r = /(a+)+b/g; r.lastIndex = 1; r.exec('a'.repeat(50))",
	"long pattern":                      "\nnew RegExp('('.repeat(1e6))",
	"long pattern of a text":            "\n'x'.match('('.repeat(1e6))",
	"constructor.constructor":           "\nthis.constructor.constructor('return process')()",
	"async constructor":                 "\n(async () => {}).constructor('return 1')()",
	"generator constructor":             "\n(function* () {}).constructor('for (;;) {}')",
	"eval":                              "\neval('1')",
	"Function":                          "\nnew Function('return 1')",
	"host's process":                    "\nprocess.exit(1)",
	"host's files":                      "\nrequire('fs').readFileSync('/etc/passwd')",
	"import":                            "\nawait import('fs')",
	"large argument":                    "\nawait this.patchMembers({ patch: { meta: 'x'.repeat(4e6).split('') } })",
	"text of many texts":                "\nconst s = 'x'.repeat(4e6); return `" + strings.Repeat("${s}", 1000) + "`",
	"join of what is no list":           "\nArray.prototype.join.call({ length: 1e6 }, 'x'.repeat(1e5))",
	"join of numbers":                   "\nnew Uint8Array(4e6).join('x'.repeat(1e5))",
	"keys of a text":                    "\nlet s = 'x'.repeat(4e6); Object.keys(s)",
	"keys of a text's object":           "\nlet s = 'x'.repeat(4e6); Object.values(Object(s))",
	"assign of a text":                  "\nlet s = 'x'.repeat(4e6); Object.assign({}, s)",
	"spread of a text":                  "\nlet s = 'x'.repeat(4e6); return { ...s }",
	"rest of a text":                    "\nlet s = 'x'.repeat(4e6); const { length, ...rest } = s",
	"replace by a symbol":               "\n/x/g[Symbol.replace]('x'.repeat(1e6), '$`')",
	"replace by a symbol's name":        "\n/x/g[Symbol['repl' + 'ace']]('x'.repeat(1e6), '$`')",
	"replace by Reflect":                "\nReflect.get(/x/g, Symbol.replace).call(/x/g, 'x'.repeat(1e6), '$`')",
	"replace by super":                  "\nclass A extends RegExp { m(s) { return super[Symbol.replace](s, '$`') } } new A('x', 'g').m('x'.repeat(1e6))",
	"pattern that reads on":             "\n'<'.repeat(3e5).replace(/<[^>]*>|</g, 'x')",
	"pattern that reads on, in a match": "\n'<'.repeat(3e5).match(/<[^>]*>|</g)",
	"pattern that reads on, in a split": "\n'<'.repeat(3e5).split(/<[^>]*>|</)",
	"pattern that reads on from a word": "\n'< '.repeat(1e5).replace(/\\B<[^>]*>|\\B</g, 'x')",
	"pattern that reads back and forth": "\n'<'.repeat(3e5).replace(/<[^>]*>(?=x)|</g, 'x')",
	"pattern that reads letters":        "\n'\u00fc'.repeat(3e5).replace(/\u00fc[^>]*>|\u00fc/g, 'x')",
	"pattern that reads letters, by u":  "\n'\u00fc'.repeat(3e5).replace(/\u00fc[^>]*>|\u00fc/gu, 'x')",
	"pattern that says it is another":   "\nconst p = /<[^>]*>|</g; Object.defineProperty(p, 'source', { value: 'x' }); '<'.repeat(3e5).match(p)",
	"pattern of another prototype":      "\nconst p = /</g; Object.setPrototypeOf(p, RegExp.prototype); '<'.repeat(1e6).match(p)",
	"pattern of which a field is gone":  "\nconst p = /</g; delete p.x; '<'.repeat(1e6).replace(p, 'x')",
	"pattern of changed methods":        "\nconst { exec } = RegExp.prototype; RegExp.prototype.exec = exec; '<'.repeat(1e6).match(/</g)",
	"pattern of a class":                "\nclass A extends RegExp {} '<'.repeat(3e5).match(new A('<', 'g'))",
	"pattern by a symbol that reads on": "\n/<[^>]*>|</g[Symbol.match]('<'.repeat(3e5))",
	"pattern of many parts":             "\n/(?:x{0,9}y?){100}z/.test('x'.repeat(1e6))",
	"replace what finds all else":       "\nObject.defineProperty(RegExp.prototype, Symbol.match, { value: () => [] }); 'x'.repeat(1e6).replace(/x/g, '$`')",
	"replace of no pattern":             "\nconst o = Object.create(RegExp.prototype, { flags: { value: 'g' } }); 'x'.repeat(1e6).replace(o, '$`')",
	"replace by a text's object":        "\n'x'.repeat(1e6).replace(/x/g, Object('$`'))",
	"replace in a text's object":        "\nnew String('x'.repeat(1e6)).replace(/x/g, '$`')",
	"replaceAll of an object":           "\n'x'.repeat(1e6).replaceAll({ toString: () => 'x' }, '$`')",
	"split by a symbol":                 "\n/(?:)/[Symbol.split]('x'.repeat(4e6))",
	"match of a doubled text":           "\nlet s = 'x'.repeat(4e6); s += s; /x/g[Symbol.match](s)",
	"matchAll of a doubled text":        "\nlet s = 'x'.repeat(4e6); s += s; /x/g[Symbol.matchAll](s)",
	"search of a doubled text":          "\nlet s = 'x'.repeat(4e6); s += s; /y/[Symbol.search](s)",
	"test of a text's object":           "\nlet s = 'x'.repeat(4e6); s += s; /y/.test(Object(s))",
	"rest of a parameter":               "\nlet s = 'x'.repeat(4e6); (({ length, ...rest }) => rest)(s)",
	"rest of a default":                 "\nlet s = 'x'.repeat(4e6); (function ({ ...rest } = {}) { return rest })(s)",
	"rest within a pattern":             "\nlet s = 'x'.repeat(4e6); const { a: { ...rest } = {} } = { a: s }",
	"rest in an assignment":             "\nlet s = 'x'.repeat(4e6), rest; [{ ...rest }] = [s]",
	"rest in a loop":                    "\nlet s = 'x'.repeat(4e6); for (const { ...rest } of [s]);",
	"rest in a catch":                   "\nlet s = 'x'.repeat(4e6); try { throw s } catch ({ ...rest }) {}",
	"rest of a list in a parameter":     "\nconst a = []; a.length = 4e9; (([b, ...c]) => c)(a)",
	"rest of a list in a pattern":       "\nconst a = []; a.length = 4e9; const [[b, ...c] = []] = [a]",
	"rest of a list in a loop":          "\nconst a = []; a.length = 4e9; for (const [b, ...c] of [a]);",
	"endless rest of a parameter":       "\n(([a, ...b]) => b)({ [Symbol.iterator]: () => ({ next: Object }) })",
	"loop of nothing":                   "\nfor (;;) {}",
	"loop of jumps":                     "\nx: for (;;) { continue x }",
	"while of nothing":                  "\nwhile (true);",
	"do of nothing":                     "\ndo {} while (1)",
	"loop of awaits":                    "\nfor (;;) await null",
	"rejects with a text":               "\nreturn Promise.reject('no')",
	"rejects with an object":            "\nreturn Promise.reject({})",
	"rejects in a Promise":              "\nreturn new Promise((_, no) => no('no'))",
	"throws a text":                     "\nthrow 'no'",
	"throws nothing":                    "\nthrow undefined",
	"throws an object":                  "\nthrow { code: 1 }",
	"throws what throws":                "\nconst e = { toString() { throw e } }; throw e",
	"stack that throws":                 "\nconst e = { get stack() { throw e } }; throw e",
	"message that throws":               "\nconst e = new Error(''); Object.defineProperty(e, 'message', { get() { throw e } }); throw e",
	"stack without an end":              "\nthrow { get stack() { for (;;); } }",
	"text without an end":               "\nthrow { toString() { for (;;); } }",
	"catches its end":                   "\nfor (;;) { try { f() } catch (e) { f() } finally { f() } } function f() { for (let i = 0;; i++) i-- }",
}

// hostileResults are scripts that give back more than they may, by what they try.
var hostileResults = map[string]string{
	"large result":              "\nreturn new Array(1e6).fill('xxxxxxxx')",
	"result that holds itself":  "\nconst o = {}; o.o = o; return o",
	"large member":              "\nthis.member.meta.x = new Array(1e6).fill('xxxxxxxx')",
	"many brackets":             strings.Repeat("(", 100000),
	"many signs":                "return " + strings.Repeat("!", 200000) + "1",
	"many signs with spaces":    "return " + strings.Repeat("- ", 2000) + "1",
	"long chain":                "return this" + strings.Repeat("?.a", 80000),
	"long sum":                  "return 1" + strings.Repeat("+1", 100000),
	"long source":               strings.Repeat("x;", 200000),
	"functions in functions":    strings.Repeat("a=>", 60000) + "1",
	"functions line by line":    strings.Repeat("a => a\n?", 300) + "a:a",
	"functions in brackets":     strings.Repeat("f(async (a, b) => ", 300) + strings.Repeat(")", 300),
	"long list in other words":  "for await (const x of y) {}\nreturn 1" + strings.Repeat(",1", 100000),
	"long chain of awaits":      strings.Repeat("await ", 40000) + "1",
	"long chain in other words": "for await (const x of y) {}\nreturn a" + strings.Repeat(".a", 100000),
}

func TestHostile_ResultsAreRefused(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	for name, source := range hostileResults {
		program, err := s.engine.Compile("hostile.js", source)
		if err == nil {
			_, err = program.Run(t.Context(), s.ada.Context())
		}
		require.ErrorContains(t, err, "hostile.js", name)
		require.Contains(t, []boterr.Code{boterr.InvalidArgument, boterr.ResourceExhausted}, boterr.CodeOf(err), "%v", err)
	}
}

// None is left behind, however slow the machine is: one step of some takes most of a second on a fast one, and
// who is left behind in a step of pure language has no line. On a machine that stands still a script may have used up
// its time before its first line: then it gets more.
//
//nolint:paralleltest,tparallel // Each has the memory to itself.
func TestHostile_EndsWithItsLine(t *testing.T) {
	t.Parallel()
	short, long := newHostileStage(t, 60*time.Millisecond), newHostileStage(t, 2*time.Second)
	for name, source := range hostile {
		t.Run(name, func(t *testing.T) {
			failed := short.hostileError(t, source)
			if failed.Line == 1 && errors.Is(failed, boterr.ResourceExhausted) {
				failed = long.hostileError(t, source)
			}
			require.Equal(t, "hostile.js", failed.File, "%v", failed)
			require.Equal(t, 2, failed.Line, "%v", failed)
			t.Log(boterr.CodeOf(failed), failed)
		})
	}
}

// newHostileStage returns a stage for hostile scripts, which may compute for so long.
func newHostileStage(t *testing.T, busy time.Duration) *stage {
	t.Helper()
	s := newStage(t, script.Options{MaxBusy: busy, Deadline: 5 * time.Second, MaxMemory: 128 << 20, MaxCallDepth: 300})
	s.engine.SetGrace(time.Minute)
	return s
}

// hostileError returns the error of a script, which has one.
func (s *stage) hostileError(t *testing.T, source string) *script.Error {
	t.Helper()
	program, err := s.engine.Compile("hostile.js", source)
	if err == nil {
		_, err = program.Run(t.Context(), s.ada.Context())
	}
	require.Error(t, err)
	failed, ok := errors.AsType[*script.Error](err)
	require.True(t, ok, "%v", err)
	return failed
}

func TestHostile_WhatInterruptedItIsItsError(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{MaxBusy: 40 * time.Millisecond, MaxMemory: 1 << 40})
	for _, source := range []string{
		"\nJSON.stringify(1, () => ({ a: 1 }))",
		"\nfor (;;) { try { JSON.stringify([1]) } catch (e) {} }",
	} {
		_, err := s.compile(source).Run(t.Context(), s.ada.Context())
		require.ErrorIs(t, err, boterr.ResourceExhausted)
		require.ErrorContains(t, err, "test.js:2:")
	}
}

func TestCompile_WhatIsLongAndNotDeepIsRead(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	for _, source := range []string{
		"const a = [" + strings.Repeat("1,", 50000) + "]",
		"const a = [" + strings.Repeat("(a) => a,", 1000) + "]",
		strings.Repeat("this.member.meta.x = (a) => a + 1\n", 1000),
		strings.Repeat("if (this.x) this.y = () => [1, 2].map(a => a)\n", 1000),
		"const page = '" + strings.Repeat("<a href=\"x\">.</a>", 1000) + "'",
	} {
		_, err := s.engine.Compile("long.js", source)
		require.NoError(t, err)
	}
}
