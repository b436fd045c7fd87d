package main

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/sqlite"
)

const held = "I hold a table for 4 at 19:30. Shall I book it, yes or no?"

func TestService_AnswersSigned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Equal(t, `Say when you come, such as "a table for 4 at 19:30", or ask for a person.`, w.say("m1", "hello"))
	require.Equal(t, held, w.say("m2", "A table for 4 at 19:30, please"))
	require.Equal(t, "Booked: 4 at 19:30. See you then!", w.say("m3", "yes"))
	w.stop()
}

func TestService_AnswersOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("m1", "hello")
	require.Equal(t, http.StatusOK, (<-w.post("m1", "hello", secretOfTests)).status)
	w.stop()
	w.start()
	require.Equal(t, http.StatusOK, (<-w.post("m1", "hello", secretOfTests)).status, "also after a restart")
	require.Equal(t, held, w.say("m2", "a table for 4 at 19:30"), "nothing is said before, in the member's order")
	w.stop()
}

func TestService_TooManyWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "-max-pending", "1")
	require.Equal(t, http.StatusOK, (<-w.post("m1", "hello", secretOfTests)).status)
	refused := <-w.post("m2", "a table for 4 at 19:30", secretOfTests)
	require.Equal(t, http.StatusServiceUnavailable, refused.status)
	require.Equal(t, "1", refused.retryAfter)
	require.NotEmpty(t, w.chat.hears())
	var said <-chan reply
	require.Eventually(t, func() bool {
		said = w.post("m2", "a table for 4 at 19:30", secretOfTests)
		return (<-said).status == http.StatusOK
	}, patience, time.Millisecond, "it is taken when there is room")
	require.Equal(t, held, w.chat.hears())
	w.stop()
}

func TestRestart_ReminderComesLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "-remind-after", "1h")
	require.Equal(t, held, w.say("m1", "a table for 4 at 19:30"))
	w.stop()
	w.ahead = 2 * time.Hour
	w.start()
	require.Equal(t, "I still hold a table for 4 at 19:30: yes or no?", w.chat.hears())
	require.Equal(t, "Another time, then.", w.say("m2", "no"))
	w.stop()
}

func TestStop_LetsRunsFinish(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "-stop-within", "10m")
	require.Equal(t, http.StatusOK, (<-w.post("m1", "hello", secretOfTests)).status)
	require.Eventually(t, w.isBusy, patience, time.Millisecond)
	require.Equal(t, http.StatusOK, w.get("/readyz").status)

	w.cancel()
	require.Eventually(t, func() bool { return w.get("/readyz").status == http.StatusServiceUnavailable }, patience, time.Millisecond)
	require.Equal(t, http.StatusOK, w.get("/healthz").status)
	require.Equal(t, http.StatusOK, (<-w.post("m2", "a table for 4 at 19:30", secretOfTests)).status, "it is kept, and does not begin")
	require.Empty(t, w.stopped, "it waits for the run")

	require.NotEmpty(t, w.chat.hears())
	w.isStopped()
	require.Zero(t, w.get("/healthz").status, "nobody listens any more")
	store, err := sqlite.Open(w.service.config.file)
	require.NoError(t, err, "the store is closed")
	require.NoError(t, store.Close())

	w.start()
	require.Equal(t, held, w.chat.hears(), "what was kept begins after the restart")
	w.stop()
}

func TestStop_EndsUnfinishedRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "-stop-within", "1ms")
	require.Equal(t, http.StatusOK, (<-w.post("m1", "a table for 4 at 19:30", secretOfTests)).status)
	require.Eventually(t, w.isBusy, patience, time.Millisecond)
	w.stop()
	w.start()
	require.Equal(t, held, w.chat.hears(), "it runs again")
	w.stop()
}

func TestHealth_StoreDoesNotAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Equal(t, reply{status: http.StatusOK, body: "ready\n"}, w.get("/readyz"))
	require.NoError(t, w.service.closeStore(t.Context()))
	require.Eventually(t, func() bool { return w.get("/readyz").status == http.StatusServiceUnavailable }, patience, 10*time.Millisecond, "an answer stands for a second")
	require.Equal(t, reply{status: http.StatusOK, body: "alive\n"}, w.get("/healthz"))
	w.stop()
}

func TestHealth_FileIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Equal(t, http.StatusOK, w.get("/readyz").status)
	file := w.service.config.file
	require.NoError(t, os.Rename(file, file+".aside"))
	require.Eventually(t, func() bool { return w.get("/readyz").status == http.StatusServiceUnavailable }, patience, 10*time.Millisecond)
	require.Equal(t, http.StatusServiceUnavailable, (<-w.post("m1", "hello", secretOfTests)).status, "nobody would find it again")
	require.NoError(t, os.Rename(file+".aside", file))
	require.Eventually(t, func() bool { return w.get("/readyz").status == http.StatusOK }, patience, 10*time.Millisecond)
	w.say("m1", "hello")
	w.stop()
}

func TestService_BodyNobodyWants(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Positive(t, w.service.server.ReadTimeout, "what else comes slowly has an end")
	// This server has no ReadTimeout: it would wait forever for a body.
	server := httptest.NewServer(w.service.server.Handler)
	t.Cleanup(server.Close)
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/nothing"} {
		client, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
		require.NoError(t, err)
		t.Cleanup(func() { _ = client.Close() })
		require.NoError(t, client.SetDeadline(time.Now().Add(patience)))
		_, err = io.WriteString(client, "GET "+path+" HTTP/1.1\r\nHost: bots\r\nContent-Length: 10\r\n\r\nslow")
		require.NoError(t, err)
		answer, err := io.ReadAll(client)
		require.NoError(t, err, path)
		require.Contains(t, string(answer), "Connection: close", path)
	}
}

func TestLog_HasNoSecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("m1", "hello")
	require.Equal(t, http.StatusUnauthorized, (<-w.post("m2", "hello", wrongSecret)).status)
	w.chat.refuses.Store(true) // So that the run fails, and is logged.
	require.Equal(t, http.StatusOK, (<-w.post("m3", "hello", secretOfTests)).status)
	require.Eventually(t, func() bool { return strings.Contains(w.log.String(), "inbox: failed") }, patience, time.Millisecond)
	w.stop()
	require.Regexp(t, `msg="inbox: failed" .*app=bistro channel=website .*help.*response 1`, w.log.String())
	require.NotContains(t, w.log.String(), secretOfTests)
}

func TestMetrics_Count(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("m1", "hello")
	w.say("m2", "a table for 4 at 19:30")
	require.Eventually(t, func() bool { // The last run ends after its message.
		return strings.Contains(w.get("/metrics").body, "\nbotctx_inbox_handled_total 2\n")
	}, patience, time.Millisecond)
	page := w.get("/metrics")
	require.Equal(t, http.StatusOK, page.status)
	for _, line := range []string{
		`messaging_process_duration_seconds_count{.*messaging_system="inbox".*} 2`,
		`botctx_inbox_accepted_total 2`,
		`botctx_inbox_pending 0`,
		`messaging_client_sent_messages_total{.*messaging_system="custom".*} 2`,
		`botctx_operation_duration_seconds_count{.*botctx_operation="newAgenda".*} 1`,
		`db_client_operation_duration_seconds_count{.*db_collection_name="agendas",.*db_system_name="sqlite".*} `,
		`botctx_agenda_due({.*})? 0`,
	} {
		require.Regexp(t, "(?m)^"+line, page.body)
	}
	w.stop()
}

func TestMetrics_CountWhatIsDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Equal(t, http.StatusBadRequest, (<-w.postOf("m1", `{"type":"TEXT","from":"ada","data":{}}`, secretOfTests)).status)
	require.Regexp(t, `(?m)^botctx_inbox_dropped_total{botctx_drop_kind="TEXT",botctx_drop_reason="invalid",messaging_system="custom"} 1`,
		w.get("/metrics").body)
	w.stop()
}

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
