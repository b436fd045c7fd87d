package charlie_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/charlie"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

func TestHandler_ThreadOfMessage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ thread, want string }{
		"in a thread":             {`,"thread_ts":"1699999990.000100"`, "1699999990.000100"},
		"in none":                 {``, ""},
		"the message that has it": {`,"thread_ts":"1699999999.000100"`, ""},
	} {
		box := newInbox(t, charlie.Config{})
		require.Equal(t, http.StatusOK, ask(box, wrote("E1", strings.TrimSuffix(hello, "}")+c.thread+"}")).Code)
		require.Equal(t, c.want, document.Get(box.all()[0].Event.Data, "thread_ts", ""), name)
	}
}

func TestHandler_ThreadOfTap(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]document.Object{
		"of the message":   document.O("message", document.O("ts", "1.2", "thread_ts", "1.1")),
		"of the container": document.O("container", document.O("message_ts", "1.2", "thread_ts", "1.1")),
		"before blocks":    document.O("message_ts", "1.2", "original_message", document.O("ts", "1.2", "thread_ts", "1.1")),
	} {
		box := newInbox(t, charlie.Config{})
		tap := place.With("type", "block_actions").With("channel", document.O("id", "C1")).
			With("actions", document.A(document.O("type", "button", "value", "go")))
		require.Equal(t, http.StatusOK, ask(box, interacted(tap)).Code)
		require.Equal(t, "1.1", document.Get(box.all()[0].Event.Data, "thread_ts", ""), name)
	}
}

func TestRuntime_ReplyInThread(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ conversation, answeredIn, thread string }{
		"in a channel":            {"C1", "C1", "1.1"},
		"alone with the bot":      {"D1", "D1", "1.1"},
		"in a channel, in none":   {"C1", "D1", ""},
		"alone with the bot, too": {"D1", "D1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t)
			h.runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
				return bot.Reply(ctx, send.Text("hi"))
			})
			event := document.O("type", "message", "channel", c.conversation, "user", "U1", "text", "hello", "ts", "1.2")
			if c.thread != "" {
				event = event.With("thread_ts", c.thread)
			}
			h.reports(t, wrote("E1", event.String()))
			sent := h.tool.sent(t, c.answeredIn)
			require.Equal(t, []string{"hi", c.thread}, []string{sent.Get("text"), sent.Get("thread_ts")})
		})
	}
}
