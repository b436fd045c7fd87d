package sqlite

import (
	"sync"
	"sync/atomic"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
)

// cacheRoom is the memory that the caches of all collections share. If it is full, the caches that have more than
// an equal share make room, so a collection that came first does not keep the others out.
type cacheRoom struct {
	most int64
	used atomic.Int64

	mu  sync.Mutex
	all []*cache
	// next is the index of the cache that makes room next.
	next int
}

// add adds the cache of a collection.
func (r *cacheRoom) add(c *cache) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, c)
}

// slack is the inverse of the part of the room that is freed at once, because many caches may have to be looked at.
const slack = 16

// shrink removes documents if the room is full. Callers must not hold the lock of a cache.
func (r *cacheRoom) shrink() {
	if r.used.Load() <= r.most {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	enough := r.most - r.most/slack
	share := enough / int64(len(r.all))
	for range r.all { // Once around, because then no cache has more than its share.
		if r.used.Load() <= enough {
			return
		}
		c := r.all[r.next%len(r.all)]
		r.next++
		if c.used.Load() > share {
			c.shrink(share, enough)
		}
	}
}

// entrySize is the memory of a cached document without its values. valueFactor is the ratio between the memory
// of values and their stored size.
const (
	entrySize   = 300
	valueFactor = 4
)

func memoryOf(one engine.Placed) int64 { return entrySize + valueFactor*int64(one.Document.Size()) }

// cache holds committed documents, by the key of their _id.
type cache struct {
	room   *cacheRoom
	shapes document.Shapes

	// used is the memory of documents.
	used atomic.Int64

	mu        sync.RWMutex
	documents map[string]engine.Placed
	// commits counts the calls of apply and clear. put uses it to notice a commit since get.
	commits uint64
	// isHiding is true during a commit. Then put adds nothing.
	isHiding bool
}

// get returns a cached document. It also returns commits, for a later put.
func (c *cache) get(key []byte) (found engine.Placed, ok bool, commits uint64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	found, ok = c.documents[string(key)]
	return found, ok, c.commits
}

// put adds a document that was read from the file, unless there was a commit since get, or one is in progress.
func (c *cache) put(key []byte, read engine.Placed, commits uint64) {
	defer c.room.shrink()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.commits == commits && !c.isHiding {
		c.set(string(key), read)
	}
}

// hide removes the documents of a commit before it happens. During the commit readers read these documents from
// the file, so no reader sees an older version after a newer one.
func (c *cache) hide(changes map[string]engine.Placed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isHiding = true
	for key := range changes {
		c.remove(key)
	}
}

// apply adds the changes of a commit.
func (c *cache) apply(changes map[string]engine.Placed) {
	for key, one := range changes {
		if memoryOf(one) <= c.room.most {
			// Otherwise the document's keys might keep an earlier, larger version in memory.
			one.Document = c.shapes.Share(one.Document)
			changes[key] = one
		}
	}
	defer c.room.shrink()
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

// set adds a document. Callers must hold mu, and call cacheRoom.shrink later.
func (c *cache) set(key string, one engine.Placed) {
	c.remove(key)
	if memoryOf(one) > c.room.most {
		return
	}
	if c.documents == nil {
		c.documents = map[string]engine.Placed{}
	}
	c.documents[key] = one
	c.count(memoryOf(one))
}

func (c *cache) remove(key string) {
	if known, ok := c.documents[key]; ok {
		c.count(-memoryOf(known))
		delete(c.documents, key)
	}
}

func (c *cache) count(memory int64) {
	c.used.Add(memory)
	c.room.used.Add(memory)
}

// shrink removes arbitrary documents until the cache has only its share, or all caches together have enough room.
func (c *cache) shrink(share, enough int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range c.documents { // The order of a map is arbitrary.
		if c.used.Load() <= share || c.room.used.Load() <= enough {
			return
		}
		c.remove(key)
	}
}

func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isHiding = false
	c.commits++
	for key := range c.documents {
		c.remove(key)
	}
}
