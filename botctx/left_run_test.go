package botctx_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// dueAction adds an agenda of Ada that is due, and whose node does one thing.
func dueAction(t *testing.T, runtime *botctx.Runtime, bot *botctx.Context, action botctx.Action) {
	t.Helper()
	require.NoError(t, runtime.Handle(&botctx.Node{ID: "due", Pre: []botctx.Action{action}}))
	_, err := bot.NewAgenda(t.Context(), agenda.NewAgendaParams{
		MemberID: "ada", NodeCompositeID: "due", NextRunAt: document.TimestampOf(bot.Now()),
	})
	require.NoError(t, err)
}

func TestRun_LeftAction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sent sentTexts
		runtime, bot := newShop(t, memstore.New(), &sent)
		begun, release, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
		var late []error
		dueAction(t, runtime, bot, func(ctx context.Context, bot *botctx.Context) error {
			defer close(ended)
			close(begun)
			<-release
			own := context.WithoutCancel(ctx)
			late = append(late, bot.Reply(own, send.Text("late")))
			_, err := bot.Fetch(own, outbound.Request{URL: "https://example.com"})
			late = append(late, err)
			bot.Member.Meta.Set("late", true)
			return nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		returned := make(chan error)
		go func() { returned <- runtime.Run(ctx) }()
		<-begun
		cancel()
		require.ErrorIs(t, <-returned, boterr.Canceled)
		close(release)
		<-ended
		synctest.Wait()
		for _, err := range late {
			require.ErrorIs(t, err, boterr.Canceled)
			require.ErrorContains(t, err, "the scheduler ends")
		}
		require.Empty(t, sent.all())
		again, err := runtime.Context(t.Context(), bot.Scope())
		require.NoError(t, err)
		require.False(t, again.Member.Meta.Has("late"))
	})
}

func TestRun_ErrorIsNotShown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var lines strings.Builder
		runtime, bot := shopWith(t, botctx.Config{
			Store:      memstore.New(),
			Connectors: map[channel.Type]send.Connector{channel.Webchat: &sentTexts{}},
			Logger:     slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug})),
		})
		fails := func(context.Context, *botctx.Context) error {
			return errors.New("get https://u:S3CRET99@example.com?token=S3CRET99")
		}
		dueAction(t, runtime, bot, fails)
		result, err := runtime.Scheduler().RunNext(t.Context())
		require.NoError(t, err)
		runtime.HandleFunc(fails)
		received := runtime.Receive(t.Context(), botctx.Inbound{App: "shop", Channel: "web", Event: send.MessageEvent{From: "e1", Type: send.TypeText}})
		for _, failure := range []error{result.Err, received} {
			require.ErrorContains(t, failure, "get https://[redacted]@example.com")
			require.NotContains(t, failure.Error(), "S3CRET99")
		}
		require.Contains(t, lines.String(), "agenda: failed")
		require.NotContains(t, lines.String(), "S3CRET99")
	})
}
