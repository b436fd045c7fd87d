package sqlite

import (
	"sync"
	"sync/atomic"

	"github.com/botctx/go-sdk/document"
)

// cached is a document at its position; the zero Object for one that was removed.
type cached struct {
	document document.Object
	position uint64
	// size is the number of bytes in the file.
	size int
}

// cacheRoom is the room that the caches of all collections share.
type cacheRoom struct {
	most int64
	used atomic.Int64
}

// entrySize is the memory of a cached document without its values, and valueFactor the size of values in memory
// relative to the file.
const (
	entrySize   = 300
	valueFactor = 4
)

func (c *cached) memory() int64 { return entrySize + valueFactor*int64(c.size) }

// cache holds committed documents by the keys of their _ids.
type cache struct {
	room *cacheRoom

	mu        sync.RWMutex
	documents map[string]cached
	// commits counts the calls of apply.
	commits uint64
	// isHiding is true while changes are committed.
	isHiding bool
}

// get returns a document and the number of commits that the cache has seen, for put.
func (c *cache) get(key []byte) (found cached, ok bool, commits uint64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	found, ok = c.documents[string(key)]
	return found, ok, c.commits
}

// put adds a document that was read from the file, unless the cache has seen changes since.
func (c *cache) put(key []byte, read cached, commits uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.commits == commits && !c.isHiding {
		c.set(string(key), read)
	}
}

// hide removes documents that are being committed: the file decides when readers see a change, so none of them
// may find an earlier document here afterwards.
func (c *cache) hide(changes []change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isHiding = true
	for i := range changes {
		c.remove(changes[i].key)
	}
}

// apply adds committed changes.
func (c *cache) apply(changes []change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isHiding = false
	c.commits++
	for i := range changes {
		if changes[i].after.IsZero() {
			c.remove(changes[i].key)
		} else {
			c.set(changes[i].key, cached{document: changes[i].after, position: changes[i].position, size: changes[i].size})
		}
	}
}

// set adds a document, and drops some others if there is no room. The caller has the lock.
func (c *cache) set(key string, one cached) {
	c.remove(key)
	if one.memory() > c.room.most {
		return
	}
	if c.documents == nil {
		c.documents = map[string]cached{}
	}
	c.documents[key] = one
	if c.room.used.Add(one.memory()) <= c.room.most {
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
		c.room.used.Add(-known.memory())
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
