package agendas

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

const day = 24 * time.Hour

// start returns the time at which virtual time starts.
func start() time.Time { return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC) }

// testClock is a clock that only moves when the test moves it.
type testClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *testClock) advance(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}

func (c *testClock) set(to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = to
}

// unwatched hides the Watch method of a store, so that the store is polled like a database.
type unwatched struct{ store.Store }

type stand struct {
	t     *testing.T
	ctx   context.Context
	clock *testClock
	store store.Store
	env   record.Env
}

// newStand returns a stand with an empty in-memory store.
func newStand(t *testing.T) *stand {
	t.Helper()
	clock := &testClock{now: start()}
	return standOn(t, clock, memstore.New(memstore.WithNow(clock.Now)))
}

func standOn(t *testing.T, clock *testClock, store store.Store) *stand {
	t.Helper()
	return &stand{t: t, ctx: t.Context(), clock: clock, store: store, env: record.Env{Store: store, Now: clock.Now}.WithDefaults()}
}

// wraps returns wrappings for a watched store and for an unwatched one.
func wraps() map[string]func(store.Store) store.Store {
	return map[string]func(store.Store) store.Store{
		"watched": func(s store.Store) store.Store { return s },
		"polled":  func(s store.Store) store.Store { return unwatched{s} },
	}
}

// eachStore runs a test on both kinds of stores.
func eachStore(t *testing.T, test func(s *stand)) {
	t.Helper()
	for name, wrap := range wraps() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := &testClock{now: start()}
			test(standOn(t, clock, wrap(memstore.New(memstore.WithNow(clock.Now)))))
		})
	}
}

// eachStoreOf runs a test on both kinds of stores without subtests, for tests with many cases.
func eachStoreOf(t *testing.T, test func(s *stand)) {
	t.Helper()
	for _, wrap := range wraps() {
		clock := &testClock{now: start()}
		test(standOn(t, clock, wrap(memstore.New(memstore.WithNow(clock.Now)))))
	}
}

func (s *stand) scheduler(handler agenda.Handler, settings ...func(*SchedulerConfig)) *Scheduler {
	s.t.Helper()
	config := SchedulerConfig{Env: s.env, Handler: handler}
	for _, set := range settings {
		set(&config)
	}
	made, err := NewScheduler(config)
	require.NoError(s.t, err)
	return made
}

// add adds an agenda that falls due after a time, and returns its id.
func (s *stand) add(after time.Duration, settings ...func(*agenda.Record)) string {
	s.t.Helper()
	r := agenda.Record{Agenda: agenda.Agenda{Member: "m1", NodeCompositeID: "n1", NextRunAt: document.TimestampOf(start().Add(after))}}
	for _, set := range settings {
		set(&r)
	}
	encoded, err := document.Encode(r)
	require.NoError(s.t, err)
	stored, err := record.Open(s.env, schema).Where(record.FieldApp, "app").Insert(s.ctx, encoded)
	require.NoError(s.t, err)
	return document.Get(stored, record.FieldID, "")
}

// repeating gives an agenda a pattern for a year.
func repeating(pattern string) func(*agenda.Record) {
	return func(r *agenda.Record) {
		r.Pattern = pattern
		r.RunUntil = document.TimestampOf(start().AddDate(1, 0, 0))
	}
}

func named(tag string) func(*agenda.Record) { return func(r *agenda.Record) { r.Tag = tag } }

func (s *stand) get(id string) *agenda.Record {
	s.t.Helper()
	stored, err := record.Open(s.env, schema).Get(s.ctx, id)
	require.NoError(s.t, err)
	r, err := fromDocument(stored)
	require.NoError(s.t, err)
	return r
}

// patch changes an agenda in the store.
func (s *stand) patch(id string, patch document.Object) {
	s.t.Helper()
	_, err := record.Open(s.env, schema).Update(s.ctx, record.Patch{
		Filter: document.O(record.FieldID, id), Patch: patch, WithModifier: true,
	})
	require.NoError(s.t, err)
}

func (s *stand) remove(id string) {
	s.t.Helper()
	_, err := record.Open(s.env, schema).Delete(s.ctx, document.O(record.FieldID, id))
	require.NoError(s.t, err)
}

// runNext runs the next due agenda, which must exist.
func (s *stand) runNext(scheduler *Scheduler) agenda.Result {
	s.t.Helper()
	result, err := scheduler.RunNext(s.ctx)
	require.NoError(s.t, err)
	require.True(s.t, result.Ran, "nothing is due")
	return result
}

// requireNothingDue fails if an agenda can be claimed.
func (s *stand) requireNothingDue(scheduler *Scheduler) {
	s.t.Helper()
	result, err := scheduler.RunNext(s.ctx)
	require.NoError(s.t, err)
	require.False(s.t, result.Ran, "%s is due", result.Run.Agenda.Tag)
}

// drain runs agendas until none is due, and returns their tags in order.
func (s *stand) drain(scheduler *Scheduler) []string {
	s.t.Helper()
	var tags []string
	for range 10_000 {
		result, err := scheduler.RunNext(s.ctx)
		require.NoError(s.t, err)
		if !result.Ran {
			return tags
		}
		tags = append(tags, result.Run.Agenda.Tag)
	}
	require.Fail(s.t, "it runs without end")
	return nil
}

// succeed is a handler that does nothing.
func succeed(context.Context, agenda.Run) error { return nil }

// anybody has a member for every id.
type anybody struct{}

func (anybody) GetMember(_ context.Context, p member.GetParams) (*member.Member, error) {
	return &member.Member{ID: p.MemberID, Channel: "c1"}, nil
}

// service returns a Service for the stand's agendas.
func (s *stand) service() *Service {
	return New(s.env, record.Scope{App: "app"}, Ports{Members: anybody{}})
}

// stored returns all agendas as texts.
func (s *stand) stored() []string {
	s.t.Helper()
	found, err := s.store.Collection(schema.Collection).Find(s.ctx, nil, store.FindOptions{})
	require.NoError(s.t, err)
	texts := make([]string, len(found))
	for i, o := range found {
		texts[i] = o.String()
	}
	return texts
}

// queryAll returns the query for all agendas.
func queryAll() record.Query { return record.Query{} }
