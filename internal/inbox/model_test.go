package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// history is a random history of an inbox in virtual time, and a model of how the inbox must behave.
type history struct {
	t      *testing.T
	seed   uint64
	random *rand.Rand
	// isAlone is true if one process at a time has the store to itself.
	isAlone  bool
	mu       sync.Mutex
	now      time.Time
	database store.Store
	inboxes  []*inbox.Inbox
	log      []string

	// accepted holds the events of each lane in order; open holds the events that are neither done nor dead.
	accepted map[string][]string
	open     map[string][]string
	attempts map[string]int
	failures map[string]int
	done     map[string]bool
	dead     map[string]bool
	// next is the result that the next run will have.
	next error
	// freezesOf is the number of frozen runs per event. frozen are the runs that are currently frozen.
	freezesOf map[string]int
	frozen    []*frozenRun
	// freezes is set if the next run must freeze.
	freezes *frozenRun
}

// frozenRun is a run that is suspended like its process.
type frozenRun struct {
	key, lane   string
	by          *inbox.Inbox
	began, goOn chan struct{}
	ended       chan error
	until       time.Time
}

func newHistory(t *testing.T, seed uint64) *history {
	t.Helper()
	h := &history{
		t: t, seed: seed, isAlone: seed%2 == 1, random: rand.New(rand.NewPCG(seed, 1)),
		now:      time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC),
		accepted: map[string][]string{}, open: map[string][]string{}, attempts: map[string]int{}, failures: map[string]int{},
		done: map[string]bool{}, dead: map[string]bool{}, freezesOf: map[string]int{},
	}
	h.database = memstore.New(memstore.WithNow(h.clock))
	if !h.isAlone {
		h.database = sharedStore{h.database}
	}
	for range 3 {
		h.inboxes = append(h.inboxes, h.process())
	}
	return h
}

func (h *history) clock() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *history) process() *inbox.Inbox {
	h.t.Helper()
	env := record.Env{Store: h.database, Now: h.clock}
	leases, err := lease.New(lease.Config{Env: env})
	require.NoError(h.t, err)
	made, err := inbox.New(inbox.Config{
		Env: env, Leases: leases, DeriveID: func(of string) string { return of }, Handler: h.handle, Limit: 3,
	})
	require.NoError(h.t, err)
	return made
}

// handle is the handler. It checks each start against the model.
func (h *history) handle(_ context.Context, d *inbox.Delivery) error {
	key, lane := d.Event.Key, d.Event.From
	h.attempts[key]++
	if len(h.open[lane]) == 0 || h.open[lane][0] != key {
		h.failf("%s runs, the first open event of its lane is %v", key, h.open[lane])
	}
	for _, f := range h.frozen {
		if f.lane == lane && h.now.Before(f.until) {
			h.failf("%s runs, and the lease of %s holds until %v", key, f.key, f.until)
		}
	}
	if f := h.freezes; f != nil {
		h.freezes = nil
		f.key, f.lane, f.until = key, lane, h.now.Add(lease.DefaultLease)
		if h.isAlone {
			f.until = h.now.Add(1000 * time.Hour) // A lone process keeps its lease until another one starts.
		}
		close(f.began)
		<-f.goOn
		if isLost := d.Err() != nil; isLost != !h.clock().Before(f.until) {
			h.failf("at %v the run of %s thinks that it is lost: %v", h.clock(), key, isLost)
		}
		return nil
	}
	if errors.Is(h.next, errNotYet) {
		h.attempts[key]--
		return fmt.Errorf("%w: %w", errNotYet, inbox.Postpone(10*time.Second))
	}
	return h.next
}

// errNotYet makes the handler postpone an event.
var errNotYet = errors.New("not yet")

// takeOver ends the runs of the previous process, in a history in which one process at a time has the store.
func (h *history) takeOver(by *inbox.Inbox) {
	if !h.isAlone {
		return
	}
	var lost []*frozenRun
	for _, f := range h.frozen {
		if f.by != by && h.now.Before(f.until) {
			f.until = h.now
			lost = append(lost, f)
		}
	}
	if len(lost) == 1 { // If several runs were lost, none counts as failed.
		f := lost[0]
		h.failures[f.key]++
		if h.failures[f.key] == 3 {
			h.ended(inbox.Result{Event: eventOf(f.lane, f.key), Err: errNotYet, IsDead: true})
		}
	}
}

func (h *history) failf(format string, args ...any) {
	h.t.Helper()
	h.t.Fatalf("seed %d: %s\n%v", h.seed, fmt.Sprintf(format, args...), h.log)
}

func (h *history) notef(format string, args ...any) {
	h.log = append(h.log, fmt.Sprintf(format, args...))
}

func (h *history) any() *inbox.Inbox { return h.inboxes[h.random.IntN(len(h.inboxes))] }

// step makes a random step of the history.
func (h *history) step() {
	h.t.Helper()
	switch choice := h.random.IntN(20); {
	case choice < 6:
		h.accept()
	case choice < 8:
		h.repeat()
	case choice < 15:
		h.runNext()
	case choice < 16:
		h.freeze()
	case choice < 17:
		h.wake()
	default:
		by := []time.Duration{time.Millisecond, time.Second, 10 * time.Second, lease.DefaultLease, time.Minute}[h.random.IntN(5)]
		h.advance(by)
	}
}

func (h *history) advance(by time.Duration) {
	h.notef("advance %v", by)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(by)
}

func (h *history) accept() {
	lane := string(rune('a' + h.random.IntN(3)))
	key := fmt.Sprintf("%s%d", lane, len(h.accepted[lane]))
	h.notef("accept %s", key)
	got, err := h.any().Accept(h.t.Context(), eventOf(lane, key))
	require.NoError(h.t, err)
	if got.IsRepeated {
		h.failf("%s is called a repetition", key)
	}
	h.accepted[lane] = append(h.accepted[lane], key)
	h.open[lane] = append(h.open[lane], key)
}

func eventOf(lane, key string) inbox.Event {
	return inbox.Event{App: "app", Channel: "web", From: lane, Key: key, Body: document.O("text", key)}
}

func (h *history) repeat() {
	lane := string(rune('a' + h.random.IntN(3)))
	if len(h.accepted[lane]) == 0 {
		return
	}
	key := h.accepted[lane][h.random.IntN(len(h.accepted[lane]))]
	h.notef("repeat %s", key)
	got, err := h.any().Accept(h.t.Context(), eventOf(lane, key))
	require.NoError(h.t, err)
	if !got.IsRepeated {
		h.failf("%s is called no repetition", key)
	}
}

// runNext has a process handle the next event with a random outcome.
func (h *history) runNext() {
	h.next = nil
	switch h.random.IntN(7) {
	case 2:
		h.next = errNotYet
	case 0:
		h.next = boterr.New(boterr.Unavailable, "", "no answer")
	case 1:
		h.next = boterr.New(boterr.InvalidArgument, "", "a mistake")
	}
	by := h.any()
	h.takeOver(by)
	result, err := by.RunNext(h.t.Context())
	require.NoError(h.t, err)
	if result.Ran {
		h.ended(result)
	}
}

// ended updates the model with the result of a run.
func (h *history) ended(result inbox.Result) {
	key, lane := result.Event.Key, result.Event.From
	h.notef("run %s: %v, dead %v", key, result.Err, result.IsDead)
	switch {
	case result.IsPostponed:
		return
	case result.Err == nil:
		h.done[key] = true
	case result.IsDead:
		h.dead[key] = true
	default:
		h.failures[key]++
		return
	}
	if len(h.open[lane]) == 0 || h.open[lane][0] != key {
		h.failf("%s ended, the first open event of its lane is %v", key, h.open[lane])
	}
	h.open[lane] = h.open[lane][1:]
}

func (h *history) freeze() {
	f := &frozenRun{began: make(chan struct{}), goOn: make(chan struct{}), ended: make(chan error, 1)}
	h.freezes = f
	defer func() { h.freezes = nil }()
	by := h.any()
	f.by = by
	h.takeOver(by)
	result := make(chan inbox.Result, 1)
	go func() {
		r, err := by.RunNext(context.WithoutCancel(h.t.Context()))
		result <- r
		f.ended <- err
	}()
	select {
	case <-f.began:
		h.notef("freeze %s", f.key)
		h.frozen = append(h.frozen, f)
		h.freezesOf[f.key]++
	case r := <-result: // The handler was not called: no event could run, or only a lost start was counted.
		require.NoError(h.t, <-f.ended)
		if r.Ran {
			h.ended(r)
		}
	}
}

// wake resumes a frozen run.
func (h *history) wake() {
	if len(h.frozen) == 0 {
		return
	}
	i := h.random.IntN(len(h.frozen))
	f := h.frozen[i]
	h.frozen = slices.Delete(h.frozen, i, i+1)
	close(f.goOn)
	err := <-f.ended
	h.notef("wake %s: %v", f.key, err)
	if h.now.Before(f.until) {
		require.NoError(h.t, err)
		h.ended(inbox.Result{Event: eventOf(f.lane, f.key)})
		return
	}
	if !errors.Is(err, lease.ErrLost) {
		h.failf("the late run of %s ended with %v", f.key, err)
	}
}

// finish completes all remaining work.
func (h *history) finish() {
	h.t.Helper()
	for len(h.frozen) > 0 {
		if h.random.IntN(2) == 0 {
			h.advance(lease.DefaultLease)
		}
		h.wake()
	}
	p := h.process()
	h.next = nil
	h.takeOver(p)
	for range 10_000 {
		result, err := p.RunNext(h.t.Context())
		require.NoError(h.t, err)
		if result.Ran {
			h.ended(result)
			continue
		}
		at, ok, err := p.Next(h.t.Context())
		require.NoError(h.t, err)
		if !ok {
			break
		}
		h.advance(at.Sub(h.now))
	}
	h.check(p)
}

// check compares the final state with the accepted events.
func (h *history) check(p *inbox.Inbox) {
	h.t.Helper()
	letters, err := p.DeadLetters(h.t.Context(), inbox.DeadLettersParams{})
	require.NoError(h.t, err)
	require.Len(h.t, letters, len(h.dead), "seed %d", h.seed)
	for lane, keys := range h.accepted {
		if len(h.open[lane]) > 0 {
			h.failf("of lane %s are left %v", lane, h.open[lane])
		}
		for _, key := range keys {
			if h.done[key] == h.dead[key] {
				h.failf("%s: done %v, dead %v", key, h.done[key], h.dead[key])
			}
			if h.attempts[key] > 3+h.freezesOf[key] { // An event that was lost with others has not failed.
				h.failf("%s ran %d times", key, h.attempts[key])
			}
		}
	}
}

// checkStats compares the counts of a process with the model.
func (h *history) checkStats() {
	h.t.Helper()
	stats, err := h.inboxes[len(h.log)%len(h.inboxes)].Stats(h.t.Context())
	require.NoError(h.t, err)
	pending := 0
	for _, keys := range h.open {
		pending += len(keys)
	}
	if stats.Pending != int64(pending) || stats.DeadLetters != int64(len(h.dead)) || stats.Oldest.IsZero() != (pending == 0) {
		h.failf("of %d that wait and %d dead letters are counted %+v", pending, len(h.dead), stats)
	}
}

// TestInbox_RandomHistories performs random actions: accept, repeat, run, fail, freeze, wake, and pass time. Each
// event must be handled, in the order of its lane and not concurrently with another event of the lane, and a
// late result must change nothing.
func TestInbox_RandomHistories(t *testing.T) {
	t.Parallel()
	for seed := range rounds.Of(t, 30, 3000) {
		h := newHistory(t, uint64(seed))
		for range 80 {
			h.step()
			h.checkStats()
		}
		h.finish()
	}
}
