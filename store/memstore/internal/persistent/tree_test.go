package persistent_test

import (
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/store/memstore/internal/persistent"
)

type stringTree = model[string, persistent.Tree[string, int], *persistent.Tree[string, int]]

func TestTree_BranchesOffAnyVersion(t *testing.T) {
	t.Parallel()
	trunk := &stringTree{keys: made(2_000, strconv.Itoa), want: map[string]int{}}
	edit := newEdit()
	for i := range 2_000 {
		trunk.set(edit, strconv.Itoa(i), i)
	}
	left, right := trunk.copy(), trunk.copy()
	for i := range 2_000 {
		left.set(newEdit(), strconv.Itoa(i), -i)
		right.delete(newEdit(), strconv.Itoa(i*2))
	}
	left.requireAgreement(t)
	right.requireAgreement(t)
	trunk.requireAgreement(t)
}

func TestTree_RangeBeginsAtAKey(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	m := &stringTree{want: map[string]int{}}
	edit := newEdit()
	for range 3_000 {
		key := strconv.Itoa(random.IntN(10_000))
		m.set(edit, key, 0)
		m.delete(edit, strconv.Itoa(random.IntN(10_000)))
	}
	sorted := slices.Sorted(maps.Keys(m.want))
	for range 500 {
		bound := strconv.Itoa(random.IntN(10_000))
		at, _ := slices.BinarySearch(sorted, bound)
		require.Equal(t, sorted[at:], keysOf(m.made.From(bound)))

		below := slices.Clone(sorted[:at])
		slices.Reverse(below)
		require.Equal(t, below, slices.Clip(keysOf(m.made.Before(bound))))
	}
}

func TestTree_RangeStopsWhenAsked(t *testing.T) {
	t.Parallel()
	var tree persistent.Tree[uint64, string]
	edit := newEdit()
	for i := range uint64(5_000) {
		tree.Set(edit, i, "")
	}
	for name, keys := range map[string]iter.Seq2[uint64, string]{
		"All": tree.All(), "From": tree.From(100), "Before": tree.Before(4_900),
	} {
		seen := 0
		for range keys {
			seen++
			if seen == 2_000 {
				break
			}
		}
		require.Equal(t, 2_000, seen, name)
	}
}

func TestTree_Empty(t *testing.T) {
	t.Parallel()
	var tree persistent.Tree[string, int]
	_, ok := tree.Get("a")
	require.False(t, ok)
	require.False(t, tree.Delete(newEdit(), "a"))
	require.Empty(t, keysOf(tree.All()))
	require.Empty(t, keysOf(tree.From("")))
	require.Empty(t, keysOf(tree.Before("z")))
}
