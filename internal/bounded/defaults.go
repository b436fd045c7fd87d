package bounded

import (
	"cmp"
	"sync"

	"github.com/botctx/go-sdk/boterr"
)

// Default sets a field's value to the standard if it is 0. It returns InvalidArgument if the value is negative.
func Default[Number ~int | ~int64](field string, value *Number, standard Number) error {
	if *value < 0 {
		return boterr.Invalid(field, "must not be negative; leave it out for the default")
	}
	*value = cmp.Or(*value, standard)
	return nil
}

// Cache keeps at most Max values, which can be made again. Its methods may be called concurrently.
type Cache[Key comparable, Value any] struct {
	// Max is the largest number of values.
	Max int

	mu     sync.Mutex
	values map[Key]Value
}

// Get returns the value for a key, or the zero value.
func (c *Cache[Key, Value]) Get(key Key) Value {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.values[key]
}

// GetOr returns the value for a key. If there is none, it keeps a new one.
func (c *Cache[Key, Value]) GetOr(key Key, create func() Value) Value {
	c.mu.Lock()
	defer c.mu.Unlock()
	value, isKept := c.values[key]
	if !isKept {
		value = create()
		c.keep(key, value)
	}
	return value
}

// Keep keeps a value. If the cache is full, it removes arbitrary others.
func (c *Cache[Key, Value]) Keep(key Key, value Value) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(key, value)
}

func (c *Cache[Key, Value]) keep(key Key, value Value) {
	if c.values == nil {
		c.values = map[Key]Value{}
	}
	if _, isKept := c.values[key]; !isKept {
		for other := range c.values {
			if len(c.values) < c.Max {
				break
			}
			delete(c.values, other)
		}
	}
	c.values[key] = value
}

// Remove removes all values for which isOld returns true.
func (c *Cache[Key, Value]) Remove(isOld func(Key, Value) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, value := range c.values {
		if isOld(key, value) {
			delete(c.values, key)
		}
	}
}
