package quickjs_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/script/internal/quickjs"
)

// hostile are scripts that compute or grow without an end.
var hostile = map[string]error{
	"for (;;) {}":                                                                             quickjs.ErrBusy,
	"for (;;) try { for (;;); } catch {}":                                                     quickjs.ErrBusy,
	"for (;;) try { for (;;); } finally { continue }":                                         quickjs.ErrBusy,
	"try { for (;;); } finally { for (;;); }":                                                 quickjs.ErrBusy,
	"(async () => { for (;;) await 0 })()":                                                    quickjs.ErrBusy,
	"(async () => { for (;;) try { for (;;); } catch {} })()":                                 quickjs.ErrBusy,
	"({ get x() { for (;;); } }).x":                                                           quickjs.ErrBusy,
	"new Proxy({}, { get() { for (;;); } }).x":                                                quickjs.ErrBusy,
	"[1, 2].sort(() => { for (;;); })":                                                        quickjs.ErrBusy,
	"JSON.stringify({ toJSON() { for (;;); } })":                                              quickjs.ErrBusy,
	"'' + { toString() { for (;;); } }":                                                       quickjs.ErrBusy,
	"[...(function* () { for (;;) yield })()]":                                                nil,
	"/(a+)+$/.exec('a'.repeat(50) + 'b')":                                                     quickjs.ErrBusy,
	"/(x+x+)+y/.test('x'.repeat(60))":                                                         quickjs.ErrBusy,
	"Array.from({ length: 4e6 }, (_, i) => 'x' + i % 1000).sort()":                            nil,
	"(3n ** 200000n).toString()":                                                              nil,
	"let b = 3n; for (;;) b *= b":                                                             nil,
	"BigInt('9'.repeat(4e6))":                                                                 nil,
	"'\\u0344'.repeat(3e6).normalize('NFC')":                                                  nil,
	"const a = []; for (;;) a.push({})":                                                       quickjs.ErrMemory,
	"const a = []; for (;;) try { for (;;) a.push('x' + a.length) } catch {}":                 quickjs.ErrMemory,
	"const m = new Map(); for (let i = 0;; i++) m.set(i, {})":                                 quickjs.ErrMemory,
	"const a = []; for (;;) a.push(new Uint8Array(1e6))":                                      quickjs.ErrMemory,
	"const a = []; try { for (;;) a.push(new Array(1000)) } catch {} a.length = 0; for (;;);": quickjs.ErrMemory,
	"let s = 'x'; for (;;) s = [s, s].join('y').toUpperCase()":                                nil,
}

// Each ends soon after its limit, and the next run sees nothing of it.
func TestHostile(t *testing.T) {
	t.Parallel()
	s := newSnapshot(t, "")
	for source, want := range hostile {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			busy := testBusy
			if errors.Is(want, quickjs.ErrMemory) {
				busy = time.Minute
			}
			in := take(t, s, quickjs.Run{Busy: busy})
			_, err := in.Eval("hostile.js", source)
			if err == nil {
				err = in.RunJobs()
			}
			if want != nil {
				require.ErrorIs(t, err, want)
			}
			require.Less(t, in.Busy(), busy+time.Second, "how late it ended")
			require.LessOrEqual(t, in.Size(), int64(testMemory)+1<<20)
			in.Release()
			next := take(t, s, quickjs.Run{})
			require.Equal(t, "2", evalText(t, next, "1 + 1"))
			next.Release()
		})
	}
}

// Functions that call each other without an end throw what scripts can catch, as anywhere.
func TestHostile_Recursion(t *testing.T) {
	t.Parallel()
	s := newSnapshot(t, "")
	for _, source := range []string{
		"(function f() { f() })()",
		"const o = { get x() { return this.x } }; o.x",
		"const o = { toString() { return '' + this } }; '' + o",
		"JSON.parse('['.repeat(1e6))",
		"let a = []; for (let i = 0; i < 1e5; i++) a = [a]; JSON.stringify(a)",
		"new Function('('.repeat(1e5))",
		"new RegExp('('.repeat(1e5))",
		"const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x",
	} {
		in := take(t, s, quickjs.Run{Busy: time.Minute})
		_, err := in.Eval("deep.js", source)
		thrown, isThrown := errors.AsType[*quickjs.ThrownError](err)
		require.True(t, isThrown, "%s: %v", source, err)
		require.NotEmpty(t, thrown.Text, source)
		require.Equal(t, "caught", evalText(t, in, "try {"+source+"} catch { 'caught' }"), source)
		in.Release()
	}
}
