package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/webhook"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

// secret signs the messages of the tests and of the bot.
const secret = "a-secret-that-only-the-tests-know"

// newChat starts the other end of the channel. It sends the bot's messages on the returned Go channel.
func newChat(t *testing.T) (address string, said <-chan string) {
	t.Helper()
	told := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || webhook.Verify(r.Header, body, time.Now(), time.Minute, channel.NewSecret(secret)) != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		message, err := document.ParseJSON(body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		told <- document.Get(message.(document.Object), "response.text", "")
	}))
	t.Cleanup(server.Close)
	return server.URL, told
}

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
	return status(t, req)
}

// says posts a member's message, signed with a key, and returns the status.
func says(t *testing.T, address, id, key string) int {
	t.Helper()
	body := []byte(`{"app":"shop","channel":"chat","profile":{"firstName":"Ada"},` +
		`"messageEvent":{"type":"TEXT","from":"ada","data":{"text":"hi"}}}`)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/inbound", bytes.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	require.NoError(t, webhook.Sign(req.Header, id, time.Now(), body, channel.NewSecret(key)))
	return status(t, req)
}

// status returns the status of an answer.
func status(t *testing.T, req *http.Request) int {
	t.Helper()
	answer, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	return answer.StatusCode
}

func TestHost_GoesOnAfterRestart(t *testing.T) {
	t.Parallel()
	chat, said := newChat(t)
	s := settings{
		store: filepath.Join(t.TempDir(), "bots.db"), chat: chat, secret: channel.NewSecret(secret), allow: []string{"127.0.0.1"},
	}

	for id, want := range []string{"Hello Ada, message 1.", "Hello Ada, message 2."} {
		address, stop := start(t, s)
		require.Equal(t, http.StatusOK, says(t, address, strconv.Itoa(id), secret))
		require.Equal(t, want, <-said)
		require.Equal(t, http.StatusOK, get(t, address+"/healthz"))
		require.Equal(t, http.StatusOK, get(t, address+"/readyz"))
		stop()
	}
}

func TestHost_RefusesOtherSecrets(t *testing.T) {
	t.Parallel()
	address, stop := start(t, settings{
		store: filepath.Join(t.TempDir(), "bots.db"), chat: "https://chat.example", secret: channel.NewSecret(secret),
	})
	defer stop()
	require.Equal(t, http.StatusUnauthorized, says(t, address, "m1", "another-secret-of-enough-length!"))
}

func TestHost_SecretThatCanBeGuessed(t *testing.T) {
	t.Parallel()
	s := settings{listen: "127.0.0.1:0", store: filepath.Join(t.TempDir(), "bots.db"), secret: channel.NewSecret("guess")}
	require.EqualError(t, run(t.Context(), s),
		"BOTS_SECRET: failed precondition: the secret has 5 bytes and must have at least 16; make one at random")
}

func TestHost_NowhereToPostTo(t *testing.T) {
	t.Parallel()
	for chat, want := range map[string]string{
		"":                           "BOTS_CHAT: invalid argument: url",
		"chat.example":               "BOTS_CHAT: invalid argument: url",
		"https://10.0.0.1/said":      "BOTS_CHAT: invalid argument: url: the host 10.0.0.1 is a private address",
		"https://chat.example/a b\n": "BOTS_CHAT: invalid argument: url: is not a URL",
	} {
		s := settings{
			listen: "127.0.0.1:0", store: filepath.Join(t.TempDir(), "bots.db"), chat: chat, secret: channel.NewSecret(secret),
		}
		require.ErrorContains(t, run(t.Context(), s), want)
	}
}

func TestRun_DatabaseDoesNotAnswer(t *testing.T) {
	t.Parallel()
	s := settings{listen: "127.0.0.1:0", store: "mongodb://127.0.0.1:1/bots?serverSelectionTimeoutMS=1"}
	require.ErrorIs(t, run(t.Context(), s), boterr.Unavailable)
}
