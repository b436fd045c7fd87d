package fakes

import (
	"context"
	"sync"
	"time"
)

// Start is the time at which a platform begins: a Thursday, at midnight in UTC.
func Start() time.Time { return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC) }

// clock is a virtual clock. It stands still unless it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

// Now returns the virtual time.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// advance moves the clock forward.
func (c *clock) advance(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}

// moveTo moves the clock forward to a time, and reports whether it was not there yet.
func (c *clock) moveTo(to time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !to.After(c.now) {
		return false
	}
	c.now = to.UTC()
	return true
}

// hurry is how many times faster than in reality a pause is over.
const hurry = 50

// pause waits for a while, or until ctx ends. It lets others go on in the meantime, so it takes
// some real time as well.
func (c *clock) pause(ctx context.Context, d time.Duration) {
	over := c.Now().Add(d)
	timer := time.NewTimer(d / hurry)
	defer timer.Stop()
	select {
	case <-timer.C:
		c.moveTo(over)
	case <-ctx.Done():
	}
}

// hurrying and skipping return how to wait for a while by a clock: pause, or without real time.
func hurrying(by *clock) func(ctx context.Context, d time.Duration) { return by.pause }

func skipping(by *clock) func(ctx context.Context, d time.Duration) {
	return func(ctx context.Context, d time.Duration) {
		if ctx.Err() == nil {
			by.advance(max(0, d))
		}
	}
}

// set moves the clock to a time.
func (c *clock) set(to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = to.UTC()
}
