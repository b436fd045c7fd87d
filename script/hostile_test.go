package script_test

import (
	"context"
	"errors"
	"log/slog"
	"regexp"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/internal/scripttest"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/script"
	"github.com/botctx/go-sdk/script/internal/web"
)

// hostile is a script that tries to do harm. It starts on line 2 of its file.
type hostile struct {
	name, source string
	// want is a regular expression for its error, or for its result as JSON.
	want string
}

// Common values of hostile.want.
const (
	busy    = `^hostile\.js\S*: resource exhausted: .*Options\.MaxBusy$`
	memory  = `^hostile\.js\S*: resource exhausted: .*Options\.MaxMemory$`
	calls   = `^hostile\.js\S*: resource exhausted: .*Options\.MaxCalls$`
	size    = `^hostile\.js\S*: .*resource exhausted: .*Options\.MaxResultBytes$`
	tooDeep = `nested too deep`
	deep    = `function calls are nested too deep|Maximum call stack size exceeded`
)

func busyOr(other string) string   { return busy + "|" + other }
func returns(result string) string { return "^" + regexp.QuoteMeta(result) + "$" }

// isLimit reports whether want names one particular limit.
func (h hostile) isLimit() bool {
	return h.want == busy || h.want == memory || h.want == calls || h.want == size
}

var kinds = []struct {
	name    string
	scripts []hostile
	limits  script.Options
}{
	{"loop", endlessLoops, quickly},
	{"depth", deepCalls, deeply},
	{"growth", growing, sparingly},
	{"built-in", heavy, quickly},
	{"source", longSources, patiently},
	{"border", atTheBorder, narrowly},
	{"overwritten", overwritten, narrowly},
	{"escape", escapes, narrowly},
	{"next", reaching, narrowly},
}

// The limits on time count steps, see onAnyMachine.
var (
	quickly   = script.Options{MaxBusy: 10 * time.Millisecond, MaxMemory: 64 << 20, MaxCalls: 20}
	deeply    = script.Options{MaxBusy: 2 * time.Second, MaxMemory: 32 << 20}
	sparingly = script.Options{MaxBusy: 10 * time.Second, MaxMemory: 8 << 20}
	narrowly  = script.Options{MaxBusy: 400 * time.Millisecond, MaxMemory: 48 << 20, MaxCalls: 50, MaxResultBytes: 256 << 10}
	patiently = script.Options{MaxMemory: 64 << 20}
)

// Each script must end at its limits, even if it catches errors, and leave nothing behind.
//
//nolint:paralleltest // Each has the memory to itself.
func TestHostile(t *testing.T) {
	total := 0
	for _, kind := range kinds {
		total += len(kind.scripts)
	}
	require.Greater(t, total, 150)
	step := total / rounds.Of(t, total/8, total)
	count := 0
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			a := newArena(t, kind.limits)
			for _, h := range kind.scripts {
				count++
				if count%step != 0 {
					continue
				}
				t.Run(h.name, func(t *testing.T) {
					ended := a.run(t, "\n"+h.source)
					require.Regexp(t, h.want, ended)
					if (h.isLimit() || h.want == deep) && !leaves.MatchString(h.source) {
						caught := a.run(t, catching(h.source))
						require.True(t, h.want == deep || regexp.MustCompile(h.want).MatchString(caught), caught)
					}
				})
			}
		})
	}
}

// leaves matches sources that return or throw to the host. Wrapped by catching, they would not reach their limit.
var leaves = regexp.MustCompile(`(^|[;}] )(return|throw) `)

// catching returns a script that catches all errors of source and continues.
func catching(source string) string {
	return "\nfor (let i = 0; i < 3; i++) try { await (async () => { " + source + " })() } catch (e) { globalThis.caught = e } finally {" +
		" try { [0].map((x) => x) } catch {} }\nreturn 'survived'"
}

// arena runs hostile scripts, one after the other.
type arena struct {
	*stage

	limits script.Options
	random atomic.Int64
	// clean maps sources to the first results of checkClean.
	clean map[string]any
}

func newArena(t *testing.T, limits script.Options) *arena {
	t.Helper()
	a := &arena{limits: limits, clean: map[string]any{}}
	limits.Console, limits.Helpers = slog.New(slog.DiscardHandler), map[string]string{}
	limits.Random, limits.Fetch = a.nextRandom, answer
	a.stage = newStage(t, limits)
	a.checkClean(t, "")
	a.checkClean(t, web.Names[0])
	return a
}

// nextRandom returns a different number at each call.
func (a *arena) nextRandom() float64 { return float64(a.random.Add(1)%1024) / 1024 }

// answer responds to requests to one host. The context refuses all others.
func answer(ctx context.Context, bot *botctx.Context, request outbound.Request) (*outbound.Response, error) {
	if strings.HasPrefix(request.URL, "https://a.example") {
		return &outbound.Response{Status: 200, Body: []byte("{}")}, nil
	}
	return bot.Fetch(ctx, request)
}

// run runs a script, and returns its error or its result as JSON.
func (a *arena) run(t *testing.T, source string) string {
	t.Helper()
	const mostTime, mostHeap = 15 * time.Second, 32 << 20
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	goroutines := runtime.NumGoroutine()
	bot := a.ada.Context()
	program, err := a.engine.Compile("hostile.js", source)
	var value any
	if err == nil {
		allocated, began := heapAllocations(), scripttest.ThreadTime()
		value, err = program.Run(t.Context(), bot)
		require.Less(t, scripttest.ThreadTime()-began, mostTime)
		require.LessOrEqual(t, heapAllocations()-allocated, uint64(a.limits.MaxMemory+mostHeap), "bytes allocated by the host")
	}
	for i := 0; runtime.NumGoroutine() > goroutines && i < 1e6; i++ { // Goroutines that are ending need a moment.
		runtime.Gosched()
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), goroutines)
	used := ""
	if strings.Contains(source, web.Names[0]) || webName.MatchString(source) {
		used = web.Names[0]
	}
	a.checkClean(t, used)
	if err == nil {
		text, err := document.AppendJSON(nil, value)
		if err != nil { // For example NaN.
			return err.Error()
		}
		return string(text)
	}
	failed, isError := errors.AsType[*script.Error](err)
	require.True(t, isError, "%v", err)
	_, isKnown := boterr.AsError(err)
	require.True(t, isKnown, "%v", err)
	require.Equal(t, "hostile.js", failed.File, "%v", err)
	if errors.Is(err, boterr.ResourceExhausted) && program != nil {
		require.Contains(t, []int{0, 2}, failed.Line, "%v", err)
	}
	return err.Error()
}

// webName matches names of the web platform. Scripts that mention one run in other instances.
var webName = regexp.MustCompile(`\b(` + strings.Join(web.Names, "|") + `)\b`)

// heapAllocations returns the number of bytes that the host has allocated so far. The difference of two calls is an
// upper bound for the growth of the heap.
func heapAllocations() uint64 {
	read := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(read)
	return read[0].Value.Uint64()
}

// checkClean checks that a new script reaches the same values as the first script did, and receives the host's next
// random number. The names in uses determine the kind of instance.
func (a *arena) checkClean(t *testing.T, uses string) {
	t.Helper()
	program, err := a.engine.Compile("clean.js", reachable+"\n// "+uses)
	require.NoError(t, err)
	before := a.random.Load()
	value, err := program.Run(t.Context(), a.ada.Context())
	require.NoError(t, err)
	require.InDelta(t, float64((before+1)%1024)/1024, value.(document.Object).Value("random"), 0)
	found := value.(document.Object).Value("found")
	if first, isThere := a.clean[uses]; isThere {
		require.Equal(t, first, found, "what the next script finds")
	}
	a.clean[uses] = found
}

// reachable is a script that returns a random number, and everything that it can reach from its globals and
// from this.
const reachable = `
const { random } = Math, seen = new Set(), found = [], queue = [['globalThis', globalThis], ['this', Object.getPrototypeOf(this)]]
const add = (path, value) => {
  const isObject = typeof value === 'object' && value !== null || typeof value === 'function'
  if (!isObject) found.push(path + '=' + String(value))
  else if (!seen.has(value)) {
    seen.add(value)
    queue.push([path, value])
  }
}
for (let i = 0; i < queue.length; i++) {
  const [path, value] = queue[i]
  found.push(path + (Object.isExtensible(value) ? '' : '!'))
  add(path + '^', Object.getPrototypeOf(value))
  for (const key of Reflect.ownKeys(value)) {
    const at = Object.getOwnPropertyDescriptor(value, key)
    const to = path + '.' + String(key) + (at.enumerable ? '+' : '-') + (at.configurable ? '+' : '-')
    if ('value' in at) add(to, at.value)
    else add(to, at.get), add(to, at.set)
  }
}
return { random: random(), found: found.join('\n') + Object.keys(this) }`

// The error must name the line if the engine knows it.
func TestHostile_EndsWithItsLine(t *testing.T) {
	t.Parallel()
	s := newStage(t, quickly)
	for _, source := range []string{
		"\nconst f = (x) => x\nfor (;;) f(1)",
		"\nconst o = {\n  get x() { for (;;) [1].map((x) => x) } }; o.x",
		"\nconst x = 1;\n[2, 1].sort(() => { for (;;) JSON.stringify([1]) })",
		"\nawait null\nfor (;;) try { Math.random() } catch {}",
		"\nlet b = 3n\nfor (;;) Number(b)",
		"\nconst s = 'a'.repeat(50) + 'b';\n/(a+)+$/.exec(s)",
		"\nconst a = []\nfor (;;) a.push(a.length)",
	} {
		program, err := s.engine.Compile("hostile.js", source)
		require.NoError(t, err)
		_, err = program.Run(t.Context(), s.ada.Context())
		failed, isError := errors.AsType[*script.Error](err)
		require.True(t, isError, "%v", err)
		require.ErrorIs(t, err, boterr.ResourceExhausted)
		require.Equal(t, 3, failed.Line, "%s: %v", source, err)
	}
}

// Hostile scripts of one app do not disturb another app's scripts, and memory shrinks back to its former
// size.
func TestHostile_SideBySideWithGoodOnes(t *testing.T) {
	t.Parallel()
	limits := narrowly
	limits.MaxBusy, limits.Console = 10*time.Millisecond, slog.New(slog.DiscardHandler)
	bad := newStage(t, limits)
	patient := newEngine(t, script.Options{})
	good, err := patient.Compile("good.js", "const { member } = this; member.meta.n = [1, 2, 3].map((x) => x * 2)\n"+
		"await this.getMember({ memberId: member._id }); return member.meta.n.join()")
	require.NoError(t, err)
	var all []hostile
	for _, kind := range kinds {
		if kind.name != "source" {
			all = append(all, kind.scripts...)
		}
	}
	count := rounds.Of(t, 20, 400)
	var running sync.WaitGroup
	for i := range count {
		h := all[i*7%len(all)]
		of := bad.AddMember(member.Member{ExternalID: strconv.Itoa(i)})
		running.Go(func() {
			program, err := bad.engine.Compile("hostile.js", "\n"+h.source)
			if err == nil {
				_, err = program.Run(t.Context(), of.Context())
			}
			if h.isLimit() {
				require.ErrorIs(t, err, boterr.ResourceExhausted, h.source)
			}
		})
		running.Go(func() {
			value, err := good.Run(t.Context(), of.Context())
			require.NoError(t, err)
			require.Equal(t, "2,4,6", value)
		})
	}
	running.Wait()
}

// Earlier versions of the engine were broken by these scripts.
//
//nolint:paralleltest // What other tests allocate would count.
func TestHostile_FormerFaults(t *testing.T) {
	a := newStage(t, script.Options{MaxBusy: 5 * time.Second, MaxMemory: 32 << 20})
	for source, want := range map[string]string{
		"return String(-1n >> -100000000000n)":               `RangeError|MaxMemory`,
		"return '9'.repeat(4e6) == 1n":                       `^false$|MaxBusy|RangeError|SyntaxError`,
		"let s = 'x'; for (;;) s += s":                       `string too long|MaxMemory`,
		"let s = 'x'; for (;;) { s += s; s.at(-1) }":         `string too long|MaxMemory`,
		`return new RegExp('\\W'.repeat(100), 'i').test('')`: `^false$|MaxBusy`,
		"try { [...{}] } catch (e) { return e.name }":        `^"TypeError"$`,
	} {
		program, err := a.engine.Compile("hostile.js", "\n"+source)
		require.NoError(t, err)
		allocated := heapAllocations()
		value, err := program.Run(t.Context(), a.ada.Context())
		require.Less(t, heapAllocations()-allocated, uint64(256<<20), source)
		if err != nil {
			require.Regexp(t, want, err.Error(), source)
			continue
		}
		text, err := document.AppendJSON(nil, value)
		require.NoError(t, err)
		require.Regexp(t, want, string(text), source)
	}
}

// endlessLoops are endless loops in every place where a script can have code.
var endlessLoops = []hostile{
	{"for", "for (;;) {}", busy},
	{"while", "while (true);", busy},
	{"do", "do {} while (1)", busy},
	{"jump to a label", "x: for (;;) { continue x }", busy},
	{"counter", "let i = 0; for (;;) i++", busy},
	{"by the clock", "while (Date.now() < Infinity);", busy},
	{"built-in functions", "for (;;) [1].map((x) => x)", busy},
	{"await", "for (;;) await null", busy},
	{"promise jobs", "const f = () => Promise.resolve().then(f); await f()", busy},
	{"thenable of itself", "const t = { then(done) { done(t) } }; await t", busy},
	{"microtasks", "const f = () => queueMicrotask(f); f(); await new Promise(() => {})", busy},
	{"executor of a promise", "new Promise(() => { for (;;); })", busy},
	{"handler of a promise", "await Promise.reject(1).catch(() => { for (;;); })", busy},
	{"finally of a promise", "await Promise.resolve().finally(() => { for (;;); })", busy},
	{"getter of then", "await { get then() { for (;;); } }", busy},
	{"async generator", "for await (const x of (async function* () { for (;;) yield 1 })());", busy},
	{"generator", "(function* () { for (;;); })().next()", busy},
	{"generator that is read on", "for (const x of (function* () { for (;;) yield 1 })());", busy},
	{"return of a generator", "for (const x of (function* () { try { yield 1 } finally { for (;;); } })()) break", busy},
	{"catch", "try { throw 1 } catch { for (;;); }", busy},
	{"finally", "try { return 1 } finally { for (;;); }", busy},
	{"finally that goes on", "for (;;) try { for (;;); } finally { continue }", busy},
	{"catch that goes on", "for (;;) try { for (;;); } catch {}", busy},
	{"catches its end", "for (;;) { try { f() } catch (e) { f() } finally { f() } } function f() { for (let i = 0;; i++) i-- }", busy},
	{"async function that catches", "const f = async () => { for (;;) try { for (;;); } catch { await f() } }; await f().catch(f)", busy},
	{"getter", "({ get x() { for (;;); } }).x", busy},
	{"setter", "({ set x(_) { for (;;); } }).x = 1", busy},
	{"proxy that is read", "new Proxy({}, { get() { for (;;); } }).x", busy},
	{"proxy that is asked for its keys", "Object.keys(new Proxy({}, { ownKeys() { for (;;); } }))", busy},
	{"proxy that is asked for a key", "'x' in new Proxy({}, { has() { for (;;); } })", busy},
	{"proxy that is called", "new Proxy(() => {}, { apply() { for (;;); } })()", busy},
	{"proxy that is constructed", "new (new Proxy(class {}, { construct() { for (;;); } }))()", busy},
	{"proxy that is asked for its prototype", "new Proxy({}, { getPrototypeOf() { for (;;); } }) instanceof Object", busy},
	{"comparator", "[1, 2].sort(() => { for (;;); })", busy},
	{"comparator that changes its mind", "for (;;) Array.from({ length: 1e4 }, (_, i) => i).sort(() => 0.5 - Math.random())", busy},
	{"toJSON", "JSON.stringify({ toJSON() { for (;;); } })", busy},
	{"replacer of JSON", "JSON.stringify(1, () => { for (;;); })", busy},
	{"replacer of JSON that goes deeper", "JSON.stringify(1, () => [1, 1])", busyOr("too deep")},
	{"reviver of JSON", "JSON.parse('1', () => { for (;;); })", busy},
	{"reviver of JSON that goes deeper", "JSON.parse('[0, 0]', function (key, value) { this[1] = [0, 0]; return value })", busyOr("too deep")},
	{"toString", "'' + { toString() { for (;;); } }", busy},
	{"valueOf", "+{ valueOf() { for (;;); } }", busy},
	{"Symbol.toPrimitive", "`${{ [Symbol.toPrimitive]() { for (;;); } }}`", busy},
	{"Symbol.hasInstance", "1 instanceof { [Symbol.hasInstance]() { for (;;); } }", busy},
	{"Symbol.species", "const a = [1]; a.constructor = { [Symbol.species]: function () { for (;;); } }; a.map((x) => x)", busy},
	{"iterator", "const [a] = { [Symbol.iterator]() { for (;;); } }", busy},
	{"return of an iterator", "const [a] = { [Symbol.iterator]: () => ({ next: () => ({}), return() { for (;;); } }) }", busy},
	{"replace", "'x'.replace(/x/, () => { for (;;); })", busy},
	{"exec of a pattern", "const p = /x/; p.exec = () => { for (;;); }; p.test('x')", busy},
	{"flags of a pattern", "'x'.matchAll({ [Symbol.match]: 1, get flags() { for (;;); } })", busy},
	{"static block", "class A { static { for (;;); } }", busy},
	{"field of a class", "new (class { x = (() => { for (;;); })() })()", busy},
	{"computed key", "({ [(() => { for (;;); })()]: 1 })", busy},
	{"default of a parameter", "((a = (() => { for (;;); })()) => a)()", busy},
	{"tagged template", "((() => { for (;;); }))`x`", busy},
	{"eval", "eval('for (;;);')", busy},
	{"Function", "new Function('for (;;);')()", busy},
	{"function of a generator's constructor", "(function* () {}).constructor('for (;;);')().next()", busy},
	{"timer", "await new Promise(() => setTimeout(() => { for (;;); }))", busy},
	{"timers", "const f = () => setTimeout(f, 0); f(); await new Promise(() => {})", calls},
	{"interval", "setInterval(() => {}, 1); await new Promise(() => {})", calls},
	{"prepareStackTrace that is not called", "Error.prepareStackTrace = () => { for (;;); }; new Error('x').stack", "^null$"},
	{"text of what is thrown", "throw { toString() { for (;;); } }", busy},
	{"stack of what is thrown", "throw { get stack() { for (;;); } }", busy},
	{"message of what is thrown", "const e = new Error(''); Object.defineProperty(e, 'message', { get() { for (;;); } }); throw e", busy},
	{"search of a length", "[].indexOf.call({ length: 2 ** 53 - 1 }, 1)", busy},
	{"search of a length backwards", "[].lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)", busy},
	{"length that changes", "let n = 0; [].indexOf.call({ get length() { return n++ ? 1 : 2 ** 53 - 1 } }, 1)", busy},
	{"length of a proxy", "[].includes.call(new Proxy({ length: 2 ** 53 - 1 }, {}), 1)", busy},
	{"reverse of a length", "[].reverse.call({ length: 2 ** 53 - 1 })", busy},
	{"copyWithin of a length", "[].copyWithin.call({ length: 2 ** 53 - 1 }, 1, 0)", busy},
	{"holes of a list", "const a = []; a.length = 4e9; a.forEach(() => {})", busy},
	{"iterator that skips", "Iterator.from((function* () { for (;;) yield 1 })()).drop(Infinity).next()", busy},
	{"iterator that filters", "Iterator.from((function* () { for (;;) yield 1 })()).filter(() => false).next()", busy},
	{"promises of an endless list", "await Promise.race((function* () { for (;;) yield 1 })())", busyOr("MaxMemory")},
	{"WeakRef that waits", "globalThis.o = {}; const r = new WeakRef(o); while (r.deref());", busy},
	{"Atomics.wait", "Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0)", "Error"},
	{"never settled", "await new Promise(() => {})", "nothing can settle"},
	{"random numbers", "for (;;) Math.random()", busy},
	{"URLs", "for (;;) new URL('https://a.example/' + Math.random())", busy},
	{"URLs that are none", "for (;;) try { new URL('x'.repeat(1000)) } catch {}", busy},
	{"random bytes", "const a = new Uint8Array(65536); for (;;) crypto.getRandomValues(a)", busy},
	{"random names", "for (;;) crypto.randomUUID()", busy},
	{"copies", "for (;;) structuredClone({ a: [1] })", busy},
	{"encodings", "const d = new TextDecoder(), b = new TextEncoder().encode('x'.repeat(1000)); for (;;) d.decode(b)", busy},
	{"names of modules", "for (let i = 0;; i++) try { require('m' + i) } catch {}", busy},
	{"long names of modules", "const n = 'x'.repeat(1e5); for (let i = 0;; i++) try { require(n + i) } catch {}", busy},
	{"log", "for (;;) console.log('x')", busy},
	{"log of long lines", "const s = 'x'.repeat(1e5); for (;;) console.log(s, s)", busy},
	{"log of lists", "const a = new Array(1000).fill({ a: 1 }); for (;;) console.log(a)", busy},
	{"timers that are cleared", "for (;;) clearTimeout(setTimeout(() => {}, 1))", calls},
	{"comparison by language", "for (;;) 'a'.localeCompare('b')", busy},
	{"records that are read", "for (;;) this.member.firstName", busy},
	{"operations", "for (;;) await this.getMember({ memberId: this.member._id })", calls},
	{"operations that fail", "for (;;) try { await this.getMember({ memberId: 'x' }) } catch {}", calls},
}

// deepCalls are endlessly nested calls. As in any engine, scripts may catch the error.
var deepCalls = []hostile{
	{"function", "function f() { return f() + 1 }; f()", deep},
	{"functions that call each other", "const f = () => g() + 1, g = () => f() + 1; f()", deep},
	{"async function", "const f = async () => { await f() }; await f()", deep},
	{"getter", "const o = { get x() { return this.x } }; o.x", deep},
	{"setter", "const o = { set x(v) { this.x = v } }; o.x = 1", deep},
	{"proxy", "const p = new Proxy({}, { get(t, k) { return p[k] } }); p.x", deep},
	{"proxies of proxies", "let p = {}; for (let i = 0; i < 2e4; i++) p = new Proxy(p, {}); p.x", busyOr("too deep|MaxMemory")},
	{"bound functions", "let f = () => 1; for (let i = 0; i < 1e5; i++) f = f.bind(); f()", "too deep|MaxMemory"},
	{"closures", "let f = () => 1; for (let i = 0; i < 1e5; i++) { const g = f; f = () => g() + 1 } f()", deep},
	{"toString", "const o = { toString() { return '' + o } }; '' + o", deep},
	{"Symbol.toPrimitive", "const o = { [Symbol.toPrimitive]: () => +o }; +o", deep},
	{"Symbol.hasInstance", "const o = { [Symbol.hasInstance]: (x) => x instanceof o }; 1 instanceof o", deep},
	{"toJSON", "const o = { toJSON: () => JSON.stringify(o) }; JSON.stringify(o)", deep + `|Options\.MaxBusy`},
	{"comparator", "const f = () => [1, 2].sort(f); f()", deep},
	{"callback", "const f = () => [1].map(f); f()", deep},
	{"replace", "const f = () => 'x'.replace(/x/, f); f()", deep},
	{"constructor", "class A { constructor() { new A() } } new A()", deep},
	{"field of a class", "class A { a = new A() } new A()", deep},
	{"iterator", "const o = { [Symbol.iterator]: () => [...o] }; [...o]", deep},
	{"generators", "function* f() { yield* f() } [...f()]", deep},
	{"apply", "const f = () => Reflect.apply(f, null, []); f()", deep},
	{"arguments", "const f = (...a) => f(...a, 1); f()", deep},
	{"eval", "const s = 'eval(s)'; globalThis.s = s; (0, eval)('eval(s)')", deep},
	{"lists of lists as text", "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; '' + a", deep},
	{"list that holds itself", "const a = []; a.push(a); a.flat(Infinity)", deep},
	{"flat of lists of lists", "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; a.flat(Infinity)", deep},
	{"JSON of deep objects", "let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; JSON.stringify(o)", deep + `|Options\.MaxBusy`},
	{"deep JSON", "JSON.parse('['.repeat(1e6))", deep},
	{"deep JSON that ends", "JSON.parse('['.repeat(1e5) + ']'.repeat(1e5))", deep},
	{"reviver of deep JSON", "JSON.parse('['.repeat(1e3) + ']'.repeat(1e3), function f(k, v) { return JSON.parse('[1]', f) })", deep},
	{"deep source", "new Function('('.repeat(1e5))", deep},
	{"deep source of lists", "eval('['.repeat(1e5))", deep},
	{"deep source of functions", "eval('a => '.repeat(1e5) + '1')", deep},
	{"deep source of signs", "eval('!'.repeat(1e6) + '1')", deep},
	{"deep source of blocks", "eval('{'.repeat(1e5))", deep},
	{"deep source of templates", "eval('`${'.repeat(1e5))", deep},
	{"deep pattern", "new RegExp('('.repeat(1e5) + ')'.repeat(1e5))", "Error"},
	{"deep pattern of look-aheads", "new RegExp('(?='.repeat(1e5) + ')'.repeat(1e5))", "Error"},
	{"deep pattern of classes", "new RegExp('['.repeat(1e5), 'v')", "Error"},
	{"deep copy", "let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; structuredClone(o)", deep},
	{"deep result", "let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; return o", "too deep"},
	{"deep parameter", "let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; await this.patchMembers({ patch: o })", "too deep"},
	{"deep member", "let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; this.member.meta.x = o", "too deep"},
	{"deep line of the log", "let o = {}; for (let i = 0; i < 1e4; i++) o = { o }; console.log(o); return 1", returns("1")},
	{"deep objects that are freed", "let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; o = null; return 1", returns("1")},
	{"promises of promises", "let p = 1; for (let i = 0; i < 1e4; i++) p = Promise.resolve(p).then((x) => x); return await p", returns("1")},
	{"stack that is full in catch", "const f = () => { try { f() } catch { f() } finally { f() } }; f()", busyOr("too deep")},
}
