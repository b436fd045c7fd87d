package script_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/script"
)

// maxAllocations bounds what a run of a trigger allocates, its runtime included: 45, of which the runtime takes
// five.
const maxAllocations = 50

//nolint:paralleltest // What other tests allocate would count.
func TestRun_Allocations(t *testing.T) {
	s := newStage(t, script.Options{})
	program := s.compile("const { messageEvent } = this\nreturn messageEvent?.data?.text === 'menu'")
	bot := s.AddMember(member.Member{}).Context()
	allocations := testing.AllocsPerRun(200, func() {
		_, err := program.Run(t.Context(), bot)
		require.NoError(t, err)
	})
	require.LessOrEqual(t, allocations, float64(maxAllocations))
}
