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

// SendDeltaResponse implements Operations.
func (s *Service) SendDeltaResponse(ctx context.Context, p send.SendDeltaResponseParams) (send.SendDeltaResponseResult, error) {
	to, messages, err := s.messages(ctx, send.SendResponseParams{
		Channel: p.Channel, ChannelID: p.ChannelID, Member: p.Member, MemberID: p.MemberID, Response: p.Response,
	}, channel.Delta)
	if err != nil {
		return send.SendDeltaResponseResult{}, err
	}
	sender, err := send.RequirePort[send.BatchSender](s.ports.Connectors, to, "send to several members by one request")
	if err != nil {
		return send.SendDeltaResponseResult{}, boterr.WithField(channels.ByRecordOrID(s.scope, p.Channel, p.ChannelID).Field(), err)
	}
	if err := canceled(ctx); err != nil {
		return send.SendDeltaResponseResult{}, err
	}
	var chosen []int
	for i, message := range messages {
		if isLeftOut(message) {
			continue
		}
		messages[i].ID = s.env.SendID(ctx, recipient(message))
		chosen = append(chosen, i)
	}
	if len(chosen) == 0 {
		return send.SendDeltaResponseResult{Results: make([]send.Result, len(messages))}, nil
	}
	batch, err := s.sendBatch(ctx, sender, messages, chosen)
	if err != nil {
		return send.SendDeltaResponseResult{}, err
	}
	return s.batchResult(ctx, messages, batch)
}

func (s *Service) batchResult(ctx context.Context, messages []send.Message, batch send.Batch) (send.SendDeltaResponseResult, error) {
	sent := send.SendDeltaResponseResult{ID: batch.ID, Status: batch.Status, Results: make([]send.Result, len(messages))}
	if sent.ID == "" {
		sent.ID = s.env.NewID()
	}
	now, taken, failed := document.TimestampOf(s.env.Now()), 0, 0
	for i, outcome := range batch.Outcomes {
		switch {
		case isLeftOut(messages[i]):
			sent.Results[i] = nothing(messages[i])
		case outcome.Err != nil:
			failed++
			sent.Results[i] = send.Result{Err: atResponse(PlatformError(ctx, channel.Delta, outcome.Err))}
		default:
			taken++
			sent.Results[i] = result(messages[i], outcome.Delivery, now)
		}
	}
	switch {
	case sent.Status != "":
	case failed == 0:
		sent.Status = "OK"
	case taken == 0:
		sent.Status = "FAILED"
	default:
		sent.Status = "PARTIAL"
	}
	return sent, undelivered(ctx, messages, sent.Results)
}

// batchAnswer is the stored form of a platform's answer to a batch.
type batchAnswer struct {
	ID     string
	Status string
	// Taken are the messages that the platform accepted.
	Taken []takenMessage
}

// takenMessage is an accepted message with the platform's answer.
type takenMessage struct {
	ID       string
	Delivery send.Delivery
}

// sendBatch sends the messages at the indexes left in one request. It leaves out those that earlier attempts have sent,
// and returns an outcome for each message.
func (s *Service) sendBatch(ctx context.Context, sender send.BatchSender, messages []send.Message, left []int) (send.Batch, error) {
	all := send.Batch{Outcomes: make([]send.Outcome, len(messages))}
	first := messages[left[0]].ID
	for nth := 0; len(left) > 0; nth++ {
		var asked *send.Batch
		known, err := onceUnder(ctx, s.env, first+"-batch-"+strconv.Itoa(nth), func(ctx context.Context) (batchAnswer, error) {
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

// askBatch sends the messages at the indexes which, and returns an outcome for each of them.
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

// note copies the known outcomes of the messages in left, and returns the remaining indexes.
func note(b *send.Batch, known batchAnswer, messages []send.Message, left []int) (still []int) {
	taken := make(map[string]send.Delivery, len(known.Taken))
	for _, m := range known.Taken {
		taken[m.ID] = m.Delivery
	}
	for _, of := range left {
		if delivery, isTaken := taken[messages[of].ID]; isTaken {
			b.Outcomes[of].Delivery = delivery
		} else {
			still = append(still, of)
		}
	}
	return still
}
