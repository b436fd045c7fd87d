package fakes_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// handOff returns the nodes of a bot that hands members over to people: what the member
// says on the inlet, and the commands of the agents on the outlet.
func handOff() []*botctx.Node {
	return []*botctx.Node{
		{
			ID: "person", Trigger: botctx.TextIs("a person, please"), Pre: []botctx.Action{askForPerson},
			Responses: []send.Response{send.Text("Somebody will be with you soon.")},
		},
		{ID: "transfer", Trigger: isCommand("/sales"), Pre: []botctx.Action{transferToSales}},
		{ID: "done", Trigger: isCommand("/done"), Pre: []botctx.Action{endLiveChat}},
	}
}

// isCommand matches what an agent says in a live chat.
func isCommand(command string) botctx.Trigger {
	return botctx.AllOf(botctx.TextIs(command), botctx.When(func(bot *botctx.Context) bool { return bot.Group != nil }))
}

func askForPerson(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{
		AssignmentDetails: livechat.AssignmentDetails{Summary: "Ada bought a kettle.", GroupName: "Ada's kettle"},
	})
	return err
}

func transferToSales(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.ReassignAssignment(ctx, livechat.ReassignAssignmentParams{
		Channel: bot.Channel, MessageEvent: bot.MessageEvent, Label: "sales",
	})
	return err
}

func endLiveChat(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.SendMessageToInlet(ctx, livechat.SendMessageToInletParams{
		Channel: bot.Channel, MessageEvent: bot.MessageEvent, Response: send.Text("Goodbye!"),
	})
	if err != nil {
		return err
	}
	_, err = bot.EndLiveChat(ctx, livechat.EndLiveChatParams{Channel: bot.Channel, MessageEvent: bot.MessageEvent})
	return err
}

// shop is a platform with one inlet and one outlet of a type, and who is there.
type shop struct {
	*fakes.Platform

	ada         *fakes.Actor
	grace, hedy *fakes.Agent
}

// openShop returns a shop: Ada is a member of the web, Grace serves the support desk, and
// Hedy the sales.
func openShop(t *testing.T, outlet channel.Type, options ...fakes.Option) *shop {
	t.Helper()
	p := fakes.New(append(options, fakes.For(t))...)
	p.Handle(handOff()...)
	p.AddChannel(channel.Channel{ID: "web"})
	p.AddChannel(channel.Channel{ID: "desk", Type: outlet, BroadcastGroups: []channel.BroadcastGroup{
		{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "support", Type: "public_channel"}}},
		{Label: "sales", Groups: []channel.BroadcastGroupMember{{ID: "sales", Type: "public_channel"}}},
	}})
	p.Pair("web", "desk")
	return &shop{
		Platform: p,
		ada:      p.AddMember(member.Member{Channel: "web", FirstName: "Ada"}),
		grace:    p.AddAgent("desk", "Grace", "support"),
		hedy:     p.AddAgent("desk", "Hedy", "sales"),
	}
}

// texts returns what was sent, a line for each message.
func texts(messages []send.Response) string {
	lines := make([]string, len(messages))
	for i, message := range messages {
		lines[i] = message.Text()
	}
	return strings.Join(lines, "\n")
}

func TestHandOff(t *testing.T) {
	t.Parallel()
	s := openShop(t, channel.Charlie)

	s.ada.Says("a person, please")
	require.Equal(t, "Somebody will be with you soon.", s.ada.Last())
	require.Equal(t, "Ada asks for a person.\nAda bought a kettle.", s.grace.Ticket().Text())
	require.Empty(t, s.hedy.Tickets())
	require.Len(t, s.Queue("desk"), 1)

	s.grace.Takes(s.grace.Ticket())
	require.Empty(t, s.Queue("desk"))
	require.Equal(t, "Ada bought a kettle.", s.grace.Last())

	s.ada.Says("It leaks.")
	s.grace.Says("You need a new one.")
	require.Equal(t, "It leaks.", s.grace.Last())
	require.Equal(t, "You need a new one.", s.ada.Last())

	s.grace.Says("/sales")
	s.hedy.Takes(s.hedy.Ticket())
	s.ada.Says("How much is it?")
	s.hedy.Says("20.")
	require.Equal(t, "Ada bought a kettle.\nHow much is it?", texts(s.hedy.Messages()))
	require.Equal(t, "20.", s.ada.Last())
	require.Equal(t, "It leaks.", s.grace.Last())

	s.hedy.Says("/done")
	require.Equal(t, "Goodbye!", s.ada.Last())
	require.False(t, s.ada.Member().BotMeta.LiveChat())
}

func TestHandOff_EndsByIdleTime(t *testing.T) {
	t.Parallel()
	s := openShop(t, channel.Charlie)
	s.ada.Says("a person, please")
	s.grace.Takes(s.grace.Ticket())

	s.Advance(livechat.IdleTimeout / 2)
	s.ada.Says("Are you there?")
	s.Advance(livechat.IdleTimeout / 2)
	require.True(t, s.ada.Member().BotMeta.LiveChat(), "what Ada wrote begins the idle time anew")

	s.Advance(livechat.IdleTimeout / 2)
	require.False(t, s.ada.Member().BotMeta.LiveChat())
	s.ada.Says("Hello?")
	require.Equal(t, "Are you there?", s.grace.Last(), "nothing is relayed any more")
}
