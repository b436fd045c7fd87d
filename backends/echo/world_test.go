package echo_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/echo"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/explore"
	"github.com/botctx/go-sdk/internal/echofake"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

const grace = "oGrace"

// helpdesk is a bot that welcomes members, takes an order, tags the member, and offers a live chat.
func helpdesk() []*botctx.Node {
	isWelcome := botctx.When(func(bot *botctx.Context) bool { return bot.MessageEvent.Type == send.TypeReferral })
	return []*botctx.Node{
		{ID: "welcome", Tree: "members", Trigger: isWelcome, Responses: []send.Response{
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
	saved, err := bot.EchoSaveMemberTag(ctx, send.EchoSaveMemberTagParams{Channel: bot.Channel, Member: bot.Member, TagID: new(int64(7))})
	if err != nil {
		return err
	}
	return bot.Reply(ctx, send.Text(fmt.Sprintf("%v cups of tea (%s).", bot.MessageEvent.Value(), saved.ErrMsg)))
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

// world is a host with two accounts: members write to the shop, and agents answer from the desk.
type world struct {
	*testing.T

	platform *echofake.Platform
	handler  http.Handler
	runtime  *botctx.Runtime
	now      time.Time
	events   int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, now: noon()}
	now := func() time.Time { return w.now }
	w.platform = echofake.New(map[string]string{shopApp: shopSecret, deskApp: deskSecret}, ada, grace)
	w.platform.Now = now
	shared := memstore.New(memstore.WithNow(now))
	connector := newConnector(t, echo.Config{
		HTTPClient: &http.Client{Transport: directly{w.platform}}, Now: now, Store: shared,
		FindChannel: func(ctx context.Context, account string) (*channel.Channel, error) {
			return w.runtime.LoadChannel(ctx, "app-1", map[string]string{"gh_shop": "shop", "gh_desk": "desk"}[account])
		},
	})
	var err error
	w.runtime, err = botctx.New(botctx.Config{
		Store: shared, Now: now, Connectors: map[channel.Type]send.Connector{channel.Echo: echo.Limited(connector)},
	})
	require.NoError(t, err)
	require.NoError(t, w.runtime.Handle(helpdesk()...))
	members, agents := shop(), desk()
	members.App, agents.App = "", ""
	members.PriorityGroups, agents.PriorityGroups = trees("members"), trees("agents")
	agents.BroadcastGroups = []channel.BroadcastGroup{{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: grace}}}}
	for _, in := range []*channel.Channel{members, agents} {
		_, err := w.runtime.SaveChannel(t.Context(), "app-1", in)
		require.NoError(t, err)
	}
	require.NoError(t, w.runtime.Pair(t.Context(), "app-1", "shop", "desk"))
	_, err = w.runtime.SaveAdmin(t.Context(), "app-1", livechat.Admin{AdminID: "grace", ExternalID: grace, Name: "Grace"})
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle("/echo/{account}", connector.Handler(w.runtime.Accept))
	w.handler = mux
	return w
}

func trees(name string) []channel.PriorityGroup {
	return []channel.PriorityGroup{{Group: "all", Trees: []string{name}}}
}

// reports posts a report to the host twice, because the platform may repeat it, and runs the bot.
func (w *world) reports(account, from, body string) {
	w.Helper()
	app, webhook := shopApp, shopWebhook
	if account == "gh_desk" {
		app, webhook = deskApp, deskWebhook
	}
	w.platform.Writes(app, from, w.now)
	for range 2 {
		answer := httptest.NewRecorder()
		w.handler.ServeHTTP(answer, webhook.Report(w.Context(), "/echo/"+account, w.now, body))
		require.Equal(w, "success", answer.Body.String())
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

func (w *world) says(account, from, text, tapped string) {
	w.Helper()
	w.events++
	w.now = w.now.Add(time.Second)
	report := echofake.Text(from, account, strconv.Itoa(w.events), w.now, text)
	if tapped != "" {
		report = echofake.Tapped(report, tapped)
	}
	w.reports(account, from, report)
}

// taps simulates a tap on a line of the member's last message, found by its title.
func (w *world) taps(account, from, title string) {
	w.Helper()
	for _, line := range document.Get(w.last(from).Body, "msgmenu.list", []document.Object{}) {
		if document.Get(line, "content", "") == title {
			w.says(account, from, title, document.Get(line, "id", ""))
			return
		}
	}
	require.Fail(w, "there is no such line", title)
}

func (w *world) last(to string) echofake.Message {
	w.Helper()
	var last echofake.Message
	for _, sent := range w.platform.Sent() {
		if sent.To == to {
			last = sent
		}
	}
	require.NotZero(w, last, "nothing was sent to %s", to)
	return last
}

func TestWorld_ABotWithALiveChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.says("gh_desk", grace, "I am at work", "")
	w.reports("gh_shop", ada, echofake.Event(ada, "gh_shop", w.now, "subscribe", "<EventKey>qrscene_window</EventKey>"))
	w.taps("gh_shop", ada, "Yes")
	require.Equal(t, "2 cups of tea (ok).", w.last(ada).Text())
	require.Equal(t, []int64{7}, w.platform.Tags(shopApp, ada))

	w.says("gh_shop", ada, "A person", "person")
	require.Equal(t, "Somebody will be with you soon.", w.last(ada).Text())
	w.taps("gh_desk", grace, "Take")
	w.says("gh_shop", ada, "Green or black?", "")
	require.Equal(t, "Green or black?", w.last(grace).Text())
	w.says("gh_desk", grace, "Green.", "")
	require.Equal(t, "Green.", w.last(ada).Text())
	w.says("gh_desk", grace, "/done", "")
	sent := len(w.platform.Sent())
	w.says("gh_shop", ada, "Thanks", "")
	require.Len(t, w.platform.Sent(), sent, "the chat is over")
	require.Equal(t, 2, w.platform.Renewals(), "one access token for each account")
}

// If the member leaves, the agent is told and the live chat ends.
func TestWorld_MemberLeavesDuringALiveChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.says("gh_desk", grace, "I am at work", "")
	w.says("gh_shop", ada, "A person", "person")
	w.taps("gh_desk", grace, "Take")
	w.platform.Leaves(shopApp, ada)
	w.says("gh_desk", grace, "Still there?", "")
	require.Contains(t, w.last(grace).Text(), "the customer cannot be reached any more")
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

// An order is stored once and confirmed in spite of any fault.
func TestExplore_ReportsUnderFaults(t *testing.T) {
	t.Parallel()
	var platform *echofake.Platform
	var connector *echo.Connector
	own := fakes.Config(func(c *botctx.Config) {
		platform = newPlatform()
		connector = newConnector(t, echo.Config{HTTPClient: &http.Client{Transport: directly{platform}}, FindChannel: find})
		c.Connectors[channel.Echo] = connector
	})
	explore.Faults(t, 60, func(t *explore.T, p *fakes.Platform) {
		p.HandleFunc(order)
		p.AddData("orders")
		p.AddChannel(*shop())
		handler := http.NewServeMux()
		handler.Handle("/echo/{account}", connector.Handler(func(ctx context.Context, in botctx.Inbound) error {
			return p.Runtime().Accept(ctx, in)
		}))
		for range 5 { // The platform repeats a report until it is accepted.
			answer := httptest.NewRecorder()
			text := echofake.Text(ada, "gh_shop", "7", noon(), "a kettle")
			handler.ServeHTTP(answer, shopWebhook.Report(t.Context(), "/echo/gh_shop", noon(), text))
			t.Settle(time.Hour)
			if answer.Code == http.StatusOK {
				break
			}
		}
		require.Len(t, p.Data("orders"), 1)
		require.NotEmpty(t, platform.Sent())
	}, explore.PlatformOptions(fakes.WithInbox(), own))
}
