package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/bolt"
)

const held = "I hold a table for 4 at 19:30. Shall I book it, yes or no?"

func TestService_AnswersSigned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Equal(t, `Say when you come, such as "a table for 4 at 19:30".`, w.say("m1", "hello"))
	require.Equal(t, held, w.say("m2", "A table for 4 at 19:30, please"))
	require.Equal(t, "Booked: 4 at 19:30. See you, Ada!", w.say("m3", "yes"))
	w.stop()
}

func TestService_AnswersOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("m1", "hello")
	again := <-w.post("m1", "hello", secretOfTests)
	require.Equal(t, http.StatusOK, again.status)
	require.Contains(t, again.body, "duplicate")
	w.stop()
}

func TestService_WrongSignature(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Equal(t, http.StatusUnauthorized, (<-w.post("m1", "hello", wrongSecret)).status)
	w.stop()
}

func TestRestart_ConversationGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Equal(t, held, w.say("m1", "a table for 4 at 19:30"))
	w.stop()
	w.start()
	require.Equal(t, "Booked: 4 at 19:30. See you, Ada!", w.say("m2", "yes"))
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
	w := newWorld(t)
	underWay := w.post("m1", "hello", secretOfTests)
	require.Eventually(t, w.isBusy, patience, time.Millisecond)
	require.Equal(t, http.StatusOK, w.get("/readyz").status)

	w.cancel()
	require.Eventually(t, func() bool { return w.get("/readyz").status == http.StatusServiceUnavailable }, patience, time.Millisecond)
	require.Equal(t, http.StatusOK, w.get("/healthz").status)
	require.Equal(t, http.StatusServiceUnavailable, (<-w.post("m2", "hello", secretOfTests)).status)
	require.Empty(t, w.stopped, "it waits for the run")

	require.NotEmpty(t, w.chat.hears())
	require.Equal(t, http.StatusOK, (<-underWay).status)
	w.isStopped()
	require.Zero(t, w.get("/healthz").status, "nobody listens any more")
	store, err := bolt.Open(w.service.config.file)
	require.NoError(t, err, "the store is closed")
	require.NoError(t, store.Close())
}

func TestStop_EndsUnfinishedRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "-stop-within", "1ms")
	underWay := w.post("m1", "hello", secretOfTests)
	require.Eventually(t, w.isBusy, patience, time.Millisecond)
	w.stop()
	require.Equal(t, http.StatusServiceUnavailable, (<-underWay).status, "the sender may send it again")
}

func TestHealth_StoreDoesNotAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Equal(t, reply{http.StatusOK, "ready\n"}, w.get("/readyz"))
	require.NoError(t, w.service.closeStore(t.Context()))
	require.Equal(t, http.StatusServiceUnavailable, w.get("/readyz").status)
	require.Equal(t, reply{http.StatusOK, "alive\n"}, w.get("/healthz"))
	w.stop()
}

func TestService_BodyNobodyWants(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Positive(t, w.service.server.ReadTimeout, "what else comes slowly has an end")
	server := httptest.NewServer(w.service.server.Handler) // It waits for bodies without an end.
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
	<-w.post("m2", "hello", wrongSecret)
	w.chat.Close() // So that the run fails, and is logged.
	require.NotEqual(t, http.StatusOK, (<-w.post("m3", "hello", secretOfTests)).status)
	w.stop()
	require.Contains(t, w.log.String(), `msg="run failed" app=bistro channel=website message=m3 node=help part="response 1"`)
	require.NotContains(t, w.log.String(), secretOfTests)
}
