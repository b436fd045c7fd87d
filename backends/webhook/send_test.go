package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/webhook"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/timelimit"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
)

// sending returns a connector with very short waits between attempts.
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
	connectortest.RequireNoCode(t, err)
	require.Len(t, broken.got(), 4)

	gone := newReceiver(t, "", http.StatusOK)
	gone.Close()
	_, err = sending(t).Send(t.Context(), hello(webchat(gone.URL)))
	connectortest.RequireNoCode(t, err)
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

// A receiver may repeat the key in its address, decoded or as it is written there.
func TestSend_ErrorHoldsNoKey(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a/hook/x==", "a%2Fhook%2Fx%3D%3D", "/hook?key=a%2Fhook%2Fx%3D%3D"} {
		peer := newReceiver(t, `{"error":{"message":"not allowed: `+text+`"}}`, http.StatusForbidden)
		_, err := sending(t).Send(t.Context(), hello(webchat(peer.URL+"/hook?key=a%2Fhook%2Fx%3D%3D")))
		require.ErrorContains(t, err, "not allowed: [redacted]:", text)
	}
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

// Every third answer is lost after the message was accepted. Repetitions have the same id.
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

func TestNew_Refuses(t *testing.T) {
	t.Parallel()
	connectortest.RequireRefused(t, webhook.New, map[string]webhook.Config{
		"HTTP":              {HTTP: (*http.Client)(nil)},
		"Retry.Attempts":    {Retry: webhook.Retry{Attempts: -1}},
		"Retry.Within":      {Retry: webhook.Retry{Within: -1}},
		"Retry.First":       {Retry: webhook.Retry{First: -1}},
		"Retry.Longest":     {Retry: webhook.Retry{Longest: -1}},
		"Inbound.Tolerance": {Inbound: webhook.Limits{Tolerance: -1}},
		"Inbound.MaxBytes":  {Inbound: webhook.Limits{MaxBytes: -1}},
		"Inbound.BodyTime":  {Inbound: webhook.Limits{BodyTime: -1}},
	})
}

// doer is a function that answers requests instead of a network.
type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(req *http.Request) (*http.Response, error) { return d(req) }

// answers returns a doer with one answer for all requests. It records the times of the requests.
func answers(at *[]time.Duration, status int, header http.Header) outbound.Doer {
	started := time.Now() //nolint:forbidigo // Virtual time.
	return doer(func(req *http.Request) (*http.Response, error) {
		*at = append(*at, time.Since(started)) //nolint:forbidigo // Virtual time.
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader("")), Request: req}, nil
	})
}

func TestRetry_WaitsGrow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		retry := webhook.Retry{Attempts: 6, Within: time.Hour, First: time.Second, Longest: 4 * time.Second}
		longest := make([]time.Duration, 5)
		for range 200 {
			var at []time.Duration
			connector := newConnector(t, webhook.Config{HTTP: answers(&at, http.StatusBadGateway, nil), Retry: retry})
			_, err := connector.Send(t.Context(), hello(webchat("https://example.com")))
			connectortest.RequireNoCode(t, err)
			require.Len(t, at, 6)
			for i := range longest {
				longest[i] = max(longest[i], at[i+1]-at[i])
			}
		}
		for i, most := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 4 * time.Second, 4 * time.Second} {
			require.LessOrEqual(t, longest[i], most)
			require.Greater(t, longest[i], most/2) // At least one of 200 random waits is longer than half.
		}
	})
}

func TestRetryAfter_Obeyed(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]func() string{
		"seconds": func() string { return "7" },
		"date": func() string {
			return time.Now().Add(7 * time.Second).UTC().Format(http.TimeFormat) //nolint:forbidigo // Virtual time.
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Each test starts at a whole second, because HTTP dates have no fractions.
			for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
				synctest.Test(t, func(t *testing.T) {
					var at []time.Duration
					connector := newConnector(t, webhook.Config{
						HTTP:  answers(&at, status, http.Header{"Retry-After": {after()}}),
						Retry: webhook.Retry{Attempts: 2, First: 1},
					})
					_, err := connector.Send(t.Context(), hello(webchat("https://example.com")))
					require.Error(t, err)
					require.Len(t, at, 2)
					require.GreaterOrEqual(t, at[1], 7*time.Second)
					require.LessOrEqual(t, at[1], 7*time.Second+1) // Config.Retry.First is a nanosecond.
				})
			}
		})
	}
}

// The time limit of the call does not include the wait. Each attempt has the full time limit.
func TestRetryAfter_DoesNotCountAsTimeOfTheCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		connector := newConnector(t, webhook.Config{
			HTTP:  answers(&at, http.StatusServiceUnavailable, http.Header{"Retry-After": {"7"}}),
			Retry: webhook.Retry{Attempts: 3},
		})
		ctx := (&timelimit.Rule{Most: 5 * time.Second, Over: boterr.New(boterr.Unavailable, "", "late"), IsPausable: true}).Begin(t.Context())
		_, err := connector.Send(ctx, hello(webchat("https://example.com")))
		require.ErrorContains(t, err, "no answer after 3 attempts")
		require.Len(t, at, 3)
		require.Error(t, ctx.End(err))
	})
}

func TestRetryAfter_TooLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, after := range []string{"30", "3600", "4294967295", "99999999999"} {
			var at []time.Duration
			connector := newConnector(t, webhook.Config{HTTP: answers(&at, http.StatusTooManyRequests, http.Header{"Retry-After": {after}})})
			_, err := connector.Send(t.Context(), hello(webchat("https://example.com")))
			require.ErrorIs(t, err, boterr.ResourceExhausted)
			require.Equal(t, []time.Duration{0}, at)
		}
	})
}

func TestRetryAfter_Unreadable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, after := range []string{"", "soon", "-5", "1.5", "Mon, 01 Jan 1990 00:00:00 GMT"} {
			var at []time.Duration
			connector := newConnector(t, webhook.Config{HTTP: answers(&at, http.StatusServiceUnavailable, http.Header{"Retry-After": {after}})})
			_, err := connector.Send(t.Context(), hello(webchat("https://example.com")))
			connectortest.RequireNoCode(t, err)
			require.Len(t, at, 4)
		}
	})
}

func TestRetry_SignsAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var timestamps []string
		connector := newConnector(t, webhook.Config{
			Retry: webhook.Retry{Attempts: 2},
			HTTP: doer(func(req *http.Request) (*http.Response, error) {
				body, err := io.ReadAll(req.Body)
				require.NoError(t, err)
				timestamp := req.Header.Get("Webhook-Timestamp")
				require.Equal(t, signature([]byte(secret), "msg_1", timestamp, body), req.Header.Get("Webhook-Signature"))
				timestamps = append(timestamps, timestamp)
				header := http.Header{"Retry-After": {"3"}}
				return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: header, Body: http.NoBody}, nil
			}),
		})
		_, err := connector.Send(t.Context(), hello(webchat("https://example.com")))
		connectortest.RequireNoCode(t, err)
		require.Equal(t, []string{"946684800", "946684803"}, timestamps)
	})
}

func TestRetry_ContextEndsWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var at []time.Duration
		connector := newConnector(t, webhook.Config{HTTP: answers(&at, http.StatusServiceUnavailable, http.Header{"Retry-After": {"5"}})})
		_, err := connector.Send(ctx, hello(webchat("https://example.com")))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Len(t, at, 1)
	})
}

func TestRetry_ReceiverNeverAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		started := time.Now() //nolint:forbidigo // Virtual time.
		connector := newConnector(t, webhook.Config{
			Retry: webhook.Retry{Within: 3 * time.Second},
			HTTP: doer(func(req *http.Request) (*http.Response, error) {
				<-req.Context().Done()
				return nil, req.Context().Err()
			}),
		})
		_, err := connector.Send(t.Context(), hello(webchat("https://example.com")))
		connectortest.RequireNoCode(t, err)
		require.NotErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 3*time.Second, time.Since(started)) //nolint:forbidigo // Virtual time.
	})
}

func TestRetry_NotForClientErrors(t *testing.T) {
	t.Parallel()
	count := 0
	connector := newConnector(t, webhook.Config{HTTP: doer(func(*http.Request) (*http.Response, error) {
		count++
		return nil, boterr.Invalid("url", "is refused")
	})})
	_, err := connector.Send(t.Context(), hello(webchat("https://example.com")))
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.Equal(t, 1, count)
}

func TestSend_ContextEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	connector := newConnector(t, webhook.Config{HTTP: doer(func(*http.Request) (*http.Response, error) {
		cancel()
		return nil, errors.New("broken")
	})})
	_, err := connector.Send(ctx, hello(webchat("https://example.com")))
	require.ErrorIs(t, err, context.Canceled)
}

func TestConnector_KeepsTheContract(t *testing.T) {
	t.Parallel()
	for name, client := range map[string]func(t *testing.T) outbound.Doer{
		"guarded": func(t *testing.T) outbound.Doer { t.Helper(); return loopback(t) },
		"plain":   func(*testing.T) outbound.Doer { return &http.Client{} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sendtest.RunConnector(t, func(t *testing.T) *sendtest.Harness {
				t.Helper()
				return newHarness(t, client(t))
			})
		})
	}
}

func newHarness(t *testing.T, client outbound.Doer) *sendtest.Harness {
	t.Helper()
	pages := &site{secrets: map[string]string{"c1": secret, "c2": newSecret}}
	server := sendtest.NewServer(t, pages, nil)
	connector := newConnector(t, webhook.Config{HTTP: client, Now: clock, Retry: webhook.Retry{First: 1, Longest: 1}})
	const inPath, inQuery = "T0KENinThePath", "T0KENinTheQuery"
	address := server.URL + "/hook/" + inPath + "?key=" + inQuery
	first, other := webchat(address, pages.secrets["c1"]), webchat(address, pages.secrets["c2"])
	other.ID = "c2"
	return &sendtest.Harness{
		Connector: connector, Channel: first, Other: other,
		Members: []*member.Member{{ID: "m1", ExternalID: "ada"}, {ID: "m2", ExternalID: "bob"}},
		Arrived: pages.arrived, Fail: server.Fail,
		Secrets: []string{inPath, inQuery},
		Odd:     func() []sendtest.Reception { return oddRequests(t) },
	}
}

// oddRequests posts signed requests of unknown kinds to a handler, and returns how it handled each.
func oddRequests(t *testing.T) []sendtest.Reception {
	t.Helper()
	return connectortest.Receptions(map[string]string{
		"an event of a new kind":     `{"type":"POLL","from":"ada","data":{"votes":[1,2]}}`,
		"an event that says nothing": `{}`,
		"a text of a new form":       `{"type":"TEXT","from":"ada","data":{"text":{"html":"hi"}}}`,
		"a tap of a new form":        `{"type":"PAYLOAD","from":"ada","data":{"payload":7}}`,
		"an event of nobody":         `{"type":"POLL"}`,
		"no event":                   `7`,
	}, func(event string) (*connectortest.Box, int) {
		box := connectortest.NewBox()
		status, _ := serve(handling(t, box, webhook.Config{Drops: box.Drops}),
			arrives("msg_1", now, []byte(`{"app":"a1","channel":"c1","messageEvent":`+event+`}`)))
		return box, status
	})
}

// site is a program that shows messages on pages. It shows each id once.
type site struct {
	// secrets maps the ids of channels to their secrets.
	secrets map[string]string

	mu    sync.Mutex
	shown []sendtest.Arrival
}

func (s *site) arrived() []sendtest.Arrival {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.shown)
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var posted struct {
		ID       string          `json:"id"`
		Channel  string          `json:"channel"`
		To       string          `json:"to"`
		Response json.RawMessage `json:"response"`
	}
	if err := json.Unmarshal(body, &posted); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if webhook.Verify(r.Header, body, clock(), time.Minute, channel.NewSecret(s.secrets[posted.Channel])) != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var response document.Object
	if err := response.UnmarshalJSON(posted.Response); err != nil {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.ContainsFunc(s.shown, func(known sendtest.Arrival) bool { return known.Key == posted.ID }) {
		return
	}
	s.shown = append(s.shown, sendtest.Arrival{
		Channel: posted.Channel, To: posted.To, Key: posted.ID, Text: send.Raw(response).Text(), Body: string(body),
	})
}
