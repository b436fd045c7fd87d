package botctx

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/agendas"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/timelimit"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

// run is one run of bot logic for one member. It begins when it has the member's lane and ends after its changes to
// the member are written back.
type run struct {
	runtime *Runtime
	scope   record.Scope
	bot     *Context
	// channel is the run's own channel, or nil until loaded. sender is the external id of the member, or "" if it is not
	// known yet.
	channel *channel.Channel
	sender  string
	// outer is the step of another run that waits for this run, or nil.
	outer *step
	// lane is the member's lane. own is the lock and the lease that the run holds on it.
	lane laneKey
	own  ownLane
	// delivery is the delivery of the inbox that started the run, directly or through redirects, or nil.
	delivery *inbox.Delivery
	// agenda is the agenda that started the run, directly or through redirects, or nil. claim is the
	// scheduler's claim on it.
	agenda *agenda.Run
	claim  *agendas.Claim
	// byAgent is true if an agent wrote the run's event in a live chat. isInLiveChat is true if the event
	// belongs to the live chat of the member who wrote it; it is atomic because the live chat may end during the run.
	byAgent      bool
	isInLiveChat atomic.Bool
	// hasSpoken is true after the run has sent something to its member in a live chat.
	hasSpoken atomic.Bool
	ended     atomic.Bool
	// limit is the time limit of the run, or nil if there is an outer run, whose limit applies.
	limit *timelimit.Limit
	// read holds the run's member as it was when the run read it.
	read readings
	// key identifies the run. It is the same in each attempt, and "" if the run has none. sent counts the sends
	// to each recipient; sending guards it.
	key     string
	sending sync.Mutex
	sent    map[slot]int
	// holds is the owner of the memory for the run's fetched responses, or nil before the first fetch.
	holds atomic.Pointer[outbound.Owner]
	// current is the current step. Joined steps are not stored here.
	current atomic.Pointer[step]
	// bot points to context, which uses channels, the channels of the scope's app. Its MessageEvent points to event. first
	// is the step before the first node.
	context  Context
	channels runChannels
	event    send.MessageEvent
	first    step
}

// step is one part of a run: a node, or the part before the first node.
type step struct {
	run *run
	// node is the node, or zero before the first node.
	node NodeRef
	// caller is the step that redirected here. It may belong to another member's run.
	caller *step
	// depth is the number of nodes up to and including this one.
	depth int
	// isJoined is true if an action redirected here with RedirectMemberToNode, directly or indirectly.
	isJoined bool
	// joining is a semaphore: this step can be joined by one other step at a time. joinable guards its creation.
	joining  chan struct{}
	joinable sync.Once
}

// currentTree returns the tree of the step's node or, outside of nodes, of the member's position. The step or the member
// may be nil.
func (s *step) currentTree(m *member.Member) string {
	switch {
	case s != nil && s.node != NodeRef{}:
		return s.node.Tree
	case m == nil:
		return ""
	default:
		return m.BotMeta.Tree()
	}
}

// start runs logic for a member. If logic succeeds, its changes to the member are written back. The run's runtime and
// scope are set, and what is known of its input.
func (r *run) start(ctx context.Context, logic func(ctx context.Context, first *step) error) (err error) {
	r.runtime.warnOfNodes(ctx)
	if r.limit == nil && r.outer == nil { // A run within another run shares its limit.
		ctx, r.limit = r.runtime.limitRun(ctx)
		defer func() { err = r.limit.End(err) }()
	}
	ctx, cancel := r.runtime.losable(ctx)
	defer cancel(nil)
	r.own.lost = cancel
	defer r.runtime.leaveLane(ctx, &r.own)
	r.limit.Pause()
	err = r.runtime.takeLane(ctx, r)
	r.limit.Resume()
	if err != nil {
		return boterr.PrefixField("memberId", err)
	}
	if outer := r.outer; r.agenda == nil && outer != nil {
		r.agenda, r.claim, r.delivery = outer.run.agenda, outer.run.claim, outer.run.delivery
	}
	if err := r.load(ctx); err != nil {
		return err
	}
	first := &r.first
	first.run, first.caller = r, r.outer
	if r.outer != nil {
		first.depth = r.outer.depth
	}
	r.current.Store(first)
	defer r.end()
	if err := logic(store.WithRefuser(ctx, first), first); err != nil {
		return err
	}
	if err := r.Refusal(); err != nil {
		return err
	}
	err = r.writeBack(ctx)
	if err != nil {
		r.runtime.logCode(ctx, slog.LevelWarn, "botctx: member not written back", r.scope, err)
	}
	return err
}

const (
	// defaultAgendaWait is the default of Config.AgendaWait.
	defaultAgendaWait = time.Second
	// agendaPause and acceptedPause are the pauses by which an agenda or an accepted event is postponed.
	agendaPause   = time.Second
	acceptedPause = time.Second
)

// maxWait returns how long a run may wait for its lane.
func (r *Runtime) maxWait(starting *run, lane laneKey) time.Duration {
	switch {
	case starting.agenda == nil:
		return r.config.MaxWait
	case r.config.AgendaWait > 0:
		return r.config.AgendaWait
	case r.locks.hasQueue(lane):
		return 0
	default:
		return defaultAgendaWait
	}
}

// load initializes the context of a run, with its channel and its member. It is called after the run has its lane,
// because an earlier run may have changed the member.
func (r *run) load(ctx context.Context) (err error) {
	if r.channel == nil {
		if err = r.loadChannel(ctx); err != nil {
			return boterr.PrefixField("channelId", err)
		}
	}
	r.read.memberID, r.channels.own, r.bot = r.scope.Member, r.channel.Clone(), &r.context
	r.bot.init(r.runtime, r.scope, &r.channels, r)
	r.bot.Channel, r.bot.channelType = r.channel, r.channel.Type
	if err := r.takeOver(ctx, r.scope.Member); err != nil {
		return err
	}
	loaded, err := members.Load(ctx, r.bot.members(), members.ByRequiredID(r.scope.Member))
	switch {
	case errors.Is(err, boterr.NotFound):
		return erasedError{err}
	case err != nil:
		return err
	}
	r.bot.Member = loaded
	return boterr.WithField("channelId", loaded.RequireChannel(r.scope.Channel))
}

func (r *run) loadChannel(ctx context.Context) (err error) {
	r.channels.channelSource = r.runtime.channels(r.scope, &r.context.own.channels)
	r.channel, err = r.channels.channelSource.Load(ctx, r.scope.Channel)
	return err
}

// erasedError is the error of a run whose member does not exist. The member may have been erased while the run
// waited for its lane.
type erasedError struct{ error }

func (e erasedError) Unwrap() error { return e.error }

// Refusal implements store.Refuser. It returns an error if the run may no longer write: it has taken too long, the
// scheduler no longer waits for it, or it has lost its lane to another run.
func (r *run) Refusal() error {
	if r == nil {
		return nil
	}
	if r.limit.IsOver() {
		return r.runtime.runRule.Over
	}
	if r.claim.IsAbandoned() {
		return agenda.ErrShutdown
	}
	if lane := r.laneLease(); lane != nil && lane.Err() != nil {
		return lane.Err()
	}
	if r.outer != nil {
		return r.outer.run.Refusal()
	}
	return nil
}

func (r *run) isRunning() bool { return !r.ended.Load() }

func (s *step) Refusal() error { return s.run.Refusal() }

// NodeOf returns the current node of the run that ctx belongs to. Actions have such a ctx, and so do connectors,
// interceptors and other ports that a run calls. NodeOf returns zero outside of runs, in the function of HandleFunc,
// and if an action does not pass on its ctx.
func NodeOf(ctx context.Context) NodeRef {
	if s, ok := store.RefuserOf(ctx).(*step); ok && s.run.isRunning() {
		return s.node
	}
	return NodeRef{}
}

// AgendaOf returns the agenda that started the run that ctx belongs to, directly or through redirects. ok is false if no
// agenda did, and otherwise as for NodeOf. In such a run, sends leave out members whose botMeta.subscribe is false.
func AgendaOf(ctx context.Context) (started agenda.Run, ok bool) {
	if s, ok := store.RefuserOf(ctx).(*step); ok && s.run.isRunning() && s.run.agenda != nil {
		return *s.run.agenda, true
	}
	return agenda.Run{}, false
}

// stepOf returns the step of a current run that ctx belongs to, or nil outside of runs.
func (r *Runtime) stepOf(ctx context.Context) *step {
	if s, ok := store.RefuserOf(ctx).(*step); ok && s.run.runtime == r && s.run.isRunning() {
		return s
	}
	return nil
}

// within returns ctx with the run's current step, for a call on the context. If ctx already has a step, it returns ctx.
// An action may have replaced its ctx by one without a step.
func (c *Context) within(ctx context.Context) context.Context {
	if c.run == nil || !c.run.isRunning() || c.runtime.stepOf(ctx) != nil {
		return ctx
	}
	return store.WithRefuser(ctx, c.run.current.Load())
}

// attempt implements record.Env.Attempt. It returns the attempt at a run that ctx belongs to, or nil if there is none.
func (r *Runtime) attempt(ctx context.Context) (record.Attempt, error) {
	s := r.stepOf(ctx)
	if s == nil {
		return nil, nil //nolint:nilnil // A missing attempt is not an error.
	}
	if err := s.Refusal(); err != nil {
		return nil, err
	}
	if s.run.delivery == nil || s.run.key == "" {
		return nil, nil //nolint:nilnil // A missing attempt is not an error.
	}
	return runAttempt{s.run}, nil
}

// runAttempt is an attempt at the run of an accepted event, or at a run that this run redirected to.
type runAttempt struct{ run *run }

func (a runAttempt) Recall(id string) (document.Object, bool) { return a.run.delivery.Recall(id) }

func (a runAttempt) IsLast() bool { return a.run.delivery.IsLast() }

func (a runAttempt) Remember(ctx context.Context, id string, answer any) {
	kept, err := document.Encode(answer)
	if err == nil {
		err = a.run.delivery.Remember(ctx, id, kept)
	}
	if err != nil {
		a.run.logNotRemembered(ctx, err)
	}
}

// limitRun returns a ctx that ends after Config.MaxRun. Callers must call End of the limit. start pauses the limit
// while the run waits for its lane, which Config.MaxWait limits.
func (r *Runtime) limitRun(ctx context.Context) (context.Context, *timelimit.Limit) {
	l := r.runRule.Begin(ctx)
	return l, l
}

func (c Config) runRule() timelimit.Rule {
	most := c.MaxRun
	if most < 0 {
		most = math.MaxInt64
	}
	return timelimit.Rule{Most: most, Over: boterr.New(boterr.Unavailable, "", "the run took longer than Config.MaxRun (%v): "+
		"do less in it, move slow work to an agenda, or raise the limit", most)}
}
