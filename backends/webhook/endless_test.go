package webhook_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/webhook"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/bounded/boundedtest"
	"github.com/botctx/go-sdk/outbound"
)

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
				// The status decides: a success is one, whatever follows it.
				_, _ = newConnector(t, webhook.Config{HTTP: client, Retry: webhook.Retry{Attempts: 1}}).
					Send(t.Context(), hello(webchat("http://"+server.Address)))
				server.RequireHungUp(t, 1)
			})
		}
	}
}

// A signed message goes to the channel's address alone, also by a client that would follow redirects.
func TestSend_RedirectCarriesNothing(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect} {
		var asked atomic.Int32
		elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
		t.Cleanup(elsewhere.Close)
		peer := httptest.NewServer(http.RedirectHandler(elsewhere.URL, status))
		t.Cleanup(peer.Close)
		_, err := newConnector(t, webhook.Config{HTTP: &http.Client{}}).Send(t.Context(), hello(webchat(peer.URL)))
		require.ErrorIs(t, err, boterr.FailedPrecondition)
		require.Zero(t, asked.Load())
	}
}
