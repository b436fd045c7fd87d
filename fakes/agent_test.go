package fakes_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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

func TestAgent_SeesTicketsOfHerGroups(t *testing.T) {
	t.Parallel()
	s := openShop(t, channel.Charlie)
	byLabel, byID, inAll := s.AddAgent("desk", "Lise", "default"), s.AddAgent("desk", "Mary", "support"), s.AddAgent("desk", "Nina")
	elsewhere := s.AddAgent("desk", "Olga", "sales", "support2") // Requests may name groups that the channel does not list.
	s.ada.Says("a person, please")
	require.Len(t, s.grace.Tickets(), 1)
	for _, agent := range []*fakes.Agent{byLabel, byID, inAll} {
		require.Equal(t, s.grace.Tickets(), agent.Tickets(), agent.Name())
	}
	require.Empty(t, elsewhere.Tickets())
	ticket := s.grace.Ticket()
	require.Equal(t, "support", ticket.Group)
	require.Equal(t, s.Queue("desk")[0].ID, ticket.Assignment)
	require.Equal(t, s.Now(), ticket.SentAt)
}

func TestAgent_Wrote(t *testing.T) {
	t.Parallel()
	s := openShop(t, channel.Charlie)
	lise := s.AddAgent("desk", "Lise")
	s.ada.Says("a person, please")
	s.grace.Takes(s.grace.Ticket())
	s.ada.Says("It leaks.")
	s.grace.Says("Where?")
	lise.Says("I am new here.")
	s.Crash()
	choices := s.Choices()
	for i, want := range [][2]bool{{false, false}, {true, false}, {false, true}} {
		scope := choices[len(choices)-3+i].Scope
		require.Equal(t, want, [2]bool{s.grace.Wrote(scope), lise.Wrote(scope)}, i)
	}
}

func TestTicket_ShowsWhoHasIt(t *testing.T) {
	t.Parallel()
	for outlet, text := range map[channel.Type]string{
		channel.Charlie: "Taken by Grace.",
		channel.Delta:   "Taken by Grace.",
		channel.Bravo:   "Ada asks for a person.\nAda bought a kettle.", // Bravo cannot change messages.
	} {
		s := openShop(t, outlet)
		s.ada.Says("a person, please")
		s.grace.Takes(s.grace.Ticket())
		require.Equal(t, text, s.grace.Tickets()[0].Text(), outlet)
		require.Equal(t, outlet == channel.Bravo, s.grace.Tickets()[0].IsOpen(), outlet)
	}
}

func TestTicket_Recalled(t *testing.T) {
	t.Parallel()
	s := openShop(t, channel.Delta)
	s.ada.Says("a person, please")
	stale := s.grace.Ticket()
	_, err := s.ada.Context().RemovePendingAssignmentByMemberID(t.Context(), livechat.RemovePendingAssignmentByMemberIDParams{MemberID: s.ada.ID()})
	require.NoError(t, err)
	require.Len(t, s.grace.Tickets(), 1)
	require.True(t, s.grace.Tickets()[0].IsRecalled)
	require.Empty(t, s.grace.Tickets()[0].Text())
	require.Empty(t, s.Queue("desk"))
	require.ErrorIs(t, s.grace.TryTakes(stale), boterr.NotFound)
	require.ErrorIs(t, s.grace.TryTakes(s.grace.Tickets()[0]), boterr.FailedPrecondition)
}

// A group also gets messages that offer no assignment, such as the answer to a tap that comes too late.
func TestTicket_OffersAnAssignment(t *testing.T) {
	t.Parallel()
	s := openShop(t, channel.Bravo)
	s.ada.Says("a person, please")
	stale := s.grace.Ticket()
	_, err := s.ada.Context().RemovePendingAssignmentByMemberID(t.Context(), livechat.RemovePendingAssignmentByMemberIDParams{MemberID: s.ada.ID()})
	require.NoError(t, err)
	s.AddMember(member.Member{FirstName: "Bob", Channel: s.ada.Scope().Channel}).Says("a person, please")
	require.ErrorIs(t, s.grace.TryTaps(stale), boterr.NotFound)
	tickets := s.grace.Tickets()
	require.Equal(t, livechat.DefaultTexts().Late, tickets[2].Text())
	require.Equal(t, tickets[1], s.grace.Ticket())
}

func TestEnds_HerLiveChat(t *testing.T) {
	t.Parallel()
	for _, outlet := range []channel.Type{channel.Charlie, channel.Delta, channel.Webchat} {
		s := openShop(t, outlet)
		require.Error(t, s.grace.TryEnds(), "there is none yet")
		s.ada.Says("a person, please")
		s.grace.Takes(s.grace.Ticket())
		require.True(t, s.ada.Member().BotMeta.LiveChat())
		s.grace.Ends()
		require.False(t, s.ada.Member().BotMeta.LiveChat())
		require.Equal(t, "desk", s.grace.Channel())
		require.Equal(t, []string{"support"}, s.grace.Groups())
	}
}

func TestTaps_TakesTicket(t *testing.T) {
	t.Parallel()
	s := openShop(t, channel.Delta)
	s.ada.Says("a person, please")
	late := s.AddAgent("desk", "Lise", "support")
	ticket := s.grace.Ticket()
	s.grace.Taps(ticket)
	require.Equal(t, "Ada bought a kettle.", s.grace.Last())
	require.ErrorIs(t, late.TryTaps(ticket), boterr.FailedPrecondition)
	s.grace.Says("Hello.")
	require.Equal(t, "Hello.", s.ada.Last())
}

func TestTaps_TooLateIsNoDeadLetter(t *testing.T) {
	t.Parallel()
	for name, happens := range map[string]func(s *shop){
		"somebody else has it": func(s *shop) { s.grace.Taps(s.grace.Ticket()) },
		"it has ended":         func(s *shop) { s.grace.Taps(s.grace.Ticket()); s.grace.Says("/done") },
		"it was withdrawn": func(s *shop) {
			_, err := s.ada.Context().RemovePendingAssignmentByMemberID(t.Context(),
				livechat.RemovePendingAssignmentByMemberIDParams{MemberID: s.ada.ID()})
			require.NoError(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openShop(t, channel.Delta, fakes.WithInbox())
			s.ada.Says("a person, please")
			late := s.AddAgent("desk", "Lise", "support")
			ticket := s.grace.Ticket()
			happens(s)
			require.NoError(t, late.TryTaps(ticket))
			s.Advance(time.Hour)
			require.Empty(t, s.DeadLetters())
		})
	}
}

func TestTaps_TicketOfAnyType(t *testing.T) {
	t.Parallel()
	for name, message := range map[string]send.Response{
		"buttons": send.Buttons("Ada waits", send.WebURL("Shop", "https://shop.example"), send.Postback("Take", livechat.TakePayload)),
		"cards": send.Carousel(send.Card{Title: "no button"}, send.Card{
			Title: "Ada waits", Buttons: []send.Button{send.Postback("Take", livechat.TakePayload)},
		}),
		"quick replies": send.QuickReplies("Ada waits", send.QuickReply{Title: "Take", Payload: livechat.TakePayload}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openShop(t, channel.Charlie)
			_, err := s.ada.Context().CreateAssignment(t.Context(), livechat.CreateAssignmentParams{
				AssignmentDetails: livechat.AssignmentDetails{
					RelayMessage: map[channel.Type]send.Response{channel.Charlie: message},
				},
			})
			require.NoError(t, err)
			s.grace.Taps(s.grace.Ticket())
			s.grace.Says("Hello.")
			require.Equal(t, "Hello.", s.ada.Last())
		})
	}
}

func TestAgent_TwoMembers(t *testing.T) {
	t.Parallel()
	s := openShop(t, channel.Charlie)
	bob := s.AddMember(member.Member{Channel: "web", FirstName: "Bob"})
	for _, asks := range []*fakes.Actor{s.ada, bob} {
		asks.Says("a person, please")
		s.grace.Takes(s.grace.Ticket())
	}
	s.ada.Says("I am Ada.")
	bob.Says("I am Bob.")
	s.grace.With(s.ada).Says("Hello Ada.")
	s.grace.With(bob).Says("Hello Bob.")
	s.grace.Says("Anything else?") // Says writes to the newest conversation.
	require.Equal(t, "Hello Ada.", s.ada.Last())
	require.Equal(t, "Somebody will be with you soon.\nHello Bob.\nAnything else?", texts(bob.Messages()))
	require.Equal(t, "Ada bought a kettle.\nI am Ada.", texts(s.grace.With(s.ada).Messages()))
	require.Equal(t, "Ada bought a kettle.\nI am Bob.", texts(s.grace.With(bob).Messages()))
	require.Len(t, s.grace.Messages(), 4)
	s.grace.With(bob).Says("/done")
	s.grace.Says("Still there?") // Only Ada's live chat is open now.
	require.Equal(t, "Still there?", s.ada.Last())
}

func TestAgent_WithoutConversation(t *testing.T) {
	t.Parallel()
	s := openShop(t, channel.Charlie)
	s.Handle(&botctx.Node{ID: "help", Trigger: botctx.TextIs("help"), Responses: []send.Response{
		send.Template("/sales hands a member over, {{firstName}}, and /done says goodbye."),
	}})
	s.grace.Says("help")
	require.Equal(t, "/sales hands a member over, Grace, and /done says goodbye.", s.grace.Last())
	require.Empty(t, s.hedy.Messages())
}

func TestAgent_OutletWithoutIDsOfGroups(t *testing.T) {
	t.Parallel()
	for outlet, groups := range map[channel.Type][]channel.BroadcastGroup{
		channel.Custom:  nil,
		channel.Foxtrot: {{Label: "default", Groups: []channel.BroadcastGroupMember{{Type: "foxtrot"}}}},
	} {
		p := fakes.New(fakes.For(t))
		p.Handle(handOff()...)
		p.AddChannel(channel.Channel{ID: "web"})
		p.AddChannel(channel.Channel{ID: "desk", Type: outlet, BroadcastGroups: groups})
		p.Pair("web", "desk")
		ada, grace, hedy := p.AddMember(member.Member{Channel: "web", FirstName: "Ada"}), p.AddAgent("desk", "Grace"), p.AddAgent("desk", "Hedy")
		ada.Says("a person, please")
		late := document.O("payload", livechat.TakePayload, "value", hedy.Ticket().Assignment)
		grace.Takes(grace.Ticket())
		tapped := hedy.TrySends(send.MessageEvent{Type: send.TypePayload, Data: document.O("payload", late)})
		require.ErrorIs(t, tapped, boterr.FailedPrecondition)
		require.Equal(t, "Taken by Grace.", hedy.Last(), outlet)
		ada.Says("It leaks.")
		require.Equal(t, "It leaks.", grace.Last(), outlet)
		grace.Says("Where?")
		require.Equal(t, "Where?", ada.Last(), outlet)
	}
}

func TestAgent_CustomOutletWithAPI(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(handOff()...)
	p.AddChannel(channel.Channel{ID: "web"})
	p.AddChannel(channel.Channel{ID: "desk", Type: channel.Custom, Metadata: document.O("liveChatApi", "https://desk.example/chats")})
	p.Pair("web", "desk")
	p.HTTP.Add("POST", "https://desk.example/chats", web.JSON(201, `{"groupId": "room 7"}`))
	ada, grace := p.AddMember(member.Member{Channel: "web", FirstName: "Ada"}), p.AddAgent("desk", "Grace")

	asked, err := ada.Context().CreateAssignment(t.Context(), livechat.CreateAssignmentParams{CreateGroup: &livechat.CreateGroup{}})
	require.NoError(t, err)
	require.Contains(t, p.HTTP.Requests()[0].Body, asked.AssignmentID)
	ada.Says("It leaks.")
	require.Equal(t, "It leaks.", grace.Last())
	grace.Says("Where?")
	require.Equal(t, "Where?", ada.Last())
}

func TestGroupLink_RenewedOrDisabled(t *testing.T) {
	t.Parallel()
	s := openShop(t, channel.Bravo)
	bot := s.ada.Context()
	made := must(t, bot.CreateBravoGroup, livechat.CreateBravoGroupParams{ChannelID: "desk", Name: "Kettles"})
	s.grace.Joins(made.InvitationLink)
	s.grace.Joins(made.InvitationLink)
	require.Len(t, s.Choices(), 1, "an agent joins once")
	require.Equal(t, []fakes.Group{{
		Channel: "desk", ExternalID: made.GroupID, Name: "Kettles", Members: []string{s.grace.ExternalID()}, InvitationLink: made.InvitationLink,
	}}, s.Groups("desk"))

	renewed := must(t, bot.HandleAdminJoinedGroup, livechat.HandleAdminJoinedGroupParams{
		Channel: &channel.Channel{ID: "desk"}, ExternalID: s.grace.ExternalID(), BravoGroupID: made.GroupID,
	})
	require.ErrorIs(t, s.hedy.TryJoins(made.InvitationLink), boterr.NotFound)
	s.hedy.Joins(renewed)
	must(t, bot.DisableBravoGroupInviteLink, livechat.DisableBravoGroupInviteLinkParams{
		Channel: &channel.Channel{ID: "desk"}, ExternalID: made.GroupID,
	})
	require.ErrorIs(t, s.AddAgent("desk", "Lise").TryJoins(renewed), boterr.NotFound)
	require.ErrorIs(t, s.grace.TryJoins(""), boterr.NotFound)
	require.Equal(t, []string{s.grace.ExternalID(), s.hedy.ExternalID()}, s.Groups("desk")[0].Members)
}

func TestJoins_TellsTheBotOnBravo(t *testing.T) {
	t.Parallel()
	s := openShop(t, channel.Bravo)
	welcomed := 0
	hasJoined := func(bot *botctx.Context) bool {
		return bot.MessageEvent != nil && document.Get(bot.MessageEvent.Data, "type", "") == "group_participants_add"
	}
	s.Handle(&botctx.Node{ID: "joined", Trigger: botctx.When(hasJoined), Pre: []botctx.Action{
		func(ctx context.Context, bot *botctx.Context) error {
			welcomed++
			require.Equal(t, s.grace.ExternalID(), document.Get(bot.MessageEvent.Data, "group.added_participants.0.wa_id", ""))
			_, err := bot.HandleAdminJoinedGroup(ctx, livechat.HandleAdminJoinedGroupParams{
				ExternalID: bot.MessageEvent.From, BravoGroupID: bot.MessageEvent.To, IsRenewGroupInviteLink: new(false),
			})
			if err != nil {
				return err
			}
			group, err := bot.GetGroupByGroupExternalID(ctx, livechat.GetGroupByGroupExternalIDParams{GroupExternalID: bot.MessageEvent.To})
			if err != nil {
				return err
			}
			_, err = bot.SendMessageToOutletGroup(ctx, livechat.SendMessageToOutletGroupParams{
				GroupID: group.ID, Response: send.Text("Welcome."),
			})
			return err
		},
	}})
	made, err := s.ada.Context().CreateBravoGroup(t.Context(), livechat.CreateBravoGroupParams{ChannelID: "desk", Name: "Kettles"})
	require.NoError(t, err)
	s.grace.Joins(made.InvitationLink)
	require.Equal(t, "Welcome.", s.grace.Last())
	require.Empty(t, s.hedy.Messages())
	require.ErrorIs(t, s.grace.TryJoins(made.InvitationLink), boterr.NotFound)
	require.Equal(t, 1, welcomed)
}

func TestRestore_Desk(t *testing.T) {
	t.Parallel()
	s := openShop(t, channel.Charlie)
	s.ada.Says("a person, please")
	before := s.Snapshot()
	fork := s.Fork()
	s.grace.Takes(s.grace.Ticket())
	s.ada.Says("It leaks.")
	after := s.Transcript()

	require.True(t, s.grace.In(fork).Ticket().IsOpen(), "the fork does not see it")
	require.Empty(t, fork.Groups("desk"))
	s.Restore(before)
	require.Empty(t, s.Groups("desk"))
	require.Len(t, s.Queue("desk"), 1)
	for _, p := range []*fakes.Platform{fork, s.Platform} {
		grace := s.grace.In(p)
		grace.Takes(grace.Ticket())
		s.ada.In(p).Says("It leaks.")
		require.Equal(t, "It leaks.", grace.Last())
		require.False(t, grace.Tickets()[0].IsOpen())
		require.Equal(t, after, p.Transcript(), "it happens the same way again")
	}
}

func TestTranscript_HandOff(t *testing.T) {
	t.Parallel()
	s := openShop(t, channel.Charlie)
	s.ada.Says("a person, please")
	s.grace.Takes(s.grace.Ticket())
	s.grace.Says("Hello.")
	s.grace.Says("/done")
	for _, line := range []string{
		`desk/support <- "`, `Grace takes `, `desk/C000001 was made: "Ada's kettle"`,
		`desk/C000001 <- "Ada bought a kettle."`, `desk shows on 1767225600.000100: "Taken by Grace."`,
		`Grace -> "Hello."`, `Ada <- "Hello."`, `Ada <- "Goodbye!"`,
	} {
		require.Contains(t, s.Transcript(), line)
	}
}

func TestMisuse(t *testing.T) {
	t.Parallel()
	for name, misuse := range map[string]func(p *fakes.Platform, grace *fakes.Agent){
		"AddAgent Lise to the channel nowhere": func(p *fakes.Platform, _ *fakes.Agent) { p.AddAgent("nowhere", "Lise") },
		`the channel has no group "suppor": its labels and ids are ["default" "support"]: did you mean "support"?`: func(
			p *fakes.Platform, _ *fakes.Agent,
		) {
			p.AddChannel(channel.Channel{ID: "help", Type: channel.Charlie, BroadcastGroups: []channel.BroadcastGroup{
				{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "support"}}},
			}})
			p.AddAgent("help", "Lise", "suppor")
		},
		"Pair":                          func(p *fakes.Platform, _ *fakes.Agent) { p.Pair("nowhere", "desk") },
		"Queue of the channel nowhere":  func(p *fakes.Platform, _ *fakes.Agent) { p.Queue("nowhere") },
		"Grace has no open ticket":      func(_ *fakes.Platform, grace *fakes.Agent) { grace.Ticket() },
		"Grace cannot take ":            func(_ *fakes.Platform, grace *fakes.Agent) { grace.Takes(fakes.Ticket{}) },
		"Grace tapped ":                 func(_ *fakes.Platform, grace *fakes.Agent) { grace.Taps(fakes.Ticket{}) },
		"Grace cannot join by ":         func(_ *fakes.Platform, grace *fakes.Agent) { grace.Joins("https://invite.example/") },
		"Grace sent TEXT":               func(_ *fakes.Platform, grace *fakes.Agent) { grace.Says("hi") }, // The bot has no nodes.
		"nothing was sent to Grace yet": func(_ *fakes.Platform, grace *fakes.Agent) { grace.Last() },
	} {
		requireFailure(t, name, func(p *fakes.Platform) {
			p.AddChannel(channel.Channel{ID: "desk", Type: channel.Charlie})
			misuse(p, p.AddAgent("desk", "Grace"))
		})
	}
}

func TestNewLiveChats_HasAnAgent(t *testing.T) {
	t.Parallel()
	chats := fakes.NewLiveChats(fakes.For(t))
	must(t, chats.CreateAssignment, livechat.CreateAssignmentParams{History: true})
	require.Contains(t, chats.Agent.Ticket().Text(), "https://history.example/")
	chats.Agent.Takes(chats.Agent.Ticket())
	found := must(t, chats.GetAssignmentsByMemberID, livechat.GetAssignmentsByMemberIDParams{MemberID: chats.Member.ID()})
	require.Equal(t, chats.Agent.ExternalID(), found[0].Assignee)
	admin := must(t, chats.GetAdmin, livechat.GetAdminParams{AdminID: chats.Agent.AdminID()})
	require.Equal(t, "Grace", admin.Name)
}

func TestSent_ToAGroup(t *testing.T) {
	t.Parallel()
	s := openShop(t, channel.Charlie)
	s.ada.Says("a person, please")
	require.Equal(t, []string{"", s.ada.ID()}, []string{s.Sent()[0].Member, s.Sent()[1].Member})
	require.Equal(t, send.TypeButton, s.Sent()[0].Response.Type())
}

// handOff returns the nodes of a bot that hands members over to people. A member asks for a person with a text
// on the inlet; agents use commands on the outlet.
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

// isCommand matches an agent's command in a live chat.
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
	_, err = bot.EndLiveChat(ctx, livechat.EndParams{Channel: bot.Channel, MessageEvent: bot.MessageEvent})
	return err
}

// shop is a platform with an inlet, an outlet, a member and two agents.
type shop struct {
	*fakes.Platform

	ada         *fakes.Actor
	grace, hedy *fakes.Agent
}

// openShop returns a shop: Ada is a member on the web, Grace serves the support desk and Hedy the sales desk.
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

// texts returns the texts of messages, one per line.
func texts(messages []send.Response) string {
	lines := make([]string, len(messages))
	for i, message := range messages {
		lines[i] = message.Text()
	}
	return strings.Join(lines, "\n")
}

// till returns a page on which Ada has got the given messages, and the list of payloads that its bot receives.
func till(t *testing.T, shown ...send.Response) (p *page, payloads *[]any) {
	t.Helper()
	p, payloads = pageOn(t, channel.Charlie), new([]any)
	p.HandleFunc(func(_ context.Context, bot *botctx.Context) error {
		payload, _ := bot.MessageEvent.Data.Field("payload")
		*payloads = append(*payloads, payload)
		return nil
	})
	p.show(t, shown...)
	return p, payloads
}

func (p *page) show(t *testing.T, messages ...send.Response) {
	t.Helper()
	for _, message := range messages {
		require.NoError(t, p.ada.Context().Reply(t.Context(), message))
	}
}

func TestTapsOn_SendsPayload(t *testing.T) {
	t.Parallel()
	yes := send.PostbackValue("Yes", "confirm", 7)
	beside := send.Button{Type: send.ButtonPostback, Title: "Yes", Payload: "confirm", Unknown: document.O("value", 7)}
	withValue := document.O("payload", "confirm", "value", 7)
	for name, c := range map[string]struct {
		shown send.Response
		want  any
	}{
		"a button":           {send.Buttons("Kettle?", send.Postback("No", "no"), send.Postback("Yes", "yes")), "yes"},
		"a value":            {send.Buttons("Kettle?", yes), withValue},
		"a value beside":     {send.Buttons("Kettle?", beside), withValue},
		"a card's button":    {send.Carousel(send.Card{Title: "Pot"}, send.Card{Title: "Kettle", Buttons: []send.Button{yes}}), withValue},
		"two that are alike": {send.Buttons("Kettle?", send.Postback("Yes", "yes"), send.Postback("Yes", "yes")), "yes"},
		"a quick reply":      {send.QuickReplies("Kettle?", send.QuickReply{Title: "Yes", Payload: "quick"}), "quick"},
		"a quick reply's title": {
			send.QuickReplies("Kettle?", send.QuickReply{ContentType: "location"}, send.QuickReply{Title: "Yes"}), "Yes",
		},
	} {
		p, payloads := till(t, c.shown)
		p.ada.TapsOn("Yes")
		require.Equal(t, []any{c.want}, *payloads, name)
	}
}

func TestTapsOn_NewestMessage(t *testing.T) {
	t.Parallel()
	p, payloads := till(t,
		send.Buttons("Kettle?", send.Postback("Yes", "old"), send.Postback("Never", "never")),
		send.Buttons("Pot?", send.Postback("Yes", "new")), send.Text("Well?"))
	_, err := p.lise.Context().SendResponse(t.Context(), send.SendResponseParams{
		Response: send.Buttons("Cup?", send.Postback("Yes", "Lise's")),
	})
	require.NoError(t, err)
	p.ada.TapsOn("Yes")
	p.ada.TapsOn("Never")
	require.Equal(t, []any{"new", "never"}, *payloads)
}

func TestTapsOn_QuickRepliesAreGone(t *testing.T) {
	t.Parallel()
	p, payloads := till(t, send.QuickReplies("Kettle?", send.QuickReply{Title: "Yes"}), send.Typing(0))
	p.ada.TapsOn("Yes")
	p.show(t, send.Text("Well?"))
	require.ErrorIs(t, p.ada.TryTapsOn("Yes"), boterr.FailedPrecondition)
	require.Len(t, *payloads, 1)
}

func TestTapsOn_NotThere(t *testing.T) {
	t.Parallel()
	for want, shown := range map[string]send.Response{
		`Ada tapped on "Yes"`:             send.Buttons("Kettle?", send.WebURL("Yes", "https://shop.example")),
		`sees nothing that can be tapped`: send.Text("Kettle?"),
		`but [yes], [No]`:                 send.Buttons("Kettle?", send.Postback("yes", "y"), send.Postback("No", "n")),
	} {
		requireFailure(t, want, func(platform *fakes.Platform) {
			ada := platform.AddMember(member.Member{FirstName: "Ada"})
			_, err := ada.Context().SendResponse(t.Context(), send.SendResponseParams{Response: shown})
			require.NoError(t, err)
			ada.TapsOn("Yes")
		})
	}
}

func TestTryTapsOn_ErrorOfTheRun(t *testing.T) {
	t.Parallel()
	p, _ := till(t, send.Buttons("Kettle?", send.Postback("Yes", "yes")))
	p.HandleFunc(func(context.Context, *botctx.Context) error {
		return boterr.New(boterr.Unavailable, "", "the till is stuck")
	})
	require.ErrorIs(t, p.ada.TryTapsOn("Yes"), boterr.Unavailable)
}

func TestTappables_NewestFirst(t *testing.T) {
	t.Parallel()
	p, payloads := till(t, send.Buttons("Kettle?", send.Postback("Yes", "kettle")), send.Buttons("Pot?", send.Postback("Yes", "pot")))
	all := p.ada.Tappables()
	require.Len(t, all, 2)
	require.Equal(t, "pot", all[0].Payload)
	require.NotEqual(t, all[0].MessageID, all[1].MessageID)
	p.ada.Sends(all[1].Event())
	require.Equal(t, []any{"kettle"}, *payloads)
}
