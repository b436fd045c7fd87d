package send

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/member"
)

// SendHotelResponse implements Operations.
func (s *Service) SendHotelResponse(ctx context.Context, p SendHotelResponseParams) (Result, error) {
	message, err := hotelMessage(p)
	if err != nil {
		return Result{}, err
	}
	if p.Response.IsZero() {
		return Result{}, boterr.PrefixField("response", p.Response.Validate())
	}
	named := channels.ByRecord(s.scope, p.Channel)
	if message.Channel, err = channels.Load(ctx, s.ports.Channels, named, channel.Hotel); err != nil {
		return Result{}, err
	}
	connector, err := s.ports.Connectors.Of(message.Channel)
	if err != nil {
		return Result{}, boterr.WithField(named.Field(), err)
	}
	about, err := s.ownMemberOrNobody(ctx)
	if err != nil {
		return Result{}, err
	}
	if message.Response, err = filledFor(about, p.Response); err != nil {
		return Result{}, err
	}
	return deliver(ctx, s.env, connector, message)
}

// hotelMessage returns a message with the receiver that a call names, and nothing else.
func hotelMessage(p SendHotelResponseParams) (Message, error) {
	message := Message{To: p.RecipientID, ReceiverType: p.ReceiverType, GroupID: p.HotelGroupID}
	switch {
	case p.RecipientID == "" && p.HotelGroupID == "":
		return Message{}, boterr.Missing("recipientId", "the user's id on Hotel, or a group's as hotelGroupId")
	case p.RecipientID == "" && p.ReceiverType == ReceiverUser:
		return Message{}, boterr.Missing("recipientId", "the user's id on Hotel, since receiverType is user")
	case p.RecipientID == "":
		message.To, message.GroupID = p.HotelGroupID, ""
	}
	switch {
	case p.ReceiverType != "":
	case p.RecipientID == "":
		message.ReceiverType = ReceiverGroup
	default:
		message.ReceiverType = ReceiverUser
	}
	return message, nil
}

// ownMemberOrNobody returns the scope's own member, and one without any field where the scope
// has none.
func (s *Service) ownMemberOrNobody(ctx context.Context) (*member.Member, error) {
	if s.scope.Member == "" {
		return &member.Member{}, nil
	}
	own, err := members.Get(ctx, s.ports.Members, s.scope.Member)
	return own, boterr.WithField("", err)
}
