package golf_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/golf"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document/memstore"
	"github.com/botctx/go-sdk/record"
)

func TestBotLogicChargesByTheOperation(t *testing.T) {
	t.Parallel()
	provider := startProvider()
	t.Cleanup(provider.Close)
	shop, err := golf.New(golf.Config{Account: "shop", Key: channel.NewSecret(apiKey), URL: provider.URL})
	require.NoError(t, err)
	rt, err := botctx.New(botctx.Config{Store: memstore.New(), Payments: golf.Accounts(shop)})
	require.NoError(t, err)
	bot := rt.Operations(record.Scope{App: "app-1"})

	account, err := bot.Golf(t.Context(), botctx.GolfParams{GolfName: "shop"})
	require.NoError(t, err)
	paid, err := account.Client.Charge(t.Context(), botctx.Charge{Amount: 1250, Currency: "eur", PaymentMethod: "pm_visa"})
	require.NoError(t, err)
	found, err := shop.Payment(t.Context(), paid.ID)
	require.NoError(t, err)
	require.Equal(t, botctx.PaymentSucceeded, found.Status)
	require.EqualValues(t, 1250, found.Amount)

	_, err = bot.Golf(t.Context(), botctx.GolfParams{GolfName: "elsewhere"})
	require.ErrorIs(t, err, boterr.NotFound)
}
