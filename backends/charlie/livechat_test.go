package charlie_test

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/charlie"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/livechat/livechattest"
	"github.com/botctx/go-sdk/send"
)

// workplace is an outlet in a fake of the tool.
type workplace struct {
	*livechattest.Harness

	tool    *tool
	handler http.Handler
}

func newWorkplace(t *testing.T) *workplace {
	t.Helper()
	w, in, agents := &workplace{tool: newTool()}, workspace(), [2]string{"U7", "U8"}
	in.BroadcastGroups = connectortest.Tickets("C1")
	reported, events := 0, 0
	says := func(agent int, conversation string, fields ...any) connectortest.Report {
		events++
		ts := fmt.Sprintf("1699999999.%06d", events)
		event := document.O(append([]any{"type", "message", "channel", conversation, "user", agents[agent], "ts", ts}, fields...)...).String()
		return func(context.Context) *http.Request { return wrote(ts, event) }
	}
	taps := func(ticket posted, agent int, value string) connectortest.Report {
		events++
		payload := document.O(
			"type", "block_actions", "team", document.O("id", "T1"), "user", document.O("id", agents[agent]),
			"channel", document.O("id", "C1"), "message", document.O("ts", ticket.ts),
			"actions", document.A(document.O("action_id", "button-0", "value", value, "action_ts", fmt.Sprintf("1699999999.%06d", events))),
		).String()
		return func(context.Context) *http.Request {
			return signed("application/x-www-form-urlencoded", url.Values{"payload": {payload}}.Encode())
		}
	}
	w.Harness = connectortest.Outlet{
		Platform: w.tool, Channel: in, Agents: agents,
		Connect: func(h *livechattest.MemoryHost, client *http.Client) (send.Connector, http.Handler) {
			connector, err := charlie.New(charlie.Config{
				APIURL: "http://tool.test", HTTPClient: client, Now: clock,
				FindChannel: func(ctx context.Context, _ charlie.Workspace) (*channel.Channel, error) {
					return h.LoadChannel(ctx, livechattest.App, in.ID)
				},
			})
			require.NoError(t, err)
			w.handler = connector.Handler(h.Accept)
			return connector, w.handler
		},
		Posted: func() (all []connectortest.Posted) {
			w.tool.mu.Lock()
			defer w.tool.mu.Unlock()
			for _, sent := range w.tool.posted {
				now := w.tool.conversations[sent.conversation].messages[sent.ts]
				one := connectortest.Posted{To: sent.conversation, ID: sent.ts, Text: html.UnescapeString(now.Get("text"))}
				blocks, _ := document.ParseJSON([]byte(now.Get("blocks")))
				if shown, _ := blocks.(document.Array); shown.Len() > 1 {
					value := document.Get(shown.At(1).(document.Object), "elements.0.value", "")
					one.Tap = func(agent int) connectortest.Report { return taps(sent, agent, value) }
				}
				all = append(all, one)
			}
			return all
		},
		Says: func(agent int, conversation, text string) connectortest.Report {
			return says(agent, conversation, "text", text)
		},
		SendsFile: func(agent int, conversation, url string) connectortest.Report {
			file := document.O("id", "F1", "mimetype", "application/pdf", "url_private_download", url)
			return says(agent, conversation, "subtype", "file_share", "files", document.A(file))
		},
		Reports: func() (all []connectortest.Report) { // The tool reports the bot's own messages, too.
			w.tool.mu.Lock()
			defer w.tool.mu.Unlock()
			for _, one := range w.tool.posted[reported:] {
				body := document.O(
					"type", "message", "channel", one.conversation, "user", "UBOT", "bot_id", "B1", "text", one.form.Get("text"), "ts", one.ts,
				).String()
				all = append(all, func(context.Context) *http.Request { return wrote("own "+one.ts, body) })
			}
			reported = len(w.tool.posted)
			return all
		},
	}.Harness(t)
	return w
}

func TestOutlet(t *testing.T) {
	t.Parallel()
	livechattest.RunOutlet(t, func(t *testing.T) *livechattest.Harness {
		t.Helper()
		return newWorkplace(t).Harness
	})
}
