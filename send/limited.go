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

// Rate is a limit on the messages of one channel or, in LimitedByRecipient, of one recipient.
type Rate struct {
	// Messages are spread evenly over Per: at least Per/Messages passes between two of them. The
	// default is 1.
	Messages int
	// Per is the period of the limit. The default is a second.
	Per time.Duration
	// Burst is the number of messages that an idle channel sends at once, so at most
	// Messages+Burst-1 start in any Per. The default is 1.
	Burst int
	// Repeats is the number of times to resend a message that the platform refused with a *RetryAfterError.
	// The default is 3; a negative value means never.
	Repeats int
	// MaxPause is the longest pause of a *RetryAfterError to wait for. If the platform asks for a
	// longer one, the send fails with the platform's error and the channel pauses for MaxPause. The
	// default is a minute.
	MaxPause time.Duration
	// Types are the types of messages that the limit counts. Others are not limited. nil means all.
	Types []Type
}

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

// interval returns the minimum time between messages, rounded up so that no more than Messages fit into
// Per.
func (r Rate) interval() time.Duration {
	messages := time.Duration(r.Messages)
	interval := r.Per / messages
	if r.Per%messages > 0 {
		interval++
	}
	return interval
}

// slack returns how far a burst may be ahead of an even stream.
func (r Rate) slack() time.Duration {
	interval, ahead := int64(r.interval()), int64(r.Burst-1)
	if ahead > math.MaxInt64/interval {
		return math.MaxInt64
	}
	return time.Duration(interval * ahead)
}

// RetryAfterError tells callers when to try again. Connectors wrap it in ResourceExhausted if the
// platform refused a message because of its rate limit and said how long to wait:
//
//	boterr.New(boterr.ResourceExhausted, "", "too many messages: %w", &send.RetryAfterError{After: 2 * time.Second})
//
// Use it only if the message was certainly not sent, because Limited sends it again.
type RetryAfterError struct {
	// After is the time to wait.
	After time.Duration
	// OfRecipient is true if only messages to the same recipient must wait. Limited returns such an error
	// unchanged, and LimitedByRecipient waits.
	OfRecipient bool
}

// Error states the time to wait.
func (r *RetryAfterError) Error() string { return fmt.Sprintf("try again after %s", r.After) }

// RetryAfter returns After. It is used by boterr.RetryAfter.
func (r *RetryAfterError) RetryAfter() time.Duration { return r.After }

// Limited returns a connector that sends a channel's messages at most at the given rate. Messages
// wait in order of arrival. If ctx ends while a message waits, the send returns Canceled, nothing
// is sent and the limit is unaffected. Waiting does not count towards the call's time limit
// (botctx.Config.MaxSend); each request gets the full time.
//
// If the platform answers ResourceExhausted with a *RetryAfterError, the channel pauses for that
// time and then resends the message, with the same Message.ID, before later ones. Each attempt
// counts against the rate. Messages of a batch that are refused this way in their Outcome are
// resent as a batch; the returned Batch keeps ID and Status of the first answer.
//
// The limit applies to this process, and to Send and SendBatch only; a batch counts as one message.
// Other ports found by PortOf are not limited. Idle channels use no memory.
func Limited(connector Connector, rate Rate) Connector {
	l := &limited{Connector: connector, queues: newQueues(func(queueKey) Rate { return rate })}
	if batches, ok := PortOf[BatchSender](connector); ok {
		return &limitedBatches{limited: l, batches: batches}
	}
	return l
}

// LimitedByRecipient returns a connector that sends to each recipient of a channel at most at a
// given rate. queue returns the name of the queue of a recipient (Message.To). Recipients with the
// same name share a limit; if queue is nil, each recipient has a separate limit. rate returns the
// limit of a queue. Otherwise it works like Limited: messages wait in order of arrival, and a
// *RetryAfterError only pauses that queue. Batches are not limited. For a platform with both
// limits, use LimitedByRecipient as the outer connector:
//
//	send.LimitedByRecipient(send.Limited(connector, perChannel), nil, perRecipient)
func LimitedByRecipient(connector Connector, queue func(to string) string, rate func(queue string) Rate) Connector {
	if queue == nil {
		queue = func(to string) string { return to }
	}
	return &limited{
		Connector: connector, queues: newQueues(func(key queueKey) Rate { return rate(key.recipient) }), queueOf: queue,
	}
}

type limited struct {
	Connector

	queues *queues
	// queueOf returns the name of a recipient's queue. It is nil if the whole channel has one queue.
	queueOf func(to string) string
}

var _ Wrapper = (*limited)(nil)

func (l *limited) Unwrap() Connector { return l.Connector }

func (l *limited) Send(ctx context.Context, message Message) (Delivery, error) {
	return queued(ctx, l, message, func() (Delivery, error) { return l.Connector.Send(ctx, message) })
}

// queued waits for the rate limit of the first message's channel, makes the request, and repeats
// both while the platform asks for it.
func queued[Answer any](ctx context.Context, l *limited, first Message, request func() (Answer, error)) (Answer, error) {
	if err := RequireChannel(first.Channel); err != nil {
		var none Answer
		return none, err
	}
	in := queueKey{app: first.Channel.App, channel: first.Channel.ID}
	if l.queueOf != nil {
		in.recipient = l.queueOf(first.To)
	}
	rate := l.queues.rateOf(in)
	if rate.Types != nil && !slices.Contains(rate.Types, first.Response.Type()) {
		return request()
	}
	own, call := new(waitingMessage), timelimit.Of(ctx)
	for repeats := 0; ; repeats++ {
		call.Pause()
		err := l.queues.wait(ctx, in, own)
		call.Restart()
		if err != nil {
			var none Answer
			return none, boterr.New(boterr.Canceled, "", "the message was still waiting for a rate limit: %w", err)
		}
		answer, err := request()
		pause, ok := retryAfter(err)
		if !ok || l.queueOf == nil && isOfRecipient(err) {
			return answer, err
		}
		l.queues.pause(in, min(pause, rate.MaxPause))
		if pause > rate.MaxPause || repeats >= rate.Repeats {
			return answer, err
		}
	}
}

// retryAfter returns the pause that the platform asked for.
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

// isOfRecipient reports whether the platform asked only the recipient's messages to pause.
func isOfRecipient(err error) bool {
	hint, ok := errors.AsType[*RetryAfterError](err)
	return ok && hint.OfRecipient
}

// limitedBatches is a limited connector whose inner connector has SendBatch.
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
		return a.batch, nil // The outcomes describe each message.
	}
	return Batch{}, err
}

// attempts are the requests for one batch: the first for all messages, the next ones for the
// messages to resend.
type attempts struct {
	messages []Message
	// left are the indexes of the messages for the next request.
	left []int
	// batch is the first answer, updated with the latest outcome of each message.
	batch Batch
	// isAnswered reports whether any request was answered.
	isAnswered bool
}

// next makes a request. It returns the request's error, or the error of a message to resend.
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
	return a.keepRefused()
}

// note stores the outcomes of the last request.
func (a *attempts) note(outcomes []Outcome) {
	for i, of := range a.left {
		a.batch.Outcomes[of] = outcomes[i]
	}
}

// keepRefused reduces left to the messages to resend. It returns the error with the longest pause
// among them, or nil if there are none.
func (a *attempts) keepRefused() error {
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

// queues holds the waiting messages of each channel or recipient. Idle queues are removed.
type queues struct {
	// rateOf returns the limit of a queue, with its defaults.
	rateOf func(key queueKey) Rate
	now    func() time.Time

	mu       sync.Mutex
	arrivals uint64
	queues   map[queueKey]*queue
}

// lingering is the time that an idle queue is kept, so that a queue with a high rate is not
// recreated for each message.
const lingering = time.Second

// queueKey names a queue. recipient is "" if the queue is for a whole channel.
type queueKey struct{ app, channel, recipient string }

// queue holds the waiting messages of one channel or recipient.
type queue struct {
	// interval is the time between two messages; slack is the lead that a burst may have.
	interval, slack time.Duration
	// waiting holds *waitingMessage in order of arrival.
	waiting linked.List
	// due is the time of the next message in an even stream. No message is sent before paused.
	due, paused time.Time
	// timer fires at alarm or before, and serves the queue again. A zero alarm means never.
	timer *time.Timer
	alarm time.Time
}

// waitingMessage is a message that waits for its first or a further attempt.
type waitingMessage struct {
	// arrival is the message's number, assigned when it first waits.
	arrival uint64
	// come is closed when the message may be sent.
	come chan struct{}
	// place is the message's element in the queue, or nil if it is not queued.
	place *linked.Element
}

func newQueues(rateOf func(key queueKey) Rate) *queues {
	return &queues{
		rateOf: func(key queueKey) Rate { return rateOf(key).withDefaults() },
		now:    time.Now,
		queues: make(map[queueKey]*queue),
	}
}

// wait blocks until the message may be sent or ctx ends. A message that is being resent goes before later arrivals.
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
		return nil // The message was released just before ctx ended.
	}
	q.queues[key].waiting.Remove(t.place)
	t.place = nil
	return ctx.Err()
}

func (q *queues) enter(key queueKey, t *waitingMessage) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.arrival == 0 {
		q.arrivals++
		t.arrival = q.arrivals
	}
	t.come = make(chan struct{})
	c := q.queue(key)
	c.insert(t)
	q.serve(key, c)
}

func (q *queues) pause(key queueKey, pause time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.queue(key)
	c.paused = later(c.paused, q.now().Add(pause))
	q.serve(key, c)
}

// queue returns the queue of a key, creating it if necessary.
func (q *queues) queue(key queueKey) *queue {
	c := q.queues[key]
	if c == nil {
		rate := q.rateOf(key)
		c = &queue{interval: rate.interval(), slack: rate.slack()}
		q.queues[key] = c
	}
	return c
}

// serve releases the messages that are due. It then sets the timer for the next message, or removes the queue if it
// is idle.
func (q *queues) serve(key queueKey, c *queue) {
	now := q.now()
	next := c.next()
	for c.waiting.Len() > 0 && !next.After(now) {
		c.due = later(c.due, now).Add(c.interval)
		c.leave()
		next = c.next()
	}
	if c.waiting.Len() == 0 {
		if next = later(c.due, c.paused).Add(lingering); !next.After(now) {
			delete(q.queues, key)
			c.stop()
			return
		}
	}
	if c.alarm.IsZero() || next.Before(c.alarm) {
		c.alarm = next
		q.wake(key, c, next.Sub(now))
	}
}

// wake serves the queue again after the given time.
func (q *queues) wake(key queueKey, c *queue, after time.Duration) {
	if c.timer != nil {
		c.timer.Reset(after)
		return
	}
	c.timer = time.AfterFunc(after, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.queues[key] == c {
			c.alarm = time.Time{}
			q.serve(key, c)
		}
	})
}

// next returns when the next message may be sent.
func (c *queue) next() time.Time { return later(c.due.Add(-c.slack), c.paused) }

// insert puts t before all later arrivals.
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

// leave releases the first message.
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
