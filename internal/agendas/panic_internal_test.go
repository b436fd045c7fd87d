package agendas

import (
	"context"
	"log/slog"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// breaking is a store that, while it is broken, breaks in one method.
type breaking struct {
	store.Store

	method   string
	isBroken *atomic.Bool
	breaks   func()
}

// at breaks where the method is the one.
func (b breaking) at(method string) {
	if b.method == method && b.isBroken.Load() {
		b.breaks()
	}
}

func (b breaking) Now(ctx context.Context) (time.Time, error) {
	b.at("Now")
	return b.Store.Now(ctx)
}

func (b breaking) Collection(name string) store.Collection {
	b.at("Collection")
	return breakingCollection{Collection: b.Store.Collection(name), of: b}
}

// breakingCollection is one of its collections.
type breakingCollection struct {
	store.Collection

	of breaking
}

func (b breakingCollection) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	b.of.at("Find")
	return b.Collection.Find(ctx, filter, options)
}

func (b breakingCollection) Update(
	ctx context.Context, filter *query.Filter, change query.Change, options store.UpdateOptions,
) (store.UpdateResult, error) {
	b.of.at("Update")
	return b.Collection.Update(ctx, filter, change, options)
}

func (b breakingCollection) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	b.of.at("FindAndModify")
	return b.Collection.FindAndModify(ctx, filter, change, options)
}

// watchedBreaking can be watched, too.
type watchedBreaking struct {
	breaking
	store.Watcher
}

func (w watchedBreaking) Watch(
	collection string, changed func(before, after document.Object), reset func(),
) func() {
	w.at("Watch")
	return w.Watcher.Watch(collection, changed, reset)
}

// breakingIn returns the store of a stand so that it breaks in a method.
func (s *stand) breakingIn(method string, isBroken *atomic.Bool, breaks func()) store.Store {
	broken := breaking{Store: s.store, method: method, isBroken: isBroken, breaks: breaks}
	if watcher, ok := s.store.(store.Watcher); ok {
		return watchedBreaking{breaking: broken, Watcher: watcher}
	}
	return broken
}

// storeMethods are those that a scheduler calls.
func storeMethods() []string {
	return []string{"Now", "Collection", "Find", "Update", "FindAndModify", "Watch"}
}

// breaks are the ways in which a store breaks, beside errors.
func breaks() map[string]func() {
	return map[string]func(){
		"panics":             func() { panic("the store is broken") },
		"ends the goroutine": runtime.Goexit,
	}
}

func TestRun_StoreBreaks(t *testing.T) {
	t.Parallel()
	for _, method := range storeMethods() {
		for way, breakDown := range breaks() {
			t.Run(method+" "+way, func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(l *live) {
					var isBroken atomic.Bool
					store := l.breakingIn(method, &isBroken, breakDown)
					ran := make(chan struct{}, 100)
					isBroken.Store(true)
					l.due(0)
					l.start(func(context.Context, agenda.Run) error {
						ran <- struct{}{}
						return nil
					}, func(c *SchedulerConfig) { c.Env.Store = store })
					l.pass(3 * time.Minute)
					isBroken.Store(false)
					l.pass(time.Hour)
					require.NotEmpty(l.t, ran, "it runs once the store works")
				})
			})
		}
	}
}

func TestRunNext_StorePanics(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		for _, method := range storeMethods() {
			var isBroken atomic.Bool
			isBroken.Store(true)
			store := s.breakingIn(method, &isBroken, func() { panic("the store is broken") })
			s.add(0)
			scheduler := s.scheduler(succeed, func(c *SchedulerConfig) { c.Env.Store = store })
			var failed []error
			_, _, err := scheduler.Next(s.ctx)
			failed = append(failed, err)
			_, err = scheduler.Due(s.ctx)
			failed = append(failed, err)
			_, err = scheduler.RunNext(s.ctx)
			for _, err := range append(failed, err) {
				if err != nil {
					require.Equal(s.t, boterr.Internal, boterr.CodeOf(err), "%s: %v", method, err)
				}
			}
		}
	})
}

// brokenLog is a handler of logs that panics.
type brokenLog struct{ slog.Handler }

func (brokenLog) Enabled(context.Context, slog.Level) bool { panic("the log is broken") }

func TestRun_LoggerPanics(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		s.add(0)
		scheduler := s.scheduler(func(context.Context, agenda.Run) error { panic("the handler is broken, too") },
			func(c *SchedulerConfig) { c.Log = slog.New(brokenLog{}) })
		require.ErrorContains(s.t, s.runNext(scheduler).Err, "the handler is broken, too")
	})
}
