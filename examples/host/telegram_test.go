package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/telegramfake"
)

const telegramToken = "7001:token-that-only-the-tests-know"

// telegramHost is a running service whose only channel is a bot of an in-memory Telegram.
type telegramHost struct {
	*telegramfake.Telegram

	t       *testing.T
	log     *lockedBuffer
	cancel  context.CancelFunc
	stopped chan error
}

func newTelegramHost(t *testing.T) *telegramHost {
	t.Helper()
	h := &telegramHost{Telegram: telegramfake.New(), t: t, log: &lockedBuffer{}, stopped: make(chan error, 1)}
	h.AddBot(telegramToken, telegramID)
	h.AddUser(501, "Ada")
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	environment := variables{telegramVariable: telegramToken, adminVariable: tokenOfTests}
	args := []string{"-listen", anyPort, "-file", filepath.Join(t.TempDir(), "bots.db"), "-log-level", "debug"}
	c, err := parse(args, environment.lookup, io.Discard)
	require.NoError(t, err)
	c.telegramURL = server.URL
	s, err := open(t.Context(), c, slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: c.logLevel})), io.Discard)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	h.cancel = cancel
	t.Cleanup(cancel)
	go func() { h.stopped <- s.serve(ctx) }()
	return h
}

// hears waits until the bot has said something new, and returns it.
func (h *telegramHost) hears(before int) string {
	h.t.Helper()
	require.Eventually(h.t, func() bool { return len(h.Messages()) > before }, patience, time.Millisecond)
	return h.Messages()[before].Text
}

func TestTelegram_TalksAtOnce(t *testing.T) {
	t.Parallel()
	h := newTelegramHost(t)
	h.Says(telegramToken, 501, "501", "a table for 4 at 19:30")
	require.Equal(t, held, h.hears(0))
	h.Says(telegramToken, 501, "501", "yes")
	require.Equal(t, "Booked: 4 at 19:30. See you then!", h.hears(1))
	h.cancel()
	require.NoError(t, <-h.stopped)
	require.NotContains(t, h.log.String(), "only-the-tests-know")
}

func TestTelegram_WrongTokenIsNamed(t *testing.T) {
	t.Parallel()
	var problems bytes.Buffer
	environment := variables{telegramVariable: "not-a-token"}
	args := []string{"-listen", anyPort, "-file", filepath.Join(t.TempDir(), "bots.db")}
	require.Equal(t, 1, run(t.Context(), args, environment.lookup, io.Discard, &problems))
	require.Contains(t, problems.String(), "HOST_TELEGRAM_TOKEN: ")
	require.Contains(t, problems.String(), "BotFather")
	require.NotContains(t, problems.String(), "not-a-token")
}
