package webhook_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/backends/webhook"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

func TestRepeat_AgendaKeepsMessageID(t *testing.T) {
	t.Parallel()
	peer := newReceiver(t, "", http.StatusOK)
	store := memstore.New()
	rt, err := botctx.New(botctx.Config{
		Store: store,
		Connectors: map[channel.Type]send.Connector{
			channel.Webchat: newConnector(t, webhook.Config{LoadChannel: webhook.Stored(store), HTTP: loopback(t)}),
		},
		Scheduler: agenda.SchedulerConfig{Backoff: func(int) time.Duration { return 0 }},
	})
	require.NoError(t, err)
	scope := record.Scope{App: "a1", Channel: "c1", Member: "ada"}
	channels := channels.New(rt.Env(), scope)
	_, err = channels.Save(t.Context(), webchat(peer.URL))
	require.NoError(t, err)
	_, err = members.New(rt.Env(), scope, channels).Insert(t.Context(), member.Member{ID: "ada", ExternalID: "ext-ada"})
	require.NoError(t, err)
	attempts := 0
	require.NoError(t, rt.Handle(&botctx.Node{ID: "remind", Pre: []botctx.Action{func(ctx context.Context, bot *botctx.Context) error {
		if err := bot.Reply(ctx, send.Text("first")); err != nil {
			return err
		}
		attempts++
		if attempts == 1 {
			return errors.New("it fails behind the first message")
		}
		return bot.Reply(ctx, send.Text("second"))
	}}}))
	_, err = rt.Operations(scope).NewAgenda(t.Context(), agenda.NewAgendaParams{
		MemberID: "ada", NodeCompositeID: "remind", NextRunAt: document.TimestampOf(rt.Env().Now()),
	})
	require.NoError(t, err)
	for range 2 {
		_, err = rt.Scheduler().RunNext(t.Context())
		require.NoError(t, err)
	}

	got := peer.got()
	require.Len(t, got, 3)
	require.NotEmpty(t, got[0].header.Get("Webhook-Id"))
	require.Equal(t, got[0].header.Get("Webhook-Id"), got[1].header.Get("Webhook-Id"))
	require.NotEqual(t, got[1].header.Get("Webhook-Id"), got[2].header.Get("Webhook-Id"))
}

func TestRepeat_EventKeepsMessageID(t *testing.T) {
	t.Parallel()
	peer := newReceiver(t, "", http.StatusOK)
	rt, server := host(t, peer.URL, (*botctx.Runtime).Receive)
	attempts := 0
	rt.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		if err := bot.Reply(ctx, send.Text("hello")); err != nil {
			return err
		}
		attempts++
		if attempts == 1 {
			return errors.New("it fails behind the message")
		}
		return nil
	})
	require.Equal(t, http.StatusInternalServerError, post(t.Context(), t, server, "in_1", "hi"))
	require.Equal(t, http.StatusOK, post(t.Context(), t, server, "in_1", "hi"))
	got := peer.got()
	require.Len(t, got, 2)
	require.Equal(t, got[0].header.Get("Webhook-Id"), got[1].header.Get("Webhook-Id"))
}
