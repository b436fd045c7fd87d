package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// sharedStore hides the Watch method of a store, so that the store counts as shared.
type sharedStore struct{ store.Store }

type jumpingClock struct{ by atomic.Int64 }

func (c *jumpingClock) now() time.Time {
	return record.Env{}.WithDefaults().Now().Add(time.Duration(c.by.Load()))
}

// onNow returns a store that calls before each time its clock is read.
func onNow(inner store.Store, before func()) store.Store {
	return store.Wrap(inner, func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
		if call.Method == "now" {
			before()
		}
		return ctx, nil, nil
	})
}

// running calls Run until stop is called.
func running(t *testing.T, p *inbox.Inbox) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- p.Run(ctx) }()
	return func() {
		t.Helper()
		cancel()
		require.NoError(t, <-ended)
	}
}

// renewalEnds waits, at the end of a test in virtual time, until the process stops renewing leases.
func renewalEnds() { <-time.After(lease.DefaultLease) }

// patience is the time after which a test gives up.
const patience = 5 * time.Minute

// runUntil runs an inbox until done is closed.
func runUntil(t *testing.T, p *inbox.Inbox, done <-chan struct{}) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
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

func TestRun_RetryInTheFarFuture(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		database := onNow(memstore.New(), func() { asked.Add(1) })
		p := newInbox(t, configOf(t, database, notHere(t)))
		accept(t, p, "ada")
		edit(t, database, "$set", document.O("retryAt", int64(9e15)))
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		require.NoError(t, p.Run(ctx))
		require.Less(t, asked.Load(), int64(1000))
	})
}

func TestRun_EventOfARunThatWasFrozenForALeaseIsHandledAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		defer renewalEnds()
		var clock jumpingClock
		env := record.Env{Store: sharedStore{memstore.New()}, Now: clock.now}
		leases, err := lease.New(lease.Config{Env: env, Lease: 200 * time.Millisecond})
		require.NoError(t, err)
		done := make(chan struct{})
		var once sync.Once
		var isAgain atomic.Bool
		p, err := inbox.New(inbox.Config{
			Env: env, Leases: leases, DeriveID: func(of string) string { return of }, Poll: 20 * time.Millisecond,
			Handler: func(context.Context, *inbox.Delivery) error {
				if !isAgain.Swap(true) {
					clock.by.Add(int64(time.Minute)) // Simulate a process that was stopped for a minute.
					return nil
				}
				once.Do(func() { close(done) })
				return nil
			},
		})
		require.NoError(t, err)
		accept(t, p, "ada")
		runUntil(t, p, done)
	})
}

func TestRun_LaneThatCannotBeEnteredHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		defer renewalEnds()
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
		p := newInbox(t, config)
		for range 70 {
			accept(t, p, "ada")
		}
		accept(t, p, "bob")
		runUntil(t, p, done)
		require.LessOrEqual(t, refused.Load(), int64(12), "a lane that cannot be entered is asked again with the next poll")
	})
}

func TestRun_TriesAgainAfterThePauseHoweverSeldomItPolls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		defer renewalEnds()
		done := make(chan struct{})
		config := configOf(t, memstore.New(), func(_ context.Context, d *inbox.Delivery) error {
			if d.Attempt == 1 {
				return errors.New("try again")
			}
			close(done)
			return nil
		})
		config.Poll, config.Backoff = time.Hour, func(int) time.Duration { return time.Millisecond }
		p := newInbox(t, config)
		accept(t, p, "ada")
		runUntil(t, p, done)
	})
}

func TestRun_WaitsByTheClockOfTheStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		defer renewalEnds()
		var clock jumpingClock
		clock.by.Store(int64(time.Hour))
		var asked atomic.Int64
		env := record.Env{Store: onNow(sharedStore{memstore.New()}, func() { asked.Add(1) }), Now: clock.now}
		leases, err := lease.New(lease.Config{Env: env})
		require.NoError(t, err)
		done := make(chan struct{})
		var failed int64
		p, err := inbox.New(inbox.Config{
			Env: env, Leases: leases, DeriveID: func(of string) string { return of },
			Backoff: func(int) time.Duration { return 100 * time.Millisecond },
			Handler: func(_ context.Context, d *inbox.Delivery) error {
				if d.Attempt == 1 {
					failed = asked.Load()
					return errors.New("try again")
				}
				close(done)
				return nil
			},
		})
		require.NoError(t, err)
		accept(t, p, "ada")
		runUntil(t, p, done)
		require.Less(t, asked.Load()-failed, int64(50))
	})
}

func TestRun_ClockThatGoesBackDelaysNoRetry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		defer renewalEnds()
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
			config.Settled = func(_ context.Context, s inbox.Settled) {
				if s.Err != nil {
					clock.by.Add(-int64(time.Hour))
				}
			}
			p := newInbox(t, config)
			accept(t, p, "ada")
			runUntil(t, p, done)
		}
	})
}

// brokenWatch is a store whose Watch calls before first.
type brokenWatch struct {
	store.Store
	inner  store.Watcher
	before func()
}

func (b brokenWatch) Watch(collection string, changed func(before, after document.Object), reset func()) func() {
	b.before()
	stop := b.inner.Watch(collection, changed, reset)
	return func() {
		stop()
		panic("the watch does not end")
	}
}

func TestRun_GoesOnWhereTheStoreBreaks(t *testing.T) {
	t.Parallel()
	memory := func() *memstore.Store { return memstore.New() }
	for shape, broken := range map[string]func(before func()) store.Store{
		"distributed": func(before func()) store.Store { return onNow(sharedStore{memory()}, before) },
		"exclusive":   func(before func()) store.Store { return onNow(memory(), before) },
		"watch": func(before func()) store.Store {
			inner := memory()
			return brokenWatch{Store: inner, inner: inner, before: before}
		},
	} {
		for way, breaks := range map[string]func(){
			"ends the goroutine": runtime.Goexit, // As t.FailNow would.
			"panics":             func() { panic("the store is broken") },
		} {
			t.Run(shape+" "+way, func(t *testing.T) {
				t.Parallel()
				var times atomic.Int64
				done := make(chan struct{})
				config := configOf(t, broken(func() {
					if times.Add(-1) >= 0 {
						breaks()
					}
				}), func(context.Context, *inbox.Delivery) error {
					close(done)
					return nil
				})
				config.Poll, config.Workers = time.Millisecond, 2
				p := newInbox(t, config)
				accept(t, p, "ada")
				times.Store(4) // This breaks the goroutine that removes old events, and goroutines that look for work.
				runUntil(t, p, done)
			})
		}
	}
}

func TestRun_AgainAfterAWatchThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	inner := memstore.New()
	var done chan struct{}
	p := newInbox(t, configOf(t, brokenWatch{inner, inner, func() {}}, func(context.Context, *inbox.Delivery) error {
		close(done)
		return nil
	}))
	for range 2 {
		done = make(chan struct{})
		accept(t, p, "ada")
		runUntil(t, p, done)
	}
}

func TestRunNext_WatchPanics(t *testing.T) {
	t.Parallel()
	inner := memstore.New()
	p := newInbox(t, configOf(t, brokenWatch{inner, inner, func() { panic("the store is broken") }}, counting(new(int))))
	_, err := p.RunNext(t.Context())
	require.Equal(t, boterr.Internal, boterr.CodeOf(err), "%v", err)
	_, _, err = p.Next(t.Context())
	require.Equal(t, boterr.Internal, boterr.CodeOf(err), "%v", err)
}

func TestSettled_SeesWhatComesOfEachAttempt(t *testing.T) {
	t.Parallel()
	failures := map[string]error{"ada": errors.New("try again"), "bob": boterr.Invalid("text", "too long")}
	config := configOf(t, memstore.New(), func(_ context.Context, d *inbox.Delivery) error {
		if d.Attempt > 1 {
			return nil
		}
		return failures[d.Event.From]
	})
	config.Backoff = func(int) time.Duration { return 0 }
	var told []string
	config.Settled = func(_ context.Context, s inbox.Settled) {
		require.False(t, s.At.Before(s.AcceptedAt))
		told = append(told, fmt.Sprint(s.Event.From, " ", s.ID, " ", s.Attempt, " ", boterr.CodeOf(s.Err), " ", s.IsDead))
		panic("changes nothing")
	}
	b := newInbox(t, config)
	for _, from := range []string{"ada", "bob", "eve"} {
		_, err := b.Accept(t.Context(), inbox.Event{App: "app", Channel: "web", From: from, Key: from})
		require.NoError(t, err)
	}
	require.Equal(t, 4, runNext(t, b, 4))
	id := func(from string) string { return fmt.Sprintf("inbox %q %q %s", "app", "web", from) }
	require.ElementsMatch(t, []string{
		"ada " + id("ada") + " 1 internal false", "ada " + id("ada") + " 2  false",
		"bob " + id("bob") + " 1 invalid argument true", "eve " + id("eve") + " 1  false",
	}, told)
}

func newInbox(t *testing.T, config inbox.Config) *inbox.Inbox {
	t.Helper()
	b, err := inbox.New(config)
	require.NoError(t, err)
	return b
}

// runNext calls RunNext several times and returns how many events ran.
func runNext(t *testing.T, p *inbox.Inbox, times int) (ran int) {
	t.Helper()
	for range times {
		result, err := p.RunNext(t.Context())
		require.NoError(t, err)
		if result.Ran {
			ran++
		}
	}
	return ran
}

// counting returns a handler that counts the events.
func counting(handled *int) inbox.Handler {
	return func(context.Context, *inbox.Delivery) error {
		*handled++
		return nil
	}
}

// runKey is the context key of a value that the test passes to Run.
type runKey struct{}

func TestSettled_IsToldInAContextWithTheValuesOfRunThatEndsByItself(t *testing.T) {
	t.Parallel()
	told := make(chan []any, 1)
	config := configOf(t, memstore.New(), func(context.Context, *inbox.Delivery) error { return nil })
	run, stop := context.WithCancel(context.WithValue(t.Context(), runKey{}, "of the host"))
	config.Settled = func(ctx context.Context, _ inbox.Settled) {
		stop()
		_, ends := ctx.Deadline() // A store that does not answer must not hold up a worker forever.
		told <- []any{ctx.Value(runKey{}), ends, ctx.Err()}
	}
	b := newInbox(t, config)
	accept(t, b, "ada")
	require.NoError(t, b.Run(run))
	require.Equal(t, []any{"of the host", true, nil}, <-told)
}

// TestRun_ReadsWhatWaitsAFewTimes has many lanes with events that fail and are tried again. Each event may only be
// read a few times, even while many others wait.
func TestRun_ReadsWhatWaitsAFewTimes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		defer renewalEnds()
		lanes := int64(rounds.Of(t, 1000, 5000))
		var left, read atomic.Int64
		shared := struct{ store.Store }{memstore.New()}
		database := store.Wrap(shared, func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
			return ctx, func(documents int, err error) error {
				if call == (store.Call{Method: "find", Collection: "inbox"}) {
					read.Add(int64(documents))
				}
				return err
			}, nil
		})
		left.Store(lanes)
		done := make(chan struct{})
		config := configOf(t, database, func(_ context.Context, d *inbox.Delivery) error {
			if d.Attempt == 1 {
				return boterr.New(boterr.Unavailable, "", "no answer")
			}
			if left.Add(-1) == 0 {
				close(done)
			}
			return nil
		})
		config.Poll, config.Backoff = time.Hour, func(int) time.Duration { return 50 * time.Millisecond }
		p := newInbox(t, config)
		for i := range lanes {
			_, err := p.Accept(t.Context(), inbox.Event{App: "app", Channel: "web", From: strconv.FormatInt(i, 10)})
			require.NoError(t, err)
		}
		runUntil(t, p, done)
		require.LessOrEqual(t, read.Load(), 8*lanes)
	})
}

func TestRetry_RunsBeforeTheLanesPauseEnds(t *testing.T) {
	t.Parallel()
	for shape, newStore := range map[string]func() store.Store{
		"alone":               func() store.Store { return memstore.New() },
		"shared":              func() store.Store { return sharedStore{memstore.New()} },
		"shared with notices": func() store.Store { return sharedtest.New(memstore.New()) },
	} {
		for by, isOther := range map[string]bool{"this process": false, "another process": true} {
			if shape == "alone" && isOther {
				continue
			}
			t.Run(shape+" by "+by, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					defer renewalEnds()
					var handled []string
					isFixed := false
					config := configOf(t, newStore(), func(_ context.Context, d *inbox.Delivery) error {
						handled = append(handled, d.Event.Key)
						switch {
						case d.Event.Key == "paused":
							return boterr.New(boterr.Unavailable, "", "later")
						case isFixed:
							return nil
						}
						return boterr.New(boterr.InvalidArgument, "", "never")
					})
					config.Backoff = func(int) time.Duration { return time.Hour }
					p := newInbox(t, config)
					defer running(t, p)()
					for _, key := range []string{"dead", "paused"} {
						_, err := p.Accept(t.Context(), inbox.Event{App: "app", Channel: "web", From: "ada", Key: key})
						require.NoError(t, err)
					}
					<-time.After(3 * time.Second)
					require.Equal(t, []string{"dead", "paused"}, handled)
					isFixed = true
					by := p
					if isOther {
						by = newInbox(t, config)
					}
					require.NoError(t, by.Retry(t.Context(), "inbox \"app\" \"web\" dead"))
					<-time.After(20 * time.Second)
					require.Equal(t, []string{"dead", "paused", "dead"}, handled)
				})
			})
		}
	}
}

// A lease covers several events. If the store does not answer when the lease is released, the next holder does not know
// which of them began.
func TestRun_EventThatNeverBeganIsHandledAlthoughItsLeaseWasNotReleased(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		defer renewalEnds()
		var isLost atomic.Bool
		database := store.Wrap(sharedStore{memstore.New()}, func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
			if call == (store.Call{Method: "update", Collection: "leases"}) && isLost.CompareAndSwap(false, true) {
				return ctx, nil, boterr.New(boterr.Unavailable, "", "no answer")
			}
			return ctx, nil, nil
		})
		var handled []string
		config := configOf(t, database, func(_ context.Context, d *inbox.Delivery) error {
			handled = append(handled, d.Event.Key)
			<-time.After(time.Second) // No further event begins under the lease.
			return nil
		})
		config.Limit = 1
		p := newInbox(t, config)
		for _, key := range []string{"1", "2"} {
			_, err := p.Accept(t.Context(), inbox.Event{App: "app", Channel: "web", From: "ada", Key: key})
			require.NoError(t, err)
		}
		defer running(t, p)()
		<-time.After(2 * lease.DefaultLease)
		require.True(t, isLost.Load())
		require.Equal(t, []string{"1", "2"}, handled)
	})
}

// untilDead handles an event until it is a dead letter, at most ten times. It returns the dead letter.
func untilDead(t *testing.T, config inbox.Config) inbox.DeadLetter {
	t.Helper()
	var clock jumpingClock
	config.Env.Now = clock.now
	config.Backoff = func(int) time.Duration { return 0 }
	p := newInbox(t, config)
	for range 10 {
		if _, err := p.RunNext(t.Context()); err != nil {
			t.Log(err)
		}
	}
	letters, err := p.DeadLetters(t.Context(), inbox.DeadLettersParams{})
	require.NoError(t, err)
	require.Len(t, letters, 1)
	return letters[0]
}

func TestRun_ResultThatTheStoreRefusesIsADeadLetter(t *testing.T) {
	t.Parallel()
	for shape, inner := range map[string]store.Store{"distributed": sharedStore{memstore.New()}, "exclusive": memstore.New()} {
		t.Run(shape, func(t *testing.T) {
			t.Parallel()
			isFirst := false
			config := configOf(t, store.Wrap(inner, func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
				if isFirst && call == (store.Call{Method: "update", Collection: "inbox"}) {
					isFirst = false
					return ctx, nil, boterr.Invalid("", "the document has too many bytes")
				}
				return ctx, nil, nil
			}), func(_ context.Context, d *inbox.Delivery) error {
				isFirst = d.Attempt == 1
				return boterr.New(boterr.Unavailable, "", "later")
			})
			accept(t, newInbox(t, config), "ada")
			letter := untilDead(t, config)
			require.Equal(t, 1, letter.Failures)
			require.Contains(t, letter.Error, "the document has too many bytes")
		})
	}
}

func TestAccept_LeavesRoomForResults(t *testing.T) {
	t.Parallel()
	for shape, inner := range map[string]func() store.Store{
		"distributed": func() store.Store { return sharedStore{memstore.New()} },
		"exclusive":   func() store.Store { return memstore.New() },
	} {
		for _, room := range []int{300, inbox.MaxRememberedSize / 2, inbox.MaxRememberedSize + 1<<15} {
			t.Run(fmt.Sprintf("%s %d", shape, room), func(t *testing.T) {
				t.Parallel()
				config := configOf(t, inner(), func(_ context.Context, d *inbox.Delivery) error {
					_ = d.Note("a", document.O("text", strings.Repeat("a", inbox.MaxRememberedSize-100)))
					return boterr.New(boterr.Unavailable, "", "later")
				})
				body := document.O("text", strings.Repeat("a", document.MaxSize-room))
				_, err := newInbox(t, config).Accept(t.Context(), inbox.Event{App: "app", Channel: "web", From: "ada", Body: body})
				if err != nil {
					failure, _ := boterr.AsError(err)
					require.Equal(t, boterr.InvalidArgument, failure.Code)
					require.Equal(t, "Event", failure.Field)
					return
				}
				require.Contains(t, untilDead(t, config).Error, "later")
			})
		}
	}
}
