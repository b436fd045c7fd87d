package send

import (
	linked "container/list"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/replies"
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

type limited struct {
	Connector

	rate     Rate
	channels *queues
}

var _ Wrapper = (*limited)(nil)

func (l *limited) Unwrap() Connector { return l.Connector }

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

// limitedBatches is a connector with a limit whose inner connector sends batches, too.
type limitedBatches struct {
	*limited

	batches BatchSender
}

var (
	_ Wrapper     = (*limitedBatches)(nil)
	_ BatchSender = (*limitedBatches)(nil)
)

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
		a.note(slices.Repeat([]Outcome{{Err: replies.WrongOutcomes(len(answer.Outcomes), len(a.left))}}, len(a.left)))
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

// queues are the messages of each channel that wait for their turn. A channel is kept only
// while messages wait, while a new one might have to, and shortly after.
type queues struct {
	// interval lies between two messages; slack is how far a burst may be ahead of that.
	interval, slack time.Duration
	// now is the clock that timers go by.
	now func() time.Time

	mu       sync.Mutex
	arrivals uint64
	channels map[queueKey]*queue
}

// lingering is how long a channel that is idle is kept, so that one with a high rate is not
// forgotten and made anew with each message.
const lingering = time.Second

type queueKey struct{ app, channel string }

// queue is a channel that is not idle.
type queue struct {
	// waiting are the *turn that wait, in the order in which they came.
	waiting linked.List
	// due is when the next message would be sent if all were sent evenly, and paused
	// until when the platform wants none.
	due, paused time.Time
	// timer fires at alarm, the zero time for never: when the first turn comes or the
	// channel is idle, or before.
	timer *time.Timer
	alarm time.Time
}

// waitingMessage is a message that waits, perhaps for another attempt.
type waitingMessage struct {
	// arrival is its number among all messages, 0 before it first waits.
	arrival uint64
	// come is closed when it is its turn.
	come chan struct{}
	// place is where it stands in its queue, nil while it does not.
	place *linked.Element
}

func newQueues(rate Rate) *queues {
	return &queues{
		interval: rate.interval(),
		slack:    rate.slack(),
		now:      time.Now,
		channels: make(map[queueKey]*queue),
	}
}

// wait returns when it is the turn of a message, or with the error of ctx when that ends
// before. A message that has waited before keeps its place before those that came later.
func (q *queues) wait(ctx context.Context, key queueKey, t *waitingMessage) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	q.enter(key, t)
	select {
	case <-t.come:
		return nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.place == nil {
		return nil // Its turn came meanwhile.
	}
	q.channels[key].waiting.Remove(t.place)
	t.place = nil
	return ctx.Err()
}

// enter puts a message into the queue of its channel.
func (q *queues) enter(key queueKey, t *waitingMessage) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.arrival == 0 {
		q.arrivals++
		t.arrival = q.arrivals
	}
	t.come = make(chan struct{})
	c := q.channel(key)
	c.insert(t)
	q.serve(key, c)
}

// pause sends nothing of a channel for a time.
func (q *queues) pause(key queueKey, pause time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.channel(key)
	c.paused = later(c.paused, q.now().Add(pause))
	q.serve(key, c)
}

// channel returns the queue of a channel, a new one where it was idle.
func (q *queues) channel(key queueKey) *queue {
	c := q.channels[key]
	if c == nil {
		c = &queue{}
		q.channels[key] = c
	}
	return c
}

// serve lets those go whose turn it is, and sees that the timer fires for what comes next,
// which it need not be set for anew with each message. A channel that is idle is forgotten.
func (q *queues) serve(key queueKey, c *queue) {
	now := q.now()
	next := c.next(q.slack)
	for c.waiting.Len() > 0 && !next.After(now) {
		c.due = later(c.due, now).Add(q.interval)
		c.leave()
		next = c.next(q.slack)
	}
	if c.waiting.Len() == 0 {
		if next = later(c.due, c.paused).Add(lingering); !next.After(now) {
			delete(q.channels, key)
			c.stop()
			return
		}
	}
	if c.alarm.IsZero() || next.Before(c.alarm) {
		c.alarm = next
		q.wake(key, c, next.Sub(now))
	}
}

// wake serves a channel again after a time.
func (q *queues) wake(key queueKey, c *queue, after time.Duration) {
	if c.timer != nil {
		c.timer.Reset(after)
		return
	}
	c.timer = time.AfterFunc(after, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.channels[key] == c {
			c.alarm = time.Time{}
			q.serve(key, c)
		}
	})
}

// next is when the next message may be sent.
func (c *queue) next(slack time.Duration) time.Time { return later(c.due.Add(-slack), c.paused) }

// insert puts a message before all that came later.
func (c *queue) insert(t *waitingMessage) {
	newest := c.waiting.Back()
	if newest == nil || arrivalOf(newest) < t.arrival {
		t.place = c.waiting.PushBack(t)
		return
	}
	after := c.waiting.Front()
	for arrivalOf(after) < t.arrival {
		after = after.Next()
	}
	t.place = c.waiting.InsertBefore(t, after)
}

// leave lets the first message go.
func (c *queue) leave() {
	first, _ := c.waiting.Remove(c.waiting.Front()).(*waitingMessage)
	first.place = nil
	close(first.come)
}

func (c *queue) stop() {
	if c.timer != nil {
		c.timer.Stop()
	}
}

// arrivalOf returns the number of the message at a place.
func arrivalOf(place *linked.Element) uint64 {
	waiting, _ := place.Value.(*waitingMessage)
	return waiting.arrival
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
