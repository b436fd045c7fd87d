package engine

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTopItems_KeepTheFirst(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	type item struct{ rank, number int }
	compare := func(a, b item) int { return a.rank - b.rank }
	for range 500 {
		items := make([]item, random.IntN(40))
		l := topItems[item]{compare: compare, size: random.Int64N(45)}
		for i := range items {
			items[i] = item{rank: random.IntN(6), number: i}
			l.add(items[i])
		}
		slices.SortStableFunc(items, compare)
		if l.size > 0 {
			items = items[:min(int64(len(items)), l.size)]
		}
		require.Equal(t, items, l.sorted())
	}
}
