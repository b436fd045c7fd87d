package livechat

import (
	"context"
	"fmt"
	"strings"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// RelayFromMember sends what a member wrote to the agent, as it is, if an agent has the
// member's assignment, and starts the idle time anew. It reports whether it did. What is no
// message, such as a receipt or the submission of a form, is not relayed; a tap is relayed as the text of its payload, or
// of all that was chosen.
// It is for hosts, which call it for the messages that no node of the bot answers.
//
// Errors are those of a send. Then nothing was relayed, or that is not known.
func (s *Service) RelayFromMember(ctx context.Context, memberID string, event send.MessageEvent) (_ bool, err error) {
	defer s.guard(ctx, &err)
	response, isMessage := relayedOf(event)
	if !isMessage {
		return false, nil
	}
	r, err := s.openAssignment(ctx, memberID)
	if err != nil || r == nil || r.State() != Taken || r.Group == "" {
		return false, err
	}
	g, err := s.loadGroup(ctx, r.Group)
	if err != nil || !g.Active {
		return false, err
	}
	outlet, err := s.ports.Channels.Load(ctx, g.Outlet)
	if err != nil {
		return false, err
	}
	message, err := s.messageTo(outlet, g.ExternalID, nil, response)
	if err != nil {
		return false, err
	}
	return s.relay(ctx, r, message)
}

// RelayFromAgent sends what an agent wrote in a group of an outlet channel to the member, as
// it is, and starts the idle time anew: to the group on the inlet's side, where the
// conversation there is one. It reports whether it did; GroupOf says which group an event
// belongs to. What RelayFromMember says of messages and errors holds here, too.
func (s *Service) RelayFromAgent(ctx context.Context, outletChannelID string, event send.MessageEvent) (_ bool, err error) {
	defer s.guard(ctx, &err)
	response, isMessage := relayedOf(event)
	if !isMessage {
		return false, nil
	}
	g, err := s.GroupOf(ctx, outletChannelID, event)
	if err != nil || g == nil {
		return false, err
	}
	r, err := s.assignmentOf(ctx, g)
	if err != nil || r == nil || r.State() != Taken {
		return false, err
	}
	inlet, err := s.ports.Channels.Load(ctx, r.Inlet)
	if err != nil {
		return false, err
	}
	m, err := s.memberOf(ctx, r)
	if err != nil {
		return false, err
	}
	message, err := s.conversations.toInlet(inlet, m, g, response)
	if err != nil {
		return false, err
	}
	return s.relay(ctx, r, message)
}

// toInlet returns a message to the member of a group, or to the group on the inlet's side.
func (s *conversations) toInlet(inlet *channel.Channel, m *member.Member, g *Group, response send.Response) (send.Message, error) {
	if g.InletGroupExternalID != "" {
		return s.messageTo(inlet, g.InletGroupExternalID, m, response)
	}
	return s.messageToMember(inlet, m, response)
}

// relay starts the idle time of an assignment anew and sends a message, unless the
// assignment has ended meanwhile. In this order a call that fails can be repeated without
// sending twice.
func (s *Service) relay(ctx context.Context, r *AssignmentRecord, message send.Message) (bool, error) {
	open, err := s.machine.watchIdle(ctx, r)
	if err != nil || open == nil {
		return false, err
	}
	if _, err := s.deliver(ctx, message); err != nil {
		return false, err
	}
	return true, nil
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
	event.Data = send.WithoutThread(event.Data) // The other side has threads of its own.
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

// inletGroup returns the id on the platform of the group on the inlet's side, "" where the
// member is alone with who answers.
func (r *AssignmentRecord) inletGroup() string {
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
func (s *Service) IsAskedHere(ctx context.Context, memberID string) (_ bool, err error) {
	defer s.guard(ctx, &err)
	r, err := s.openAssignment(ctx, memberID)
	if err != nil || r == nil || r.inletGroup() == s.scope.GroupExternalID {
		return err == nil, err
	}
	if r.Group == "" {
		return false, nil
	}
	g, err := s.loadGroup(ctx, r.Group)
	return err == nil && g.InletGroupExternalID == s.scope.GroupExternalID, err
}
