package botctx

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/timelimit"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// Inbound is what arrived on a channel.
type Inbound struct {
	// App and Channel are the ids of where it arrived. Required.
	App     string
	Channel string
	// Event is the message event. Its From is the id of the member on the platform.
	// Required. A Timestamp that is absent is the time at which it is handed in.
	Event send.MessageEvent
	// Key is what the platform's repetition of the event has in common with it, and no other event
	// of the channel: the platform's id of the event. The default is made of the MessageID, the
	// sender, the type and the data, and of a tap of its time as well. Without a MessageID there is
	// none: then a repetition is not known.
	Key string
	// GroupExternalID is the id on the platform of the group in which the event came about,
	// such as a group on Bravo in which the member wrote. "" where the member and the bot are
	// alone. Connectors of platforms with groups say it: what is answered goes to that group,
	// and so does what an agent answers who takes a request from there. The event's To is
	// this id, too, and is set where it is absent.
	GroupExternalID string
	// Profile is what the platform says of a member who was not known yet: names,
	// locale and so on. Its ExternalID is the event's From.
	Profile member.Member
}

// Receive runs what answers a message event that arrived, and returns when it has run: the
// node that is chosen, and those that it redirects to, or else the logic of HandleFunc. A
// member who was not known is made. Runs of one member take turns.
//
// What no node answers goes to the live chat that it belongs to, if any: what a member
// writes to the agent, what an agent writes to the member, the tap on a ticket. What a member
// writes while nobody has taken the request is kept for whoever takes it; the logic of HandleFunc
// runs for it, too, and if the bot says nothing, the member is told that nobody is there yet.
//
// Of the nodes that may answer (see Flow and Node), the one of the smallest priority whose
// trigger matches runs; mute ones run before, and another is chosen all the same. An event
// that nothing answers is no error.
//
// What comes from a group on Bravo is answered by the group trees. In a group on any platform
// the responses, Reply and a sendResponse that names no member go to that group, filled from
// the member who wrote; so do those of agendas that the run makes for that member.
//
// InvalidArgument: the app, the channel or the event's sender is missing, the event's type is one of those of
// package send in other letters, such as "text", or the event goes
// elsewhere than to its group. NotFound:
// the app has no such channel. FailedPrecondition: there are no nodes and no logic.
// Otherwise the error is that of the run, with *RunError behind it; a panic in it is
// Internal. What a run that fails has changed of bot.Member is not written back; what its
// operations have done stays.
func (r *Runtime) Receive(ctx context.Context, inbound Inbound) (err error) {
	defer func() {
		in := record.Scope{App: inbound.App, Channel: inbound.Channel}
		err = r.orPanic(ctx, place{scope: in}, err, recover())
	}()
	return r.receive(ctx, inbound, nil)
}

// receive is Receive, for what the inbox delivers or, with nil, for what arrives just now.
func (r *Runtime) receive(ctx context.Context, inbound Inbound, delivery *inbox.Delivery) (err error) {
	if !r.hasLogic() {
		return boterr.New(boterr.FailedPrecondition, "", "the Runtime has no logic: call Handle or HandleFunc before Receive")
	}
	if inbound.Event.To == "" {
		inbound.Event.To = inbound.GroupExternalID
	}
	var limit *timelimit.Limit
	if r.stepOf(ctx, nil) == nil { // A run inside another one has the limit of that.
		ctx, limit = r.limitRun(ctx)
		defer func() { err = limit.End(err) }()
	}
	hasBegun, err := r.receiveFrom(ctx, inbound, delivery, limit)
	if _, isErased := errors.AsType[erasedError](err); isErased && !hasBegun && r.config.Arrive == nil {
		_, err = r.receiveFrom(ctx, inbound, delivery, limit) // What they write now makes a new member.
	}
	return err
}

// receiveFrom is receive within a limit. It reports whether the run has begun, and may have had effects.
func (r *Runtime) receiveFrom(
	ctx context.Context, inbound Inbound, delivery *inbox.Delivery, limit *timelimit.Limit,
) (hasBegun bool, err error) {
	begin, err := r.arrive(ctx, inbound)
	if err != nil {
		return false, err
	}
	begin.limit = limit
	if begin.delivery = delivery; delivery != nil && begin.key == "" {
		begin.key = "accepted " + delivery.ID
	}
	event := inbound.at(r.env.Now()).Event
	err = r.startRun(ctx, begin, func(ctx context.Context, started *run, first *step) error {
		hasBegun = true
		if started.isHandled() {
			return nil
		}
		started.bot.MessageEvent = &event
		if err := started.findGroup(ctx); err != nil {
			return err
		}
		return first.answer(ctx)
	})
	return hasBegun, err
}

// hasLogic reports whether there is anything that could answer.
func (r *Runtime) hasLogic() bool { return r.logic.Load() != nil || len(r.nodes.Load().list) > 0 }

// answer runs the nodes that answer the run's event, or else the logic of HandleFunc.
func (s *step) answer(ctx context.Context) error {
	runtime, bot := s.run.runtime, s.run.bot
	among := runtime.nodes.Load()
	may, err := among.candidates(ctx, runtime.config.Flow, bot)
	if err != nil {
		return err
	}
	may.candidates = s.run.asBefore(among, may.candidates)
	watched := s.run.watchChoice(ctx, among, may)
	if isAnswered, err := s.answerByNode(ctx, may.candidates, watched); isAnswered || err != nil {
		return err
	}
	s.run.current.Store(s)
	outcome, err := s.run.passOn(ctx)
	if err != nil {
		return err
	}
	logic := runtime.logic.Load()
	isWaiting := outcome == livechat.OutcomeKept || outcome == livechat.OutcomeFull // Nobody reads it now: so the bot may.
	switch {
	case outcome != livechat.OutcomeNone && (logic == nil || !isWaiting):
		watched.answeredByNoNode(ctx, AnswerLiveChat)
	case logic == nil:
		watched.answeredByNoNode(ctx, AnswerNone)
	default:
		watched.answeredByLogic(ctx, *logic)
		if err := s.run.action(ctx, *logic); err != nil {
			return at(err, RunError{Part: partLogic, Action: functionName(*logic)})
		}
	}
	if isWaiting && !s.run.hasSpoken.Load() {
		return s.run.bot.ownLiveChats().TellWaiting(ctx, s.run.bot.Member.ID, outcome)
	}
	return nil
}

// answerByNode runs the candidates that answer: the mute ones that match, and the first of the
// others. It reports whether there was one of these.
func (s *step) answerByNode(ctx context.Context, candidates []candidate, watched *choosing) (bool, error) {
	bot := s.run.bot
	meta := bot.AgendaMeta
	for i, one := range candidates {
		bot.Node, bot.AgendaMeta = NodeRef{}, meta // A mute node before may have left its own.
		matches, err := s.run.matches(ctx, one.node)
		if err != nil {
			return false, err
		}
		if !matches && one.rule != RuleChosenBefore {
			watched.refused(i)
			continue
		}
		watched.answeredBy(ctx, i)
		s.run.noteChoice(ctx, &one)
		if _, err := s.perform(ctx, next{node: one.node}); err != nil || !one.node.isMute() {
			return true, err
		}
	}
	bot.Node, bot.AgendaMeta = NodeRef{}, meta
	s.run.noteChoice(ctx, nil)
	return false, nil
}

// matches asks the trigger of a node.
func (r *run) matches(ctx context.Context, node *Node) (matches bool, err error) {
	defer func() {
		if err = r.orPanic(ctx, node.Ref(), err, recover()); err != nil {
			err = at(err, RunError{Node: node.Ref(), Part: "trigger"})
		}
	}()
	return node.Trigger.Matches(ctx, r.bot)
}

// check refuses what names no sender, or goes elsewhere than to its group.
func (i Inbound) check() error {
	switch {
	case i.App == "":
		return boterr.Invalid("App", "is missing: name the app that the channel belongs to")
	case i.Channel == "":
		return boterr.Invalid("Channel", "is missing: name the channel on which the event arrived")
	case i.Event.From == "":
		return boterr.Missing("Event.From", "the sender's id on the platform")
	case i.Event.Type.Meant() != "":
		return boterr.Invalid("Event.Type", "is %q: write it as %q", i.Event.Type, i.Event.Type.Meant())
	case i.GroupExternalID != "" && i.Event.To != i.GroupExternalID:
		return boterr.Invalid("Event.To", "is %q, and GroupExternalID is %q: what is written in a group goes to the group",
			i.Event.To, i.GroupExternalID)
	}
	return nil
}

// at returns what arrived with a time, unless the platform gave one.
func (i Inbound) at(now time.Time) Inbound {
	if i.Event.Timestamp.IsZero() {
		i.Event.Timestamp = document.TimestampOf(now)
	}
	return i
}

// arrive returns what the run of what arrived begins with: the member who sent it.
func (r *Runtime) arrive(ctx context.Context, inbound Inbound) (begin runInput, err error) {
	if err := inbound.check(); err != nil {
		return begin, err
	}
	begin.scope = record.Scope{App: inbound.App, Channel: inbound.Channel, GroupExternalID: inbound.GroupExternalID}
	begin.channels = r.channels(begin.scope)
	if begin.channel, err = begin.channels.Load(ctx, inbound.Channel); err != nil {
		return begin, boterr.PrefixField("Channel", err)
	}
	if begin.scope.Member, begin.sender, err = r.sender(ctx, inbound, begin); err != nil {
		return begin, boterr.PrefixField("Profile", err)
	}
	begin.outer, begin.key = r.stepOf(ctx, nil), eventKey(inbound)
	if begin.key == "" && begin.outer != nil {
		begin.key = begin.outer.keyTo(ctx, fmt.Sprintf("receive %q %q %q", inbound.Channel, inbound.GroupExternalID, inbound.Event.From))
	}
	return begin, nil
}

// sender returns the ids of the member who sent what arrived, by the host's function or the
// SDK's own.
func (r *Runtime) sender(ctx context.Context, inbound Inbound, begin runInput) (id, externalID string, err error) {
	if r.config.Arrive != nil {
		arrived, err := r.config.Arrive(ctx, inbound)
		switch {
		case err != nil:
			return "", "", err
		case arrived == nil:
			return "", "", boterr.New(boterr.Internal, "", "the host's Arrive gave neither a member nor an error")
		}
		return arrived.ID, arrived.ExternalID, nil
	}
	externalID = inbound.Event.From
	scope := record.Scope{App: inbound.App, Channel: inbound.Channel}
	if id, err = members.KnownID(ctx, r.guarded, scope, externalID); err != nil || id != "" {
		return id, externalID, err
	}
	profile := inbound.Profile
	profile.App, profile.Channel = "", "" // Those of the scope, which are known to be there.
	profile.ExternalID = externalID
	arrived, err := r.ownMembers(scope, begin.channels).Arrive(ctx, members.On(profile, begin.channel))
	if err != nil {
		return "", "", err
	}
	return arrived.Member.ID, externalID, nil
}
