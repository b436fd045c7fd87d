// Package sharedtest turns a store for tests into a store that processes share and that sends notices.
package sharedtest

import (
	"slices"
	"sync"

	"github.com/botctx/go-sdk/store"
)

// Store is a store.Store and a store.Notifier. New returns one.
type Store struct {
	store.Store

	// hearing is held while listeners are called.
	hearing   sync.Mutex
	listeners map[string][]*func(text string)
}

var _ store.Notifier = (*Store)(nil)

// New returns a store over inner. All processes that share inner must use the same Store.
func New(inner store.Store) *Store {
	return &Store{Store: inner, listeners: map[string][]*func(string){}}
}

// Notify implements store.Notifier.
func (s *Store) Notify(topic, text string) {
	go func() {
		s.hearing.Lock()
		defer s.hearing.Unlock()
		for _, heard := range s.listeners[topic] {
			(*heard)(text)
		}
	}()
}

// Listen implements store.Notifier.
func (s *Store) Listen(topic string, heard func(text string)) (stop func()) {
	s.hearing.Lock()
	defer s.hearing.Unlock()
	s.listeners[topic] = append(s.listeners[topic], &heard)
	return func() {
		s.hearing.Lock()
		defer s.hearing.Unlock()
		s.listeners[topic] = slices.DeleteFunc(s.listeners[topic], func(known *func(string)) bool { return known == &heard })
	}
}
