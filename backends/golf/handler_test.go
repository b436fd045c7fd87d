package golf_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/golf"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/bounded/boundedtest"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/utility"
)

const (
	endpointSecret = "whsec_0123456789"
	newSecret      = "whsec_9876543210"
	tolerance      = 5 * time.Minute
)

var now = time.Unix(1_700_000_000, 0)

// desk collects events.
type desk struct {
	got []utility.PaymentEvent
	err error
}

func (d *desk) receive(_ context.Context, event utility.PaymentEvent) error {
	d.got = append(d.got, event)
	return d.err
}

func handling(t *testing.T, d *desk, secrets ...string) http.Handler {
	t.Helper()
	return counting(t, d, &send.Drops{Logger: slog.New(slog.DiscardHandler)}, secrets...)
}

func counting(t *testing.T, d *desk, drops *send.Drops, secrets ...string) http.Handler {
	t.Helper()
	config := golf.Config{Now: func() time.Time { return now }, Drops: drops}
	for _, secret := range secrets {
		config.WebhookSecrets = append(config.WebhookSecrets, channel.NewSecret(secret))
	}
	return newProvider(t).client(t, config).Handler(d.receive)
}

// signature signs a body without the library.
func signature(secret string, at time.Time, body string) string {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "." + body))
	return "t=" + timestamp + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}

// report posts an event with this signature.
func report(handler http.Handler, body, signature string) (status int, told string) {
	req := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/payments", strings.NewReader(body))
	req.Header.Set("Stripe-Signature", signature)
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, req)
	return recorder.Code, recorder.Body.String()
}

func event(kind string, object any) string {
	text, err := json.Marshal(map[string]any{
		"id": "evt_1", "object": "event", "type": kind, "api_version": "2019-01-01", "data": map[string]any{"object": object},
	})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// sold returns a payment that succeeded.
func sold() *intent {
	return &intent{
		id: "pi_1", amount: 1250, currency: "eur", description: "order 7", status: "succeeded", isCharged: true,
		metadata: map[string]string{"order": "7"},
	}
}

func TestHandler_HandsEventsOn(t *testing.T) {
	t.Parallel()
	failed := sold()
	failed.status, failed.failure, failed.isCharged = "requires_payment_method", "insufficient_funds", false
	refunded := sold()
	refunded.refunded = 250
	for kind, c := range map[string]struct {
		object any
		want   string
		change func(*utility.Payment)
	}{
		"payment_intent.succeeded":      {sold().object(), utility.EventPaymentSucceeded, func(*utility.Payment) {}},
		"payment_intent.payment_failed": {failed.object(), utility.EventPaymentFailed, func(p *utility.Payment) { p.Status = utility.PaymentFailed }},
		"payment_intent.created":        {sold().object(), "payment_intent.created", func(*utility.Payment) {}},
		"charge.refunded": {refunded.charge(), utility.EventPaymentRefunded, func(p *utility.Payment) {
			p.Refunded, p.CreatedAt = 250, 1700000001000
		}},
	} {
		d := &desk{}
		body := event(kind, c.object)
		status, _ := report(handling(t, d, endpointSecret), body, signature(endpointSecret, now, body))
		require.Equal(t, http.StatusOK, status, kind)
		payment := *paid()
		c.change(&payment)
		require.Equal(t, []utility.PaymentEvent{{ID: "evt_1", Type: c.want, Account: "shop", Payment: payment}}, d.got, kind)
	}
}

func TestHandler_EventWithoutPayment(t *testing.T) {
	t.Parallel()
	d := &desk{}
	drops := &send.Drops{Logger: slog.New(slog.DiscardHandler)}
	handler := counting(t, d, drops, endpointSecret)
	for _, body := range []string{
		event("customer.created", map[string]any{"id": "cus_1"}),
		event("charge.refunded", map[string]any{"id": "ch_1", "payment_intent": nil}),
		event("charge.succeeded", sold().charge()),
	} {
		status, _ := report(handler, body, signature(endpointSecret, now, body))
		require.Equal(t, http.StatusOK, status)
	}
	require.Empty(t, d.got)
	require.Equal(t, []send.DropCount{
		{Platform: "golf", Kind: "charge.refunded", Reason: send.DropUnsupported, Count: 1},
		{Platform: "golf", Kind: "charge.succeeded", Reason: send.DropUnsupported, Count: 1},
		{Platform: "golf", Kind: "customer.created", Reason: send.DropUnsupported, Count: 1},
	}, drops.Counts())
}

func TestHandler_RefusesUnsigned(t *testing.T) {
	t.Parallel()
	d := &desk{}
	handler := handling(t, d, endpointSecret)
	body := event("payment_intent.succeeded", sold().object())
	good := signature(endpointSecret, now, body)
	for name, header := range map[string]string{
		"none":         "",
		"garbage":      "x",
		"no time":      strings.TrimPrefix(good, "t=1700000000,"),
		"odd time":     strings.Replace(good, "t=1", "t=x", 1),
		"other time":   strings.Replace(good, "t=1700000000", "t=1700000001", 1),
		"other secret": signature(newSecret, now, body),
		"no secret":    signature("", now, body),
		"other body":   signature(endpointSecret, now, body+" "),
		"other scheme": strings.Replace(good, "v1=", "v0=", 1),
		"too old":      signature(endpointSecret, now.Add(-tolerance-time.Second), body),
		"too new":      signature(endpointSecret, now.Add(tolerance+time.Second), body),
		"two times":    signature(endpointSecret, now.Add(-time.Hour), body) + ",t=1700000000",
		"a far time":   signature(endpointSecret, time.Unix(1<<62, 0), body),
	} {
		status, _ := report(handler, body, header)
		require.Equal(t, http.StatusUnauthorized, status, name)
	}
	for _, at := range []time.Time{now.Add(-tolerance), now.Add(tolerance)} {
		status, _ := report(handler, body, signature(endpointSecret, at, body))
		require.Equal(t, http.StatusOK, status)
	}
	require.Len(t, d.got, 2)
}

func TestHandler_EitherSecret(t *testing.T) {
	t.Parallel()
	d := &desk{}
	handler := handling(t, d, newSecret, endpointSecret)
	body := event("payment_intent.succeeded", sold().object())
	for _, secret := range []string{endpointSecret, newSecret} {
		status, _ := report(handler, body, signature(secret, now, body))
		require.Equal(t, http.StatusOK, status)
	}
	status, told := report(handling(t, d), body, signature("", now, body))
	require.Equal(t, http.StatusInternalServerError, status)
	require.Contains(t, told, "WebhookSecrets")
}

func TestHandler_RefusesWhatIsNoEvent(t *testing.T) {
	t.Parallel()
	d := &desk{}
	handler := handling(t, d, endpointSecret)
	for _, body := range []string{
		"", "{", "[]", "null", "{}", `{"id":"evt_1"}`,
		`{"id":"evt_1","type":"payment_intent.succeeded"}`,
		`{"id":"evt_1","type":"payment_intent.succeeded","data":null}`,
		event("payment_intent.succeeded", nil), event("payment_intent.succeeded", "pi_1x"),
		event("payment_intent.succeeded", map[string]any{"id": 1}),
		event("charge.refunded", map[string]any{"id": "ch_1", "payment_intent": map[string]any{}}),
	} {
		status, _ := report(handler, body, signature(endpointSecret, now, body))
		require.Equal(t, http.StatusBadRequest, status, body)
	}
	require.Empty(t, d.got)
	huge := strings.Repeat("x", 2<<20)
	status, _ := report(handler, huge, signature(endpointSecret, now, huge))
	require.Equal(t, http.StatusRequestEntityTooLarge, status)
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/payments", http.NoBody)
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, req)
	require.Equal(t, http.StatusMethodNotAllowed, recorder.Code)
}

func TestHandler_ErrorAsksAgain(t *testing.T) {
	t.Parallel()
	body := event("payment_intent.succeeded", sold().object())
	for _, c := range []struct {
		err  error
		want int
	}{
		{errors.New("hidden"), 500},
		{boterr.New(boterr.NotFound, "", "hidden"), 500},
		{boterr.New(boterr.ResourceExhausted, "", "hidden"), 429},
		{boterr.New(boterr.Conflict, "", "hidden"), 503},
		{boterr.New(boterr.Unavailable, "", "hidden"), 503},
		{context.Canceled, 503},
	} {
		status, told := report(handling(t, &desk{err: c.err}, endpointSecret), body, signature(endpointSecret, now, body))
		require.Equal(t, c.want, status)
		require.NotContains(t, told, "hidden")
	}
	panics := newProvider(t).client(t, golf.Config{
		WebhookSecrets: []channel.Secret{channel.NewSecret(endpointSecret)}, Now: func() time.Time { return now },
	}).Handler(func(context.Context, utility.PaymentEvent) error { panic("hidden") })
	status, _ := report(panics, body, signature(endpointSecret, now, body))
	require.Equal(t, http.StatusInternalServerError, status)
}

func TestHandler_OnError(t *testing.T) {
	t.Parallel()
	var events []utility.PaymentEvent
	var errs []error
	handler := newProvider(t).client(t, golf.Config{
		WebhookSecrets: []channel.Secret{channel.NewSecret(endpointSecret)}, Now: func() time.Time { return now },
		OnError: func(_ context.Context, event utility.PaymentEvent, err error) {
			events, errs = append(events, event), append(errs, err)
		},
	}).Handler((&desk{err: errors.New("the orders are closed")}).receive)
	for _, body := range []string{event("payment_intent.succeeded", sold().object()), event("payment_intent.succeeded", "pi_1x")} {
		report(handler, body, signature(endpointSecret, now, body))
	}
	require.Len(t, errs, 2)
	require.Equal(t, "pi_1", events[0].Payment.ID)
	require.ErrorContains(t, errs[0], "the orders are closed")
	require.ErrorContains(t, errs[1], "data.object")
}

func TestHandler_SlowBody(t *testing.T) {
	t.Parallel()
	client, err := golf.New(golf.Config{
		Account: "shop", Key: channel.NewSecret(apiKey), WebhookSecrets: []channel.Secret{channel.NewSecret(endpointSecret)},
		Now: func() time.Time { return now }, BodyTime: time.Nanosecond,
	})
	require.NoError(t, err)
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/payments", nil)
	req.Header.Set("Stripe-Signature", signature(endpointSecret, now, "{}"))
	connectortest.RequireSlowBody(t, client.Handler((&desk{}).receive), req)
}

func TestHandler_UnsignableBodyIsNotRead(t *testing.T) {
	t.Parallel()
	handler := handling(t, &desk{}, endpointSecret)
	for _, header := range []string{"", "t=1600000000,v1=00"} {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/payments", nil)
		req.Header.Set("Stripe-Signature", header)
		connectortest.RequireUnread(t, handler, req, http.StatusUnauthorized)
	}
}

// Any input is accepted or refused as the sender's fault, never with a 500.
func FuzzHandler(f *testing.F) {
	f.Add("", "", false)
	f.Add("t=1,v1=00", event("payment_intent.succeeded", sold().expanded()), true)
	f.Add("t=,t=", event("charge.refunded", sold().charge()), true)
	f.Add("", `{"id":"evt_1","type":"payment_intent.succeeded","data":{"object":"pi_1"}}`, true)
	f.Fuzz(func(t *testing.T, header, body string, isSigned bool) {
		d := &desk{}
		if isSigned {
			header = signature(endpointSecret, now, body)
		}
		status, _ := report(handling(t, d, endpointSecret), body, header)
		require.Less(t, status, http.StatusInternalServerError)
		if !isSigned {
			require.Empty(t, d.got)
		}
	})
}

// clientOf returns a client that tries each request once.
func clientOf(t *testing.T, address string, http *http.Client) *golf.Client {
	t.Helper()
	client, err := golf.New(golf.Config{
		Account: "shop", Key: channel.NewSecret(apiKey), URL: address, HTTP: http, MaxRetries: new(0),
	})
	require.NoError(t, err)
	return client
}

func TestCharge_EndlessAnswer(t *testing.T) {
	t.Parallel()
	for name, said := range map[string]struct{ head, filler string }{
		"a success":   {boundedtest.Answers("200 OK") + `{"id":"pi_1","object":"payment_intent","status":"succeeded","description":"`, "a"},
		"a failure":   {boundedtest.Answers("500 Internal Server Error"), "a"},
		"its headers": {"HTTP/1.1 200 OK\r\n", "X-A: a\r\n"},
	} {
		for whose, client := range map[string]*http.Client{"our client": nil, "the host's": {}} {
			t.Run(name+", "+whose, func(t *testing.T) {
				t.Parallel()
				server := boundedtest.Serve(t, true, said.head, said.filler)
				_, err := clientOf(t, "http://"+server.Address, client).Charge(t.Context(), order())
				connectortest.RequireNoCode(t, err)
				server.RequireHungUp(t, 1)
			})
		}
	}
}

// Payment data is not sent to the address of a redirect, and the answer from there is not used.
func TestCharge_RedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	for _, status := range []int{
		http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect,
	} {
		for whose, client := range map[string]*http.Client{"our client": nil, "the host's": {}} {
			t.Run(http.StatusText(status)+", "+whose, func(t *testing.T) {
				t.Parallel()
				var asked atomic.Int32
				elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					asked.Add(1)
					reply(w, http.StatusOK, map[string]any{"id": "pi_1", "object": "payment_intent", "status": "succeeded"})
				}))
				t.Cleanup(elsewhere.Close)
				provider := httptest.NewServer(http.RedirectHandler(elsewhere.URL, status))
				t.Cleanup(provider.Close)
				_, err := clientOf(t, provider.URL, client).Charge(t.Context(), order())
				require.ErrorIs(t, err, boterr.FailedPrecondition)
				require.NotContains(t, err.Error(), elsewhere.URL)
				require.Zero(t, asked.Load())
			})
		}
	}
}

// answers is a transport with one answer for all requests. It records the times of the requests.
type answers struct {
	status int
	header http.Header
	body   string
	came   []time.Time
}

func (a *answers) RoundTrip(*http.Request) (*http.Response, error) {
	a.came = append(a.came, time.Now()) //nolint:forbidigo // Virtual time.
	return &http.Response{StatusCode: a.status, Header: a.header, Body: io.NopCloser(strings.NewReader(a.body))}, nil
}

// The client waits as long as the provider asks before it repeats a request. The error has the same wait.
func TestCharge_RetryAfter(t *testing.T) {
	t.Parallel()
	const failed, noJSON = `{"error":{"type":"api_error"}}`, "<html>"
	for _, c := range []struct {
		after    string
		status   int
		body     string
		want     time.Duration
		requests int
	}{
		{"3", http.StatusServiceUnavailable, noJSON, 3 * time.Second, 2},
		{"Sat, 01 Jan 2000 00:00:04 GMT", http.StatusServiceUnavailable, noJSON, 4 * time.Second, 2},
		{"3", http.StatusTooManyRequests, failed, 3 * time.Second, 1},
		{"3", http.StatusInternalServerError, failed, 3 * time.Second, 1},
		{"3", http.StatusTooManyRequests, `{"error":{"code":"lock_timeout"}}`, 3 * time.Second, 2},
		{"6", http.StatusServiceUnavailable, noJSON, 6 * time.Second, 1},
		{"999999", http.StatusTooManyRequests, failed, time.Hour, 1},
		{"soon", http.StatusServiceUnavailable, noJSON, 0, 2},
	} {
		t.Run(c.after+c.body+strconv.Itoa(c.status), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				transport := &answers{status: c.status, header: http.Header{"Retry-After": {c.after}}, body: c.body}
				client, err := golf.New(golf.Config{
					Account: "shop", Key: channel.NewSecret(apiKey), MaxRetries: new(1), HTTP: &http.Client{Transport: transport},
				})
				require.NoError(t, err)
				_, err = client.Charge(t.Context(), order())
				require.Error(t, err)
				require.Len(t, transport.came, c.requests)
				if c.requests == 2 {
					require.GreaterOrEqual(t, transport.came[1].Sub(transport.came[0]), c.want)
				}
				if !strings.Contains(c.after, "2000") { // The wait until a fixed time is shorter at the second answer.
					require.Equal(t, c.want, boterr.RetryAfter(err))
				}
			})
		})
	}
}

// Config.MaxSend of the runtime limits a request together with its repetitions and waits.
func TestCharge_WaitsWithinMaxSend(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		transport := &answers{status: http.StatusServiceUnavailable, header: http.Header{"Retry-After": {"4"}}}
		shop, err := golf.New(golf.Config{Account: "shop", Key: channel.NewSecret(apiKey), HTTP: &http.Client{Transport: transport}})
		require.NoError(t, err)
		rt, err := botctx.New(botctx.Config{Store: memstore.New(), Payments: golf.Accounts(shop), MaxSend: 6 * time.Second})
		require.NoError(t, err)
		account, err := rt.Operations(botctx.Scope{App: "app-1"}).Golf(t.Context(), utility.GolfParams{GolfName: "shop"})
		require.NoError(t, err)
		_, err = account.Client.Charge(t.Context(), order())
		require.ErrorIs(t, err, boterr.Unavailable)
		require.Len(t, transport.came, 2)
	})
}

func TestGolf_BotLogicCharges(t *testing.T) {
	t.Parallel()
	provider := startProvider()
	t.Cleanup(provider.Close)
	shop, err := golf.New(golf.Config{Account: "shop", Key: channel.NewSecret(apiKey), URL: provider.URL})
	require.NoError(t, err)
	rt, err := botctx.New(botctx.Config{Store: memstore.New(), Payments: golf.Accounts(shop)})
	require.NoError(t, err)
	bot := rt.Operations(botctx.Scope{App: "app-1"})

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
