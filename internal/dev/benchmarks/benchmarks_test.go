package main

import (
	"cmp"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A comparison is only fair if both stores return the same results. Rows with the same index share their stores.
func TestStores_Agree(t *testing.T) {
	t.Parallel()
	byIndex := map[index][]storeRow{}
	for _, row := range storeRows {
		byIndex[row.index] = append(byIndex[row.index], row)
	}
	for of, rows := range byIndex {
		t.Run(cmp.Or(string(of), "no index"), func(t *testing.T) {
			t.Parallel()
			var opened []engine
			for _, each := range engines {
				e, err := each.open(t.Context(), few, of)
				require.NoError(t, err)
				opened = append(opened, e)
			}
			for _, row := range rows {
				var answers [2][3]int64
				for i, e := range opened {
					var err error
					for round := range answers[i] {
						answers[i][round], err = row.do(t.Context(), e, round)
						require.NoError(t, err, "%s: %s", row.title, engines[i].name)
					}
				}
				require.NotZero(t, answers[0][0], row.title)
				require.Equal(t, answers[0], answers[1], row.title)
			}
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
