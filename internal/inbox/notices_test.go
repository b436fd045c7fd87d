package inbox_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/sharedtest"
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
