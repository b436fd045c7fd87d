package utilities_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/utility"
)

func TestGolf_Client(t *testing.T) {
	t.Parallel()
	utilities := fakes.NewUtilities(fakes.For(t))
	result, err := utilities.Golf(t.Context(), utility.GolfParams{GolfName: "shop"})
	require.NoError(t, err)
	payment, err := result.Client.Charge(t.Context(), utility.Charge{Amount: 100, Currency: "eur", PaymentMethod: "card"})
	require.NoError(t, err)
	require.Equal(t, []utility.Payment{*payment}, utilities.Account.Payments())
}

func TestGolf_HostErrors(t *testing.T) {
	t.Parallel()
	gives := func(client utility.PaymentClient, err error) func(string, string) (utility.PaymentClient, error) {
		return func(string, string) (utility.PaymentClient, error) { return client, err }
	}
	for name, c := range map[string]struct {
		payments func(app, name string) (utility.PaymentClient, error)
		code     boterr.Code
		field    string
	}{
		"no accounts":     {nil, boterr.NotFound, "golfName"},
		"no client":       {gives(nil, nil), boterr.NotFound, "golfName"},
		"a nil client":    {gives((*fakes.Account)(nil), nil), boterr.NotFound, "golfName"},
		"NotFound":        {gives(nil, boterr.NotFound), boterr.NotFound, "golfName"},
		"its own code":    {gives(nil, boterr.New(boterr.FailedPrecondition, "", "is locked")), boterr.FailedPrecondition, ""},
		"without a code":  {gives(nil, errors.New("down")), boterr.Unavailable, ""},
		"a client, too":   {gives(&fakes.Account{}, errors.New("down")), boterr.Unavailable, ""},
		"a panic of ours": {func(string, string) (utility.PaymentClient, error) { panic("boom") }, boterr.Internal, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bot := newRuntime(t, botctx.Config{Payments: c.payments}).Operations(botctx.Scope{App: "shop"})
			result, err := bot.Golf(t.Context(), utility.GolfParams{GolfName: "shop"})
			requireField(t, err, "golf", c.code, c.field)
			require.Equal(t, utility.GolfResult{}, result)
		})
	}
}
