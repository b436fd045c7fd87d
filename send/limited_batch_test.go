package send_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/send"
)

// choosy is a connector that takes batches, and notes to whom each was and when.
type choosy struct {
	clocked
	// answer is what becomes of the nth batch, counted from 1.
	answer  func(n int, messages []send.Message) (send.Batch, error)
	batches [][]string
	start   time.Time
	times   []time.Duration
}

func (c *choosy) SendBatch(_ context.Context, messages []send.Message) (send.Batch, error) {
	to := make([]string, 0, len(messages))
	for _, m := range messages {
		to = append(to, m.To)
	}
	c.batches = append(c.batches, to)
	c.times = append(c.times, time.Since(c.start)) //nolint:forbidigo // The clock of the bubble.
	return c.answer(len(c.batches), messages)
}

// refusing returns an answer whose outcomes are refused for these pauses, in the order of the
// messages; 0 is a message that was taken.
func refusing(pauses ...time.Duration) send.Batch {
	batch := send.Batch{ID: "batch", Status: "PARTLY", Outcomes: make([]send.Outcome, len(pauses))}
	for i, pause := range pauses {
		if pause > 0 {
			batch.Outcomes[i].Err = slowDown(pause)
		}
	}
	return batch
}

// sendBatch sends a message to each through a limited connector in a bubble.
func sendBatch(
	ctx context.Context, inner *choosy, rate send.Rate, recipients ...string,
) (send.Batch, error) {
	inner.start = time.Now() //nolint:forbidigo // The clock of the bubble.
	sender, _ := send.PortOf[send.BatchSender](send.Limited(inner, rate))
	messages := make([]send.Message, 0, len(recipients))
	for _, to := range recipients {
		messages = append(messages, messageFor(to))
	}
	return sender.SendBatch(ctx, messages)
}

func TestLimitedBatch_RestIsSentAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := &choosy{answer: func(n int, _ []send.Message) (send.Batch, error) {
			switch n {
			case 1:
				return refusing(0, 2*time.Second, 10*time.Second), nil
			case 2:
				return refusing(time.Second, 0), nil
			default:
				return send.Batch{ID: "last"}, nil
			}
		}}
		batch, err := sendBatch(t.Context(), inner, send.Rate{Messages: 100}, "a", "b", "c")
		require.NoError(t, err)
		require.Equal(t, [][]string{{"a", "b", "c"}, {"b", "c"}, {"b"}}, inner.batches)
		require.Equal(t, []time.Duration{0, 10 * time.Second, 11 * time.Second}, inner.times, "the longest pause is waited for")
		require.Equal(t, send.Batch{ID: "batch", Status: "PARTLY", Outcomes: make([]send.Outcome, 3)}, batch)
	})
}

func TestLimitedBatch_PauseOfChannel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := &choosy{answer: func(int, []send.Message) (send.Batch, error) { return refusing(10 * time.Second), nil }}
		start := time.Now() //nolint:forbidigo // The clock of the bubble.
		limited := send.Limited(inner, send.Rate{Messages: 100, Repeats: -1})
		sender, _ := send.PortOf[send.BatchSender](limited)
		batch, err := sender.SendBatch(t.Context(), []send.Message{messageFor("a")})
		require.NoError(t, err)
		require.ErrorIs(t, batch.Outcomes[0].Err, boterr.ResourceExhausted, "it is not sent again")
		_, err = limited.Send(t.Context(), messageFor("b"))
		require.NoError(t, err)
		require.Equal(t, []time.Duration{10 * time.Second}, inner.at(start))
	})
}

func TestLimitedBatch_RepetitionFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		again func() (send.Batch, error)
		want  boterr.Code
	}{
		"the request fails":     {func() (send.Batch, error) { return send.Batch{}, boterr.FailedPrecondition }, boterr.FailedPrecondition},
		"an outcome is missing": {func() (send.Batch, error) { return refusing(0, 0), nil }, boterr.Internal},
		"the message is refused": {func() (send.Batch, error) {
			return send.Batch{Outcomes: []send.Outcome{{Err: boterr.NotFound}}}, nil
		}, boterr.NotFound},
		"the pause is too long": {func() (send.Batch, error) { return refusing(time.Hour), nil }, boterr.ResourceExhausted},
	} {
		synctest.Test(t, func(t *testing.T) {
			inner := &choosy{answer: func(n int, _ []send.Message) (send.Batch, error) {
				if n == 1 {
					return refusing(0, time.Second), nil
				}
				return c.again()
			}}
			batch, err := sendBatch(t.Context(), inner, send.Rate{}, "a", "b")
			require.NoError(t, err, name)
			require.Len(t, inner.batches, 2, name)
			require.NoError(t, batch.Outcomes[0].Err, name)
			require.Equal(t, c.want, boterr.CodeOf(batch.Outcomes[1].Err), name)
		})
	}
}

func TestLimitedBatch_EndsInThePause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := &choosy{answer: func(int, []send.Message) (send.Batch, error) { return refusing(0, 10*time.Second), nil }}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		batch, err := sendBatch(ctx, inner, send.Rate{}, "a", "b")
		require.NoError(t, err)
		require.NoError(t, batch.Outcomes[0].Err)
		require.ErrorIs(t, batch.Outcomes[1].Err, boterr.ResourceExhausted)
	})
}

func TestLimited_HoldsOverAnyPeriod(t *testing.T) {
	t.Parallel()
	for _, rate := range []send.Rate{
		{Messages: 2, Per: 1<<63 - 1}, {Messages: 1, Per: 1<<63 - 2}, {Messages: 3, Per: 1<<63 - 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			inner := &clocked{}
			limited := send.Limited(inner, rate)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Hour)
			defer cancel()
			inOrder(ctx, limited, "a", "b", "c")
			require.Equal(t, []string{"a"}, inner.to())
		})
	}
}
