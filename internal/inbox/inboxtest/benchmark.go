package inboxtest

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
)

// Load is what a benchmark asks of an inbox.
type Load struct {
	// Members is whose events arrive by turns, and Producers how many goroutines accept them.
	Members, Producers int
	// Workers is inbox.Config.Workers.
	Workers int
}

// Benchmark accepts b.N events over a store, and handles them meanwhile with a handler that does nothing.
// It reports the events a second.
func Benchmark(b *testing.B, database store.Store, load Load) {
	b.Helper()
	var handled atomic.Int64
	done := make(chan struct{})
	box := idleInbox(b, database, load.Workers, func() {
		if handled.Add(1) == int64(b.N) {
			close(done)
		}
	})
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error)
	go func() { ended <- box.Run(ctx) }()
	b.ResetTimer()
	var next atomic.Int64
	var all sync.WaitGroup
	for range load.Producers {
		all.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				_, err := box.Accept(ctx, inbox.Event{
					App: "app", Channel: "web", From: strconv.FormatInt(i%int64(load.Members), 10), Key: strconv.FormatInt(i, 10),
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

// idleInbox returns an inbox that takes any number of events, and whose handler only counts.
func idleInbox(b *testing.B, database store.Store, workers int, count func()) *inbox.Inbox {
	b.Helper()
	return benchmarked(b, database, workers, func(context.Context, *inbox.Delivery) error {
		count()
		return nil
	})
}

// benchmarked returns an inbox that takes any number of events.
func benchmarked(b *testing.B, database store.Store, workers int, handler inbox.Handler) *inbox.Inbox {
	b.Helper()
	env := record.Env{Store: database}
	turns, err := lease.NewTurns(lease.TurnsConfig{Env: env})
	require.NoError(b, err)
	box, err := inbox.New(inbox.Config{
		Env: env, Turns: turns, DeriveID: func(of string) string { return of }, Options: inbox.Options{MaxPending: -1, Workers: workers},
		Handler: handler,
	})
	require.NoError(b, err)
	return box
}

// BenchmarkNeighbour measures how long an event of one app waits, from its acceptance to its handler, while
// the given number of members of another app have runs that hang.
func BenchmarkNeighbour(b *testing.B, database store.Store, hung int) {
	b.Helper()
	handled, release := make(chan struct{}), make(chan struct{})
	box := benchmarked(b, database, 0, func(ctx context.Context, d *inbox.Delivery) error {
		if d.Event.App == "hung" {
			select {
			case <-release:
			case <-ctx.Done():
			}
			return nil
		}
		handled <- struct{}{}
		return nil
	})
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error)
	go func() { ended <- box.Run(ctx) }()
	accept := func(app, from string, i int) {
		_, err := box.Accept(ctx, inbox.Event{App: app, Channel: "web", From: from, Key: strconv.Itoa(i)})
		require.NoError(b, err)
	}
	for i := range hung {
		accept("hung", strconv.Itoa(i), i)
	}
	b.ResetTimer()
	for i := range b.N {
		accept("app", "ada", i)
		<-handled
	}
	b.StopTimer()
	stop()
	close(release)
	require.NoError(b, <-ended)
}
