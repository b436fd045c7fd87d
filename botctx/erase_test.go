package botctx_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// dyingStore takes so many removals, and then refuses each one, as if the process had died.
type dyingStore struct {
	store.Store

	left int
}

func (s *dyingStore) Collection(name string) store.Collection {
	return dyingCollection{s.Store.Collection(name), s}
}

type dyingCollection struct {
	store.Collection

	of *dyingStore
}

func (c dyingCollection) Delete(ctx context.Context, f *query.Filter, options store.DeleteOptions) (int64, error) {
	if c.of.left == 0 {
		return 0, errors.New("the process died")
	}
	c.of.left--
	return c.Collection.Delete(ctx, f, options)
}

// An erasure that ends after each number of removals is completed by the same call.
func TestEraseMember_CrashAmid(t *testing.T) {
	t.Parallel()
	completed := false
	for removals := 0; !completed; removals++ {
		require.Less(t, removals, 100)
		dying := &dyingStore{Store: memstore.New(), left: -1}
		runtime, ada := newShop(t, dying, &sentTexts{})
		runtime.HandleFunc(echo)
		require.NoError(t, runtime.Accept(t.Context(), said("hi")))
		_, err := runtime.Inbox().RunNext(t.Context())
		require.NoError(t, err)
		id, err := members.KnownID(t.Context(), runtime.Env(), record.Scope{App: "shop", Channel: "web"}, "e1")
		require.NoError(t, err)
		_, err = ada.NewAgenda(t.Context(), agenda.NewAgendaParams{
			MemberID: id, NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(ada.Now().Add(time.Hour)),
		})
		require.NoError(t, err)
		dying.left = removals
		first, err := runtime.EraseMember(t.Context(), "shop", id)
		completed = err == nil
		if !completed {
			require.ErrorContains(t, err, "the process died")
			_, err = members.KnownID(t.Context(), runtime.Env(), record.Scope{App: "shop", Channel: "web"}, "e1")
			require.NoError(t, err, "the record goes last: the erasure can be repeated")
		}
		dying.left = -1
		second, err := runtime.EraseMember(t.Context(), "shop", id)
		require.NoError(t, err)
		require.Equal(t, botctx.Erased{Member: true, Events: 1, Agendas: 1}, botctx.Erased{
			Member: first.Member || second.Member, Events: first.Events + second.Events, Agendas: first.Agendas + second.Agendas,
		}, removals)
		third, err := runtime.EraseMember(t.Context(), "shop", id)
		require.NoError(t, err)
		require.Zero(t, third)
	}
}

// An event that waits behind an erasure is of a new member.
func TestEraseMember_MessageThatWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sent := &sentTexts{}
		runtime, _ := newShop(t, memstore.New(), sent)
		ids, proceed := make(chan string, 2), make(chan struct{})
		runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
			ids <- bot.Member.ID
			<-proceed
			return echo(ctx, bot)
		})
		ended := make(chan error, 3)
		go func() { ended <- runtime.Receive(t.Context(), said("hi")) }()
		first := <-ids
		go func() {
			_, err := runtime.EraseMember(t.Context(), "shop", first)
			ended <- err
		}()
		synctest.Wait()
		go func() { ended <- runtime.Receive(t.Context(), said("there")) }()
		synctest.Wait()
		close(proceed)
		for range cap(ended) {
			require.NoError(t, <-ended)
		}
		require.NotEqual(t, first, <-ids)
		require.Equal(t, []string{"hi", "there"}, sent.all())
	})
}

// A run that has begun is not repeated, even if it meets a member who is not there.
func TestReceive_RunsOnceWhoeverIsMissing(t *testing.T) {
	t.Parallel()
	sent := &sentTexts{}
	runtime, _ := newShop(t, memstore.New(), sent)
	runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		if err := echo(ctx, bot); err != nil {
			return err
		}
		_, err := bot.RedirectMemberToNode(ctx, botctx.RedirectMemberToNodeParams{
			MemberID: "gone", ChannelID: "web", NodeCompositeID: "reminder",
		})
		return err
	})
	require.ErrorIs(t, runtime.Receive(t.Context(), said("hi")), boterr.NotFound)
	require.Equal(t, []string{"hi"}, sent.all())
}

func TestEraseEntries_OfAnApp(t *testing.T) {
	t.Parallel()
	runtime, ada := newShop(t, memstore.New(), &sentTexts{})
	_, err := ada.UpsertDataToDataSource(t.Context(), datasource.UpsertDataToDataSourceParams{
		DataSourceID: "orders", Data: document.One(document.O("member", "ada")),
	})
	require.NoError(t, err)
	params := datasource.EraseEntriesParams{DataSourceID: "orders", Filter: document.O("member", "ada")}
	for app, want := range map[string]int64{"another": 0, "shop": 1} {
		removed, err := runtime.EraseEntries(t.Context(), app, params)
		require.NoError(t, err)
		require.Equal(t, want, removed)
	}
}
