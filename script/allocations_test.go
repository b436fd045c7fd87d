package script_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/script"
)

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
