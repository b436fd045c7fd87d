package script_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/script"
)

// stage is a platform with a member, and an engine.
type stage struct {
	*fakes.Platform

	t      *testing.T
	engine *script.Engine
	ada    *fakes.Actor
}

// newEngine returns an engine that keeps its compiled code between two runs of the tests: compiling takes seconds under
// the race detector.
func newEngine(tb testing.TB, options script.Options) *script.Engine {
	tb.Helper()
	folder, err := os.UserCacheDir()
	if err != nil {
		folder = os.TempDir()
	}
	options.CacheDir = filepath.Join(folder, "botctx-quickjs-test")
	engine, err := script.New(options)
	require.NoError(tb, err)
	return engine
}

// newStage returns a platform on which Ada talks to nodes, whose actions are scripts.
func newStage(t *testing.T, options script.Options) *stage {
	t.Helper()
	engine := newEngine(t, options)
	p := fakes.New(fakes.For(t))
	return &stage{Platform: p, t: t, engine: engine, ada: p.AddMember(member.Member{FirstName: "Ada"})}
}

// compile compiles a script.
func (s *stage) compile(source string) *script.Program {
	s.t.Helper()
	program, err := s.engine.Compile("test.js", source)
	require.NoError(s.t, err)
	return program
}

// returns runs a script outside of runs, and returns what it returned as JSON.
func (s *stage) returns(source string) string {
	s.t.Helper()
	value, err := s.compile(source).Run(s.t.Context(), s.ada.Context())
	require.NoError(s.t, err)
	text, err := document.AppendJSON(nil, value)
	require.NoError(s.t, err)
	return string(text)
}

// run runs a script in a run, as an action.
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
		"const a = 1;\nnull.x":                                        "test.js:2:1: internal: TypeError: cannot read property 'x' of null",
		"\n\nawait this.getMember({memberId: 'x'})":                   "test.js:3:12: getMember: not found: memberId: there is no member x here",
		"await null;\nfunction f() {\n  throw new Error('no') }\nf()": "test.js:3:13: internal: Error: no",
		"await new Promise(() => {})":                                 "test.js: failed precondition",
	} {
		_, err := s.compile(source).Run(t.Context(), s.ada.Context())
		require.ErrorContains(t, err, want)
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

func TestCompile_CodePoints(t *testing.T) {
	t.Parallel()
	engine, err := script.New(script.Options{})
	require.NoError(t, err)
	program, err := engine.Compile("points.js", `return 'a\u{20BB7}b\u{10FFFF}c'.length;`)
	require.NoError(t, err)
	bot := fakes.New(fakes.For(t)).AddMember(member.Member{}).Context()
	value, err := program.Run(t.Context(), bot)
	require.NoError(t, err)
	require.EqualValues(t, 7, value)
}
