package fakes

import (
	"slices"
	"sync"
)

// history is what happened on a platform, in order. It is safe for concurrent use.
type history[T any] struct {
	mu   sync.Mutex
	made []T
}

// fewMade is the room that a history begins with: what happens in a test of a few turns.
const fewMade = 16

func (h *history[T]) add(one T) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.made == nil {
		h.made = make([]T, 0, fewMade)
	}
	h.made = append(h.made, one)
}

// all returns a copy.
func (h *history[T]) all() []T {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.made)
}

// set puts another history, which nobody else has, in the place of this one.
func (h *history[T]) set(made []T) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.made = made
}
