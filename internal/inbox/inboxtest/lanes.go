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
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/store"
)

var laneRules = []Rule{
	rule(laneInItsOrder, "the events of a member are handled in the order of their acceptance, by any process"),
	{
		Name:  "EachOnceByManyProcesses",
		Text:  "if many processes run, each event is handled once, and the events of a member in order and one at a time",
		check: eachOnceByManyProcesses, needsProcesses: true,
	},
	rule(laneThatWaitsHoldsUpNobody, "members do not wait for each other, however many events of one member are waiting"),
	{
		Name:  "TurnIsTakenOver",
		Text:  "the event of a lost process is taken over once its lease has expired, not before, and counts as failed once",
		check: turnIsTakenOver, needsProcesses: true,
	},
	rule(lostRunStoresNothing, "the result of a run that has lost its lease is not stored, and the run gets ErrLost"),
	rule(killedEachTimeEndsAsDeadLetter, "an event whose runs never come back becomes a dead letter, and its lane continues"),
	rule(eventThatNeverBeganIsNotBlamed, "a lost lease counts as a failure only of the events that it covered"),
	rule(nextCountsNoLaneThatCannotBeEntered, "Next counts events of a lane only while the process can enter the lane"),
}

// aloneRules are about stores that one process has to itself.
var aloneRules = []Rule{
	rule(restartTakesOverAtOnce,
		"if one process has the store to itself, the next process takes over at once, and an event that had begun counts as failed once"),
	rule(noLaneHasADocument, "if one process has the store to itself, no lane has a document"),
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

// witness records which events run at the same time.
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
	t.drain(other) // This counts the start that never came back.
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
		t.drain(other) // This counts the start that never came back.
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
	leases, err := lease.New(lease.Config{Env: t.env()})
	require.NoError(t, err)
	seen, err := leases.Look(t.Context(), []string{inbox.Lane("app", "web", "ada")})
	require.NoError(t, err)
	// Simulate a process that died after its last event and before the release of the lease.
	lane := inbox.Lane("app", "web", "ada")
	_, err = leases.Claim(t.Context(), lane, seen[lane], t.Now(), lease.Work{Purpose: "inbox", Items: []string{"app web ada 1"}})
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
	t.drain(t.process(nil)) // next must count the lost start before any process handles "1".
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
	count, err := t.store.Collection("leases").Count(t.Context(), nil)
	require.NoError(t, err)
	require.Zero(t, count)
}

// shareRules are about sharing workers.
var shareRules = []Rule{
	rule(appThatHangsHoldsUpNoOther, "however many runs of an app hang, events of another app are handled meanwhile"),
	rule(channelThatHangsHoldsUpNoOther, "however many runs of a channel hang, events of another channel of the app are handled meanwhile"),
	rule(backlogHoldsUpNoOther,
		"members take turns, however many events they have waiting: a new member waits for a short turn of each, and for one more"),
	rule(retryQueuesBehindFreshEvents, "a lane that becomes due for a retry queues behind lanes that are already ready"),
	rule(pendingCountsPerApp, "an app with MaxPending waiting events does not prevent the acceptance of other apps' events"),
}

// patience is the maximum time that a rule waits for a required effect. Only a broken rule takes so long.
const patience = 5 * time.Minute

// running runs an inbox in which the events for which hangs returns true hang until the Run ends. It returns a
// channel that receives the texts of the other events, and a function that ends the Run.
func (t *trial) running(p func(inbox.Handler) *inbox.Inbox, hangs func(inbox.Event) bool) (handled <-chan string, end func()) {
	t.Helper()
	texts, release := make(chan string, 10_000), make(chan struct{})
	box := p(func(ctx context.Context, d *inbox.Delivery) error {
		if !hangs(d.Event) {
			texts <- textOf(d.Event)
			return nil
		}
		select {
		case <-release:
		case <-ctx.Done():
		}
		return ctx.Err()
	})
	stop := run(t, box)
	return texts, sync.OnceFunc(func() {
		close(release)
		stop()
	})
}

func (t *trial) await(texts <-chan string) string {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case text := <-texts:
		return text
	case <-timer.C:
		require.Fail(t, "nothing was handled")
		return ""
	}
}

// hanging runs an inbox whose handler blocks for events on the channel of hangs, and accepts such events from a
// number of members. It requires that events on the channel of goesOn are still handled.
func (t *trial) hanging(members int, hangs, goesOn inbox.Event) {
	t.Helper()
	var p *inbox.Inbox
	handled, end := t.running(func(h inbox.Handler) *inbox.Inbox {
		p = t.process(h, func(c *inbox.Config) { c.Poll = 5 * time.Millisecond })
		return p
	}, func(e inbox.Event) bool { return e.App == hangs.App && e.Channel == hangs.Channel })
	defer end()
	for i := range members {
		hangs.From, hangs.Key = strconv.Itoa(i), fmt.Sprint(members, " ", i)
		t.accept(p, hangs)
	}
	for i := range 3 {
		text := fmt.Sprint("hi ", i)
		goesOn.From, goesOn.Key, goesOn.Body = strconv.Itoa(i), fmt.Sprint(members, " ", text), document.O("text", text)
		t.accept(p, goesOn)
		require.Equal(t, text, t.await(handled))
	}
}

// crowd is a number of members: more than an inbox runs at once, remembers, or reads in two pages.
const crowd = 400

func appThatHangsHoldsUpNoOther(t *trial) {
	for _, members := range []int{16, 64, crowd} {
		t.hanging(members, inbox.Event{App: fmt.Sprint("hung ", members), Channel: "web"}, inbox.Event{App: "app", Channel: "web"})
		require.NoError(t, t.forget())
	}
}

func channelThatHangsHoldsUpNoOther(t *trial) {
	for _, members := range []int{16, 64, crowd} {
		t.hanging(members, inbox.Event{App: "app", Channel: fmt.Sprint("hung ", members)}, inbox.Event{App: "app", Channel: "web"})
		require.NoError(t, t.forget())
	}
}

// forget removes all events and lanes.
func (t *trial) forget() error {
	for _, collection := range []string{"inbox", "leases", "inboxLeader"} {
		if err := t.removeAll(collection); err != nil {
			return err
		}
	}
	return nil
}

func backlogHoldsUpNoOther(t *trial) {
	const shortTurn = 16
	for _, c := range []struct{ members, backlog int }{{1, 65}, {1, crowd}, {2, 65}, {16, 33}} {
		require.LessOrEqual(t, t.handledBefore(c.members, c.backlog), (c.members+1)*shortTurn, "%+v", c)
	}
}

// handledBefore accepts events of members with backlogs, and then one event of a further member. It returns the
// number of events that one worker handles before the further member's event.
func (t *trial) handledBefore(members, backlog int) (before int) {
	t.Helper()
	setting := func(c *inbox.Config) { c.Workers, c.Poll = 1, 5*time.Millisecond }
	accepting := t.process(nil, setting)
	for i := range backlog {
		for m := range members {
			t.accept(accepting, event(fmt.Sprint(members, " ", backlog, " ", m), strconv.Itoa(i)))
		}
	}
	last := fmt.Sprint("hi after ", members, " ", backlog)
	t.accept(accepting, event("other", last))
	handled, end := t.running(func(h inbox.Handler) *inbox.Inbox { return t.process(h, setting) },
		func(inbox.Event) bool { return false })
	defer end()
	for t.await(handled) != last {
		before++
	}
	end()
	require.NoError(t, t.forget())
	return before
}

func retryQueuesBehindFreshEvents(t *trial) {
	p := t.process(func(_ context.Context, d *inbox.Delivery) error {
		if d.Event.From == "ada" && d.Attempt == 1 {
			return boterr.New(boterr.Unavailable, "", "no answer")
		}
		return nil
	})
	t.accept(p, event("ada", "1"))
	t.runNext(p)
	t.accept(p, event("bob", "2"))
	t.advance(time.Minute)
	t.accept(p, event("cleo", "3"))
	t.drain(p)
	if t.rule.isAlone { // Processes that share a store may use another order.
		t.requireHandled("1", "2", "3", "1")
	}
}

func pendingCountsPerApp(t *trial) {
	p := t.process(nil, func(c *inbox.Config) { c.MaxPending = 2 })
	greedy := func(i int) inbox.Event {
		return inbox.Event{App: "greedy", Channel: "web", From: "ada", Key: strconv.Itoa(i), Body: document.O("text", "x")}
	}
	t.accept(p, greedy(0), greedy(1))
	_, err := p.Accept(t.Context(), greedy(2))
	require.Equal(t, boterr.ResourceExhausted, boterr.CodeOf(err))
	t.accept(p, event("ada", "1"), event("bob", "2"))
	stats, err := p.Stats(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 4, stats.Pending)
	other := t.process(nil, func(c *inbox.Config) { c.MaxPending = 2 })
	_, err = other.Accept(t.Context(), greedy(3))
	require.Equal(t, boterr.ResourceExhausted, boterr.CodeOf(err), "another process counts the same events")
}
