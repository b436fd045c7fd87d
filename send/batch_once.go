package send

import (
	"context"
	"slices"
	"strconv"

	"github.com/botctx/go-sdk/channel"
)

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
	Delivery Delivery
}

// sendBatch sends messages by one request. Where tries before have sent some of them, the others
// alone are sent, and the answer, which has an outcome for each message, is about all.
func (s *Service) sendBatch(ctx context.Context, sender BatchSender, messages []Message) (Batch, error) {
	all := Batch{Outcomes: make([]Outcome, len(messages))}
	left := make([]int, len(messages))
	for i := range left {
		left[i] = i
	}
	for nth := 0; len(left) > 0; nth++ {
		var asked *Batch
		known, err := onceUnder(ctx, s.env, messages[0].ID+"-batch-"+strconv.Itoa(nth), func(ctx context.Context) (batchAnswer, error) {
			answer, err := askBatch(ctx, sender, messages, left)
			asked = &answer
			return answer.remembered(messages, left), err
		})
		if err != nil {
			return Batch{}, err
		}
		all.ID, all.Status = known.ID, known.Status
		if asked != nil {
			for i, of := range left {
				all.Outcomes[of] = asked.Outcomes[i]
			}
			return all, nil
		}
		left = all.note(known, messages, left)
	}
	return all, nil
}

// askBatch sends some of the messages by one request, and returns its answer with an outcome for each.
func askBatch(ctx context.Context, sender BatchSender, messages []Message, which []int) (Batch, error) {
	some := make([]Message, len(which))
	for i, of := range which {
		some[i] = messages[of]
	}
	batch, err := sender.SendBatch(ctx, some)
	if err != nil {
		return Batch{}, atResponse(PlatformError(ctx, channel.Delta, err))
	}
	if batch.Outcomes == nil {
		batch.Outcomes = make([]Outcome, len(some))
	}
	if len(batch.Outcomes) != len(some) {
		return Batch{}, wrongOutcomes(batch, len(some))
	}
	batch.Outcomes = mapped(batch.Outcomes, func(o Outcome) Outcome { return Outcome{Delivery: o.Delivery.writable(), Err: o.Err} })
	return batch, nil
}

// remembered returns an answer to some of the messages as it is remembered.
func (b Batch) remembered(messages []Message, which []int) batchAnswer {
	kept := batchAnswer{ID: b.ID, Status: b.Status}
	for i, outcome := range b.Outcomes {
		if outcome.Err == nil {
			kept.Taken = append(kept.Taken, takenMessage{ID: messages[which[i]].ID, Delivery: outcome.Delivery})
		}
	}
	return kept
}

// note takes over what is remembered of the messages that are left, and returns those that are still.
func (b *Batch) note(known batchAnswer, messages []Message, left []int) (still []int) {
	for _, of := range left {
		at := slices.IndexFunc(known.Taken, func(m takenMessage) bool { return m.ID == messages[of].ID })
		if at < 0 {
			still = append(still, of)
			continue
		}
		b.Outcomes[of] = Outcome{Delivery: known.Taken[at].Delivery}
	}
	return still
}
