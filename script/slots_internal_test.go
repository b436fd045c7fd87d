package script

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

func TestSlots_WhoComesFirstIsServedFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &slots{free: 1}
		require.True(t, s.enterAtOnce())
		require.False(t, s.enterAtOnce())
		var served []int
		for i := range 5 {
			go func() {
				if s.enter(t.Context()) == nil {
					served = append(served, i)
					s.leave()
				}
			}()
			synctest.Wait()
		}
		require.Empty(t, served)
		s.leave()
		synctest.Wait()
		require.Equal(t, []int{0, 1, 2, 3, 4}, served)
		require.Equal(t, 1, s.free)
	})
}

func TestSlots_WhoGivesUpKeepsNone(t *testing.T) {
	t.Parallel()
	s := &slots{}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(boterr.Unavailable)
	require.ErrorIs(t, s.enter(ctx), boterr.Unavailable)
	require.Empty(t, s.waiting)
	given := s.queue()
	s.leave()
	s.giveUp(given) // It was given one in the same moment.
	require.Equal(t, 1, s.free)
}

// withSlots returns a program, of an engine with some slots, and a member on whom it may run.
func withSlots(t *testing.T, free int, source string) (program *Program, p *fakes.Platform, ada *fakes.Actor) {
	t.Helper()
	engine, err := New(Options{Deadline: time.Second})
	require.NoError(t, err)
	program, err = engine.Compile("test.js", source)
	require.NoError(t, err)
	engine.slots.free = free
	p = fakes.New(fakes.For(t))
	ada = p.AddMember(member.Member{})
	return program, p, ada
}

func TestSlots_ScriptsWithinScriptsHaveThem(t *testing.T) {
	t.Parallel()
	program, p, ada := withSlots(t, 1, "this.depth = (this.depth ?? 0) + 1\n"+
		"if (this.depth < 4) await this.redirectMemberToNode({ memberId: this.member._id, nodeCompositeId: 'deeper' })")
	runs := 0
	p.Handle(&botctx.Node{ID: "deeper", Trigger: botctx.TextIs("go"), Pre: []botctx.Action{
		program.Action(),
		func(context.Context, *botctx.Context) error { runs++; return nil },
	}})
	ada.Says("go")
	require.Equal(t, 4, runs)
	require.Equal(t, 1, program.engine.slots.free)
}

func TestSlots_WaitingIsNoTimeOfTheScript(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		program, p, ada := withSlots(t, 0, "await this.redirectMemberToNode({ memberId: this.member._id, nodeCompositeId: 'taker' })")
		slots := program.engine.slots
		p.Handle(
			&botctx.Node{ID: "begin", Trigger: botctx.TextIs("go"), Pre: []botctx.Action{program.Action()}},
			&botctx.Node{ID: "taker", Pre: []botctx.Action{func(context.Context, *botctx.Context) error {
				require.True(t, slots.enterAtOnce(), "it is free while the script waits for its operation")
				return nil
			}}},
		)
		done := make(chan error, 1)
		go func() { done <- ada.TrySays("go") }()
		for range 2 { // The first time it has not begun, and the second time it has waited for its operation.
			time.Sleep(2 * time.Second) //nolint:forbidigo // The virtual clock of synctest.
			slots.leave()
		}
		require.NoError(t, <-done)
	})
}

func TestSlots_ContextEndsWaiting(t *testing.T) {
	t.Parallel()
	program, _, ada := withSlots(t, 0, "return 1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := program.Run(ctx, ada.Context())
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "test.js")
}

func TestDeadline_StandsStillInAPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d deadline
		ctx := d.begin(t.Context(), time.Minute, boterr.ResourceExhausted)
		defer d.end()
		time.Sleep(40 * time.Second) //nolint:forbidigo // The virtual clock of synctest.
		resume := d.pause()
		time.Sleep(time.Hour) //nolint:forbidigo // The virtual clock of synctest.
		resume()
		time.Sleep(19 * time.Second) //nolint:forbidigo // The virtual clock of synctest.
		require.NoError(t, ctx.Err())
		time.Sleep(2 * time.Second) //nolint:forbidigo // The virtual clock of synctest.
		require.ErrorIs(t, context.Cause(ctx), boterr.ResourceExhausted)
	})
}
