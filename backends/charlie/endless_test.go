package charlie_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/charlie"
	"github.com/botctx/go-sdk/internal/bounded/boundedtest"
	"github.com/botctx/go-sdk/send"
)

func TestSend_EndlessAnswer(t *testing.T) {
	t.Parallel()
	for name, said := range map[string]struct{ head, filler string }{
		"a success":   {boundedtest.Answers("200 OK") + `{"ok":true,"ts":"`, "a"},
		"a failure":   {boundedtest.Answers("500 Internal Server Error"), "a"},
		"its headers": {"HTTP/1.1 200 OK\r\n", "X-A: a\r\n"},
	} {
		for whose, client := range map[string]*http.Client{"our client": nil, "the host's": {}} {
			t.Run(name+", "+whose, func(t *testing.T) {
				t.Parallel()
				server := boundedtest.Serve(t, true, said.head, said.filler)
				connector, err := charlie.New(charlie.Config{APIURL: "http://" + server.Address, HTTPClient: client})
				require.NoError(t, err)
				_, err = connector.Send(t.Context(), to("C1", send.Text("Hello")))
				require.Error(t, err)
				server.RequireHungUp(t, 1)
			})
		}
	}
}

// Tokens go nowhere but to the tool, whatever client the host gives.
func TestSend_RedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	for whose, client := range map[string]*http.Client{"our client": nil, "the host's": {}} {
		t.Run(whose, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				_, _ = w.Write([]byte(taken))
			}))
			t.Cleanup(elsewhere.Close)
			tool := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
			t.Cleanup(tool.Close)
			connector, err := charlie.New(charlie.Config{APIURL: tool.URL, HTTPClient: client})
			require.NoError(t, err)
			_, err = connector.Send(t.Context(), to("C1", send.Text("Hello")))
			require.Error(t, err)
			require.Zero(t, asked.Load())
		})
	}
}
