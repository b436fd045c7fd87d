// Package sharedtest has what tests of stores share: a store that looks like one that several processes share and that
// sends notices, a store that counts the documents it examines, and compiled filters, sorts and changes.
package sharedtest

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
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

// Filter compiles a filter from paths and conditions.
func Filter(tb testing.TB, pairs ...any) *query.Filter {
	tb.Helper()
	return FilterOf(tb, document.O(pairs...))
}

// FilterOf compiles a filter.
func FilterOf(tb testing.TB, source document.Object) *query.Filter {
	tb.Helper()
	filter, err := query.CompileFilter(source)
	require.NoError(tb, err)
	return filter
}

// Sort compiles a sort from paths and directions.
func Sort(tb testing.TB, pairs ...any) *query.Sort {
	tb.Helper()
	sort, err := query.CompileSort(document.O(pairs...))
	require.NoError(tb, err)
	return sort
}

// Change compiles an update from operators and operands.
func Change(tb testing.TB, pairs ...any) query.Change {
	tb.Helper()
	update, err := query.CompileUpdate(document.O(pairs...))
	require.NoError(tb, err)
	return query.Change{Update: update}
}
