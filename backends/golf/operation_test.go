package golf_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/backends/golf"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/utility"
)

func TestGolf_BotLogicCharges(t *testing.T) {
	t.Parallel()
	provider := startProvider()
	t.Cleanup(provider.Close)
	shop, err := golf.New(golf.Config{Account: "shop", Key: channel.NewSecret(apiKey), URL: provider.URL})
	require.NoError(t, err)
	rt, err := botctx.New(botctx.Config{Store: memstore.New(), Payments: golf.Accounts(shop)})
	require.NoError(t, err)
	bot := rt.Operations(record.Scope{App: "app-1"})

	account, err := bot.Golf(t.Context(), utility.GolfParams{GolfName: "shop"})
	require.NoError(t, err)
	paid, err := account.Client.Charge(t.Context(), utility.Charge{Amount: 1250, Currency: "eur", PaymentMethod: "pm_visa"})
	require.NoError(t, err)
	found, err := shop.Payment(t.Context(), paid.ID)
	require.NoError(t, err)
	require.Equal(t, utility.PaymentSucceeded, found.Status)
	require.EqualValues(t, 1250, found.Amount)

	_, err = bot.Golf(t.Context(), utility.GolfParams{GolfName: "elsewhere"})
	require.ErrorIs(t, err, boterr.NotFound)
}

func TestGolf_RunTriedAgain(t *testing.T) {
	t.Parallel()
	provider := newProvider(t)
	rt, err := botctx.New(botctx.Config{
		Store: memstore.New(), Payments: golf.Accounts(provider.client(t, golf.Config{})),
		Scheduler: agenda.SchedulerConfig{Backoff: func(int) time.Duration { return 0 }},
	})
	require.NoError(t, err)
	scope := record.Scope{App: "app-1", Channel: "web", Member: "ada"}
	channels := channels.New(rt.Env(), scope)
	_, err = channels.Save(t.Context(), &channel.Channel{ID: "web", Type: channel.Webchat, On: true})
	require.NoError(t, err)
	_, err = members.New(rt.Env(), scope, channels).Insert(t.Context(), member.Member{ID: "ada"})
	require.NoError(t, err)
	var paid []string
	require.NoError(t, rt.Handle(&botctx.Node{ID: "pay", Pre: []botctx.Action{func(ctx context.Context, bot *botctx.Context) error {
		shop, err := bot.Golf(ctx, utility.GolfParams{GolfName: "shop"})
		if err != nil {
			return err
		}
		payment, err := shop.Client.Charge(ctx, utility.Charge{
			Amount: 1250, Currency: "eur", PaymentMethod: "pm_visa", IdempotencyKey: bot.SendID(ctx, "order 7"),
		})
		if err != nil {
			return err
		}
		paid = append(paid, payment.ID)
		return errors.New("it fails behind the charge")
	}}}))
	_, err = rt.Operations(scope).NewAgenda(t.Context(), agenda.NewAgendaParams{
		MemberID: "ada", NodeCompositeID: "pay", NextRunAt: document.TimestampOf(rt.Env().Now()),
	})
	require.NoError(t, err)
	for range 2 {
		_, err = rt.Scheduler().RunNext(t.Context())
		require.NoError(t, err)
	}
	require.Equal(t, []string{"pi_1", "pi_1"}, paid)
	require.Len(t, provider.intents, 1)
}
