package guides_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// helpdesk returns a bot that asks for a person if a customer wants one. It has separate trees for
// customers, customers in a live chat, and agents.
func helpdesk() []*botctx.Node {
	return []*botctx.Node{
		{
			ID: "person", Tree: "customers", Trigger: botctx.TextIs("a person, please"),
			Redirect: botctx.ToOneOf(callPerson, "called", "away"),
		},
		{ID: "called", Tree: "customers", Responses: botctx.Say("Somebody will be with you soon. Say bye to end it.")},
		{ID: "away", Tree: "customers", Responses: botctx.Say("Nobody is there now. Try again tomorrow.")},

		{ID: "bye", Tree: "live chat", Trigger: botctx.TextIs("bye"), Pre: botctx.Do(hangUp), Responses: botctx.Say("Back with the bot.")},
		{ID: "queue", Tree: "live chat", Trigger: botctx.TextIs("how long?"), Pre: botctx.Do(tellPosition)},

		{ID: "done", Tree: "agents", Trigger: botctx.TextIs("/done"), Pre: botctx.Do(endChat, sayGoodbye)},
		{ID: "sales", Tree: "agents", Trigger: botctx.TextIs("/sales"), Pre: botctx.Do(toSales)},
	}
}

// callPerson asks for a person. If there is none, the customer stays with the bot.
func callPerson(ctx context.Context, bot *botctx.Context) (*botctx.Redirect, error) {
	_, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{
		AssignmentDetails: livechat.AssignmentDetails{
			Summary: bot.Member.FirstName + " bought: " + document.Get(bot.Member.Meta, "bought", "nothing"),
		},
	})
	switch {
	case errors.Is(err, boterr.FailedPrecondition): // No outlet can take it.
		return botctx.GoTo("away")
	case err != nil:
		return nil, err
	}
	return botctx.GoTo("called")
}

// hangUp ends the live chat for the customer, or takes the request back.
func hangUp(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.InletEndLiveChat(ctx, livechat.InletEndParams{})
	return err
}

// tellPosition sends the customer's place in the queue, unless an agent has taken the request.
func tellPosition(ctx context.Context, bot *botctx.Context) error {
	at, err := bot.LiveChatPosition(ctx)
	if err != nil || at.Place == 0 {
		return err
	}
	return bot.Reply(ctx, send.Text(fmt.Sprintf("You are number %d of %d.", at.Place, at.Waiting)))
}

// sayGoodbye writes to the customer of the agent who says /done. The chat has ended before, so it ends even if the
// customer cannot be reached.
func sayGoodbye(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.SendMessageToInlet(ctx, livechat.SendMessageToInletParams{
		Channel: bot.Channel, MessageEvent: bot.MessageEvent, Response: send.Template("Goodbye, {{firstName}}!"),
	})
	return err
}

// endChat ends the live chat of the agent.
func endChat(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.EndLiveChat(ctx, livechat.EndParams{Channel: bot.Channel, MessageEvent: bot.MessageEvent})
	return err
}

// toSales hands the customer on to the agents of another label.
func toSales(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.ReassignAssignment(ctx, livechat.ReassignAssignmentParams{
		Channel: bot.Channel, MessageEvent: bot.MessageEvent, Label: "sales",
	})
	return err
}

// inLiveChats sets the tree that answers while a customer is in a live chat.
func inLiveChats(c *botctx.Config) {
	c.Flow.LiveChatTree = func(*botctx.Context) string { return "live chat" }
}

// inlet returns the channel of the customers. outlet returns the channel of the agents.
func inlet() channel.Channel {
	return channel.Channel{
		ID: "web", Type: channel.Webchat,
		PriorityGroups: []channel.PriorityGroup{{Group: "all", Trees: []string{"customers"}}},
	}
}

func outlet() channel.Channel {
	return channel.Channel{
		ID: "desk", Type: channel.Charlie,
		PriorityGroups: []channel.PriorityGroup{{Group: "all", Trees: []string{"agents"}}},
		BroadcastGroups: []channel.BroadcastGroup{
			{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "support", Type: "public_channel"}}},
			{Label: "sales", Groups: []channel.BroadcastGroupMember{{ID: "sales", Type: "public_channel"}}},
		},
	}
}

// people are a customer, a support agent and a sales agent on a platform.
type people struct {
	p           *fakes.Platform
	ada         *fakes.Actor
	grace, hedy *fakes.Agent
}

// atHelpdesk returns the people of a new helpdesk.
func atHelpdesk(t *testing.T) people {
	t.Helper()
	p := fakes.New(fakes.For(t), fakes.Config(inLiveChats))
	p.Handle(helpdesk()...)
	p.AddChannel(inlet())
	p.AddChannel(outlet())
	p.Pair("web", "desk")
	ada := p.AddMember(member.Member{Channel: "web", FirstName: "Ada", Meta: document.O("bought", "a kettle")})
	grace := p.AddAgent("desk", "Grace", "support")
	hedy := p.AddAgent("desk", "Hedy", "sales")
	return people{p: p, ada: ada, grace: grace, hedy: hedy}
}

func TestHelpdesk_HandsOver(t *testing.T) {
	t.Parallel()
	at := atHelpdesk(t)
	ada, grace, hedy := at.ada, at.grace, at.hedy

	ada.Says("a person, please")
	require.Equal(t, "Somebody will be with you soon. Say bye to end it.", ada.Last())
	require.Contains(t, grace.Ticket().Text(), "Ada bought: a kettle")

	grace.Takes(grace.Ticket())
	grace.Sees("Ada bought: a kettle") // The summary begins the conversation.
	ada.Says("It does not boil.")
	require.Equal(t, "It does not boil.", grace.Last())
	grace.Says("You need a new one. I ask the sales.")
	require.Equal(t, "You need a new one. I ask the sales.", ada.Last())

	grace.Says("/sales")
	hedy.Takes(hedy.Ticket())
	hedy.Says("That is 20.")
	require.Equal(t, "That is 20.", ada.Last())
	hedy.Says("/done")
	require.Equal(t, "Goodbye, Ada!", ada.Last())
	require.False(t, ada.Member().BotMeta.LiveChat())
}

func TestHelpdesk_WhoReadsWhat(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("asking-a-person.md")
	require.NoError(t, err)
	require.Contains(t, string(guide), botctxtest.LiveChatTable(), "the table that the suite holds")
}

func TestHelpdesk_Waits(t *testing.T) {
	t.Parallel()
	at := atHelpdesk(t)
	ada, grace := at.ada, at.grace

	ada.Says("a person, please")
	ada.Says("how long?")
	require.Equal(t, "You are number 1 of 1.", ada.Last())
	ada.Says("It does not boil.")
	require.Equal(t, livechat.DefaultTexts().Waiting, ada.Last())
	grace.Takes(grace.Ticket())
	grace.Sees("Ada bought: a kettle")
	grace.Sees("Written before (1):")
	grace.Sees("It does not boil.")
	at.p.Inject(fakes.Refuses(ada, boterr.FailedPrecondition)) // Ada blocks the bot.
	require.ErrorIs(t, grace.TrySays("/done"), boterr.FailedPrecondition, "the goodbye cannot be sent")
	require.False(t, ada.Member().BotMeta.LiveChat(), "it has ended all the same")
}

func TestHelpdesk_CustomerEnds(t *testing.T) {
	t.Parallel()
	at := atHelpdesk(t)
	p, ada, grace := at.p, at.ada, at.grace

	ada.Says("a person, please")
	ada.Says("bye")
	require.Equal(t, "Back with the bot.", ada.Last())
	require.Empty(t, p.Queue("desk"))
	require.Error(t, grace.TryTakes(grace.Tickets()[0]))
}

func TestHelpdesk_EndsByIdleTime(t *testing.T) {
	t.Parallel()
	at := atHelpdesk(t)
	p, ada, grace := at.p, at.ada, at.grace

	ada.Says("a person, please")
	grace.Takes(grace.Ticket())
	p.Advance(livechat.IdleTimeout)
	require.False(t, ada.Member().BotMeta.LiveChat())
}

func TestHelpdesk_NobodyIsThere(t *testing.T) {
	t.Parallel()
	at := atHelpdesk(t)
	p, ada := at.p, at.ada

	p.SwitchChannel("desk", false)
	ada.Says("a person, please")
	require.Equal(t, "Nobody is there now. Try again tomorrow.", ada.Last())
}
