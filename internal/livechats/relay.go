package livechats

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// RelayFromMember sends what a member wrote to the agent, as it is, and starts the idle time anew. If
// no agent can read it, since nobody has taken the request or it is being handed on, the message is
// kept for whoever takes it: TellWaiting tells the member. What is no message, such as a receipt or
// the submission of a form, is not relayed; a tap is relayed as the text of its payload, or of all that
// was chosen. It is for hosts, which call it for the messages that no node of the bot answers.
//
// If the agent's conversation is gone (send.IsGone), the live chat ends, and the member is told:
// OutcomeAnswered. Other errors are those of a send. Then nothing was relayed, or that is not known,
// and idle time goes on.
func (s *Service) RelayFromMember(ctx context.Context, memberID string, event send.MessageEvent) (Outcome, error) {
	response, isMessage := relayedOf(event)
	if !isMessage {
		return OutcomeNone, nil
	}
	for range mostTries {
		r, err := s.machine.current(ctx, memberID)
		if err != nil {
			return OutcomeNone, err
		}
		if r == nil { // An end that was interrupted may have left the member in live chat.
			return OutcomeNone, s.machine.closeEnded(ctx, endedOf(memberID))
		}
		outcome, err := s.relayToAgent(ctx, r, response)
		if !errors.Is(err, errChanged) {
			return outcome, err
		}
	}
	return OutcomeNone, boterr.New(boterr.Conflict, "", "the live chat of the member %s changes all the time: try again", memberID)
}

// relayToAgent sends a message to the agent who has an assignment, behind those that are kept, or
// keeps it. errChanged: the assignment changed meanwhile.
func (s *Service) relayToAgent(ctx context.Context, r *livechat.AssignmentRecord, response send.Response) (Outcome, error) {
	g, err := s.openGroup(ctx, r)
	if err != nil {
		return OutcomeNone, err
	}
	if g == nil || len(r.Kept) > 0 {
		outcome, err := s.keep(ctx, r, response)
		if err != nil {
			return OutcomeNone, err
		}
		switch {
		case outcome != OutcomeKept:
			return outcome, nil
		case g == nil:
			return outcome, s.machine.watchIdle(ctx, r)
		}
		return s.afterSend(ctx, r, s.machine.passOnKept(ctx, r), livechat.EndedByAgentGone)
	}
	outlet, err := s.ports.Channels.Load(ctx, g.Outlet)
	if err != nil {
		return OutcomeNone, err
	}
	message, err := s.messageTo(outlet, g.ExternalID, nil, response)
	if err != nil {
		return OutcomeNone, err
	}
	return s.relay(ctx, r, message, livechat.EndedByAgentGone)
}

// RelayFromAgent sends what an agent wrote in a group of an outlet channel to the member, as
// it is, and starts the idle time anew: to the group on the inlet's side, if the conversation
// there is one. GroupOf says which group an event belongs to. In a group that is over the agent is
// told so, once: OutcomeAnswered. A member who is gone (send.IsGone) ends the live chat, and the
// agent is told: OutcomeAnswered, too. What RelayFromMember says of messages and errors holds here.
func (s *Service) RelayFromAgent(ctx context.Context, outletChannelID string, event send.MessageEvent) (Outcome, error) {
	response, isMessage := relayedOf(event)
	if !isMessage {
		return OutcomeNone, nil
	}
	g, err := s.GroupOf(ctx, outletChannelID, event)
	if err != nil {
		return OutcomeNone, err
	}
	if g == nil {
		return s.tellIfOver(ctx, outletChannelID, event)
	}
	r, err := s.assignmentOf(ctx, g)
	switch {
	case err != nil || r == nil:
		return OutcomeNone, err
	case r.State() == livechat.Ended:
		return s.tellOver(ctx, r, g)
	case r.State() != livechat.Taken:
		return OutcomeNone, nil
	}
	inlet, err := s.ports.Channels.Load(ctx, r.Inlet)
	if err != nil {
		return OutcomeNone, err
	}
	m, err := s.memberOf(ctx, r)
	if err != nil {
		return OutcomeNone, err
	}
	message, err := s.conversations.toInlet(inlet, m, g, response)
	if err != nil {
		return OutcomeNone, err
	}
	return s.relay(ctx, r, message, livechat.EndedByMemberGone)
}

// toInlet returns a message to the member of a group, or to the group on the inlet's side.
func (s *conversations) toInlet(inlet *channel.Channel, m *member.Member, g *livechat.Group, response send.Response) (send.Message, error) {
	if g.InletGroupExternalID != "" {
		return s.messageTo(inlet, g.InletGroupExternalID, m, response)
	}
	return s.messageToMember(inlet, m, response)
}

// relay sends a message of a live chat to the other side. gone is how the assignment ends if that is
// gone.
func (s *Service) relay(ctx context.Context, r *livechat.AssignmentRecord, message send.Message, gone livechat.EndedBy) (Outcome, error) {
	_, err := s.deliver(ctx, message)
	return s.afterSend(ctx, r, orLost(err), gone)
}

// afterSend starts the idle time of an assignment anew if a message was sent, or ends it if the other
// side is gone.
func (s *Service) afterSend(ctx context.Context, r *livechat.AssignmentRecord, failed error, gone livechat.EndedBy) (Outcome, error) {
	if lost, isLost := errors.AsType[*lostError](failed); isLost {
		isTold, err := s.machine.endGone(ctx, r, gone, lost.cause)
		if err != nil || !isTold {
			return OutcomeNone, err
		}
		return OutcomeAnswered, nil
	}
	if failed != nil {
		return OutcomeNone, failed
	}
	if err := s.machine.watchIdle(ctx, r); err != nil {
		return OutcomeNone, err
	}
	return OutcomeDelivered, nil
}

// relayedOf returns what the other side gets of an event, and whether it gets anything.
func relayedOf(event send.MessageEvent) (send.Response, bool) {
	switch event.Type {
	case "", send.TypeReferral, send.TypeOptIn, send.TypeComment, send.TypeDelivery, send.TypeRead, send.TypeEcho,
		send.TypeWebEvent, send.TypeTyping:
		return send.Response{}, false
	case send.TypePayload:
		text := chosenOf(event)
		return send.Text(text), text != ""
	case send.TypeMisc:
		// Without these it is something that the platform reports, such as that a form was submitted.
		if !event.Data.Has("attachments") && !event.Data.Has("text") {
			return send.Response{}, false
		}
	default:
	}
	event.Data = sends.WithoutThread(event.Data) // The other side has threads of its own.
	return event.Response(), true
}

// chosenOf returns what a member has chosen by a tap, as a text: the payload, or all that was chosen in a menu or a
// form.
func chosenOf(event send.MessageEvent) string {
	values, ok := document.Get(event.Data, "values", any(nil)).(document.Array)
	if !ok {
		return event.Payload()
	}
	var texts []string
	for _, value := range values.All() {
		if chosen, isObject := value.(document.Object); isObject {
			value = document.Get(chosen, "payload", any(nil))
		}
		if value != nil {
			texts = append(texts, fmt.Sprint(value))
		}
	}
	return strings.Join(texts, ", ")
}

// A member who asks for a person in a group is answered in that group. The assignment keeps
// the group as its inletGroupInfo, and the conversation with the agent takes it over.

// inletGroupInfo is what is known of a group on the inlet's side, nothing for "".
func inletGroupInfo(externalID string) document.Object {
	if externalID == "" {
		return document.Object{}
	}
	return document.O(fieldExternalID, externalID)
}

// inletGroupID returns the id on the platform of the group on the inlet's side, "" where the
// member is alone with who answers.
func inletGroupID(r *livechat.AssignmentRecord) string {
	return document.Get(r.InletGroupInfo, fieldExternalID, "")
}

// groupOfAsking returns the id on the platform of the group in which a member asks: that of
// the scope, where the member is the scope's own.
func (s *Service) groupOfAsking(m *member.Member) string {
	if m.ID != s.scope.Member {
		return ""
	}
	return s.scope.GroupExternalID
}

// IsAskedHere reports whether what a member writes in the scope's group, or to the
// bot alone, belongs to the request that is open: whether the request was made there. Without
// an open one it is true, since nothing says where the live chat is. It is for hosts, which
// relay no message from elsewhere to the agent.
func (s *Service) IsAskedHere(ctx context.Context, memberID string) (bool, error) {
	r, err := s.openAssignment(ctx, memberID)
	if err != nil || r == nil || inletGroupID(r) == s.scope.GroupExternalID {
		return err == nil, err
	}
	if r.Group == "" {
		return false, nil
	}
	g, err := s.loadGroup(ctx, r.Group)
	return err == nil && g.InletGroupExternalID == s.scope.GroupExternalID, err
}
