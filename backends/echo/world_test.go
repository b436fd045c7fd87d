package echo_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/echo"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/echofake"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

const grace = "oGrace"

// pour tags the member and replies with the cups of tea.
func pour(ctx context.Context, bot *botctx.Context) error {
	saved, err := bot.EchoSaveMemberTag(ctx, send.EchoSaveMemberTagParams{Channel: bot.Channel, Member: bot.Member, TagID: new(int64(7))})
	if err != nil {
		return err
	}
	return bot.Reply(ctx, send.Text(fmt.Sprintf("%v cups of tea (%s).", bot.MessageEvent.Value(), saved.ErrMsg)))
}

// world is a host with two accounts: members write to the shop, agents answer from the desk.
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
		HTTPClient: &http.Client{Transport: connectortest.Directly{Handler: w.platform}}, Now: now, Store: shared,
		FindChannel: func(ctx context.Context, account string) (*channel.Channel, error) {
			return w.runtime.LoadChannel(ctx, "app-1", map[string]string{"gh_shop": "shop", "gh_desk": "desk"}[account])
		},
	})
	members, agents := shop(), desk()
	members.PriorityGroups, agents.PriorityGroups = connectortest.Trees("members"), connectortest.Trees("agents")
	agents.BroadcastGroups = connectortest.Tickets(grace)
	isWelcome := botctx.When(func(bot *botctx.Context) bool { return bot.MessageEvent.Type == send.TypeReferral })
	w.runtime = connectortest.Host{
		Store: shared, Now: now, Connector: echo.Limited(connector), Nodes: connectortest.Helpdesk(isWelcome, pour),
		Members: members, Agents: agents, Grace: grace,
	}.Start(t)
	mux := http.NewServeMux()
	mux.Handle("/echo/{account}", connector.Handler(w.runtime.Accept))
	w.handler = mux
	return w
}

// reports sends a report to the host twice, because the platform may repeat it, and runs the bot.
func (w *world) reports(account, from, body string) {
	w.Helper()
	app, webhook := shopApp, shopWebhook
	if account == "gh_desk" {
		app, webhook = deskApp, deskWebhook
	}
	w.platform.Writes(app, from, w.now)
	connectortest.GiveTwice(w.T, w.handler, func(ctx context.Context) *http.Request {
		return webhook.Report(ctx, "/echo/"+account, w.now, body)
	})
	connectortest.RunEvents(w.T, w.runtime)
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

// taps simulates a member's tap on the line with this title in the last message to that member.
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
	return connectortest.Last(w.T, w.platform.Sent(), func(m echofake.Message) bool { return m.To == to })
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

func TestExplore_ReportsUnderFaults(t *testing.T) {
	t.Parallel()
	connectortest.OrderOnce(t, shop, func() connectortest.Platform {
		platform := newPlatform()
		connector := newConnector(t, echo.Config{HTTPClient: &http.Client{Transport: connectortest.Directly{Handler: platform}}, FindChannel: find})
		return connectortest.Platform{
			Connector: connector,
			Handler: func(accept func(context.Context, botctx.Inbound) error) http.Handler {
				mux := http.NewServeMux()
				mux.Handle("/echo/{account}", connector.Handler(accept))
				return mux
			},
			Reports: connectortest.Once(func(ctx context.Context) *http.Request {
				return shopWebhook.Report(ctx, "/echo/gh_shop", noon(), echofake.Text(ada, "gh_shop", "7", noon(), "a kettle"))
			}),
			SendIDs: func() []string { return make([]string, len(platform.Sent())) },
		}
	})
}
