package livechat

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// connectorOf returns the connector to the platform of a channel, or Unsupported.
func (s *core) connectorOf(c *channel.Channel) (send.Connector, error) {
	if connector := s.ports.Connectors[c.Type]; connector != nil {
		return connector, nil
	}
	return nil, boterr.New(boterr.Unsupported, "", "this host has no connector for channels of type %q, of which %s is one", c.Type, c.ID)
}

// portOf returns a further port of the connector to a channel's platform, or Unsupported.
// what is what the port does, such as "recall tickets".
func portOf[Port any](s *core, c *channel.Channel, what string) (Port, error) {
	var none Port
	connector, err := s.connectorOf(c)
	if err != nil {
		return none, err
	}
	port, ok := send.PortOf[Port](connector)
	if !ok {
		return none, boterr.New(boterr.Unsupported, "", "this host's connector for channels of type %q cannot %s", c.Type, what)
	}
	return port, nil
}

// messageTo returns a message to an id on a channel's platform, checked as every send does.
// {{path}} in it is filled from the member that it is about, nil for none.
func (s *core) messageTo(
	to *channel.Channel, externalID string, about *member.Member, response send.Response,
) (send.Message, error) {
	if about == nil {
		about = &member.Member{}
	}
	if _, err := s.connectorOf(to); err != nil {
		return send.Message{}, err
	}
	if response.IsZero() {
		return send.Message{}, boterr.In(fieldResponse, response.Validate())
	}
	filled, err := send.Fill(response, about)
	if err == nil {
		err = filled.Validate()
	}
	if err != nil {
		return send.Message{}, boterr.In(fieldResponse, err)
	}
	return send.Message{Channel: to, To: externalID, Response: send.Raw(filled.Object())}, nil
}

// messageToMember returns a message to a member of a channel, checked as every send does.
func (s *core) messageToMember(to *channel.Channel, m *member.Member, response send.Response) (send.Message, error) {
	if m.ExternalID == "" {
		return send.Message{}, boterr.New(boterr.FailedPrecondition, "",
			"the member %s has no externalId, by which its platform would know it", m.ID)
	}
	message, err := s.messageTo(to, m.ExternalID, m, response)
	message.Member = m
	return message, err
}

// deliver sends a message through the connector of its channel.
func (s *core) deliver(ctx context.Context, message send.Message) (send.Result, error) {
	connector, err := s.connectorOf(message.Channel)
	if err != nil {
		return send.Result{}, err
	}
	return send.Deliver(ctx, s.env, connector, message)
}

// The parameters that errors name.
const (
	fieldResponse     = "response"
	fieldMessageEvent = "messageEvent"
	fieldChannel      = "channel"
	fieldChannelID    = "channelId"
	fieldGroupID      = "groupId"
)

// channelParameter returns the channel that a call names by a record or an id, or the
// scope's own, as it is stored.
func (s *core) channelParameter(ctx context.Context, given *channel.Channel, id string) (*channel.Channel, error) {
	field := fieldChannelID
	switch {
	case given == nil && id == "" && s.scope.Channel == "":
		return nil, boterr.Invalid(fieldChannel, "is missing: this context has no channel of its own")
	case given == nil && id == "":
		id, field = s.scope.Channel, fieldChannel
	case given == nil:
	case given.ID == "":
		return nil, boterr.Invalid(fieldChannel+"._id", "is missing: it is what a channel is found by")
	case id != "" && id != given.ID:
		return nil, boterr.Invalid(fieldChannelID, "is %q, and channel is %q: give one of both", id, given.ID)
	default:
		id, field = given.ID, fieldChannel
	}
	loaded, err := s.ports.Channels.Load(ctx, id)
	return loaded, boterr.At(field, err)
}
