package inbox_test

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/inbox/inboxtest"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

func TestInbox_InMemory(t *testing.T) {
	t.Parallel()
	inboxtest.RunInbox(t, inboxtest.Outcomes, func(*testing.T) store.Store { return memstore.New() })
}

func TestNew_RefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	for field, broken := range map[string]func(*inbox.Config){
		"env.store": func(c *inbox.Config) { c.Env.Store = nil },
		"deriveId":  func(c *inbox.Config) { c.DeriveID = nil },
		"leases":    func(c *inbox.Config) { c.Leases = nil },
		"handler":   func(c *inbox.Config) { c.Handler = nil },
		"Workers":   func(c *inbox.Config) { c.Workers = -1 },
		"Limit":     func(c *inbox.Config) { c.Limit = -1 },
	} {
		config := configOf(t, memstore.New(), func(context.Context, *inbox.Delivery) error { return nil })
		broken(&config)
		_, err := inbox.New(config)
		failure, ok := boterr.AsError(err)
		require.True(t, ok, field)
		require.Equal(t, boterr.InvalidArgument, failure.Code)
		require.Equal(t, field, failure.Field)
	}
}

func configOf(t *testing.T, database store.Store, handler inbox.Handler) inbox.Config {
	t.Helper()
	env := record.Env{Store: database}
	leases, err := lease.New(lease.Config{Env: env})
	require.NoError(t, err)
	return inbox.Config{Env: env, Leases: leases, DeriveID: func(of string) string { return of }, Handler: handler}
}

func TestRun_EndsAfterWhatItHasBegunAndGivesTheRestBack(t *testing.T) {
	t.Parallel()
	began, goOn := make(chan struct{}), make(chan struct{})
	config := configOf(t, memstore.New(), func(context.Context, *inbox.Delivery) error {
		began <- struct{}{}
		<-goOn
		return nil
	})
	config.Workers = 1
	p := newInbox(t, config)
	for _, from := range []string{"ada", "ada", "bob"} {
		accept(t, p, from)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- p.Run(ctx) }()
	<-began
	stop()
	close(goOn)
	require.NoError(t, <-ended)
	stats, err := p.Stats(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 2, stats.Pending)
	at, ok, err := p.Next(t.Context())
	require.NoError(t, err)
	require.True(t, ok)
	now, err := config.Leases.Now(t.Context())
	require.NoError(t, err)
	require.False(t, at.After(now), "another process can handle them at once")
}

func TestRun_TwiceAtOnce(t *testing.T) {
	t.Parallel()
	began := make(chan struct{})
	p, err := inbox.New(configOf(t, memstore.New(), func(context.Context, *inbox.Delivery) error {
		close(began)
		return nil
	}))
	require.NoError(t, err)
	accept(t, p, "ada")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- p.Run(ctx) }()
	<-began
	require.Equal(t, boterr.FailedPrecondition, boterr.CodeOf(p.Run(ctx)))
	stop()
	require.NoError(t, <-ended)
}

func Example() {
	env := record.Env{Store: memstore.New()}
	leases, err := lease.New(lease.Config{Env: env})
	if err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	events, err := inbox.New(inbox.Config{
		Env: env, Leases: leases, DeriveID: func(of string) string { return of },
		Handler: func(_ context.Context, d *inbox.Delivery) error {
			fmt.Println(d.Event.From, "says", document.Get(d.Event.Body, "text", ""))
			if d.Event.Key == "m2" {
				stop()
			}
			return nil
		},
	})
	if err != nil {
		panic(err)
	}
	for _, key := range []string{"m1", "m1", "m2"} { // The platform repeats the first event.
		accepted, err := events.Accept(ctx, inbox.Event{
			App: "app", Channel: "web", From: "ada", Key: key, Body: document.O("text", "hi, "+key),
		})
		if err != nil {
			panic(err)
		}
		fmt.Println(key, "is a repetition:", accepted.IsRepeated)
	}
	if err := events.Run(ctx); err != nil {
		panic(err)
	}
	// Output:
	// m1 is a repetition: false
	// m1 is a repetition: true
	// m2 is a repetition: false
	// ada says hi, m1
	// ada says hi, m2
}

func TestAccept_DoesNotWaitForEverForAStoreThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	silent := store.Wrap(memstore.New(), func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
		if call.Method == "insert" {
			<-ctx.Done()
		}
		return ctx, nil, ctx.Err()
	})
	config := configOf(t, silent, func(context.Context, *inbox.Delivery) error { return nil })
	config.AcceptTimeout = time.Millisecond
	_, err := newInbox(t, config).Accept(context.WithoutCancel(t.Context()), inbox.Event{App: "app", Channel: "web", From: "ada"})
	require.Equal(t, boterr.Canceled, boterr.CodeOf(err))
}

// The bound is slightly above the present number of allocations for an event whose handler does nothing, so
// that the test fails if there is more work for each event.
//
//nolint:paralleltest // What other tests allocate at the same time would be counted.
func TestAllocations_OfAnEvent(t *testing.T) {
	const most = 70 // An event takes 64, and a few more if the handler starts later.
	settled := make(chan struct{}, 1)
	config := configOf(t, memstore.New(), func(context.Context, *inbox.Delivery) error { return nil })
	config.Settled = func(context.Context, inbox.Settled) { settled <- struct{}{} }
	b := newInbox(t, config)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- b.Run(ctx) }()
	next := 0
	var failed error
	allocated := math.Inf(1) // The minimum of several measurements, because timers of the inbox also allocate.
	for range 10 {
		allocated = min(allocated, testing.AllocsPerRun(100, func() {
			next++
			_, err := b.Accept(ctx, inbox.Event{App: "app", Channel: "web", From: strconv.Itoa(next % 100), Key: strconv.Itoa(next)})
			if err != nil {
				failed = err
				return
			}
			<-settled
		}))
	}
	stop()
	require.NoError(t, <-ended)
	require.NoError(t, failed)
	require.LessOrEqual(t, allocated, float64(most))
}

func BenchmarkMembers(b *testing.B) {
	inboxtest.Benchmark(b, memstore.New(), inboxtest.Load{Members: 1000, Producers: 4})
}

func BenchmarkOneMember(b *testing.B) {
	inboxtest.Benchmark(b, memstore.New(), inboxtest.Load{Members: 1, Producers: 4})
}
