package inbox_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/store/memstore"
)

// An event that is accepted, and handled by a handler that does nothing, has a bound of what it allocates, a
// little above what is reached, which tells when its way has become longer.
//
//nolint:paralleltest // What other tests allocate at the same time would be counted.
func TestAllocations_OfAnEvent(t *testing.T) {
	const most = 60
	settled := make(chan struct{}, 1)
	config := configOf(t, memstore.New(), func(context.Context, *inbox.Delivery) error { return nil })
	config.Hooks.Settled = func(context.Context, inbox.Settled) { settled <- struct{}{} }
	b := newInbox(t, config)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- b.Run(ctx) }()
	next := 0
	var failed error
	allocated := testing.AllocsPerRun(1000, func() {
		next++
		_, err := b.Accept(ctx, inbox.Event{App: "app", Channel: "web", From: strconv.Itoa(next % 100), Key: strconv.Itoa(next)})
		if err != nil {
			failed = err
			return
		}
		<-settled
	})
	stop()
	require.NoError(t, <-ended)
	require.NoError(t, failed)
	require.LessOrEqual(t, allocated, float64(most))
}
