package main

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const tokenOfTests = "a-token-that-only-operators-know"

// deadLetter is a dead letter as operators see it.
type deadLetter struct {
	ID      string `json:"id"`
	App     string `json:"app"`
	Channel string `json:"channel"`
	From    string `json:"from"`
	Code    string `json:"code"`
	Error   string `json:"error"`
}

// operate sends a request to the service as an operator with a token.
func (w *world) operate(method, path, token string) reply {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, "http://"+w.service.listener.Addr().String()+path, nil)
	require.NoError(w.t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return do(req)
}

func (w *world) listed() []deadLetter {
	w.t.Helper()
	answer := w.operate(http.MethodGet, "/admin/dead-letters", tokenOfTests)
	require.Equal(w.t, http.StatusOK, answer.status, answer.body)
	var told struct {
		Records []deadLetter `json:"records"`
	}
	require.NoError(w.t, json.Unmarshal([]byte(answer.body), &told))
	return told.Records
}

// giveUp makes the chat refuse the bot's answer to a message, and returns the dead letter.
func (w *world) giveUp(id, text string) deadLetter {
	w.t.Helper()
	w.chat.refuses.Store(true)
	require.Equal(w.t, http.StatusOK, (<-w.post(id, text, secretOfTests)).status)
	require.Eventually(w.t, func() bool { return len(w.listed()) == 1 }, patience, time.Millisecond)
	w.chat.refuses.Store(false)
	return w.listed()[0]
}

func TestDeadLetters_RetriedWhenMended(t *testing.T) {
	t.Parallel()
	w := newWorldIn(t, variables{adminVariable: tokenOfTests})
	dead := w.giveUp("m1", "a table for 4 at 19:30")
	require.Equal(t, []string{"bistro", "website", "ada", "InvalidArgument"}, []string{dead.App, dead.Channel, dead.From, dead.Code})
	require.NotContains(t, dead.Error, secretOfTests)

	one := w.operate(http.MethodGet, "/admin/dead-letters/"+dead.ID, tokenOfTests)
	require.Equal(t, http.StatusOK, one.status)
	require.Contains(t, one.body, "a table for 4 at 19:30")

	require.Equal(t, http.StatusOK, w.operate(http.MethodPost, "/admin/dead-letters/"+dead.ID+"/retry", tokenOfTests).status)
	require.Equal(t, held, w.chat.hears())
	require.Empty(t, w.listed())
	require.Equal(t, http.StatusNotFound, w.operate(http.MethodPost, "/admin/dead-letters/"+dead.ID+"/retry", tokenOfTests).status)
	w.stop()
}

func TestDeadLetters_Discarded(t *testing.T) {
	t.Parallel()
	w := newWorldIn(t, variables{adminVariable: tokenOfTests})
	dead := w.giveUp("m1", "a table for 4 at 19:30")
	require.Equal(t, http.StatusOK, w.operate(http.MethodPost, "/admin/dead-letters/"+dead.ID+"/discard", tokenOfTests).status)
	require.Empty(t, w.listed())
	require.Equal(t, http.StatusNotFound, w.operate(http.MethodGet, "/admin/dead-letters/"+dead.ID, tokenOfTests).status)
	require.Contains(t, w.log.String(), `msg="dead letter discarded"`)
	w.stop()
}

func TestOperators_NeedTheToken(t *testing.T) {
	t.Parallel()
	w := newWorldIn(t, variables{adminVariable: tokenOfTests})
	for _, token := range []string{"", "another-token-of-enough-length", tokenOfTests + "!"} {
		for method, path := range map[string]string{
			http.MethodGet: "/admin/", http.MethodPost: "/admin/dead-letters/e1/retry",
		} {
			require.Equal(t, http.StatusUnauthorized, w.operate(method, path, token).status, "%s %s", method, path)
		}
	}
	require.Contains(t, w.operate(http.MethodGet, "/admin/", tokenOfTests).body, "Host records")
	browser, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+w.service.listener.Addr().String()+"/admin/about", nil)
	require.NoError(t, err)
	browser.SetBasicAuth("grace", tokenOfTests)
	require.JSONEq(t, `{"apps": ["bistro"], "mayWrite": true}`, do(browser).body)
	w.stop()
	without := newWorld(t)
	require.Equal(t, http.StatusNotFound, without.operate(http.MethodGet, "/admin/dead-letters", "").status)
	without.stop()
}
