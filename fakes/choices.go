package fakes

import (
	"slices"
	"sync"

	"github.com/botctx/go-sdk/botctx"
)

// choices are what was chosen to answer events.
type choices struct {
	mu   sync.Mutex
	made []botctx.Choice
}

func (c *choices) add(one botctx.Choice) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made = append(c.made, one)
}

func (c *choices) all() []botctx.Choice {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.made)
}

func (c *choices) set(made []botctx.Choice) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made = made
}

// Choices returns what was chosen to answer each event, and why, in order. Where a mute node answers,
// another choice for the same event follows.
func (p *Platform) Choices() []botctx.Choice { return p.choices.all() }
