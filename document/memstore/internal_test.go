package memstore

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/document/memstore/internal/persistent"
)

func TestIDsWithOneHashAreTold(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	x, held := newIDIndex(), &documents{}
	x.hashMask = 3
	model := map[string]uint64{}
	for position := range uint64(3_000) {
		id, edit := strconv.Itoa(random.IntN(60)), persistent.NewEdit()
		at, _, found := x.find(held, id)
		expected, exists := model[id]
		require.Equal(t, exists, found, id)
		switch {
		case !exists:
			x.add(edit, position, id)
			held.Set(edit, position, document.O("_id", id))
			model[id] = position
		case random.IntN(2) == 0:
			require.Equal(t, expected, at)
			x.remove(edit, at, id)
			held.Delete(edit, at)
			delete(model, id)
		}
	}
}

func TestPlans(t *testing.T) {
	t.Parallel()
	c := New().Collection("c")
	for _, keys := range [][]document.IndexKey{
		{{Path: "a", Kind: document.Ascending}},
		{{Path: "a", Kind: document.Ascending}, {Path: "b.c", Kind: document.Descending}},
		{{Path: "tags", Kind: document.Ascending}, {Path: "a", Kind: document.Ascending}},
		{{Path: "at", Kind: document.Geo2DSphere}},
		{{Path: "list.0", Kind: document.Ascending}},
	} {
		require.NoError(t, c.EnsureIndex(t.Context(), document.Index{Keys: keys}))
	}
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 1, "a", 1, "tags", document.A("x", "y"))))
	now, err := c.(*collection).newest()
	require.NoError(t, err)

	for _, test := range []struct {
		filter document.Object
		index  string
		keys   int
	}{
		{document.O("_id", 1, "a", 1), "_id", 0},
		{document.O("a", 1), "a_1", 1},
		{document.O("a", 1, "b.c", 2), "a_1_b.c_-1", 2},
		{document.O("$and", document.A(document.O("a", document.O("$eq", "x")), document.O("b.c", 2))), "a_1_b.c_-1", 2},
		{document.O("b.c", 2), "", 0},
		{document.O("a", nil), "", 0},
		{document.O("a", document.O("$gt", 1)), "", 0},
		{document.O("$or", document.A(document.O("a", 1), document.O("a", 2))), "", 0},
		{document.O("tags", "x"), "tags_1_a_1", 1},
		{document.O("tags", "x", "a", 1, "b.c", 1), "a_1_b.c_-1", 2},
		{document.O("tags", document.A("x")), "", 0},
		{document.O("at", 1), "", 0},
		{document.O("list.0", 1), "", 0},
		{document.O(), "", 0},
	} {
		f, err := document.CompileFilter(test.filter)
		require.NoError(t, err)
		p, index := now.planFor(f), ""
		switch {
		case p.hasID:
			index = "_id"
		case p.index != nil:
			index = p.index.name()
		}
		require.Equal(t, test.index, index, "for %s", test.filter)
		require.Len(t, p.equal, test.keys, "for %s", test.filter)
	}
}

func TestLeaderboardKeepsTheFirst(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	type item struct{ rank, number int }
	compare := func(a, b item) int { return a.rank - b.rank }
	for range 500 {
		items := make([]item, random.IntN(40))
		l := leaderboard[item]{compare: compare, size: random.Int64N(45)}
		for i := range items {
			items[i] = item{rank: random.IntN(6), number: i}
			l.add(items[i])
		}
		slices.SortStableFunc(items, compare)
		if l.size > 0 {
			items = items[:min(int64(len(items)), l.size)]
		}
		require.Equal(t, items, l.ranking())
	}
}

func TestVersionsThatNobodyReadsAreFreed(t *testing.T) {
	t.Parallel()
	c := &collection{store: New(), name: "c"}
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 1)))
	now, err := c.newest()
	require.NoError(t, err)
	old := weak.Make(now)
	now = nil
	for id := range 3 {
		require.NoError(t, c.Insert(t.Context(), document.O("_id", id+2)))
	}
	runtime.GC() //nolint:revive // What it frees is the question.
	require.Nil(t, old.Value())
	runtime.KeepAlive(c)
	require.Nil(t, now)
}
