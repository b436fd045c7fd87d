package alpha_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/alpha"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/explore"
	"github.com/botctx/go-sdk/internal/alphafake"
	"github.com/botctx/go-sdk/internal/graph/graphtest"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// directly is an HTTP client's transport that calls a handler without a network.
type directly struct{ http.Handler }

func (d directly) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	d.ServeHTTP(answer, r)
	return answer.Result(), nil
}

// helpdesk is a bot that greets members, takes an order, and asks for a person.
func helpdesk() []*botctx.Node {
	return []*botctx.Node{
		{ID: "hi", Tree: "members", Trigger: botctx.TextIs("hi"), Responses: []send.Response{
			send.Buttons("Tea?", send.PostbackValue("Yes", "tea", 2), send.Postback("A person", "person")),
		}},
		{ID: "tea", Tree: "members", Trigger: botctx.PayloadIs("tea"), Global: botctx.GlobalInTree, Pre: botctx.Do(pour)},
		{
			ID: "person", Tree: "members", Trigger: botctx.PayloadIs("person"), Global: botctx.GlobalInTree, Pre: botctx.Do(call),
			Responses: botctx.Say("Somebody will be with you soon."),
		},
		{ID: "done", Tree: "agents", Trigger: botctx.TextIs("/done"), Global: botctx.GlobalInTree, Pre: botctx.Do(done)},
	}
}

func pour(ctx context.Context, bot *botctx.Context) error {
	return bot.Reply(ctx, send.Text(fmt.Sprintf("%v cups of tea.", bot.MessageEvent.Value())))
}

func call(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{
		AssignmentDetails: livechat.AssignmentDetails{Summary: "Somebody wants tea"},
	})
	return err
}

func done(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.EndLiveChat(ctx, livechat.EndParams{Channel: bot.Channel, MessageEvent: bot.MessageEvent})
	return err
}

// world is a host with two pages: members write to the shop, and agents answer from the desk.
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
		HTTPClient: &http.Client{Transport: directly{w.platform}}, AppSecret: channel.NewSecret(appSecret),
		FindChannel: func(ctx context.Context, pageID string) (*channel.Channel, error) {
			return w.runtime.LoadChannel(ctx, "app-1", map[string]string{"1900": "shop", "1901": "desk"}[pageID])
		},
	})
	var err error
	w.runtime, err = botctx.New(botctx.Config{
		Store: memstore.New(memstore.WithNow(func() time.Time { return w.now })), Now: func() time.Time { return w.now },
		Connectors: map[channel.Type]send.Connector{channel.Alpha: alpha.Limited(connector)},
	})
	require.NoError(t, err)
	require.NoError(t, w.runtime.Handle(helpdesk()...))
	for _, in := range []*channel.Channel{
		{ID: "shop", Type: channel.Alpha, On: true, Info: channel.AlphaInfo{AccessToken: channel.NewSecret(token), PageID: "1900"}, PriorityGroups: trees("members")},
		{
			ID: "desk", Type: channel.Alpha, On: true, Info: channel.AlphaInfo{AccessToken: channel.NewSecret(otherToken), PageID: "1901"}, PriorityGroups: trees("agents"),
			BroadcastGroups: []channel.BroadcastGroup{{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "500"}}}},
		},
	} {
		_, err := w.runtime.SaveChannel(t.Context(), "app-1", in)
		require.NoError(t, err)
	}
	require.NoError(t, w.runtime.Pair(t.Context(), "app-1", "shop", "desk"))
	_, err = w.runtime.SaveAdmin(t.Context(), "app-1", livechat.Admin{AdminID: "grace", ExternalID: "500", Name: "Grace"})
	require.NoError(t, err)
	w.handler = connector.Handler(w.runtime.Accept)
	return w
}

func trees(name string) []channel.PriorityGroup {
	return []channel.PriorityGroup{{Group: "all", Trees: []string{name}}}
}

// reports posts an item of a page to the host and runs the bot.
func (w *world) reports(page, from, content string) {
	w.Helper()
	w.events++
	w.platform.Writes(page, from, w.now)
	body := fmt.Sprintf(`{"object":"page","entry":[{"id":%q,"messaging":[{"sender":{"id":%q},"recipient":{"id":%q},"timestamp":%d,%s}]}]}`,
		page, from, page, w.now.UnixMilli(), strings.ReplaceAll(content, "MID", fmt.Sprintf("m_in_%d", w.events)))
	for range 2 { // The platform may send a report twice.
		answer := httptest.NewRecorder()
		w.handler.ServeHTTP(answer, graphtest.Report(w.Context(), "/alpha", appSecret, []byte(body)))
		require.Equal(w, http.StatusOK, answer.Code)
	}
	for {
		result, err := w.runtime.RunNextEvent(w.Context())
		require.NoError(w, err)
		if !result.Ran {
			return
		}
		require.NoError(w, result.Err)
	}
}

func (w *world) says(page, from, text string) {
	w.Helper()
	w.reports(page, from, fmt.Sprintf(`"message":{"mid":"MID","text":%q}`, text))
}

// taps simulates a tap on a button of the person's last message, found by its title.
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
	var last alphafake.Message
	for _, sent := range w.platform.Sent() {
		if sent.To == to {
			last = sent
		}
	}
	require.NotEmpty(w, last.ID, "nothing was sent to %s", to)
	return last
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
	bot, err := w.runtime.Context(t.Context(), botctx.Scope{App: "app-1", Channel: "shop", Member: w.member()})
	require.NoError(t, err)
	_, err = bot.SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("Still there?")})
	require.ErrorContains(t, err, "more than 24 hours old")
	_, err = bot.SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("Still there?"), MessagingTag: "HUMAN_AGENT"})
	require.NoError(t, err)
}

// member returns the id of the shop's only member.
func (w *world) member() string {
	w.Helper()
	for found, err := range w.runtime.Members(w.Context(), "app-1", member.Selection{}) {
		require.NoError(w, err)
		return found.ID
	}
	return ""
}

// order stores an order under the id of the member's message, and confirms it.
func order(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.UpsertDataToDataSource(ctx, datasource.UpsertParams{
		DataSourceID: "orders", Data: []document.Object{document.O("_id", bot.MessageEvent.MessageID)},
	})
	if err != nil {
		return err
	}
	return bot.Reply(ctx, send.Text("Noted."))
}

// An order is stored once and confirmed in spite of any fault. A repeated confirmation has the same ID.
func TestExplore_ReportsUnderFaults(t *testing.T) {
	t.Parallel()
	var platform *alphafake.Platform
	var connector *alpha.Connector
	own := fakes.Config(func(c *botctx.Config) {
		platform = newPlatform()
		connector = newConnector(t, alpha.Config{
			HTTPClient: &http.Client{Transport: directly{platform}}, FindChannel: find, AppSecret: channel.NewSecret(appSecret),
		})
		c.Connectors[channel.Alpha] = connector
	})
	explore.Faults(t, 60, func(t *explore.T, p *fakes.Platform) {
		p.HandleFunc(order)
		p.AddData("orders")
		p.AddChannel(*shop())
		handler := connector.Handler(func(ctx context.Context, in botctx.Inbound) error {
			return p.Runtime().Accept(ctx, in)
		})
		for range 5 { // The platform repeats a report until it is accepted.
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, graphtest.Report(t.Context(), "/alpha", appSecret, []byte(text("1900", "m1", "a kettle"))))
			t.Settle(time.Hour)
			if answer.Code == http.StatusOK {
				break
			}
		}
		require.Len(t, p.Data("orders"), 1)
		ids := map[string]bool{}
		for _, sent := range platform.Sent() {
			ids[document.Get(sent.Content, "metadata", "")] = true
		}
		require.Len(t, ids, 1)
	}, explore.PlatformOptions(fakes.WithInbox(), own))
}
