package hostile //nolint:testpackage // It tests the parts of the search.

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

func TestAWorldAnswersHostileCalls(t *testing.T) {
	t.Parallel()
	filled, err := Filled(t.Context())
	require.NoError(t, err)
	open := func() (document.Store, error) { return filled.Fork(), nil }
	s := &search{open: open, mutator: newMutator(1), report: &Report{}}
	for _, call := range []Call{
		{Operation: "countDataSource", Arguments: o("dataSourceId", "things", "filter", o("$expr", times(10_000, "$l.x")))},
		{Operation: "patchMembers", Arguments: o("patch", o("$set", o("meta.x", 1)), "withModifier", true)},
		{Operation: "countDataSource", Arguments: o("dataSourceId", "things", "filter", o("$nor", repeated(3_000, o("l", o("$gt", 1)))))},
	} {
		require.NoError(t, s.try(t.Context(), call))
	}
	require.Equal(t, 3, s.report.Tried)
	require.Positive(t, s.report.Slowest.Cost.Time)
	require.Positive(t, s.report.Widest.Cost.Memory)
	codes := map[boterr.Code]int{}
	for _, found := range s.pool {
		codes[boterr.CodeOf(found.Cost.Err)]++
	}
	require.Equal(t, map[boterr.Code]int{boterr.InvalidArgument: 1, boterr.ResourceExhausted: 1, "": 1}, codes)
	require.Contains(t, s.report.String(), "3 calls tried")
}

func TestMutatedCallsAreSmallAndRepeatable(t *testing.T) {
	t.Parallel()
	first, second := newMutator(7), newMutator(7)
	calls := seeds()
	for i := range 500 {
		changed := first.mutated(calls[i%len(calls)])
		require.Equal(t, changed, second.mutated(calls[i%len(calls)]))
		require.Less(t, changed.Arguments.Size(), max(MostInput, 1+calls[i%len(calls)].Arguments.Size()))
	}
}

func TestKnownCallsAreSmall(t *testing.T) {
	t.Parallel()
	for _, call := range seeds() {
		text, err := call.Arguments.MarshalJSON()
		require.NoError(t, err)
		require.Less(t, len(text), MostInput, call.String())
	}
}
