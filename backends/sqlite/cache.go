package sqlite

import (
	"sync"
	"sync/atomic"

	"github.com/botctx/go-sdk/internal/engine"
)

// cacheRoom is the room that the caches of all collections share.
type cacheRoom struct {
	most int64
	used atomic.Int64
}

// entrySize is the memory of a cached document without its values, and valueFactor the size of values in memory
// relative to their size.
const (
	entrySize   = 300
	valueFactor = 4
)

func memoryOf(one engine.Placed) int64 { return entrySize + valueFactor*int64(one.Document.Size()) }

// cache holds committed documents by the keys of their _ids.
type cache struct {
	room *cacheRoom

	mu        sync.RWMutex
	documents map[string]engine.Placed
	// commits counts the changes that were put in.
	commits uint64
	// isHiding is true while changes are committed.
	isHiding bool
}

// get returns a document, and how many changes the cache has seen, for put.
func (c *cache) get(key []byte) (found engine.Placed, ok bool, commits uint64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	found, ok = c.documents[string(key)]
	return found, ok, c.commits
}

// put adds a document that was read from the file, unless the cache has seen changes since.
func (c *cache) put(key []byte, read engine.Placed, commits uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.commits == commits && !c.isHiding {
		c.set(string(key), read)
	}
}

// hide takes documents out that are being committed: the file decides when readers see a change, so that none sees an
// earlier document here afterwards.
func (c *cache) hide(changes map[string]engine.Placed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isHiding = true
	for key := range changes {
		c.remove(key)
	}
}

// apply puts changes in that were committed.
func (c *cache) apply(changes map[string]engine.Placed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isHiding = false
	c.commits++
	for key, one := range changes {
		if one.Document.IsZero() {
			c.remove(key)
		} else {
			c.set(key, one)
		}
	}
}

// set adds a document, and drops some others if there is no room. The caller has the lock.
func (c *cache) set(key string, one engine.Placed) {
	c.remove(key)
	if memoryOf(one) > c.room.most {
		return
	}
	if c.documents == nil {
		c.documents = map[string]engine.Placed{}
	}
	c.documents[key] = one
	if c.room.used.Add(memoryOf(one)) <= c.room.most {
		return
	}
	for other := range c.documents { // A map yields its keys in no order.
		c.remove(other)
		if c.room.used.Load() <= c.room.most {
			return
		}
	}
}

func (c *cache) remove(key string) {
	if known, ok := c.documents[key]; ok {
		c.room.used.Add(-memoryOf(known))
		delete(c.documents, key)
	}
}

// clear empties the cache.
func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isHiding = false
	c.commits++
	for key := range c.documents {
		c.remove(key)
	}
}
