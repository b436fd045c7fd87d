package agendas

import (
	"context"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// ended is how the runs of five agendas ended that were due at once, on a database.
type ended struct {
	*worker

	meddled *meddled
	ids     []string
	claims  []*Claim
	// finished and failed are the tags of the agendas for which a hook was called.
	mu               sync.Mutex
	finished, failed []string
}

// endTogether ends the runs of five agendas: the first one is being written while the others end.
// Then meanwhile is called.
func endTogether(t *testing.T, check func(e *ended), meanwhile func(e *ended)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e := &ended{}
		e.worker, e.meddled, e.ids = newMeddled(t)
		e.config.Hooks = agenda.Hooks{Finished: e.note(&e.finished), Failed: e.note(&e.failed)}
		e.claims = e.claimAll()
		require.Len(t, e.claims, 5)
		e.meddled.commands = nil
		free := make(chan struct{})
		e.meddled.beforeWrite = func() { <-free }
		var all sync.WaitGroup
		for _, c := range e.claims {
			all.Go(func() { e.end(c, nil) })
			synctest.Wait()
		}
		if meanwhile != nil {
			meanwhile(e)
		}
		close(free)
		synctest.Wait()
		require.Len(t, append(e.finished, e.failed...), 5, "no end waits until its patience is over")
		all.Wait()
		check(e)
	})
}

func (e *ended) note(tags *[]string) func(context.Context, agenda.Event) {
	return func(_ context.Context, told agenda.Event) {
		e.mu.Lock()
		defer e.mu.Unlock()
		*tags = append(*tags, told.Run.Agenda.Tag)
	}
}

// requireCompleted fails unless the agendas of these numbers are completed and free.
func (e *ended) requireCompleted(numbers ...int) {
	e.t.Helper()
	for _, number := range numbers {
		stored := e.get(e.ids[number])
		require.True(e.t, stored.Completed)
		require.Zero(e.t, stored.LeaseUntil)
		require.Empty(e.t, stored.Claim)
	}
}

func TestEnds_ThoseAlikeAreWrittenTogether(t *testing.T) {
	t.Parallel()
	endTogether(t, func(e *ended) {
		require.Equal(t, []string{"update", "update"}, e.meddled.commands, "the first, and the four that ended meanwhile")
		e.requireCompleted(0, 1, 2, 3, 4)
		require.Len(t, e.finished, 5)
	}, nil)
}

func TestEnds_EachHasItsOwnNextOccurrence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, m, _ := newMeddled(t)
		var ids []string
		for _, minute := range []int{10, 20, 20} {
			ids = append(ids, w.add(0, repeating(strconv.Itoa(minute)+" * * * *")))
		}
		claims := w.claimAll()
		require.Len(t, claims, 8)
		m.commands = nil
		free := make(chan struct{})
		m.beforeWrite = func() { <-free }
		var all sync.WaitGroup
		for _, c := range claims {
			all.Go(func() { w.end(c, nil) })
			synctest.Wait()
		}
		close(free)
		all.Wait()
		require.Len(t, m.commands, 4, "the first, the four that are completed, the one at 10, the two at 20")
		for i, next := range []time.Duration{10 * time.Minute, 20 * time.Minute, 20 * time.Minute} {
			require.Equal(t, start().Add(next), w.get(ids[i]).NextRunAt.Time())
		}
	})
}

func TestEnds_ChangedMeanwhile(t *testing.T) {
	t.Parallel()
	endTogether(t, func(e *ended) {
		e.requireCompleted(0, 3, 4)
		stored := e.get(e.ids[2])
		require.False(t, stored.Completed, "it has another schedule")
		require.Zero(t, stored.LeaseUntil)
		require.Equal(t, start().Add(time.Hour), stored.NextRunAt.Time())
		require.Len(t, e.finished, 5)
		require.Empty(t, e.failed)
	}, func(e *ended) {
		e.remove(e.ids[1])
		_, err := e.service().UpdateAgenda(e.ctx, agenda.UpdateParams{
			MemberID: "m1", Tag: "2", NextRunAt: document.TimestampOf(start().Add(time.Hour)),
		})
		require.NoError(t, err)
	})
}

func TestEnds_AnotherWorkerHasOne(t *testing.T) {
	t.Parallel()
	endTogether(t, func(e *ended) {
		e.requireCompleted(0, 2, 3, 4)
		require.NotZero(t, e.get(e.ids[1]).LeaseUntil, "it is the other worker's")
		require.Equal(t, []string{"1"}, e.failed)
	}, func(e *ended) {
		e.patch(e.ids[1], document.O("$inc", document.O(fieldFence, 1, fieldAttempts, 1)))
	})
}

func TestEnds_AnswerLost(t *testing.T) {
	t.Parallel()
	endTogether(t, func(e *ended) {
		e.requireCompleted(0, 1, 2, 3, 4)
		require.Len(t, e.finished, 5, "each finds that its end is stored")
		require.Empty(t, e.failed)
	}, func(e *ended) { e.meddled.refuses = boterr.New(boterr.Unavailable, "", "the answer is lost") })
}

func TestEnds_FailureThatIsStoredCountsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, m, ids := newMeddled(t)
		claims := w.claimAll()
		free := make(chan struct{})
		m.beforeWrite = func() { <-free }
		var all sync.WaitGroup
		for _, c := range claims {
			all.Go(func() { w.end(c, boterr.New(boterr.Internal, "", "no luck")) })
			synctest.Wait()
		}
		m.refuses = boterr.New(boterr.Unavailable, "", "the answer is lost")
		close(free)
		all.Wait()
		for _, id := range ids {
			require.EqualValues(t, 1, w.get(id).Failures)
		}
	})
}

func TestEnds_StoreEndsTheGoroutine(t *testing.T) {
	t.Parallel()
	endTogether(t, func(e *ended) {
		e.requireCompleted(1, 2, 3, 4)
		require.Len(t, e.finished, 5)
	}, func(e *ended) { e.meddled.beforeWrite = runtime.Goexit })
}

func TestEnds_OneThatHangsHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	endTogether(t, func(e *ended) { e.requireCompleted(0, 1, 2, 3, 4) }, func(e *ended) {
		<-time.After(defaultLease / 4)
		synctest.Wait()
		e.requireCompleted(1, 2, 3, 4)
		require.False(t, e.get(e.ids[0]).Completed)
	})
}

func TestEnds_ContextThatEndsWaitsNoLonger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, m, ids := newMeddled(t)
		claims := w.claimAll()
		free := make(chan struct{})
		m.beforeWrite = func() { <-free }
		var first sync.WaitGroup
		first.Go(func() { w.end(claims[0], nil) })
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		var second sync.WaitGroup
		var err error
		second.Go(func() { _, err = w.finish(ctx, claims[1], nil, w.backoff) })
		synctest.Wait()
		cancel()
		synctest.Wait()
		require.ErrorIs(t, err, boterr.Canceled)
		second.Wait()
		require.NotZero(t, w.get(ids[1]).LeaseUntil, "its lease passes, unless the write that it waited for has stored it")
		close(free)
		first.Wait()
	})
}
