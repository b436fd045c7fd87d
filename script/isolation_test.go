package script_test

import (
	"maps"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/script"
)

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
	require.JSONEq(t, `["undefined","undefined","undefined","undefined","undefined","undefined","undefined"]`, s.returns(
		"return [typeof process, typeof Deno, typeof Bun, typeof Go, typeof XMLHttpRequest, typeof WebAssembly, typeof importScripts]"))
	require.JSONEq(t, `["agendaMeta","channel","group","member","messageEvent","node"]`, s.returns("return Object.keys(this).sort()"))
}

func TestHostile_SideBySideWithGoodOnes(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{MaxBusy: 40 * time.Millisecond, MaxMemory: 64 << 20, MaxLength: 400_000})
	good := s.compile("const { member } = this; member.meta.n = [1, 2, 3].map((x) => x * 2)\n" +
		"await this.getMember({ memberId: member._id }); return member.meta.n.join()")
	bad := slices.Sorted(maps.Keys(hostile))
	before := heap()
	var all sync.WaitGroup
	for i := range rounds.Of(t, 40, 1000) {
		name := bad[i%len(bad)]
		of := s.AddMember(member.Member{ExternalID: strconv.Itoa(i)})
		all.Go(func() {
			program, err := s.engine.Compile(name, hostile[name])
			if err == nil {
				_, err = program.Run(t.Context(), of.Context())
			}
			require.Error(t, err, name)
		})
		all.Go(func() {
			value, err := good.Run(t.Context(), of.Context())
			require.NoError(t, err)
			require.Equal(t, "2,4,6", value)
		})
	}
	all.Wait()
	// What was left behind, and what tests beside this one hold, goes with time.
	require.Eventually(t, func() bool { return heap()-before < 64<<20 }, 5*time.Minute, 100*time.Millisecond,
		"the memory is where it was")
}

// heap returns the memory of objects that are in use.
func heap() int64 {
	runtime.GC() //nolint:revive // What is left is asked for.
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
