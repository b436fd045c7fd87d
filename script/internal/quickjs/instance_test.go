package quickjs_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/script/internal/quickjs"
)

func TestEval(t *testing.T) {
	t.Parallel()
	in := take(t, newSnapshot(t, "globalThis.a = 1"), quickjs.Run{})
	defer in.Release()
	require.Equal(t, "1,1,2,3,\u0000ü€😀", evalText(t, in, "[a, [3, 1, 2].sort(), '\\0ü€😀'].join()"))
}

func TestEval_Throws(t *testing.T) {
	t.Parallel()
	s := newSnapshot(t, "")
	for source, want := range map[string]quickjs.ThrownError{
		"\n  f()":                   {Text: "ReferenceError: f is not defined", Stack: "    at <eval> (test.js:2:3)\n"},
		"function f() { g() }\nf()": {Text: "ReferenceError: g is not defined", Stack: "    at f (test.js:1:16)\n    at <eval> (test.js:2:1)\n"},
		"throw {toString: null}":    {},
		"throw 'no'":                {Text: "no"},
		"let 1":                     {Text: "SyntaxError: invalid redefinition", Stack: "    at test.js:1:5\n"},
	} {
		in := take(t, s, quickjs.Run{})
		_, err := in.Eval("test.js", source)
		in.Release()
		thrown, ok := errors.AsType[*quickjs.ThrownError](err)
		require.True(t, ok, source)
		if thrown.Text = strings.TrimSpace(thrown.Text); strings.Contains(source, "let") {
			require.Contains(t, thrown.Text, "SyntaxError")
			require.Contains(t, thrown.Stack, "test.js:1:")
			continue
		}
		require.Equal(t, want, quickjs.ThrownError{Text: thrown.Text, Stack: thrown.Stack}, source)
	}
}

func TestLoad_Bytecode(t *testing.T) {
	t.Parallel()
	s := newSnapshot(t, "")
	in := take(t, s, quickjs.Run{})
	bytecode, err := in.Compile("sum.js", "(function (a, b) { return a + b })")
	require.NoError(t, err)
	_, err = in.Compile("bad.js", "(")
	require.ErrorContains(t, err, "SyntaxError")
	in.Release()
	for range 2 {
		in := take(t, s, quickjs.Run{})
		sum, err := in.Load(bytecode)
		require.NoError(t, err)
		a, err := in.NewString("a")
		require.NoError(t, err)
		b, err := in.NewNumber(2.5)
		require.NoError(t, err)
		value, err := in.Call(sum, a, b)
		require.NoError(t, err)
		text, err := in.Text(value)
		require.NoError(t, err)
		require.Equal(t, "a2.5", text)
		in.Release()
	}
}

func TestRunJobs(t *testing.T) {
	t.Parallel()
	in := take(t, newSnapshot(t, ""), quickjs.Run{})
	defer in.Release()
	evalText(t, in, "var seen = []; (async () => { await 1; seen.push(2); await 2; seen.push(3) })(); seen.push(1)")
	require.NoError(t, in.RunJobs())
	require.Equal(t, "1,2,3", evalText(t, in, "seen"))
}

func TestHost(t *testing.T) {
	t.Parallel()
	s := newSnapshot(t, "globalThis.say = host; delete globalThis.host")
	failure := errors.New("the host is gone")
	in := take(t, s, quickjs.Run{Host: func(text string) (string, error) {
		if text == "end" {
			return "", failure
		}
		return "<" + text + ">", nil
	}})
	defer in.Release()
	require.Equal(t, "<a>undefined", evalText(t, in, "say('a') + typeof host"))
	_, err := in.Eval("test.js", "try { say('end') } catch {} finally { say('on') }")
	require.ErrorIs(t, err, failure)
}

// The host's time is the script's unless it waits.
func TestHost_TimeCountsUnlessItWaits(t *testing.T) {
	t.Parallel()
	busy := func() {
		for began := time.Now(); time.Since(began) < 20*time.Millisecond; { //nolint:revive,forbidigo // It takes time.
		}
	}
	var in *quickjs.Instance
	in = take(t, newSnapshot(t, ""), quickjs.Run{Busy: time.Hour, Host: func(text string) (string, error) {
		if text == "wait" {
			in.Wait(busy)
		} else {
			busy()
		}
		return "", nil
	}})
	defer in.Release()
	evalText(t, in, "host('wait')")
	require.Less(t, in.Busy(), 20*time.Millisecond)
	evalText(t, in, "host('compute')")
	require.GreaterOrEqual(t, in.Busy(), 20*time.Millisecond)
}

func TestDate_IsOfTheHost(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Vienna")
	require.NoError(t, err)
	s := newSnapshot(t, "")
	at := time.Date(2026, 7, 1, 22, 30, 0, 5000000, time.UTC)
	in := take(t, s, quickjs.Run{Now: func() time.Time { return at }, Zone: zone})
	defer in.Release()
	require.Equal(t, "1782945000005 0:30 23", evalText(t, in,
		"const d = new Date(); `${+d} ${d.getHours()}:${d.getMinutes()} ${new Date(2026, 0, 1).getUTCHours()}`"))
}

func TestRelease_LeavesNothing(t *testing.T) {
	t.Parallel()
	s := newSnapshot(t, "globalThis.kept = 1")
	for range 3 {
		in := take(t, s, quickjs.Run{})
		require.Equal(t, "1,,,3", evalText(t, in, "[kept, globalThis.left, Array.prototype.x, Math.max(3)].join()"))
		evalText(t, in, "kept = 2; left = 1; Array.prototype.x = 1; Math.max = () => 9; 0")
		in.Release()
	}
}

func TestRun_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := newSnapshot(t, "")
	ctx, cancel := context.WithCancelCause(t.Context())
	in, err := s.Take(ctx, quickjs.Run{Busy: time.Minute, Host: func(string) (string, error) {
		cancel(errors.New("nobody waits"))
		return "", nil
	}})
	require.NoError(t, err)
	defer in.Release()
	_, err = in.Eval("test.js", "host('stop');\nfor (;;) {}")
	require.EqualError(t, err, "nobody waits")
	ended, _ := errors.AsType[*quickjs.EndedError](err)
	require.Contains(t, ended.Stack, "test.js:1:1")
}

// Text calls toString of scripts, which are under the limits, too.
func TestText_OfHostileValues(t *testing.T) {
	t.Parallel()
	s := newSnapshot(t, "")
	for source, want := range map[string]error{
		"({ toString() { for (;;); } })": quickjs.ErrBusy,
		"({ toString() { const a = []; for (;;) a.push('x'.repeat(1e6) + a.length) } })": quickjs.ErrMemory,
		"({ toString() { try { new ArrayBuffer(1e9) } catch {} return 'x' } })":          quickjs.ErrMemory,
	} {
		in := take(t, s, quickjs.Run{Busy: 5 * time.Second})
		value, err := in.Eval("test.js", source)
		require.NoError(t, err)
		_, err = in.Text(value)
		require.ErrorIs(t, err, want, source)
		_, err = in.NewNumber(1)
		require.ErrorIs(t, err, want, "the run has ended")
		in.Release()
		next := take(t, s, quickjs.Run{})
		require.Equal(t, "2", evalText(t, next, "1 + 1"), source)
		next.Release()
	}
}

// The host is called no deeper than a few levels, and what a script computes meanwhile counts.
func TestHost_CallsItselfByToString(t *testing.T) {
	t.Parallel()
	s := newSnapshot(t, "")
	for source, want := range map[string]error{
		"const o = { toString() { try { host(o) } catch {} return '' } }; host(o)":                quickjs.ErrDepth,
		"const o = { toString() { for (let i = 0; i < 1e4; i++); return '' } }; for (;;) host(o)": quickjs.ErrBusy,
	} {
		in := take(t, s, quickjs.Run{Busy: testBusy, Host: func(string) (string, error) { return "", nil }})
		_, err := in.Eval("test.js", source)
		require.ErrorIs(t, err, want, source)
		in.Release()
	}
}

func TestRelease_NobodyUsesItAfterwards(t *testing.T) {
	t.Parallel()
	s := newSnapshot(t, "")
	for _, end := range []func(*quickjs.Instance){(*quickjs.Instance).Release, (*quickjs.Instance).Close} {
		in := take(t, s, quickjs.Run{})
		end(in)
		in.Release()
		in.Close()
		_, err := in.Eval("test.js", "1")
		require.ErrorContains(t, err, "released or closed")
		_, err = in.Snapshot()
		require.ErrorContains(t, err, "released or closed")
		one, another := take(t, s, quickjs.Run{}), take(t, s, quickjs.Run{})
		require.NotSame(t, one, another)
		require.Equal(t, "1,2", evalText(t, one, "1")+","+evalText(t, another, "2"))
		one.Release()
		another.Release()
	}
}

func TestNew_MemoryOutOfBounds(t *testing.T) {
	t.Parallel()
	m, err := quickjs.Open(codeFolder(t))
	require.NoError(t, err)
	for _, memory := range []int64{-1, 0, 1 << 16, 1 << 20, 2 << 30} {
		_, err := m.New(t.Context(), quickjs.Run{Busy: time.Second}, memory)
		require.ErrorContains(t, err, "must be between")
	}
}

func TestSnapshot_OfARunThatHasEnded(t *testing.T) {
	t.Parallel()
	in := newInstance(t, quickjs.Run{Busy: testBusy})
	_, err := in.Eval("test.js", "for (;;);")
	require.ErrorIs(t, err, quickjs.ErrBusy)
	_, err = in.Snapshot()
	require.ErrorIs(t, err, quickjs.ErrBusy)
	in.Close()
}

func TestTrackRejections(t *testing.T) {
	t.Parallel()
	in := newInstance(t, quickjs.Run{Busy: time.Minute})
	own, err := in.Eval("boot.js", "globalThis.noted = []; ({rejected: (_, reason) => noted.push('no ' + reason), handled: () => noted.push('handled')})")
	require.NoError(t, err)
	rejected, err := in.Property(own, "rejected")
	require.NoError(t, err)
	handled, err := in.Property(own, "handled")
	require.NoError(t, err)
	in.TrackRejections(rejected, handled)
	s, err := in.Snapshot()
	require.NoError(t, err)
	clone := take(t, s, quickjs.Run{})
	defer clone.Release()
	require.Empty(t, evalText(t, clone, "globalThis.p = Promise.reject(7); Promise.reject(8).catch(() => {}); ''"))
	require.NoError(t, clone.RunJobs())
	require.Equal(t, "no 7,no 8,handled", evalText(t, clone, "noted.join()"))
	require.Empty(t, evalText(t, clone, "p.catch(() => {}); ''"))
	require.Equal(t, "no 7,no 8,handled,handled", evalText(t, clone, "noted.join()"))
}
