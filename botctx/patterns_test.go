package botctx_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// remindIn returns an action that schedules the member's idle reminder and replaces an earlier one.
func remindIn(pause time.Duration) botctx.Action {
	return func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.NewAgenda(ctx, agenda.NewParams{
			MemberID: bot.Member.ID, NodeCompositeID: "reminder",
			NextRunAt: document.TimestampOf(bot.Now().Add(pause)), Tag: "idle", Replace: true,
		})
		return err
	}
}

func cancelReminder(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.DeleteMemberAgenda(ctx, agenda.DeleteParams{MemberID: bot.Member.ID, Tag: "idle"})
	return err
}

func TestAgenda_Unsubscribed(t *testing.T) {
	t.Parallel()
	p, ada := withNodes(
		t,
		&botctx.Node{ID: "order", Trigger: botctx.TextIs("order"), Post: []botctx.Action{remindIn(time.Hour)}},
		&botctx.Node{
			ID: "unsubscribe", Trigger: botctx.TextIs("stop"), Pre: []botctx.Action{
				func(_ context.Context, bot *botctx.Context) error {
					bot.Member.BotMeta.Set("subscribe", false)
					return nil
				},
			}, Responses: []send.Response{send.Text("No more from me.")},
		},
		&botctx.Node{
			ID: "reminder", Pre: []botctx.Action{counts, says("by an action")},
			Responses: []send.Response{send.Text("by the node")}, Redirect: botctx.To("more"),
		},
		&botctx.Node{ID: "more", Responses: []send.Response{send.Text("by another node")}, Post: []botctx.Action{counts}},
		&botctx.Node{ID: "chat", Trigger: botctx.TextIs("hi"), Responses: []send.Response{send.Text("Hello")}},
	)
	ada.Says("order")
	ada.Says("stop")
	p.Advance(time.Hour)
	require.Equal(t, "No more from me.", texts(ada))
	require.Equal(t, 2, document.Get(ada.Member().Meta, "count", 0), "its actions run")
	ada.Says("hi")
	require.Equal(t, "Hello", ada.Last(), "chatting goes on")
}

// notedSends notes the tag of the agenda that started the run of each send.
type notedSends struct {
	send.Operations

	tags *[]string
}

func (s notedSends) SendResponse(ctx context.Context, p send.SendResponseParams) (send.SendResponseResult, error) {
	started, ok := botctx.AgendaOf(ctx)
	*s.tags = append(*s.tags, fmt.Sprint(started.Agenda.Tag, ok))
	return s.Operations.SendResponse(ctx, p)
}

func TestAgendaOf(t *testing.T) {
	t.Parallel()
	var tags []string
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) {
		c.Override = func(_ botctx.Scope, own botctx.Services) botctx.Services {
			return botctx.Services{Sends: notedSends{own.Sends, &tags}}
		}
	}))
	var bob member.Member
	bob.BotMeta.Set("subscribe", false)
	other := p.AddMember(bob)
	p.Handle(
		&botctx.Node{ID: "order", Trigger: botctx.TextIs("order"), Pre: []botctx.Action{remindIn(time.Hour), says("Thanks")}},
		&botctx.Node{ID: "reminder", Pre: []botctx.Action{
			says("Still there?"), redirectsTo(other.ID(), "invitation"),
		}},
		&botctx.Node{ID: "invitation", Responses: []send.Response{send.Text("Come, too!")}},
	)
	p.AddMember(member.Member{}).Says("order")
	p.Advance(time.Hour)
	require.Equal(t, []string{"false", "idletrue", "idletrue"}, tags)
	require.Empty(t, other.Messages(), "the redirect is of an agenda, and Bob is not subscribed")
}

func TestAgenda_Cause(t *testing.T) {
	t.Parallel()
	var seen []agenda.Run
	p, ada := withNodes(
		t,
		&botctx.Node{ID: "order", Trigger: botctx.TextIs("order"), Post: []botctx.Action{remindIn(time.Hour)}},
		&botctx.Node{ID: "reminder", Pre: []botctx.Action{func(_ context.Context, bot *botctx.Context) error {
			seen = append(seen, *bot.Agenda)
			require.Nil(t, bot.MessageEvent)
			if bot.Agenda.Attempt == 1 {
				return boterr.New(boterr.Unavailable, "", "the network is down")
			}
			return nil
		}}},
	)
	ada.Says("order")
	require.ErrorIs(t, p.TryAdvance(2*time.Hour), boterr.Unavailable)
	require.Len(t, seen, 2, "a run that failed is tried again")
	require.Equal(t, []int{1, 2}, []int{seen[0].Attempt, seen[1].Attempt})
	require.Equal(t, fakes.Start().Add(time.Hour), seen[0].ScheduledAt)
	require.Equal(t, seen[0].Key, seen[1].Key)
	require.Equal(t, "idle", seen[0].Agenda.Tag)
}

// callAgent asks for an agent. Its ticket is for an outlet on Charlie.
func callAgent(ctx context.Context, bot *botctx.Context) error {
	ticket := send.Buttons("{{firstName}} is waiting", send.Postback("Take", livechat.TakePayload)).WithPlaceholders()
	asked, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{
		Member: bot.Member,
		AssignmentDetails: livechat.AssignmentDetails{
			Summary: "Order 7 is late.", GroupName: "Order 7", RelayMessage: map[channel.Type]send.Response{channel.Charlie: ticket},
		},
		Meta: document.O("order", 7),
	})
	if err != nil {
		return err
	}
	bot.Member = asked.Member
	return nil
}

// done says goodbye and ends the live chat of the agent who wrote.
func done(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.SendMessageToInlet(ctx, livechat.SendMessageToInletParams{
		MessageEvent: bot.MessageEvent, Channel: bot.Channel, Response: send.Template("Bye {{firstName}}!"),
	})
	if err != nil {
		return err
	}
	_, err = bot.EndLiveChat(ctx, livechat.EndParams{MessageEvent: bot.MessageEvent, Channel: bot.Channel})
	return err
}

// shopNodes returns the nodes for members, for members in a live chat, and for commands of agents.
func shopNodes() []*botctx.Node {
	return []*botctx.Node{
		{ID: "agent", Trigger: botctx.TextIs("agent"), Pre: []botctx.Action{callAgent}, Responses: []send.Response{send.Template("One moment, {{firstName}}.")}},
		{ID: "done", Trigger: botctx.AllOf(botctx.TextIs("#done"), botctx.When(func(bot *botctx.Context) bool { return bot.Group != nil })), Pre: []botctx.Action{done}},
	}
}

// callsAgent makes Ada request a live chat, which Grace takes.
func (d *desk) callsAgent() {
	d.ada.Says("agent")
	d.grace.Takes(d.grace.Ticket())
}
