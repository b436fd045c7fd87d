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
// server's clock, none of which a process gives twice. Two processes agree on the order to half the
// time that a question to the server takes.
type orderClock struct {
	now func() time.Time
	own int64

	mutex sync.Mutex
	// ahead is how far the server's clock is ahead of this one's.
	ahead time.Duration
	last  int64
}

func newOrderClock(now func() time.Time) *orderClock {
	var random [2]byte
	_, _ = rand.Read(random[:]) // It never fails.
	return &orderClock{now: now, own: int64(binary.LittleEndian.Uint16(random[:])) & (1<<orderBits - 1)}
}

// learn notes the time that the server told, when it was asked at a time of this
// process's clock and has just answered.
func (c *orderClock) learn(asked, told time.Time) {
	took := c.now().Sub(asked)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.ahead = told.Sub(asked.Add(took / 2))
}

// take returns the first of so many consecutive places that no document has.
func (c *orderClock) take(count int) int64 {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	first := max(c.now().Add(c.ahead).UnixMicro(), c.last+1)
	c.last = first + int64(count) - 1
	return first<<orderBits | c.own
}

// place returns the place of the nth document of those that begin at first.
func place(first int64, nth int) int64 { return first + int64(nth)<<orderBits }
