package botctx_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// What real scripts do with agendas, nodes and redirects, each as a test that reads as
// the bot logic does.

// remindIn returns an action that sets the member's idle reminder, in place of the one
// that was set before.
func remindIn(pause time.Duration) botctx.Action {
	return func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.NewAgenda(ctx, agenda.NewParams{
			MemberID: bot.Member.ID, NodeCompositeID: "reminder",
			NextRunAt: document.TimestampOf(bot.Now().Add(pause)), Tag: "idle", Replace: true,
		})
		return err
	}
}

// cancelReminder removes the member's idle reminder.
func cancelReminder(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.DeleteMemberAgenda(ctx, agenda.DeleteParams{MemberID: bot.Member.ID, Tag: "idle"})
	return err
}

func TestReminder_Canceled(t *testing.T) {
	t.Parallel()
	nodes := []*botctx.Node{
		{
			ID: "name?", Trigger: botctx.TextIs("order"), SavesPosition: true,
			Responses: []send.Response{send.Text("What is your name?")}, Post: []botctx.Action{remindIn(5 * time.Minute)},
		},
		{
			ID: "thanks", Parent: "name?", Trigger: botctx.AnyText(),
			Pre: []botctx.Action{cancelReminder}, Responses: []send.Response{send.Text("Thanks!")},
		},
		{ID: "reminder", Responses: []send.Response{send.Text("Are you still there?")}},
	}
	p, idle := withNodes(t, nodes...)
	quick := p.AddMember(member.Member{})
	idle.Says("order")
	quick.Says("order")
	p.Advance(4 * time.Minute)
	quick.Says("Bob")
	p.Advance(time.Minute)
	require.Equal(t, "What is your name?\nAre you still there?", texts(idle))
	require.Equal(t, "What is your name?\nThanks!", texts(quick))
	p.Advance(time.Hour)
	require.Len(t, idle.Messages(), 2, "it reminds once")
}

func TestReminder_SetAgain(t *testing.T) {
	t.Parallel()
	p, ada := withNodes(
		t,
		&botctx.Node{ID: "step", Trigger: botctx.AnyText(), Post: []botctx.Action{remindIn(5 * time.Minute)}},
		&botctx.Node{ID: "reminder", Responses: []send.Response{send.Text("Are you still there?")}},
	)
	for range 3 {
		ada.Says("hm")
		p.Advance(4 * time.Minute)
	}
	require.Empty(t, ada.Messages())
	p.Advance(time.Minute)
	require.Equal(t, "Are you still there?", texts(ada))
}

func TestAgenda_Daily(t *testing.T) {
	t.Parallel()
	p, ada := withNodes(
		t,
		&botctx.Node{ID: "subscribe", Trigger: botctx.TextIs("subscribe"), Pre: []botctx.Action{
			func(ctx context.Context, bot *botctx.Context) error {
				_, err := bot.NewAgenda(ctx, agenda.NewParams{
					MemberID: bot.Member.ID, NodeCompositeID: "quote", Tag: "daily",
					Pattern: "0 9 * * *", RunUntil: document.TimestampOf(bot.Now().AddDate(0, 0, 3)),
					Meta: document.O("topic", "tea"),
				})
				return err
			},
		}},
		&botctx.Node{ID: "quote", Pre: []botctx.Action{func(ctx context.Context, bot *botctx.Context) error {
			return bot.Reply(ctx, send.Text(bot.Now().Format("Mon 15:04 ")+document.Get(bot.AgendaMeta, "topic", "")))
		}}},
	)
	ada.Says("subscribe")
	p.Advance(30 * 24 * time.Hour)
	require.Equal(t, "Thu 09:00 tea\nFri 09:00 tea\nSat 09:00 tea", texts(ada))
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
			redirects(botctx.RedirectMemberToNodeParams{MemberID: other.ID(), NodeCompositeID: "invitation"}),
		}},
		&botctx.Node{ID: "invitation", Pre: []botctx.Action{counts}, Responses: []send.Response{send.Text("Come, too!")}},
	)
	p.AddMember(member.Member{}).Says("order")
	p.Advance(time.Hour)
	require.Empty(t, other.Messages())
	require.Equal(t, 1, document.Get(other.Member().Meta, "count", 0))
}

func TestPattern_OfficeHours(t *testing.T) {
	t.Parallel()
	byTheHour := func(_ context.Context, bot *botctx.Context) (*botctx.Redirect, error) {
		if hour := bot.Now().Hour(); hour < 9 || hour >= 17 {
			return &botctx.Redirect{NodeCompositeID: "closed"}, nil
		}
		return &botctx.Redirect{NodeCompositeID: "agent"}, nil
	}
	p, ada := withNodes(
		t,
		&botctx.Node{ID: "help", Trigger: botctx.TextIs("help"), Redirect: botctx.ToOneOf(byTheHour, "closed", "agent")},
		&botctx.Node{ID: "agent", Responses: []send.Response{send.Text("One moment.")}},
		&botctx.Node{ID: "closed", Responses: []send.Response{send.Text("We open at 9.")}},
	)
	ada.Says("help")
	p.Advance(9 * time.Hour)
	ada.Says("help")
	p.Advance(8 * time.Hour)
	ada.Says("help")
	require.Equal(t, "We open at 9.\nOne moment.\nWe open at 9.", texts(ada))
}

func TestPattern_Fallback(t *testing.T) {
	t.Parallel()
	var heard []string
	_, ada := withNodes(
		t,
		&botctx.Node{ID: "fallback", Trigger: botctx.AnyText(), Priority: 1000, Responses: []send.Response{send.Text("Pardon?")}},
		&botctx.Node{ID: "log", Trigger: botctx.AnyEvent(), Priority: botctx.MutePriority, Pre: []botctx.Action{
			func(_ context.Context, bot *botctx.Context) error {
				heard = append(heard, bot.MessageEvent.Text())
				return nil
			},
		}},
		&botctx.Node{ID: "menu", Trigger: botctx.TextIs("menu"), Responses: []send.Response{send.Text("Tea or coffee?")}},
	)
	ada.Says("menu")
	ada.Says("mneu")
	require.Equal(t, "Tea or coffee?\nPardon?", texts(ada))
	require.Equal(t, []string{"menu", "mneu"}, heard, "a mute node hears all, and another answers")
}

func TestPattern_Locale(t *testing.T) {
	t.Parallel()
	speaks := func(locale string) botctx.Trigger {
		return botctx.When(func(bot *botctx.Context) bool { return bot.Member.CustomLocale == locale })
	}
	_, ada := withNodes(
		t,
		&botctx.Node{ID: "german", Trigger: botctx.TextIs("deutsch"), Priority: -1, Pre: []botctx.Action{
			func(_ context.Context, bot *botctx.Context) error {
				bot.Member.CustomLocale = "de_DE"
				return nil
			},
		}},
		&botctx.Node{ID: "hallo", Trigger: speaks("de_DE"), Responses: []send.Response{send.Template("Hallo {{firstName}}")}},
		&botctx.Node{ID: "hello", Trigger: speaks(""), Responses: []send.Response{send.Template("Hello {{firstName}}")}},
	)
	ada.Says("hi")
	ada.Says("deutsch")
	ada.Says("hi")
	require.Equal(t, "Hello Ada\nHallo Ada", texts(ada))
}

func TestPattern_SavedAnswer(t *testing.T) {
	t.Parallel()
	save := func(_ context.Context, bot *botctx.Context) error {
		bot.Member.BotMeta.Set("tempData.city", bot.MessageEvent.Text())
		return nil
	}
	_, ada := withNodes(
		t,
		&botctx.Node{ID: "city?", Trigger: botctx.TextIs("weather"), SavesPosition: true, Responses: []send.Response{send.Text("Which city?")}},
		&botctx.Node{ID: "sunny", Parent: "city?", Trigger: botctx.AnyText(), Pre: []botctx.Action{save}, SavesPosition: true},
		&botctx.Node{ID: "again", Parent: "sunny", Trigger: botctx.TextIs("and?"), Responses: []send.Response{
			send.Template("It is sunny in {{botMeta.tempData.city}}."),
		}},
	)
	ada.Says("weather")
	ada.Says("Oslo")
	ada.Says("and?")
	require.Equal(t, "It is sunny in Oslo.", ada.Last())
}

func TestPattern_ButtonValue(t *testing.T) {
	t.Parallel()
	_, ada := withNodes(t, &botctx.Node{
		ID: "size", Trigger: botctx.PayloadIs("size"), Pre: []botctx.Action{func(_ context.Context, bot *botctx.Context) error {
			bot.Member.Meta.Set("size", bot.MessageEvent.Value())
			return nil
		}}, Responses: []send.Response{send.Template("One {{meta.size}} it is.")},
	})
	ada.Sends(send.MessageEvent{Type: send.TypePayload, Data: document.O("payload", document.O("payload", "size", "value", "large"))})
	require.Equal(t, "One large it is.", ada.Last())
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

// What real scripts do with live chats, each as a test that reads as the bot logic does, for
// each kind of outlet.

// The kinds of outlets: where tickets lead to a group that is made, where they lead to the
// conversation with the agent, and where there are none.
var (
	withGroups  = []channel.Type{channel.Bravo, channel.Charlie, channel.Delta}                     //nolint:gochecknoglobals // It does not change.
	withTickets = append([]channel.Type{channel.Alpha, channel.Echo, channel.Hotel}, withGroups...) //nolint:gochecknoglobals // It does not change.
	allOutlets  = append([]channel.Type{channel.Foxtrot, channel.Custom}, withTickets...)           //nolint:gochecknoglobals // It does not change.
)

// callAgent asks for a person.
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

// done says goodbye and ends the live chat in which the agent says so.
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

// transfer hands the live chat on to the sales.
func transfer(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.ReassignAssignment(ctx, livechat.ReassignAssignmentParams{
		MessageEvent: bot.MessageEvent, Channel: bot.Channel, Label: "sales",
	})
	return err
}

// saveGroup keeps the group in which the agent writes in the member, for when the member
// quits.
func saveGroup(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.SaveGroupIDToMember(ctx, livechat.SaveGroupIDToMemberParams{Channel: bot.Channel, MessageEvent: bot.MessageEvent})
	return err
}

// quit ends the live chat from the member's side, and tells the agent.
func quit(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.SendMessageToOutletGroup(ctx, livechat.SendMessageToOutletGroupParams{
		GroupID: bot.Member.Group, Response: send.Text("The customer has left."),
	})
	if err != nil {
		return err
	}
	return leave(ctx, bot)
}

// leave ends the live chat from the member's side.
func leave(ctx context.Context, bot *botctx.Context) error {
	ended, err := bot.InletEndLiveChat(ctx, livechat.InletEndParams{Member: bot.Member, Channel: bot.Channel})
	if err != nil {
		return err
	}
	bot.Member = ended.Member
	bot.Member.Group = ""
	return nil
}

// inLiveChat matches where a trigger does in the conversation of a live chat, on the outlet's
// side.
func inLiveChat(trigger botctx.Trigger) botctx.Trigger {
	return botctx.AllOf(trigger, botctx.When(func(bot *botctx.Context) bool { return bot.Group != nil }))
}

// shopNodes are the nodes of the bot: those of the members, those of members in a live chat,
// and the commands of agents.
func shopNodes() []*botctx.Node {
	return []*botctx.Node{
		{ID: "agent", Trigger: botctx.TextIs("agent"), Pre: []botctx.Action{callAgent}, Responses: []send.Response{send.Template("One moment, {{firstName}}.")}},
		{ID: "quit", Tree: "live chat", Trigger: botctx.TextIs("quit"), Pre: []botctx.Action{quit}},
		{ID: "leave", Tree: "live chat", Trigger: botctx.TextIs("leave"), Pre: []botctx.Action{leave}, Responses: []send.Response{send.Text("You have left.")}},
		{ID: "save", Priority: botctx.MutePriority, Trigger: inLiveChat(botctx.AnyText()), Pre: []botctx.Action{saveGroup}},
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

// callsAgent lets Ada ask for a person, and Grace take the request.
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

func TestLiveChat_TakenMessage(t *testing.T) {
	t.Parallel()
	for _, kind := range []channel.Type{channel.Charlie, channel.Delta} {
		d := newDesk(t, channel.Channel{Type: kind}, shopNodes())
		hedy := d.AddAgent("desk", "Hedy", "sales")
		_, err := d.ada.Context().CreateAssignment(t.Context(), livechat.CreateAssignmentParams{Targets: []livechat.Target{
			{Channel: "desk"}, {Channel: "desk", Label: "sales"},
		}})
		require.NoError(t, err)
		d.grace.Takes(d.grace.Ticket())
		require.Equal(t, "Taken by Grace.", hedy.Tickets()[0].Text())
	}
}

// callAPI asks for a person in a custom outlet, whose live-chat API makes the group.
func callAPI(ctx context.Context, bot *botctx.Context) error {
	details := livechat.AssignmentDetails{Summary: "Order 7 is late.", Unknown: document.O("queue", "returns")}
	asked, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{
		Member: bot.Member, AssignmentDetails: details, CreateGroup: &livechat.CreateGroup{ExternalID: "room 7"},
	})
	if err != nil {
		return err
	}
	bot.Member = asked.Member
	bot.Member.Group = asked.GroupID
	return nil
}

func TestLiveChat_Custom(t *testing.T) {
	t.Parallel()
	const api = "https://shop.example/chats"
	nodes := append(shopNodes(), &botctx.Node{ID: "api", Trigger: botctx.TextIs("help"), Pre: []botctx.Action{callAPI}})
	d := newDesk(t, channel.Channel{Type: channel.Custom, Metadata: document.O("liveChatApi", api)}, nodes, withLiveChatTree())
	d.HTTP.Add("POST", api, web.JSON(200, `{"groupId": "room 7"}`))

	d.ada.Says("help")
	var posted struct {
		AssignmentID      string          `json:"assignmentId"`
		ExternalID        string          `json:"externalId"`
		Member            member.Member   `json:"member"`
		AssignmentDetails document.Object `json:"assignmentDetails"`
	}
	require.NoError(t, json.Unmarshal([]byte(d.HTTP.Requests()[0].Body), &posted))
	require.Equal(t, d.assignments(t)[0].ID, posted.AssignmentID)
	require.Equal(t, "room 7", posted.ExternalID)
	require.Equal(t, "Ada", posted.Member.FirstName)
	require.Equal(t, "returns", document.Get(posted.AssignmentDetails, "queue", ""))

	group, err := d.ada.Context().GetGroup(t.Context(), livechat.GetGroupParams{GroupID: d.ada.Member().Group})
	require.NoError(t, err)
	require.Equal(t, "room 7", group.ExternalID)
	d.ada.Says("Where is it?")
	d.grace.Says("On its way.")
	require.Equal(t, "Where is it?", texts(d.grace))
	require.Equal(t, "On its way.", texts(d.ada))

	d.ada.Says("leave")
	require.Equal(t, "You have left.", d.ada.Last())
	require.Empty(t, d.ada.Member().Group)
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

func TestLiveChat_Targets(t *testing.T) {
	t.Parallel()
	forEach(t, allOutlets, func(t *testing.T, d *desk) {
		t.Helper()
		d.Pair("web") // Neither the pairing nor the label counts.
		hedy := d.AddAgent("desk", "Hedy", "sales")
		groupType := map[channel.Type]string{channel.Charlie: "user", channel.Foxtrot: "foxtrot"}[d.kind]
		_, err := d.ada.Context().CreateAssignment(t.Context(), livechat.CreateAssignmentParams{
			Label: "nobody's",
			Targets: []livechat.Target{{
				Channel: "desk", BroadcastGroups: []channel.BroadcastGroupMember{{Type: groupType, ID: "sales"}},
			}},
		})
		require.NoError(t, err)
		require.Empty(t, d.grace.Tickets())
		hedy.Takes(hedy.Ticket())
		hedy.Says("Here I am.")
		require.Equal(t, "Here I am.", d.ada.Last())
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

		d.grace.Says("#done") // It is no command any more, and goes to nobody.
		d.grace.Says("One more thing.")
		require.Equal(t, "Bye Ada!", d.ada.Last())
		d.ada.Says("agent") // The next one is another.
		require.Len(t, d.assignments(t), 2)
	})
}

func TestLiveChat_Transfer(t *testing.T) {
	t.Parallel()
	forEach(t, withGroups, func(t *testing.T, d *desk) {
		t.Helper()
		hedy := d.AddAgent("desk", "Hedy", "sales")
		d.callsAgent()
		d.grace.Says("#sales")
		require.True(t, d.ada.Member().BotMeta.LiveChat())
		require.Equal(t, "Ada is waiting", hedy.Ticket().Text())

		hedy.Taps(hedy.Ticket())
		require.Equal(t, "Order 7 is late.", hedy.Last())
		d.grace.Says("Are you still there?") // She is out.
		hedy.Says("What shall it be?")
		require.Equal(t, "What shall it be?", d.ada.Last())
		require.NotContains(t, texts(d.ada), "Are you still there?")
		handedOn := d.assignments(t)
		require.Len(t, handedOn, 2)
		require.Equal(t, handedOn[0].ID, handedOn[1].ParentAssignment)
		require.Equal(t, 7, document.Get(handedOn[1].Meta, "order", 0))
		hedy.Says("#done")
		require.False(t, d.ada.Member().BotMeta.LiveChat())
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

func TestLiveChat_MemberEnds(t *testing.T) {
	t.Parallel()
	forEach(t, withGroups, func(t *testing.T, d *desk) {
		t.Helper()
		d.callsAgent()
		d.grace.Says("Hello.")
		require.Equal(t, "Hello.", d.ada.Last(), "a mute node lets it pass")
		require.Equal(t, d.assignments(t)[0].Group, d.ada.Member().Group)
		d.ada.Says("quit")
		require.Equal(t, "The customer has left.", d.grace.Last())
		require.Equal(t, livechat.EndedByInlet, d.assignments(t)[0].EndedBy)
		require.Empty(t, d.ada.Member().Group)
		require.False(t, d.ada.Member().BotMeta.LiveChat())
	})
}

func TestLiveChat_MemberLeaves(t *testing.T) {
	t.Parallel()
	forEach(t, allOutlets, func(t *testing.T, d *desk) {
		t.Helper()
		d.ada.Says("agent")
		ticket := d.grace.Ticket()
		d.ada.Says("leave")
		require.Equal(t, "You have left.", d.ada.Last())
		require.Empty(t, d.Queue("desk"))
		require.ErrorIs(t, d.grace.TryTakes(ticket), boterr.FailedPrecondition)
	})
}

func TestLiveChat_Idle(t *testing.T) {
	t.Parallel()
	forEach(t, allOutlets, func(t *testing.T, d *desk) {
		t.Helper()
		d.callsAgent()
		for range 3 { // Each message starts the idle time anew.
			d.Advance(livechat.IdleTimeout - time.Second)
			d.ada.Says("Are you there?")
			d.Advance(livechat.IdleTimeout - time.Second)
			d.grace.Says("Yes.")
		}
		d.Advance(livechat.IdleTimeout)
		require.False(t, d.ada.Member().BotMeta.LiveChat())
		d.ada.Says("Are you still there?")
		require.Equal(t, "Are you there?", d.grace.Last())
		require.Equal(t, livechat.EndedByIdle, d.assignments(t)[0].EndedBy)
	})
}

func TestLiveChat_IdleUntaken(t *testing.T) {
	t.Parallel()
	forEach(t, allOutlets, func(t *testing.T, d *desk) {
		t.Helper()
		d.ada.Says("agent")
		d.Advance(livechat.IdleTimeout)
		require.Empty(t, d.Queue("desk"))
		require.False(t, d.ada.Member().BotMeta.LiveChat())
	})
}

func TestLiveChat_NothingTakes(t *testing.T) {
	t.Parallel()
	forEach(t, allOutlets, func(t *testing.T, d *desk) {
		t.Helper()
		d.SwitchChannel("desk", false)
		before := d.ada.Member()
		err := d.ada.TrySays("agent")
		require.ErrorIs(t, err, boterr.FailedPrecondition)
		require.ErrorContains(t, err, "desk")
		require.Equal(t, before, d.ada.Member())
		require.Empty(t, d.Sent())
	})
}

func TestLiveChat_Housekeeping(t *testing.T) {
	t.Parallel()
	forEach(t, withGroups, func(t *testing.T, d *desk) {
		t.Helper()
		bot, ctx := d.ada.Context(), t.Context()
		d.callsAgent()
		first, err := bot.GetAssignmentByOutlet(ctx, livechat.GetAssignmentByOutletParams{ChannelID: "desk"})
		require.NoError(t, err)
		require.Equal(t, d.ada.ID(), first.Member)
		_, err = bot.UpdateAssignmentMeta(ctx, livechat.UpdateAssignmentMetaParams{AssignmentID: first.ID, Meta: document.O("rating", 5)})
		require.NoError(t, err)
		_, err = bot.UpdateGroupMeta(ctx, livechat.UpdateGroupMetaParams{GroupID: first.Group, Meta: document.O("tone", "kind")})
		require.NoError(t, err)
		d.grace.Says("#done")
		d.Advance(time.Minute)
		d.ada.Says("agent") // And it is not taken.

		rated, err := bot.GetAssignmentsByMeta(ctx, livechat.GetAssignmentsByMetaParams{Meta: document.O("order", 7, "rating", 5)})
		require.NoError(t, err)
		require.Len(t, rated, 1)
		require.Equal(t, first.ID, rated[0].ID)
		newest, err := bot.GetAssignmentsByMemberID(ctx, livechat.GetAssignmentsByMemberIDParams{
			MemberID: d.ada.ID(), SortBy: document.O("createdAt", -1),
		})
		require.NoError(t, err)
		require.Len(t, newest, 2)
		require.Equal(t, first.ID, newest[1].ID)
		group, err := bot.GetGroupByMemberID(ctx, livechat.GetGroupByMemberIDParams{Inlet: "web", MemberID: d.ada.ID()})
		require.NoError(t, err)
		require.Equal(t, "kind", document.Get(group.Meta, "tone", ""))

		_, err = bot.RemovePendingAssignmentByMemberID(ctx, livechat.RemovePendingAssignmentByMemberIDParams{MemberID: d.ada.ID()})
		require.NoError(t, err)
		require.Len(t, d.assignments(t), 1, "the one that has ended is kept")
		require.False(t, d.ada.Member().BotMeta.LiveChat())
		_, err = bot.InactivateGroup(ctx, livechat.InactivateGroupParams{GroupID: group.ID})
		require.NoError(t, err)
		group, err = bot.GetGroup(ctx, livechat.GetGroupParams{GroupID: group.ID})
		require.NoError(t, err)
		require.False(t, group.Valid)
	})
}

// bravoScript is bot logic that makes a group on Bravo for a request, and brings an agent
// into it, by itself.
type bravoScript struct {
	// assignment is the id of the request, group the group's id on Bravo, and link is how
	// agents get in.
	assignment, group, link string
}

// ask asks for a person and makes the group.
func (s *bravoScript) ask(ctx context.Context, bot *botctx.Context) error {
	asked, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{
		AssignmentDetails: livechat.AssignmentDetails{Summary: bot.Member.FirstName + " bought a kettle."},
	})
	if err != nil {
		return err
	}
	made, err := bot.CreateBravoGroup(ctx, livechat.CreateBravoGroupParams{ChannelID: "desk", Name: "Kettles"})
	if err != nil {
		return err
	}
	bot.Member, s.assignment, s.group, s.link = asked.Member, asked.AssignmentID, made.GroupID, made.InvitationLink
	return nil
}

// joined is what the bot of the desk does once an agent has joined the group.
func (s *bravoScript) joined(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.HandleAdminJoinedGroup(ctx, livechat.HandleAdminJoinedGroupParams{
		ExternalID: bot.MessageEvent.From, BravoGroupID: bot.Scope().GroupExternalID,
	})
	if err != nil {
		return err
	}
	g, err := bot.GetGroupByGroupExternalID(ctx, livechat.GetGroupByGroupExternalIDParams{GroupExternalID: s.group})
	if err != nil {
		return err
	}
	_, err = bot.UpdateAssignmentGroup(ctx, livechat.UpdateAssignmentGroupParams{
		AssignmentID: s.assignment, Group: g, BravoGroupID: s.group,
	})
	return err
}

func TestLiveChat_BravoGroup(t *testing.T) {
	t.Parallel()
	var script bravoScript
	d := newDesk(t, channel.Channel{Type: channel.Bravo, PriorityGroups: []channel.PriorityGroup{{GroupTrees: []string{"rooms"}}}}, []*botctx.Node{
		{ID: "person", Trigger: botctx.TextIs("a person"), Pre: []botctx.Action{script.ask}},
		{ID: "joined", Tree: "rooms", Trigger: botctx.TextIs("/joined"), Pre: []botctx.Action{script.joined}},
	})
	d.ada.Says("a person")
	d.grace.Joins(script.link)
	d.grace.Says("/joined")

	taken, err := d.ada.Context().GetAssignment(t.Context(), livechat.GetAssignmentParams{AssignmentID: script.assignment})
	require.NoError(t, err)
	require.Equal(t, d.grace.ExternalID(), taken.Assignee)
	found, err := d.ada.Context().GetGroupByMemberID(t.Context(), livechat.GetGroupByMemberIDParams{Inlet: "web", MemberID: d.ada.ID()})
	require.NoError(t, err)
	require.Equal(t, []string{script.group, script.assignment, "web", "Kettles"},
		[]string{found.ExternalID, found.Assignment, found.Inlet, found.Name})

	d.ada.Says("It leaks.")
	d.grace.Says("Where?")
	require.Equal(t, "Ada bought a kettle.\nIt leaks.", texts(d.grace))
	require.Equal(t, "Where?", texts(d.ada))
}
