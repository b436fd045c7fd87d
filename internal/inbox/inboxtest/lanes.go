package inboxtest

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/store"
)

var laneRules = []Rule{
	{
		Name:  "LaneInItsOrder",
		Text:  "the events of a member are handled in the order in which they were accepted, by whatever process",
		check: laneInItsOrder,
	},
	{
		Name:  "EachOnceByManyProcesses",
		Text:  "of many processes that run at once, each event is handled once, each member's in order and one at a time",
		check: eachOnceByManyProcesses, needsProcesses: true,
	},
	{
		Name:  "LaneThatWaitsHoldsUpNobody",
		Text:  "members do not wait for each other, however many events one of them has waiting",
		check: laneThatWaitsHoldsUpNobody,
	},
	{
		Name:  "TurnIsTakenOver",
		Text:  "what a lost process held is taken over when its lease ends, not before, and counts as a failure",
		check: turnIsTakenOver, needsProcesses: true,
	},
	{
		Name:  "LostRunStoresNothing",
		Text:  "what comes of a run that has lost its turn is not stored, and the run is told so",
		check: lostRunStoresNothing,
	},
	{
		Name:  "KilledEachTimeEndsAsDeadLetter",
		Text:  "an event whose runs never come back ends as a dead letter, and its lane goes on",
		check: killedEachTimeEndsAsDeadLetter,
	},
	{
		Name:  "EventThatNeverBeganIsNotBlamed",
		Text:  "a turn that never came back is no failure of an event that it was not to handle",
		check: eventThatNeverBeganIsNotBlamed,
	},
	{
		Name:  "NextCountsNoLaneThatCannotBeEntered",
		Text:  "Next does not tell of events whose lane the process cannot enter, and does once it can",
		check: nextCountsNoLaneThatCannotBeEntered,
	},
}

// aloneRules are about stores that one process has to itself.
var aloneRules = []Rule{
	{
		Name:  "RestartTakesOverAtOnce",
		Text:  "where one process has the store, what a lost one held is free when the next begins, and what had begun counts as a failure once",
		check: restartTakesOverAtOnce,
	},
	{
		Name:  "NoLaneHasADocument",
		Text:  "where one process has the store, no lane has a document",
		check: noLaneHasADocument,
	},
}

func laneInItsOrder(t *trial) {
	first, second := t.process(nil), t.process(nil)
	var all []string
	for i := range 10 {
		text := strconv.Itoa(i)
		t.accept([]*inbox.Inbox{first, second}[i%2], event("ada", text))
		all = append(all, text)
	}
	for range 5 {
		t.runNext(second)
		t.runNext(first)
	}
	t.requireHandled(all...)
}

// witness notes what is handled at once.
type witness struct {
	mu      sync.Mutex
	running map[string]bool
	seen    map[string][]string
	broken  []string
	left    atomic.Int64
	done    chan struct{}
}

func (w *witness) handle(_ context.Context, d *inbox.Delivery) error {
	w.begin(d.Event)
	defer w.end(d.Event)
	return nil
}

func (w *witness) begin(e inbox.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running[e.From] {
		w.broken = append(w.broken, e.From+" had two runs at once")
	}
	w.running[e.From] = true
	w.seen[e.From] = append(w.seen[e.From], textOf(e))
}

func (w *witness) end(e inbox.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running[e.From] = false
	if w.left.Add(-1) == 0 {
		close(w.done)
	}
}

func eachOnceByManyProcesses(t *trial) {
	const members, each, processes = 5, 6, 3
	w := &witness{running: map[string]bool{}, seen: map[string][]string{}, done: make(chan struct{})}
	w.left.Store(members * each)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var running sync.WaitGroup
	inboxes := make([]*inbox.Inbox, processes)
	for i := range inboxes {
		inboxes[i] = t.process(w.handle, func(c *inbox.Config) { c.Poll = 5 * time.Millisecond })
		running.Go(func() { _ = inboxes[i].Run(ctx) })
	}
	expected := map[string][]string{}
	for i := range each {
		for m := range members {
			from, text := fmt.Sprint("member ", m), strconv.Itoa(i)
			expected[from] = append(expected[from], text)
			t.accept(inboxes[(i+m)%processes], event(from, text))
			t.repeat(inboxes[(i+m+1)%processes], event(from, text))
		}
	}
	select {
	case <-w.done:
	case <-t.Context().Done():
	}
	stop()
	running.Wait()
	require.Empty(t, w.broken)
	require.Equal(t, expected, w.seen)
}

func laneThatWaitsHoldsUpNobody(t *trial) {
	p := t.process(func(_ context.Context, d *inbox.Delivery) error {
		if d.Event.From == "ada" {
			return boterr.New(boterr.Unavailable, "", "no answer")
		}
		return nil
	})
	for i := range 100 {
		t.accept(p, event("ada", strconv.Itoa(i)))
	}
	t.accept(p, event("bob", "hi"))
	t.drain(p)
	t.requireHandled("0", "hi")
}

func turnIsTakenOver(t *trial) {
	handler, began, goOn := frozen()
	lost := t.process(handler)
	t.accept(lost, event("ada", "1"), event("ada", "2"))
	wake := t.crash(lost, began, goOn)
	t.requireHandled("1")

	attempts := map[string]int{}
	other := t.process(func(_ context.Context, d *inbox.Delivery) error {
		attempts[textOf(d.Event)] = d.Attempt
		return nil
	})
	t.advance(lease.DefaultLease - time.Millisecond)
	t.drain(other)
	t.requireHandled()
	t.advance(time.Millisecond)
	t.drainAll(other)
	t.requireHandled("1", "2")
	require.Equal(t, map[string]int{"1": 2, "2": 1}, attempts)
	require.ErrorIs(t, wake(), lease.ErrLost)
}

func lostRunStoresNothing(t *trial) {
	began, goOn := make(chan struct{}, 1), make(chan struct{})
	var told error
	lost := t.process(func(_ context.Context, d *inbox.Delivery) error {
		began <- struct{}{}
		<-goOn
		told = d.Err()
		return boterr.Invalid("text", "is bad")
	})
	t.accept(lost, event("ada", "1"))
	wake := t.crash(lost, began, goOn)
	t.advance(lease.DefaultLease)
	other := t.process(func(context.Context, *inbox.Delivery) error { return boterr.New(boterr.Unavailable, "", "no answer") })
	t.drain(other) // Counts the start that never came back.
	t.advance(time.Second)
	t.drain(other)
	before := t.stored()
	require.ErrorIs(t, wake(), lease.ErrLost)
	require.ErrorIs(t, told, lease.ErrLost)
	require.Equal(t, before, t.stored(), "the late run changed the event")
	letters, err := other.DeadLetters(t.Context(), inbox.DeadLettersParams{})
	require.NoError(t, err)
	require.Empty(t, letters)
}

func killedEachTimeEndsAsDeadLetter(t *trial) {
	threeTimes := func(c *inbox.Config) { c.Limit = 3 }
	other := t.process(nil, threeTimes)
	t.accept(other, event("ada", "deadly"), event("ada", "2"))
	var wakes []func() error
	for range 3 {
		handler, began, goOn := frozen()
		wakes = append(wakes, t.crash(t.process(handler, threeTimes), began, goOn))
		t.advance(lease.DefaultLease)
		t.drain(other) // Counts the start that never came back.
		t.advance(time.Minute)
	}
	t.requireHandled("deadly", "deadly", "deadly", "2")
	letters, err := other.DeadLetters(t.Context(), inbox.DeadLettersParams{})
	require.NoError(t, err)
	require.Len(t, letters, 1)
	require.Equal(t, 3, letters[0].Failures)
	for _, wake := range wakes {
		require.ErrorIs(t, wake(), lease.ErrLost)
	}
}

// stored returns the events as text.
func (t *trial) stored() []string {
	t.Helper()
	found, err := t.store.Collection("inbox").Find(t.Context(), nil, store.FindOptions{})
	require.NoError(t, err)
	texts := make([]string, len(found))
	for i, o := range found {
		texts[i] = o.String()
	}
	return texts
}

func eventThatNeverBeganIsNotBlamed(t *trial) {
	once := func(c *inbox.Config) { c.Limit = 1 }
	first := t.process(nil, once)
	t.accept(first, event("ada", "1"))
	t.drain(first)
	turns, err := lease.NewTurns(lease.TurnsConfig{Env: t.env()})
	require.NoError(t, err)
	seen, err := turns.Look(t.Context(), []string{inbox.Lane("app", "web", "ada")})
	require.NoError(t, err)
	// As where a process died between its last event and the end of its turn.
	lane := inbox.Lane("app", "web", "ada")
	_, err = turns.Claim(t.Context(), lane, seen[lane], t.Now(), lease.Work{Purpose: "inbox", Items: []string{"app web ada 1"}})
	require.NoError(t, err)
	t.accept(first, event("ada", "2"))
	t.advance(lease.DefaultLease)
	t.drain(t.process(nil, once))
	t.requireHandled("1", "2")
	require.Empty(t, t.letters(first, inbox.DeadLettersParams{}))
}

func nextCountsNoLaneThatCannotBeEntered(t *trial) {
	isClosed := true
	p := t.process(nil, func(c *inbox.Config) {
		c.Enter = func(lane string) (func(), bool) {
			return func() {}, !isClosed || lane == inbox.Lane("app", "web", "bob")
		}
	})
	t.accept(p, event("ada", "1"))
	t.drainAll(p)
	t.requireHandled()
	t.accept(p, event("bob", "2"))
	_, ok, err := p.Next(t.Context())
	require.NoError(t, err)
	require.True(t, ok)
	t.drainAll(p)
	t.requireHandled("2")
	isClosed = false
	t.drainAll(p)
	t.requireHandled("1")
}

func restartTakesOverAtOnce(t *trial) {
	handler, began, goOn := frozen()
	lost := t.process(handler)
	t.accept(lost, event("ada", "1"), event("ada", "2"), event("bob", "3"))
	wake := t.crash(lost, began, goOn)
	t.requireHandled("1")

	attempts := map[string]int{}
	next := t.process(func(_ context.Context, d *inbox.Delivery) error {
		attempts[textOf(d.Event)] = d.Attempt
		return nil
	})
	t.drain(next)
	t.requireHandled("3")
	t.drain(t.process(nil)) // Which begins after next has counted the start.
	t.requireHandled()
	t.drainAll(next)
	t.requireHandled("1", "2")
	require.Equal(t, map[string]int{"1": 2, "2": 1, "3": 1}, attempts)
	require.ErrorIs(t, wake(), lease.ErrLost)
}

func noLaneHasADocument(t *trial) {
	p := t.process(nil)
	t.accept(p, event("ada", "1"), event("bob", "2"))
	t.drain(p)
	count, err := t.store.Collection("turns").Count(t.Context(), nil)
	require.NoError(t, err)
	require.Zero(t, count)
}
