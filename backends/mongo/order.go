package mongo

import (
	"crypto/rand"
	"encoding/binary"
	"sync"
	"time"
)

// orderBits are the low bits of a place in the order of insertion, by which processes
// that insert in the same microsecond differ.
const orderBits = 10

// orderClock gives new documents their places in the order of insertion: microseconds of the
// server's clock, none of which a process gives twice. What a process inserts comes behind all that it
// has read, and that it was told is there already; of what they have not read of each other two
// processes agree on the order to half the time that the fastest of their questions to the server took.
type orderClock struct {
	now func() time.Time
	own int64

	mutex sync.Mutex
	// The server's clock is ahead of this one's by at least low and at most high, as was known at a
	// time; before the first answer that time is zero.
	low, high time.Duration
	known     time.Time
	last      int64
}

const (
	// resolution is that of the time which the server tells.
	resolution = time.Millisecond
	// near is how near the server's clock is to be known before a store inserts anything. It asks
	// fewestQuestions, since the first answer takes the time of connecting, too, and mostQuestions where
	// the server is far away.
	near                           = 10 * time.Millisecond
	fewestQuestions, mostQuestions = 2, 5
	// driftIn is the time in which two clocks may drift apart by one unit of it: more than those of
	// machines do.
	driftIn = 5000
)

func newOrderClock(now func() time.Time) *orderClock {
	var random [2]byte
	_, _ = rand.Read(random[:]) // It never fails.
	return &orderClock{now: now, own: int64(binary.LittleEndian.Uint16(random[:])) & (1<<orderBits - 1)}
}

// learn notes the time that the server told, when it was asked at a time of this
// process's clock and has just answered. An answer that took long, since the machine was busy, takes
// nothing from what faster ones have told.
func (c *orderClock) learn(asked, told time.Time) {
	answered := c.now()
	low, high := told.Sub(answered), told.Add(resolution).Sub(asked)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	drift := max(0, answered.Sub(c.known)) / driftIn
	nearLow, nearHigh := max(low, c.low-drift), min(high, c.high+drift)
	if nearLow > nearHigh || c.known.IsZero() { // A clock was set, or nothing was known.
		nearLow, nearHigh = low, high
	}
	c.low, c.high, c.known = nearLow, nearHigh, answered
}

// ahead is how far the server's clock is ahead of this one's, as near as is known.
func (c *orderClock) ahead() time.Duration { return c.low + (c.high-c.low)/2 }

// isNear reports whether the server's clock is known to half of near.
func (c *orderClock) isNear() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.high-c.low <= near
}

// see notes a place that another process may have given, behind which all further ones come.
func (c *orderClock) see(order int64) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.last = max(c.last, order>>orderBits)
}

// take returns the first of so many consecutive places that no document has.
func (c *orderClock) take(count int) int64 {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	first := max(c.now().Add(c.ahead()).UnixMicro(), c.last+1)
	c.last = first + int64(count) - 1
	return first<<orderBits | c.own
}

// place returns the place of the nth document of those that begin at first.
func place(first int64, nth int) int64 { return first + int64(nth)<<orderBits }
