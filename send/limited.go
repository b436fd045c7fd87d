package send

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/timelimit"
)

// Rate is how much a platform takes of one channel.
type Rate struct {
	// Messages are sent evenly over Per: no less than Per/Messages lies between one and the
	// next. The default is 1.
	Messages int
	// Per is the period. The default is a second.
	Per time.Duration
	// Burst is how many messages a channel that was idle sends at once, so that at most
	// Messages+Burst-1 begin in any Per. The default is 1.
	Burst int
	// Repeats is how often a message is sent again that the platform refused with a
	// *RetryAfterError. The default is 3; less than 0 is never.
	Repeats int
	// MaxPause is the longest pause of a *RetryAfterError that is waited for. A longer one ends
	// the send with the platform's error, and the channel pauses for MaxPause. The default is
	// a minute.
	MaxPause time.Duration
}

// The defaults of Rate.
const (
	defaultPer      = time.Second
	defaultRepeats  = 3
	defaultMaxPause = time.Minute
)

// withDefaults returns the rate with the defaults filled in.
func (r Rate) withDefaults() Rate {
	r.Messages, r.Burst = max(1, r.Messages), max(1, r.Burst)
	if r.Per <= 0 {
		r.Per = defaultPer
	}
	if r.Repeats == 0 {
		r.Repeats = defaultRepeats
	}
	if r.MaxPause <= 0 {
		r.MaxPause = defaultMaxPause
	}
	return r
}

// interval is the least time from one message to the next, rounded up so that no more than
// Messages fit into Per.
func (r Rate) interval() time.Duration {
	messages := time.Duration(r.Messages)
	interval := r.Per / messages
	if r.Per%messages > 0 {
		interval++
	}
	return interval
}

// slack is how far a burst may be ahead of an even stream.
func (r Rate) slack() time.Duration {
	interval, ahead := int64(r.interval()), int64(r.Burst-1)
	if ahead > math.MaxInt64/interval {
		return math.MaxInt64
	}
	return time.Duration(interval * ahead)
}

// RetryAfterError is what a connector puts behind ResourceExhausted where the platform did
// not take a message for its rate limit, and said when it will take one again:
//
//	boterr.New(boterr.ResourceExhausted, "", "too many messages: %w", &send.RetryAfterError{After: 2 * time.Second})
//
// It is only for messages that were not taken for certain, since Limited sends them again.
type RetryAfterError struct {
	// After is how long to wait.
	After time.Duration
}

// Error tells how long to wait.
func (r *RetryAfterError) Error() string { return fmt.Sprintf("try again after %s", r.After) }

// RetryAfter returns After, see boterr.RetryAfter.
func (r *RetryAfterError) RetryAfter() time.Duration { return r.After }

// Limited returns a connector that sends no more messages of a channel than a rate allows.
// Messages wait for their turn in the order in which they came, as long as their ctx lasts;
// one whose ctx ends before is Canceled, was not sent, and takes nothing of the limit. The wait does
// not count as time of the call (botctx.Config.MaxSend), and each request has all of that time.
//
// Where the platform answers ResourceExhausted with a *RetryAfterError, the channel pauses
// for that time, and then sends the message again before those that came later. It
// keeps its Message.ID. The rate counts it each time. Messages of a batch that are refused so
// by their Outcome are sent again as a batch of their own; the batch keeps the ID and the
// Status of the first answer.
//
// The limit is that of this process and for what goes out by Send, and by SendBatch where
// the inner connector has it: a batch counts as one message, for it is one request. What
// PortOf finds else goes past it. Channels that are idle take no memory.
func Limited(connector Connector, rate Rate) Connector {
	l := &limited{Connector: connector, rate: rate.withDefaults(), channels: newQueues(rate.withDefaults())}
	if batches, ok := PortOf[BatchSender](connector); ok {
		return &limitedBatches{limited: l, batches: batches}
	}
	return l
}

// limited is a connector with a limit.
type limited struct {
	Connector

	rate     Rate
	channels *queues
}

var _ Wrapper = (*limited)(nil)

// Unwrap implements Wrapper.
func (l *limited) Unwrap() Connector { return l.Connector }

// Send implements Connector.
func (l *limited) Send(ctx context.Context, message Message) (Delivery, error) {
	return queued(ctx, l, message, func() (Delivery, error) { return l.Connector.Send(ctx, message) })
}

// queued makes a request when it is the turn of its first message in the queue of the channel, and
// repeats it where the platform asks for that.
func queued[Answer any](ctx context.Context, l *limited, first Message, request func() (Answer, error)) (Answer, error) {
	if err := RequireChannel(first.Channel); err != nil {
		var none Answer
		return none, err
	}
	in := queueKey{app: first.Channel.App, channel: first.Channel.ID}
	own, call := new(waitingMessage), timelimit.Of(ctx)
	for repeats := 0; ; repeats++ {
		call.Pause()
		err := l.channels.wait(ctx, in, own)
		call.Restart()
		if err != nil {
			var none Answer
			return none, boterr.New(boterr.Canceled, "", "the message still waited for the rate limit of its channel: %w", err)
		}
		answer, err := request()
		pause, ok := retryAfter(err)
		if !ok {
			return answer, err
		}
		l.channels.pause(in, min(pause, l.rate.MaxPause))
		if pause > l.rate.MaxPause || repeats >= l.rate.Repeats {
			return answer, err
		}
	}
}

// retryAfter returns the pause that a platform asks for.
func retryAfter(err error) (time.Duration, bool) {
	if boterr.CodeOf(err) != boterr.ResourceExhausted {
		return 0, false
	}
	hint, ok := errors.AsType[*RetryAfterError](err)
	if !ok {
		return 0, false
	}
	return max(0, hint.After), true
}
