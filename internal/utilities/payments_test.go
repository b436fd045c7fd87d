package utilities_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/record"
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

func TestGolf_MissingName(t *testing.T) {
	t.Parallel()
	_, err := fakes.NewUtilities(fakes.For(t)).Golf(t.Context(), utility.GolfParams{})
	requireField(t, err, "golf", boterr.InvalidArgument, "golfName")
}

func TestGolf_App(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.AddAccountOf("app-2", "shop")
	_, err := p.Operations(record.Scope{}).Golf(t.Context(), utility.GolfParams{GolfName: "shop"})
	requireField(t, err, "golf", boterr.NotFound, "golfName")
	result, err := p.Operations(record.Scope{App: "app-2"}).Golf(t.Context(), utility.GolfParams{GolfName: "shop"})
	require.NoError(t, err)
	require.NotNil(t, result.Client)
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
			bot := newRuntime(t, botctx.Config{Payments: c.payments}).Operations(record.Scope{App: "shop"})
			result, err := bot.Golf(t.Context(), utility.GolfParams{GolfName: "shop"})
			requireField(t, err, "golf", c.code, c.field)
			require.Equal(t, utility.GolfResult{}, result)
		})
	}
}

func TestGolf_NullInJSON(t *testing.T) {
	t.Parallel()
	utilities := fakes.NewUtilities(fakes.For(t))
	text, err := utilities.Member.Context().Call(t.Context(), "golf", json.RawMessage(`{"golfName": "shop"}`))
	require.NoError(t, err)
	require.JSONEq(t, `null`, string(text))
	result, err := botctx.FromCaller(utilities.Member.Context()).Golf(t.Context(), utility.GolfParams{GolfName: "shop"})
	require.NoError(t, err)
	require.Equal(t, utility.GolfResult{}, result)
}

func TestResults_Null(t *testing.T) {
	t.Parallel()
	for _, result := range []any{utility.SendEmailResult{}, utility.GolfResult{}, utility.UploadFileToObjectStoreResult{}} {
		text, err := document.EncodeJSON(result)
		require.NoError(t, err)
		require.Equal(t, "null", string(text))
		text, err = json.Marshal(result)
		require.NoError(t, err)
		require.Equal(t, "null", string(text))
	}
	var mail utility.SendEmailResult
	var golf utility.GolfResult
	var upload utility.UploadFileToObjectStoreResult
	for _, into := range []any{&mail, &golf, &upload} {
		require.NoError(t, document.DecodeJSON([]byte("null"), into))
		require.NoError(t, json.Unmarshal([]byte("null"), into))
	}
}
