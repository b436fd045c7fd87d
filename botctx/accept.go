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

// Accept keeps what arrived in the store, and returns when that is durable: then the platform may be
// told that it need not send it again. Run, of this Runtime or of another one on the store, does with
// it what Receive does, in the order in which what the sender sent was accepted; see package inbox for
// what holds where runs fail and processes die.
//
// A Runtime without logic, see Handle and HandleFunc, runs nothing of it: it waits.
//
// An event with a Key or a MessageID that the platform repeats is accepted, and not run again, until
// Config.Inbox.Retention after it was done. Events without one get none of that: each is run.
//
// In a run that is tried again, what an attempt before has sent, mailed, uploaded, charged or asked a
// platform for is not done again: the answer of then is given. It is known by its key, see
// Context.SendID, and but for what was under way when a process died; that is known to who receives it,
// by the same key.
//
// InvalidArgument: the app, the channel or the event's sender is missing, the event's type is one of those of
// package send in other letters, such as "text", or the event goes elsewhere
// than to its group. ResourceExhausted: too many events wait, see Config.Inbox.MaxPending: the
// platform is to send it again later. The other errors are those of the store; whether the event was
// kept is not known then.
func (r *Runtime) Accept(ctx context.Context, inbound Inbound) error {
	if inbound.Event.To == "" {
		inbound.Event.To = inbound.GroupExternalID
	}
	if err := inbound.check(); err != nil {
		return err
	}
	key := fixed(eventKey(inbound)) // Without the time of arrival, which each repetition has another of.
	body, err := inbound.at(r.env.Now()).document()
	if err != nil {
		return err
	}
	_, err = r.inbox.Accept(ctx, inbox.Event{
		App: inbound.App, Channel: inbound.Channel, From: inbound.Event.From, Key: key, Body: body,
	})
	return err
}

// maxEventKey is the length from which on the key of an event is replaced by a hash.
const maxEventKey = 256

// fixed returns a key of bounded length: a hash of a long one, which does not grow with what arrived.
func fixed(key string) string {
	if len(key) <= maxEventKey {
		return key
	}
	hash := sha256.Sum256([]byte(key))
	return base64.RawURLEncoding.EncodeToString(hash[:])
}

// Inbox types that the methods of Runtime take and return.
type (
	// DeadLetter is an accepted event that was given up. Its Event.Body holds what arrived, as "event".
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

// DeadLetter returns the dead letter with an id. NotFound: no dead letter has it. Otherwise it returns the store's error.
func (r *Runtime) DeadLetter(ctx context.Context, id string) (DeadLetter, error) {
	return r.inbox.DeadLetter(ctx, id)
}

// RetryDeadLetter puts a dead letter back into the inbox as the next event of its sender, with all attempts. Messages
// that earlier attempts sent are not sent again. NotFound: no dead letter has the id. Otherwise it returns the store's error.
func (r *Runtime) RetryDeadLetter(ctx context.Context, id string) error {
	return r.inbox.Retry(ctx, id)
}

// DiscardDeadLetter removes a dead letter. If the platform repeats its event, the repeat is ignored. NotFound: no dead
// letter has the id. Otherwise it returns the store's error.
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

// The fields of an Inbound as the inbox keeps it.
const (
	fieldEvent   = "event"
	fieldGroup   = "groupExternalId"
	fieldProfile = "profile"
	fieldKey     = "key"
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

// document returns what arrived as the inbox keeps it.
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

// forInbox gives the failure of a run the code by which the inbox tries again what may go well later, and
// nothing else, where the code of the failure tells something else to bot logic. What is behind it stays.
func forInbox(err error) error {
	if _, ok := errors.AsType[noNodeError](err); ok {
		return boterr.New(boterr.Unavailable, "", "%w", err) // Soon all processes may have it.
	}
	if _, ok := errors.AsType[endlessError](err); ok {
		return boterr.New(boterr.FailedPrecondition, "", "%w", err) // They would come to no end again.
	}
	return err
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
func (r *Runtime) Receive(ctx context.Context, inbound Inbound) error {
	return r.receive(ctx, inbound, nil)
}

// receive is Receive, for what the inbox delivers or, with nil, for what arrives just now.
func (r *Runtime) receive(ctx context.Context, inbound Inbound, delivery *inbox.Delivery) (err error) {
	defer func() {
		in := record.Scope{App: inbound.App, Channel: inbound.Channel}
		err = r.orPanic(ctx, place{scope: in}, err, recover())
	}()
	if !r.hasLogic() {
		return boterr.New(boterr.FailedPrecondition, "", "the Runtime has no logic: call Handle or HandleFunc before Receive")
	}
	if inbound.Event.To == "" {
		inbound.Event.To = inbound.GroupExternalID
	}
	var limit *timelimit.Limit
	if r.stepOf(ctx) == nil { // A run inside another one has the limit of that.
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
	isWaiting := outcome == livechats.OutcomeKept || outcome == livechats.OutcomeFull // Nobody reads it now: so the bot may.
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
	begin.outer, begin.key = r.stepOf(ctx), eventKey(inbound)
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
