package hostile //nolint:testpackage // It tests the parts of the search.

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

func TestSearch_TellsHowCallsEnded(t *testing.T) {
	t.Parallel()
	filled, err := Filled(t.Context())
	require.NoError(t, err)
	s := newSearch(func(context.Context) (store.Store, error) { return filled.Fork(), nil }, 1)
	for _, call := range []Call{
		{Operation: "countDataSource", Arguments: o("dataSourceId", "things", "filter", o("$expr", times(10_000, "$l.x")))},
		{Operation: "patchMembers", Arguments: o("patch", o("$set", o("meta.x", 1)), "withModifier", true)},
		{Operation: "countDataSource", Arguments: o("dataSourceId", "things", "filter", o("$nor", repeated(3_000, o("l", o("$gt", 1)))))},
	} {
		_, err := s.try(t.Context(), call)
		require.NoError(t, err)
	}
	require.Positive(t, s.report.Slowest.Cost.Time)
	require.Positive(t, s.report.Widest.Cost.Memory)
	require.Equal(t, map[boterr.Code]int{boterr.InvalidArgument: 1, boterr.ResourceExhausted: 1, "": 1}, s.report.Outcomes)
	require.Contains(t, s.report.String(), "answered: 1, InvalidArgument: 1, ResourceExhausted: 1")
	require.Len(t, s.pools, 2)
}

func TestMutate_SmallAndRepeatable(t *testing.T) {
	t.Parallel()
	first, second := newMutator(7), newMutator(7)
	calls := slices.Concat(known()...)
	for i := range 500 {
		changed := first.mutated(calls[i%len(calls)])
		require.True(t, document.Equal(changed.Arguments, second.mutated(calls[i%len(calls)]).Arguments))
		require.Less(t, changed.Arguments.Size(), max(MostInput, 1+calls[i%len(calls)].Arguments.Size()))
	}
}

func TestSearch_EachClassOfKnownCalls(t *testing.T) {
	t.Parallel()
	s := newSearch(func(context.Context) (store.Store, error) { return memstore.New(), nil }, 1)
	five := func(operation string) class { return slices.Repeat(class{{Operation: operation, Arguments: o()}}, 5) }
	tried := 0
	isOver := func() bool { tried++; return tried > 3 }
	require.NoError(t, s.tryKnown(t.Context(), []class{five("countDataSource"), five("patchMembers"), five("getMember")}, isOver))
	require.Equal(t, 3, s.report.Known)
	require.Equal(t, 15, s.report.InAll)
	require.Len(t, s.pools, 3)
}

func TestSizes_Differ(t *testing.T) {
	t.Parallel()
	require.Equal(t, 5, Sizes{{10, 20}, {}}.Difference(Sizes{{8, 20}, {3}}))
}

func TestKnownCalls_AreSmall(t *testing.T) {
	t.Parallel()
	for _, call := range slices.Concat(known()...) {
		text, err := call.Arguments.MarshalJSON()
		require.NoError(t, err)
		require.Less(t, len(text), MostInput, call.String())
	}
}
