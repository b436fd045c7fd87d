package script

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

// BenchmarkRun_ModulesReady is a script with moment and lodash, for which a runtime is ready.
func BenchmarkRun_ModulesReady(b *testing.B) {
	if _, err := os.Stat("testdata/npm/node_modules/moment/moment.js"); err != nil {
		b.Skip("moment and lodash are not there: run npm ci --ignore-scripts in script/testdata/npm")
	}
	engine, err := New(Options{Modules: os.DirFS("testdata/npm")})
	require.NoError(b, err)
	program, err := engine.Compile("bench.js", "return this.lodash.get({ a: this.moment.utc(0).year() }, 'a')")
	require.NoError(b, err)
	bot := fakes.New().AddMember(member.Member{}).Context()
	ready := engine.preparedFor(program.helpers)
	for b.Loop() {
		b.StopTimer()
		made, err := ready.prepare()
		require.NoError(b, err)
		ready.mu.Lock()
		ready.ready, ready.isFilling = []*run{made}, true
		ready.mu.Unlock()
		b.StartTimer()
		if _, err := program.Run(b.Context(), bot); err != nil {
			b.Fatal(err)
		}
	}
}
