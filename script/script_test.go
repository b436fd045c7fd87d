package script_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/scripttest"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/script"
)

type stage struct {
	*fakes.Platform

	t      *testing.T
	engine *script.Engine
	ada    *fakes.Actor
}

// onAnyMachine returns options with which the speed of the machine does not affect the outcome of a script.
func onAnyMachine(options script.Options) script.Options {
	options.CacheDir = scripttest.CacheDir()
	if options.Deadline == 0 {
		options.Deadline = time.Hour
	}
	return script.ByStep(options)
}

// defaultEngine returns an engine with default options. Tests share it.
var defaultEngine = sync.OnceValues(func() (*script.Engine, error) { return script.New(onAnyMachine(script.Options{})) })

func newEngine(tb testing.TB, options script.Options) *script.Engine {
	tb.Helper()
	if reflect.ValueOf(options).IsZero() {
		engine, err := defaultEngine()
		require.NoError(tb, err)
		return engine
	}
	engine, err := script.New(onAnyMachine(options))
	require.NoError(tb, err)
	return engine
}

// newStage returns a platform with the member Ada, for nodes whose actions are scripts.
func newStage(t *testing.T, options script.Options) *stage {
	t.Helper()
	engine := newEngine(t, options)
	p := fakes.New(fakes.For(t))
	return &stage{Platform: p, t: t, engine: engine, ada: p.AddMember(member.Member{FirstName: "Ada"})}
}

func (s *stage) compile(source string) *script.Program {
	s.t.Helper()
	program, err := s.engine.Compile("test.js", source)
	require.NoError(s.t, err)
	return program
}

// returns runs a script outside any run of the bot, and returns its result as JSON.
func (s *stage) returns(source string) string {
	s.t.Helper()
	value, err := s.compile(source).Run(s.t.Context(), s.ada.Context())
	require.NoError(s.t, err)
	text, err := document.AppendJSON(nil, value)
	require.NoError(s.t, err)
	return string(text)
}

// run runs a script as an action of a node.
func (s *stage) run(source string) {
	s.t.Helper()
	s.HandleFunc(s.compile(source).Action())
	s.ada.Says("go")
}

func TestRun_ReturnsValue(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	require.JSONEq(t, `{"name":"Ada","n":[1,2.5,null,true],"u":null}`,
		s.returns("const n = await Promise.resolve([1, 2.5, undefined, true]);\nreturn {name: this.member.firstName, n, u: null, x: undefined}"))
	require.Equal(t, "null", s.returns("this.x = 1"))
}

func TestMember_ChangesAreWrittenBack(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	s.run("this.member.meta.order = {id: 7, lines: [[1, 'tea']], at: new Date(0)}\n" +
		"this.member.botMeta.tempData.x = 'y'\n" +
		"this.member.firstName = 'Bob'")
	ada := s.ada.Member()
	require.JSONEq(t, `{"order":{"at":"1970-01-01T00:00:00.000Z","id":7,"lines":[[1,"tea"]]}}`, ada.Meta.String())
	at, _ := ada.Meta.Lookup("order.at")
	require.Equal(t, time.UnixMilli(0).UTC(), at, "a Date stays one")
	require.Equal(t, "y", document.Get(ada.BotMeta, "tempData.x", ""))
	require.Equal(t, "Ada", ada.FirstName)
}

func TestOperation_SendsAndFails(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	s.run("await this.sendResponse({response: {type: 'TEXT', text: 'Hello ' + this.member.firstName}, appId: 'x'})\n" +
		"try { await this.getMember({memberId: 'nobody'}) } catch (e) { this.member.meta.e = [e.code, e.field, e.operation, e instanceof Error] }")
	require.Equal(t, "Hello Ada", s.ada.Last())
	require.JSONEq(t, `{"e":["NotFound","memberId","getMember",true]}`, s.ada.Member().Meta.String())
}

func TestError_NamesPlace(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	for source, want := range map[string]string{
		"const a = 1;\nnull.x":                                                                           "test.js:2:1: internal: TypeError: cannot read property 'x' of null",
		"\n\nawait this.getMember({memberId: 'x'})":                                                      "test.js:3:12: getMember: not found: memberId: there is no member x here",
		"await null;\nfunction f() {\n  throw new Error('no') }\nf()":                                    "test.js:3:13: internal: Error: no",
		"await new Promise(() => {})":                                                                    "test.js: failed precondition",
		"async function* g() {\n  yield 1\n}\nfor await (const x of g()) {\n  null.x\n}":                 "test.js:5:",
		"async function* g() {\n  yield 1\n\n  throw new Error('b')\n}\nfor await (const x of g()) {\n}": "test.js:4:",
		"for await (const x of [1]) {\n\n  f()\n}\nfunction f() {\n  throw new Error('c')\n}":            "test.js:6:",
		"async function* g() {}\n\n\nawait this.getMember({ memberId: 'nobody' })":                       "test.js:4:",
	} {
		_, err := s.compile(source).Run(t.Context(), s.ada.Context())
		require.ErrorContains(t, err, want)
	}
}

func TestError_NamesWhatIsNoFunction(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{Modules: fstest.MapFS{"m.js": {Data: []byte("exports.send = (bot) => bot.sendRespons({})")}}})
	for source, want := range map[string]string{
		"\nawait this.sendRespons({\n  response: {} })":       "test.js:2:12: internal: TypeError: this.sendRespons is not a function: did you mean this.sendResponse?",
		"require('./m').send(this)":                           "m.js:1:28: internal: TypeError: this.sendRespons is not a function: did you mean this.sendResponse?",
		"const bot = this; bot.foo(this.bar ?? 1)":            "test.js:1:26: internal: TypeError: this.foo is not a function",
		"this.tea?.()\nthis.bar ?? 1; this.n; process.exit()": "test.js:2:32: internal: TypeError: not a function",
		"if (this.tea) this.tea();\n[1].map(3)":               "test.js:2:5: internal: TypeError: not a function",
		// Long names are not kept: 16 of them would cost more time than the script has.
		"for (let i = 0; i < 16; i++) this['n'.repeat(200_000) + i]\nprocess.exit()": "test.js:2:9: internal: TypeError: not a function",
	} {
		_, err := s.compile(source).Run(t.Context(), s.ada.Context())
		require.EqualError(t, err, want, source)
	}
}

func TestThis_IsAnObject(t *testing.T) {
	t.Parallel()
	require.JSONEq(t, `[true, true, false]`, newStage(t, script.Options{}).returns(
		"return [this instanceof Object, Object.prototype.isPrototypeOf(this), 'tea' in this]"))
}

func TestError_Cause(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	for source, want := range map[string]string{
		"throw new Error('a', { cause: new TypeError('b', { cause: 'c' }) })":                               "Error: a, caused by TypeError: b, caused by c",
		"try { await this.getMember({ memberId: 'x' }) } catch (cause) { throw new Error('a', { cause }) }": "Error: a, caused by Error: getMember: not found: memberId: there is no member x here",
		"const e = new Error('a'); e.cause = e; throw e":                                                    "Error: a" + strings.Repeat(", caused by Error: a", 5),
		"throw new Error('a', { cause: { toString: 1 } })":                                                  "Error: a",
		"throw Object.defineProperty(new Error('a'), 'cause', { get() { throw 1 } })":                       "Error: a",
		"throw { cause: 1 }": `the script threw {"cause":1}`,
	} {
		_, err := s.compile(source).Run(t.Context(), s.ada.Context())
		failed, isFailed := errors.AsType[*script.Error](err)
		require.True(t, isFailed)
		require.EqualError(t, failed.Err, "internal: "+want, source)
	}
}

func TestError_OfAnActionNamesTheScriptAndNoGoFunction(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	s.Handle(&botctx.Node{ID: "cart", Trigger: botctx.AnyText(), Pre: botctx.Do(s.compile("null.x").Action())})
	require.EqualError(t, s.ada.TrySays("go"),
		"node cart: pre-action 1: test.js:1:1: internal: TypeError: cannot read property 'x' of null")
}

func TestRun_RejectionThatThrowsIsNotItsEnd(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{Console: slog.New(slog.DiscardHandler)})
	require.Equal(t, "1", s.returns("Promise.reject({ toString() { throw this } }); return 1"))
}

func TestRun_ManyValuesInText(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	values := strings.Repeat("<${n++}>", 20)
	require.Equal(t, `"a<0><1><2><3><4><5><6><7><8><9><10><11><12><13><14><15><16><17><18><19>z"`, s.returns("let n = 0; return `a"+values+"z`"))
}

// A short value of a long result must not keep the whole result in memory.
func TestRun_LongResult(t *testing.T) { //nolint:paralleltest // Other tests' allocations would count.
	const size = 1 << 17
	s := newStage(t, script.Options{})
	program := s.compile(fmt.Sprintf("return { short: 'value', long: 'x'.repeat(%d) }", size))
	heap := func() uint64 {
		var stats runtime.MemStats
		runtime.GC() //nolint:revive // Garbage must not count.
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	before := heap()
	kept := make([]any, 32)
	for i := range kept {
		value, err := program.Run(t.Context(), s.ada.Context())
		require.NoError(t, err)
		kept[i] = value.(document.Object).Value("short")
	}
	after := heap()
	require.Less(t, after, before+uint64(len(kept))*size/2)
	require.Equal(t, "value", kept[0])
}

func TestConsole_LongTextsTakeNoMemory(t *testing.T) {
	t.Parallel()
	var logged strings.Builder
	s := newStage(t, script.Options{Console: slog.New(slog.NewTextHandler(&logged, nil))})
	require.Equal(t, "1", s.returns("const s = 'x'.repeat(4e6); console.log(...new Array(5000).fill(s)); return 1"))
	require.Less(t, logged.Len(), 10_000)
}

func TestCompile_ChainsOfConstants(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	require.JSONEq(t, `[1,0,2,1]`, s.returns("return [null"+strings.Repeat(" ?? 1", 100)+", 0"+strings.Repeat(" || 0", 100)+", 1"+
		strings.Repeat(" && 2", 100)+", "+strings.Repeat("0 || (", 100)+"1"+strings.Repeat(")", 100)+"]"))
}

func TestCompile_NamesPlace(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	_, err := s.engine.Compile("greet.js", "let a = 1;\nlet b = (;")
	require.ErrorContains(t, err, "greet.js:2:10")
}

func TestCompile_NestedTooDeep(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	_, err := s.engine.Compile("deep.js", "return "+strings.Repeat("[", 100_000))
	require.EqualError(t, err, "deep.js: invalid argument: is nested too deep: brackets, functions or operators")
	_, err = s.compile("return "+strings.Repeat("(() =>", 800)+"1"+strings.Repeat(")", 800)).Run(t.Context(), s.ada.Context())
	require.ErrorIs(t, err, boterr.ResourceExhausted)
}

var _ botctx.Trigger = (&script.Program{}).Trigger()

func TestError_WhatIsThrown(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]struct {
		text string
		code boterr.Code
	}{
		"\nthrow {a: 1}":        {`test.js: internal: the script threw {"a":1}`, boterr.Internal},
		"\nthrow 'no'":          {"test.js: internal: the script threw no", boterr.Internal},
		"\nthrow undefined":     {"test.js: internal: the script threw undefined", boterr.Internal},
		"\nthrow {toString: 1}": {`test.js: internal: the script threw a value that cannot be converted to text`, boterr.Internal},
		"setTimeout(() => {\nthrow new Error('late') })\nawait new Promise((done) => setTimeout(done, 5))": {"test.js:2:11: internal: Error: late", boterr.Internal},
		"queueMicrotask(() => { throw 'no' }); await new Promise((done) => setTimeout(done, 5))":           {"test.js: internal: the script threw no", boterr.Internal},
		"\nawait import('fs')":                            {"test.js: unsupported: import() is not supported: use require", boterr.Unsupported},
		"\nfunction f() { return f() }\nf()":              {"test.js:2:23: resource exhausted: function calls are nested too deep", boterr.ResourceExhausted},
		"for (;;) {}":                                     {"test.js: resource exhausted: the script and its operations computed for more than 100ms: see Options.MaxBusy", boterr.ResourceExhausted},
		"try { for (;;); } catch {} finally { return 1 }": {"see Options.MaxBusy", boterr.ResourceExhausted},
		"\nfor (;;) { try { await this.getMember({memberId: 'x'}) } catch {} }": {
			"test.js:2:29: resource exhausted: the script has made more than 1000 calls", boterr.ResourceExhausted,
		},
		"const a = []\nfor (;;) a.push(new Array(1000).fill(1))": {"see Options.MaxMemory", boterr.ResourceExhausted},
		"return 'x'.repeat(1e5)":                                 {"test.js: resource exhausted: result: is larger than 65536 bytes of JSON: see Options.MaxResultBytes", boterr.ResourceExhausted},
		"return new Array(4e4).fill(1)":                          {"see Options.MaxResultBytes", boterr.ResourceExhausted},
	} {
		options := script.Options{MaxBusy: time.Minute, MaxMemory: 32 << 20, MaxResultBytes: 64 << 10}
		if strings.Contains(want.text, "MaxBusy") {
			options.MaxBusy = 100 * time.Millisecond
		}
		s := newStage(t, options)
		_, err := s.compile(source).Run(t.Context(), s.ada.Context())
		require.ErrorContains(t, err, want.text, source)
		require.Equal(t, want.code, boterr.CodeOf(err), source)
	}
}

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

// A text that ends within a surrogate pair is stored as in Node.js.
func TestLanguage_HalfOfACharacter(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	require.Equal(t, "\"a\ufffd\"", s.returns("return 'a😀'.slice(0, 2)"))
	require.JSONEq(t, `["\\ud83d",1]`, s.returns("return [JSON.stringify('😀'[0]).slice(1, 7), '😀'[0].length]"))
}

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

func TestNew_RefusesNilModules(t *testing.T) {
	t.Parallel()
	_, err := script.New(script.Options{Modules: (*fstest.MapFS)(nil)})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.ErrorContains(t, err, "Modules: is a nil *fstest.MapFS")
}

// Each operation is a function on `this`, with the same errors as over JSON.
func TestOperation_EachOfAll(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	bot := s.AddMember(member.Member{}).Context()
	for _, op := range botctx.Ops() {
		_, overJSON := bot.Call(t.Context(), string(op), json.RawMessage(`{"noSuchParameter": 1}`))
		wanted, _ := boterr.AsError(overJSON)
		_, err := s.compile("\nreturn await this."+string(op)+"({ noSuchParameter: 1 })").Run(t.Context(), bot)
		if overJSON == nil {
			require.NoError(t, err, op)
			continue
		}
		failed, isError := errors.AsType[*script.Error](err)
		require.True(t, isError, "%s: %v", op, err)
		require.Equal(t, 2, failed.Line, "%s: %v", op, err)
		got, _ := boterr.AsError(err)
		require.Equal(t, [3]string{string(wanted.Code), wanted.Op, wanted.Field}, [3]string{string(got.Code), got.Op, got.Field}, op)
	}
}
