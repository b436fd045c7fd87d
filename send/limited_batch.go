package send

import (
	"context"
	"slices"
	"time"

	"github.com/botctx/go-sdk/boterr"
)

// limitedBatches is a connector with a limit whose inner connector sends batches, too.
type limitedBatches struct {
	*limited

	batches BatchSender
}

var (
	_ Wrapper     = (*limitedBatches)(nil)
	_ BatchSender = (*limitedBatches)(nil)
)

// SendBatch implements BatchSender.
func (l *limitedBatches) SendBatch(ctx context.Context, messages []Message) (Batch, error) {
	if len(messages) == 0 {
		return l.batches.SendBatch(ctx, messages)
	}
	a := &attempts{messages: messages}
	for i := range messages {
		a.left = append(a.left, i)
	}
	_, err := queued(ctx, l.limited, messages[0], func() (Batch, error) { return a.batch, a.next(ctx, l.batches) })
	if a.isAnswered {
		return a.batch, nil // The outcomes tell what became of the messages.
	}
	return Batch{}, err
}

// attempts are the requests for the messages of one batch: the first for all, each further
// one for those that the platform asked for again.
type attempts struct {
	messages []Message
	// left are the indexes of the messages that the next request is for.
	left []int
	// batch is the first answer, with the latest outcome of each message.
	batch Batch
	// isAnswered is whether there was an answer.
	isAnswered bool
}

// next makes a request. Its error is that of the request, or of a message that the platform
// asks for again.
func (a *attempts) next(ctx context.Context, to BatchSender) error {
	pending := make([]Message, len(a.left))
	for i, of := range a.left {
		pending[i] = a.messages[of]
	}
	answer, err := to.SendBatch(ctx, pending)
	switch {
	case err != nil && !a.isAnswered:
		return err
	case err != nil:
		a.note(slices.Repeat([]Outcome{{Err: err}}, len(a.left)))
		return err
	case !a.isAnswered:
		a.batch, a.isAnswered = answer, true
		a.batch.Outcomes = slices.Clone(answer.Outcomes)
		if len(answer.Outcomes) != len(a.messages) {
			return nil
		}
	case answer.Outcomes == nil:
		a.note(make([]Outcome, len(a.left)))
	case len(answer.Outcomes) != len(a.left):
		a.note(slices.Repeat([]Outcome{{Err: wrongOutcomes(answer, len(a.left))}}, len(a.left)))
	default:
		a.note(answer.Outcomes)
	}
	return a.askedForAgain()
}

// note keeps the outcomes of the messages that a request was for.
func (a *attempts) note(outcomes []Outcome) {
	for i, of := range a.left {
		a.batch.Outcomes[of] = outcomes[i]
	}
}

// askedForAgain keeps for the next request the messages that the platform asks for again. It
// returns the error with the longest pause among theirs, nil where there are none.
func (a *attempts) askedForAgain() error {
	var slowest error
	longest := time.Duration(-1)
	a.left = slices.DeleteFunc(a.left, func(of int) bool {
		err := a.batch.Outcomes[of].Err
		pause, ok := retryAfter(err)
		if ok && pause > longest {
			slowest, longest = err, pause
		}
		return !ok
	})
	return slowest
}

// wrongOutcomes is the error for a batch that does not have one outcome for each message.
func wrongOutcomes(batch Batch, messages int) error {
	return boterr.New(boterr.Internal, "", "the connector told %d outcomes of %d messages: have it tell one for each, or none",
		len(batch.Outcomes), messages)
}
