package inbox_test

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
	"github.com/botctx/go-sdk/store/memstore"
)

// BenchmarkMembers accepts and handles events of 1,000 members, with a handler that does nothing.
func BenchmarkMembers(b *testing.B) { benchmark(b, 1000, 4) }

// BenchmarkOneMember accepts and handles the events of one member.
func BenchmarkOneMember(b *testing.B) { benchmark(b, 1, 4) }

// benchmark accepts events of members by so many goroutines, and handles them meanwhile.
func benchmark(b *testing.B, members, producers int) {
	b.Helper()
	env := record.Env{Store: memstore.New()}
	turns, err := lease.NewTurns(lease.TurnsConfig{Env: env})
	require.NoError(b, err)
	var handled atomic.Int64
	done := make(chan struct{})
	box, err := inbox.New(inbox.Config{
		Env: env, Turns: turns, DeriveID: func(of string) string { return of }, MaxPending: -1,
		Handler: func(context.Context, *inbox.Delivery) error {
			if handled.Add(1) == int64(b.N) {
				close(done)
			}
			return nil
		},
	})
	require.NoError(b, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- box.Run(ctx) }()
	b.ResetTimer()
	var next atomic.Int64
	var all sync.WaitGroup
	for range producers {
		all.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				_, err := box.Accept(ctx, inbox.Event{
					App: "app", Channel: "web", From: strconv.FormatInt(i%int64(members), 10), Key: strconv.FormatInt(i, 10),
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
