package mongotest_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/inbox/inboxtest"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/record"
)

func TestInbox(t *testing.T) {
	t.Parallel()
	inboxtest.RunInbox(t, newStore)
}

// TestInbox_RoundTrips counts the commands that docs/scaling.md tells: one to accept, three to handle,
// and those of the look that many events share.
func TestInbox_RoundTrips(t *testing.T) {
	t.Parallel()
	const events, ofALook = 20, 6
	counted := newCounted(t)
	env := record.Env{Store: counted.Store}
	turns, err := lease.NewTurns(lease.TurnsConfig{Env: env})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var left atomic.Int64
	box, err := inbox.New(inbox.Config{
		Env: env, Turns: turns, DeriveID: func(of string) string { return of }, Retention: -1,
		Poll: time.Hour, // However long the server takes, no look is repeated.
		Handler: func(context.Context, *inbox.Delivery) error {
			if left.Add(-1) == 0 {
				stop()
			}
			return nil
		},
	})
	require.NoError(t, err)
	_, err = box.Stats(t.Context()) // Makes the indexes.
	require.NoError(t, err)
	_, err = turns.Sweep(t.Context(), lease.DefaultLease)
	require.NoError(t, err)

	began := counted.commands.Load()
	for i := range events {
		key := strconv.Itoa(i)
		_, err := box.Accept(t.Context(), inbox.Event{App: "app", Channel: "web", From: "member " + key, Key: key})
		require.NoError(t, err)
	}
	require.EqualValues(t, events+1, counted.commands.Load()-began, "one each, and one that counts what waits of the app")
	left.Store(events)
	began = counted.commands.Load()
	require.NoError(t, box.Run(ctx))
	used := counted.commands.Load() - began
	t.Logf("%d commands for %d events", used, events)
	require.LessOrEqual(t, used, int64(3*events+2*ofALook+sweepTrips), "to handle")
}

// sweepTrips are the commands with which Run begins: what removes idle lanes.
const sweepTrips = 4
