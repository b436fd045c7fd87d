package inboxtest

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/store"
)

var crashRules = []Rule{
	rule(crashBlamesNobodyBesideOthers,
		"events that ran together when their process was lost have not failed, and are handled again at once"),
	rule(crashBesideAnEditedRecord, "whatever an operator has written into the record of an event, the next process continues after a crash"),
	rule(guiltyEventIsFound, "of events that run together, only the event that kills each process becomes a dead letter in the end"),
	rule(suspectsRunOneAtATime, "events that were lost together run one at a time, while other events run"),
	rule(suspectThatDoesNotEnd, "a lost event whose handler never returns delays the events that were lost with it only for a limited time"),
	rule(suspectThatWasLostAgainRunsAlone, "while an event runs that was lost together with others twice, no other event begins"),
}

// crowd makes a process begin a number of events. The handler must never return, as in a crash.
func (t *trial) crowd(p *inbox.Inbox, began <-chan string, events int) {
	t.Helper()
	for range events {
		go func() { _, _ = p.RunNext(t.Context()) }()
	}
	for range events {
		<-began
	}
}

// forever returns a handler that blocks until the test ends, and a channel that receives the senders of the events
// that began.
func (t *trial) forever() (handler inbox.Handler, began chan string) {
	began = make(chan string, 1000)
	return func(_ context.Context, d *inbox.Delivery) error {
		began <- d.Event.From
		<-t.Context().Done()
		return nil
	}, began
}

// crashTogether accepts an event from each sender, and loses all of these events in one crash.
func (t *trial) crashTogether(senders ...string) {
	t.Helper()
	handler, began := t.forever()
	p := t.process(handler)
	for _, from := range senders {
		t.accept(p, event(from, "hi"))
	}
	t.crowd(p, began, len(senders))
	t.advance(lease.DefaultLease)
}

func crashBlamesNobodyBesideOthers(t *trial) {
	t.crashTogether("ada", "bob", "cleo")
	t.requireHandled("hi", "hi", "hi")
	attempts := map[string]int{}
	once := t.process(func(_ context.Context, d *inbox.Delivery) error {
		attempts[d.Event.From] = d.Attempt
		return nil
	}, func(c *inbox.Config) { c.Limit = 1 })
	t.drain(once)
	require.Equal(t, map[string]int{"ada": 2, "bob": 2, "cleo": 2}, attempts)
	require.Empty(t, t.letters(once, inbox.DeadLettersParams{}))
}

func crashBesideAnEditedRecord(t *trial) {
	for i, lost := range []any{"x", -1, 2.5, true, int64(math.MaxInt64), document.O("n", 1)} {
		edited, beside := traced(fmt.Sprint("ada ", i), "edited"), event(fmt.Sprint("bob ", i), "beside")
		handler, began := t.forever()
		p := t.process(handler)
		t.accept(p, edited, beside)
		t.crowd(p, began, 2)
		t.edit("edited", document.O("lost", lost))
		t.advance(lease.DefaultLease)
		next := t.process(nil)
		t.drainAll(next)
		t.mu.Lock()
		require.ElementsMatch(t, []string{"edited", "beside", "edited", "beside"}, t.handled)
		t.handled = nil
		t.mu.Unlock()
		require.Empty(t, t.letters(next, inbox.DeadLettersParams{}))
	}
}

func guiltyEventIsFound(t *trial) {
	const limit, innocent = 3, 5
	f := &fleet{trial: t, limit: limit, all: make(chan struct{})}
	f.left.Store(2*innocent + 1)
	first := t.process(nil)
	for i := range innocent {
		t.accept(first, event(fmt.Sprint("innocent ", i), "hi"))
	}
	t.accept(first, event("guilty", "deadly"))
	for i := range innocent {
		t.accept(first, event(fmt.Sprint("late ", i), "hi"))
	}
	crashes := 0
	for f.live(crashes) {
		crashes++
		t.advance(lease.DefaultLease + time.Minute)
	}
	letters := t.letters(first, inbox.DeadLettersParams{})
	require.Len(t, letters, 1)
	require.Equal(t, "guilty", letters[0].Event.From)
	require.Equal(t, limit, letters[0].Failures)
	require.LessOrEqual(t, crashes, limit+2)
}

// fleet is a series of processes. One event kills each of them, and another process replaces it.
type fleet struct {
	*trial

	limit int
	// left is the number of events without a result. all is closed when it reaches 0.
	left atomic.Int64
	all  chan struct{}
}

// live runs a process until the guilty event kills it. It returns false if the process survived and handled all
// events. In the first process, all other runs last until its end. In later processes they take a while, and end at
// the latest with the process.
func (f *fleet) live(crashes int) (crashed bool) {
	f.Helper()
	const slow = 20 * time.Millisecond
	crash := make(chan struct{})
	_, kill := f.mortal(func(_ context.Context, d *inbox.Delivery) error {
		if d.Event.From == "guilty" {
			close(crash)
		} else if crashes > 0 {
			select {
			case <-crash:
			case <-time.After(slow):
				return nil
			}
		}
		<-f.Context().Done()
		return nil
	}, func(c *inbox.Config) {
		c.Limit, c.Poll, c.Backoff = f.limit, time.Millisecond, func(int) time.Duration { return 0 }
		c.Settled = func(_ context.Context, s inbox.Settled) {
			if (s.Err == nil || s.IsDead) && f.left.Add(-1) == 0 {
				close(f.all)
			}
		}
	})
	defer kill()
	select {
	case <-crash:
		return true
	case <-f.all:
		return false
	}
}

// stepping returns a process in which each event blocks until goOn receives. began receives the senders of started
// events.
func (t *trial) stepping() (p *inbox.Inbox, began chan string, goOn chan struct{}) {
	t.Helper()
	began, goOn = make(chan string, 100), make(chan struct{})
	p = t.process(func(_ context.Context, d *inbox.Delivery) error {
		began <- d.Event.From
		select {
		case <-goOn:
		case <-t.Context().Done():
		}
		return nil
	}, func(c *inbox.Config) { c.Poll = time.Millisecond })
	return p, began, goOn
}

func suspectsRunOneAtATime(t *trial) {
	t.crashTogether("ada", "bob", "cleo")
	p, began, goOn := t.stepping()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() { _ = p.Run(ctx) }()
	seen := map[string]bool{<-began: true}
	for i := range 3 {
		fresh := fmt.Sprint("fresh ", i)
		t.accept(p, event(fresh, "hi"))
		require.Equal(t, fresh, <-began, "a suspect began beside another one, or an event waits for a suspect")
	}
	for range 4 { // One suspect and three fresh events are running.
		goOn <- struct{}{}
	}
	for range 2 {
		seen[<-began] = true
		require.Empty(t, began, "a suspect began beside another one")
		goOn <- struct{}{}
	}
	require.Equal(t, map[string]bool{"ada": true, "bob": true, "cleo": true}, seen)
}

func suspectThatDoesNotEnd(t *trial) {
	t.crashTogether("ada", "bob", "cleo")
	handler, began := t.forever()
	env, calls := t.env(), make(chan struct{}, 1)
	env.Store = store.Wrap(env.Store, func(ctx context.Context, _ store.Call) (context.Context, func(int, error) error, error) {
		select {
		case calls <- struct{}{}:
		default: // A call is already reported.
		}
		return ctx, nil, nil
	})
	p := t.processIn(env, handler, func(c *inbox.Config) { c.Poll = time.Millisecond })
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() { _ = p.Run(ctx) }()
	// Time passes only with the calls of the process, so that no lease expires before it is used.
	const callsPerStep = 5
	seen := map[string]bool{}
	for made := 0; len(seen) < 3; {
		select {
		case from := <-began:
			seen[from] = true
		case <-calls:
			made++
			if made%callsPerStep == 0 {
				t.advance(5 * time.Second)
			}
			require.Less(t, made, 12*60*callsPerStep, "only %v began within an hour", seen)
		}
	}
}

func suspectThatWasLostAgainRunsAlone(t *trial) {
	t.crashTogether("ada", "bob")
	handler, began := t.forever()
	second, kill := t.mortal(handler, func(c *inbox.Config) { c.Poll = time.Millisecond })
	suspect := <-began
	t.accept(second, event("beside", "hi"))
	require.Equal(t, "beside", <-began)
	kill()
	t.advance(lease.DefaultLease)

	third, began, goOn := t.stepping()
	t.accept(third, event("fresh", "hi"))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() { _ = third.Run(ctx) }()
	for isDone := false; !isDone; goOn <- struct{}{} {
		if isDone = <-began == suspect; isDone {
			t.accept(third, event("late", "hi"))
			require.Empty(t, began, "an event began beside a suspect that runs alone")
		}
	}
}
