package send

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
)

// statusOK is the status of a request where the platform gives none.
const statusOK = "OK"

// SendDeltaResponse implements Operations.
func (s *Service) SendDeltaResponse(ctx context.Context, p SendDeltaResponseParams) (SendDeltaResponseResult, error) {
	messages, err := s.messages(ctx, SendResponseParams{
		Channel: p.Channel, ChannelID: p.ChannelID, Member: p.Member, MemberID: p.MemberID, Response: p.Response,
	}, channel.Delta)
	if err != nil {
		return SendDeltaResponseResult{}, err
	}
	sender, err := RequirePort[BatchSender](s.ports.Connectors, messages[0].Channel, "send to several members by one request")
	if err != nil {
		return SendDeltaResponseResult{}, boterr.WithField(channels.ByRecordOrID(s.scope, p.Channel, p.ChannelID).Field(), err)
	}
	if err := canceled(ctx); err != nil {
		return SendDeltaResponseResult{}, err
	}
	for i := range messages {
		messages[i].ID = s.env.SendID(ctx, messages[i].recipient())
	}
	batch, err := s.sendBatch(ctx, sender, messages)
	if err != nil {
		return SendDeltaResponseResult{}, err
	}
	return s.batchResult(ctx, messages, batch)
}

// batchResult returns what came of a request for several messages.
func (s *Service) batchResult(ctx context.Context, messages []Message, batch Batch) (SendDeltaResponseResult, error) {
	result := SendDeltaResponseResult{ID: batch.ID, Status: batch.Status, Results: make([]Result, len(messages))}
	if result.ID == "" {
		result.ID = s.env.NewID()
	}
	if result.Status == "" {
		result.Status = statusOK
	}
	now := document.TimestampOf(s.env.Now())
	for i, outcome := range batch.Outcomes {
		if outcome.Err != nil {
			result.Results[i] = Result{Err: atResponse(PlatformError(ctx, channel.Delta, outcome.Err))}
			continue
		}
		result.Results[i] = messages[i].result(outcome.Delivery, now)
	}
	return result, undelivered(ctx, messages, result.Results)
}
