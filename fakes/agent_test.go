package fakes_test

import (
	"context"
	"sync"
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
	elsewhere := s.AddAgent("desk", "Olga", "nowhere")
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

func TestTakes_FiftyAgentsAtOnce(t *testing.T) {
	t.Parallel()
	s := openShop(t, channel.Charlie)
	agents := make([]*fakes.Agent, 50)
	for i := range agents {
		agents[i] = s.AddAgent("desk", "Grace", "support")
	}
	s.ada.Says("a person, please")
	ticket := agents[0].Ticket()
	errs := make([]error, len(agents))
	var taking sync.WaitGroup
	for i, agent := range agents {
		taking.Go(func() { errs[i] = agent.TryTakes(ticket) })
	}
	taking.Wait()
	var winner string
	for i, err := range errs {
		if err == nil {
			require.Empty(t, winner)
			winner = agents[i].ExternalID()
		}
	}
	require.NotEmpty(t, winner)
	for _, err := range errs {
		if err != nil {
			require.ErrorIs(t, err, boterr.FailedPrecondition)
			require.ErrorContains(t, err, winner)
		}
	}
	require.Len(t, s.Groups("desk"), 1)
	require.Equal(t, []string{winner}, s.Groups("desk")[0].Members)
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
	s.grace.Says("Anything else?") // In the newest one.
	require.Equal(t, "Hello Ada.", s.ada.Last())
	require.Equal(t, "Somebody will be with you soon.\nHello Bob.\nAnything else?", texts(bob.Messages()))
	require.Equal(t, "Ada bought a kettle.\nI am Ada.", texts(s.grace.With(s.ada).Messages()))
	require.Equal(t, "Ada bought a kettle.\nI am Bob.", texts(s.grace.With(bob).Messages()))
	require.Len(t, s.grace.Messages(), 4)
	s.grace.With(bob).Says("/done")
	s.grace.Says("Still there?") // Ada is the one who is left.
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

func TestAgent_HelpdeskBegins(t *testing.T) {
	t.Parallel()
	s := openShop(t, channel.Foxtrot)
	bob := s.AddMember(member.Member{Channel: "web", FirstName: "Bob"})
	s.ada.Says("a person, please")
	bob.Says("a person, please")
	requests := s.grace.Tickets()
	require.Len(t, requests, 2)
	require.Len(t, s.Groups("desk"), 2)
	s.grace.Takes(requests[0])
	s.hedy.Takes(requests[1])
	s.ada.Says("It leaks.")
	bob.Says("It is hot.")
	s.grace.Says("Where?")
	s.hedy.Says("What is it?")
	require.Equal(t, "Where?", s.ada.Last())
	require.Equal(t, "What is it?", bob.Last())
	require.Equal(t, "It leaks.", s.grace.Last())
	require.Equal(t, "It is hot.", s.hedy.Last())
	require.NotContains(t, texts(s.grace.Messages()), "hot")
}

func TestAgent_CustomOutletWithoutAPI(t *testing.T) {
	t.Parallel()
	s := openShop(t, channel.Custom)
	s.ada.Says("a person, please")
	require.Len(t, s.Queue("desk"), 1)
	s.grace.Takes(s.grace.Ticket())
	s.ada.Says("It leaks.")
	require.Equal(t, "It leaks.", s.grace.Last())
	s.grace.Says("Where?")
	require.Equal(t, "Where?", s.ada.Last())
	s.grace.Says("/done")
	require.Equal(t, "Goodbye!", s.ada.Last())
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
	made, err := bot.CreateBravoGroup(t.Context(), livechat.CreateBravoGroupParams{ChannelID: "desk", Name: "Kettles"})
	require.NoError(t, err)
	s.grace.Joins(made.InvitationLink)
	s.grace.Joins(made.InvitationLink)
	require.Equal(t, []fakes.Group{{
		Channel: "desk", ExternalID: made.GroupID, Name: "Kettles", Members: []string{s.grace.ExternalID()}, InvitationLink: made.InvitationLink,
	}}, s.Groups("desk"))

	renewed, err := bot.HandleAdminJoinedGroup(t.Context(), livechat.HandleAdminJoinedGroupParams{
		Channel: &channel.Channel{ID: "desk"}, ExternalID: s.grace.ExternalID(), BravoGroupID: made.GroupID,
	})
	require.NoError(t, err)
	require.ErrorIs(t, s.hedy.TryJoins(made.InvitationLink), boterr.NotFound)
	s.hedy.Joins(renewed)
	_, err = bot.DisableBravoGroupInviteLink(t.Context(), livechat.DisableBravoGroupInviteLinkParams{
		Channel: &channel.Channel{ID: "desk"}, ExternalID: made.GroupID,
	})
	require.NoError(t, err)
	require.ErrorIs(t, s.AddAgent("desk", "Lise").TryJoins(renewed), boterr.NotFound)
	require.ErrorIs(t, s.grace.TryJoins(""), boterr.NotFound)
	require.Equal(t, []string{s.grace.ExternalID(), s.hedy.ExternalID()}, s.Groups("desk")[0].Members)
}

func TestAgent_WritesInJoinedGroup(t *testing.T) {
	t.Parallel()
	s := openShop(t, channel.Bravo)
	s.Handle(&botctx.Node{ID: "hello", Trigger: botctx.TextIs("hello"), Pre: []botctx.Action{
		func(ctx context.Context, bot *botctx.Context) error {
			_, err := bot.HandleAdminJoinedGroup(ctx, livechat.HandleAdminJoinedGroupParams{
				ExternalID: bot.MessageEvent.From, BravoGroupID: bot.MessageEvent.To,
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
	s.grace.Says("hello")
	require.Equal(t, "Welcome.", s.grace.Last())
	require.Empty(t, s.hedy.Messages())
}

func TestGroups_KeepIcon(t *testing.T) {
	t.Parallel()
	s := openShop(t, channel.Bravo)
	s.HTTP.Add("GET", "https://shop.example/kettle.png", web.Reply{
		Status: 200, Header: map[string][]string{"Content-Type": {"image/png"}}, Body: "\x89PNG\r\n\x1a\n kettle",
	})
	made, err := s.ada.Context().CreateBravoGroup(t.Context(), livechat.CreateBravoGroupParams{ChannelID: "desk", Name: "Kettles"})
	require.NoError(t, err)
	_, err = s.ada.Context().SetBravoGroupIcon(t.Context(), livechat.SetBravoGroupIconParams{
		ChannelID: "desk", ImageURL: "https://shop.example/kettle.png", BravoGroupID: made.GroupID,
	})
	require.NoError(t, err)
	require.Equal(t, livechat.Picture{ContentType: "image/png", Bytes: []byte("\x89PNG\r\n\x1a\n kettle")}, s.Groups("desk")[0].Icon)
}

func TestCreatedChannels_OnHotel(t *testing.T) {
	t.Parallel()
	s := openShop(t, channel.Hotel)
	_, err := s.ada.Context().CreateHotelChannel(t.Context(), livechat.CreateHotelChannelParams{
		Channel: &channel.Channel{ID: "desk"}, HotelGroupID: "floor 3", DisplayName: "Room service",
	})
	require.NoError(t, err)
	require.Equal(t, []fakes.CreatedChannel{{Channel: "desk", ID: "hotel-channel-1", GroupID: "floor 3", DisplayName: "Room service"}},
		s.CreatedChannels("desk"))
	require.Empty(t, s.CreatedChannels("web"))
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
		`desk/support <- {"type":"BUTTON"`, `Grace takes `, `desk/C000001 was made: "Ada's kettle"`,
		`desk/C000001 <- {"type":"TEXT","text":"Ada bought a kettle."}`, `desk shows on 1767225600.000100: Taken by Grace.`,
		`Grace -> {"type":"TEXT","text":"Hello."}`, `Ada <- {"type":"TEXT","text":"Hello."}`, `Ada <- {"type":"TEXT","text":"Goodbye!"}`,
	} {
		require.Contains(t, s.Transcript(), line)
	}
}

func TestDesk_Misuse(t *testing.T) {
	t.Parallel()
	for name, misuse := range map[string]func(p *fakes.Platform, grace *fakes.Agent){
		"AddAgent Lise to the channel nowhere": func(p *fakes.Platform, _ *fakes.Agent) { p.AddAgent("nowhere", "Lise") },
		"Pair":                                 func(p *fakes.Platform, _ *fakes.Agent) { p.Pair("nowhere", "desk") },
		"Queue of the channel nowhere":         func(p *fakes.Platform, _ *fakes.Agent) { p.Queue("nowhere") },
		"Grace has no open ticket":             func(_ *fakes.Platform, grace *fakes.Agent) { grace.Ticket() },
		"Grace cannot take ":                   func(_ *fakes.Platform, grace *fakes.Agent) { grace.Takes(fakes.Ticket{}) },
		"Grace tapped ":                        func(_ *fakes.Platform, grace *fakes.Agent) { grace.Taps(fakes.Ticket{}) },
		"Grace cannot join by ":                func(_ *fakes.Platform, grace *fakes.Agent) { grace.Joins("https://invite.example/") },
		"Grace sent TEXT":                      func(_ *fakes.Platform, grace *fakes.Agent) { grace.Says("hi") }, // There is no logic.
		"Grace was sent nothing yet":           func(_ *fakes.Platform, grace *fakes.Agent) { grace.Last() },
	} {
		var tb recordedTB
		tb.run(func(p *fakes.Platform) {
			p.AddChannel(channel.Channel{ID: "desk", Type: channel.Charlie})
			misuse(p, p.AddAgent("desk", "Grace"))
		})
		require.Len(t, tb.failures, 1, name)
		require.Contains(t, tb.failures[0], name)
	}
}

func TestNewLiveChats_HasAnAgent(t *testing.T) {
	t.Parallel()
	chats := fakes.NewLiveChats(fakes.For(t))
	_, err := chats.CreateAssignment(t.Context(), livechat.CreateAssignmentParams{History: true})
	require.NoError(t, err)
	require.Contains(t, chats.Agent.Ticket().Text(), "https://history.example/")
	chats.Agent.Takes(chats.Agent.Ticket())
	found, err := chats.GetAssignmentsByMemberID(t.Context(), livechat.GetAssignmentsByMemberIDParams{MemberID: chats.Member.ID()})
	require.NoError(t, err)
	require.Equal(t, chats.Agent.ExternalID(), found[0].Assignee)
	admin, err := chats.GetAdmin(t.Context(), livechat.GetAdminParams{AdminID: chats.Agent.AdminID()})
	require.NoError(t, err)
	require.Equal(t, "Grace", admin.Name)
}

func TestSent_ToAGroup(t *testing.T) {
	t.Parallel()
	s := openShop(t, channel.Charlie)
	s.ada.Says("a person, please")
	require.Equal(t, []string{"", s.ada.ID()}, []string{s.Sent()[0].Member, s.Sent()[1].Member})
	require.Equal(t, send.TypeButton, s.Sent()[0].Response.Type())
}
