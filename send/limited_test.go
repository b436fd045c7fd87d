package send_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/send"
)

// clocked is a connector that notes when each message came, and refuses by refuse.
type clocked struct {
	mu   sync.Mutex
	came []arrived
	// refuse returns the error of the nth attempt at a message, counted from 1.
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

// to returns to whom messages came, in order.
func (c *clocked) to() []string {
	to := make([]string, 0, len(c.came))
	for _, a := range c.came {
		to = append(to, a.message.To)
	}
	return to
}

// at returns the times since start at which messages came.
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

// inOrder sends to each of the recipients from a goroutine of its own, which waits before
// the next one begins, and returns their errors when all are done.
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
			if attempt == 1 && m.To[len(m.To)-2:] == "77" { // One of a hundred is refused at first.
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

// requireLimit asks that no more messages than allowed came in any window.
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

// pass lets time pass in a bubble.
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

// late refuses each message at first, after a time.
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
		rate  send.Rate
		after time.Duration
		err   error
		want  int
	}{
		{send.Rate{}, time.Second, slowDown(time.Second), 4},
		{send.Rate{Repeats: 1}, time.Second, slowDown(time.Second), 2},
		{send.Rate{Repeats: -1}, time.Second, slowDown(time.Second), 1},
		{send.Rate{MaxPause: time.Second}, 0, slowDown(2 * time.Second), 1},
		{send.Rate{}, 0, slowDown(-time.Second), 4},
		{send.Rate{}, 0, boterr.ResourceExhausted, 1},
		{send.Rate{}, 0, fmt.Errorf("no code: %w", &send.RetryAfterError{After: time.Second}), 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			platform := &clocked{refuse: func(send.Message, int) error { return c.err }}
			_, err := send.Limited(platform, c.rate).Send(t.Context(), messageFor("a"))
			require.ErrorIs(t, err, c.err)
			require.Len(t, platform.came, c.want)
		})
	}
}

// batches is a connector that sends batches and labels, and notes when.
type batches struct {
	clocked
	labeler
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
