package agendas

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

func TestClockThatGoesBack_DelaysNoRetry(t *testing.T) {
	t.Parallel()
	for name, outcome := range map[string]error{
		"failure": boterr.New(boterr.Unavailable, "", "no answer"), "postponed": agenda.Postpone(10 * time.Second),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(s *stand) {
				handler := with(outcome)
				scheduler := s.scheduler(handler)
				s.add(-2 * time.Hour)
				s.runNext(scheduler)
				s.requireNothingDue(scheduler)
				s.clock.advance(-time.Hour)
				s.clock.advance(10 * time.Second)
				s.runNext(scheduler)
				s.requireNothingDue(scheduler)
				s.clock.advance(-time.Hour)
				s.clock.advance(20 * time.Second)
				s.runNext(s.scheduler(handler)) // One that knows nothing of the time before.
			})
		})
	}
}

func TestClockThatGoesBack_DelaysNoLease(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		id := s.add(-2 * time.Hour)
		s.clock.advance(3 * defaultLease) // So that dieOnce ends where it began.
		watching := s.scheduler(succeed)
		s.requireNothingDueAfter(watching, id)
		s.add(-2*time.Hour, named("dies"))
		require.True(s.t, s.dieOnce())
		s.clock.advance(-time.Hour)
		for _, scheduler := range []*Scheduler{watching, s.scheduler(succeed)} {
			s.requireNothingDue(scheduler)
		}
		s.clock.advance(defaultLease + time.Second)
		require.Equal(s.t, "dies", s.runNext(watching).Run.Agenda.Tag)
	})
}

func TestClockThatGoesBack_LeavesALiveLease(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		id := s.add(-2 * time.Hour)
		holder, other := s.scheduler(succeed), s.scheduler(succeed)
		c, err := holder.claimHere(s.ctx, s.rawOf(id), s.clock.Now())
		require.NoError(s.t, err)
		s.clock.advance(-time.Hour)
		s.requireNothingDue(other)
		held := newPool(holder).held
		held.Add(c)
		s.clock.advance(defaultLease / 2)
		holder.renewAll(s.ctx, held)
		s.clock.advance(defaultLease - time.Second)
		s.requireNothingDue(other)
		_, err = holder.finish(s.ctx, c, nil, holder.backoff)
		require.NoError(s.t, err)
		require.True(s.t, s.get(id).Completed)
	})
}

// with returns a handler that fails so.
func with(failure error) agenda.Handler {
	return func(context.Context, agenda.Run) error { return failure }
}

// requireNothingDueAfter runs one agenda, and fails if anything else is due.
func (s *stand) requireNothingDueAfter(scheduler *Scheduler, id string) {
	s.t.Helper()
	require.Equal(s.t, id, s.runNext(scheduler).Run.Agenda.ID)
	s.requireNothingDue(scheduler)
}

// rawOf returns an agenda's document.
func (s *stand) rawOf(id string) document.Object {
	s.t.Helper()
	found, err := s.scheduler(succeed).byID(s.ctx, id)
	require.NoError(s.t, err)
	require.Len(s.t, found, 1)
	return found[0]
}
