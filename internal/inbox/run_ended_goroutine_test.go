package inbox_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// exitingStore is a store that ends the goroutines of the first callers that ask for its clock, as a
// test's store does by t.FailNow.
type exitingStore struct {
	store.Store

	exits atomic.Int64
}

func (s *exitingStore) Now(ctx context.Context) (time.Time, error) {
	if s.exits.Add(-1) >= 0 {
		runtime.Goexit()
	}
	return s.Store.Now(ctx)
}

// exitingWatched is one that a process has to itself.
type exitingWatched struct {
	*exitingStore
	store.Watcher
}

func TestRun_GoesOnWhereTheStoreEndsItsGoroutine(t *testing.T) {
	t.Parallel()
	for shape, over := range map[string]func(*memstore.Store) (store.Store, *exitingStore){
		"shared": func(m *memstore.Store) (store.Store, *exitingStore) {
			s := &exitingStore{Store: m}
			return s, s
		},
		"alone": func(m *memstore.Store) (store.Store, *exitingStore) {
			s := &exitingStore{Store: m}
			return exitingWatched{s, m}, s
		},
	} {
		t.Run(shape, func(t *testing.T) {
			t.Parallel()
			database, exits := over(memstore.New())
			done := make(chan struct{})
			config := configOf(t, database, func(context.Context, *inbox.Delivery) error {
				close(done)
				return nil
			})
			config.Poll, config.Workers = time.Millisecond, 2
			p, err := inbox.New(config)
			require.NoError(t, err)
			_, err = p.Accept(t.Context(), inbox.Event{App: "app", Channel: "web", From: "ada"})
			require.NoError(t, err)
			exits.exits.Store(4) // One of them is what removes old events, the others look for work.
			runUntil(t, p, done)
		})
	}
}
