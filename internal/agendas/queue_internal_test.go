package agendas

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// tagsDue runs all due agendas and returns their tags in order.
func tagsDue(s *stand) []string {
	s.t.Helper()
	return s.drain(s.scheduler(succeed))
}

func TestQueue_SeesRestore(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	memory := s.store.(*memstore.Store)
	scheduler := s.scheduler(succeed)
	s.add(0, named("kept"))
	snapshot := memory.Snapshot()
	require.Equal(t, []string{"kept"}, s.drain(scheduler))
	s.add(0, named("lost"))
	memory.Restore(snapshot)
	require.Equal(t, []string{"kept"}, s.drain(scheduler))
	s.add(0, named("added"))
	require.Equal(t, []string{"added"}, s.drain(scheduler))
}

func TestQueue_ForkHasItsOwn(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	scheduler := s.scheduler(succeed)
	s.add(0, named("both"))
	require.Equal(t, 1, s.due(scheduler))
	fork := standOn(t, s.clock, s.store.(*memstore.Store).Fork())
	fork.add(0, named("fork"))
	require.Equal(t, []string{"both"}, s.drain(scheduler))
	require.Equal(t, []string{"both", "fork"}, tagsDue(fork))
}

// due returns the number of due agendas.
func (s *stand) due(scheduler *Scheduler) int {
	s.t.Helper()
	count, err := scheduler.Due(s.ctx)
	require.NoError(s.t, err)
	return count
}

func TestQueue_ClockGoesBack(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		scheduler := s.scheduler(succeed)
		s.add(time.Hour, named("later"))
		s.add(0, named("now"))
		s.clock.advance(2 * time.Hour)
		require.Equal(s.t, 2, s.due(scheduler))
		s.clock.set(start())
		require.Equal(s.t, []string{"now"}, s.drain(scheduler))
		at, ok, err := scheduler.Next(s.ctx)
		require.NoError(s.t, err)
		require.True(s.t, ok)
		require.Equal(s.t, start().Add(time.Hour), at)
	})
}

func TestQueueNext_OnlyLeaseIsLeft(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		s.add(0)
		dead := s.scheduler(succeed)
		_, _, err := dead.candidates.take(s.ctx, start(), 1, 0, fair.NewShares(1))
		require.NoError(s.t, err)
		scheduler := s.scheduler(func(ctx context.Context, _ agenda.Run) error {
			other := s.scheduler(succeed)
			at, ok, err := other.Next(ctx)
			require.NoError(s.t, err)
			require.True(s.t, ok)
			require.Equal(s.t, start().Add(time.Minute), at)
			s.add(30 * time.Second)
			at, _, err = other.Next(ctx)
			require.NoError(s.t, err)
			require.Equal(s.t, start().Add(30*time.Second), at)
			return nil
		})
		s.runNext(scheduler)
	})
}

func TestQueue_StoreChangesWhileFilled(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	for range 2000 {
		s.add(0)
	}
	var writers sync.WaitGroup
	for range 2 {
		writers.Go(func() {
			for i := range 300 {
				id := s.add(0)
				if i%3 == 0 {
					s.remove(id)
				}
				if i%3 == 1 {
					s.patch(id, document.Set(fieldCompleted, true))
				}
			}
		})
	}
	scheduler := s.scheduler(succeed)
	for range 20 {
		s.due(scheduler)
		scheduler.candidates.close()
	}
	s.due(scheduler)
	writers.Wait()
	require.Equal(t, 2200, s.due(scheduler))
	require.Len(t, s.drain(scheduler), 2200)
}

// interrupted returns a store that runs *meanwhile once, unless it is nil, after it has read agendas and before it returns
// them. A claim fails instead.
func interrupted(inner store.Store, meanwhile *func()) store.Store {
	return store.Wrap(inner, func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
		happens := *meanwhile
		switch {
		case happens == nil:
			return ctx, nil, nil
		case call.Method == "find":
			*meanwhile = nil
			return ctx, func(_ int, err error) error { happens(); return err }, nil
		case call.Method == "findAndModify":
			*meanwhile = nil
			return ctx, nil, boterr.New(boterr.Unavailable, "", "no answer")
		default:
			return ctx, nil, nil
		}
	})
}

func TestQueue_RestoreWhileFilled(t *testing.T) {
	t.Parallel()
	clock := &testClock{now: start()}
	memory := memstore.New(memstore.WithNow(clock.Now))
	var meanwhile func()
	s := standOn(t, clock, interrupted(memory, &meanwhile))
	s.add(0, named("restored"))
	snapshot := memory.Snapshot()
	s.add(0, named("undone"))
	meanwhile = func() { memory.Restore(snapshot) }
	require.Equal(t, []string{"restored"}, tagsDue(s))
}

func TestQueue_ClaimFails(t *testing.T) {
	t.Parallel()
	clock := &testClock{now: start()}
	var meanwhile func()
	s := standOn(t, clock, interrupted(memstore.New(memstore.WithNow(clock.Now)), &meanwhile))
	s.add(0, named("a"))
	scheduler := s.scheduler(succeed)
	require.Equal(t, 1, s.due(scheduler))
	meanwhile = func() {}
	_, err := scheduler.RunNext(s.ctx)
	require.ErrorIs(t, err, boterr.Unavailable)
	require.Equal(t, []string{"a"}, s.drain(scheduler))
}

func TestOrder_RevivedKeepsItsPlace(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		scheduler := s.scheduler(fail, limited(1))
		first := s.add(0, named("first"))
		s.runNext(scheduler)
		s.add(time.Hour, named("second"))
		s.patch(first, document.O("$set", document.O(fieldNextRunAt, document.TimestampOf(start().Add(time.Hour))),
			"$unset", document.O(fieldFailed, 1, fieldFailedAt, 1, fieldFailures, 1, fieldAttempts, 1)))
		s.clock.advance(time.Hour)
		scheduler.config.Handler = succeed
		require.Equal(s.t, []string{"first", "second"}, s.drain(scheduler))
	})
}

// modelled is an agenda in the list of a model.
type modelled struct {
	tag                    string
	priority, at, creation int
}

func (m modelled) compare(other modelled) int {
	return cmp.Or(cmp.Compare(m.priority, other.priority), cmp.Compare(m.at, other.at), cmp.Compare(m.creation, other.creation))
}

// model is a stand with a list of its open agendas, both changed at random. RunNext must run the agendas in the
// order of the list.
type model struct {
	*stand

	random *rand.Rand
	open   []modelled
	made   int
	second int
}

// change adds, deletes or updates an agenda.
func (m *model) change() {
	at, priority := m.second+m.random.IntN(20)-5, m.random.IntN(3)
	when := document.TimestampOf(start().Add(time.Duration(at) * time.Second))
	if len(m.open) == 0 || m.random.IntN(2) == 0 {
		m.made++
		added := modelled{tag: strconv.Itoa(m.made), priority: priority, at: at, creation: m.made}
		m.open = append(m.open, added)
		m.add(0, named(added.tag), func(r *agenda.Record) { r.NextRunAt, r.Priority = when, int64(priority) })
		return
	}
	i := m.random.IntN(len(m.open))
	chosen := document.O(fieldTag, m.open[i].tag)
	agendas := record.Open(m.env, schema)
	if m.random.IntN(3) == 0 {
		m.open = slices.Delete(m.open, i, i+1)
		removed, err := agendas.Delete(m.ctx, chosen)
		require.NoError(m.t, err)
		require.EqualValues(m.t, 1, removed)
		return
	}
	m.open[i].at, m.open[i].priority = at, priority
	_, err := agendas.Update(m.ctx, record.Patch{
		Filter: chosen, Patch: document.O(fieldNextRunAt, when, fieldPriority, priority),
	})
	require.NoError(m.t, err)
}

// takeFirst removes the first due agenda from the list.
func (m *model) takeFirst() (modelled, bool) {
	first := -1
	for i, candidate := range m.open {
		if candidate.at <= m.second && (first < 0 || candidate.compare(m.open[first]) < 0) {
			first = i
		}
	}
	if first < 0 {
		return modelled{}, false
	}
	taken := m.open[first]
	m.open = slices.Delete(m.open, first, first+1)
	return taken, true
}

func TestRunNext_FollowsSortedList(t *testing.T) {
	t.Parallel()
	steps := rounds.Of(t, 300, 3000)
	eachStore(t, func(s *stand) {
		m := &model{stand: s, random: rand.New(rand.NewPCG(7, 7))}
		scheduler := s.scheduler(func(_ context.Context, run agenda.Run) error {
			want, ok := m.takeFirst()
			require.True(s.t, ok, "%s is not due", run.Agenda.Tag)
			require.Equal(s.t, want.tag, run.Agenda.Tag)
			for range m.random.IntN(3) {
				m.change()
			}
			return nil
		})
		for range steps {
			for range m.random.IntN(4) {
				m.change()
			}
			for range m.random.IntN(6) {
				if result, err := scheduler.RunNext(s.ctx); err != nil || !result.Ran {
					require.NoError(s.t, err)
					_, due := m.takeFirst()
					require.False(s.t, due, "nothing ran though something was due")
					break
				}
			}
			m.second += m.random.IntN(3)
			s.clock.set(start().Add(time.Duration(m.second) * time.Second))
		}
		require.Greater(s.t, m.made, steps)
	})
}

// of adds a number of due agendas of a channel, each for a different member.
func (s *stand) of(app, channel string, number int) {
	s.t.Helper()
	now, err := s.store.Now(s.ctx)
	require.NoError(s.t, err)
	all := make([]document.Object, number)
	for i := range all {
		all[i], err = document.Encode(agenda.Record{Agenda: agenda.Agenda{
			ID: s.env.NewID(), App: app, Channel: channel, Member: "m" + strconv.Itoa(i), NodeCompositeID: "n",
			NextRunAt: document.TimestampOf(now), Meta: document.O(),
		}})
		require.NoError(s.t, err)
	}
	require.NoError(s.t, s.store.Collection(schema.Collection).Insert(s.ctx, all...))
}

// hanging returns a handler that blocks runs of one channel until their contexts end. It sends all other runs to ran.
func hanging(app, channel string, hung *atomic.Int64, ran chan<- agenda.Run) agenda.Handler {
	return func(ctx context.Context, run agenda.Run) error {
		if run.Agenda.App == app && run.Agenda.Channel == channel {
			hung.Add(1)
			<-ctx.Done()
			return ctx.Err()
		}
		ran <- run
		return nil
	}
}

// waitFor returns the next run. The test fails if there is none.
func (l *live) waitFor(ran <-chan agenda.Run, about any) agenda.Run {
	l.t.Helper()
	select {
	case run := <-ran:
		return run
	case <-time.After(10 * time.Second):
		l.t.Fatalf("%v: no agenda ran in time", about)
		return agenda.Run{}
	}
}

func TestRun_HangingChannelStopsNoOther(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]fair.Key{
		"app": {App: "b", Channel: "c1"}, "channel": {App: "a", Channel: "c2"},
	} {
		for _, number := range []int{16, 64, 1000} {
			t.Run(name+strconv.Itoa(number), func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(l *live) {
					var hung atomic.Int64
					ran := make(chan agenda.Run, 100)
					l.start(hanging("a", "c1", &hung, ran))
					l.of("a", "c1", number)
					l.pass(5 * time.Second)
					require.EqualValues(l.t, 16, hung.Load(), "one channel uses a quarter of the workers")
					for i := range 3 {
						l.of(other.App, other.Channel, 1)
						l.waitFor(ran, i)
					}
					l.of(other.App, other.Channel, 20)
					for i := range 20 {
						l.waitFor(ran, i)
					}
				})
			})
		}
	}
}

func TestRun_ManyHangingChannelsStopNoOtherApp(t *testing.T) {
	t.Parallel()
	inBubble(t, func(l *live) {
		var hung atomic.Int64
		ran := make(chan agenda.Run, 1)
		l.start(func(ctx context.Context, run agenda.Run) error {
			return hanging("a", run.Agenda.Channel, &hung, ran)(ctx, run)
		})
		for i := range 300 {
			l.of("a", strconv.Itoa(i), 2)
		}
		l.pass(5 * time.Second)
		require.EqualValues(l.t, 32, hung.Load(), "one app uses half of the workers")
		l.of("b", "c1", 1)
		l.waitFor(ran, "b")
	})
}

func TestRun_GoesOnOncePlacesAreFree(t *testing.T) {
	t.Parallel()
	inBubble(t, func(l *live) {
		ran := make(chan agenda.Run)
		l.start(func(_ context.Context, run agenda.Run) error {
			ran <- run
			return nil
		}, func(c *SchedulerConfig) { c.Workers, c.Poll = 2, time.Second })
		l.of("a", "c1", 400)
		l.of("b", "c1", 3)
		for i := range 403 {
			l.waitFor(ran, i)
		}
	})
}

func TestRun_RetryWaitsBehindFreshOnes(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		scheduler := s.scheduler(succeed)
		s.add(0, named("retry"), func(r *agenda.Record) { r.RetryAt = document.TimestampOf(start().Add(time.Minute)) })
		s.add(30*time.Second, named("fresh"))
		s.clock.advance(time.Hour)
		taken, _, err := scheduler.candidates.take(s.ctx, s.clock.Now(), 2, 0, fair.NewShares(64))
		require.NoError(s.t, err)
		require.Equal(s.t, []string{"fresh", "retry"}, tagsOf(taken))
	})
}

func tagsOf(found []document.Object) []string {
	tags := make([]string, len(found))
	for i, o := range found {
		tags[i] = document.Get(o, fieldTag, "")
	}
	return tags
}

func TestTake_ChannelsTakeTurns(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		scheduler := s.scheduler(succeed)
		s.of("a", "c1", 300)
		s.of("a", "c2", 1)
		s.of("b", "c1", 1)
		places := fair.NewShares(64)
		var order []string
		for {
			taken, _, err := scheduler.candidates.take(s.ctx, start(), 2, time.Hour, places)
			require.NoError(s.t, err)
			if len(taken) == 0 {
				break
			}
			for _, o := range taken {
				order = append(order, keyOf(o).App+keyOf(o).Channel)
			}
		}
		require.Len(s.t, order, 18, "16 of the first channel, and what the others have")
		require.Contains(s.t, order, "ac2")
		require.Contains(s.t, order, "bc1")
		require.Equal(s.t, 18, places.Held())
	})
}

// A polled store is not queried repeatedly for the backlog of a channel without a place. Once the channel has a
// place, its agendas are found at once, even if agendas of other channels were found before.
func TestTake_BacklogOfABlockedChannelIsReadOnce(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	read := 0
	scheduler := s.scheduler(succeed, func(c *SchedulerConfig) {
		c.Env.Store = store.Wrap(unwatched{s.store}, func(ctx context.Context, _ store.Call) (context.Context, func(int, error) error, error) {
			return ctx, func(documents int, err error) error { read += documents; return err }, nil
		})
	})
	places, hung := fair.NewShares(64), fair.Key{App: "a", Channel: "c1"}
	now := start()
	take := func(limit int) (apps []string) {
		taken, _, err := scheduler.candidates.take(s.ctx, now, limit, time.Second, places)
		require.NoError(t, err)
		for _, o := range taken {
			apps = append(apps, keyOf(o).App)
		}
		return apps
	}
	s.of("a", "c1", 1000)
	require.Len(t, take(64), 16)
	s.of("b", "c1", 20)
	read = 0
	for range 3 {
		now = now.Add(2 * time.Second)
		require.Equal(t, []string{"b", "b"}, take(2))
		places.Release(fair.Key{App: "b", Channel: "c1"})
		places.Release(fair.Key{App: "b", Channel: "c1"})
	}
	require.LessOrEqual(t, read, 3*20)
	places.Release(hung)
	require.ElementsMatch(t, []string{"a", "b"}, take(2))
}
