package golf_test

import (
	"io"
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
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/bounded/boundedtest"
)

// clientOf returns a client of a provider at an address, which tries each request once.
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
				requireNoCode(t, err)
				server.RequireHungUp(t, 1)
			})
		}
	}
}

// Nothing of a payment goes elsewhere, and what another address says is no payment.
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

// answers is a transport that answers every request alike, and notes when it came.
type answers struct {
	status int
	header http.Header
	body   string
	came   []time.Time
}

func (a *answers) RoundTrip(*http.Request) (*http.Response, error) {
	a.came = append(a.came, time.Now()) //nolint:forbidigo // The clock of synctest.
	return &http.Response{StatusCode: a.status, Header: a.header, Body: io.NopCloser(strings.NewReader(a.body))}, nil
}

// A request is not repeated before the time that the provider names, and the caller is told of it.
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
				if !strings.Contains(c.after, "2000") { // By the second answer, less is left of it.
					require.Equal(t, c.want, boterr.RetryAfter(err))
				}
			})
		})
	}
}
