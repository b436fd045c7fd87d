package send

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
)

// SendAlphaResponse implements Operations.
func (s *Service) SendAlphaResponse(ctx context.Context, p SendAlphaResponseParams) (Result, error) {
	same := SendResponseParams{Channel: p.Channel, ChannelID: p.ChannelID, Member: p.Member, Response: p.Response}
	if p.MemberID != "" {
		same.MemberID = document.One(p.MemberID)
	}
	connector, messages, err := s.alphaMessages(ctx, same)
	if err != nil {
		return Result{}, err
	}
	return deliver(ctx, s.env, connector, messages[0])
}

// SendAlphaResponseToMemberIDs implements Operations.
func (s *Service) SendAlphaResponseToMemberIDs(
	ctx context.Context, p SendAlphaResponseToMemberIDsParams,
) (SendAlphaResponseToMemberIDsResult, error) {
	if len(p.MemberID) == 0 {
		return SendAlphaResponseToMemberIDsResult{}, boterr.Missing("memberId", "the id of at least one member")
	}
	connector, messages, err := s.alphaMessages(ctx, SendResponseParams{
		Channel: p.Channel, ChannelID: p.ChannelID, MemberID: p.MemberID, Response: p.Response,
	})
	if err != nil {
		return SendAlphaResponseToMemberIDsResult{}, err
	}
	results, err := s.deliverAll(ctx, connector, messages)
	return SendAlphaResponseToMemberIDsResult{Results: results}, err
}

// alphaMessages returns the message to each member of an Alpha channel, all of them checked,
// and what sends them.
func (s *Service) alphaMessages(ctx context.Context, p SendResponseParams) (Connector, []Message, error) {
	messages, err := s.messages(ctx, p, channel.Alpha)
	if err != nil {
		return nil, nil, err
	}
	connector, err := s.ports.Connectors.Of(messages[0].Channel)
	if err != nil {
		return nil, nil, boterr.WithField(channels.ByRecordOrID(s.scope, p.Channel, p.ChannelID).Field(), err)
	}
	return connector, messages, nil
}
