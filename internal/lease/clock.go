package lease

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/botctx/go-sdk/store"
)

// Clock reads the clock of a store for a process. It remembers the last outage of the store, so that claims that
// processes lost because of it are not taken for crashes. Create it with NewClock. It is safe for concurrent use.
type Clock struct {
	store store.Store
	// own is the clock of the process. lease is the duration of claims.
	own   func() time.Time
	lease time.Duration

	mu   sync.Mutex
	last reading
	// hasFailed is true if a reading has failed since the last one. from and to are the last reading before the last
	// outage and the first one after it. Outages that are less than a lease apart count as one.
	hasFailed bool
	from, to  time.Time
}

// reading is a reading of the store's clock, and the process's own time before it.
type reading struct{ store, own time.Time }

// NewClock returns the clock of a store for claims with a duration. own is the process's own clock.
func NewClock(database store.Store, own func() time.Time, lease time.Duration) *Clock {
	return &Clock{store: database, own: own, lease: lease}
}

// Now returns the time of the store's clock. Errors come from the store.
func (c *Clock) Now(ctx context.Context) (time.Time, error) {
	began := c.own()
	now, err := c.store.Now(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.hasFailed = c.hasFailed || !errors.Is(ctx.Err(), context.Canceled) // A caller that gave up is no outage.
		return time.Time{}, err
	}
	const part = 2 // In a shorter outage no process loses a claim.
	isSlow := c.own().Sub(began) >= c.lease/part
	if (c.hasFailed || isSlow) && !c.last.store.IsZero() && now.Sub(c.last.store) >= c.lease/part {
		if c.last.store.Sub(c.to) >= c.lease { // Otherwise, the last outage continues: claims may not have been renewed between.
			c.from = c.last.store
		}
		c.to = now
	}
	c.hasFailed, c.last = false, reading{store: now, own: began}
	return now, nil
}

// Cached is like Now, but may return a time based on a reading from up to a quarter of a lease ago. Use it for the end of
// a new claim. To decide whether a claim has expired, use Now.
func (c *Clock) Cached(ctx context.Context) (time.Time, error) {
	c.mu.Lock()
	last := c.last
	c.mu.Unlock()
	since := c.own().Sub(last.own)
	if since >= 0 && since < c.lease/BeatsPerLease && !last.store.IsZero() {
		return last.store.Add(since), nil
	}
	return c.Now(ctx)
}

// HadOutage reports whether a claim that expired at a time of the store's clock could not be renewed, because the store
// did not answer. Then its process may be alive.
func (c *Clock) HadOutage(until time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.to.IsZero() && !until.Before(c.from) && !until.Add(-c.lease).After(c.to)
}
