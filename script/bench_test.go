package script_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/script"
)

// benchmarkRun runs a script again and again, on all processors.
func benchmarkRun(b *testing.B, options script.Options, source string) {
	b.Helper()
	engine, err := script.New(options)
	require.NoError(b, err)
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

// BenchmarkRun_Small is a trigger: it reads the message and what the member has.
func BenchmarkRun_Small(b *testing.B) {
	benchmarkRun(b, script.Options{}, "const { messageEvent } = this\nreturn messageEvent?.data?.text === 'menu'")
}

// BenchmarkRun_Member is an action: it reads the member and changes it.
func BenchmarkRun_Member(b *testing.B) {
	benchmarkRun(b, script.Options{}, "this.member.meta.visits = (this.member.meta.visits ?? 0) + 1\n"+
		"this.member.botMeta.tempData.choice = this.member.firstName.toLowerCase()")
}

// BenchmarkRun_Modules is the start of a script with moment and lodash.
func BenchmarkRun_Modules(b *testing.B) {
	benchmarkRun(b, withPackages(b), "return this.lodash.get({ a: this.moment.utc(0).year() }, 'a')")
}

// BenchmarkCompile reads a script.
func BenchmarkCompile(b *testing.B) {
	engine, err := script.New(script.Options{})
	require.NoError(b, err)
	for b.Loop() {
		if _, err := engine.Compile("bench.js", "const { member } = this; for (const x of [1, 2]) member.meta.x = x; return member"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRun_Names is an action that puts names together, so that it may reach any function of the language.
func BenchmarkRun_Names(b *testing.B) {
	benchmarkRun(b, script.Options{}, "const prices = { tea: 2, cake: 3 }; let sum = 0\n"+
		"for (const name of ['tea', 'cake']) sum += prices[name]\nreturn sum")
}

// BenchmarkRun_Operation is an action that waits for an operation.
func BenchmarkRun_Operation(b *testing.B) {
	benchmarkRun(b, script.Options{}, "const found = await this.getChannel({ channelId: this.channel._id })\nreturn found._id === this.channel._id")
}

// maxAllocations bound what a run of a script allocates, its runtime included: each is a little above what is
// reached, 16, 12 and 57.
var maxAllocations = map[string]float64{
	"const { messageEvent } = this\nreturn messageEvent?.data?.text === 'menu'":                                                               20,
	"const prices = { tea: 2, cake: 3 }; let sum = 0\nfor (const name of ['tea', 'cake']) sum += prices[name]\nreturn sum":                    16,
	"this.member.meta.visits = (this.member.meta.visits ?? 0) + 1\nthis.member.botMeta.tempData.choice = this.member.firstName.toLowerCase()": 78,
}

//nolint:paralleltest // What other tests allocate would count.
func TestRun_Allocations(t *testing.T) {
	s := newStage(t, script.Options{})
	bot := s.AddMember(member.Member{FirstName: "Bob"}).Context()
	for source, most := range maxAllocations {
		program := s.compile(source)
		allocations := testing.AllocsPerRun(200, func() {
			_, err := program.Run(t.Context(), bot)
			require.NoError(t, err)
		})
		require.LessOrEqual(t, allocations, most, source)
	}
}

// TestMain checks that every run has ended.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
