package send_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/send"
)

// clocked is a connector that records when each message arrives. refuse decides which attempts fail.
type clocked struct {
	mu   sync.Mutex
	came []arrived
	// refuse returns the error for the nth attempt at a message, counted from 1.
	refuse   func(message send.Message, attempt int) error
	attempts map[string]int
}

type arrived struct {
	message send.Message
	at      time.Time
}

func (c *clocked) Send(_ context.Context, message send.Message) (send.Delivery, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.came = append(c.came, arrived{message: message, at: time.Now()}) //nolint:forbidigo // The clock of the bubble.
	if c.refuse == nil {
		return send.Delivery{}, nil
	}
	if c.attempts == nil {
		c.attempts = map[string]int{}
	}
	c.attempts[message.To]++
	return send.Delivery{}, c.refuse(message, c.attempts[message.To])
}

// to returns the recipients of the messages, in order.
func (c *clocked) to() []string {
	to := make([]string, 0, len(c.came))
	for _, a := range c.came {
		to = append(to, a.message.To)
	}
	return to
}

// at returns the times, relative to start, at which messages arrived.
func (c *clocked) at(start time.Time) []time.Duration {
	at := make([]time.Duration, 0, len(c.came))
	for _, a := range c.came {
		at = append(at, a.at.Sub(start))
	}
	return at
}

func page(id string) *channel.Channel {
	return &channel.Channel{ID: id, App: "acme", Type: channel.Alpha}
}

func messageFor(to string) send.Message {
	return send.Message{ID: "id-of-" + to, Channel: page("page"), To: to, Response: send.Text("Hi")}
}

// inOrder sends to each recipient in a separate goroutine. It waits until each one is queued before
// it starts the next, and returns their errors when all are done.
func inOrder(ctx context.Context, connector send.Connector, recipients ...string) []error {
	errs := make([]error, len(recipients))
	var group sync.WaitGroup
	for i, to := range recipients {
		group.Go(func() { _, errs[i] = connector.Send(ctx, messageFor(to)) })
		synctest.Wait()
	}
	group.Wait()
	return errs
}

func slowDown(after time.Duration) error {
	return boterr.New(boterr.ResourceExhausted, "", "too many: %w", &send.RetryAfterError{After: after})
}

func TestLimited_EachOnceWithinLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const members, perSecond, burst = 10_000, 250, 20
		platform := &clocked{refuse: func(m send.Message, attempt int) error {
			if attempt == 1 && m.To[len(m.To)-2:] == "77" { // The first attempt at every hundredth message is refused.
				return slowDown(100 * time.Millisecond)
			}
			return nil
		}}
		limited := send.Limited(platform, send.Rate{Messages: perSecond, Burst: burst})
		var group sync.WaitGroup
		for i := range members {
			group.Go(func() {
				if _, err := limited.Send(t.Context(), messageFor("member-"+strconv.Itoa(100_000+i))); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		taken := map[string]int{}
		for to, attempts := range platform.attempts {
			taken[to] = attempts
			if to[len(to)-2:] == "77" {
				taken[to]--
			}
		}
		require.Len(t, taken, members, "nobody is lost")
		for to, times := range taken {
			require.Equal(t, 1, times, "nobody gets it twice: %s", to)
		}
		requireLimit(t, platform.came, time.Second, perSecond+burst-1)
	})
}

// requireLimit fails if more than most messages arrived within any window.
func requireLimit(t *testing.T, came []arrived, window time.Duration, most int) {
	t.Helper()
	first := 0
	for last, a := range came {
		for !came[first].at.Add(window).After(a.at) {
			first++
		}
		require.LessOrEqual(t, last-first+1, most, "in the %s before %s", window, a.at)
	}
}

func TestLimited_OneAtATimeIsEven(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		platform, start := &clocked{}, time.Now() //nolint:forbidigo // The clock of the bubble.
		limited := send.Limited(platform, send.Rate{Messages: 3})
		require.Equal(t, make([]error, 4), inOrder(t.Context(), limited, "a", "b", "c", "d"))
		third := (time.Second + 2) / 3
		require.Equal(t, []time.Duration{0, third, 2 * third, 3 * third}, platform.at(start))
		require.Equal(t, []string{"a", "b", "c", "d"}, platform.to(), "in the order of arrival")
	})
}

func TestLimited_IdleChannelSendsBurst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		platform, start := &clocked{}, time.Now() //nolint:forbidigo // The clock of the bubble.
		limited := send.Limited(platform, send.Rate{Messages: 1, Burst: 3})
		inOrder(t.Context(), limited, "a", "b", "c", "d")
		require.Equal(t, []time.Duration{0, 0, 0, time.Second}, platform.at(start))
		pass(time.Minute)
		platform.came, start = nil, time.Now() //nolint:forbidigo // The clock of the bubble.
		inOrder(t.Context(), limited, "a", "b", "c", "d")
		require.Equal(t, []time.Duration{0, 0, 0, time.Second}, platform.at(start))
	})
}

// pass waits until d has passed in a bubble.
func pass(d time.Duration) { <-time.After(d) }

func TestLimited_ByChannel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		platform, start := &clocked{}, time.Now() //nolint:forbidigo // The clock of the bubble.
		limited := send.Limited(platform, send.Rate{Messages: 1})
		for _, in := range []*channel.Channel{page("one"), page("two"), {ID: "one", App: "other"}} {
			_, err := limited.Send(t.Context(), send.Message{Channel: in, To: in.App + in.ID})
			require.NoError(t, err)
		}
		require.Equal(t, []time.Duration{0, 0, 0}, platform.at(start))
	})
}

func TestLimited_ContextEndsWhileWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		platform, start := &clocked{}, time.Now() //nolint:forbidigo // The clock of the bubble.
		limited := send.Limited(platform, send.Rate{Messages: 1})
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		inOrder(t.Context(), limited, "a")
		for range 100 {
			group.Go(func() {
				_, err := limited.Send(ctx, messageFor("b"))
				if boterr.CodeOf(err) != boterr.Canceled {
					t.Errorf("want Canceled, got %v", err)
				}
			})
		}
		synctest.Wait()
		group.Go(func() { inOrder(t.Context(), limited, "c") })
		cancel()
		group.Wait()
		require.Equal(t, []string{"a", "c"}, platform.to())
		require.Equal(t, []time.Duration{0, time.Second}, platform.at(start))
		_, err := limited.Send(ctx, messageFor("d"))
		require.Equal(t, boterr.Canceled, boterr.CodeOf(err))
	})
}

func TestLimited_PauseOfPlatform(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		platform, start := &clocked{}, time.Now() //nolint:forbidigo // The clock of the bubble.
		platform.refuse = func(m send.Message, attempt int) error {
			if m.To == "a" && attempt <= 2 {
				return slowDown(10 * time.Second)
			}
			return nil
		}
		limited := send.Limited(platform, send.Rate{Messages: 1})
		require.Equal(t, make([]error, 3), inOrder(t.Context(), limited, "a", "b", "c"))
		require.Equal(t, []string{"a", "a", "a", "b", "c"}, platform.to(), "before those that came later")
		require.Equal(t, []time.Duration{
			0, 10 * time.Second, 20 * time.Second, 21 * time.Second, 22 * time.Second,
		}, platform.at(start))
		for _, a := range platform.came[:3] {
			require.Equal(t, "id-of-a", a.message.ID)
		}
	})
}

func TestLimited_RefusedKeepTheirOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		platform := &clocked{refuse: func(_ send.Message, attempt int) error {
			if attempt == 1 {
				return slowDown(time.Second)
			}
			return nil
		}}
		limited := send.Limited(platform, send.Rate{Messages: 1, Burst: 1})
		require.Equal(t, make([]error, 4), inOrder(t.Context(), limited, "a", "b", "c", "d"))
		require.Equal(t, []string{"a", "a", "b", "b", "c", "c", "d", "d"}, platform.to())
	})
}

// late is a connector that takes a while to refuse a message, so that refusals come in a chosen
// order.
type late struct {
	clocked
	after map[string]time.Duration
}

func (l *late) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	delivery, err := l.clocked.Send(ctx, message)
	if err != nil {
		pass(l.after[message.To])
	}
	return delivery, err
}

func TestLimited_RefusedInAnotherOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		platform := &late{after: map[string]time.Duration{"a": 2, "b": 3, "c": 1}}
		platform.refuse = func(m send.Message, attempt int) error {
			if attempt == 1 && platform.after[m.To] > 0 {
				return slowDown(time.Second)
			}
			return nil
		}
		limited := send.Limited(platform, send.Rate{Messages: 1, Burst: 3})
		require.Equal(t, make([]error, 4), inOrder(t.Context(), limited, "a", "b", "c", "d"))
		require.Equal(t, []string{"a", "b", "c", "a", "b", "c", "d"}, platform.to())
	})
}

func TestLimited_RepeatsNotForEver(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rate send.Rate
		err  error
		want int
	}{
		{send.Rate{}, slowDown(time.Second), 4},
		{send.Rate{Repeats: 1}, slowDown(time.Second), 2},
		{send.Rate{Repeats: -1}, slowDown(time.Second), 1},
		{send.Rate{MaxPause: time.Second}, slowDown(2 * time.Second), 1},
		{send.Rate{}, slowDown(-time.Second), 4},
		{send.Rate{}, boterr.ResourceExhausted, 1},
		{send.Rate{}, fmt.Errorf("no code: %w", &send.RetryAfterError{After: time.Second}), 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			platform := &clocked{refuse: func(send.Message, int) error { return c.err }}
			_, err := send.Limited(platform, c.rate).Send(t.Context(), messageFor("a"))
			require.ErrorIs(t, err, c.err)
			require.Len(t, platform.came, c.want)
		})
	}
}

// batches is a BatchSender and Labeler that records when requests arrive.
type batches struct {
	clocked
	send.Labeler
}

func (b *batches) SendBatch(ctx context.Context, messages []send.Message) (send.Batch, error) {
	_, err := b.Send(ctx, messages[0])
	return send.Batch{ID: "batch"}, err
}

func TestLimited_PortsOfInner(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner, start := &batches{}, time.Now() //nolint:forbidigo // The clock of the bubble.
		limited := send.Limited(inner, send.Rate{Messages: 1})
		_, ok := send.PortOf[send.Labeler](limited)
		require.True(t, ok)
		_, ok = send.PortOf[send.Tagger](limited)
		require.False(t, ok)
		sender, ok := send.PortOf[send.BatchSender](limited)
		require.True(t, ok)
		inOrder(t.Context(), limited, "a")
		batch, err := sender.SendBatch(t.Context(), []send.Message{messageFor("b"), messageFor("c")})
		require.NoError(t, err)
		require.Equal(t, "batch", batch.ID)
		require.Equal(t, []time.Duration{0, time.Second}, inner.at(start), "a batch waits for its turn")
		_, ok = send.PortOf[send.BatchSender](send.Limited(&clocked{}, send.Rate{}))
		require.False(t, ok)
	})
}

// choosy is a BatchSender that records recipients and times. answer supplies its answers.
type choosy struct {
	clocked
	// answer returns the result of the nth batch, counted from 1.
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

// refusing returns a batch that refuses each message with the given pause. A pause of 0 accepts it.
func refusing(pauses ...time.Duration) send.Batch {
	batch := send.Batch{ID: "batch", Status: "PARTLY", Outcomes: make([]send.Outcome, len(pauses))}
	for i, pause := range pauses {
		if pause > 0 {
			batch.Outcomes[i].Err = slowDown(pause)
		}
	}
	return batch
}

// sendBatch sends one batch, with a message to each recipient, through a limited connector.
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

func TestLimitedByRecipient_EachHasItsOwnRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		platform, start := &clocked{}, time.Now() //nolint:forbidigo // The clock of the bubble.
		queue := func(to string) string { return strings.TrimSuffix(to, "/topic") }
		limited := send.LimitedByRecipient(platform, queue, func(queue string) send.Rate {
			if queue == "group" {
				return send.Rate{Messages: 1, Per: time.Minute}
			}
			return send.Rate{Burst: 2}
		})
		inOrder(t.Context(), limited, "group", "ada", "ada", "bob", "group/topic", "ada")
		require.Equal(t, []string{"group", "ada", "ada", "bob", "ada", "group/topic"}, platform.to())
		require.Equal(t, []time.Duration{0, 0, 0, 0, time.Second, time.Minute}, platform.at(start))
	})
}

func TestLimitedByRecipient_PauseOfOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		platform, start := &clocked{}, time.Now() //nolint:forbidigo // The clock of the bubble.
		platform.refuse = func(message send.Message, attempt int) error {
			if message.To == "ada" && attempt == 1 {
				return slowDown(20 * time.Second)
			}
			return nil
		}
		channelWide := send.Limited(platform, send.Rate{Messages: 10, Repeats: -1, MaxPause: time.Nanosecond})
		limited := send.LimitedByRecipient(channelWide, nil, func(string) send.Rate { return send.Rate{} })
		require.Equal(t, make([]error, 3), inOrder(t.Context(), limited, "ada", "bob", "ada"))
		require.Equal(t, []string{"ada", "bob", "ada", "ada"}, platform.to())
		require.Equal(t, []time.Duration{0, 100 * time.Millisecond, 20 * time.Second, 21 * time.Second}, platform.at(start))
	})
}

func TestLimited_PauseOfARecipientIsNotTheChannels(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		platform, start := &clocked{}, time.Now() //nolint:forbidigo // The clock of the bubble.
		platform.refuse = func(message send.Message, attempt int) error {
			if message.To == "ada" && attempt == 1 {
				return boterr.New(boterr.ResourceExhausted, "", "%w", &send.RetryAfterError{After: 20 * time.Second, OfRecipient: true})
			}
			return nil
		}
		perChannel := send.Limited(platform, send.Rate{Messages: 1})
		limited := send.LimitedByRecipient(perChannel, nil, func(string) send.Rate { return send.Rate{} })
		require.Equal(t, make([]error, 3), inOrder(t.Context(), limited, "ada", "bob", "eve"))
		require.Equal(t, []string{"ada", "bob", "eve", "ada"}, platform.to())
		require.Equal(t, []time.Duration{0, time.Second, 2 * time.Second, 20 * time.Second}, platform.at(start))

		platform.attempts = nil
		_, err := perChannel.Send(t.Context(), messageFor("ada"))
		require.ErrorIs(t, err, boterr.ResourceExhausted, "it is not the channel's pause")
	})
}

func TestLimited_OfTypes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		platform, start := &clocked{}, time.Now() //nolint:forbidigo // The clock of the bubble.
		limited := send.Limited(platform, send.Rate{Types: []send.Type{send.TypeVideo}})
		for _, response := range []send.Response{
			send.Video("https://x.test/a"), send.Video("https://x.test/b"), send.Text("a"), send.Text("b"), send.Video("https://x.test/c"),
		} {
			message := messageFor("ada")
			message.Response = response
			_, err := limited.Send(t.Context(), message)
			require.NoError(t, err)
		}
		require.Equal(t, []time.Duration{0, time.Second, time.Second, time.Second, 2 * time.Second}, platform.at(start))
	})
}
