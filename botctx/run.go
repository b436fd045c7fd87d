package botctx

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/record"
)

// run is one run of bot logic for one member: from the moment that the member is its own
// until what it changed of the member is written back.
type run struct {
	runtime *Runtime
	bot     *Context
	// outer is the step of another run that waits for this one, nil where none does.
	outer *step
	// turn keeps other runs of the member out. It is nil where runs do not take turns.
	turn *turn
	// read is the member as the run has read it.
	read *readings
	// current is the step that is under way, nil when the run has ended.
	current atomic.Pointer[step]
}

// step is one part of a run under way: a node, or what is before the first node.
type step struct {
	run *run
	// node is the node, zero before the first.
	node NodeRef
	// caller is the step that redirected here, perhaps of another member's run.
	caller *step
	// depth is the number of nodes up to this one.
	depth int
	// joining is held by the step that has joined this one, so that several take turns.
	joining sync.Mutex
}

// occasion is what a run begins with.
type occasion struct {
	scope record.Scope
	// channel is that of the scope, nil where it is not loaded yet.
	channel *channel.Channel
	// outer is the step that waits for the run, nil where none does.
	outer *step
}

// startRun runs logic for a member, and writes back what it changed of the member if it
// succeeds.
func (r *Runtime) startRun(
	ctx context.Context, o occasion, logic func(ctx context.Context, started *run, first *step) error,
) error {
	started := &run{runtime: r, outer: o.outer, read: newReadings(o.scope.Member)}
	if !r.config.ParallelRuns {
		turn, err := r.locks.acquire(ctx, memberKey{app: o.scope.App, member: o.scope.Member}, o.outer.turn())
		if err != nil {
			return boterr.In("memberId", err)
		}
		defer r.locks.release(turn)
		started.turn = turn
	}
	if err := started.load(ctx, o); err != nil {
		return err
	}
	first := &step{run: started, caller: o.outer, depth: o.outer.depthOf()}
	started.current.Store(first)
	defer started.current.Store(nil)
	if err := logic(withStep(ctx, first), started, first); err != nil {
		return err
	}
	return started.writeBack(ctx)
}

// load makes the context of a run, with its channel and its member. The member is read
// now, when it is the run's turn: a run before may have changed it.
func (r *run) load(ctx context.Context, o occasion) (err error) {
	r.bot = r.runtime.newContext(o.scope, r)
	if r.bot.Channel = o.channel; o.channel == nil {
		if r.bot.Channel, err = r.runtime.loader(o.scope).Load(ctx, o.scope.Channel); err != nil {
			return boterr.In("channelId", err)
		}
	}
	loaded, err := r.bot.parts.Members.GetMember(ctx, member.GetMemberParams{MemberID: o.scope.Member})
	switch {
	case err != nil:
		return err
	case loaded == nil:
		return boterr.New(boterr.NotFound, "memberId", "there is no member %s here", o.scope.Member)
	case loaded.Channel != o.scope.Channel:
		return boterr.Invalid("channelId", "the member %s is in channel %s, and not in %s",
			o.scope.Member, loaded.Channel, o.scope.Channel)
	}
	r.bot.Member = loaded
	return nil
}

// turn returns the turn of the run that the step belongs to, nil for no step.
func (s *step) turn() *turn {
	if s == nil {
		return nil
	}
	return s.run.turn
}

// depthOf returns the number of nodes up to this step, 0 for no step.
func (s *step) depthOf() int {
	if s == nil {
		return 0
	}
	return s.depth
}

// isUnderWay reports whether the run has not ended.
func (r *run) isUnderWay() bool { return r.current.Load() != nil }

// stepKey is the key of the step under way in a context.Context.
type stepKey struct{}

// withStep returns a context that tells what is called in it which step it belongs to.
func withStep(ctx context.Context, s *step) context.Context {
	return context.WithValue(ctx, stepKey{}, s)
}

// stepOf returns the step under way that a call belongs to: by its ctx, or else by the
// context on which it was called, nil where it is called without one. It is nil outside
// of runs.
func (r *Runtime) stepOf(ctx context.Context, bot *Context) *step {
	if s, ok := ctx.Value(stepKey{}).(*step); ok && s.run.runtime == r && s.run.isUnderWay() {
		return s
	}
	if bot != nil && bot.run != nil {
		return bot.run.current.Load()
	}
	return nil
}
