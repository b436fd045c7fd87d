package script

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/script/internal/slots"
)

// withOneSlot returns a program of an engine with one slot.
func withOneSlot(t *testing.T, source string) *Program {
	t.Helper()
	engine, err := New(Options{Deadline: time.Second})
	require.NoError(t, err)
	program, err := engine.Compile("test.js", source)
	require.NoError(t, err)
	engine.slots = slots.New(1)
	return program
}

func TestSlots_ScriptsWithinScriptsHaveThem(t *testing.T) {
	t.Parallel()
	program := withOneSlot(t, "this.depth = (this.depth ?? 0) + 1\n"+
		"if (this.depth < 4) await this.redirectMemberToNode({ memberId: this.member._id, nodeCompositeId: 'deeper' })")
	p := fakes.New(fakes.For(t))
	ada := p.AddMember(member.Member{})
	runs := 0
	p.Handle(&botctx.Node{ID: "deeper", Trigger: botctx.TextIs("go"), Pre: []botctx.Action{
		program.Action(),
		func(context.Context, *botctx.Context) error { runs++; return nil },
	}})
	ada.Says("go")
	require.Equal(t, 4, runs)
}

func TestSlots_WaitingIsNoTimeOfTheScript(t *testing.T) {
	t.Parallel()
	program := withOneSlot(t, "await this.redirectMemberToNode({ memberId: this.member._id, nodeCompositeId: 'taker' })")
	s := program.engine.slots
	synctest.Test(t, func(t *testing.T) {
		p := fakes.New(fakes.For(t))
		p.Handle(
			&botctx.Node{ID: "begin", Trigger: botctx.TextIs("go"), Pre: []botctx.Action{program.Action()}},
			&botctx.Node{ID: "taker", Pre: []botctx.Action{func(ctx context.Context, _ *botctx.Context) error {
				require.NoError(t, s.Enter(ctx, "another app"), "it is free while the script waits for its operation")
				time.AfterFunc(time.Minute, func() { s.Leave("another app") }) // Longer than Deadline.
				return nil
			}}},
		)
		require.NoError(t, p.AddMember(member.Member{}).TrySays("go"))
	})
}

func TestSlots_ContextEndsWaiting(t *testing.T) {
	t.Parallel()
	program := withOneSlot(t, "return 1")
	program.engine.slots.Take("another app")
	defer program.engine.slots.Leave("another app")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := program.Run(ctx, fakes.New().AddMember(member.Member{}).Context())
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "test.js")
}
