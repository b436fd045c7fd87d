package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStores_Agree holds both stores to the same results: a benchmark of stores that answer differently compares nothing.
func TestStores_Agree(t *testing.T) {
	t.Parallel()
	for _, row := range storeRows {
		t.Run(row.title, func(t *testing.T) {
			t.Parallel()
			var answers [2][3]int64
			for i, each := range engines {
				e, err := each.open(t.Context(), few, row.index)
				require.NoError(t, err)
				for round := range answers[i] {
					answers[i][round], err = row.do(t.Context(), e, round)
					require.NoError(t, err, each.name)
				}
			}
			require.NotZero(t, answers[0][0])
			require.Equal(t, answers[0], answers[1])
		})
	}
}
