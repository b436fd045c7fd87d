package script_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/scripttest"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/script"
)

// newRealEngine returns an engine that measures time limits with the machine's clock.
func newRealEngine(tb testing.TB, options script.Options) *script.Engine {
	tb.Helper()
	options.CacheDir = scripttest.CacheDir()
	engine, err := script.New(options)
	require.NoError(tb, err)
	return engine
}

// benchmarkRun runs a script repeatedly on all processors.
func benchmarkRun(b *testing.B, options script.Options, source string) {
	b.Helper()
	engine := newRealEngine(b, options)
	program, err := engine.Compile("bench.js", source)
	require.NoError(b, err)
	p := fakes.New()
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	_, err = program.Run(b.Context(), ada.Context())
	require.NoError(b, err)
	b.ReportAllocs()
	b.RunParallel(func(each *testing.PB) {
		bot := ada.Context()
		for each.Next() {
			if _, err := program.Run(b.Context(), bot); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkRun_Small runs a trigger that reads the message and the member's meta.
func BenchmarkRun_Small(b *testing.B) {
	benchmarkRun(b, script.Options{}, "const { messageEvent } = this\nreturn messageEvent?.data?.text === 'menu'")
}

// BenchmarkRun_Member runs an action that reads the member and changes it.
func BenchmarkRun_Member(b *testing.B) {
	benchmarkRun(b, script.Options{}, "this.member.meta.visits = (this.member.meta.visits ?? 0) + 1\n"+
		"this.member.botMeta.tempData.choice = this.member.firstName.toLowerCase()")
}

// BenchmarkRun_Modules runs a script that loads moment and lodash.
func BenchmarkRun_Modules(b *testing.B) {
	benchmarkRun(b, withPackages(b), "return this.lodash.get({ a: this.moment.utc(0).year() }, 'a')")
}

// BenchmarkCompile compiles a script.
func BenchmarkCompile(b *testing.B) {
	engine := newRealEngine(b, script.Options{})
	for b.Loop() {
		if _, err := engine.Compile("bench.js", "const { member } = this; for (const x of [1, 2]) member.meta.x = x; return member"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRun_Names runs an action that builds names at run time, so it might use any built-in function.
func BenchmarkRun_Names(b *testing.B) {
	benchmarkRun(b, script.Options{}, "const prices = { tea: 2, cake: 3 }; let sum = 0\n"+
		"for (const name of ['tea', 'cake']) sum += prices[name]\nreturn sum")
}

// BenchmarkRun_Operation runs an action that waits for an operation.
func BenchmarkRun_Operation(b *testing.B) {
	benchmarkRun(b, script.Options{}, "const found = await this.getChannel({ channelId: this.channel._id })\nreturn found._id === this.channel._id")
}

// maxAllocations is the limit for the allocations of one run of a script: slightly above the measured 16, 12 and 57.
var maxAllocations = map[string]float64{
	"const { messageEvent } = this\nreturn messageEvent?.data?.text === 'menu'":                                                               20,
	"const prices = { tea: 2, cake: 3 }; let sum = 0\nfor (const name of ['tea', 'cake']) sum += prices[name]\nreturn sum":                    16,
	"this.member.meta.visits = (this.member.meta.visits ?? 0) + 1\nthis.member.botMeta.tempData.choice = this.member.firstName.toLowerCase()": 78,
}

//nolint:paralleltest // What other tests allocate would count.
func TestRun_Allocations(t *testing.T) {
	engine := newRealEngine(t, script.Options{MaxBusy: time.Minute})
	bot := fakes.New(fakes.For(t)).AddMember(member.Member{FirstName: "Bob"}).Context()
	for source, most := range maxAllocations {
		program, err := engine.Compile("test.js", source)
		require.NoError(t, err)
		allocations := testing.AllocsPerRun(200, func() {
			_, err := program.Run(t.Context(), bot)
			require.NoError(t, err)
		})
		require.LessOrEqual(t, allocations, most, source)
	}
}

// TestMain checks that every run has ended.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
