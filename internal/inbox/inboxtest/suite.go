// Package inboxtest checks the guarantees of package inbox over any store.Store. Each rule has a small
// function, and a text that is part of its failures.
//
//   - To check inboxes on a store against all rules, use [RunInbox].
//   - To check one rule, use [Rules] and [Rule.Check].
//   - To measure inboxes on a store, use [Benchmark].
//
// A test of inboxes on a store:
//
//	func TestInbox(t *testing.T) {
//		inboxtest.RunInbox(t, inboxtest.Outcomes, func(t *testing.T) store.Store { return memstore.New() })
//	}
package inboxtest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/conformance"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// T is the part of *testing.T that a rule needs.
type T = conformance.T

// Rule is one rule of the contract.
type Rule struct {
	// Name is short, and written like the name of a test.
	Name string
	// Text is the rule in words.
	Text string

	check func(*trial)
	// needsProcesses is true if the rule is about concurrent processes. isAlone is true if it is about a store that
	// one process has to itself.
	needsProcesses, isAlone bool
}

func rule(check func(*trial), text string) Rule {
	return Rule{Name: conformance.NameOf(check), Text: text, check: check}
}

// Applies reports whether the rule applies to a store. Rules whose names start with "Alone" only apply to a store
// that one process has to itself (store.Watcher).
func (r Rule) Applies(database store.Store) bool {
	_, isAlone := database.(store.Watcher)
	return isAlone || !r.isAlone
}

// Outcomes is the number of outcomes that the run of an edited record can have: it is done, fails or is postponed.
const Outcomes = 3

// RunInbox checks inboxes on a store against every rule, each in a subtest with a new store. Rules that depend on
// time use their own clock in place of the store's. Each edit of a record is checked with the given number of
// outcomes, from 1 to Outcomes.
func RunInbox(t *testing.T, outcomes int, newStore func(t *testing.T) store.Store) {
	t.Helper()
	for _, rule := range Rules() {
		database := newStore(t)
		if !rule.Applies(database) {
			continue
		}
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			rule.check(newTrial(t, rule, database, outcomes))
		})
	}
}

// Rules returns the rules for all stores, as if several processes shared the store, and then the rules whose
// names begin with "Alone", for a store that one process has to itself. Most of these are the same rules, but
// each process begins after the previous one has ended.
func Rules() []Rule {
	rules := slices.Concat(
		acceptRules, laneRules, shareRules, failureRules, deadLetterRules, crashRules, eraseRules, editedRules)
	for _, rule := range slices.Clone(rules) {
		if !rule.needsProcesses {
			rule.Name, rule.isAlone = "Alone"+rule.Name, true
			rules = append(rules, rule)
		}
	}
	for _, rule := range slices.Concat(aloneRules, atOnceRules) {
		rule.Name, rule.isAlone = "Alone"+rule.Name, true
		rules = append(rules, rule)
	}
	return rules
}

// Check checks inboxes on a store against the rule, with all outcomes. The collections "inbox" and "leases" must
// be empty.
func (r Rule) Check(t T, database store.Store) {
	t.Helper()
	r.check(newTrial(t, r, database, Outcomes))
}

// trial is the check of a rule: processes on a store, with a clock that the rule controls.
type trial struct {
	T

	rule  Rule
	store store.Store
	// outcomes is the number of outcomes with which each edit is checked.
	outcomes int

	mu  sync.Mutex
	now time.Time
	ids int
	// handled has the texts of events in the order in which handling started.
	handled []string
}

type clocked struct {
	store.Store
	clock *trial
}

func (c clocked) Now(context.Context) (time.Time, error) { return c.clock.Now(), nil }

func newTrial(t T, rule Rule, database store.Store, outcomes int) *trial {
	return &trial{
		T: t, rule: rule, store: database, outcomes: outcomes,
		now: time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC),
	}
}

// Errorf reports a failure and quotes the rule.
func (t *trial) Errorf(format string, args ...any) {
	t.Helper()
	t.T.Errorf("rule broken: %s\n%s", t.rule.Text, fmt.Sprintf(format, args...))
}

func (t *trial) Now() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now
}

// advance moves the clock forward.
func (t *trial) advance(by time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now = t.now.Add(by)
}

// newID returns an id that no process has used.
func (t *trial) newID() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ids++
	return fmt.Sprintf("id-%d", t.ids)
}

// clockedAlone is a store for one process, with the clock of a trial.
type clockedAlone struct {
	clocked
	store.Watcher
}

// env returns the environment of a process. Its store is a Watcher only for the "Alone" rules.
func (t *trial) env() record.Env {
	env := record.Env{Store: clocked{t.store, t}, Now: t.Now, NewID: t.newID}
	if watcher, ok := t.store.(store.Watcher); ok && t.rule.isAlone {
		env.Store = clockedAlone{clocked{t.store, t}, watcher}
	}
	return env
}

// process returns the inbox of a separate process. It records each event, and then calls handle unless that is nil.
func (t *trial) process(handle inbox.Handler, settings ...func(*inbox.Config)) *inbox.Inbox {
	t.Helper()
	return t.processIn(t.env(), handle, settings...)
}

// mortal starts a process with Run, and returns it with a function that kills it. Callers must call kill. Once kill
// has returned, no call of the process reaches the store.
func (t *trial) mortal(handle inbox.Handler, settings ...func(*inbox.Config)) (process *inbox.Inbox, kill func()) {
	t.Helper()
	var calls sync.RWMutex
	isDead := false
	env := t.env()
	env.Store = store.Wrap(env.Store, func(ctx context.Context, _ store.Call) (context.Context, func(int, error) error, error) {
		calls.RLock()
		if isDead {
			calls.RUnlock()
			return nil, nil, boterr.New(boterr.Unavailable, "", "the process was killed")
		}
		return ctx, func(_ int, err error) error {
			calls.RUnlock()
			return err
		}, nil
	})
	p := t.processIn(env, handle, settings...)
	ctx, stop := context.WithCancel(t.Context())
	go func() { _ = p.Run(ctx) }()
	return p, func() {
		stop()
		calls.Lock() // Calls that have begun may still reach the store: wait for them.
		defer calls.Unlock()
		isDead = true
	}
}

// processIn returns a process that uses an environment.
func (t *trial) processIn(env record.Env, handle inbox.Handler, settings ...func(*inbox.Config)) *inbox.Inbox {
	t.Helper()
	leases, err := lease.New(lease.Config{Env: env})
	require.NoError(t, err)
	config := inbox.Config{
		Env: env, Leases: leases, DeriveID: func(of string) string { return of },
		ShutdownTimeout: patience,
		Handler: func(ctx context.Context, d *inbox.Delivery) error {
			t.note(textOf(d.Event))
			if handle == nil {
				return nil
			}
			return handle(ctx, d)
		},
	}
	for _, set := range settings {
		set(&config)
	}
	made, err := inbox.New(config)
	require.NoError(t, err)
	return made
}

func (t *trial) note(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.handled = append(t.handled, text)
}

// requireHandled checks which events were handled since the last call.
func (t *trial) requireHandled(texts ...string) {
	t.Helper()
	t.mu.Lock()
	handled := t.handled
	t.handled = nil
	t.mu.Unlock()
	if len(texts) == 0 {
		require.Empty(t, handled)
		return
	}
	require.Equal(t, texts, handled)
}

// event returns an event from a sender with a text. Its key contains both.
func event(from, text string) inbox.Event {
	return inbox.Event{App: "app", Channel: "web", From: from, Key: from + " " + text, Body: document.O("text", text)}
}

func keyless(e inbox.Event) inbox.Event {
	e.Key = ""
	return e
}

func textOf(e inbox.Event) string { return document.Get(e.Body, "text", "") }

// accept accepts events. They must not be repetitions.
func (t *trial) accept(by *inbox.Inbox, events ...inbox.Event) {
	t.Helper()
	for _, e := range events {
		accepted, err := by.Accept(t.Context(), e)
		require.NoError(t, err)
		require.False(t, accepted.IsRepeated, "%s is called a repetition", e.Key)
	}
}

// repeat accepts an event that was already accepted.
func (t *trial) repeat(by *inbox.Inbox, e inbox.Event) {
	t.Helper()
	accepted, err := by.Accept(t.Context(), e)
	require.NoError(t, err)
	require.True(t, accepted.IsRepeated, "%s is not called a repetition", e.Key)
}

// runNext handles the next event, which must exist.
func (t *trial) runNext(by *inbox.Inbox) inbox.Result {
	t.Helper()
	result, err := by.RunNext(t.Context())
	require.NoError(t, err)
	require.True(t, result.Ran, "there is nothing to handle")
	return result
}

// drain handles all events that can be handled now.
func (t *trial) drain(by *inbox.Inbox) {
	t.Helper()
	for range 10_000 {
		result, err := by.RunNext(t.Context())
		require.NoError(t, err)
		if !result.Ran {
			return
		}
	}
	require.Fail(t, "it runs without end")
}

// drainAll handles all events, and moves the clock forward for events that wait.
func (t *trial) drainAll(by *inbox.Inbox) {
	t.Helper()
	for range 1000 {
		t.drain(by)
		at, ok, err := by.Next(t.Context())
		require.NoError(t, err)
		if !ok {
			return
		}
		t.advance(at.Sub(t.Now()))
	}
	require.Fail(t, "it never ends")
}

// crash begins to handle the next event and does not finish, like a killed process. wake continues the run and
// returns its error.
func (t *trial) crash(by *inbox.Inbox, began <-chan struct{}, goOn chan<- struct{}) (wake func() error) {
	t.Helper()
	ended := make(chan error, 1)
	go func() {
		_, err := by.RunNext(t.Context())
		ended <- err
	}()
	select {
	case <-began:
	case err := <-ended:
		require.NoError(t, err)
		require.Fail(t, "nothing began")
	}
	return func() error {
		close(goOn)
		return <-ended
	}
}

// frozen returns a handler that blocks until goOn receives, and the channels to control it.
func frozen() (handler inbox.Handler, began, goOn chan struct{}) {
	began, goOn = make(chan struct{}, 1), make(chan struct{})
	return func(context.Context, *inbox.Delivery) error {
		began <- struct{}{}
		<-goOn
		return nil
	}, began, goOn
}

func (t *trial) removeAll(collection string) error {
	filter, err := query.CompileFilter(document.O())
	if err != nil {
		return err
	}
	_, err = t.store.Collection(collection).Delete(t.Context(), filter, store.DeleteOptions{Multi: true})
	return err
}

// Load is the load in a benchmark.
type Load struct {
	// Members is the number of members, whose events arrive in turn. Producers is the number of goroutines
	// that accept events.
	Members, Producers int
	// Workers is inbox.Config.Workers.
	Workers int
}

// Benchmark accepts b.N events while an empty handler handles them. It reports the events per second.
func Benchmark(b *testing.B, database store.Store, load Load) {
	b.Helper()
	var handled atomic.Int64
	done := make(chan struct{})
	env := record.Env{Store: database}
	leases, err := lease.New(lease.Config{Env: env})
	require.NoError(b, err)
	box, err := inbox.New(inbox.Config{
		Env: env, Leases: leases, DeriveID: func(of string) string { return of }, MaxPending: -1, Workers: load.Workers,
		Handler: func(context.Context, *inbox.Delivery) error {
			if handled.Add(1) == int64(b.N) {
				close(done)
			}
			return nil
		},
	})
	require.NoError(b, err)
	stop := run(b, box)
	b.ResetTimer()
	var next atomic.Int64
	var all sync.WaitGroup
	for range load.Producers {
		all.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				_, err := box.Accept(b.Context(), inbox.Event{
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
}

// run calls Run until stop is called.
func run(t T, p *inbox.Inbox) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	return sync.OnceFunc(func() {
		t.Helper()
		cancel()
		require.NoError(t, <-ended)
	})
}
