package script_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/script"
)

// Scripts can set, change and remove values on `this` in many ways. The next script must see the result.
func TestThis_WhatScriptsLeave(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		scripts []string
		want    string
	}{
		{[]string{"this.a = 1", "delete this.a; this.a = 2", "return this.a"}, "2"},
		{[]string{"this.a = 1", "Object.defineProperty(this, 'a', {value: 3, enumerable: true, configurable: true, writable: true})", "return this.a"}, "3"},
		{[]string{"this[42] = 'x'; this.b = 1", "return [this[42], this.b]"}, `["x",1]`},
		{[]string{"this[42] = 'x'", "this.member.meta.x = this[42]; delete this[42]", "return [this[42] ?? null, this.member.meta.x]"}, `[null,"x"]`},
		{[]string{"this.a = 1", "this.a = undefined", "return 'a' in this"}, "false"},
		{[]string{"this.a = 1", "this.a = () => 1", "return 'a' in this"}, "false"},
		{[]string{"this.a = 1", "Object.defineProperty(this, 'a', {get: () => 2})", "return 'a' in this"}, "false"},
		{[]string{"this.a = 1", "delete this.a\ntry { await this.getMember({memberId: undefined}) } catch {}", "return 'a' in this"}, "false"},
		{[]string{"this.a = 1; await this.getChannel({channelId: this.channel._id}); delete this.a; this.a = 2; await this.getChannel({channelId: this.channel._id})", "return this.a"}, "2"},
		{[]string{"this.a = {n: [1]}", "this.a.n.push(2)", "return this.a"}, `{"n":[1,2]}`},
		{[]string{"const m = this.member.meta; this.member.lastName = ''; await this.getMember({memberId: this.member._id}); m.x = 1", "return this.member.meta"}, `{"x":1}`},
		{[]string{"const m = this.member.meta; delete this.member.botMeta.tempData; await this.getMember({memberId: this.member._id}); m.x = 1", "return this.member.meta"}, `{"x":1}`},
		{[]string{"let n = 0; this.member.meta.x = this.a = 1; this.b = {get c() { if (!n++) throw 1; return 2 }}\nawait this.getMember({memberId: this.member._id}).catch(() => {})", "return [this.member.meta.x, this.a, this.b.c]"}, "[1,1,2]"},
	} {
		s := newStage(t, script.Options{})
		bot := s.ada.Context()
		var value any
		for _, source := range row.scripts {
			var err error
			value, err = s.compile(source).Run(t.Context(), bot)
			require.NoError(t, err, source)
		}
		require.JSONEq(t, row.want, document.Text(value), "%q", row.scripts)
	}
}

// Each script of a run may leave as much as one value may have, so their sum must have the limit, too.
func TestThis_WhatScriptsLeaveIsBounded(t *testing.T) {
	t.Parallel()
	const large = "'x'.repeat(7000)"
	redirect := "try { await this.redirectMemberToNode({memberId: this.member._id, nodeCompositeId: 'inner'}) } catch {}\n"
	for name, row := range map[string]struct {
		scripts []string
		inner   string
		refused bool
	}{
		"two values":          {[]string{"this.a = " + large, "this.b = " + large}, "", true},
		"lists of numbers":    {[]string{"this.a = new Array(3500).fill(1)", "this.b = new Array(3500).fill(1)"}, "", true},
		"a value instead":     {[]string{"this.a = " + large, "this.a = " + large}, "", false},
		"one shrinks":         {[]string{"this.a = 1; this.b = " + large, "this.a = " + large + "; this.b = 1"}, "", false},
		"one goes":            {[]string{"this.a = " + large, "delete this.a; this.b = " + large}, "", false},
		"one of an operation": {[]string{"this.a = " + large, redirect + "delete this.a; this.b = " + large}, "this.c = 1", false},
		"a nested script":     {[]string{"this.a = 1\n" + redirect + "this.b = " + large}, "this.c = " + large, true},
	} {
		s := newStage(t, script.Options{MaxResultBytes: 10_000})
		var actions []botctx.Action
		for _, source := range row.scripts {
			actions = append(actions, s.compile(source).Action())
		}
		s.Handle(
			&botctx.Node{ID: "outer", Trigger: botctx.AnyText(), Pre: actions},
			&botctx.Node{ID: "inner", Pre: botctx.Do(s.compile(row.inner).Action()), Entry: true},
		)
		err := s.ada.TrySays("go")
		if !row.refused {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorIs(t, err, boterr.ResourceExhausted, name)
		require.ErrorContains(t, err, "the values on this are together larger than 10000 bytes of JSON: see Options.MaxResultBytes", name)
	}
}

func TestThis_ManyDates(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{MaxResultBytes: 10_000})
	bot := s.ada.Context()
	_, err := s.compile("this.a = new Array(2000).fill(new Date(0))").Run(t.Context(), bot)
	require.NoError(t, err)
	_, err = s.compile("return this.a").Run(t.Context(), bot)
	require.ErrorContains(t, err, "take more than 10000 bytes: see Options.MaxResultBytes")
}

// After an operation changes a record, objects that the script got from it before must show the changes.
func TestThis_RedirectThatJoinsIsSeenInside(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	outer := s.compile(`
		this.cart = {lines: [{n: 1}]}
		const {meta} = this.member, {cart} = this, {lines} = cart, [line] = lines
		meta.deep = {a: 1}
		const {deep} = meta
		await this.redirectMemberToNode({memberId: this.member._id, nodeCompositeId: 'inner'})
		meta.b = [deep.a, deep.b, line.n]; deep.c = 3; lines.push({n: 3})
		meta.lines = this.cart.lines.map((one) => one.n)`)
	inner := s.compile("this.member.meta.deep.b = 2; this.cart.lines[0].n = 7; this.cart.lines.push({n: 2})")
	s.Handle(
		&botctx.Node{ID: "outer", Trigger: botctx.AnyText(), Pre: botctx.Do(outer.Action())},
		&botctx.Node{ID: "inner", Pre: botctx.Do(inner.Action()), Entry: true},
	)
	s.ada.Says("go")
	require.JSONEq(t, `{"b":[1,2,7],"deep":{"a":1,"b":2,"c":3},"lines":[7,2,3]}`, s.ada.Member().Meta.String())
}

// Large numbers must not turn into strings or lose digits.
func TestMember_LargeNumbersStayNumbers(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	s.run("this.member.meta = {big: 1e17, safe: 2 ** 53, integer: 2n ** 60n}")
	s.run("this.member.meta.z = 1")
	meta := s.ada.Member().Meta
	require.True(t, document.Identical(1e17, meta.Value("big")), "%T", meta.Value("big"))
	require.True(t, document.Identical(int64(1)<<53, meta.Value("safe")), "%T", meta.Value("safe"))
	require.True(t, document.Identical(int64(1)<<60, meta.Value("integer")), "%T", meta.Value("integer"))
	require.JSONEq(t, `["number","number","bigint"]`, s.returns("const {big, safe, integer} = this.member.meta; return [typeof big, typeof safe, typeof integer]"))
}

// A script that runs within an operation of another script shares its limits.
func TestNested_SharesTheLimits(t *testing.T) {
	t.Parallel()
	const again = "await this.redirectMemberToNode({memberId: this.member._id, nodeCompositeId: 'again'})"
	for source, want := range map[string]string{
		again: "scripts that call each other through operations are nested more than 8 deep",
		"this.n = (this.n ?? 0) + 1\nif (this.n < 4) " + again + "\nfor (let i = 0; i < 10; i++) await this.getChannel({channelId: this.channel._id})": "see Options.MaxCalls",
	} {
		s := newStage(t, script.Options{MaxCalls: 35})
		s.Handle(&botctx.Node{ID: "again", Trigger: botctx.AnyText(), Pre: botctx.Do(s.compile(source).Action())})
		err := s.ada.TrySays("go")
		require.ErrorIs(t, err, boterr.ResourceExhausted, source)
		require.ErrorContains(t, err, want, source)
	}
}

func TestNested_SharesMaxBusy(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{MaxBusy: 150 * time.Millisecond})
	inner := s.compile("try { for (;;); } catch {}")
	outer := s.compile("try { await this.redirectMemberToNode({memberId: this.member._id, nodeCompositeId: 'inner'}) } catch {}\nfor (let i = 0; i < 1e5; i++); this.member.meta.x = 1")
	s.Handle(
		&botctx.Node{ID: "outer", Trigger: botctx.AnyText(), Pre: botctx.Do(outer.Action())},
		&botctx.Node{ID: "inner", Pre: botctx.Do(inner.Action()), Entry: true},
	)
	require.ErrorContains(t, s.ada.TrySays("go"), "see Options.MaxBusy")
	require.JSONEq(t, "{}", s.ada.Member().Meta.String())
}

// If a helper takes too long to preload, the script loads it and pays for the time.
func TestHelpers_ThatDoNotEnd(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{
		MaxBusy: 100 * time.Millisecond, Modules: fstest.MapFS{"node_modules/lodash/index.js": {Data: []byte("for (;;);")}},
	})
	require.Equal(t, "1", s.returns("// lodash\nreturn 1"))
	_, err := s.compile("this.lodash.map").Run(t.Context(), s.ada.Context())
	require.ErrorContains(t, err, "see Options.MaxBusy")
}

func TestNew_RefusesOptionsOutOfRange(t *testing.T) {
	t.Parallel()
	for field, options := range map[string]script.Options{
		"MaxCalls": {MaxCalls: math.MaxInt}, "MaxResultBytes": {MaxResultBytes: math.MaxInt}, "MaxMemory": {MaxMemory: math.MaxInt64},
		"MaxBusy":  {MaxBusy: time.Microsecond},
		`"member"`: {Helpers: map[string]string{"member": "x"}}, `"sendResponse"`: {Helpers: map[string]string{"sendResponse": "x"}},
		`"fetch"`: {Helpers: map[string]string{"fetch": "x"}}, `"__proto__"`: {Helpers: map[string]string{"__proto__": "x"}},
	} {
		_, err := script.New(options)
		require.ErrorIs(t, err, boterr.InvalidArgument, field)
		require.ErrorContains(t, err, field)
	}
}

func TestRandom_OutOfRange(t *testing.T) {
	t.Parallel()
	for _, number := range []float64{math.NaN(), 1, -0.5} {
		s := newStage(t, script.Options{Random: func() float64 { return number }})
		_, err := s.compile("return Math.random()").Run(t.Context(), s.ada.Context())
		require.ErrorContains(t, err, "from 0 to below 1")
	}
}

func TestRandom_OneAtATime(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2)) // It is not safe for concurrent use.
	s := newStage(t, script.Options{Random: random.Float64})
	program := s.compile("for (let i = 0; i < 100; i++) Math.random()")
	var runs sync.WaitGroup
	for range 4 {
		runs.Go(func() {
			_, _ = program.Run(t.Context(), s.ada.Context())
		})
	}
	runs.Wait() // The race detector would report two calls at a time.
}

func TestRun_CauseOfAnEndedContext(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	for name, source := range map[string]string{"before": "return 1", "during": "await new Promise(done => setTimeout(done, 1e6))"} {
		ctx, cancel := context.WithTimeout(t.Context(), map[string]time.Duration{"during": 10 * time.Millisecond}[name])
		_, err := s.compile(source).Run(ctx, s.ada.Context())
		cancel()
		failed, ok := errors.AsType[*script.Error](err)
		require.True(t, ok, name)
		cause, ok := errors.AsType[*boterr.Error](failed.Err)
		require.True(t, ok, "%s: %#v", name, failed.Err)
		require.Equal(t, boterr.Canceled, cause.Code, name)
	}
}

// Requests must not delay timers.
func TestTimers_BesideRequests(t *testing.T) {
	t.Parallel()
	engine := newEngine(t, script.Options{
		Fetch: func(context.Context, *botctx.Context, outbound.Request) (*outbound.Response, error) {
			time.Sleep(20 * time.Millisecond) //nolint:forbidigo // The virtual clock of synctest.
			return &outbound.Response{Status: http.StatusOK}, nil
		},
	})
	program, err := engine.Compile("test.js", `
		let isDue = false, n = 0
		setTimeout(() => { isDue = true }, 50)
		for (; n < 100 && !isDue; n++) await fetch('https://a.example')
		return n`)
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		requests, err := program.Run(t.Context(), fakes.New(fakes.For(t)).AddMember(member.Member{}).Context())
		require.NoError(t, err)
		require.EqualValues(t, 3, requests)
	})
}

// The host must accept texts up to the limit of a result.
func TestHost_LargeTexts(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{MaxResultBytes: 1 << 20})
	for _, source := range []string{
		"new TextDecoder('latin1').decode(new Uint8Array(3e6))", "new URL('https://a.example/?' + 'é'.repeat(1.5e6))", "require('x'.repeat(3e6))",
	} {
		_, err := s.compile(source).Run(t.Context(), s.ada.Context())
		require.Error(t, err, source)
		require.NotContains(t, err.Error(), "engine failed", source)
	}
}

// A script may return a promise without await. The run must wait for it.
func TestRun_WaitsForWhatIsReturned(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	for source, want := range map[string]string{
		"return Promise.resolve(1)":                                                      `1`,
		"return new Promise((done) => setTimeout(() => done({a: 1}), 5))":                `{"a":1}`,
		"return { then(done) { done(2) } }":                                              `2`,
		"return { then: 3 }":                                                             `{"then":3}`,
		"const f = async () => { await null; return 4 }; return f()":                     `4`,
		"return this.getChannel({}).catch((e) => e.operation ?? 5)":                      s.returns("try { return await this.getChannel({}) } catch (e) { return e.operation }"),
		"return (async () => { for (const x of [6]) { await x; return x } })()":          `6`,
		"class A { static async m() { return await 7 } } return A.m()":                   `7`,
		"let n = 0; Promise.resolve().then(() => { n = 8 }); return { toJSON: () => n }": `8`,
		"return this.then": `null`,
	} {
		require.JSONEq(t, want, s.returns(source), source)
	}
}

func TestRun_FailsByWhatIsReturned(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	for source, want := range map[string]string{
		"\nthrow new RangeError('a')":                      "test.js:2:11: internal: RangeError: a",
		"\nreturn Promise.reject(new Error('b'))":          "test.js:2:27: internal: Error: b",
		"\nreturn { get then() { throw new Error('c') } }": "internal: Error: c",
		"\nreturn { then(_, no) { no(new Error('d')) } }":  "internal: Error: d",
		"\nawait null\nreturn 2n ** 64n":                   "test.js: invalid argument: result: ",
		"await 1; this.member.meta = []":                   "test.js: invalid argument: member.meta: ",
		"this.member.customLocale = 7":                     "test.js: invalid argument: member.customLocale: ",
		"this.member.meta.x = 2n ** 64n":                   "test.js: invalid argument: member.meta.x: ",
		"\nreturn (async () => {\nthrow 'e' })()":          "test.js: internal: the script threw e",
		"return new Promise(() => {})":                     "failed precondition",
	} {
		_, err := s.compile(source).Run(t.Context(), s.ada.Context())
		require.ErrorContains(t, err, want, source)
	}
}

func TestTimers_InOrderByTheContextsClock(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	before := s.Now()
	require.JSONEq(t, `["now",1,2,3,"tick","tick"]`, s.returns(`
		const said = []
		setTimeout((what) => said.push(what), 200, 3)
		setTimeout(() => said.push(2), 100)
		setTimeout(() => said.push('never'), 1000000)
		const stopped = setTimeout(() => said.push('stopped'), 50)
		clearTimeout(stopped)
		setImmediate(() => said.push(1))
		queueMicrotask(() => said.push('now'))
		await new Promise((resolve) => setTimeout(resolve, 300))
		let left = 2
		await new Promise((resolve) => {
			const id = setInterval(() => { said.push('tick'); if (--left === 0) { clearInterval(id); resolve() } }, 10)
		})
		return said`))
	require.Equal(t, 320*time.Millisecond, s.Now().Sub(before))
}

// The default clock is real time. The deadline is an hour, so that even on a slow machine the run ends because of
// MaxBusy.
func TestMaxBusy_IsByTheMachinesClock(t *testing.T) {
	t.Parallel()
	engine := newRealEngine(t, script.Options{MaxBusy: 50 * time.Millisecond, Deadline: time.Hour})
	program, err := engine.Compile("test.js", "for (;;) {}")
	require.NoError(t, err)
	_, err = program.Run(t.Context(), fakes.New(fakes.For(t)).AddMember(member.Member{}).Context())
	require.ErrorIs(t, err, boterr.ResourceExhausted)
	require.ErrorContains(t, err, "computed for more than 50ms: see Options.MaxBusy")
}

func TestDeadline_EndsWaiting(t *testing.T) {
	t.Parallel()
	engine := newEngine(t, script.Options{Deadline: 500 * time.Millisecond})
	program, err := engine.Compile("test.js", "\nawait new Promise((r) => setTimeout(r, 3600000))")
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		_, err := program.Run(t.Context(), fakes.New(fakes.For(t)).AddMember(member.Member{}).Context())
		require.ErrorContains(t, err, "test.js: resource exhausted: the script ran for longer than 500ms")
	})
}

func TestDate_IsInTheZoneOfTheOptions(t *testing.T) {
	t.Parallel()
	taipei, err := time.LoadLocation("Asia/Taipei")
	require.NoError(t, err)
	const source = "return [new Date(0).getHours(), new Date(2026, 0, 1).toISOString()]"
	require.JSONEq(t, `[0,"2026-01-01T00:00:00.000Z"]`, newStage(t, script.Options{}).returns(source))
	require.JSONEq(t, `[8,"2025-12-31T16:00:00.000Z"]`, newStage(t, script.Options{Zone: taipei}).returns(source))
}

func TestMaxBusy_CountsTheWorkOfOperations(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{MaxBusy: 200 * time.Millisecond})
	s.AddData("rows", slices.Repeat([]document.Object{document.O("text", strings.Repeat("ab", 20))}, 1000)...)
	const source = `for (let i = 0; i < %d; i++) await this.countDataSource({dataSourceId: 'rows', filter: {text: /(b+a+)+[0-9]/}})`
	s.returns(fmt.Sprintf(source, 50))
	_, err := s.compile(fmt.Sprintf(source, 900)).Run(t.Context(), s.ada.Context())
	require.ErrorIs(t, err, boterr.ResourceExhausted)
	require.ErrorContains(t, err, "the script and its operations computed for more than 200ms: see Options.MaxBusy")
}
