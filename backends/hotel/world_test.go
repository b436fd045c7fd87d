package hotel_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/hotel"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/hotelfake"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

const graceID = "29:grace-3"

// world is a host with two bots: members write to the shop, agents answer from the desk.
type world struct {
	*testing.T

	platform *hotelfake.Platform
	handler  http.Handler
	runtime  *botctx.Runtime
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, platform: newPlatform()}
	w.platform.AddUser(graceID, "Grace Hopper")
	config := configFor("http://hotel.test", w.platform)
	config.HTTPClient = &http.Client{Transport: connectortest.Directly{Handler: w.platform}}
	config.FindChannel = func(ctx context.Context, of hotel.Bot) (*channel.Channel, error) {
		return w.runtime.LoadChannel(ctx, "app-1", strings.TrimPrefix(of.AppID, "app-of-the-"))
	}
	connector := newConnector(t, config)
	members, agents := shop(), channelOf(deskApp())
	members.PriorityGroups, agents.PriorityGroups = connectortest.Trees("members"), connectortest.Trees("agents")
	agents.BroadcastGroups = connectortest.Tickets(teamID, bobID)
	nodes := connectortest.Helpdesk(botctx.TextIs("hi"), connectortest.Pour)
	w.runtime = connectortest.Host{
		Store: memstore.New(memstore.WithNow(w.platform.Now)), Now: w.platform.Now, Connector: hotel.Limited(connector), Nodes: nodes,
		Members: members, Agents: agents, Grace: graceID,
	}.Start(t)
	w.handler = connector.Handler(w.runtime.Accept)
	return w
}

// reports gives the host an activity twice, because the platform may repeat it, and runs the bot.
func (w *world) reports(to hotelfake.App, from, group string, fields document.Object) {
	w.Helper()
	activity := w.platform.Activity(to, from, group, fields)
	connectortest.GiveTwice(w.T, w.handler, func(ctx context.Context) *http.Request {
		return w.platform.Report(ctx, "/hotel", to.ID, activity)
	})
	connectortest.RunEvents(w.T, w.runtime)
}

func (w *world) says(to hotelfake.App, from, text string) {
	w.Helper()
	w.reports(to, from, "", document.O("text", text))
}

// taps simulates a tap on the action of a message that has this title.
func (w *world) taps(to hotelfake.App, from, group string, on hotelfake.Message, title string) {
	w.Helper()
	for _, action := range on.Actions() {
		if document.Get(action, "title", "") == title {
			w.reports(to, from, group, document.O("value", document.Get(action, "data", document.O()), "replyToId", on.ID))
			return
		}
	}
	require.Fail(w, "no such action", "%s on %s", title, on.Activity)
}

func (w *world) last(to string) hotelfake.Message {
	w.Helper()
	return connectortest.Last(w.T, w.platform.Messages(), func(m hotelfake.Message) bool { return m.To == to && !m.IsDeleted })
}

func TestWorld_LiveChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.says(shopApp(), adaID, "hi")
	w.taps(shopApp(), adaID, "", w.last(adaID), "Yes")
	require.Equal(t, "2 cups of tea.", w.last(adaID).Text())

	w.says(shopApp(), adaID, "hi")
	w.taps(shopApp(), adaID, "", w.last(adaID), "A person")
	require.Equal(t, "Somebody will be with you soon.", w.last(adaID).Text())
	ticket := w.last(teamID)
	require.Equal(t, "desk", ticket.Channel)
	require.Contains(t, ticket.Text(), "Somebody wants *tea*")
	require.Len(t, ticket.Actions(), 1)
	title := document.Get(ticket.Actions()[0], "title", "")
	w.taps(deskApp(), graceID, teamID+";messageid="+ticket.ID, ticket, title)
	require.Equal(t, "Taken by Grace.", w.last(teamID).Text())
	require.Empty(t, w.last(teamID).Actions())
	require.Equal(t, "Taken by Grace.", w.last(bobID).Text(), "each ticket shows it")

	w.says(shopApp(), adaID, "*Green* or black?")
	require.Equal(t, "*Green* or black?", w.last(graceID).Text())
	require.Equal(t, "desk", w.last(graceID).Channel)
	w.says(deskApp(), graceID, "Green.")
	require.Equal(t, "Green.", w.last(adaID).Text())
	w.reports(shopApp(), adaID, "", parsed(t, `{"attachments":[{"contentType":"application/vnd.microsoft.teams.file.download.info","name":"menu.pdf","content":{"downloadUrl":"https://x.sharepoint.com/menu.pdf","fileType":"pdf"}}]}`))
	require.Equal(t, "menu.pdf", w.last(graceID).Text(), "files are relayed, too")
	w.reports(shopApp(), adaID, "", document.O("type", "event", "name", "application/vnd.microsoft.readReceipt", "value", document.O()))
	require.Equal(t, "menu.pdf", w.last(graceID).Text(), "receipts are not relayed")
	w.says(deskApp(), graceID, "/done")
	sent := len(w.platform.Messages())
	w.says(shopApp(), adaID, "Thanks")
	require.Len(t, w.platform.Messages(), sent, "the chat is over")
}

func TestWorld_AnswersInTheThread(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.reports(shopApp(), adaID, thread, parsed(t,
		`{"text":"<at>Bot</at> hi","entities":[{"type":"mention","text":"<at>Bot</at>","mentioned":{"id":"28:app-of-the-shop"}}]}`))
	require.Equal(t, "Tea?", w.last(thread).Text())
	w.taps(shopApp(), adaID, thread, w.last(thread), "Yes")
	require.Equal(t, "2 cups of tea.", w.last(thread).Text())
}

func TestWorld_Operations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.says(shopApp(), adaID, "hi")
	bot := connectortest.BotOf(t, w.runtime, "shop")
	made, err := bot.CreateHotelChannel(t.Context(), livechat.CreateHotelChannelParams{
		Channel: shop(), HotelGroupID: teamID, DisplayName: "Orders",
	})
	require.NoError(t, err)
	id := document.Get(made.Result, "id", "")
	result, err := bot.SendHotelResponse(t.Context(), send.SendHotelResponseParams{HotelGroupID: id, Response: send.Text("Welcome")})
	require.NoError(t, err)
	require.Equal(t, "Welcome", w.last(id).Text())
	require.Equal(t, w.last(id).ID, result.MessageEvent.MessageID)
	_, err = bot.SendHotelResponse(t.Context(), send.SendHotelResponseParams{RecipientID: bobID, HotelGroupID: teamID, Response: send.Text("To you")})
	require.NoError(t, err)
	require.Equal(t, "To you", w.last(bobID).Text())
	require.Equal(t, teamID, document.Get(w.last(bobID).Opening, "channelData.team.id", ""))
}

func TestExplore_ActivitiesUnderFaults(t *testing.T) {
	t.Parallel()
	connectortest.OrderOnce(t, shop, func() connectortest.Platform {
		platform := newPlatform()
		connector := through(t, platform, platform)
		activity := platform.Activity(shopApp(), adaID, "", document.O("text", "a kettle"))
		return connectortest.Platform{
			Connector: connector, Handler: connector.Handler,
			Reports: connectortest.Once(func(ctx context.Context) *http.Request {
				return platform.Report(ctx, "/hotel", shopApp().ID, activity)
			}),
			SendIDs: func() []string { return make([]string, len(platform.Messages())) },
		}
	})
}
