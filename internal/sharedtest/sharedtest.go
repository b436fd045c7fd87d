// Package sharedtest makes a test's store look like one that several processes share and that sends notices.
package sharedtest

import (
	"slices"
	"sync"

	"github.com/botctx/go-sdk/store"
)

// Store adds a store.Notifier to a store. New returns one.
type Store struct {
	store.Store

	// hearing guards listeners. It is locked while they are called, so that none is called after its stop.
	hearing   sync.Mutex
	listeners map[string][]*func(text string)
}

var _ store.Notifier = (*Store)(nil)

// New returns a store over inner. Processes that share inner must use the same Store.
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
