package connectortest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/explore"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

// Helpdesk returns the nodes of a bot that greets members, pours tea and calls a person. The nodes for members
// are in the tree "members"; agents end a chat with "/done" in the tree "agents".
func Helpdesk(greeted botctx.Trigger, pour func(context.Context, *botctx.Context) error) []*botctx.Node {
	return []*botctx.Node{
		{ID: "hi", Tree: "members", Trigger: greeted, Responses: []send.Response{
			send.Buttons("Tea?", send.PostbackValue("Yes", "tea", 2), send.Postback("A person", "person")),
		}},
		{ID: "tea", Tree: "members", Trigger: botctx.PayloadIs("tea"), Global: botctx.GlobalInTree, Pre: botctx.Do(pour)},
		{
			ID: "person", Tree: "members", Trigger: botctx.PayloadIs("person"), Global: botctx.GlobalInTree, Pre: botctx.Do(callPerson),
			Responses: botctx.Say("Somebody will be with you soon."),
		},
		{ID: "done", Tree: "agents", Trigger: botctx.TextIs("/done"), Global: botctx.GlobalInTree, Pre: botctx.Do(EndChat)},
	}
}

// Pour replies with the number of cups in the tapped button.
func Pour(ctx context.Context, bot *botctx.Context) error {
	return bot.Reply(ctx, send.Text(fmt.Sprintf("%v cups of tea.", bot.MessageEvent.Value())))
}

func callPerson(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{
		AssignmentDetails: livechat.AssignmentDetails{Summary: "Somebody wants *tea*"},
	})
	return err
}

// EndChat ends the live chat of the agent's message.
func EndChat(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.EndLiveChat(ctx, livechat.EndParams{Channel: bot.Channel, MessageEvent: bot.MessageEvent})
	return err
}

// Host is a host of the app app-1, with a bot and two paired channels.
type Host struct {
	// Store is the host's store, and Now its clock.
	Store store.Store
	Now   func() time.Time
	// Connector is the connector to the platform of both channels.
	Connector send.Connector
	// Nodes are the bot's nodes.
	Nodes []*botctx.Node
	// Members is the channel that members write to. Agents is the channel that agents answer from.
	Members, Agents *channel.Channel
	// Grace is the platform's id of the agent Grace.
	Grace string
}

// Start returns the host's runtime, with its channels and agent saved.
func (h Host) Start(t *testing.T) *botctx.Runtime {
	t.Helper()
	runtime, err := botctx.New(botctx.Config{
		Store: h.Store, Now: h.Now, Connectors: map[channel.Type]send.Connector{h.Members.Type: h.Connector},
	})
	require.NoError(t, err)
	require.NoError(t, runtime.Handle(h.Nodes...))
	for _, in := range []*channel.Channel{h.Members, h.Agents} {
		in.App = ""
		_, err := runtime.SaveChannel(t.Context(), "app-1", in)
		require.NoError(t, err)
	}
	require.NoError(t, runtime.Pair(t.Context(), "app-1", h.Members.ID, h.Agents.ID))
	_, err = runtime.SaveAdmin(t.Context(), "app-1", livechat.Admin{AdminID: "grace", ExternalID: h.Grace, Name: "Grace"})
	require.NoError(t, err)
	return runtime
}

// Trees returns a priority group of all members with one tree.
func Trees(name string) []channel.PriorityGroup {
	return []channel.PriorityGroup{{Group: "all", Trees: []string{name}}}
}

// Tickets returns the broadcast group "default", whose tickets go to recipients.
func Tickets(recipients ...string) []channel.BroadcastGroup {
	group := channel.BroadcastGroup{Label: "default"}
	for _, id := range recipients {
		group.Groups = append(group.Groups, channel.BroadcastGroupMember{ID: id})
	}
	return []channel.BroadcastGroup{group}
}

// GiveTwice passes a report to a handler twice, because platforms may repeat reports. Both answers must be 200.
func GiveTwice(t *testing.T, handler http.Handler, report Report) {
	t.Helper()
	for range 2 {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, report(t.Context()))
		require.Equal(t, http.StatusOK, answer.Code)
	}
}

// Last returns the last of the sent messages that is one of those to look for. There must be one.
func Last[Message any](t *testing.T, sent []Message, isWanted func(Message) bool) (last Message) {
	t.Helper()
	isFound := false
	for _, message := range sent {
		if isWanted(message) {
			last, isFound = message, true
		}
	}
	require.True(t, isFound, "nothing was sent")
	return last
}

// BotOf returns the context of the only member of a channel of the app app-1.
func BotOf(t *testing.T, runtime *botctx.Runtime, channelID string) *botctx.Context {
	t.Helper()
	scope := botctx.Scope{App: "app-1", Channel: channelID}
	for found, err := range runtime.Members(t.Context(), scope.App, member.Selection{Channel: channelID}) {
		require.NoError(t, err)
		require.Empty(t, scope.Member, "the channel has several members")
		scope.Member = found.ID
	}
	bot, err := runtime.Context(t.Context(), scope)
	require.NoError(t, err)
	return bot
}

// RunEvents runs the bot for all waiting events.
func RunEvents(t *testing.T, runtime *botctx.Runtime) {
	t.Helper()
	for {
		result, err := runtime.RunNextEvent(t.Context())
		require.NoError(t, err)
		if !result.Ran {
			return
		}
		require.NoError(t, result.Err)
	}
}

// Platform is a platform for one run of OrderOnce.
type Platform struct {
	// Connector sends messages to the platform.
	Connector send.Connector
	// Handler returns the connector's handler, which receives the platform's reports.
	Handler func(accept func(context.Context, botctx.Inbound) error) http.Handler
	// Reports returns the reports that the platform has made since the last call. The first is the order of a
	// member. OrderOnce repeats a report that is not accepted.
	Reports func() []Report
	// SendIDs returns, for each message that the platform received, the id that the bot gave it, or "" if the
	// platform takes none.
	SendIDs func() []string
}

// Report returns a request with a report.
type Report func(ctx context.Context) *http.Request

// OrderOnce requires that, whatever fails, an order that a platform reports is stored once, and that all its
// confirmations have the same id.
func OrderOnce(t *testing.T, in func() *channel.Channel, open func() Platform) {
	t.Helper()
	var platform Platform
	own := fakes.Config(func(c *botctx.Config) {
		platform = open()
		c.Connectors[in().Type] = platform.Connector
	})
	explore.Faults(t, 60, func(t *explore.T, p *fakes.Platform) {
		p.HandleFunc(storeOrder)
		p.AddData("orders")
		p.AddChannel(*in())
		handler := platform.Handler(func(ctx context.Context, in botctx.Inbound) error {
			return p.Runtime().Accept(ctx, in)
		})
		waiting := platform.Reports()
		for range 8 {
			reports := waiting
			waiting = nil
			for _, report := range reports {
				answer := httptest.NewRecorder()
				handler.ServeHTTP(answer, report(t.Context()))
				if answer.Code != http.StatusOK {
					waiting = append(waiting, report)
				}
			}
			t.Settle(time.Hour)
			waiting = append(waiting, platform.Reports()...)
		}
		require.Len(t, p.Data("orders"), 1)
		ids := map[string]bool{}
		for _, id := range platform.SendIDs() {
			ids[id] = true
		}
		require.Len(t, ids, 1)
	}, explore.PlatformOptions(fakes.WithInbox(), own))
}

// storeOrder stores an order under the id of its message, and confirms it.
func storeOrder(ctx context.Context, bot *botctx.Context) error {
	if bot.MessageEvent.Text() == "" {
		return nil // A receipt.
	}
	_, err := bot.UpsertDataToDataSource(ctx, datasource.UpsertParams{
		DataSourceID: "orders", Data: []document.Object{document.O("_id", bot.MessageEvent.MessageID)},
	})
	if err != nil {
		return err
	}
	return bot.Reply(ctx, send.Text("Noted."))
}

// Once returns a function for Platform.Reports that returns one report at its first call.
func Once(report Report) func() []Report {
	reports := []Report{report}
	return func() []Report {
		made := reports
		reports = nil
		return made
	}
}
