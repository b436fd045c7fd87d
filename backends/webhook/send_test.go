package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/webhook"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// sending returns a connector that waits next to nothing between attempts.
func sending(t *testing.T) *webhook.Connector {
	t.Helper()
	return newConnector(t, webhook.Config{HTTP: loopback(t), Now: clock, Retry: webhook.Retry{First: 1, Longest: 1}})
}

func TestSend_PostsAndSigns(t *testing.T) {
	t.Parallel()
	peer := newReceiver(t, `{"messageId":"p1","chatId":"chat","from":"bot","timestamp":1700000000123,"more":[1]}`, http.StatusAccepted)
	message := hello(webchat(peer.URL + "/hook?site=1"))
	message.Member = &member.Member{ID: "m1"}

	delivery, err := sending(t).Send(t.Context(), message)

	require.NoError(t, err)
	require.Equal(t, send.Delivery{
		Reply:     document.O("messageId", "p1", "chatId", "chat", "from", "bot", "timestamp", 1700000000123, "more", document.A(1)),
		MessageID: "p1", ChatID: "chat", From: "bot", Timestamp: 1700000000123,
	}, delivery)
	got := peer.got()
	require.Len(t, got, 1)
	require.JSONEq(t, `{"id":"msg_1","app":"a1","channel":"c1","channelType":"webchat","to":"ada","memberId":"m1",
		"response":{"type":"TEXT","text":"Hello"}}`, string(got[0].body))
	require.Equal(t, "application/json", got[0].header.Get("Content-Type"))
	require.Equal(t, "msg_1", got[0].header.Get("Webhook-Id"))
	require.Equal(t, "msg_1", got[0].header.Get("Idempotency-Key"))
	timestamp := got[0].header.Get("Webhook-Timestamp")
	require.Equal(t, strconv.FormatInt(now.Unix(), 10), timestamp)
	require.Equal(t, signature([]byte(secret), "msg_1", timestamp, got[0].body), got[0].header.Get("Webhook-Signature"))
}

func TestSend_EmptyAnswer(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"", "ok", "[]", "null", "{", strings.Repeat("x", 2<<20)} {
		peer := newReceiver(t, answer, http.StatusOK)
		delivery, err := sending(t).Send(t.Context(), hello(webchat(peer.URL)))
		require.NoError(t, err)
		require.Equal(t, send.Delivery{}, delivery)
		require.Len(t, peer.got(), 1)
	}
}

func TestSend_RefusalIsNotRepeated(t *testing.T) {
	t.Parallel()
	for status, code := range map[int]boterr.Code{
		400: boterr.InvalidArgument, 413: boterr.InvalidArgument, 415: boterr.InvalidArgument, 422: boterr.InvalidArgument,
		404: boterr.NotFound, 501: boterr.Unsupported,
		302: boterr.FailedPrecondition, 304: boterr.FailedPrecondition, 401: boterr.FailedPrecondition,
		403: boterr.FailedPrecondition, 405: boterr.FailedPrecondition, 409: boterr.FailedPrecondition, 410: boterr.FailedPrecondition,
	} {
		peer := newReceiver(t, `{"error":{"field":"response.buttons[1].title","message":"too long"}}`, status)
		_, err := sending(t).Send(t.Context(), hello(webchat(peer.URL)))
		require.ErrorIs(t, err, code, status)
		require.Len(t, peer.got(), 1, status)
		require.Equal(t, status == 404 || status == 410, send.IsGone(err), status)
		if status != http.StatusNotModified {
			require.ErrorContains(t, err, "too long")
		}
		if refused, _ := boterr.AsError(err); code == boterr.InvalidArgument {
			require.Equal(t, "buttons[1].title", refused.Field)
		}
	}
}

func TestSend_RedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	elsewhere := newReceiver(t, "", http.StatusOK)
	for _, client := range []webhook.Config{{HTTP: loopback(t)}, {HTTP: http.DefaultClient}} {
		peer := newReceiver(t, "", http.StatusFound)
		peer.headers = map[string]string{"Location": elsewhere.URL}
		_, err := newConnector(t, client).Send(t.Context(), hello(webchat(peer.URL)))
		require.ErrorIs(t, err, boterr.FailedPrecondition)
	}
	for _, got := range elsewhere.got() {
		require.Empty(t, got.body)
	}
}

func TestRetry_SameIDAndBody(t *testing.T) {
	t.Parallel()
	for _, status := range []int{408, 425, 429, 500, 502, 503, 504} {
		peer := newReceiver(t, "", status, status, http.StatusOK)
		_, err := sending(t).Send(t.Context(), hello(webchat(peer.URL)))
		require.NoError(t, err)
		got := peer.got()
		require.Len(t, got, 3)
		for _, one := range got {
			require.Equal(t, "msg_1", one.header.Get("Webhook-Id"))
			require.Equal(t, got[0].body, one.body)
		}
	}
}

func TestRetry_LastErrorTells(t *testing.T) {
	t.Parallel()
	limited := newReceiver(t, "", http.StatusTooManyRequests)
	_, err := sending(t).Send(t.Context(), hello(webchat(limited.URL)))
	require.ErrorIs(t, err, boterr.ResourceExhausted)
	require.Len(t, limited.got(), 4)

	broken := newReceiver(t, "", http.StatusBadGateway)
	_, err = sending(t).Send(t.Context(), hello(webchat(broken.URL)))
	requireNoCode(t, err)
	require.Len(t, broken.got(), 4)

	gone := newReceiver(t, "", http.StatusOK)
	gone.Close()
	_, err = sending(t).Send(t.Context(), hello(webchat(gone.URL)))
	requireNoCode(t, err)
}

// requireNoCode checks that an error leaves open what came of the message.
func requireNoCode(t *testing.T, err error) {
	t.Helper()
	require.Error(t, err)
	for _, code := range boterr.Codes() {
		require.NotErrorIs(t, err, code)
	}
}

func TestSend_ChannelNotSetUp(t *testing.T) {
	t.Parallel()
	peer := newReceiver(t, "", http.StatusOK)
	for name, on := range map[string]*channel.Channel{
		"no address":   webchat(""),
		"odd address":  webchat("mailto:ada@example.com"),
		"no secret":    webchat(peer.URL, ""),
		"short secret": webchat(peer.URL, "0123"),
		"other info":   {ID: "c1", Metadata: document.O("webhookUrl", peer.URL), Info: channel.DeltaInfo{}},
		"no info":      {ID: "c1", Metadata: document.O("webhookUrl", peer.URL)},
	} {
		_, err := sending(t).Send(t.Context(), hello(on))
		require.ErrorIs(t, err, boterr.FailedPrecondition, name)
	}
	_, err := sending(t).Send(t.Context(), send.Message{ID: "msg_1"})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.Empty(t, peer.got())
}

func TestSend_AddressOfHostsNetwork(t *testing.T) {
	t.Parallel()
	peer := newReceiver(t, "", http.StatusOK)
	connector := newConnector(t, webhook.Config{})
	for _, address := range []string{peer.URL, "http://localhost:1/", "http://169.254.169.254/latest", "http://[::1]/"} {
		_, err := connector.Send(t.Context(), hello(webchat(address)))
		require.ErrorIs(t, err, boterr.FailedPrecondition, address)
	}
	require.Empty(t, peer.got())
}

func TestSend_EndpointFromElsewhere(t *testing.T) {
	t.Parallel()
	peer := newReceiver(t, "", http.StatusOK)
	connector := newConnector(t, webhook.Config{
		HTTP: loopback(t),
		Endpoint: func(_ context.Context, of *channel.Channel) (webhook.Endpoint, error) {
			return webhook.Endpoint{URL: peer.URL + "/" + of.ID, Secrets: []channel.Secret{channel.NewSecret(newSecret)}}, nil
		},
	})
	_, err := connector.Send(t.Context(), hello(&channel.Channel{ID: "c9"}))
	require.NoError(t, err)
	got := peer.got()[0]
	require.Equal(t, signature([]byte(newSecret), "msg_1", got.header.Get("Webhook-Timestamp"), got.body), got.header.Get("Webhook-Signature"))

	broken := newConnector(t, webhook.Config{Endpoint: func(context.Context, *channel.Channel) (webhook.Endpoint, error) {
		return webhook.Endpoint{}, errors.New("vault is sealed")
	}})
	_, err = broken.Send(t.Context(), hello(&channel.Channel{ID: "c9"}))
	require.ErrorContains(t, err, "vault is sealed")
}

func TestSend_ManyArriveOnceEach(t *testing.T) {
	t.Parallel()
	const many = 1000
	peer := newReceiver(t, "", http.StatusOK)
	connector, on := sending(t), webchat(peer.URL)
	var senders sync.WaitGroup
	failures := make(chan error, many)
	for worker := range 20 {
		senders.Go(func() {
			for i := worker; i < many; i += 20 {
				message := hello(on)
				message.ID = "msg_" + strconv.Itoa(i)
				if _, err := connector.Send(t.Context(), message); err != nil {
					failures <- err
				}
			}
		})
	}
	senders.Wait()
	require.Empty(t, failures)
	seen := map[string]int{}
	for _, got := range peer.got() {
		var body struct {
			ID string `json:"id"`
		}
		require.NoError(t, json.Unmarshal(got.body, &body))
		require.Equal(t, got.header.Get("Webhook-Id"), body.ID)
		seen[body.ID]++
	}
	require.Len(t, seen, many)
	require.Len(t, peer.got(), many)
}

// Every third answer gets lost after the message was taken: the id tells the repetitions.
func TestSend_LostAnswers(t *testing.T) {
	t.Parallel()
	const many = 300
	var lock sync.Mutex
	shown, requests := map[string]int{}, 0
	peer := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		lock.Lock()
		defer lock.Unlock()
		requests++
		shown[req.Header.Get("Webhook-Id")]++
		if requests%3 == 0 {
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(peer.Close)
	retry := webhook.Retry{Attempts: 50, First: 1, Longest: 1}
	connector := newConnector(t, webhook.Config{HTTP: loopback(t), Now: clock, Retry: retry})
	var senders sync.WaitGroup
	failures := make(chan error, many)
	for i := range many {
		senders.Go(func() {
			message := hello(webchat(peer.URL))
			message.ID = "msg_" + strconv.Itoa(i)
			if _, err := connector.Send(t.Context(), message); err != nil {
				failures <- err
			}
		})
	}
	senders.Wait()
	require.Empty(t, failures)
	require.Len(t, shown, many)
	require.Greater(t, requests, many)
}

func TestNew_RefusesNegativeNumbers(t *testing.T) {
	t.Parallel()
	for field, config := range map[string]webhook.Config{
		"Retry.Attempts":    {Retry: webhook.Retry{Attempts: -1}},
		"Retry.Within":      {Retry: webhook.Retry{Within: -1}},
		"Retry.First":       {Retry: webhook.Retry{First: -1}},
		"Retry.Longest":     {Retry: webhook.Retry{Longest: -1}},
		"Inbound.Tolerance": {Inbound: webhook.Limits{Tolerance: -1}},
		"Inbound.MaxBytes":  {Inbound: webhook.Limits{MaxBytes: -1}},
		"Inbound.BodyTime":  {Inbound: webhook.Limits{BodyTime: -1}},
	} {
		_, err := webhook.New(config)
		require.ErrorIs(t, err, boterr.InvalidArgument)
		require.ErrorContains(t, err, field)
	}
}
