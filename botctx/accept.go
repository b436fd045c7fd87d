package botctx

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/timelimit"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// Accept stores an event and returns when it is durable, so the platform need not send it again. Run then
// handles the event as Receive does, in this process or in another one with the same store. Events of one
// sender run in the order in which they were accepted. A failed run is tried again; see InboxOptions. If a
// process dies, another one runs its events. Events wait while the Runtime has no logic; see Handle and
// HandleFunc.
//
// If the platform repeats an event with a Key or a MessageID, the repetition is accepted but not run. It is
// recognised until Config.Retention.HandledEvents after the event was done. Events with neither a Key nor a
// MessageID always run.
//
// When a run is tried again, it does not repeat messages, mails, uploads, charges and requests to a platform
// that succeeded in an earlier attempt; the calls return the earlier result. Each of them has a key; see
// Context.SendID. Only a call that was in progress when a process died is made again. It has the same key,
// so the receiver can recognise it.
//
// Errors:
//   - InvalidArgument: the app, the channel or the event's sender is missing; the event's type has the
//     wrong case, such as "text" for "TEXT"; Event.To is not the group of the event; or the event has more
//     than about 15 MB.
//   - ResourceExhausted: too many events are waiting; see Config.Inbox.MaxPending. The platform should send
//     the event again later.
//
// Other errors come from the store. It is then unknown whether the event was stored.
func (r *Runtime) Accept(ctx context.Context, inbound Inbound) error {
	if inbound.Event.To == "" {
		inbound.Event.To = inbound.GroupExternalID
	}
	if err := inbound.check(); err != nil {
		return err
	}
	key := fixed(eventKey(inbound)) // Make the key before setting the time of arrival, which differs in a repetition.
	body, err := inbound.at(r.env.Now()).document()
	if err != nil {
		return err
	}
	return r.storeAccepted(ctx, InboxEvent{App: inbound.App, Channel: inbound.Channel, From: inbound.Event.From, Key: key, Body: body})
}

// maxEventKey is the maximum length of an event's key. Longer keys are replaced by a hash.
const maxEventKey = 256

// fixed returns key, or its hash if it is longer than maxEventKey.
func fixed(key string) string {
	if len(key) <= maxEventKey {
		return key
	}
	hash := sha256.Sum256([]byte(key))
	return base64.RawURLEncoding.EncodeToString(hash[:])
}

// The fields of an Inbound in Event.Body of the inbox.
const (
	fieldEvent   = "event"
	fieldGroup   = "groupExternalId"
	fieldProfile = "profile"
	fieldKey     = "key"
)

// Inbound is an event that arrived on a channel.
type Inbound struct {
	// App and Channel are the ids of the app and the channel at which the event arrived. Required.
	App     string
	Channel string
	// Event is the message event. Required. From is the sender's id on the platform. If Timestamp is zero, it
	// is set to the current time.
	Event send.MessageEvent
	// Key is the platform's id of the event. It must be unique within the channel, because a second event with
	// the same Key counts as a repetition. The default consists of the MessageID, the sender, the type and the
	// data, and for a tap also the time. Without a Key and a MessageID, repetitions are not recognised.
	Key string
	// GroupExternalID is the platform's id of the group in which the event happened, such as a Bravo group. It
	// is "" for a conversation of the member with the bot alone. Connectors of platforms with groups set it.
	// The bot's answers go to the group, and so do an agent's messages in a live chat that was requested there.
	// Event.To must be the same id; this is also its default.
	GroupExternalID string
	// Profile is the platform's information about the sender: names, locale and so on. It is used if the event
	// creates a new member. Its ExternalID is ignored; Event.From is used instead.
	Profile member.Member
}

// document encodes i as Event.Body of the inbox. inboundOf is the inverse.
func (i Inbound) document() (document.Object, error) {
	event, err := document.Encode(i.Event)
	if err != nil {
		return document.Object{}, boterr.PrefixField("Event", err)
	}
	profile, err := document.Encode(i.Profile)
	if err != nil {
		return document.Object{}, boterr.PrefixField("Profile", err)
	}
	return document.O(fieldEvent, event, fieldGroup, i.GroupExternalID, fieldProfile, profile, fieldKey, i.Key), nil
}

func inboundOf(e inbox.Event) (Inbound, error) {
	arrived := Inbound{
		App: e.App, Channel: e.Channel,
		GroupExternalID: document.Get(e.Body, fieldGroup, ""), Key: document.Get(e.Body, fieldKey, ""),
	}
	if err := document.Decode(document.Get(e.Body, fieldEvent, document.O()), &arrived.Event); err != nil {
		return arrived, boterr.PrefixField("Event", err)
	}
	err := document.Decode(document.Get(e.Body, fieldProfile, document.O()), &arrived.Profile)
	return arrived, boterr.PrefixField("Profile", err)
}

// forInbox changes the code of some errors, because the inbox decides by the code whether to try again.
func forInbox(err error) error {
	if _, ok := errors.AsType[noNodeError](err); ok {
		return boterr.New(boterr.Unavailable, "", "%w", err) // Try again: another process may have the node.
	}
	if _, ok := errors.AsType[endlessError](err); ok {
		return boterr.New(boterr.FailedPrecondition, "", "%w", err) // Do not try again: the redirects would be endless again.
	}
	return err
}

// Receive runs the bot logic for a message event and returns when the run ends. It creates a new member if
// necessary. Runs of one member take turns.
//
// Among the nodes that may answer (see Flow and Node), the matching node with the smallest priority runs, and
// then the nodes that it redirects to. Matching mute nodes with a smaller priority run before it; they do not
// count as the answer. If no node answers, the function of HandleFunc runs. An event without an answer is not
// an error.
//
// If no node answers and the event belongs to a live chat, it goes there: a member's message to the agent, an
// agent's message to the member, and a tap on a ticket to the request. If no agent has taken the request yet,
// the member's message is kept for the agent, and the function of HandleFunc runs, too. If the bot sends
// nothing then, the member gets a text that no agent is there yet.
//
// Events in a group on Bravo are answered by the group trees. In a group on any platform, responses go to the
// group: the responses of nodes, Reply, SendResponse without a member, and the same calls in agendas that the
// run creates for the member. Placeholders are filled from the member who wrote.
//
// Errors:
//   - InvalidArgument: the app, the channel or the event's sender is missing; the event's type has the
//     wrong case, such as "text" for "TEXT"; or Event.To is not the group of the event.
//   - NotFound: the app has no such channel.
//   - FailedPrecondition: the Runtime has no nodes and no function.
//
// Other errors come from the run and wrap a *RunError. A panic in the run is Internal. If a run fails, its
// changes to bot.Member are not written back, but the effects of its operations remain.
func (r *Runtime) Receive(ctx context.Context, inbound Inbound) error {
	return r.receive(ctx, inbound, nil)
}

// receive carries out Receive. delivery is the inbox's delivery of the event, or nil for a direct call.
func (r *Runtime) receive(ctx context.Context, inbound Inbound, delivery *inbox.Delivery) (err error) {
	defer r.recovered(ctx, place{scope: record.Scope{App: inbound.App, Channel: inbound.Channel}}, &err)
	if !r.hasLogic() {
		return boterr.New(boterr.FailedPrecondition, "", "the Runtime has no bot logic: call Handle or HandleFunc before Receive")
	}
	if inbound.Event.To == "" {
		inbound.Event.To = inbound.GroupExternalID
	}
	var limit *timelimit.Limit
	if r.stepOf(ctx) == nil { // A run within another run shares its limit.
		ctx, limit = r.limitRun(ctx)
		defer func() { err = limit.End(err) }()
	}
	hasBegun, err := r.receiveFrom(ctx, inbound, delivery, limit)
	switch _, isGone := errors.AsType[erasedError](err); {
	case err == nil || hasBegun:
		return err
	case isErased(delivery):
		return nil
	case isGone && r.config.Arrive == nil:
		_, err = r.receiveFrom(ctx, inbound, delivery, limit) // The member was erased meanwhile: create a new one.
	}
	return err
}

// receiveFrom is receive within a time limit. hasBegun is true if the run began and may have had effects.
func (r *Runtime) receiveFrom(
	ctx context.Context, inbound Inbound, delivery *inbox.Delivery, limit *timelimit.Limit,
) (hasBegun bool, err error) {
	started := &run{
		runtime: r, delivery: delivery, limit: limit,
		scope: record.Scope{App: inbound.App, Channel: inbound.Channel, GroupExternalID: inbound.GroupExternalID},
	}
	if err := started.arrive(ctx, inbound); err != nil {
		return false, err
	}
	started.event = inbound.at(r.env.Now()).Event
	err = started.start(ctx, func(ctx context.Context, first *step) error {
		hasBegun = true
		if started.isHandled() || isErased(delivery) {
			return nil
		}
		started.bot.MessageEvent = &started.event
		if err := started.findGroup(ctx); err != nil {
			return err
		}
		return first.answer(ctx)
	})
	return hasBegun, err
}

// hasLogic reports whether the Runtime has nodes or a function of HandleFunc.
func (r *Runtime) hasLogic() bool { return r.logic.Load() != nil || len(r.nodes.Load().list) > 0 }

// answer runs the nodes that answer the run's event. If none does, it passes the event to its live chat or runs
// the function of HandleFunc.
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
	switch {
	case err != nil:
		return err
	case outcome == livechats.OutcomeOver:
		s.run.isInLiveChat.Store(false)
		bot.Group = nil
		return s.answer(ctx)
	}
	logic := runtime.logic.Load()
	isWaiting := outcome == livechats.OutcomeKept || outcome == livechats.OutcomeFull // No agent has taken the request, so the bot may answer.
	switch {
	case outcome != livechats.OutcomeNone && (logic == nil || !isWaiting):
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
		return s.run.bot.ownLiveChats().TellWaiting(ctx, s.run.bot.scope.Member, outcome)
	}
	return nil
}

// answerByNode runs the matching candidates in order, up to and including the first that is not mute. It returns
// true if it ran such a node.
func (s *step) answerByNode(ctx context.Context, candidates []candidate, watched *choosing) (bool, error) {
	bot := s.run.bot
	meta := bot.AgendaMeta
	for i, one := range candidates {
		bot.Node, bot.AgendaMeta = NodeRef{}, meta // Undo changes by a mute node that ran before.
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

func (r *run) matches(ctx context.Context, node *Node) (matches bool, err error) {
	defer func() {
		if err != nil {
			err = at(err, RunError{Node: node.Ref(), Part: "trigger"})
		}
	}()
	defer r.runtime.recovered(ctx, r.at(node.Ref()), &err)
	return node.Trigger.Matches(ctx, r.bot)
}

func (i Inbound) check() error {
	switch {
	case i.App == "":
		return boterr.Missing("App", "the id of the app that the channel belongs to")
	case i.Channel == "":
		return boterr.Missing("Channel", "the id of the channel on which the event arrived")
	case i.Event.From == "":
		return boterr.Missing("Event.From", "the sender's id on the platform")
	case i.Event.Type.Meant() != "":
		return boterr.Invalid("Event.Type", "is %q: write it as %q", i.Event.Type, i.Event.Type.Meant())
	case i.GroupExternalID != "" && i.Event.To != i.GroupExternalID:
		return boterr.Invalid("Event.To", "is %q, but GroupExternalID is %q: leave Event.To empty, or set it to the group",
			i.Event.To, i.GroupExternalID)
	}
	return boterr.PrefixField("Event.Data", i.Event.Data.Err())
}

// at returns the event with its Timestamp, or with now if it has none.
func (i Inbound) at(now time.Time) Inbound {
	if i.Event.Timestamp.IsZero() {
		i.Event.Timestamp = document.TimestampOf(now)
	}
	return i
}

// arrive sets the input of the event's run. It finds or creates the member who sent the event.
func (r *run) arrive(ctx context.Context, inbound Inbound) error {
	if err := inbound.check(); err != nil {
		return err
	}
	if err := r.loadChannel(ctx); err != nil {
		return boterr.PrefixField("Channel", err)
	}
	if err := r.findSender(ctx, inbound); err != nil {
		return boterr.PrefixField("Profile", err)
	}
	r.outer, r.key = r.runtime.stepOf(ctx), eventKey(inbound)
	switch {
	case r.key != "":
	case r.outer != nil:
		r.key = r.outer.keyTo(ctx, fmt.Sprintf("receive %q %q %q", inbound.Channel, inbound.GroupExternalID, inbound.Event.From))
	case r.delivery != nil:
		r.key = "accepted " + r.delivery.ID
	}
	return nil
}

// findSender sets the member who sent the event. It calls Config.Arrive if that is set, and else finds or creates the
// member in the store.
func (r *run) findSender(ctx context.Context, inbound Inbound) (err error) {
	config := &r.runtime.config
	if config.Arrive != nil {
		arrived, err := config.Arrive(ctx, inbound)
		switch {
		case err != nil:
			return err
		case arrived == nil:
			return boterr.New(boterr.Internal, "", "Config.Arrive returned neither a member nor an error")
		}
		r.scope.Member, r.sender = arrived.ID, arrived.ExternalID
		return nil
	}
	r.sender = inbound.Event.From
	if r.scope.Member, err = members.KnownID(ctx, r.runtime.guarded, r.scope, r.sender); err != nil || r.scope.Member != "" {
		return err
	}
	if isErased(r.delivery) { // The member's record is erased after the events.
		return erasedError{boterr.New(boterr.NotFound, "", "the member was erased, and this event with the member")}
	}
	profile := inbound.Profile
	profile.App, profile.Channel = "", "" // The scope already has the app and the channel.
	profile.ExternalID = r.sender
	arrived, err := members.New(r.runtime.guarded, r.scope, r.channels.channelSource).Arrive(ctx, members.On(profile, r.channel))
	if err == nil {
		r.scope.Member = arrived.Member.ID
	}
	return err
}
