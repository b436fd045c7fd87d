package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/webhook"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

const (
	secretOfTests = "a-secret-that-only-the-tests-know"
	wrongSecret   = "another-secret-of-enough-length!"
	// anyPort makes a host listen on a free port.
	anyPort = "127.0.0.1:0"
	// patience is the time after which a test gives up.
	patience = 5 * time.Minute
)

// chat is the other end of the channel. It takes a message when the test reads it, so the run that sends it
// is blocked until then.
type chat struct {
	*httptest.Server

	t    *testing.T
	now  func() time.Time
	said chan string
	// asked counts the messages that have arrived. refuses is true while the chat refuses all messages.
	asked   atomic.Int64
	refuses atomic.Bool
}

func newChat(t *testing.T, now func() time.Time) *chat {
	t.Helper()
	c := &chat{t: t, now: now, said: make(chan string)}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *chat) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = webhook.Verify(r.Header, body, c.now(), patience, channel.NewSecret(secretOfTests))
	}
	if err != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	message, err := document.ParseJSON(body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.asked.Add(1)
	if c.refuses.Load() {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	select {
	case c.said <- document.Get(message.(document.Object), "response.text", ""):
	case <-r.Context().Done():
	}
}

// hears returns the next message of the bot.
func (c *chat) hears() string {
	c.t.Helper()
	select {
	case text := <-c.said:
		return text
	case <-time.After(patience):
		require.Fail(c.t, "the bot says nothing")
		return ""
	}
}

// world is a running service with the chat of its one channel.
type world struct {
	t    *testing.T
	args []string
	// environment are the environment variables with the secrets.
	environment variables
	log         *lockedBuffer
	chat        *chat
	// ahead is the time by which the clocks of the service and the chat are ahead of the real one.
	ahead time.Duration

	service *service
	cancel  context.CancelFunc
	stopped chan error
}

// newWorld starts a service on a new file.
func newWorld(t *testing.T, args ...string) *world {
	t.Helper()
	return newWorldIn(t, variables{}, args...)
}

// newWorldIn starts a service in an environment with further variables.
func newWorldIn(t *testing.T, environment variables, args ...string) *world {
	t.Helper()
	folder := t.TempDir()
	environment["SECRET"] = secretOfTests
	w := &world{t: t, environment: environment, log: &lockedBuffer{}}
	w.chat = newChat(t, func() time.Time { return time.Now().Add(w.ahead) })
	channels := filepath.Join(folder, "channels.json")
	text, err := json.Marshal([]map[string]string{{
		"app": "bistro", "id": "website", "url": w.chat.URL, "secretVariable": "SECRET",
	}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(channels, text, 0o600))
	w.args = append([]string{
		"-listen", anyPort, "-file", filepath.Join(folder, "bots.db"), "-channels", channels, "-allow", "127.0.0.1",
		"-log-level", "debug",
	}, args...)
	w.start()
	t.Cleanup(func() { w.cancel() })
	return w
}

func (w *world) start() {
	w.t.Helper()
	c, err := parse(w.args, w.environment.lookup, io.Discard)
	require.NoError(w.t, err)
	c.now = w.chat.now
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.t.Context()))
	w.service, err = open(ctx, c, slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: c.logLevel})), io.Discard)
	require.NoError(w.t, err)
	w.cancel, w.stopped = cancel, make(chan error, 1)
	go func(s *service, stopped chan<- error) { stopped <- s.serve(ctx) }(w.service, w.stopped)
}

// started runs a service. stop ends it, at the latest at the end of the test.
func started(t *testing.T, c config, log io.Writer) (s *service, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	s, err := open(ctx, c, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: c.logLevel})), io.Discard)
	require.NoError(t, err)
	stopped := make(chan error, 1)
	go func(s *service) { stopped <- s.serve(ctx) }(s)
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-stopped)
	})
	t.Cleanup(stop)
	return s, stop
}

func (w *world) stop() {
	w.t.Helper()
	w.cancel()
	w.isStopped()
}

// isBusy reports whether a run is in progress: its message has reached the chat, which does not answer it.
func (w *world) isBusy() bool { return w.chat.asked.Load() > 0 }

// isStopped waits until the service has stopped.
func (w *world) isStopped() {
	w.t.Helper()
	select {
	case err := <-w.stopped:
		require.NoError(w.t, err)
	case <-time.After(patience):
		require.Fail(w.t, "the service does not stop")
	}
}

type reply struct {
	status     int
	body       string
	retryAfter string
}

func (w *world) get(path string) reply {
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, "http://"+w.service.listener.Addr().String()+path, nil)
	if err != nil {
		return reply{body: err.Error()}
	}
	return do(req)
}

// post posts a member's message. The reply comes once it is stored.
func (w *world) post(id, text, secret string) <-chan reply {
	w.t.Helper()
	return w.postOf(id, `{"type":"TEXT","from":"ada","data":{"text":"`+text+`"}}`, secret)
}

func (w *world) postOf(id, event, secret string) <-chan reply {
	w.t.Helper()
	body := []byte(`{"app":"bistro","channel":"website","profile":{"firstName":"Ada"},"messageEvent":` + event + `}`)
	address := "http://" + w.service.listener.Addr().String() + "/inbound"
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, address, bytes.NewReader(body))
	require.NoError(w.t, err)
	req.Header.Set("Content-Type", "application/json")
	require.NoError(w.t, webhook.Sign(req.Header, id, w.chat.now(), body, channel.NewSecret(secret)))
	replies := make(chan reply, 1)
	go func() { replies <- do(req) }()
	return replies
}

// say posts a member's message, and returns the bot's answer.
func (w *world) say(id, text string) string {
	w.t.Helper()
	posted := w.post(id, text, secretOfTests)
	said := w.chat.hears()
	require.Equal(w.t, http.StatusOK, (<-posted).status)
	return said
}

// do sends a request. A status of 0 means that there was no answer.
func do(req *http.Request) reply {
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return reply{body: err.Error()}
	}
	defer resp.Body.Close() //nolint:errcheck // The body is read.
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return reply{body: err.Error()}
	}
	return reply{status: resp.StatusCode, body: string(body), retryAfter: resp.Header.Get("Retry-After")}
}

type variables map[string]string

func (v variables) lookup(name string) (value string, isSet bool) {
	value, isSet = v[name]
	return value, isSet
}

// lockedBuffer is a log that is written and read concurrently.
type lockedBuffer struct {
	lock sync.Mutex
	text strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.lock.Lock()
	defer b.lock.Unlock()
	return b.text.String()
}
