package sends

import (
	"context"
	"slices"
	"strconv"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/replies"
	"github.com/botctx/go-sdk/send"
)

// statusOK is the status of a request where the platform gives none.
const statusOK = "OK"

// SendDeltaResponse implements Operations.
func (s *Service) SendDeltaResponse(ctx context.Context, p send.SendDeltaResponseParams) (send.SendDeltaResponseResult, error) {
	messages, err := s.messages(ctx, send.SendResponseParams{
		Channel: p.Channel, ChannelID: p.ChannelID, Member: p.Member, MemberID: p.MemberID, Response: p.Response,
	}, channel.Delta)
	if err != nil {
		return send.SendDeltaResponseResult{}, err
	}
	sender, err := send.RequirePort[send.BatchSender](s.ports.Connectors, messages[0].Channel, "send to several members by one request")
	if err != nil {
		return send.SendDeltaResponseResult{}, boterr.WithField(channels.ByRecordOrID(s.scope, p.Channel, p.ChannelID).Field(), err)
	}
	if err := canceled(ctx); err != nil {
		return send.SendDeltaResponseResult{}, err
	}
	for i := range messages {
		messages[i].ID = s.env.SendID(ctx, recipient(messages[i]))
	}
	batch, err := s.sendBatch(ctx, sender, messages)
	if err != nil {
		return send.SendDeltaResponseResult{}, err
	}
	return s.batchResult(ctx, messages, batch)
}

// batchResult returns what came of a request for several messages.
func (s *Service) batchResult(ctx context.Context, messages []send.Message, batch send.Batch) (send.SendDeltaResponseResult, error) {
	sent := send.SendDeltaResponseResult{ID: batch.ID, Status: batch.Status, Results: make([]send.Result, len(messages))}
	if sent.ID == "" {
		sent.ID = s.env.NewID()
	}
	if sent.Status == "" {
		sent.Status = statusOK
	}
	now := document.TimestampOf(s.env.Now())
	for i, outcome := range batch.Outcomes {
		if outcome.Err != nil {
			sent.Results[i] = send.Result{Err: atResponse(PlatformError(ctx, channel.Delta, outcome.Err))}
			continue
		}
		sent.Results[i] = result(messages[i], outcome.Delivery, now)
	}
	return sent, undelivered(ctx, messages, sent.Results)
}

// batchAnswer is a platform's answer to a request for several messages, as it is remembered.
type batchAnswer struct {
	ID     string
	Status string
	// Taken are the messages that the platform took.
	Taken []takenMessage
}

// takenMessage is what a platform answered to a message of several that it took.
type takenMessage struct {
	ID       string
	Delivery send.Delivery
}

// sendBatch sends messages by one request. Where tries before have sent some of them, the others
// alone are sent, and the answer, which has an outcome for each message, is about all.
func (s *Service) sendBatch(ctx context.Context, sender send.BatchSender, messages []send.Message) (send.Batch, error) {
	all := send.Batch{Outcomes: make([]send.Outcome, len(messages))}
	left := make([]int, len(messages))
	for i := range left {
		left[i] = i
	}
	for nth := 0; len(left) > 0; nth++ {
		var asked *send.Batch
		known, err := onceUnder(ctx, s.env, messages[0].ID+"-batch-"+strconv.Itoa(nth), func(ctx context.Context) (batchAnswer, error) {
			answer, err := askBatch(ctx, sender, messages, left)
			asked = &answer
			return remembered(answer, messages, left), err
		})
		if err != nil {
			return send.Batch{}, err
		}
		all.ID, all.Status = known.ID, known.Status
		if asked != nil {
			for i, of := range left {
				all.Outcomes[of] = asked.Outcomes[i]
			}
			return all, nil
		}
		left = note(&all, known, messages, left)
	}
	return all, nil
}

// askBatch sends some of the messages by one request, and returns its answer with an outcome for each.
func askBatch(ctx context.Context, sender send.BatchSender, messages []send.Message, which []int) (send.Batch, error) {
	some := make([]send.Message, len(which))
	for i, of := range which {
		some[i] = messages[of]
	}
	batch, err := sender.SendBatch(ctx, some)
	if err != nil {
		return send.Batch{}, atResponse(PlatformError(ctx, channel.Delta, err))
	}
	if batch.Outcomes == nil {
		batch.Outcomes = make([]send.Outcome, len(some))
	}
	if len(batch.Outcomes) != len(some) {
		return send.Batch{}, replies.WrongOutcomes(len(batch.Outcomes), len(some))
	}
	batch.Outcomes = slices.Clone(batch.Outcomes)
	for i := range batch.Outcomes {
		reply := &batch.Outcomes[i].Delivery.Reply
		*reply = replies.Writable(*reply)
	}
	return batch, nil
}

func remembered(b send.Batch, messages []send.Message, which []int) batchAnswer {
	kept := batchAnswer{ID: b.ID, Status: b.Status}
	for i, outcome := range b.Outcomes {
		if outcome.Err == nil {
			kept.Taken = append(kept.Taken, takenMessage{ID: messages[which[i]].ID, Delivery: outcome.Delivery})
		}
	}
	return kept
}

// note takes over what is remembered of the messages that are left, and returns those that are still.
func note(b *send.Batch, known batchAnswer, messages []send.Message, left []int) (still []int) {
	for _, of := range left {
		at := slices.IndexFunc(known.Taken, func(m takenMessage) bool { return m.ID == messages[of].ID })
		if at < 0 {
			still = append(still, of)
			continue
		}
		b.Outcomes[of] = send.Outcome{Delivery: known.Taken[at].Delivery}
	}
	return still
}
