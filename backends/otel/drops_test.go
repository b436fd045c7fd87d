package otel_test

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/send"
)

func TestObserveDrops(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	drops := &send.Drops{Logger: slog.New(slog.DiscardHandler)}
	stop, err := w.o.ObserveDrops(drops)
	require.NoError(t, err)
	require.Empty(t, named(w.points(), "botctx.inbox.dropped"))
	for _, kind := range []string{"reaction_added", "pin_added", "reaction_added"} {
		drops.Add(t.Context(), send.Drop{Platform: channel.Charlie, App: "a1", Channel: "c1", Kind: kind, Reason: send.DropUnsupported})
	}
	require.Equal(t, []string{
		"botctx.inbox.dropped botctx.drop.kind=pin_added botctx.drop.reason=unsupported messaging.system=charlie: 1",
		"botctx.inbox.dropped botctx.drop.kind=reaction_added botctx.drop.reason=unsupported messaging.system=charlie: 2",
	}, named(w.points(), "botctx.inbox.dropped"))
	require.NoError(t, stop())
	require.Empty(t, named(w.points(), "botctx.inbox.dropped"))
}
