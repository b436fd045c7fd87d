package agendas

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// of adds agendas of a channel, each for another member, which are due now.
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
	require.NoError(s.t, s.store.Collection(kind.Collection).Insert(s.ctx, all...))
}

// hanging is a handler whose runs in an app's channel hang until they are told to end. Others it tells.
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

// waitFor returns the next run, and fails if there is none.
func (l *live) waitFor(ran <-chan agenda.Run, about any) agenda.Run {
	l.t.Helper()
	select {
	case run := <-ran:
		return run
	case <-time.After(10 * time.Second):
		l.t.Fatalf("%v: it does not run", about)
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

// tagsOf returns the tags of agendas.
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

// readStore counts the agendas that are read.
type readStore struct {
	store.Store

	read *int
}

func (s readStore) Collection(name string) store.Collection {
	return readCollection{s.Store.Collection(name), s.read}
}

type readCollection struct {
	store.Collection

	read *int
}

func (c readCollection) Find(ctx context.Context, filter *query.Filter, options store.FindOptions) ([]document.Object, error) {
	found, err := c.Collection.Find(ctx, filter, options)
	*c.read += len(found)
	return found, err
}

// A polled store is not asked again and again for the backlog of a channel that has no place. Once it has one, its
// agendas are found at once, whatever else was found before.
func TestTake_BacklogOfABlockedChannelIsReadOnce(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	read := 0
	scheduler := s.scheduler(succeed, func(c *SchedulerConfig) { c.Env.Store = readStore{s.store, &read} })
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
