package main

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A comparison is only fair if both stores return the same results.
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

const reply = `^Ada, there are \d+ seats\.$`

func TestTurns_OfTheRuntimeReply(t *testing.T) {
	t.Parallel()
	turns, err := ownTurns(t.Context())
	require.NoError(t, err)
	_, said, err := turns(time.Millisecond)
	require.NoError(t, err)
	require.Regexp(t, reply, said)
}

// A comparison is only fair if all bots send the same reply.
func TestTurns_OfPeersReply(t *testing.T) {
	t.Parallel()
	for _, framework := range frameworks {
		t.Run(framework, func(t *testing.T) {
			t.Parallel()
			p, err := startPeer(t.Context(), framework)
			if errors.Is(err, errNoNode) || errors.Is(err, errNoPackages) {
				t.Skip(err)
			}
			require.NoError(t, err)
			defer p.close()
			one, said, err := p.turns(time.Millisecond)
			require.NoError(t, err)
			require.Positive(t, one)
			require.Regexp(t, reply, said)
		})
	}
}
