package telegram_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/telegram"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/livechat/livechattest"
	"github.com/botctx/go-sdk/send"
)

// newOutlet returns a host whose bot, desk, sends tickets to a group. If agentsChat is nil, agents answer in their private
// chats with the bot.
func newOutlet(t *testing.T, agentsChat any) *livechattest.Harness {
	t.Helper()
	const tickets = "-100300"
	w, in, answering := newWorld(), desk(), [2]int64{grace, bob}
	in.Metadata = document.O("agentsChat", agentsChat)
	in.BroadcastGroups = connectortest.Tickets(tickets)
	var connector *telegram.Connector
	h := connectortest.Outlet{
		Platform: w, Channel: in, Agents: [2]string{graces, bobID},
		Connect: func(h *livechattest.MemoryHost, client *http.Client) (send.Connector, http.Handler) {
			connector = newConnector(t, telegram.Config{HTTPClient: client, Store: h.Store, LoadChannel: h.LoadChannel, Logger: silent()})
			return connector, routed(connector.Handler(h.Accept))
		},
		Posted: func() (all []connectortest.Posted) {
			for _, message := range w.Messages() {
				one := connectortest.Posted{To: message.Chat, ID: tickets + ":" + strconv.FormatInt(message.ID, 10), Text: message.Text}
				if len(message.Buttons) > 0 {
					one.Tap = func(agent int) connectortest.Report {
						w.Taps(otherToken, answering[agent], message, "Take")
						return nil
					}
				}
				all = append(all, one)
			}
			return all
		},
		Says: func(agent int, conversation, text string) connectortest.Report {
			if !strings.Contains(conversation, "/") { // It is no topic, so the agent writes to the bot alone.
				conversation = strconv.FormatInt(answering[agent], 10)
			}
			w.Says(otherToken, answering[agent], conversation, text)
			return nil
		},
		Reports: func() (all []connectortest.Report) {
			w.Push(t.Context(), otherToken, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				all = append(all, func(ctx context.Context) *http.Request {
					again := r.Clone(ctx)
					again.Body = io.NopCloser(bytes.NewReader(body))
					return again
				})
			}), deskPath, 20)
			return all
		},
	}.Harness(t)
	require.NoError(t, connector.SetWebhook(t.Context(), in, "https://bots.example.com"+deskPath))
	return h
}

func TestOutlet(t *testing.T) {
	t.Parallel()
	for name, agentsChat := range map[string]any{"in topics": forum, "with the bot alone": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			livechattest.RunOutlet(t, func(t *testing.T) *livechattest.Harness {
				t.Helper()
				return newOutlet(t, agentsChat)
			})
		})
	}
}
