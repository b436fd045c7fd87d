package alpha_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/alpha"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/alphafake"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/graph/graphtest"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// world is a host with two pages: members write to the shop, agents answer from the desk.
type world struct {
	*testing.T

	platform *alphafake.Platform
	handler  http.Handler
	runtime  *botctx.Runtime
	now      time.Time
	events   int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, now: time.UnixMilli(1_700_000_000_000)}
	w.platform = alphafake.New(map[string]string{token: "1900", otherToken: "1901"}, "100", "500")
	w.platform.Now, w.platform.AppSecret = func() time.Time { return w.now }, appSecret
	connector := newConnector(t, alpha.Config{
		HTTPClient: &http.Client{Transport: connectortest.Directly{Handler: w.platform}}, AppSecret: channel.NewSecret(appSecret),
		FindChannel: func(ctx context.Context, pageID string) (*channel.Channel, error) {
			return w.runtime.LoadChannel(ctx, "app-1", map[string]string{"1900": "shop", "1901": "desk"}[pageID])
		},
	})
	members := &channel.Channel{
		ID: "shop", Type: channel.Alpha, On: true, Info: channel.AlphaInfo{AccessToken: channel.NewSecret(token), PageID: "1900"},
		PriorityGroups: connectortest.Trees("members"),
	}
	agents := &channel.Channel{
		ID: "desk", Type: channel.Alpha, On: true, Info: channel.AlphaInfo{AccessToken: channel.NewSecret(otherToken), PageID: "1901"},
		PriorityGroups: connectortest.Trees("agents"), BroadcastGroups: connectortest.Tickets("500"),
	}
	now := func() time.Time { return w.now }
	nodes := connectortest.Helpdesk(botctx.TextIs("hi"), connectortest.Pour)
	w.runtime = connectortest.Host{
		Store: memstore.New(memstore.WithNow(now)), Now: now, Connector: alpha.Limited(connector), Nodes: nodes,
		Members: members, Agents: agents, Grace: "500",
	}.Start(t)
	w.handler = connector.Handler(w.runtime.Accept)
	return w
}

// reports sends an item of a page to the host, and runs the bot.
func (w *world) reports(page, from, content string) {
	w.Helper()
	w.events++
	w.platform.Writes(page, from, w.now)
	body := fmt.Sprintf(`{"object":"page","entry":[{"id":%q,"messaging":[{"sender":{"id":%q},"recipient":{"id":%q},"timestamp":%d,%s}]}]}`,
		page, from, page, w.now.UnixMilli(), strings.ReplaceAll(content, "MID", fmt.Sprintf("m_in_%d", w.events)))
	connectortest.GiveTwice(w.T, w.handler, func(ctx context.Context) *http.Request {
		return graphtest.Report(ctx, "/alpha", appSecret, []byte(body))
	})
	connectortest.RunEvents(w.T, w.runtime)
}

func (w *world) says(page, from, text string) {
	w.Helper()
	w.reports(page, from, fmt.Sprintf(`"message":{"mid":"MID","text":%q}`, text))
}

// taps simulates a person's tap on the button with this title in the last message to that person.
func (w *world) taps(page, from, title string) {
	w.Helper()
	for _, button := range document.Get(w.last(from).Content, "attachment.payload.buttons", []document.Object(nil)) {
		if document.Get(button, "title", "") == title {
			w.reports(page, from, fmt.Sprintf(`"postback":{"mid":"MID","title":%q,"payload":%q}`, title, document.Get(button, "payload", "")))
			return
		}
	}
	require.Fail(w, "no such button", "%s on %s", title, w.last(from).Content)
}

func (w *world) last(to string) alphafake.Message {
	w.Helper()
	return connectortest.Last(w.T, w.platform.Sent(), func(m alphafake.Message) bool { return m.To == to })
}

func (w *world) read(to string) string {
	content := w.last(to).Content
	return document.Get(content, "text", document.Get(content, "attachment.payload.text", ""))
}

func TestWorld_ALiveChatBetweenTwoPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.says("1901", "500", "I am at work") // The page may not write to the agent before the agent has written.
	w.says("1900", "100", "hi")
	w.taps("1900", "100", "Yes")
	require.Equal(t, "2 cups of tea.", w.read("100"))

	w.says("1900", "100", "hi")
	w.taps("1900", "100", "A person")
	require.Equal(t, "Somebody will be with you soon.", w.read("100"))
	ticket := w.last("500")
	require.Equal(t, "1901", ticket.Page)
	title := document.Get(ticket.Content, "attachment.payload.buttons[0].title", "")
	w.taps("1901", "500", title)
	w.says("1900", "100", "Green or black?")
	require.Equal(t, "Green or black?", w.read("500"))
	w.says("1901", "500", "Green.")
	require.Equal(t, "Green.", w.read("100"))
	w.reports("1900", "100", `"read":{"watermark":7}`)
	w.reports("1900", "100", `"delivery":{"watermark":7}`)
	require.Equal(t, "Green or black?", w.read("500"), "receipts are not relayed")
	w.says("1901", "500", "/done")
	sent := len(w.platform.Sent())
	w.says("1900", "100", "Thanks")
	require.Len(t, w.platform.Sent(), sent, "the chat is over")
}

func TestWorld_AfterADay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.says("1900", "100", "hi")
	w.now = w.now.Add(25 * time.Hour)
	bot := connectortest.BotOf(t, w.runtime, "shop")
	_, err := bot.SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("Still there?")})
	require.ErrorContains(t, err, "more than 24 hours old")
	_, err = bot.SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("Still there?"), MessagingTag: "HUMAN_AGENT"})
	require.NoError(t, err)
}

func TestExplore_ReportsUnderFaults(t *testing.T) {
	t.Parallel()
	connectortest.OrderOnce(t, shop, func() connectortest.Platform {
		platform := newPlatform()
		connector := newConnector(t, alpha.Config{
			HTTPClient: &http.Client{Transport: connectortest.Directly{Handler: platform}}, FindChannel: find, AppSecret: channel.NewSecret(appSecret),
		})
		return connectortest.Platform{
			Connector: connector, Handler: connector.Handler,
			Reports: connectortest.Once(func(ctx context.Context) *http.Request {
				return graphtest.Report(ctx, "/alpha", appSecret, []byte(text("1900", "m1", "a kettle")))
			}),
			SendIDs: func() (ids []string) {
				for _, sent := range platform.Sent() {
					ids = append(ids, document.Get(sent.Content, "metadata", ""))
				}
				return ids
			},
		}
	})
}
