package script

import (
	"context"
	"runtime"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/internal/scripttest"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/script/internal/quickjs"
)

// FuzzHost sends arbitrary texts to the host, as a compromised engine could. None may panic.
func FuzzHost(f *testing.F) {
	engine, err := New(ByStep(Options{MaxCalls: 1_000_000, CacheDir: scripttest.CacheDir()}))
	require.NoError(f, err)
	program, err := engine.Compile("fuzz.js", "return 1")
	require.NoError(f, err)
	bot := fakes.New().AddMember(member.Member{}).Context()
	for _, seed := range []string{
		"op\n[\"getMember\",{\"memberId\":\"x\"},[[\"member\",true,{\"meta\":{\"a\":[1,U,D5,I7,R[\"a\",\"i\"],X\"no\",-0,NaN,-Infinity,\"\\u0041\"]}}],[\"x\",false,5]],[\"y\"]]",
		"op\n[\"countDataSource\",{\"filter\":{\"a\":R[\"a\"],\"$in\":[R[\"b\",\"g\"]]}},[],[]]", "op\n[", "op\n[\"x\",L,[],[]]", "log\n[\"info\",\"text\",\"    at f (x.js:1:2)\"]",
		"fail\n{\"text\":\"x\",\"stack\":\"at x:1:1\",\"number\":-1}", "get\n\"member\"", "get\n\"x\"", "find\n[\"\",\"./x\"]", "load\n\"x\"", "part\n\"web\"", "part\n\"x\"", "timer\n[1,5,true]", "clear\n1",
		"fetch\n{\"url\":\"x\",\"body\":\"!\"}", "cancel\n7", "numbers\nnull", "url\n{}", "decode\n{}", "random\n-1", "sortKey\n{}", "x", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := &run{engine: engine, program: program, bot: bot, seen: map[string]any{}, spent: spent{shared: &shared{}}}
		r.ctx = t.Context()
		require.NoError(t, engine.slots.Take(t.Context(), fair.Key{}))
		defer engine.slots.Release(fair.Key{})
		r.prepared, r.in, err = program.take(t.Context(), quickjs.Run{Host: r.host, Now: r.now, Busy: engine.options.MaxBusy, Clock: engine.options.clock()})
		require.NoError(t, err)
		defer r.in.Close()
		_, err := r.host(text)
		require.NotContains(t, display.Text(err), "panic", text)
	})
}

func TestUnreadable_TakesTooLong(t *testing.T) {
	t.Parallel()
	err := unreadable("long.js", scriptHead, &quickjs.EndedError{Cause: quickjs.ErrBusy})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.EqualError(t, err, "long.js: invalid argument: takes too long to parse: simplify it")
}

func withOneSlot(t *testing.T, source string) *Program {
	t.Helper()
	engine, err := New(ByStep(Options{CacheDir: scripttest.CacheDir()}))
	require.NoError(t, err)
	program, err := engine.Compile("test.js", source)
	require.NoError(t, err)
	engine.slots = fair.NewPlaces(new(fair.Count(1)))
	return program
}

// another is a channel whose scripts compete for slots.
var another = fair.Key{App: "another app"}

// Two bots in one process, such as two folders, must not compute on twice the processors.
func TestSlots_AreOfTheProcess(t *testing.T) {
	t.Parallel()
	one, err := New(Options{CacheDir: scripttest.CacheDir()})
	require.NoError(t, err)
	two, err := New(Options{CacheDir: scripttest.CacheDir()})
	require.NoError(t, err)
	require.Same(t, one.slots, two.slots)
}

func TestSlots_ScriptsWithinScriptsHaveThem(t *testing.T) {
	t.Parallel()
	program := withOneSlot(t, "this.depth = (this.depth ?? 0) + 1\n"+
		"if (this.depth < 4) await this.redirectMemberToNode({ memberId: this.member._id, nodeCompositeId: 'deeper' })")
	p := fakes.New(fakes.For(t))
	ada := p.AddMember(member.Member{})
	runs := 0
	p.Handle(&botctx.Node{ID: "deeper", Trigger: botctx.TextIs("go"), Pre: []botctx.Action{
		program.Action(),
		func(context.Context, *botctx.Context) error { runs++; return nil },
	}})
	ada.Says("go")
	require.Equal(t, 4, runs)
}

func TestSlots_WaitingIsNoTimeOfTheScript(t *testing.T) {
	t.Parallel()
	program := withOneSlot(t, "await this.redirectMemberToNode({ memberId: this.member._id, nodeCompositeId: 'taker' })")
	s := program.engine.slots
	synctest.Test(t, func(t *testing.T) {
		p := fakes.New(fakes.For(t))
		p.Handle(
			&botctx.Node{ID: "begin", Trigger: botctx.TextIs("go"), Pre: []botctx.Action{program.Action()}},
			&botctx.Node{ID: "taker", Pre: []botctx.Action{func(ctx context.Context, _ *botctx.Context) error {
				require.NoError(t, s.Take(ctx, another), "it is free while the script waits for its operation")
				time.AfterFunc(time.Minute, func() { s.Release(another) }) // Longer than Deadline, of 30 s.
				return nil
			}}},
		)
		require.NoError(t, p.AddMember(member.Member{}).TrySays("go"))
	})
}

func TestSlots_ContextEndsWaiting(t *testing.T) {
	t.Parallel()
	program := withOneSlot(t, "return 1")
	require.NoError(t, program.engine.slots.Take(t.Context(), another))
	defer program.engine.slots.Release(another)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := program.Run(ctx, fakes.New().AddMember(member.Member{}).Context())
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "test.js")
}

// Compiling may take seconds, and a module that does not compile may be required by every run.
func TestRequire_ModuleThatDoesNotCompileIsCompiledOnce(t *testing.T) {
	t.Parallel()
	options := ByStep(Options{CacheDir: scripttest.CacheDir(), Modules: fstest.MapFS{"broken.js": {Data: []byte("let a = (;")}}})
	clocks := 0 // Each run and each compilation has a clock.
	options.clock = func() func() time.Time {
		clocks++
		return scripttest.Steps()
	}
	engine, err := New(options)
	require.NoError(t, err)
	program, err := engine.Compile("test.js", "require('./broken')")
	require.NoError(t, err)
	bot := fakes.New(fakes.For(t)).AddMember(member.Member{}).Context()
	_, first := program.Run(t.Context(), bot)
	require.ErrorContains(t, first, "broken.js:1:10: invalid argument: ")
	before := clocks
	_, again := program.Run(t.Context(), bot)
	require.Equal(t, first, again)
	require.Equal(t, 1, clocks-before)
}

func FuzzLoad(f *testing.F) {
	engine, err := New(ByStep(Options{CacheDir: scripttest.CacheDir()}))
	require.NoError(f, err)
	f.Add(`{"nodes": [{"compositeId": "a", "redirect": "b", "responses": [{"type": "TEXT", "text": "x"}]}]}`)
	f.Add(`{"tree": "", "nodes": [{}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		l := &loader{engine: engine, files: fstest.MapFS{nodesName: {Data: []byte(text)}}, programs: map[string]*Program{}}
		_, _ = l.load(nil)
		for _, problem := range l.problems {
			require.NotEmpty(t, problem.Err.Error())
			require.GreaterOrEqual(t, problem.Line, 1)
		}
		for _, node := range l.nodes {
			require.NotEmpty(t, node.place.line)
		}
	})
}

// ByStep returns options that count steps of scripts in place of time, for the limits on computing and compiling.
func ByStep(options Options) Options {
	options.clock = scripttest.Steps
	options.slots = fair.NewPlaces(new(fair.Count(runtime.GOMAXPROCS(0)))) // Bubbles of synctest must not share them.
	return options
}
