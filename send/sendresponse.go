package send

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
)

// SendResponse implements Operations.
func (s *Service) SendResponse(ctx context.Context, p SendResponseParams) (SendResponseResult, error) {
	messages, err := s.messages(ctx, p)
	if err != nil {
		return SendResponseResult{}, err
	}
	connector, err := s.ports.Connectors.Of(messages[0].Channel)
	if err != nil {
		return SendResponseResult{}, err
	}
	if len(messages) > 1 {
		results, err := s.deliverAll(ctx, connector, messages)
		return SendResponseResult{Results: results}, err
	}
	result, err := deliver(ctx, s.env, connector, messages[0])
	if err != nil {
		return SendResponseResult{}, undelivered(ctx, messages, []Result{{Err: err}})
	}
	return SendResponseResult{Results: []Result{result}}, nil
}

// messages returns the message to each member, at least one, all of them checked. The
// channel must be of one of the types allowed; none stands for any.
func (s *Service) messages(ctx context.Context, p SendResponseParams, allowed ...channel.Type) ([]Message, error) {
	if p.Response.IsZero() {
		return nil, boterr.PrefixField("response", p.Response.Validate())
	}
	var room [1]record.Address
	recipients, err := s.recipients(p.Member, p.MemberID, room[:0])
	if err != nil {
		return nil, err
	}
	to, err := channels.Load(ctx, s.ports.Channels, channels.ByRecordOrID(s.scope, p.Channel, p.ChannelID), allowed...)
	if err != nil {
		return nil, err
	}
	messaging, err := s.messaging(to.Type, p)
	if err != nil {
		return nil, err
	}
	messages := make([]Message, len(recipients))
	for i, r := range recipients {
		m, err := s.loadMember(ctx, to, r)
		if err != nil {
			return nil, err
		}
		message, err := s.messageTo(to, r, m, p.Response)
		if err != nil {
			return nil, forOneOf(recipients, m, err)
		}
		message.MessagingType, message.MessagingTag = messaging.kind, messaging.tag
		messages[i] = message
	}
	return messages, nil
}

// messageTo returns the message to a member, whom a call names as r; or to the group, or the thread, in
// which the scope's own member talks with the bot.
func (s *Service) messageTo(to *channel.Channel, r record.Address, m *member.Member, response Response) (Message, error) {
	message := Message{Channel: to, To: s.scope.GroupExternalID}
	if !r.IsOwn() || message.To == "" {
		externalID, err := m.RequireExternalID()
		if err != nil {
			return Message{}, boterr.WithField(r.Field(), err)
		}
		message.To, message.Member = externalID, m
	}
	var err error
	message.Response, err = filledFor(m, response)
	if err == nil && r.IsOwn() && to.ID == s.scope.Channel && s.ports.Thread != nil {
		message = message.in(s.ports.Thread())
	}
	return message, err
}

// filledFor returns a response filled from a member and checked.
func filledFor(m *member.Member, response Response) (Response, error) {
	filled, err := Filled(response, m)
	if err != nil {
		return Response{}, boterr.PrefixField("response", err)
	}
	return Raw(filled.object), nil
}

// forOneOf says for which of several members a message is wrong.
func forOneOf(recipients []record.Address, m *member.Member, err error) error {
	e, ok := boterr.AsError(err)
	if !ok || len(recipients) == 1 {
		return err
	}
	named := *e
	named.Err = fmt.Errorf("for member %s: %w", m.ID, e.Err)
	return &named
}

// messaging is what some platforms want to know of a message.
type messaging struct{ kind, tag string }

// notAskedFor is the error for what the channel's platform does not ask for.
const notAskedFor = "is for %s alone, and the channel is of type %s"

// messaging returns what a platform is told, nothing where it does not ask.
func (s *Service) messaging(platform channel.Type, p SendResponseParams) (messaging, error) {
	switch {
	case platform.Has(channel.MessagingTypes):
		return messaging{kind: p.MessagingType, tag: p.MessagingTag}, nil
	case s.ports.IsStrict && p.MessagingType != "":
		return messaging{}, boterr.Invalid("messagingType", notAskedFor, channel.MessagingTypes.Owners(), platform)
	case s.ports.IsStrict && p.MessagingTag != "":
		return messaging{}, boterr.Invalid("messagingTag", notAskedFor, channel.MessagingTypes.Owners(), platform)
	default:
		return messaging{}, nil
	}
}
