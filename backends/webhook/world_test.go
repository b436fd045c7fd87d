package webhook_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/webhook"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

const (
	secret    = "0123456789abcdef0123456789abcdef"
	newSecret = "fedcba9876543210fedcba9876543210"
)

// now is the time in tests without a running clock.
var now = time.Unix(1_700_000_000, 0)

func clock() time.Time { return now }

// loopback returns a client that may send requests to the servers of the tests.
func loopback(t *testing.T) *outbound.Client {
	t.Helper()
	client, err := outbound.New(outbound.Config{Allow: []string{"127.0.0.1"}, MaxRedirects: new(0)})
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	return client
}

// webchat returns a channel whose messages are posted to an address.
func webchat(address string, secrets ...any) *channel.Channel {
	if len(secrets) == 0 {
		secrets = []any{secret}
	}
	return &channel.Channel{
		ID: "c1", App: "a1", Type: channel.Webchat, On: true,
		Metadata: document.O("webhookUrl", address),
		Info:     channel.OtherInfo{Hidden: channel.Hide(document.O("webhookSecret", secrets))},
	}
}

// loads returns a function for Config.LoadChannel that knows one channel.
func loads(known *channel.Channel) func(context.Context, string, string) (*channel.Channel, error) {
	return func(_ context.Context, app, id string) (*channel.Channel, error) {
		if app != known.App || id != known.ID {
			return nil, boterr.New(boterr.NotFound, "", "there is no channel %q", id)
		}
		return known, nil
	}
}

func newConnector(t *testing.T, config webhook.Config) *webhook.Connector {
	t.Helper()
	connector, err := webhook.New(config)
	require.NoError(t, err)
	return connector
}

func hello(on *channel.Channel) send.Message {
	return send.Message{ID: "msg_1", Channel: on, To: "ada", Response: send.Text("Hello")}
}

// signature returns a signature that was made without the package under test.
func signature(key []byte, id, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	for _, part := range []string{id, ".", timestamp, ".", string(body)} {
		mac.Write([]byte(part))
	}
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// arrival is a received request.
type arrival struct {
	header http.Header
	body   []byte
}

// receiver is a server that records requests. Its answers have the statuses in order, and then always the last
// one.
type receiver struct {
	*httptest.Server

	lock     sync.Mutex
	arrived  []arrival
	statuses []int
	answer   string
}

func newReceiver(t *testing.T, answer string, statuses ...int) *receiver {
	t.Helper()
	r := &receiver{answer: answer, statuses: statuses}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	r.lock.Lock()
	defer r.lock.Unlock()
	status := r.statuses[min(len(r.arrived), len(r.statuses)-1)]
	r.arrived = append(r.arrived, arrival{header: req.Header.Clone(), body: body})
	w.WriteHeader(status)
	_, _ = io.WriteString(w, r.answer)
}

func (r *receiver) got() []arrival {
	r.lock.Lock()
	defer r.lock.Unlock()
	return append([]arrival(nil), r.arrived...)
}

// inboundBody returns a request body for a member's text.
func inboundBody(text string) []byte {
	body, err := json.Marshal(map[string]any{
		"app": "a1", "channel": "c1",
		"messageEvent": map[string]any{"type": "TEXT", "from": "ada", "data": map[string]any{"text": text}},
		"profile":      map[string]any{"firstName": "Ada"},
	})
	if err != nil {
		panic(err)
	}
	return body
}

func arrives(id string, at time.Time, body []byte) *http.Request {
	req := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/inbound", strings.NewReader(string(body)))
	req.Header = headerOf(id, at, body)
	return req
}

// headerOf returns the headers of a request that is signed at this time.
func headerOf(id string, at time.Time, body []byte) http.Header {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	return http.Header{
		"Content-Type":      {"application/json; charset=utf-8"},
		"Webhook-Id":        {id},
		"Webhook-Timestamp": {timestamp},
		"Webhook-Signature": {signature([]byte(secret), id, timestamp, body)},
	}
}

func serve(handler http.Handler, req *http.Request) (status int, body string) {
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, req)
	return recorder.Code, recorder.Body.String()
}
