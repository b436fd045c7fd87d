package send

import (
	linked "container/list"
	"context"
	"sync"
	"time"
)

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

// queueKey is a channel.
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
