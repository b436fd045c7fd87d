package quickjs_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/internal/scripttest"
	"github.com/botctx/go-sdk/script/internal/quickjs"
)

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

// The time of Run.Host counts as the script's, except in Wait.
func TestHost_TimeCountsUnlessItWaits(t *testing.T) {
	t.Parallel()
	var now time.Time
	busy := func() { now = now.Add(time.Second) }
	clock := func() time.Time { return now }
	var in *quickjs.Instance
	in = take(t, newSnapshot(t, ""), quickjs.Run{Busy: time.Hour, Clock: clock, Host: func(text string) (string, error) {
		if text == "wait" {
			in.Wait(busy)
		} else {
			busy()
		}
		return "", nil
	}})
	defer in.Release()
	evalText(t, in, "host('wait')")
	require.Zero(t, in.Busy())
	evalText(t, in, "host('compute')")
	require.Equal(t, time.Second, in.Busy())
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

// Text calls toString of scripts, which must respect the limits, too.
func TestText_OfHostileValues(t *testing.T) {
	t.Parallel()
	s := newSnapshot(t, "")
	for source, want := range map[string]error{
		"({ toString() { for (;;); } })": quickjs.ErrBusy,
		"({ toString() { const a = []; for (;;) a.push('x'.repeat(1e6) + a.length) } })": quickjs.ErrMemory,
		"({ toString() { try { new ArrayBuffer(1e9) } catch {} return 'x' } })":          quickjs.ErrMemory,
	} {
		busy := testBusy
		if errors.Is(want, quickjs.ErrMemory) {
			busy = time.Minute
		}
		in := take(t, s, quickjs.Run{Busy: busy})
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

// Nested calls to the host have a limit, and their computing time counts.
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
	m, err := quickjs.Open(scripttest.CacheDir())
	require.NoError(t, err)
	for _, memory := range []int64{-1, 0, 1 << 16, 1 << 20, 2 << 30} {
		_, err := m.New(t.Context(), quickjs.Run{Busy: time.Second}, memory)
		require.ErrorContains(t, err, "must be between")
	}
}

func TestSnapshot_OfARunThatHasEnded(t *testing.T) {
	t.Parallel()
	in := newInstance(t, quickjs.Run{Busy: testBusy}, testMemory)
	_, err := in.Eval("test.js", "for (;;);")
	require.ErrorIs(t, err, quickjs.ErrBusy)
	_, err = in.Snapshot()
	require.ErrorIs(t, err, quickjs.ErrBusy)
	in.Close()
}

// BenchmarkRun takes an instance, calls a compiled function, and releases the instance.
func BenchmarkRun(b *testing.B) {
	s := newSnapshot(b, "")
	in := take(b, s, quickjs.Run{})
	bytecode, err := in.Compile("one.js", "(function (text) { return JSON.parse(text).a })")
	if err != nil {
		b.Fatal(err)
	}
	in.Release()
	for b.Loop() {
		in := take(b, s, quickjs.Run{})
		function, err := in.Load(bytecode)
		if err != nil {
			b.Fatal(err)
		}
		text, _ := in.NewString(`{"a":1}`)
		if _, err = in.Call(function, text); err != nil {
			b.Fatal(err)
		}
		in.Release()
	}
}

// BenchmarkTake takes an instance and closes it.
func BenchmarkTake(b *testing.B) {
	s := newSnapshot(b, "")
	for b.Loop() {
		take(b, s, quickjs.Run{}).Close()
	}
}

// BenchmarkHost calls the host from a script, a thousand times.
func BenchmarkHost(b *testing.B) {
	s := newSnapshot(b, "")
	in := take(b, s, quickjs.Run{Host: func(text string) (string, error) { return text, nil }})
	defer in.Release()
	for b.Loop() {
		if _, err := in.Eval("host.js", "for (let i = 0; i < 1000; i++) host('hello')"); err != nil {
			b.Fatal(err)
		}
	}
}

// digests is a script that returns digests of many results of the language.
//
//go:embed testdata/digests.js
var digests string

// digestsZone is the time zone of the digests. Its offset is constant in the years that the script uses.
const digestsZone = "Asia/Kolkata"

// updateDigests names the environment variable that makes the test rewrite the digests.
const updateDigests = "BOTCTX_WRITE_DIGESTS"

const digestsFile = "testdata/digests.json"

// requireDigests compares digests group by group.
func requireDigests(t *testing.T, got string) {
	t.Helper()
	text, err := os.ReadFile(digestsFile)
	require.NoError(t, err)
	var want, have map[string]string
	require.NoError(t, json.Unmarshal(text, &want))
	require.NoError(t, json.Unmarshal([]byte(got), &have), got)
	require.Equal(t, want, have)
}

// All architectures must have the same results.
func TestDigests(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation(digestsZone)
	require.NoError(t, err)
	in := newInstance(t, quickjs.Run{Busy: 10 * time.Minute, Zone: zone}, testMemory)
	defer in.Close()
	made := evalText(t, in, digests)
	if os.Getenv(updateDigests) != "" {
		require.NoError(t, os.WriteFile(digestsFile, []byte(made+"\n"), 0o600))
	}
	requireDigests(t, made)
}

// Neither metering nor the compiler may change a result, so the published module, without metering and in another
// WebAssembly engine, must have the same digests.
func TestDigests_OfThePublishedModuleInNode(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node, which runs the same module, is not installed")
	}
	command := exec.CommandContext(t.Context(), node, "testdata/run.mjs", "wasm/quickjs.wasm")
	command.Env = append(os.Environ(), "TZ="+digestsZone)
	command.Stdin = strings.NewReader(digests)
	printed, err := command.Output()
	require.NoError(t, err)
	requireDigests(t, string(printed))
}

// looks is a clock that counts steps. It measures the processor time of its thread between two readings ("looks"). At
// each look, the host can end the script or stop it for a garbage collection.
type looks struct {
	steps func() time.Time
	// limit is the time after which a look is late. late counts late looks, because a machine may pause once.
	limit         time.Duration
	count, late   int
	last, longest time.Duration
}

// newLooks returns a clock for scripts on the calling goroutine, which must be locked to its thread.
func newLooks(limit time.Duration) *looks {
	return &looks{steps: scripttest.Steps(), limit: limit, last: scripttest.ThreadTime()}
}

// lateLook returns the limit for looks. It is 50 ms or, on a slow machine, a thousand times the interval in an empty
// loop.
func lateLook(t *testing.T, s *quickjs.Snapshot) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	looks, began := newLooks(0), scripttest.ThreadTime()
	in := take(t, s, quickjs.Run{Clock: looks.read})
	defer in.Release()
	evalText(t, in, "for (let i = 0; i < 1e6; i++);")
	return max(50*time.Millisecond, 1000*(scripttest.ThreadTime()-began)/time.Duration(looks.count))
}

func (l *looks) read() time.Time {
	now := scripttest.ThreadTime()
	if now-l.last > l.limit {
		l.late++
	}
	l.longest, l.last = max(l.longest, now-l.last), now
	l.count++
	return l.steps()
}

// A garbage collection of the host must not wait long for a computing script.
//
//nolint:paralleltest // Collections stop all other tests.
func TestHostile_HoldsUpNoCollection(t *testing.T) {
	s := newSnapshotOf(t, 64<<20, "")
	late, count := lateLook(t, s), int64(rounds.Of(t, 3, 15))
	for _, source := range []string{
		"host(''); for (;;) {}",
		"const f = (n) => n && f(n - 1) + f(n - 1); host(''); f(1000)",
		"const a = new Uint8Array(1e7); host(''); for (;;) a.copyWithin(1, 0)",
		"const a = new Uint8Array(1e7); host(''); for (;;) a.fill(1)",
		"const b = (1n << 1000000n) - 1n; host(''); for (;;) b % (b >> 500000n)",
		"const b = (1n << 1000000n) - 1n; host(''); for (;;) b.toString()",
		"const s = 'x'.repeat(8e6); host(''); for (;;) s.toUpperCase()",
		"const s = 'a'.repeat(8e6); host(''); for (;;) s.indexOf('a'.repeat(4e6) + 'b')",
		"const s = 'x'.repeat(2e6); host(''); for (;;) JSON.stringify(s)",
		"host(''); /(a+)+$/.exec('a'.repeat(50) + 'b')",
		"host(''); for (;;) try { new RegExp('\\\\W'.repeat(100000), 'i') } catch {}",
		"const a = Array.from({ length: 3e5 }, (_, i) => 'x' + i); host(''); for (;;) a.sort()",
		"const s = 'a' + '\\u0315\\u0300'.repeat(1e6); host(''); s.normalize('NFC'); for (;;);",
		"let a; host(''); for (;;) { a = { a }; if (Math.random() < 0.001) a = null }",
		"const a = new Array(1e6).fill(0); host(''); for (;;) a.splice(0, 1, 0)",
		"const s = '9'.repeat(2e5); host(''); for (;;) BigInt(s)",
	} {
		looks, err := collecting(t, s, source, late, count)
		require.ErrorIs(t, err, quickjs.ErrBusy, source)
		t.Logf("%d looks, at longest after %v: %s", looks.count, looks.longest, source)
		require.LessOrEqual(t, looks.late, 1, "%s: looks at the clock, at longest after %v", source, looks.longest)
	}
}

// collecting runs an endless script until count garbage collections have finished after its call of the host.
func collecting(t *testing.T, s *quickjs.Snapshot, source string, late time.Duration, count int64) (*looks, error) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var ended atomic.Int64
	var hasEnded atomic.Bool
	var collector sync.WaitGroup
	collector.Go(func() {
		for ; !hasEnded.Load(); ended.Add(1) {
			runtime.GC()
		}
	})
	looks, enough := newLooks(late), int64(math.MaxInt64)
	var over time.Duration
	in := take(t, s, quickjs.Run{
		Busy: time.Hour,
		Clock: func() time.Time {
			if ended.Load() >= enough {
				over += 2 * time.Hour
			}
			return looks.read().Add(over)
		},
		Host: func(string) (string, error) { enough = ended.Load() + count; return "", nil },
	})
	defer in.Release()
	// The recursion grows the goroutine's stack in Go code, where collections can start.
	evalText(t, in, "(function f(n) { return n && f(n - 1) + 1 })(1000)")
	*looks = *newLooks(late)
	_, err := in.Eval("hostile.js", source)
	hasEnded.Store(true)
	collector.Wait()
	return looks, err
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testMemory = 32 << 20
	testBusy   = 25 * time.Millisecond
)

// newInstance returns an instance without a snapshot. Its time limit counts steps.
func newInstance(tb testing.TB, run quickjs.Run, memory int64) *quickjs.Instance {
	tb.Helper()
	m, err := quickjs.Open(scripttest.CacheDir())
	require.NoError(tb, err)
	run.Clock = scripttest.Steps()
	in, err := m.New(tb.Context(), run, memory)
	require.NoError(tb, err)
	return in
}

// newSnapshot runs a script and returns the resulting state.
func newSnapshot(tb testing.TB, source string) *quickjs.Snapshot {
	tb.Helper()
	return newSnapshotOf(tb, testMemory, source)
}

func newSnapshotOf(tb testing.TB, memory int64, source string) *quickjs.Snapshot {
	tb.Helper()
	in := newInstance(tb, quickjs.Run{Busy: time.Minute}, memory)
	_, err := in.Eval("boot.js", source)
	require.NoError(tb, err)
	s, err := in.Snapshot()
	require.NoError(tb, err)
	return s
}

// take returns an instance. Its time limit counts steps unless run has a clock.
func take(tb testing.TB, s *quickjs.Snapshot, run quickjs.Run) *quickjs.Instance {
	tb.Helper()
	if run.Busy == 0 {
		run.Busy = time.Minute
	}
	if run.Clock == nil {
		run.Clock = scripttest.Steps()
	}
	in, err := s.Take(tb.Context(), run)
	require.NoError(tb, err)
	return in
}

// evalText runs a script and returns its last value as text.
func evalText(tb testing.TB, in *quickjs.Instance, source string) string {
	tb.Helper()
	value, err := in.Eval("test.js", source)
	require.NoError(tb, err)
	text, err := in.Text(value)
	require.NoError(tb, err)
	return text
}

// localTimes is a script that converts each half hour of a year from local fields to a time.
const localTimes = `(() => {
	const times = []
	for (let i = 0; i < 2 * 24 * 365; i++) times.push(new Date(2026, 0, 1, 0, 30 * i).getTime() / 6e4)
	return times.join()
})()`

// Each local time of a year must equal Node.js's result.
func TestDate_LocalTimesAsNode(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node, whose times are compared, is not installed")
	}
	zones := []string{"Europe/Vienna", "America/Los_Angeles", "America/St_Johns", "Australia/Lord_Howe", "Asia/Taipei", "Pacific/Auckland"}
	list, err := json.Marshal(zones)
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), node, "-p", "JSON.stringify("+string(list)+".map((zone) => { process.env.TZ = zone; return "+localTimes+" }))")
	printed, err := command.Output()
	require.NoError(t, err)
	var want []string
	require.NoError(t, json.Unmarshal(printed, &want))
	s := newSnapshot(t, "")
	for i, zone := range zones {
		location, err := time.LoadLocation(zone)
		require.NoError(t, err)
		in := take(t, s, quickjs.Run{Zone: location})
		require.Equal(t, strings.Split(want[i], ","), strings.Split(evalText(t, in, localTimes), ","), zone)
		in.Release()
	}
}

// A skipped local time has the offset from before the change. A repeated one means its first occurrence.
func TestDate_AroundAChangeOfTheOffset(t *testing.T) {
	t.Parallel()
	s := newSnapshot(t, "")
	for zone, times := range map[string][][2]string{
		"Europe/Vienna": {
			{"new Date(2026, 2, 29, 0, 30)", "2026-03-28T23:30:00.000Z"},
			{"new Date(2026, 2, 29, 1, 30)", "2026-03-29T00:30:00.000Z"},
			{"new Date(2026, 2, 29, 2, 30)", "2026-03-29T01:30:00.000Z"},
			{"new Date(2026, 2, 29, 3, 30)", "2026-03-29T01:30:00.000Z"},
			{"new Date(2026, 9, 25, 1, 30)", "2026-10-24T23:30:00.000Z"},
			{"new Date(2026, 9, 25, 2, 30)", "2026-10-25T00:30:00.000Z"},
			{"new Date(2026, 9, 25, 3, 30)", "2026-10-25T02:30:00.000Z"},
			{"new Date('2026-03-29T01:30')", "2026-03-29T00:30:00.000Z"},
			{"new Date('Mar 29, 2026 1:30')", "2026-03-29T00:30:00.000Z"},
			{"((d) => (d.setHours(1, 30), d))(new Date(Date.UTC(2026, 2, 29, 12)))", "2026-03-29T00:30:00.000Z"},
		},
		"America/Los_Angeles": {
			{"new Date(2026, 2, 7, 23, 30)", "2026-03-08T07:30:00.000Z"},
			{"new Date(2026, 2, 8, 2, 30)", "2026-03-08T10:30:00.000Z"},
			{"new Date(2026, 2, 8, 9, 30)", "2026-03-08T16:30:00.000Z"},
			{"new Date(2026, 10, 1, 1, 30)", "2026-11-01T08:30:00.000Z"},
			{"new Date(2026, 10, 1, 2, 30)", "2026-11-01T10:30:00.000Z"},
		},
		"Australia/Lord_Howe": {
			{"new Date(2026, 3, 5, 1, 45)", "2026-04-04T14:45:00.000Z"},
			{"new Date(2026, 9, 4, 2, 15)", "2026-10-03T15:45:00.000Z"},
		},
	} {
		location, err := time.LoadLocation(zone)
		require.NoError(t, err)
		in := take(t, s, quickjs.Run{Zone: location})
		for _, one := range times {
			require.Equal(t, one[1], evalText(t, in, one[0]+".toISOString()"), "%s: %s", zone, one[0])
		}
		in.Release()
	}
}
