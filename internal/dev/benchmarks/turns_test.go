package main

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const reply = `^Ada, there are \d+ seats\.$`

func TestTurns_OfTheRuntimeReply(t *testing.T) {
	t.Parallel()
	turns, err := ownTurns(t.Context())
	require.NoError(t, err)
	_, said, err := turns(time.Millisecond)
	require.NoError(t, err)
	require.Regexp(t, reply, said)
}

// TestTurns_OfPeersReply holds the peers to the same reply: a benchmark of bots that do not do
// the same compares nothing.
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
