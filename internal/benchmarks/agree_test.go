package main

import (
	"cmp"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEngines_Agree holds every row of the table to one result: a benchmark of
// engines that answer differently compares nothing. The nearest places and the
// places that findAndModify takes are compared in order, others as sets.
func TestEngines_Agree(t *testing.T) {
	t.Parallel()
	for _, work := range tasks {
		work.documents = 1_000
		t.Run(work.work+"/"+work.variant, func(t *testing.T) {
			t.Parallel()
			want := told(t, contenders[0], work)
			require.NotEqual(t, facts{}, want, "the work gives something")
			for _, other := range contenders[1:] {
				got := told(t, other, work)
				if got.count >= 0 {
					require.Equal(t, want, got, "%s and %s", contenders[0].name, other.name)
				}
			}
		})
	}
}

// told runs a task for three rounds and returns what the last one gave; a count
// of -1 where the engine lacks the means.
func told(t *testing.T, c contender, work task) facts {
	t.Helper()
	r, err := c.start(t.Context(), work)
	require.NoError(t, err, c.name)
	defer r.close()
	require.NotPanics(t, func() { err = errors.Join(r.do(0), r.do(1)) })
	if errors.Is(err, errLacking) {
		return facts{count: -1}
	}
	require.NoError(t, err, c.name)
	told, err := r.tell(1)
	require.NoError(t, err, c.name)
	if work.kind != findNear {
		slices.SortFunc(told.places, func(a, b place) int { return cmp.Compare(a.ID, b.ID) })
	}
	slices.Sort(told.values)
	return told
}

func TestQueries_FindWhatTheTableSays(t *testing.T) {
	t.Parallel()
	for q, count := range map[question]int{nameIs: 1, areaIs: 476, priceBetween: 471, tagIs: 527, areaAndPrice: 118} {
		found := 0
		for i := range few {
			p := placeAt(i)
			if p.meets(q) {
				found++
			}
		}
		require.Equal(t, count, found, "query %d", q)
	}
}
