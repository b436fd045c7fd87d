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

// Accept stores an event and returns once it is durable: the platform need not send it again. Run, of this
// Runtime or of another one on the store, then does the same as Receive, in the order in which the sender's
// events were accepted. A failed run is tried again, see InboxOptions; if a process dies, another one runs
// its event.
//
// While the Runtime has no logic, see Handle and HandleFunc, it runs nothing, and the event waits.
//
// If the platform repeats an event with a Key or a MessageID, the repetition is accepted but not run, until
// Config.Inbox.Retention after the event was done. Events without a Key and a MessageID always run.
//
// When a run is tried again, its messages, mails, uploads, charges and requests to a platform that succeeded
// in an earlier attempt are not repeated: the earlier answer is returned. Each of these has a key, see
// Context.SendID. Only a call that was in progress when a process died is made again; the receiver can
// recognise it by the same key.
//
// InvalidArgument: the app, the channel or the event's sender is missing, the event's type is a type of
// package send in other letters, such as "text", or the event does not go to its group. ResourceExhausted:
// too many events wait, see Config.Inbox.MaxPending; the platform should send it again later. Other errors
// come from the store; then it is unknown whether the event was stored.
func (r *Runtime) Accept(ctx context.Context, inbound Inbound) error {
	if inbound.Event.To == "" {
		inbound.Event.To = inbound.GroupExternalID
	}
	if err := inbound.check(); err != nil {
		return err
	}
	key := fixed(eventKey(inbound)) // The key must not include the time of arrival, which differs for each repetition.
	body, err := inbound.at(r.env.Now()).document()
	if err != nil {
		return err
	}
	_, err = r.inbox.Accept(ctx, inbox.Event{
		App: inbound.App, Channel: inbound.Channel, From: inbound.Event.From, Key: key, Body: body,
	})
	return err
}

// maxEventKey is the length from which an event's key is replaced by a hash.
const maxEventKey = 256

// fixed returns a key of bounded length: the hash of a long key, and a short key unchanged.
func fixed(key string) string {
	if len(key) <= maxEventKey {
		return key
	}
	hash := sha256.Sum256([]byte(key))
	return base64.RawURLEncoding.EncodeToString(hash[:])
}

// Inbox types used by the methods of Runtime.
type (
	// DeadLetter is an accepted event that was given up. Its Event.Body holds the Inbound, as "event".
	DeadLetter = inbox.DeadLetter
	// DeadLettersParams select dead letters by app and channel, and a page of them by DeadLetter.Cursor.
	DeadLettersParams = inbox.DeadLettersParams
	// InboxStats are the numbers of events that wait, of dead letters, and of lanes in work.
	InboxStats = inbox.Stats
	// EventResult is the result of RunNextEvent.
	EventResult = inbox.Result
)

// DeadLetters returns the dead letters that match p, in order of acceptance.
// InvalidArgument: a cursor cannot be read, or the params contradict each other. Otherwise it returns the store's error.
func (r *Runtime) DeadLetters(ctx context.Context, p DeadLettersParams) ([]DeadLetter, error) {
	return r.inbox.DeadLetters(ctx, p)
}

// DeadLetter returns the dead letter with an id. NotFound: there is no dead letter with that id. Otherwise it
// returns the store's error.
func (r *Runtime) DeadLetter(ctx context.Context, id string) (DeadLetter, error) {
	return r.inbox.DeadLetter(ctx, id)
}

// RetryDeadLetter puts a dead letter back into the inbox as the next event of its sender, with all attempts.
// Messages that earlier attempts sent are not sent again. NotFound: there is no dead letter with that id.
// Otherwise it returns the store's error.
func (r *Runtime) RetryDeadLetter(ctx context.Context, id string) error {
	return r.inbox.Retry(ctx, id)
}

// DiscardDeadLetter removes a dead letter. If the platform repeats its event, the repeat is ignored.
// NotFound: there is no dead letter with that id. Otherwise it returns the store's error.
func (r *Runtime) DiscardDeadLetter(ctx context.Context, id string) error {
	return r.inbox.Discard(ctx, id)
}

// InboxStats counts the events in the inbox. It returns only errors of the store.
func (r *Runtime) InboxStats(ctx context.Context) (InboxStats, error) { return r.inbox.Stats(ctx) }

// NextEvent returns when the next accepted event can run, by the store's clock. ok is false if no event waits. It is for
// hosts that drive the time themselves with RunNextEvent. It returns only errors of the store.
func (r *Runtime) NextEvent(ctx context.Context) (at time.Time, ok bool, err error) {
	return r.inbox.Next(ctx)
}

// RunNextEvent runs the first accepted event that can run, and stores the result. Other hosts call Run instead. The lease
// is not renewed: if the run outlasts it, the result is dropped and RunNextEvent returns an error. Other errors come from
// the store.
func (r *Runtime) RunNextEvent(ctx context.Context) (EventResult, error) { return r.inbox.RunNext(ctx) }

func (r *Runtime) newInbox(env record.Env) (*inbox.Inbox, error) {
	config := inbox.Config{
		Env: env, DeriveID: r.config.DeriveID, Leases: r.leases, Handler: r.runAccepted, Enter: r.enterLane,
		Retention: r.config.Retention.HandledEvents, DeadRetention: r.config.Retention.DeadLetters,
		Options: inbox.Options(r.config.Inbox),
	}
	if config.Log == nil {
		config.Log = r.config.Logger
	}
	made, err := inbox.New(config)
	return made, boterr.PrefixField("Inbox", err)
}

// The fields of an Inbound in the inbox.
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
	// Event is the message event. Its From is the id of the member on the platform. Required. A missing
	// Timestamp is set to the current time.
	Event send.MessageEvent
	// Key identifies the event within the channel, so that a repetition by the platform is recognised: the
	// platform's id of the event. The default is made of the MessageID, the sender, the type and the data,
	// and for a tap also of its time. Without a MessageID there is no default, and a repetition is not
	// recognised.
	Key string
	// GroupExternalID is the platform's id of the group in which the event happened, such as a group on Bravo
	// in which the member wrote, or "" if the member and the bot are alone. Connectors of platforms with
	// groups set it: the bot's answers go to that group, and so do the answers of an agent who takes a
	// request from there. The event's To must be the same id, which is also its default.
	GroupExternalID string
	// Profile is the platform's information on a new member: names, locale and so on. Its ExternalID is the
	// event's From.
	Profile member.Member
}

// document returns the inbound event in the inbox's form.
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
	arrived := Inbound{App: e.App, Channel: e.Channel, GroupExternalID: document.Get(e.Body, fieldGroup, "")}
	arrived.Key = document.Get(e.Body, fieldKey, "")
	var event send.MessageEvent
	if err := document.Decode(document.Get(e.Body, fieldEvent, document.O()), &event); err != nil {
		return arrived, boterr.PrefixField("Event", err)
	}
	var profile member.Member
	if err := document.Decode(document.Get(e.Body, fieldProfile, document.O()), &profile); err != nil {
		return arrived, boterr.PrefixField("Profile", err)
	}
	arrived.Event, arrived.Profile = event, profile
	return arrived, nil
}

func (r *Runtime) runAccepted(ctx context.Context, d *inbox.Delivery) error {
	arrived, err := inboundOf(d.Event)
	if err != nil {
		return err
	}
	return forInbox(r.receive(ctx, arrived, d))
}

// forInbox replaces the code of a run's error if it would mislead the inbox, which decides by the code
// whether to try again. The original error stays the cause.
func forInbox(err error) error {
	if _, ok := errors.AsType[noNodeError](err); ok {
		return boterr.New(boterr.Unavailable, "", "%w", err) // A retry may reach a process that has the node.
	}
	if _, ok := errors.AsType[endlessError](err); ok {
		return boterr.New(boterr.FailedPrecondition, "", "%w", err) // The redirects would be endless again.
	}
	return err
}

// Receive runs the answer to a message event, and returns once it has run: the chosen node and the nodes that
// it redirects to, or else the logic of HandleFunc. A new member is created. Runs of one member take turns.
//
// An event that no node answers goes to its live chat, if there is one: a member's message to the agent, an
// agent's message to the member, a tap on a ticket. A member's message before an agent has taken the request
// is kept for the agent; the logic of HandleFunc runs for it, too, and if the bot does not answer, the member
// gets a text saying that no agent is there yet.
//
// Among the nodes that may answer (see Flow and Node), the matching one of the smallest priority runs. Mute
// nodes run before it and do not count as the answer. An event without an answer is not an error.
//
// The group trees answer events from a group on Bravo. In a group on any platform the responses, Reply and a
// sendResponse without a member go to that group, filled from the member who wrote; so do responses of
// agendas that the run makes for that member.
//
// InvalidArgument: the app, the channel or the event's sender is missing, the event's type is a type of
// package send in other letters, such as "text", or the event does not go to its group. NotFound: the app has
// no such channel. FailedPrecondition: there are no nodes and no logic. Otherwise the error comes from the
// run, with *RunError as its cause; a panic in it is Internal. If a run fails, its changes to bot.Member are
// not written back; the effects of its operations remain.
func (r *Runtime) Receive(ctx context.Context, inbound Inbound) error {
	return r.receive(ctx, inbound, nil)
}

// receive is Receive for a delivery of the inbox, or for a direct call if delivery is nil.
func (r *Runtime) receive(ctx context.Context, inbound Inbound, delivery *inbox.Delivery) (err error) {
	defer r.recovered(ctx, place{scope: record.Scope{App: inbound.App, Channel: inbound.Channel}}, &err)
	if !r.hasLogic() {
		return boterr.New(boterr.FailedPrecondition, "", "the Runtime has no logic: call Handle or HandleFunc before Receive")
	}
	if inbound.Event.To == "" {
		inbound.Event.To = inbound.GroupExternalID
	}
	var limit *timelimit.Limit
	if r.stepOf(ctx) == nil { // An inner run shares the limit of the outer one.
		ctx, limit = r.limitRun(ctx)
		defer func() { err = limit.End(err) }()
	}
	hasBegun, err := r.receiveFrom(ctx, inbound, delivery, limit)
	if _, isErased := errors.AsType[erasedError](err); isErased && !hasBegun && r.config.Arrive == nil {
		_, err = r.receiveFrom(ctx, inbound, delivery, limit) // The member was erased meanwhile, and a new one is created.
	}
	return err
}

// receiveFrom is receive within a time limit. It reports whether the run began and may have had effects.
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
		started.event = event
		started.bot.MessageEvent = &started.event
		if err := started.findGroup(ctx); err != nil {
			return err
		}
		return first.answer(ctx)
	})
	return hasBegun, err
}

// hasLogic reports whether there is anything that could answer.
func (r *Runtime) hasLogic() bool { return r.logic.Load() != nil || len(r.nodes.Load().list) > 0 }

// answer runs the nodes that answer the run's event, or the logic of HandleFunc.
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
	isWaiting := outcome == livechats.OutcomeKept || outcome == livechats.OutcomeFull // No agent reads it now, so the bot may answer.
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
		return s.run.bot.ownLiveChats().TellWaiting(ctx, s.run.bot.Member.ID, outcome)
	}
	return nil
}

// answerByNode runs the mute nodes among the candidates that match, up to the first match that is not mute, and
// runs that as well. It reports whether there was such a match.
func (s *step) answerByNode(ctx context.Context, candidates []candidate, watched *choosing) (bool, error) {
	bot := s.run.bot
	meta := bot.AgendaMeta
	for i, one := range candidates {
		bot.Node, bot.AgendaMeta = NodeRef{}, meta // An earlier mute node may have left its own values.
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

// matches evaluates the trigger of a node.
func (r *run) matches(ctx context.Context, node *Node) (matches bool, err error) {
	defer func() {
		if err != nil {
			err = at(err, RunError{Node: node.Ref(), Part: "trigger"})
		}
	}()
	defer r.recovered(ctx, node.Ref(), &err)
	return node.Trigger.Matches(ctx, r.bot)
}

// check returns an error if the sender is missing or the event does not go to its group.
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
		return boterr.Invalid("Event.To", "is %q, and GroupExternalID is %q: text written in a group goes to the group",
			i.Event.To, i.GroupExternalID)
	}
	return nil
}

// at returns the event with a time, which the platform may have omitted.
func (i Inbound) at(now time.Time) Inbound {
	if i.Event.Timestamp.IsZero() {
		i.Event.Timestamp = document.TimestampOf(now)
	}
	return i
}

// arrive returns the input of the event's run, including the member who sent it.
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
	begin.outer, begin.key = r.stepOf(ctx), eventKey(inbound)
	if begin.key == "" && begin.outer != nil {
		begin.key = begin.outer.keyTo(ctx, fmt.Sprintf("receive %q %q %q", inbound.Channel, inbound.GroupExternalID, inbound.Event.From))
	}
	return begin, nil
}

// sender returns the ids of the member who sent the event, from the host's function or the SDK's own.
func (r *Runtime) sender(ctx context.Context, inbound Inbound, begin runInput) (id, externalID string, err error) {
	if r.config.Arrive != nil {
		arrived, err := r.config.Arrive(ctx, inbound)
		switch {
		case err != nil:
			return "", "", err
		case arrived == nil:
			return "", "", boterr.New(boterr.Internal, "", "the host's Arrive returned neither a member nor an error")
		}
		return arrived.ID, arrived.ExternalID, nil
	}
	externalID = inbound.Event.From
	scope := record.Scope{App: inbound.App, Channel: inbound.Channel}
	if id, err = members.KnownID(ctx, r.guarded, scope, externalID); err != nil || id != "" {
		return id, externalID, err
	}
	profile := inbound.Profile
	profile.App, profile.Channel = "", "" // The scope already has the app and the channel.
	profile.ExternalID = externalID
	arrived, err := r.ownMembers(scope, begin.channels).Arrive(ctx, members.On(profile, begin.channel))
	if err != nil {
		return "", "", err
	}
	return arrived.Member.ID, externalID, nil
}
