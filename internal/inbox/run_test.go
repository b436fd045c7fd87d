package inbox_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// sharedStore is a store that other processes may work on.
type sharedStore struct{ store.Store }

// jumpingClock is a clock that can be set ahead.
type jumpingClock struct{ by atomic.Int64 }

func (c *jumpingClock) now() time.Time {
	return record.Env{}.WithDefaults().Now().Add(time.Duration(c.by.Load()))
}

// countingStore counts how often its clock is asked.
type countingStore struct {
	store.Store

	asked atomic.Int64
}

func (s *countingStore) Now(ctx context.Context) (time.Time, error) {
	s.asked.Add(1)
	return s.Store.Now(ctx)
}

// runUntil runs an inbox until done is closed.
func runUntil(t *testing.T, p *inbox.Inbox, done <-chan struct{}) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	ended := make(chan error)
	go func() { ended <- p.Run(ctx) }()
	select {
	case <-done:
	case <-ctx.Done():
	}
	stop()
	require.NoError(t, <-ended)
	select {
	case <-done:
	default:
		require.Fail(t, "what was to be handled never was")
	}
}

func TestRun_EventOfARunThatWasFrozenForALeaseIsHandledAgain(t *testing.T) {
	t.Parallel()
	var clock jumpingClock
	env := record.Env{Store: sharedStore{memstore.New()}, Now: clock.now}
	turns, err := lease.NewTurns(lease.TurnsConfig{Env: env, Lease: 200 * time.Millisecond})
	require.NoError(t, err)
	done := make(chan struct{})
	var once sync.Once
	var isAgain atomic.Bool
	p, err := inbox.New(inbox.Config{
		Env: env, Turns: turns, DeriveID: func(of string) string { return of }, Options: inbox.Options{Poll: 20 * time.Millisecond},
		Handler: func(context.Context, *inbox.Delivery) error {
			if !isAgain.Swap(true) {
				clock.by.Add(int64(time.Minute)) // As if the process had been stopped.
				return nil
			}
			once.Do(func() { close(done) })
			return nil
		},
	})
	require.NoError(t, err)
	_, err = p.Accept(t.Context(), inbox.Event{App: "app", Channel: "web", From: "ada"})
	require.NoError(t, err)
	runUntil(t, p, done)
}

func TestRun_LaneThatCannotBeEnteredHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	config := configOf(t, memstore.New(), func(_ context.Context, d *inbox.Delivery) error {
		if d.Event.From == "bob" {
			close(done)
		}
		return nil
	})
	var refused atomic.Int64
	config.Enter = func(lane string) (func(), bool) {
		if lane == inbox.Lane("app", "web", "ada") {
			refused.Add(1)
			return nil, false
		}
		return func() {}, true
	}
	p, err := inbox.New(config)
	require.NoError(t, err)
	for range 70 {
		_, err := p.Accept(t.Context(), inbox.Event{App: "app", Channel: "web", From: "ada"})
		require.NoError(t, err)
	}
	_, err = p.Accept(t.Context(), inbox.Event{App: "app", Channel: "web", From: "bob"})
	require.NoError(t, err)
	runUntil(t, p, done)
	require.LessOrEqual(t, refused.Load(), int64(12), "a lane that cannot be entered is asked again with the next poll")
}

func TestRun_TriesAgainAfterThePauseHoweverSeldomItPolls(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	config := configOf(t, memstore.New(), func(_ context.Context, d *inbox.Delivery) error {
		if d.Attempt == 1 {
			return errors.New("try again")
		}
		close(done)
		return nil
	})
	config.Poll, config.Backoff = time.Hour, func(int) time.Duration { return time.Millisecond }
	p, err := inbox.New(config)
	require.NoError(t, err)
	_, err = p.Accept(t.Context(), inbox.Event{App: "app", Channel: "web", From: "ada"})
	require.NoError(t, err)
	runUntil(t, p, done)
}

func TestRun_WaitsByTheClockOfTheStore(t *testing.T) {
	t.Parallel()
	var clock jumpingClock
	clock.by.Store(int64(time.Hour))
	database := &countingStore{Store: memstore.New()}
	env := record.Env{Store: database, Now: clock.now}
	turns, err := lease.NewTurns(lease.TurnsConfig{Env: env})
	require.NoError(t, err)
	done := make(chan struct{})
	var failed int64
	p, err := inbox.New(inbox.Config{
		Env: env, Turns: turns, DeriveID: func(of string) string { return of },
		Options: inbox.Options{Backoff: func(int) time.Duration { return 100 * time.Millisecond }},
		Handler: func(_ context.Context, d *inbox.Delivery) error {
			if d.Attempt == 1 {
				failed = database.asked.Load()
				return errors.New("try again")
			}
			close(done)
			return nil
		},
	})
	require.NoError(t, err)
	_, err = p.Accept(t.Context(), inbox.Event{App: "app", Channel: "web", From: "ada"})
	require.NoError(t, err)
	runUntil(t, p, done)
	require.Less(t, database.asked.Load()-failed, int64(50))
}

// meanwhileStore does something while events are looked for the first time.
type meanwhileStore struct {
	*memstore.Store

	once sync.Once
	do   func()
}

// Collection implements store.Store.
func (s *meanwhileStore) Collection(name string) store.Collection {
	if name != "inbox" {
		return s.Store.Collection(name)
	}
	return meanwhileCollection{s.Store.Collection(name), s}
}

type meanwhileCollection struct {
	store.Collection

	of *meanwhileStore
}

// Find implements store.Collection.
func (c meanwhileCollection) Find(ctx context.Context, filter *query.Filter, options store.FindOptions) ([]document.Object, error) {
	c.of.once.Do(c.of.do)
	return c.Collection.Find(ctx, filter, options)
}

func TestRun_EventThatIsAcceptedWhileTheQueueIsFilledIsHandledOnce(t *testing.T) {
	t.Parallel()
	database := &meanwhileStore{Store: memstore.New()}
	handled := 0
	p := newInbox(t, configOf(t, database, func(context.Context, *inbox.Delivery) error {
		handled++
		return nil
	}))
	database.do = func() {
		_, err := p.Accept(t.Context(), inbox.Event{App: "app", Channel: "web", From: "ada"})
		require.NoError(t, err)
	}
	for range 3 {
		_, err := p.RunNext(t.Context())
		require.NoError(t, err)
	}
	require.Equal(t, 1, handled)
	stats, err := p.Stats(t.Context())
	require.NoError(t, err)
	require.Zero(t, stats)
}

func TestRun_ClockThatGoesBackDelaysNoRetry(t *testing.T) {
	t.Parallel()
	for _, isAlone := range []bool{true, false} {
		var clock jumpingClock
		var database store.Store = memstore.New(memstore.WithNow(clock.now))
		if !isAlone {
			database = sharedStore{database}
		}
		done := make(chan struct{})
		config := configOf(t, database, func(_ context.Context, d *inbox.Delivery) error {
			if d.Attempt == 1 {
				return errors.New("try again")
			}
			close(done)
			return nil
		})
		config.Poll, config.Backoff = 5*time.Millisecond, func(int) time.Duration { return 10 * time.Minute }
		config.Hooks.Settled = func(_ context.Context, s inbox.Settled) {
			if s.Err != nil {
				clock.by.Add(-int64(time.Hour))
			}
		}
		p := newInbox(t, config)
		_, err := p.Accept(t.Context(), inbox.Event{App: "app", Channel: "web", From: "ada"})
		require.NoError(t, err)
		runUntil(t, p, done)
	}
}
