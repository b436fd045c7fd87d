package modules

import "sync"

// cache stores values by key. It drops all values once they exceed limit bytes, because scripts choose the keys. It
// is safe for concurrent use.
type cache[V any] struct {
	limit int

	mu     sync.Mutex
	values map[string]V
	size   int
}

// load returns the value of a key, and whether it is cached.
func (c *cache[V]) load(key string) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	value, ok := c.values[key]
	return value, ok
}

// overhead is the approximate size of an entry in addition to its key and value.
const overhead = 100

// store caches the value of a key; size is its size in bytes.
func (c *cache[V]) store(key string, value V, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, isKnown := c.values[key]; isKnown {
		return
	}
	size += len(key) + overhead
	if c.values == nil || c.size+size > c.limit {
		c.values, c.size = map[string]V{}, 0
	}
	c.values[key] = value
	c.size += size
}
