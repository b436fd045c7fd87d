package golf_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v84"

	"github.com/botctx/go-sdk/backends/golf"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/utility"
)

// order returns a charge that succeeds.
func order() utility.Charge {
	return utility.Charge{
		Amount: 1250, Currency: "eur", PaymentMethod: "pm_visa", Description: "order 7",
		Metadata: map[string]string{"order": "7"}, IdempotencyKey: "order-7",
	}
}

func paid() *utility.Payment {
	return &utility.Payment{
		ID: "pi_1", Amount: 1250, Currency: "eur", Status: utility.PaymentSucceeded, Description: "order 7",
		Metadata: map[string]string{"order": "7"}, CreatedAt: 1700000000000,
	}
}

// requireCode checks the code and the field of an error. The error must not contain a secret.
func requireCode(t *testing.T, err error, code boterr.Code, field string) {
	t.Helper()
	require.ErrorIs(t, err, code)
	coded, ok := boterr.AsError(err)
	require.True(t, ok)
	require.Equal(t, field, coded.Field)
	require.NotContains(t, err.Error(), apiKey)
	require.NotContains(t, err.Error(), "hidden")
}

func TestCharge(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	client := p.client(t, golf.Config{})
	payment, err := client.Charge(t.Context(), order())
	require.NoError(t, err)
	require.Equal(t, paid(), payment)
	require.Equal(t, "order-7", p.lastHeader.Get("Idempotency-Key"))
	require.Equal(t, []string{"true"}, p.lastForm["off_session"])

	payment, err = client.Payment(t.Context(), "pi_1")
	require.NoError(t, err)
	require.Equal(t, paid(), payment)
}

func TestCharge_SavedMethod(t *testing.T) {
	t.Parallel()
	client := newProvider(t).client(t, golf.Config{})
	charge := order()
	charge.PaymentMethod = "pm_saved"
	_, err := client.Charge(t.Context(), charge)
	requireCode(t, err, boterr.InvalidArgument, "paymentMethod")
	charge.PaymentMethod, charge.IdempotencyKey = "cus_1/pm_saved", ""
	_, err = client.Charge(t.Context(), charge)
	require.NoError(t, err)
}

func TestRefund_PartsAndWhole(t *testing.T) {
	t.Parallel()
	client := newProvider(t).client(t, golf.Config{})
	_, err := client.Charge(t.Context(), order())
	require.NoError(t, err)

	payment, err := client.Refund(t.Context(), utility.Refund{PaymentID: "pi_1", Amount: 250, IdempotencyKey: "r1"})
	require.NoError(t, err)
	want := paid()
	want.Refunded = 250
	require.Equal(t, want, payment)
	payment, err = client.Refund(t.Context(), utility.Refund{PaymentID: "pi_1", Amount: 250, IdempotencyKey: "r1"})
	require.NoError(t, err)
	require.Equal(t, want, payment)

	_, err = client.Refund(t.Context(), utility.Refund{PaymentID: "pi_1", Amount: 1001})
	requireCode(t, err, boterr.FailedPrecondition, "amount")
	payment, err = client.Refund(t.Context(), utility.Refund{PaymentID: "pi_1"})
	require.NoError(t, err)
	require.Equal(t, int64(1250), payment.Refunded)
	_, err = client.Refund(t.Context(), utility.Refund{PaymentID: "pi_1"})
	requireCode(t, err, boterr.FailedPrecondition, "paymentId")

	payment, err = client.Payment(t.Context(), "pi_1")
	require.NoError(t, err)
	require.Equal(t, int64(1250), payment.Refunded)
}

func TestCharge_Declined(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	client := p.client(t, golf.Config{})
	charge := order()
	charge.PaymentMethod = "pm_declined"
	for range 2 { // The second call gets a copy of the first answer.
		_, err := client.Charge(t.Context(), charge)
		requireCode(t, err, boterr.FailedPrecondition, "paymentMethod")
		declined, ok := errors.AsType[*utility.DeclinedError](err)
		require.True(t, ok)
		require.Equal(t, &utility.DeclinedError{Code: "insufficient_funds", PaymentID: "pi_1"}, declined)
	}
	payment, err := client.Payment(t.Context(), "pi_1")
	require.NoError(t, err)
	require.Equal(t, utility.PaymentFailed, payment.Status)
	_, err = client.Refund(t.Context(), utility.Refund{PaymentID: "pi_1"})
	requireCode(t, err, boterr.FailedPrecondition, "paymentId")
}

func TestCharge_MustBeConfirmed(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	charge := order()
	charge.PaymentMethod, charge.IdempotencyKey = "pm_3ds", ""
	_, err := p.client(t, golf.Config{}).Charge(t.Context(), charge)
	declined, ok := errors.AsType[*utility.DeclinedError](err)
	require.True(t, ok)
	require.Equal(t, "authentication_required", declined.Code)

	payment, err := p.client(t, golf.Config{OnSession: true}).Charge(t.Context(), charge)
	require.NoError(t, err)
	require.Equal(t, utility.PaymentStatus("requires_action"), payment.Status)
}

func TestCharge_SlowMethodIsPending(t *testing.T) {
	t.Parallel()
	charge := order()
	charge.PaymentMethod = "pm_sepa"
	payment, err := newProvider(t).client(t, golf.Config{}).Charge(t.Context(), charge)
	require.NoError(t, err)
	require.Equal(t, utility.PaymentPending, payment.Status)
}

func TestClient_BadRequests(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	client := p.client(t, golf.Config{})
	for name, c := range map[string]struct {
		change func(*utility.Charge)
		field  string
		sent   bool
	}{
		"zero":             {func(c *utility.Charge) { c.Amount = 0 }, "amount", false},
		"negative":         {func(c *utility.Charge) { c.Amount = -1 }, "amount", false},
		"too little":       {func(c *utility.Charge) { c.Amount = 1 }, "amount", true},
		"no currency":      {func(c *utility.Charge) { c.Currency = "" }, "currency", false},
		"unknown currency": {func(c *utility.Charge) { c.Currency = "zzz" }, "currency", true},
		"no method":        {func(c *utility.Charge) { c.PaymentMethod = "" }, "paymentMethod", false},
		"unknown method":   {func(c *utility.Charge) { c.PaymentMethod = "pm_unknown" }, "paymentMethod", true},
		"odd key":          {func(c *utility.Charge) { c.IdempotencyKey = "a\r\nb" }, "idempotencyKey", false},
		"spaced key":       {func(c *utility.Charge) { c.IdempotencyKey = "a " }, "idempotencyKey", false},
		"long key":         {func(c *utility.Charge) { c.IdempotencyKey = strings.Repeat("x", 256) }, "idempotencyKey", false},
	} {
		charge := order()
		charge.IdempotencyKey = strings.ReplaceAll(name, " ", "-")
		c.change(&charge)
		before := p.requests
		_, err := client.Charge(t.Context(), charge)
		requireCode(t, err, boterr.InvalidArgument, c.field)
		require.Equal(t, c.sent, p.requests > before, name)
	}
	_, err := client.Refund(t.Context(), utility.Refund{PaymentID: "pi_1", Amount: -1})
	requireCode(t, err, boterr.InvalidArgument, "amount")
	_, err = client.Refund(t.Context(), utility.Refund{PaymentID: "pi_1", IdempotencyKey: "a b"})
	requireCode(t, err, boterr.InvalidArgument, "idempotencyKey")
}

func TestClient_NotFound(t *testing.T) {
	t.Parallel()
	client := newProvider(t).client(t, golf.Config{})
	for _, id := range []string{"", "pi_9", "../charges", "pi_1?x=y"} {
		_, err := client.Payment(t.Context(), id)
		requireCode(t, err, boterr.NotFound, "paymentId")
		_, err = client.Refund(t.Context(), utility.Refund{PaymentID: id})
		requireCode(t, err, boterr.NotFound, "paymentId")
	}
}

func TestCharge_OncePerKey(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	client := p.client(t, golf.Config{})
	for range 3 {
		payment, err := client.Charge(t.Context(), order())
		require.NoError(t, err)
		require.Equal(t, paid(), payment)
	}
	require.Equal(t, 1, p.charged())

	other := order()
	other.Amount++
	_, err := client.Charge(t.Context(), other)
	requireCode(t, err, boterr.Conflict, "idempotencyKey")
	_, err = client.Refund(t.Context(), utility.Refund{PaymentID: "pi_1", IdempotencyKey: "order-7"})
	requireCode(t, err, boterr.Conflict, "idempotencyKey")
}

func TestCharge_WithoutKey(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	client := p.client(t, golf.Config{})
	charge := order()
	charge.IdempotencyKey = ""
	for range 2 {
		_, err := client.Charge(t.Context(), charge)
		require.NoError(t, err)
	}
	require.Equal(t, 2, p.charged())
}

func TestCharge_OncePerKeyAtOnce(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	client := p.client(t, golf.Config{})
	failures := make(chan error, 200)
	var callers sync.WaitGroup
	for worker := range 10 {
		callers.Go(func() {
			for i := range 20 {
				charge := order()
				charge.IdempotencyKey = "order-" + strconv.Itoa((i+worker)%20)
				if _, err := client.Charge(t.Context(), charge); err != nil {
					failures <- err
				}
			}
		})
	}
	callers.Wait()
	require.Empty(t, failures)
	require.Equal(t, 20, p.charged())
}

// Idempotency keys make it safe to repeat a charge whose answer was lost.
func TestCharge_LostAnswerFoundByKey(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	client := p.client(t, golf.Config{})
	p.fail(fault{isCommitted: true})
	_, err := client.Charge(t.Context(), order())
	connectortest.RequireNoCode(t, err)
	payment, err := client.Charge(t.Context(), order())
	require.NoError(t, err)
	require.Equal(t, paid(), payment)
	require.Equal(t, 1, p.charged())
}

func TestCharge_LostAnswerAskedAgain(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	client := p.client(t, golf.Config{MaxRetries: new(1)})
	charge := order()
	charge.IdempotencyKey = "" // The client creates a key for its own attempts.
	p.fail(fault{isCommitted: true})
	_, err := client.Charge(t.Context(), charge)
	require.NoError(t, err)
	require.Equal(t, 1, p.charged())
}

func TestError_Codes(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	client := p.client(t, golf.Config{})
	for _, c := range []struct {
		fault fault
		code  boterr.Code
		field string
	}{
		{fault{status: http.StatusTooManyRequests, kind: "invalid_request_error", code: "rate_limit"}, boterr.ResourceExhausted, ""},
		{fault{status: http.StatusForbidden, kind: "invalid_request_error"}, boterr.FailedPrecondition, ""},
		{fault{status: http.StatusConflict, kind: "idempotency_error", code: "idempotency_key_in_use"}, boterr.Unavailable, "idempotencyKey"},
	} {
		for _, call := range []func() error{
			func() error { _, err := client.Charge(t.Context(), order()); return err },
			func() error { _, err := client.Refund(t.Context(), utility.Refund{PaymentID: "pi_1"}); return err },
			func() error { _, err := client.Payment(t.Context(), "pi_1"); return err },
		} {
			p.fail(c.fault)
			requireCode(t, call(), c.code, c.field)
			p.fail(fault{status: http.StatusInternalServerError, kind: "api_error"})
			connectortest.RequireNoCode(t, call())
		}
	}
	require.Zero(t, p.charged())
}

func TestError_WrongKeyIsNotShown(t *testing.T) {
	t.Parallel()
	wrong := "sk_test_wrong"
	_, err := newProvider(t).client(t, golf.Config{Key: channel.NewSecret(wrong)}).Charge(t.Context(), order())
	requireCode(t, err, boterr.FailedPrecondition, "")
	require.NotContains(t, err.Error(), wrong)
}

func TestCharge_ContextEnded(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.client(t, golf.Config{}).Charge(ctx, order())
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, p.requests)
}

func TestProvider_IsOfTheAccount(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	client := p.client(t, golf.Config{})
	_, err := client.Charge(t.Context(), order())
	require.NoError(t, err)
	intent, err := client.Provider().V1PaymentIntents.Retrieve(t.Context(), "pi_1", &stripe.PaymentIntentRetrieveParams{})
	require.NoError(t, err)
	require.Equal(t, int64(1250), intent.Amount)
	require.Empty(t, stripe.Key)
}

func TestNew_Refuses(t *testing.T) {
	t.Parallel()
	key := channel.NewSecret(apiKey)
	connectortest.RequireRefused(t, golf.New, map[string]golf.Config{
		"Account":    {Key: key},
		"Key":        {Account: "shop"},
		"Tolerance":  {Account: "shop", Key: key, Tolerance: -1},
		"MaxRetries": {Account: "shop", Key: key, MaxRetries: new(-1)},

		"WebhookSecrets[1]": {Account: "shop", Key: key, WebhookSecrets: []channel.Secret{key, {}}},
	})
}

func TestAccounts_ByName(t *testing.T) {
	t.Parallel()
	client := newProvider(t).client(t, golf.Config{})
	found, err := golf.Accounts(client)("a1", "shop")
	require.NoError(t, err)
	require.Same(t, client, found)
	_, err = golf.Accounts(client)("a1", "other")
	requireCode(t, err, boterr.NotFound, "golfName")
}
