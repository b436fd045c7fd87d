package botctx_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

func TestNew_RefusesWhatCanOnlyFail(t *testing.T) {
	t.Parallel()
	for field, config := range map[string]botctx.Config{
		"Store":               {Store: (*memstore.Store)(nil)},
		"HTTP":                {HTTP: (*http.Client)(nil)},
		"Mailer":              {Mailer: (*hung)(nil)},
		"ObjectStore":         {ObjectStore: storeFunc(nil)},
		"Connectors[alpha]":   {Connectors: send.Connectors{channel.Alpha: (*sentTexts)(nil)}},
		"Connectors[bravo]":   {Connectors: send.Connectors{channel.Bravo: nil}},
		"Connectors[delta]":   {Connectors: send.Connectors{channel.Delta: send.Limited((*sentTexts)(nil), send.Rate{})}},
		"Connectors[echo]":    {Connectors: send.Connectors{channel.Echo: send.Limited(nil, send.Rate{})}},
		"Connectors[webchat]": {Connectors: send.Connectors{channel.Webchat: sends(nil)}},
		"Interceptors[1]":     {Interceptors: []botctx.Interceptor{botctx.Logged(nil), nil}},
		"Scheduler.Workers":   {Scheduler: agenda.SchedulerConfig{Workers: 10_001}},
		"Scheduler.Batch":     {Scheduler: agenda.SchedulerConfig{Batch: -1}},
		"Inbox.Workers":       {Inbox: botctx.InboxOptions{Workers: 1 << 30}},
		"ParallelSends":       {ParallelSends: -1},
		"Inbox.Retention":     {Inbox: botctx.InboxOptions{Retention: 1}, Retention: botctx.Retention{HandledEvents: 1}},
		"Scheduler.Retention": {Scheduler: agenda.SchedulerConfig{Retention: 1}, Retention: botctx.Retention{Agendas: 1}},
	} {
		if config.Store == nil {
			config.Store = memstore.New()
		}
		_, err := botctx.New(config)
		require.ErrorIs(t, err, boterr.InvalidArgument, field)
		e, _ := boterr.AsError(err)
		require.Equal(t, field, e.Field)
	}
}

// fullStore refuses writes while it is full, and counts them.
type fullStore struct {
	store.Store

	isFull atomic.Bool
	writes atomic.Int64
}

func (s *fullStore) Collection(name string) store.Collection {
	return fullCollection{s.Store.Collection(name), s}
}

type fullCollection struct {
	store.Collection

	of *fullStore
}

func (c fullCollection) Update(
	ctx context.Context, f *query.Filter, change query.Change, options store.UpdateOptions,
) (store.UpdateResult, error) {
	c.of.writes.Add(1)
	if c.of.isFull.Load() {
		return store.UpdateResult{}, errors.New("no space left on device")
	}
	return c.Collection.Update(ctx, f, change, options)
}

func TestReady_ProvesThatTheStoreTakesWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		full := &fullStore{Store: memstore.New()}
		runtime, err := botctx.New(botctx.Config{Store: full})
		require.NoError(t, err)
		for range 100 {
			require.NoError(t, runtime.Ready(t.Context()))
		}
		require.EqualValues(t, 1, full.writes.Load(), "an answer stands for a second")
		full.isFull.Store(true)
		pass(time.Second)
		require.ErrorContains(t, runtime.Ready(t.Context()), "no space left")
		full.isFull.Store(false)
		pass(time.Second)
		require.NoError(t, runtime.Ready(t.Context()))
	})
}

func TestEraseMember_RemovesAllAndCanBeRepeated(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]store.Store{"alone": memstore.New(), "shared": sharedStore{memstore.New()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runtime, ada := newShop(t, database, &sentTexts{})
			runtime.HandleFunc(echo)
			require.NoError(t, runtime.Accept(t.Context(), said("hi")))
			_, err := runtime.Inbox().RunNext(t.Context())
			require.NoError(t, err)
			require.NoError(t, runtime.Accept(t.Context(), said("waits")))
			scope := record.Scope{App: "shop", Channel: "web"}
			e1, err := members.KnownID(t.Context(), runtime.Env(), scope, "e1")
			require.NoError(t, err)
			_, err = ada.NewAgenda(t.Context(), agenda.NewAgendaParams{
				MemberID: e1, NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(ada.Now().Add(time.Hour)),
			})
			require.NoError(t, err)
			erased, err := runtime.EraseMember(t.Context(), "shop", e1)
			require.NoError(t, err)
			require.Equal(t, botctx.Erased{Member: true, Events: 2, Agendas: 1}, erased)
			again, err := runtime.EraseMember(t.Context(), "shop", e1)
			require.NoError(t, err)
			require.Zero(t, again)
			other, err := runtime.EraseMember(t.Context(), "another", "ada")
			require.NoError(t, err)
			require.Zero(t, other, "a member of another app does not exist")
			still, err := runtime.EraseMember(t.Context(), "shop", "ada")
			require.NoError(t, err)
			require.True(t, still.Member)
		})
	}
}
