package bolt_test

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/inbox"
	"github.com/botctx/go-sdk/lease"
	"github.com/botctx/go-sdk/record"
)

// BenchmarkInbox accepts events of 1,000 members by 64 goroutines, and handles them meanwhile by as many
// workers, with a handler that does nothing. All of it is on disk.
func BenchmarkInbox(b *testing.B) {
	const producers, members = 64, 1000
	env := record.Env{Store: open(b, newPath(b))}
	turns, err := lease.NewTurns(lease.TurnsConfig{Env: env})
	require.NoError(b, err)
	var handled atomic.Int64
	done := make(chan struct{})
	box, err := inbox.New(inbox.Config{
		Env: env, Turns: turns, DeriveID: func(of string) string { return of }, MaxPending: -1, Workers: producers,
		Handler: func(context.Context, *inbox.Delivery) error {
			if handled.Add(1) == int64(b.N) {
				close(done)
			}
			return nil
		},
	})
	require.NoError(b, err)
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error)
	go func() { ended <- box.Run(ctx) }()
	b.ResetTimer()
	var next atomic.Int64
	var all sync.WaitGroup
	for range producers {
		all.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				_, err := box.Accept(ctx, inbox.Event{
					App: "app", Channel: "web", From: strconv.FormatInt(i%members, 10), Key: strconv.FormatInt(i, 10),
				})
				if err != nil {
					panic(err)
				}
			}
		})
	}
	all.Wait()
	<-done
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
	stop()
	require.NoError(b, <-ended)
}
