package inbox_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// Calls of the store in which tests intervene.
var (
	takingTheLead   = store.Call{Method: "findAndModify", Collection: "inboxLeader"}
	findingEvents   = store.Call{Method: "find", Collection: "inbox"}
	updatingEvents  = store.Call{Method: "update", Collection: "inbox"}
	nothingHappened = func() {}
)

// meanwhile returns a store that calls before and after around the first call of a kind.
func meanwhile(inner store.Store, when store.Call, before, after func()) store.Store {
	var begin, end sync.Once
	return store.Wrap(inner, func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
		if call != when {
			return ctx, nil, nil
		}
		begin.Do(before)
		return ctx, func(_ int, err error) error {
			end.Do(after)
			return err
		}, nil
	})
}

// edit changes all events of a store, as an operator does.
func edit(t *testing.T, in store.Store, operator string, fields document.Object) {
	t.Helper()
	filter, err := query.CompileFilter(document.O())
	require.NoError(t, err)
	update, err := query.CompileUpdate(document.O(operator, fields))
	require.NoError(t, err)
	_, err = in.Collection("inbox").Update(t.Context(), filter, query.Change{Update: update}, store.UpdateOptions{Multi: true})
	require.NoError(t, err)
}

func TestLead_TakenOverBeforeTheInboxKnowsThatItHasIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := memstore.New()
		handled := 0
		later := newInbox(t, configOf(t, memory, counting(&handled)))
		first := newInbox(t, configOf(t, meanwhile(memory, takingTheLead, nothingHappened, func() {
			runNext(t, later, 1)
		}), notHere(t)))
		stop := running(t, first)
		synctest.Wait()
		accept(t, later, "ada")
		synctest.Wait()
		runNext(t, later, 1)
		require.Equal(t, 1, handled)
		stop()
	})
}

func TestLead_StartsThatNeverCameBackAreCountedIfTheStoreIsRestoredMeanwhile(t *testing.T) {
	t.Parallel()
	memory := memstore.New()
	config := configOf(t, memory, func(context.Context, *inbox.Delivery) error { return nil })
	accept(t, newInbox(t, config), "ada")
	edit(t, memory, "$set", document.O("begun", true))
	kept := memory.Snapshot()
	var attempts []int
	config.Backoff = func(int) time.Duration { return 0 }
	config.Handler = func(_ context.Context, d *inbox.Delivery) error {
		attempts = append(attempts, d.Attempt)
		return nil
	}
	config.Env.Store = meanwhile(memory, takingTheLead, func() { memory.Restore(kept) }, nothingHappened)
	p := newInbox(t, config)
	runNext(t, p, 2)
	require.Equal(t, []int{2}, attempts)
}

func TestRun_EventThatIsAcceptedWhileTheQueueIsFilledIsHandledOnce(t *testing.T) {
	t.Parallel()
	memory := memstore.New()
	handled := 0
	config := configOf(t, memory, counting(&handled))
	config.Env.Store = meanwhile(memory, findingEvents, func() { accept(t, newInbox(t, configOf(t, memory, notHere(t))), "ada") }, nothingHappened)
	p := newInbox(t, config)
	runNext(t, p, 3)
	require.Equal(t, 1, handled)
	stats, err := p.Stats(t.Context())
	require.NoError(t, err)
	require.Zero(t, stats)
}

// A search may see an event before the store reports it to watchers.
func TestRun_EventThatIsReportedAfterTheQueueHasReadItIsHandledOnce(t *testing.T) {
	t.Parallel()
	memory := memstore.New()
	handled := 0
	config := configOf(t, memory, counting(&handled))
	visible, report := make(chan struct{}), make(chan struct{})
	stop := memory.Watch("inbox", func(before, _ document.Object) {
		if before.IsZero() {
			close(visible)
			<-report
		}
	}, nothingHappened)
	defer stop()
	accepted := make(chan error, 1)
	other := newInbox(t, configOf(t, memory, notHere(t)))
	found := meanwhile(memory, findingEvents, func() {
		go func() {
			_, err := other.Accept(t.Context(), inbox.Event{App: "app", Channel: "web", From: "ada"})
			accepted <- err
		}()
		<-visible
	}, nothingHappened)
	config.Env.Store = meanwhile(found, updatingEvents, func() { close(report) }, nothingHappened)
	p := newInbox(t, config)
	runNext(t, p, 3)
	require.NoError(t, <-accepted)
	require.Equal(t, 1, handled)
}

func TestRun_EventWhoseLaneIsEditedWhileTheQueueIsFilledIsHandledOnce(t *testing.T) {
	t.Parallel()
	memory := memstore.New()
	handled := 0
	config := configOf(t, memory, counting(&handled))
	accept(t, newInbox(t, config), "ada")
	config.Env.Store = meanwhile(memory, findingEvents, nothingHappened, func() {
		edit(t, memory, "$set", document.O("lane", inbox.Lane("app", "web", "bob")))
	})
	p := newInbox(t, config)
	runNext(t, p, 3)
	require.Equal(t, 1, handled)
}

func TestRun_BeginsAcceptedEventsAtOnceAfterAnEarlierRunWasAbandoned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		updates := 0
		database := store.Wrap(memstore.New(), func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
			if call == updatingEvents {
				updates++
			}
			return ctx, nil, nil
		})
		stuck := make(chan struct{})
		config := configOf(t, database, func(_ context.Context, d *inbox.Delivery) error {
			if d.Event.From == "ada" {
				<-stuck
			}
			return nil
		})
		p := newInbox(t, config)
		accept(t, p, "ada")
		ended := make(chan error)
		run := func() (stop func()) {
			ctx, stop := context.WithCancel(t.Context())
			go func() { ended <- p.Run(ctx) }()
			synctest.Wait()
			return stop
		}
		run()()
		require.Equal(t, boterr.Canceled, boterr.CodeOf(<-ended))
		stop := run()
		close(stuck)
		synctest.Wait()
		before := updates
		accept(t, p, "bob")
		synctest.Wait()
		require.Equal(t, before, updates, "no write is needed to mark an event as begun that begins with its acceptance")
		stop()
		require.NoError(t, <-ended)
	})
}

// The events of a lane are marked as begun together. If the mark of an event that never began cannot be removed, it does
// not count as a failure.
func TestRun_EventThatNeverBeganIsHandledAlthoughItWasNotGivenBack(t *testing.T) {
	t.Parallel()
	var isDown atomic.Bool
	database := store.Wrap(memstore.New(), func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
		if isDown.Load() && call == updatingEvents {
			return ctx, nil, boterr.New(boterr.Unavailable, "", "no answer")
		}
		return ctx, nil, nil
	})
	ctx, stop := context.WithCancel(t.Context())
	handled := 0
	config := configOf(t, database, func(context.Context, *inbox.Delivery) error {
		handled++
		isDown.Store(true)
		stop()
		return nil
	})
	config.Limit = 1
	p := newInbox(t, config)
	accept(t, p, "ada")
	accept(t, p, "ada")
	require.NoError(t, p.Run(ctx))
	require.Equal(t, 1, handled)
	isDown.Store(false)
	runNext(t, newInbox(t, config), 2)
	require.Equal(t, 2, handled)
}

func TestRun_EndsIfTheStoreDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for name, share := range map[string]func(store.Store) store.Store{
		"exclusive":   func(inner store.Store) store.Store { return inner },
		"distributed": func(inner store.Store) store.Store { return sharedStore{inner} },
	} {
		for _, hangs := range []store.Call{findingEvents, {Method: "delete", Collection: "inbox"}} {
			t.Run(name+", "+hangs.Method, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					defer renewalEnds()
					answer := make(chan struct{})
					database := store.Wrap(share(memstore.New()), func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
						if call == hangs {
							<-answer
						}
						return ctx, nil, nil
					})
					p := newInbox(t, configOf(t, database, func(context.Context, *inbox.Delivery) error { return nil }))
					accept(t, p, "ada")
					ctx, stop := context.WithCancel(t.Context())
					ended := make(chan error)
					go func() { ended <- p.Run(ctx) }()
					synctest.Wait()
					stop()
					require.Equal(t, boterr.Canceled, boterr.CodeOf(<-ended))
					close(answer)
				})
			})
		}
	}
}

func TestRemember_StoresWhatAnEarlierCallCouldNot(t *testing.T) {
	t.Parallel()
	isDown := false
	config := configOf(t, store.Wrap(memstore.New(), func(ctx context.Context, _ store.Call) (context.Context, func(int, error) error, error) {
		if isDown {
			return ctx, nil, boterr.New(boterr.Unavailable, "", "no answer")
		}
		return ctx, nil, nil
	}), func(ctx context.Context, d *inbox.Delivery) error {
		if d.Attempt > 1 {
			for _, key := range []string{"noted", "refused", "stored"} {
				_, isKnown := d.Recall(key)
				require.True(t, isKnown, key)
			}
			return nil
		}
		require.NoError(t, d.Note("noted", document.O("n", 1)))
		isDown = true
		require.Error(t, d.Remember(ctx, "refused", document.O("n", 2)))
		isDown = false
		require.NoError(t, d.Remember(ctx, "stored", document.O("n", 3)))
		return boterr.New(boterr.Unavailable, "", "try again")
	})
	config.Backoff = func(int) time.Duration { return 0 }
	p := newInbox(t, config)
	accept(t, p, "ada")
	require.Equal(t, 2, runNext(t, p, 2))
}
