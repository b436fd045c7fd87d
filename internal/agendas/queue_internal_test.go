package agendas

import (
	"context"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// tagsDue runs all that is due and returns the tags in order.
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

// due returns the number of agendas that are due.
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

func TestHeap_OrderWhateverIsTakenOut(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	q := newQueue(0)
	open := map[string]bool{}
	for i := range 5000 {
		id := strconv.Itoa(random.IntN(500))
		switch random.IntN(4) {
		case 0:
			q.remove(id)
			delete(open, id)
		case 1:
			q.refresh(int64(random.IntN(100)))
		default:
			q.set(id, document.O("_id", id, fieldCompleted, false, fieldNextRunAt, random.IntN(100),
				fieldPriority, random.IntN(3), fieldLeaseUntil, random.IntN(120), "createdAt", i))
			open[id] = true
		}
		require.Len(t, q.byID, len(open))
		require.Equal(t, len(open), len(q.waiting.slots)+len(q.due.slots))
	}
	var last *entry
	for range open {
		e := q.take(1000)
		require.NotNil(t, e)
		if last != nil {
			a, b := last.slot(&q.due), e.slot(&q.due)
			require.True(t, a.before(&b))
		}
		last = e
	}
	require.Nil(t, q.take(1000))
}

// interrupted is a store in memory where something happens between the reading of the
// agendas and its answer.
type interrupted struct {
	*memstore.Store

	meanwhile func()
}

func (i *interrupted) Collection(name string) store.Collection {
	return interruptedCollection{Collection: i.Store.Collection(name), store: i}
}

type interruptedCollection struct {
	store.Collection

	store *interrupted
}

func (c interruptedCollection) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	found, err := c.Collection.Find(ctx, filter, options)
	if meanwhile := c.store.meanwhile; meanwhile != nil {
		c.store.meanwhile = nil
		meanwhile()
	}
	return found, err
}

// FindAndModify fails where something is to happen meanwhile.
func (c interruptedCollection) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	if c.store.meanwhile != nil {
		c.store.meanwhile = nil
		return store.FindAndModifyResult{}, boterr.New(boterr.Unavailable, "", "no answer")
	}
	return c.Collection.FindAndModify(ctx, filter, change, options)
}

func TestQueue_RestoreWhileFilled(t *testing.T) {
	t.Parallel()
	clock := &testClock{now: start()}
	store := &interrupted{Store: memstore.New(memstore.WithNow(clock.Now))}
	s := standOn(t, clock, store)
	s.add(0, named("restored"))
	snapshot := store.Snapshot()
	s.add(0, named("undone"))
	store.meanwhile = func() { store.Restore(snapshot) }
	require.Equal(t, []string{"restored"}, tagsDue(s))
}

func TestQueue_ClaimFails(t *testing.T) {
	t.Parallel()
	clock := &testClock{now: start()}
	store := &interrupted{Store: memstore.New(memstore.WithNow(clock.Now))}
	s := standOn(t, clock, store)
	s.add(0, named("a"))
	scheduler := s.scheduler(succeed)
	require.Equal(t, 1, s.due(scheduler))
	store.meanwhile = func() {}
	_, err := scheduler.RunNext(s.ctx)
	require.ErrorIs(t, err, boterr.Unavailable)
	require.Equal(t, []string{"a"}, s.drain(scheduler))
}
