package inbox_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// readingStore counts the events that are read.
type readingStore struct {
	store.Store

	read atomic.Int64
}

// Collection implements store.Store.
func (s *readingStore) Collection(name string) store.Collection {
	if name != "inbox" {
		return s.Store.Collection(name)
	}
	return readCollection{s.Store.Collection(name), &s.read}
}

type readCollection struct {
	store.Collection

	read *atomic.Int64
}

// Find implements store.Collection.
func (c readCollection) Find(ctx context.Context, filter *query.Filter, options store.FindOptions) ([]document.Object, error) {
	found, err := c.Collection.Find(ctx, filter, options)
	c.read.Add(int64(len(found)))
	return found, err
}

// TestRun_ReadsWhatWaitsAFewTimes has the events of many lanes fail and be tried again: each is read a few
// times, however many others wait meanwhile.
func TestRun_ReadsWhatWaitsAFewTimes(t *testing.T) {
	t.Parallel()
	lanes := int64(rounds.Of(t, 1000, 5000))
	database := &readingStore{Store: memstore.New()}
	var left atomic.Int64
	left.Store(lanes)
	done := make(chan struct{})
	config := configOf(t, database, func(_ context.Context, d *inbox.Delivery) error {
		if d.Attempt == 1 {
			return boterr.New(boterr.Unavailable, "", "no answer")
		}
		if left.Add(-1) == 0 {
			close(done)
		}
		return nil
	})
	config.Poll, config.Backoff = time.Hour, func(int) time.Duration { return 50 * time.Millisecond }
	p, err := inbox.New(config)
	require.NoError(t, err)
	for i := range lanes {
		_, err := p.Accept(t.Context(), inbox.Event{App: "app", Channel: "web", From: strconv.FormatInt(i, 10)})
		require.NoError(t, err)
	}
	runUntil(t, p, done)
	require.LessOrEqual(t, database.read.Load(), 8*lanes)
}
