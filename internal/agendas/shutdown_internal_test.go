package agendas

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

func TestShutdown_WaitsForRuns(t *testing.T) {
	t.Parallel()
	inBubble(t, func(l *live) {
		begun := make(chan struct{})
		l.start(func(ctx context.Context, _ agenda.Run) error {
			close(begun)
			<-time.After(10 * time.Second)
			return ctx.Err()
		}, func(c *SchedulerConfig) { c.Workers = 1 })
		first, second := l.due(0), l.due(0)
		<-begun
		l.stop()
		l.runs.Wait()
		require.LessOrEqual(l.t, l.elapsed(), 11*time.Second)
		require.True(l.t, l.get(first).Completed)
		require.Zero(l.t, l.get(second).Fence, "nothing is claimed any more")
	})
}

func TestShutdown_GivesBackTheUnfinished(t *testing.T) {
	t.Parallel()
	inBubble(t, func(l *live) {
		begun := make(chan struct{})
		var cause error
		l.start(func(ctx context.Context, _ agenda.Run) error {
			close(begun)
			<-ctx.Done()
			cause = context.Cause(ctx)
			return errors.New("it was not done")
		}, func(c *SchedulerConfig) { c.ShutdownTimeout, c.Lease = 10*time.Minute, time.Minute })
		id := l.due(0)
		<-begun
		began := l.elapsed()
		l.stop()
		l.runs.Wait()
		require.Equal(l.t, 10*time.Minute, l.elapsed()-began)
		require.ErrorIs(l.t, cause, agenda.ErrShutdown)
		r := l.get(id)
		require.Zero(l.t, r.Failures)
		require.Zero(l.t, r.LeaseUntil)
		require.False(l.t, r.Completed)
		require.EqualValues(l.t, 1, r.Attempts)
	})
}

func TestShutdown_RunIgnoresItsContext(t *testing.T) {
	t.Parallel()
	inBubble(t, func(l *live) {
		begun, release, ended := make(chan *Claim), make(chan struct{}), make(chan struct{})
		var lines strings.Builder
		scheduler := l.scheduler(func(ctx context.Context, _ agenda.Run) error {
			begun <- ClaimOf(ctx)
			<-release
			return nil
		}, func(c *SchedulerConfig) {
			c.ShutdownTimeout, c.Lease = 10*time.Second, time.Minute
			c.Log = slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelError}))
			c.Hooks.Failed = func(context.Context, agenda.Event) { close(ended) }
		})
		id := l.due(0)
		var left error
		l.runs.Go(func() { left = scheduler.Run(l.running) })
		claim := <-begun
		require.False(l.t, claim.IsAbandoned())
		began := l.elapsed()
		l.stop()
		l.runs.Wait()
		require.Equal(l.t, 10*time.Second+lease.LastWait, l.elapsed()-began)
		require.Equal(l.t, boterr.Canceled, boterr.CodeOf(left))
		require.ErrorContains(l.t, left, id)
		require.Contains(l.t, lines.String(), "agenda: left running")
		require.True(l.t, claim.IsAbandoned())

		claimed := l.get(id)
		require.NotZero(l.t, claimed.LeaseUntil, "its lease is left to pass")
		close(release)
		<-ended
		require.Equal(l.t, claimed, l.get(id), "what it does late is not stored")
		l.pass(2 * time.Minute)
		require.Equal(l.t, id, l.runNext(l.scheduler(succeed)).Run.Agenda.ID, "it runs again")
	})
}

// hangingStore is a store of which one kind of call does not come back before it is released.
type hangingStore struct {
	store.Store

	call    string
	release chan struct{}
}

func (s hangingStore) Collection(name string) store.Collection {
	return hangingCollection{Collection: s.Store.Collection(name), store: s}
}

// hang waits where calls of a name hang.
func (s hangingStore) hang(call string) {
	if call == s.call {
		<-s.release
	}
}

type hangingCollection struct {
	store.Collection

	store hangingStore
}

func (c hangingCollection) Delete(ctx context.Context, f *query.Filter, o store.DeleteOptions) (int64, error) {
	c.store.hang("Delete")
	return c.Collection.Delete(ctx, f, o)
}

func (c hangingCollection) FindAndModify(
	ctx context.Context, f *query.Filter, change query.Change, o store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	c.store.hang("FindAndModify")
	return c.Collection.FindAndModify(ctx, f, change, o)
}

func (c hangingCollection) Update(
	ctx context.Context, f *query.Filter, change query.Change, o store.UpdateOptions,
) (store.UpdateResult, error) {
	c.store.hang("Update")
	return c.Collection.Update(ctx, f, change, o)
}

func TestShutdown_NamesLostStoreCalls(t *testing.T) {
	t.Parallel()
	for call, named := range map[string]string{
		"Delete":        "left were calls of the store, for the removal of completed agendas",
		"FindAndModify": "left were calls of the store, for the claim of what is due",
		"Update":        "the end of the run of agenda ",
	} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(l *live) {
				release := make(chan struct{})
				var lines strings.Builder
				scheduler := l.scheduler(succeed, func(c *SchedulerConfig) {
					c.Env.Store = hangingStore{Store: l.store, call: call, release: release}
					c.Log = slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelError}))
				})
				l.add(0, completed, func(r *agenda.Record) { r.NextRunAt = document.TimestampOf(l.began.Add(-31 * day)) })
				l.due(0)
				var left error
				l.runs.Go(func() { left = scheduler.Run(l.running) })
				l.pass(time.Second)
				began := l.elapsed()
				l.stop()
				l.runs.Wait()
				require.Equal(l.t, 25*time.Second, l.elapsed()-began, "it fits into what orchestrators give")
				require.Equal(l.t, boterr.Canceled, boterr.CodeOf(left))
				require.ErrorContains(l.t, left, named)
				require.Contains(l.t, lines.String(), "the store does not come back")
				close(release)
			})
		})
	}
}
