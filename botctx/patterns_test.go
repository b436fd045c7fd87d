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

func TestAgenda_RedirectUnsubscribed(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	var bob member.Member
	bob.BotMeta.Set("subscribe", false)
	other := p.AddMember(bob)
	p.Handle(
		&botctx.Node{ID: "order", Trigger: botctx.TextIs("order"), Post: []botctx.Action{remindIn(time.Hour)}},
		&botctx.Node{ID: "reminder", Pre: []botctx.Action{
			redirectsTo(other.ID(), "invitation"),
		}},
		&botctx.Node{ID: "invitation", Pre: []botctx.Action{counts}, Responses: []send.Response{send.Text("Come, too!")}},
	)
	p.AddMember(member.Member{}).Says("order")
	p.Advance(time.Hour)
	require.Empty(t, other.Messages())
	require.Equal(t, 1, document.Get(other.Member().Meta, "count", 0))
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
	other := p.AddMember(member.Member{})
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

func TestAgenda_Unknown(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) { c.OtherNodes = true }))
	p.Handle(&botctx.Node{ID: "order", Trigger: botctx.TextIs("order"), Post: []botctx.Action{remindIn(time.Hour)}})
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	ada.Says("order")
	err := p.TryAdvance(time.Hour)
	require.ErrorIs(t, err, boterr.NotFound)
	require.ErrorContains(t, err, "there is no node reminder")
	require.ErrorContains(t, err, ada.ID())
}

// The tests below run typical bot logic for live chats with each kind of outlet.

// withGroups are the outlets that create a group for each conversation. withTickets are the outlets with tickets; the
// others have one direct conversation for each agent. allOutlets includes the outlets without tickets.
var (
	withGroups  = []channel.Type{channel.Bravo, channel.Charlie, channel.Delta}                     //nolint:gochecknoglobals // It does not change.
	withTickets = append([]channel.Type{channel.Alpha, channel.Echo, channel.Hotel}, withGroups...) //nolint:gochecknoglobals // It does not change.
	allOutlets  = append([]channel.Type{channel.Foxtrot, channel.Custom}, withTickets...)           //nolint:gochecknoglobals // It does not change.
)

func callAgent(ctx context.Context, bot *botctx.Context) error {
	relay := map[channel.Type]send.Response{channel.Foxtrot: send.Template("{{firstName}} is waiting")}
	for _, platform := range withTickets {
		relay[platform] = send.Buttons("{{firstName}} is waiting", send.Postback("Take", livechat.TakePayload)).WithPlaceholders()
	}
	asked, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{
		Member: bot.Member,
		AssignmentDetails: livechat.AssignmentDetails{
			Summary: "Order 7 is late.", GroupName: "Order 7", RelayMessage: relay,
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

// transfer transfers the live chat to the sales agents.
func transfer(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.ReassignAssignment(ctx, livechat.ReassignAssignmentParams{
		MessageEvent: bot.MessageEvent, Channel: bot.Channel, Label: "sales",
	})
	return err
}

// inLiveChat returns a trigger that matches only messages of agents in a live chat.
func inLiveChat(trigger botctx.Trigger) botctx.Trigger {
	return botctx.AllOf(trigger, botctx.When(func(bot *botctx.Context) bool { return bot.Group != nil }))
}

// shopNodes returns the nodes for members, for members in a live chat, and for commands of agents.
func shopNodes() []*botctx.Node {
	return []*botctx.Node{
		{ID: "agent", Trigger: botctx.TextIs("agent"), Pre: []botctx.Action{callAgent}, Responses: []send.Response{send.Template("One moment, {{firstName}}.")}},
		{ID: "done", Trigger: inLiveChat(botctx.TextIs("#done")), Pre: []botctx.Action{done}},
		{ID: "transfer", Trigger: inLiveChat(botctx.TextIs("#sales")), Pre: []botctx.Action{transfer}},
	}
}

// forEach runs a test for each kind of outlet, on a desk with the nodes of the shop.
func forEach(t *testing.T, kinds []channel.Type, test func(t *testing.T, d *desk)) {
	t.Helper()
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			test(t, newDesk(t, channel.Channel{Type: kind}, shopNodes(), withLiveChatTree()))
		})
	}
}

// callsAgent makes Ada request a live chat, which Grace takes.
func (d *desk) callsAgent() {
	d.ada.Says("agent")
	d.grace.Takes(d.grace.Ticket())
}

func TestLiveChat_Tickets(t *testing.T) {
	t.Parallel()
	forEach(t, withTickets, func(t *testing.T, d *desk) {
		t.Helper()
		d.ada.Says("agent")
		require.Equal(t, "One moment, Ada.", d.ada.Last())
		require.True(t, d.ada.Member().BotMeta.LiveChat())
		require.Equal(t, "Ada is waiting", d.grace.Ticket().Text())

		d.grace.Taps(d.grace.Ticket())
		require.Equal(t, "Order 7 is late.", d.grace.Last())
		taken := d.assignments(t)[0]
		require.Equal(t, d.grace.ExternalID(), taken.Assignee)
		require.Equal(t, document.TimestampOf(d.Now()), taken.AssignedAt)
		require.Equal(t, "Order 7", document.Get(taken.GroupInfo, "name", ""))

		d.ada.Says("Where is it?")
		d.grace.Says("On its way.")
		require.Equal(t, "Order 7 is late.\nWhere is it?", texts(d.grace))
		require.Equal(t, "One moment, Ada.\nOn its way.", texts(d.ada))
	})
}

func TestLiveChat_NoTickets(t *testing.T) {
	t.Parallel()
	forEach(t, []channel.Type{channel.Foxtrot, channel.Custom}, func(t *testing.T, d *desk) {
		t.Helper()
		d.AddChannel(channel.Channel{ID: "others", Type: channel.Charlie, BroadcastGroups: []channel.BroadcastGroup{
			{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "all", Type: "public_channel"}}},
		}})
		d.Pair("web", "others", "desk")
		passedOver := d.AddAgent("others", "Ida")
		d.callsAgent()
		require.Empty(t, passedOver.Tickets(), "the outlet without tickets has it alone")
		require.Equal(t, d.assignments(t)[0].IsZendesk, len(d.Groups("desk")) > 0, "foxtrot begins a conversation")
		d.ada.Says("Where is it?")
		d.grace.Says("On its way.")
		require.Equal(t, "Where is it?", d.grace.Last())
		require.Equal(t, "On its way.", d.ada.Last())
	})
}

func TestLiveChat_Done(t *testing.T) {
	t.Parallel()
	forEach(t, allOutlets, func(t *testing.T, d *desk) {
		t.Helper()
		d.callsAgent()
		d.grace.Says("#done")
		require.Equal(t, "Bye Ada!", d.ada.Last())
		require.False(t, d.ada.Member().BotMeta.LiveChat())
		require.Empty(t, d.ada.Agendas())
		group, err := d.ada.Context().GetGroup(t.Context(), livechat.GetGroupParams{GroupID: d.assignments(t)[0].Group})
		require.NoError(t, err)
		require.False(t, group.Active)

		d.grace.Says("#done") // After the end the text is neither a command nor relayed.
		d.grace.Says("One more thing.")
		require.Equal(t, "Bye Ada!", d.ada.Last())
		d.ada.Says("agent") // A new request.
		require.Len(t, d.assignments(t), 2)
	})
}

func TestLiveChat_TransferNeedsGroups(t *testing.T) {
	t.Parallel()
	forEach(t, []channel.Type{channel.Alpha, channel.Foxtrot, channel.Custom}, func(t *testing.T, d *desk) {
		t.Helper()
		d.callsAgent()
		err := d.grace.TrySays("#sales")
		require.ErrorIs(t, err, boterr.Unsupported)
		require.ErrorContains(t, err, "bravo, charlie, delta")
		d.grace.Says("I shall ask them myself.")
		require.Equal(t, "I shall ask them myself.", d.ada.Last())
	})
}
