package agendas

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// noticed is a scheduler on a shared store, and the agendas that another process adds to the store.
type noticed struct {
	*live

	service *Service
	// ran receives the time of each run, relative to the start of the test.
	ran chan time.Duration
}

// inNoticedBubble runs a test with a scheduler that relies on notices, because it polls very rarely.
func inNoticedBubble(t *testing.T, handler agenda.Handler, test func(n *noticed)) {
	t.Helper()
	inBubbleOn(t, func() store.Store { return sharedtest.New(memstore.New()) }, func(l *live) {
		n := &noticed{live: l, service: New(l.env, record.Scope{App: "shop"}, Ports{Members: anybody{}}), ran: make(chan time.Duration, 10)}
		n.start(func(ctx context.Context, run agenda.Run) error {
			n.ran <- n.elapsed()
			return handler(ctx, run)
		}, func(c *SchedulerConfig) {
			c.Poll = time.Hour
			c.Backoff = func(int) time.Duration { return time.Minute }
		})
		synctest.Wait()
		test(n)
	})
}

func (n *noticed) add(after time.Duration) {
	n.t.Helper()
	_, err := n.service.NewAgenda(n.ctx, agenda.NewParams{
		MemberID: "ada", NodeCompositeID: "n", Tag: "t", NextRunAt: document.TimestampOf(n.began.Add(after)),
	})
	require.NoError(n.t, err)
}

func TestNotices_AgendaThatFallsDueBeforeTheNextLook(t *testing.T) {
	t.Parallel()
	inNoticedBubble(t, succeed, func(n *noticed) {
		n.pass(time.Minute)
		n.add(5 * time.Minute)
		n.add(3 * time.Minute)
		n.add(0)
		for _, want := range []int{1, 3, 5} {
			require.Equal(t, time.Duration(want)*time.Minute, <-n.ran)
		}
	})
}

func TestNotices_AgendaThatWasThereBefore(t *testing.T) {
	t.Parallel()
	inNoticedBubble(t, succeed, func(n *noticed) {
		encoded, err := document.Encode(agenda.Record{Agenda: agenda.Agenda{
			App: "shop", Channel: "web", Member: "ada", NodeCompositeID: "n", NextRunAt: document.TimestampOf(n.began.Add(2 * time.Minute)),
		}})
		require.NoError(t, err)
		require.NoError(t, n.store.Collection(schema.Collection).Insert(t.Context(), encoded.With(record.FieldID, "a")))
		n.add(time.Minute) // The notice of this agenda makes the scheduler query the store.
		require.Equal(t, time.Minute, <-n.ran)
		require.Equal(t, 2*time.Minute, <-n.ran)
	})
}

func TestNotices_AgendaThatIsMovedForward(t *testing.T) {
	t.Parallel()
	inNoticedBubble(t, succeed, func(n *noticed) {
		n.add(8 * time.Minute)
		n.pass(time.Minute)
		_, err := n.service.UpdateAgenda(t.Context(), agenda.UpdateParams{
			MemberID: "ada", Tag: "t", NextRunAt: document.TimestampOf(n.began.Add(2 * time.Minute)),
		})
		require.NoError(t, err)
		require.Equal(t, 2*time.Minute, <-n.ran)
	})
}

func TestNotices_RetryAfterThePause(t *testing.T) {
	t.Parallel()
	attempts := 0
	fail := func(context.Context, agenda.Run) error {
		attempts++
		if attempts == 1 {
			return boterr.New(boterr.Unavailable, "", "not now")
		}
		return nil
	}
	inNoticedBubble(t, fail, func(n *noticed) {
		n.add(time.Minute)
		require.Equal(t, time.Minute, <-n.ran)
		require.Equal(t, 2*time.Minute, <-n.ran)
	})
}

func TestNotices_LostOnesAreMadeUpFor(t *testing.T) {
	t.Parallel()
	inNoticedBubble(t, succeed, func(n *noticed) {
		shared, _ := n.store.(*sharedtest.Store)
		deaf := New(record.Env{Store: struct{ store.Store }{shared}}.WithDefaults(), record.Scope{App: "shop"}, Ports{Members: anybody{}})
		_, err := deaf.NewAgenda(t.Context(), agenda.NewParams{
			MemberID: "ada", NodeCompositeID: "n", NextRunAt: document.TimestampOf(n.began),
		})
		require.NoError(t, err)
		n.pass(time.Minute)
		shared.Notify(topic, "")
		require.Equal(t, time.Minute, <-n.ran)
	})
}

func TestNotices_AgendaThatIsDueWhileOthersWaitForAPlace(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]time.Duration{"at once": 0, "later": time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const placesOfAChannel = 16
			var release chan struct{}
			inNoticedBubble(t, func(_ context.Context, run agenda.Run) error {
				if run.Agenda.Channel == "long" {
					<-release
				}
				return nil
			}, func(n *noticed) {
				release = make(chan struct{})
				add := func(channel string, after time.Duration) {
					n.stand.add(0, func(r *agenda.Record) { r.Channel, r.NextRunAt = channel, document.TimestampOf(n.began.Add(after)) })
				}
				for range placesOfAChannel + 1 {
					add("long", 0)
				}
				notify(n.store, n.began)
				for range placesOfAChannel {
					<-n.ran
				}
				n.pass(time.Minute)
				add("short", time.Minute+after)
				notify(n.store, n.began.Add(time.Minute+after))
				require.Equal(n.t, time.Minute+after, <-n.ran)
				close(release)
			})
		})
	}
}

// An operator may set a time that is not an integer.
func TestNotices_AgendaWithAnOddTimeForLater(t *testing.T) {
	t.Parallel()
	for _, odd := range []any{1e300, 4e12 + 0.5} {
		searches := 0
		inBubbleOn(t, func() store.Store {
			return store.Wrap(sharedtest.New(memstore.New()), func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
				if call.Method == "find" {
					searches++
				}
				return ctx, nil, nil
			})
		}, func(l *live) {
			l.edit(l.due(0), document.O(fieldNextRunAt, odd))
			l.start(succeed)
			l.pass(time.Minute)
		})
		require.Less(t, searches, 100, "%v: an idle scheduler seldom queries the store", odd)
	}
}

// A scheduler remembers the first of many times, and does not query the store for each of the others.
func TestNotices_ManyTimes(t *testing.T) {
	t.Parallel()
	a := newAlarm(sharedtest.New(memstore.New()))
	defer a.end()
	a.looks(0)
	a.silence()
	const last = maxTimes + 1
	for at := int64(last); at > 0; at-- {
		a.expect(at)
	}
	a.expect(last + 1)
	require.False(t, a.rings())
	require.Equal(t, time.Millisecond, a.idle(0, time.Second))
}
