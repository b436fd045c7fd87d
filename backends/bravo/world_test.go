package bravo_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/bravo"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bravofake"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/graph/graphtest"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

const grace = "15550009999"

// helpdesk is a bot that offers a live chat, and records messages that could not be delivered.
func helpdesk() []*botctx.Node {
	hasFailed := botctx.When(func(bot *botctx.Context) bool { return document.Get(bot.MessageEvent.Data, "status", "") == "failed" })
	hasJoined := botctx.When(func(bot *botctx.Context) bool {
		return document.Get(bot.MessageEvent.Data, "type", "") == "group_participants_add"
	})
	return []*botctx.Node{
		{ID: "failed", Tree: "members", Trigger: hasFailed, Global: botctx.GlobalInTree, Pre: botctx.Do(noteFailure)},
		{ID: "person", Tree: "members", Trigger: botctx.TextIs("a person, please"), Global: botctx.GlobalInTree, Pre: botctx.Do(call)},
		{ID: "joined", Tree: "groups", Trigger: hasJoined, Global: botctx.GlobalInTree, Pre: botctx.Do(joined)},
		{ID: "done", Tree: "groups", Trigger: botctx.TextIs("/done"), Global: botctx.GlobalInTree, Pre: botctx.Do(connectortest.EndChat)},
	}
}

func noteFailure(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.UpsertDataToDataSource(ctx, datasource.UpsertParams{DataSourceID: "failures", Data: []document.Object{document.O(
		"_id", document.Get(bot.MessageEvent.Data, "id", ""), "code", document.Get(bot.MessageEvent.Data, "error.code", ""),
	)}})
	return err
}

func call(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{
		AssignmentDetails: livechat.AssignmentDetails{Summary: "Ada wants tea", GroupName: "Tea for Ada"},
	})
	return err
}

func joined(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.HandleAdminJoinedGroup(ctx, livechat.HandleAdminJoinedGroupParams{
		Channel: bot.Channel, ExternalID: bot.MessageEvent.From, BravoGroupID: bot.MessageEvent.To,
	})
	return err
}

// world is a host with two numbers: members write to the shop, agents answer from the desk, in groups.
type world struct {
	*testing.T

	platform *bravofake.Platform
	handler  http.Handler
	runtime  *botctx.Runtime
	now      time.Time
	events   int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, now: time.UnixMilli(1_700_000_000_000)}
	w.platform = bravofake.New(map[string]string{token: shopNumber, otherToken: deskNumber}, ada, grace)
	w.platform.Now = func() time.Time { return w.now }
	connector := newConnector(t, bravo.Config{
		HTTPClient: &http.Client{Transport: connectortest.Directly{Handler: w.platform}}, AppSecret: channel.NewSecret(appSecret),
		Now: func() time.Time { return w.now },
		FindChannel: func(ctx context.Context, number string) (*channel.Channel, error) {
			return w.runtime.LoadChannel(ctx, "app-1", map[string]string{shopNumber: "shop", deskNumber: "desk"}[number])
		},
	})
	w.platform.ListsUntilShown = -1
	w.platform.Report = func(body []byte) { w.post(body) }
	members := &channel.Channel{
		ID: "shop", Type: channel.Bravo, On: true, Info: channel.BravoInfo{AdminAuthToken: channel.NewSecret(token), WaID: shopNumber},
		PriorityGroups: connectortest.Trees("members"),
	}
	agents := &channel.Channel{
		ID: "desk", Type: channel.Bravo, On: true, Info: channel.BravoInfo{AdminAuthToken: channel.NewSecret(otherToken), WaID: deskNumber},
		PriorityGroups:  []channel.PriorityGroup{{Group: "all", GroupTrees: []string{"groups"}}},
		BroadcastGroups: connectortest.Tickets(grace),
	}
	now := func() time.Time { return w.now }
	w.runtime = connectortest.Host{
		Store: memstore.New(memstore.WithNow(now)), Now: now, Connector: bravo.Limited(connector), Nodes: helpdesk(),
		Members: members, Agents: agents, Grace: grace,
	}.Start(t)
	w.handler = connector.Handler(w.runtime.Accept)
	return w
}

// post posts a report to the host twice, because the platform may repeat it.
func (w *world) post(body []byte) {
	for range 2 {
		answer := httptest.NewRecorder()
		w.handler.ServeHTTP(answer, graphtest.Report(context.Background(), "/bravo", appSecret, body))
		if answer.Code != http.StatusOK {
			w.Errorf("a report was answered %d: %s", answer.Code, body)
		}
	}
}

// run runs the bot for all pending reports, including receipts of its messages.
func (w *world) run() {
	w.Helper()
	for {
		result, err := w.runtime.RunNextEvent(w.Context())
		require.NoError(w, err)
		require.NoError(w, result.Err)
		reports := w.platform.Reports()
		for _, body := range reports {
			w.post(body)
		}
		if !result.Ran && len(reports) == 0 {
			return
		}
	}
}

// reports posts a message to a number, and runs the bot.
func (w *world) reports(number, from, content string) {
	w.Helper()
	w.events++
	w.platform.Writes(from, w.now)
	w.post([]byte(strings.ReplaceAll(string(change("messages", fmt.Sprintf(
		`"messages":[{"from":%q,"id":"wamid.in%d","timestamp":"%d",%s}]`, from, w.events, w.now.Unix(), content,
	))), shopNumber, number)))
	w.run()
}

func (w *world) says(number, from, text string) {
	w.Helper()
	w.reports(number, from, fmt.Sprintf(`"type":"text","text":{"body":%q}`, text))
}

func (w *world) last(to string) document.Object {
	w.Helper()
	return connectortest.Last(w.T, w.platform.Sent(), func(m bravofake.Message) bool { return m.To == to }).Body
}

func (w *world) read(to string) string {
	w.Helper()
	return document.Get(w.last(to), "text.body", "")
}

func TestWorld_ALiveChatInAGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.says(deskNumber, grace, "I am at work")
	w.says(shopNumber, ada, "a person, please")
	button := document.Get(w.last(grace), "interactive.action.buttons[0].reply", document.Object{})
	w.reports(deskNumber, grace, fmt.Sprintf(`"type":"interactive","interactive":{"type":"button_reply","button_reply":%s}`, button))
	require.Equal(t, []string{"Tea for Ada"}, w.platform.Groups())
	require.Contains(t, w.read(grace), "https://chat.example/", "the agent gets the link")

	group := w.platform.LastGroup()
	w.post([]byte(strings.ReplaceAll(string(change("group_participants_update", fmt.Sprintf(
		`"groups":[{"timestamp":"1700000001","group_id":%q,"type":"group_participants_add","added_participants":[{"wa_id":%q}]}]`, group, grace,
	))), shopNumber, deskNumber)))
	w.run()
	w.says(shopNumber, ada, "Green or black?")
	require.Equal(t, "Green or black?", w.read(group))
	w.reports(deskNumber, grace, fmt.Sprintf(`"group_id":%q,"type":"text","text":{"body":"Green."}`, group))
	require.Equal(t, "Green.", w.read(ada))
	w.reports(deskNumber, grace, fmt.Sprintf(`"group_id":%q,"type":"text","text":{"body":"/done"}`, group))
	sent := len(w.platform.Sent())
	w.says(shopNumber, ada, "Thanks")
	require.Len(t, w.platform.Sent(), sent, "the chat is over")
}

func TestWorld_AMessageThatFailsLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.says(shopNumber, ada, "hi")
	w.now = w.now.Add(25 * time.Hour)
	bot := connectortest.BotOf(t, w.runtime, "shop")
	sent, err := bot.SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("Still there?")})
	require.NoError(t, err, "the platform takes it at first")
	w.run()
	failures, err := bot.FetchDataFromDataSource(t.Context(), datasource.FetchParams{DataSourceID: "failures"})
	require.NoError(t, err)
	require.Len(t, failures.Entries, 1)
	require.Equal(t, sent.Results[0].MessageEvent.MessageID, document.Get(failures.Entries[0], "_id", ""))
	require.Equal(t, string(boterr.FailedPrecondition), document.Get(failures.Entries[0], "code", ""))
}

func TestExplore_ReportsUnderFaults(t *testing.T) {
	t.Parallel()
	order := change("messages", `"messages":[{"from":"`+ada+`","id":"wamid.in","timestamp":"1","type":"text","text":{"body":"a kettle"}}]`)
	connectortest.OrderOnce(t, shop, func() connectortest.Platform {
		platform := newPlatform()
		connector := newConnector(t, bravo.Config{
			HTTPClient: &http.Client{Transport: connectortest.Directly{Handler: platform}}, FindChannel: find, AppSecret: channel.NewSecret(appSecret),
		})
		reports := [][]byte{order}
		return connectortest.Platform{
			Connector: connector, Handler: connector.Handler,
			Reports: func() (made []connectortest.Report) {
				for _, body := range append(reports, platform.Reports()...) {
					made = append(made, func(ctx context.Context) *http.Request { return graphtest.Report(ctx, "/bravo", appSecret, body) })
				}
				reports = nil
				return made
			},
			SendIDs: func() (ids []string) {
				for _, sent := range platform.Sent() {
					ids = append(ids, document.Get(sent.Body, "biz_opaque_callback_data", ""))
				}
				return ids
			},
		}
	})
}
