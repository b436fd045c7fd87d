package inbox_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// seldom is the interval of polls. No test waits for a second poll.
const seldom = time.Hour

// processOn returns the inbox of a process on a shared store. It relies on notices, because it polls very rarely.
func processOn(t *testing.T, shared *sharedtest.Store, handler inbox.Handler) *inbox.Inbox {
	t.Helper()
	config := configOf(t, shared, handler)
	config.Poll = seldom
	return newInbox(t, config)
}

// notHere returns the handler of a process that must not handle any event.
func notHere(t *testing.T) inbox.Handler {
	t.Helper()
	return func(context.Context, *inbox.Delivery) error {
		t.Error("an event is handled by a process that should not handle any")
		return nil
	}
}

func accept(t *testing.T, p *inbox.Inbox, from string) {
	t.Helper()
	if _, err := p.Accept(t.Context(), inbox.Event{App: "app", Channel: "web", From: from}); err != nil {
		t.Error(err)
	}
}

func TestNotices_EventThatAnotherProcessAccepts(t *testing.T) {
	t.Parallel()
	for name, isLost := range map[string]bool{"notice": false, "lost notice, which the next one makes up for": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shared := sharedtest.New(memstore.New())
			began, done := make(chan struct{}), make(chan struct{})
			p := processOn(t, shared, func(_ context.Context, d *inbox.Delivery) error {
				if d.Event.From == "first" {
					close(began)
				} else {
					close(done)
				}
				return nil
			})
			sends := shared
			if isLost {
				sends = sharedtest.New(shared.Store)
			}
			accepting := processOn(t, sends, notHere(t))
			accept(t, accepting, "first") // The first poll finds this event.
			go func() {
				<-began
				accept(t, accepting, "ada")
				if isLost {
					shared.Notify("inbox", "")
				}
			}()
			runUntil(t, p, done)
		})
	}
}

func TestNotices_EventOfALaneThatAnotherProcessHas(t *testing.T) {
	t.Parallel()
	shared := sharedtest.New(memstore.New())
	held, goOn, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var handled atomic.Int64
	handle := func(context.Context, *inbox.Delivery) error {
		if handled.Add(1) == 1 {
			close(held)
			<-goOn
		} else {
			close(done) // Either process may handle the second event.
		}
		return nil
	}
	holder, other := processOn(t, shared, handle), processOn(t, shared, handle)
	accept(t, processOn(t, sharedtest.New(shared.Store), notHere(t)), "ada") // The first poll finds this event.
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		<-held
		heard := make(chan struct{}, 10)
		stopListening := shared.Listen("inbox", func(string) { heard <- struct{}{} })
		defer stopListening()
		go func() { _ = other.Run(ctx) }()
		accept(t, other, "ada")
		<-heard
		close(goOn)
	}()
	runUntil(t, holder, done)
}

// A lane that could not be handled is tried at the next poll. It does not wait for the next pass over the store, which
// comes later.
func TestNotices_LaneThatIsNotHandledWaitsForThePollOnly(t *testing.T) {
	t.Parallel()
	for name, interfere := range map[string]func(t *testing.T, shared store.Store) store.Store{
		"another process claims it first": func(t *testing.T, shared store.Store) store.Store {
			t.Helper()
			claiming := store.Call{Method: "insert", Collection: "leases"}
			return meanwhile(shared, claiming, func() {
				other := configOf(t, shared, notHere(t)).Leases
				now, err := other.Now(t.Context())
				require.NoError(t, err)
				held, err := other.Claim(t.Context(), inbox.Lane("app", "web", "ada"), document.Object{}, now, lease.Work{Purpose: "run"})
				require.NoError(t, err)
				require.NoError(t, held.Release(t.Context()))
			}, nothingHappened)
		},
		"the result is not stored": func(t *testing.T, shared store.Store) store.Store {
			t.Helper()
			isFirst := true
			return store.Wrap(shared, func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
				if isFirst && call == (store.Call{Method: "delete", Collection: "inbox"}) {
					isFirst = false
					return ctx, nil, boterr.New(boterr.Unavailable, "", "no answer")
				}
				return ctx, nil, nil
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				defer renewalEnds()
				handled := 0
				config := configOf(t, interfere(t, sharedtest.New(memstore.New())), counting(&handled))
				p := newInbox(t, config)
				stop := running(t, p)
				defer stop()
				synctest.Wait()
				accept(t, p, "ada")
				<-time.After(2 * time.Second)
				stats, err := p.Stats(t.Context())
				require.NoError(t, err)
				require.Zero(t, stats.Pending)
				require.NotZero(t, handled)
			})
		})
	}
}

func TestNotices_EventThatAProcessAcceptsWhileItsRunEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		defer renewalEnds()
		shared := sharedtest.New(memstore.New())
		goOn := make(chan struct{})
		ending := processOn(t, shared, func(context.Context, *inbox.Delivery) error {
			<-goOn
			return nil
		})
		handled := 0
		stop := running(t, ending)
		accept(t, ending, "ada")
		synctest.Wait()
		defer running(t, processOn(t, shared, counting(&handled)))()
		synctest.Wait()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			stop()
		}()
		synctest.Wait()
		accept(t, ending, "bob")
		synctest.Wait()
		close(goOn)
		<-ended
		require.Equal(t, 1, handled)
	})
}
