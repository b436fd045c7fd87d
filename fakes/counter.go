package fakes

import (
	"fmt"
	"strconv"
	"sync"
)

// counter makes short ids: a number for each prefix, counted from 1.
type counter struct {
	mu   sync.Mutex
	last map[string]int
}

// next returns the next id of a prefix: "member-1", "member-2".
func (c *counter) next(prefix string) string { return prefix + "-" + strconv.Itoa(c.count(prefix)) }

// formed returns the next id of a form for a number, such as "C%06d".
func (c *counter) formed(form string) string { return fmt.Sprintf(form, c.count(form)) }

// count returns the next number of what has a name.
func (c *counter) count(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	put(&c.last, name, c.last[name]+1)
	return c.last[name]
}

// derived returns the id of a prefix for a text: the next one where there is none yet, and the
// same again for the same text.
func (c *counter) derived(prefix, of string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := prefix + " of " + of
	if c.last[name] == 0 {
		put(&c.last, prefix, c.last[prefix]+1)
		c.last[name] = c.last[prefix]
	}
	return prefix + "-" + strconv.Itoa(c.last[name])
}

// counts returns a copy of the counts.
func (c *counter) counts() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return copyOfMap(c.last)
}

// set takes over counts.
func (c *counter) set(counts map[string]int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = counts
}
