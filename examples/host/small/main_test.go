package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

// start runs the host, and returns its address and a function that stops it.
func start(t *testing.T, s settings) (address string, stop func()) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- host(ctx, listener, s) }()
	return "http://" + listener.Addr().String(), func() {
		cancel()
		require.NoError(t, <-ended)
	}
}

// get makes a GET request to the host, and returns the status.
func get(t *testing.T, address string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	return answer.StatusCode
}

// visitor is a page with the chat.
type visitor struct{ token string }

// asks makes a request to the host as the page does, and returns the status and the answer.
func (v *visitor) asks(t *testing.T, origin, method, address, body string) (status int, answer document.Object) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Origin", origin)
	req.Header.Set("Authorization", "Bearer "+v.token)
	got, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, got.Body.Close()) }()
	text, err := io.ReadAll(got.Body)
	require.NoError(t, err)
	if got.StatusCode == http.StatusOK {
		require.NoError(t, answer.UnmarshalJSON(text), "%s", text)
	}
	return got.StatusCode, answer
}

// opens begins a session from a page of an origin, and returns the status.
func (v *visitor) opens(t *testing.T, address, origin string) int {
	t.Helper()
	status, answer := v.asks(t, origin, http.MethodPost, address+"/chat/session", `{"channel":"chat"}`)
	v.token = document.Get(answer, "token", "")
	return status
}

// says sends a message with an id, and returns the bot's next message.
func (v *visitor) says(t *testing.T, address, id string) string {
	t.Helper()
	status, sent := v.asks(t, address, http.MethodPost, address+"/chat/messages", `{"clientId":"`+id+`","type":"TEXT","text":"hi"}`)
	require.Equal(t, http.StatusOK, status)
	after := strconv.FormatInt(document.Get(sent, "seq", int64(0)), 10)
	for {
		status, heard := v.asks(t, address, http.MethodGet, address+"/chat/stream?wait=25&after="+after, "")
		require.Equal(t, http.StatusOK, status)
		if text := document.Get(heard, "events.0.response.text", ""); text != "" {
			return text
		}
	}
}

// newSettings returns the settings of a first try, over a file of the test's own.
func newSettings(t *testing.T) settings {
	t.Helper()
	s := fromEnvironment()
	s.listen, s.store = "127.0.0.1:0", filepath.Join(t.TempDir(), "bots.db")
	return s
}

func TestHost_GoesOnAfterRestart(t *testing.T) {
	t.Parallel()
	s := newSettings(t)
	var ada visitor
	for id, want := range []string{"This is your message 1.", "This is your message 2."} {
		address, stop := start(t, s)
		if id == 0 {
			require.Equal(t, http.StatusOK, ada.opens(t, address, address))
		}
		require.Equal(t, want, ada.says(t, address, strconv.Itoa(id)))
		require.Equal(t, http.StatusOK, get(t, address+"/healthz"))
		require.Equal(t, http.StatusOK, get(t, address+"/readyz"))
		require.Equal(t, http.StatusOK, get(t, address+"/"))
		require.Equal(t, http.StatusOK, get(t, address+"/chat/widget.js"))
		stop()
	}
}

func TestHost_RefusesOtherPages(t *testing.T) {
	t.Parallel()
	address, stop := start(t, newSettings(t))
	defer stop()
	require.Equal(t, http.StatusForbidden, new(visitor).opens(t, address, "https://other.example"))
}

func TestHost_PageOfAnotherOrigin(t *testing.T) {
	t.Parallel()
	s := newSettings(t)
	s.origin = "https://shop.example"
	address, stop := start(t, s)
	defer stop()
	require.Equal(t, http.StatusOK, new(visitor).opens(t, address, "https://shop.example"))
	require.Equal(t, http.StatusForbidden, new(visitor).opens(t, address, address))
}

func TestHost_RefusesOtherSecrets(t *testing.T) {
	t.Parallel()
	s := newSettings(t)
	address, stop := start(t, s)
	var ada visitor
	require.Equal(t, http.StatusOK, ada.opens(t, address, address))
	stop()

	s.secret = channel.NewSecret("another-secret-of-enough-length!")
	address, stop = start(t, s)
	defer stop()
	status, _ := ada.asks(t, address, http.MethodGet, address+"/chat/history?limit=10", "")
	require.Equal(t, http.StatusUnauthorized, status)
}

func TestHost_SecretThatCanBeGuessed(t *testing.T) {
	t.Parallel()
	s := newSettings(t)
	s.secret = channel.NewSecret("guess")
	require.EqualError(t, run(t.Context(), s), "BOTS_SECRET has fewer than 32 bytes: make one with openssl rand -hex 32")
	require.NoFileExists(t, s.store)
}

func TestRun_DatabaseDoesNotAnswer(t *testing.T) {
	t.Parallel()
	s := newSettings(t)
	s.store = "mongodb://127.0.0.1:1/bots?serverSelectionTimeoutMS=1"
	require.ErrorIs(t, run(t.Context(), s), boterr.Unavailable)
}
