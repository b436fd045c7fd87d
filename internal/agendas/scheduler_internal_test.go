package agendas

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

func TestNewScheduler_Refuses(t *testing.T) {
	t.Parallel()
	for field, spoil := range map[string]func(*SchedulerConfig){
		"env.store":       func(c *SchedulerConfig) { c.Env.Store = nil },
		"handler":         func(c *SchedulerConfig) { c.Handler = nil },
		"Workers":         func(c *SchedulerConfig) { c.Workers = -1 },
		"Limit":           func(c *SchedulerConfig) { c.Limit = -1 },
		"Lease":           func(c *SchedulerConfig) { c.Lease = time.Millisecond },
		"Poll":            func(c *SchedulerConfig) { c.Poll = -1 },
		"LateAfter":       func(c *SchedulerConfig) { c.LateAfter = -1 },
		"ShutdownTimeout": func(c *SchedulerConfig) { c.ShutdownTimeout = -1 },
		"around": func(c *SchedulerConfig) {
			c.Around = func(agenda.Handler) agenda.Handler { return nil }
		},
	} {
		config := SchedulerConfig{Env: record.Env{Store: memstore.New()}, Handler: succeed}
		spoil(&config)
		_, err := NewScheduler(config)
		require.ErrorIs(t, err, boterr.InvalidArgument, field)
		e, ok := boterr.AsError(err)
		require.True(t, ok)
		require.Equal(t, field, e.Field)
	}
}

func TestRun_SingleRunAtItsTime(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		var runs []agenda.Run
		scheduler := s.scheduler(func(_ context.Context, run agenda.Run) error {
			runs = append(runs, run)
			return nil
		})
		id := s.add(time.Hour)
		s.requireNothingDue(scheduler)
		at, ok, err := scheduler.Next(s.ctx)
		require.NoError(s.t, err)
		require.True(s.t, ok)
		require.Equal(s.t, start().Add(time.Hour), at)
		s.clock.set(at)
		result := s.runNext(scheduler)
		require.NoError(s.t, result.Err)
		require.Len(s.t, runs, 1)
		require.Equal(s.t, id, runs[0].Agenda.ID)
		require.Equal(s.t, start().Add(time.Hour), runs[0].ScheduledAt)
		require.Equal(s.t, 1, runs[0].Attempt)
		require.Equal(s.t, id+":1767229200000", runs[0].Key)
		require.True(s.t, s.get(id).Completed)
		s.clock.advance(24 * time.Hour)
		s.requireNothingDue(scheduler)
		_, ok, err = scheduler.Next(s.ctx)
		require.NoError(s.t, err)
		require.False(s.t, ok)
	})
}

// aroundKey is the context key of a value that Around passes to the handler.
type aroundKey struct{}

func TestAround_SeesEachRun(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		var seen []string
		scheduler := s.scheduler(func(ctx context.Context, _ agenda.Run) error {
			return boterr.New(boterr.Conflict, "", "%v", ctx.Value(aroundKey{}))
		}, func(c *SchedulerConfig) {
			c.Around = func(next agenda.Handler) agenda.Handler {
				return func(ctx context.Context, run agenda.Run) error {
					err := next(context.WithValue(ctx, aroundKey{}, "from around"), run)
					seen = append(seen, run.Agenda.Tag+": "+err.Error())
					return err
				}
			}
		})
		s.add(0, named("a"))
		require.ErrorIs(t, s.runNext(scheduler).Err, boterr.Conflict)
		require.Equal(t, []string{"a: conflict: from around"}, seen)
	})
}

type events struct {
	mu   sync.Mutex
	told []string
	log  bytes.Buffer
}

func (e *events) hook(name string) func(context.Context, agenda.Event) {
	return func(_ context.Context, event agenda.Event) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.told = append(e.told, fmt.Sprintf("%s %s %d %v", name, event.Run.Agenda.Tag, event.Run.Attempt, event.Err))
	}
}

func (e *events) set(c *SchedulerConfig) {
	c.Hooks = agenda.Hooks{Claimed: e.hook("claimed"), Finished: e.hook("finished"), Failed: e.hook("failed"), Late: e.hook("late")}
	c.Log = slog.New(slog.NewTextHandler(&e.log, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key != slog.LevelKey && a.Key != slog.MessageKey && a.Key != "attempt" && a.Key != "late" {
				return slog.Attr{}
			}
			return a
		},
	}))
}

func TestHooks_TellWhatHappens(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		e := &events{}
		failing := true
		scheduler := s.scheduler(func(context.Context, agenda.Run) error {
			if failing {
				return errors.New("no luck")
			}
			return nil
		}, limited(2), e.set)
		s.add(0, named("a"))
		s.runNext(scheduler)
		s.clock.advance(time.Hour)
		s.runNext(scheduler)
		failing = false
		s.add(time.Hour, named("b"))
		s.runNext(scheduler)
		require.Equal(s.t, []string{
			"claimed a 1 <nil>", "failed a 1 no luck", "claimed a 2 <nil>", "late a 2 <nil>", "failed a 2 no luck",
			"claimed b 1 <nil>", "finished b 1 <nil>",
		}, e.told)
		require.Equal(s.t, `level=DEBUG msg="agenda: claimed" attempt=1
level=WARN msg="agenda: failed" attempt=1
level=DEBUG msg="agenda: claimed" attempt=2
level=WARN msg="agenda: late" attempt=2 late=1h0m0s
level=ERROR msg="agenda: failed" attempt=2
level=DEBUG msg="agenda: claimed" attempt=1
level=DEBUG msg="agenda: finished" attempt=1
`, e.log.String())
	})
}

func TestHooks_PanicChangesNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, func(l *live) {
		log := &events{}
		done := make(chan struct{}, 2)
		burst := func(context.Context, agenda.Event) { panic("a hook") }
		l.start(func(context.Context, agenda.Run) error {
			done <- struct{}{}
			return nil
		}, log.set, func(c *SchedulerConfig) {
			c.Workers, c.Hooks = 1, agenda.Hooks{Claimed: burst, Finished: burst, Failed: burst, Late: burst}
		})
		first, second := l.due(0), l.due(0)
		<-done
		<-done
		synctest.Wait()
		require.True(l.t, l.get(first).Completed)
		require.True(l.t, l.get(second).Completed)
		require.Contains(l.t, log.log.String(), "hook panicked")
	})
}

// breaking is a store that breaks in one method while isBroken is true.
type breaking struct {
	store.Store

	method   string
	isBroken *atomic.Bool
	breaks   func()
}

// at breaks if method is the one to break.
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
	return b.Store.Collection(name)
}

// watchedBreaking is a breaking store that can be watched.
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

func (s *stand) breakingIn(method string, isBroken *atomic.Bool, breaks func()) store.Store {
	broken := breaking{method: method, isBroken: isBroken, breaks: breaks}
	broken.Store = store.Wrap(s.store, func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
		broken.at(call.Method)
		return ctx, nil, nil
	})
	if watcher, ok := s.store.(store.Watcher); ok {
		return watchedBreaking{breaking: broken, Watcher: watcher}
	}
	return broken
}

// storeMethods returns the methods that a scheduler calls. Methods of a collection are in the spelling of store.Call.
func storeMethods() []string {
	return []string{"Now", "Collection", "find", "update", "findAndModify", "Watch"}
}

// breaks returns ways in which a store can break other than by returning an error.
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
					select {
					case <-ran:
					case <-time.After(time.Hour):
						require.Fail(l.t, "it does not run although the store works")
					}
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

// If a claim stopped when ctx ended, the store could still make it, and the agenda would wait for the end of a lease
// without a holder.
func TestRunNext_ContextThatEndsDuringTheClaim(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		id := s.add(0)
		ctx, end := context.WithCancel(s.ctx)
		database := store.Wrap(s.store, func(within context.Context, call store.Call) (
			context.Context, func(int, error) error, error,
		) {
			if call.Method == "findAndModify" {
				end()
			}
			return context.WithoutCancel(within), func(_ int, err error) error { return errors.Join(err, within.Err()) }, nil
		})
		_, err := s.scheduler(func(ctx context.Context, _ agenda.Run) error { return ctx.Err() },
			func(c *SchedulerConfig) { c.Env.Store = database }).RunNext(ctx)
		require.NoError(s.t, err)
		require.Error(s.t, ctx.Err())
		require.Equal(s.t, id, s.runNext(s.scheduler(succeed)).Run.Agenda.ID)
	})
}

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

// fill sets each field of a struct to a non-zero value.
func fill(t *testing.T, fields reflect.Value) {
	t.Helper()
	for i := range fields.NumField() {
		switch field := fields.Field(i); field.Interface().(type) {
		case string:
			field.SetString("text " + fields.Type().Field(i).Name)
		case int64, document.Timestamp:
			field.SetInt(int64(1000 + i))
		case bool:
			field.SetBool(true)
		case document.Object:
			field.Set(reflect.ValueOf(document.O("a", 1)))
		default:
			fill(t, field)
		}
	}
}

func TestRecord_EachFieldIsReadWithoutReflection(t *testing.T) {
	t.Parallel()
	full := agenda.Record{}
	fill(t, reflect.ValueOf(&full).Elem())
	o, err := document.Encode(full)
	require.NoError(t, err)
	var read agenda.Record
	for name, value := range o.All() {
		isDecoded, err := read.DecodeField(name, value)
		require.NoError(t, err)
		require.True(t, isDecoded, "%s is read by reflection", name)
	}
	require.Equal(t, full, read)
}

func TestReadRecord_WrittenElsewhere(t *testing.T) {
	t.Parallel()
	r, err := fromDocument(document.O("_id", "a", "nextRunAt", 5.0, "tag", nil, "unknown", document.A(1)))
	require.NoError(t, err)
	require.Equal(t, &agenda.Record{Agenda: agenda.Agenda{ID: "a", NextRunAt: 5, Meta: document.O()}}, r)
	_, err = fromDocument(document.O("_id", "a", "nextRunAt", "soon"))
	require.ErrorContains(t, err, "the stored agenda a cannot be read")
}
