package pigeon_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/docs/guides/pigeon"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
	"github.com/botctx/go-sdk/store/memstore"
)

const now = "1700000000"

// newHost returns the handler of a host whose bot repeats what members write and tap, and a function that runs the
// bot and returns what Pigeon shows.
func newHost(t *testing.T) (http.Handler, func() []sendtest.Arrival) {
	t.Helper()
	h := newHarness(t)
	runtime, err := botctx.New(botctx.Config{
		Store:      memstore.New(),
		Connectors: map[channel.Type]send.Connector{pigeon.Type: h.Connector},
	})
	require.NoError(t, err)
	runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		event := bot.MessageEvent
		return bot.Reply(ctx, send.Text(bot.Member.FirstName+": "+event.Text()+event.Payload()))
	})
	_, err = runtime.SaveChannel(t.Context(), "app-1", h.Channel)
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle("POST /pigeon/{app}/{channel}", &pigeon.Handler{
		LoadChannel: runtime.LoadChannel,
		Accept:      runtime.Accept,
		Drops:       &send.Drops{},
		Now:         func() time.Time { return time.Unix(1_700_000_000, 0) },
	})
	return mux, func() []sendtest.Arrival {
		for {
			if result, err := runtime.RunNextEvent(t.Context()); err != nil || !result.Ran {
				require.NoError(t, err)
				return h.Arrived()
			}
		}
	}
}

// signed is a report that is signed at a time.
type signed struct{ path, secret, at, body string }

// reported returns the status of the answer to a report.
func reported(t *testing.T, host http.Handler, r signed) int {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, r.path, strings.NewReader(r.body))
	mac := hmac.New(sha256.New, []byte(r.secret))
	mac.Write([]byte(r.at + "." + r.body))
	request.Header.Set("Pigeon-Time", r.at)
	request.Header.Set("Pigeon-Signature", hex.EncodeToString(mac.Sum(nil)))
	recorder := httptest.NewRecorder()
	host.ServeHTTP(recorder, request)
	return recorder.Code
}

func TestHandler_TextsAndTaps(t *testing.T) {
	t.Parallel()
	host, arrived := newHost(t)
	for _, body := range []string{
		`{"id": "r1", "from": "ada", "name": "Ada", "sentAt": 1700000000, "text": "hi"}`,
		`{"id": "r2", "from": "ada", "name": "Ada", "sentAt": 1700000000, "value": "tea"}`,
		`{"id": "r3", "from": "ada", "name": "Ada", "sentAt": 1700000000, "value": "{\"payload\": \"tea\", \"value\": 2}"}`,
	} {
		require.Equal(t, http.StatusNoContent, reported(t, host, signed{"/pigeon/app-1/shop", "secret-of-shop", now, body}))
	}
	var texts []string
	for _, arrival := range arrived() {
		texts = append(texts, arrival.To+" "+arrival.Text)
	}
	require.Equal(t, []string{"ada Ada: hi", "ada Ada: tea", "ada Ada: tea"}, texts)
}

func TestHandler_WhatIsNotSignedIsRefused(t *testing.T) {
	t.Parallel()
	host, arrived := newHost(t)
	const body = `{"id": "r1", "from": "ada", "text": "hi"}`
	for name, status := range map[string]int{
		"another secret":     reported(t, host, signed{"/pigeon/app-1/shop", "secret-of-desk", now, body}),
		"an unknown channel": reported(t, host, signed{"/pigeon/app-1/desk", "secret-of-desk", now, body}),
		"another app":        reported(t, host, signed{"/pigeon/app-2/shop", "secret-of-shop", now, body}),
		"an old report":      reported(t, host, signed{"/pigeon/app-1/shop", "secret-of-shop", "1699999000", body}),
		"no time":            reported(t, host, signed{"/pigeon/app-1/shop", "secret-of-shop", "", body}),
	} {
		require.Equal(t, http.StatusUnauthorized, status, name)
	}
	require.Equal(t, http.StatusBadRequest, reported(t, host, signed{"/pigeon/app-1/shop", "secret-of-shop", now, "[]"}))
	require.Empty(t, arrived())
}

// odd sends each report that a handler does not understand to a new handler, and returns what the handler did with
// it.
func odd(t *testing.T) []sendtest.Reception {
	t.Helper()
	var all []sendtest.Reception
	for name, body := range map[string]string{
		"a sticker":          `{"id": "r1", "from": "ada", "sentAt": 1700000000, "sticker": "cat"}`,
		"a report of nobody": `{"id": "r1", "text": "hi"}`,
	} {
		one, drops := sendtest.Reception{Name: name}, &send.Drops{}
		host := http.NewServeMux()
		host.Handle("POST /pigeon/{app}/{channel}", &pigeon.Handler{
			LoadChannel: func(context.Context, string, string) (*channel.Channel, error) { return newChannel("shop"), nil },
			Accept: func(_ context.Context, event botctx.Inbound) error {
				one.Accepted = append(one.Accepted, event.Event)
				return nil
			},
			Drops: drops,
			Now:   func() time.Time { return time.Unix(1_700_000_000, 0) },
		})
		one.Status = reported(t, host, signed{"/pigeon/app-1/shop", "secret-of-shop", now, body})
		for _, drop := range drops.Counts() {
			one.Dropped += drop.Count
		}
		all = append(all, one)
	}
	return all
}

func TestHandler_FailureTellsWhetherToReportAgain(t *testing.T) {
	t.Parallel()
	for code, status := range map[boterr.Code]int{boterr.Unavailable: http.StatusServiceUnavailable, boterr.Internal: http.StatusInternalServerError} {
		host := http.NewServeMux()
		host.Handle("POST /pigeon/{app}/{channel}", &pigeon.Handler{
			LoadChannel: func(context.Context, string, string) (*channel.Channel, error) { return newChannel("shop"), nil },
			Accept:      func(context.Context, botctx.Inbound) error { return boterr.New(code, "", "failed") },
			Drops:       &send.Drops{},
			Now:         func() time.Time { return time.Unix(1_700_000_000, 0) },
		})
		require.Equal(t, status, reported(t, host, signed{"/pigeon/app-1/shop", "secret-of-shop", now, `{"from": "ada", "text": "hi"}`}))
	}
}
