package webhook_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/webhook"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded/boundedtest"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// handling returns the handler of a connector that knows one channel.
func handling(t *testing.T, d *connectortest.Box, config webhook.Config) http.Handler {
	t.Helper()
	if config.Now == nil {
		config.Now = clock
	}
	config.LoadChannel = loads(webchat("https://example.com"))
	return newConnector(t, config).Handler(d.Accept)
}

func TestHandler_SignedRequest(t *testing.T) {
	t.Parallel()
	d := &connectortest.Box{}
	request := strings.Replace(string(inboundBody("hi")), `"messageEvent"`, `"groupExternalId":"family","messageEvent"`, 1)
	status, body := serve(handling(t, d, webhook.Config{}), arrives("msg_1", now, []byte(request)))
	require.Equal(t, http.StatusOK, status)
	require.JSONEq(t, `{"id":"msg_1","status":"accepted"}`, body)
	require.Equal(t, []botctx.Inbound{{
		App: "a1", Channel: "c1", GroupExternalID: "family",
		Event: send.MessageEvent{
			From: "ada", Type: send.TypeText, Data: document.O("text", "hi"), MessageID: "msg_1",
		},
		Profile: member.Member{FirstName: "Ada"},
	}}, d.Got)
}

func TestHandler_EventsOfEachForm(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		event string
		want  send.MessageEvent
	}{
		"milliseconds": {
			`{"type":"TEXT","from":"ada","to":"bot","data":{"text":""},"timestamp":1699999999123,"messageId":"p1"}`,
			send.MessageEvent{Type: "TEXT", From: "ada", To: "bot", Data: document.O("text", ""), Timestamp: 1699999999123, MessageID: "p1"},
		},
		"seconds": {
			`{"type":"PAYLOAD","from":"ada","data":{"payload":"yes"},"timestamp":"1699999999"}`,
			send.MessageEvent{Type: "PAYLOAD", From: "ada", Data: document.O("payload", "yes"), Timestamp: 1699999999000, MessageID: "msg_1"},
		},
		"payload object": {
			`{"type":"PAYLOAD","from":"ada","data":{"payload":{"payload":"yes","value":3}}}`,
			send.MessageEvent{
				Type: "PAYLOAD", From: "ada", Data: document.O("payload", document.O("payload", "yes", "value", 3)),
				MessageID: "msg_1",
			},
		},
		"any other": {
			`{"type":"WEB_EVENT","from":"ada"}`,
			send.MessageEvent{Type: "WEB_EVENT", From: "ada", Data: document.O(), MessageID: "msg_1"},
		},
	} {
		d := &connectortest.Box{}
		body := `{"app":"a1","channel":"c1","messageEvent":` + c.event + `}`
		status, answer := serve(handling(t, d, webhook.Config{}), arrives("msg_1", now, []byte(body)))
		require.Equal(t, http.StatusOK, status, "%s: %s", name, answer)
		require.Equal(t, c.want, d.Got[0].Event, name)
	}
}

// OnError may need its context after the time for the look-up is over.
func TestHandler_StoreHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reports := 0
		connector := newConnector(t, webhook.Config{
			Now: clock,
			LoadChannel: func(ctx context.Context, _, _ string) (*channel.Channel, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
			OnError: func(ctx context.Context, _ botctx.Inbound, err error) {
				reports++
				require.NoError(t, ctx.Err())
				require.ErrorIs(t, err, context.DeadlineExceeded)
			},
		})
		status, _ := serve(connector.Handler(new(connectortest.Box).Accept), arrives("msg_1", now, inboundBody("hi")))
		require.Equal(t, http.StatusServiceUnavailable, status)
		require.Equal(t, 1, reports)
	})
}

func TestHandler_BadBodyNamesField(t *testing.T) {
	t.Parallel()
	event := func(event string) string { return `{"app":"a1","channel":"c1","messageEvent":` + event + `}` }
	for body, field := range map[string]string{
		"":                                    "",
		"{":                                   "",
		"[]":                                  "",
		"null":                                "",
		strings.Repeat("[", 5000):             "",
		`{"channel":"c1","messageEvent":{}}`:  "app",
		`{"app":"a1","messageEvent":{}}`:      "channel",
		`{"app":1,"channel":"c1"}`:            "app",
		`{"app":"a1","channel":"c1"}`:         "messageEvent",
		event(`null`):                         "messageEvent",
		event(`"x"`):                          "messageEvent",
		event(`{}`):                           "messageEvent.type",
		event(`{"type":"TEXT"}`):              "messageEvent.from",
		event(`{"type":"TEXT","from":"ada"}`): "messageEvent.data.text",
		event(`{"type":"text","from":"ada","data":{"text":"hi"}}`):                                          "messageEvent.type",
		`{"app":"a1","channel":"c1","groupExternalId":"g","messageEvent":{"type":"A","from":"a","to":"h"}}`: "messageEvent.to",
		event(`{"type":"TEXT","from":"ada","data":{"text":1}}`):                                             "messageEvent.data.text",
		event(`{"type":"TEXT","from":"ada","data":"hi"}`):                                                   "messageEvent.data",
		event(`{"type":"TEXT","from":7,"data":{"text":"hi"}}`):                                              "messageEvent.from",
		event(`{"type":"PAYLOAD","from":"ada","data":{"payload":1}}`):                                       "messageEvent.data.payload",
		event(`{"type":"TEXT","from":"ada","data":{"text":"hi"},"timestamp":"today"}`):                      "messageEvent.timestamp",
		`{"app":"a1","channel":"c1","messageEvent":{"type":"A","from":"ada"},"profile":{"firstName":1}}`:    "profile.firstName",
	} {
		d := &connectortest.Box{}
		status, answer := serve(handling(t, d, webhook.Config{}), arrives("msg_1", now, []byte(body)))
		require.Equal(t, http.StatusBadRequest, status, body)
		require.Contains(t, answer, `"code":"InvalidArgument"`, body)
		if field != "" {
			require.Contains(t, answer, `"field":"`+field+`"`, body)
		}
		require.Empty(t, d.Got)
	}
}

// A signed message from the bot must not be accepted as a request, although both use the same secret.
func TestHandler_RefusesSentMessage(t *testing.T) {
	t.Parallel()
	peer := newReceiver(t, "", http.StatusOK)
	_, err := sending(t).Send(t.Context(), hello(webchat(peer.URL)))
	require.NoError(t, err)
	d := &connectortest.Box{}
	got := peer.got()[0]
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/inbound", strings.NewReader(string(got.body)))
	req.Header = got.header
	status, _ := serve(handling(t, d, webhook.Config{}), req)
	require.Equal(t, http.StatusBadRequest, status)
	require.Empty(t, d.Got)
}

func TestHandler_UnsignedLearnsNothing(t *testing.T) {
	t.Parallel()
	d := &connectortest.Box{}
	handler := handling(t, d, webhook.Config{})
	body := inboundBody("hi")
	foreign := []byte(strings.Replace(string(body), `"c1"`, `"c2"`, 1))
	requests := map[string]*http.Request{
		"too old":         arrives("msg_1", now.Add(-tolerance-time.Second), body),
		"too new":         arrives("msg_1", now.Add(tolerance+time.Second), body),
		"unknown channel": arrives("msg_1", now, foreign),
		"odd id":          arrives("a.b", now, body),
	}
	for name, change := range map[string]func(http.Header){
		"no id":        func(h http.Header) { h.Del("Webhook-Id") },
		"no time":      func(h http.Header) { h.Del("Webhook-Timestamp") },
		"no signature": func(h http.Header) { h.Del("Webhook-Signature") },
		"other id":     func(h http.Header) { h.Set("Webhook-Id", "msg_2") },
		"other time":   func(h http.Header) { h.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix()+1, 10)) },
		"other secret": func(h http.Header) {
			h.Set("Webhook-Signature", signature([]byte(newSecret), "msg_1", strconv.FormatInt(now.Unix(), 10), body))
		},
		"empty signature": func(h http.Header) { h.Set("Webhook-Signature", "v1,") },
	} {
		requests[name] = arrives("msg_1", now, body)
		change(requests[name].Header)
	}
	for i := range body {
		changed := append([]byte(nil), body...)
		changed[i] ^= 1
		status, _ := serve(handler, withBody(arrives("msg_1", now, body), changed))
		require.Contains(t, []int{http.StatusUnauthorized, http.StatusBadRequest}, status)
	}
	answers := map[string]bool{}
	for name, req := range requests {
		status, answer := serve(handler, req)
		require.Equal(t, http.StatusUnauthorized, status, name)
		answers[answer] = true
	}
	require.Len(t, answers, 1)
	require.Empty(t, d.Got)
}

func withBody(req *http.Request, body []byte) *http.Request {
	other := httptest.NewRequestWithContext(req.Context(), req.Method, "/inbound", strings.NewReader(string(body)))
	other.Header = req.Header
	return other
}

func TestHandler_EitherSecret(t *testing.T) {
	t.Parallel()
	body, timestamp := inboundBody("hi"), strconv.FormatInt(now.Unix(), 10)
	for _, c := range []struct {
		known []any
		used  string
		want  int
	}{
		{[]any{newSecret, secret}, secret, http.StatusOK},
		{[]any{newSecret, secret}, newSecret, http.StatusOK},
		{[]any{newSecret}, secret, http.StatusUnauthorized},
		{[]any{""}, "", http.StatusUnauthorized},
	} {
		d, drops := &connectortest.Box{}, &send.Drops{Logger: slog.New(slog.DiscardHandler)}
		connector := newConnector(t, webhook.Config{Now: clock, LoadChannel: loads(webchat("", c.known...)), Drops: drops})
		req := arrives("msg_1", now, body)
		req.Header.Set("Webhook-Signature", "v2,eA== "+signature([]byte(c.used), "msg_1", timestamp, body))
		status, _ := serve(connector.Handler(d.Accept), req)
		require.Equal(t, c.want, status)
		require.Equal(t, c.known[0] == "", len(drops.Counts()) == 1, "a missing secret is counted")
	}
}

func TestHandler_LikeAllHandlers(t *testing.T) {
	t.Parallel()
	receiver := connectortest.Receiver{
		Open: func(t *testing.T, lookUp connectortest.LookUp, bodyTime time.Duration) *connectortest.Box {
			t.Helper()
			box := connectortest.NewBox()
			box.Handler = newConnector(t, webhook.Config{
				LoadChannel: lookUp.Load(loads(webchat(""))), Inbound: webhook.Limits{BodyTime: bodyTime}, Now: clock, Drops: box.Drops, OnError: box.OnError,
			}).Handler(box.Accept)
			return box
		},
		Request: func(ctx context.Context, body string) *http.Request {
			return arrives("msg_1", now, []byte(body)).WithContext(ctx)
		},
		Report:         string(inboundBody("hi")),
		Forge:          func(r *http.Request) { r.Header.Del("Webhook-Signature") },
		LookUpFailed:   http.StatusInternalServerError,
		ReturnsInvalid: true,
	}
	receiver.Run(t)
}

func TestHandler_MethodTypeAndLength(t *testing.T) {
	t.Parallel()
	d := &connectortest.Box{}
	handler := handling(t, d, webhook.Config{Inbound: webhook.Limits{MaxBytes: 1000}})
	form := arrives("msg_1", now, inboundBody("hi"))
	form.Header.Set("Content-Type", "text/plain")
	untyped := arrives("msg_1", now, inboundBody("hi"))
	untyped.Header.Del("Content-Type")
	for want, requests := range map[int][]*http.Request{
		http.StatusUnsupportedMediaType:  {form, untyped},
		http.StatusRequestEntityTooLarge: {arrives("msg_1", now, inboundBody(strings.Repeat("x", 1000)))},
	} {
		for _, req := range requests {
			status, _ := serve(handler, req)
			require.Equal(t, want, status)
		}
	}
	require.Empty(t, d.Got)
}

func TestHandler_OldRequestIsNotRead(t *testing.T) {
	t.Parallel()
	old := arrives("msg_1", time.Unix(1_600_000_000, 0), inboundBody("hi"))
	connectortest.RequireUnread(t, handling(t, &connectortest.Box{}, webhook.Config{}), old, http.StatusUnauthorized)
}

func TestHandler_BodyAfterSignature(t *testing.T) {
	t.Parallel()
	handler := handling(t, &connectortest.Box{}, webhook.Config{})
	for name, body := range map[string]string{
		"arrays too deep":          `{"app":"a1","channel":"c1","messageEvent":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`,
		"a sender that is another": `{"app":"a1","channel":"c1","messageEvent":{"type":"TEXT","from":"a","data":{"text":"x"}},"channel":"c2"}`,
	} {
		signed := arrives("msg_1", now, []byte(body))
		status, _ := serve(handler, signed)
		require.Equal(t, http.StatusBadRequest, status, name)
		forged := withBody(arrives("msg_1", now, inboundBody("hi")), []byte(body))
		status, told := serve(handler, forged)
		require.Equal(t, http.StatusUnauthorized, status, "%s: %s", name, told)
	}
}

func TestSend_EndlessAnswer(t *testing.T) {
	t.Parallel()
	for name, said := range map[string]struct{ head, filler string }{
		"a success":   {boundedtest.Answers("200 OK"), "a"},
		"a failure":   {boundedtest.Answers("500 Internal Server Error"), "a"},
		"its headers": {"HTTP/1.1 200 OK\r\n", "X-A: a\r\n"},
	} {
		for whose, client := range map[string]outbound.Doer{"the guarded client": loopback(t), "the host's": &http.Client{}} {
			t.Run(name+", "+whose, func(t *testing.T) {
				t.Parallel()
				server := boundedtest.Serve(t, true, said.head, said.filler)
				// The status counts, even if the body breaks off.
				_, _ = newConnector(t, webhook.Config{HTTP: client, Retry: webhook.Retry{Attempts: 1}}).
					Send(t.Context(), hello(webchat("http://"+server.Address)))
				server.RequireHungUp(t, 1)
			})
		}
	}
}

// A signed message is only sent to the channel's URL, even if the client would follow redirects.
func TestSend_RedirectCarriesNothing(t *testing.T) {
	t.Parallel()
	elsewhere := newReceiver(t, "", http.StatusOK)
	for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect} {
		for _, client := range []outbound.Doer{&http.Client{}, loopback(t)} {
			url := connectortest.Serve(t, http.RedirectHandler(elsewhere.URL, status))
			_, err := newConnector(t, webhook.Config{HTTP: client}).Send(t.Context(), hello(webchat(url)))
			require.ErrorIs(t, err, boterr.FailedPrecondition)
		}
	}
	require.Empty(t, elsewhere.got())
}
