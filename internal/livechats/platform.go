package livechats

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// messageTo returns a message to an id on a channel's platform, checked as every send does.
// {{path}} in it is filled from the member that it is about, nil for none.
func (s *core) messageTo(
	to *channel.Channel, externalID string, about *member.Member, response send.Response,
) (send.Message, error) {
	if about == nil {
		about = &member.Member{}
	}
	if _, err := s.ports.Connectors.Of(to); err != nil {
		return send.Message{}, err
	}
	if response.IsZero() {
		return send.Message{}, boterr.PrefixField(fieldResponse, response.Validate())
	}
	filled, err := send.Filled(response, about)
	if err != nil {
		return send.Message{}, boterr.PrefixField(fieldResponse, err)
	}
	return send.Message{Channel: to, To: externalID, Response: filled}, nil
}

// messageToMember returns a message to a member of a channel, checked as every send does.
func (s *core) messageToMember(to *channel.Channel, m *member.Member, response send.Response) (send.Message, error) {
	externalID, err := m.RequireExternalID()
	if err != nil {
		return send.Message{}, err
	}
	message, err := s.messageTo(to, externalID, m, response)
	message.Member = m
	return message, err
}

// deliver sends a message through the connector of its channel.
func (s *core) deliver(ctx context.Context, message send.Message) (send.Result, error) {
	connector, err := s.ports.Connectors.Of(message.Channel)
	if err != nil {
		return send.Result{}, err
	}
	return sends.Deliver(ctx, s.env, connector, message)
}

// The parameters of sends that errors name.
const (
	fieldResponse     = "response"
	fieldMessageEvent = "messageEvent"
)
