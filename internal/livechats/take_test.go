package livechats_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

func TestTake(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.saveAdmin(t, "adm1", "U-eve", "Eve")
	s.pending(t, "a1", "ada")
	s.advance(time.Minute)
	took, err := s.mine.Take(t.Context(), livechat.TakeParams{
		AssignmentID: "a1", ChannelID: "desk", AdminExternalID: "U-eve", BroadcastGroupID: "U1",
	})
	require.NoError(t, err)
	require.Equal(t, []string{
		`desk: create group "Order 7" for "U-eve"`,
		"desk: send to group1: Order 7, for {{firstName}}",
		"desk: show on the ticket of C1: Taken by Eve.",
		"team: show on the ticket of D1: Taken by Eve.",
		"phone: show on the ticket of B1: Taken by Eve.",
	}, s.platform.did())

	r := s.record(t, "a1")
	require.Equal(t, livechat.Taken, r.State())
	require.Equal(t, "U-eve", r.Assignee)
	require.Equal(t, s.at(0), r.AssignedAt)
	require.Equal(t, "desk", r.Outlet)
	require.Equal(t, s.at(livechat.IdleTimeout), r.Expiry)
	require.Equal(t, r.Expiry, s.mine.onlyAgenda(t).NextRunAt)
	require.Equal(t, took.Group.ID, r.Group)
	require.JSONEq(t, `{"externalId": "group1", "name": "Order 7", "type": "charlie"}`, r.GroupInfo.String())
	require.Equal(t, r.Assignment, *took.Assignment)

	require.Equal(t, took.Group, s.group(t, r.Group))
}

func TestTake_ShowsOnTickets(t *testing.T) {
	t.Parallel()
	s := newFixture(t, strict)
	s.pending(t, "a1", "ada", func(r *livechat.AssignmentRecord) {
		r.TakenMessage, r.Summary = "[adminName] helps. Thank you, [adminName]!", ""
		r.Tickets[1].RecalledAt = 1
		r.Tickets[3].Group.ID = "D1" // A group of another channel has the same id as the taken ticket's.
		r.Tickets = append(r.Tickets, livechat.Ticket{ID: "unsent", Channel: "desk", Type: channel.Charlie, MessageID: "unsent"})
	})
	_, err := s.mine.Take(t.Context(), livechat.TakeParams{
		AssignmentID: "a1", ChannelID: "team", AdminExternalID: "eve", BroadcastGroupID: "D1",
	})
	require.NoError(t, err)
	require.Equal(t, []string{
		`team: create group "Order 7" for "eve"`,
		"desk: show on the ticket of C1: eve helps. Thank you, eve!",
		"phone: show on the ticket of D1: Taken by eve.",
	}, s.platform.did(), "without a name agents are called by their id")
}

func TestTake_OneDirectConversation(t *testing.T) {
	t.Parallel()
	s := newFixture(t, thatOnlySends(channel.Charlie))
	s.taken(t, "a1", "ada", "eve@desk")
	s.pending(t, "a2", "bob")
	second := takenBy("a2", "eve@desk")
	before := s.stored(t)
	_, err := s.mine.Take(t.Context(), second)
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.Equal(t, "adminExternalId", fieldOf(t, err))
	require.ErrorContains(t, err, "a1")
	require.Equal(t, before, s.stored(t))
	s.take(t, "a2", "mallory@desk")
	_, err = s.mine.Take(t.Context(), second)
	require.Equal(t, "assignmentId", fieldOf(t, err), "another agent was faster")

	s.end(t, "mallory@desk", "desk")
	s.pending(t, "a3", "bob")
	second.AssignmentID = "a3"
	s.end(t, "eve@desk", "desk")
	_, err = s.mine.Take(t.Context(), second)
	require.NoError(t, err)
}

// inHelpdesk sends a request to the helpdesk help, which opened the conversation chatID for it, or none if chatID is "".
func inHelpdesk(chatID string) func(*livechat.AssignmentRecord) {
	return func(r *livechat.AssignmentRecord) {
		r.Direct, r.IsZendesk = "help", true
		r.Tickets = []livechat.Ticket{{ID: "t", Channel: "help", Type: channel.Foxtrot, ChatID: chatID, MessageID: "m", SentAt: 1}}
	}
}

func TestTake_DirectRequest(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pending(t, "a1", "ada", inHelpdesk("case-9"))
	took := s.take(t, "a1", "eve@help")
	require.Equal(t, "case-9", took.Group.ExternalID)
	require.Equal(t, []string{"help: send to case-9: Order 7, for {{firstName}}"}, s.platform.did(), "what opened it is no ticket")
	took = s.taken(t, "a2", "bob", "eve@help", inHelpdesk(""))
	require.Equal(t, "eve", took.Group.ExternalID)
	s.end(t, "eve@help", "case-9")
	s.requireOver(t, "a1", "ada", livechat.EndedByOutlet)
	require.Equal(t, livechat.Taken, s.record(t, "a2").State())
}

// inGroupOfShop stores the open request a1 of ada, for which the channel shop made the group g1.
func (s *fixture) inGroupOfShop(t *testing.T) {
	t.Helper()
	s.put(t, "groups", `{"_id": "g1", "app": "mine", "outlet": "shop", "externalId": "room-5", "active": true, "valid": true,
		"assignment": "a1", "member": "ada", "inlet": "web", "type": "custom"}`)
	s.pending(t, "a1", "ada", func(r *livechat.AssignmentRecord) {
		r.Direct, r.Group, r.CreateGroup = "shop", "g1", &livechat.CreateGroup{}
		r.Tickets = []livechat.Ticket{{ID: "t", Channel: "shop", Type: channel.Custom, ChatID: "room-5", SentAt: 1}}
	})
}

func TestTake_JoinsGroupOfOutlet(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.saveAdmin(t, "adm1", "eve", "Eve")
	s.inGroupOfShop(t)
	took := s.take(t, "a1", "eve@shop")
	for _, g := range []*livechat.Group{took.Group, s.group(t, "g1")} {
		require.Equal(t, []string{"g1", "eve", "adm1"}, []string{g.ID, g.AdminExternalID, g.Admin})
	}
	require.Empty(t, s.platform.did(), "the outlet got the summary when it was asked for the group")
}

func TestTake_Refuses(t *testing.T) {
	t.Parallel()
	isAnything := func(*livechat.AssignmentRecord) {}
	for name, test := range map[string]struct {
		change    func(*livechat.AssignmentRecord)
		id, agent string
		code      boterr.Code
		field     string
		text      string
	}{
		"no assignment id":                {isAnything, "", "eve@desk", boterr.InvalidArgument, "assignmentId", ""},
		"no channel":                      {isAnything, "a1", "eve@", boterr.InvalidArgument, "channelId", ""},
		"no agent":                        {isAnything, "a1", "@desk", boterr.InvalidArgument, "adminExternalId", ""},
		"an assignment that is not there": {isAnything, "a9", "eve@desk", boterr.NotFound, "assignmentId", ""},
		"a channel of another app":        {isAnything, "a1", "eve@foreign", boterr.NotFound, "channelId", ""},
		"a channel without a ticket":      {isAnything, "a1", "eve@hotel", boterr.FailedPrecondition, "channelId", "not offered"},
		"one that is being sent": {
			func(r *livechat.AssignmentRecord) { r.SentAt = 0 },
			"a1", "eve@desk", boterr.FailedPrecondition, "assignmentId", "still being sent",
		},
		"one that has ended": {
			func(r *livechat.AssignmentRecord) { r.EndedAt, r.Slot = 1, "ended/a1" },
			"a1", "eve@desk", boterr.FailedPrecondition, "assignmentId", "has ended",
		},
		"one that the same agent has elsewhere": {
			func(r *livechat.AssignmentRecord) { r.Assignee, r.Outlet, r.AssignedAt = "eve", "team", 1 },
			"a1", "eve@desk", boterr.FailedPrecondition, "assignmentId", "eve",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			s.pending(t, "a1", "ada", test.change)
			before := s.stored(t)
			_, err := s.mine.Take(t.Context(), takenBy(test.id, test.agent))
			require.ErrorIs(t, err, test.code)
			require.Equal(t, test.field, fieldOf(t, err))
			require.ErrorContains(t, err, test.text)
			require.Equal(t, before, s.stored(t))
			require.Empty(t, s.platform.did())
		})
	}
}

func TestTake_SameAgentAgain(t *testing.T) {
	t.Parallel()
	whole := []string{
		`desk: create group "Order 7" for "eve"`, "desk: send to group1: Order 7, for {{firstName}}",
		"desk: show on the ticket of C1: Taken by eve.", "desk: show on the ticket of U1: Taken by eve.",
		"team: show on the ticket of D1: Taken by eve.", "phone: show on the ticket of B1: Taken by eve.",
	}
	for failing, missing := range map[string]string{
		"Order 7": "group", "group1": "summary", "C1": "ticket of C1", "B1": "ticket of B1",
	} {
		t.Run(missing, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			s.pending(t, "a1", "ada")
			s.platform.fail(failing, errDown)
			take := takenBy("a1", "eve@desk")
			_, err := s.mine.Take(t.Context(), take)
			require.ErrorIs(t, err, boterr.Unavailable)
			require.Equal(t, "eve", s.record(t, "a1").Assignee)

			_, err = s.mine.Take(t.Context(), takenBy("a1", "mallory@desk"))
			require.ErrorIs(t, err, boterr.FailedPrecondition, "it is taken all the same")

			s.platform.work(failing)
			_, err = s.mine.Take(t.Context(), take)
			require.NoError(t, err)
			_, err = s.mine.Take(t.Context(), take)
			require.NoError(t, err)
			require.ElementsMatch(t, whole, s.platform.did(), "each thing once")
		})
	}
}

func TestLiveChatParameter_LastCallCounts(t *testing.T) {
	t.Parallel()
	const handOn = `{"channel": {"_id": "desk"}, "label": "sales", "previousAssignment": {"_id": "a1"}, "liveChat": false}`
	for name, test := range map[string]struct {
		change func(s *fixture, id string)
		want   bool
	}{
		"handed on out of live chat": {func(*fixture, string) {}, false},
		"and asked for again":        {func(s *fixture, _ string) { s.mustAsk(t, `{}`) }, true},
		"and given more targets": {func(s *fixture, id string) {
			must(t, s.mine.AddNewTargetsToAssignment, `{"assignmentId": "`+id+`", "targets": [{"channel": "team"}]}`)
		}, true},
		"and given more targets out of live chat": {func(s *fixture, id string) {
			must(t, s.mine.AddNewTargetsToAssignment, `{"assignmentId": "`+id+`", "targets": [{"channel": "team"}], "liveChat": false}`)
		}, false},
	} {
		s := newFixture(t)
		s.taken(t, "a1", "ada", "eve@desk")
		next := document.Get(object(t, must(t, s.mine.ReassignAssignment, handOn)), "assignmentId", "")
		require.False(t, s.mine.member(t, "ada").BotMeta.LiveChat(), name)
		test.change(s, next)
		s.take(t, next, "mallory@desk")
		require.Equal(t, test.want, s.mine.member(t, "ada").BotMeta.LiveChat(), name)
	}
}

func TestTake_Canceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := before(func(*fixture, send.Message) { cancel() })(t)
	s.pending(t, "a1", "ada")
	_, err := s.mine.Take(ctx, takenBy("a1", "eve@desk"))
	require.ErrorIs(t, err, boterr.Canceled)
	require.Equal(t, livechat.Taken, s.record(t, "a1").State())
	s.take(t, "a1", "eve@desk")
	require.Contains(t, s.platform.did(), "desk: send to group1: Order 7, for {{firstName}}")
}

func TestTake_GroupRefusedByThePlatform(t *testing.T) {
	t.Parallel()
	for isWatched, code := range map[string]boterr.Code{"true": boterr.InvalidArgument, "false": boterr.AlreadyExists} {
		t.Run("watched "+isWatched, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			r := s.mustAsk(t, `{"setLiveChatAgenda": `+isWatched+`, "assignmentDetails": {"groupName": "VIP"}}`)
			s.platform.fail("VIP", boterr.New(code, "name", "is not allowed"))
			_, err := s.mine.Take(t.Context(), takenBy(r.ID, "eve@desk"))
			require.ErrorIs(t, err, code)
			given := s.record(t, r.ID)
			require.Equal(t, livechat.Pending, given.State(), "others may try")
			require.Equal(t, r.Expiry.IsZero(), given.Expiry.IsZero())
			s.platform.work("VIP")
			s.take(t, r.ID, "mallory@team")
			require.Equal(t, s.record(t, r.ID).Expiry, s.mine.onlyAgenda(t).NextRunAt)
		})
	}
}

// directlyIn turns a request into one that was sent directly to a chat of the channel help.
func directlyIn(group, chatID string) func(*livechat.AssignmentRecord) {
	return func(r *livechat.AssignmentRecord) {
		r.Direct, r.IsZendesk = "help", true
		r.Tickets = []livechat.Ticket{{
			ID: "t", Channel: "help", Type: channel.Foxtrot, Group: channel.BroadcastGroupMember{ID: group}, ChatID: chatID, SentAt: 1,
		}}
	}
}

func TestTake_ChatOfSeveralRequests(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ group, chat, chatOfBob string }{
		"the group that it was sent to":   {"team-1", "team-1", ""},
		"a broadcast group of the outlet": {"", "F1", ""},
		"that of another open request":    {"F1", "chat-F1", "chat-F1"},
	} {
		s := newFixture(t)
		s.pending(t, "a2", "bob", directlyIn(test.group, test.chatOfBob))
		took := s.taken(t, "a1", "ada", "eve@help", directlyIn(test.group, test.chat))
		require.Equal(t, "eve", took.Group.ExternalID, name)
	}
}

func TestTake_ByWritingInTheChatOfARequest(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pending(t, "a1", "ada", directlyIn("F1", "chat"))
	s.pending(t, "a2", "bob", directlyIn("F1", "other chat"))
	for _, elsewhere := range []string{"F1", "third chat", ""} {
		requireOutcome(t, livechats.OutcomeNone)(s.mine.RelayFromAgent(t.Context(), "help", *event("eve", elsewhere, "to nobody")))
	}
	require.Equal(t, livechat.Pending, s.record(t, "a1").State())
	requireRelayed(t)(s.mine.RelayFromAgent(t.Context(), "help", *event("eve", "chat", "for ada")))
	requireRelayed(t)(s.mine.RelayFromAgent(t.Context(), "help", *event("mallory", "chat", "for ada, too")))
	require.Equal(t, "eve", s.record(t, "a1").Assignee)
	require.Equal(t, livechat.Pending, s.record(t, "a2").State())
}

func TestTake_ChatInUse(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	require.Equal(t, "chat", s.taken(t, "a1", "ada", "eve@help", directlyIn("F1", "chat")).Group.ExternalID)
	// Only the group shows that a1 has this conversation.
	s.change(t, "assignments", document.O("_id", "a1"), document.Set("tickets.0.chatId", ""))
	require.Equal(t, "mallory", s.taken(t, "a2", "bob", "mallory@help", directlyIn("F1", "chat")).Group.ExternalID)
	requireRelayed(t)(s.mine.RelayFromAgent(t.Context(), "help", *event("eve", "chat", "for ada")))
	requireRelayed(t)(s.mine.RelayFromAgent(t.Context(), "help", *event("mallory", "help", "for bob")))
	require.Equal(t, []string{"web: send to ada-web: for ada", "web: send to bob-web: for bob"}, s.platform.did())
	require.Equal(t, s.mine.member(t, "ada"), s.platform.sent()[0].Member, "connectors may need the member")
}

func TestCreateGroup_RoomInUse(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.mine.pair(t, "shop")
	s.web.Add("POST", shopAPI, web.JSON(200, `{"groupId": "room"}`), web.JSON(200, `{"groupId": "room"}`))
	first := s.mustAsk(t, `{"createGroup": {}}`)
	asBob := s.mine.as("web", "bob")
	ask := func() error {
		return errorOf(call(t, asBob.CreateAssignment, `{"createGroup": {}}`))
	}
	for range 2 {
		err := ask()
		require.ErrorIs(t, err, boterr.FailedPrecondition)
		require.ErrorContains(t, err, first.ID)
		require.False(t, s.mine.member(t, "bob").BotMeta.LiveChat())
		require.Len(t, s.groups(t, document.O()), 1)
	}
	requireRelayed(t)(s.mine.RelayFromAgent(t.Context(), "shop", *event("eve", "room", "card 42")))
	require.Equal(t, []string{"web: send to ada-web: card 42"}, s.platform.did())

	must(t, s.mine.InletEndLiveChat, `{}`)
	require.NoError(t, ask(), "the room is free again")
	require.Len(t, s.web.Requests(), 2, "the API has told already")
	require.True(t, s.mine.member(t, "bob").BotMeta.LiveChat())
}

func TestPosition(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.mine.addMember(t, `{"_id": "cid", "channel": "web"}`)
	s.mine.addMember(t, `{"_id": "dora", "channel": "web"}`)
	s.pending(t, "a3", "ada")
	s.pending(t, "a2", "bob") // Both requests were sent at the same time, so they are ordered by id.
	s.advance(time.Second)
	s.pending(t, "a1", "cid")
	s.pending(t, "a0", "dora", func(r *livechat.AssignmentRecord) { r.Label = "sales" })
	requirePositions := func(want ...livechat.Position) {
		t.Helper()
		for i, id := range []string{"a2", "a3", "a1", "a0"} {
			at, err := s.mine.Position(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, want[i], at, id)
		}
	}
	one := livechat.Position{Place: 1, Waiting: 1}
	requirePositions(livechat.Position{Place: 1, Waiting: 3}, livechat.Position{Place: 2, Waiting: 3}, livechat.Position{Place: 3, Waiting: 3}, one)
	at, err := s.mine.PositionOfMember(t.Context(), "ada")
	require.NoError(t, err)
	require.Equal(t, livechat.Position{Place: 2, Waiting: 3}, at)
	s.take(t, "a2", "eve@desk")
	must(t, s.mine.InletEndLiveChat, `{}`) // This ends a3, Ada's request.
	at, err = s.mine.PositionOfMember(t.Context(), "ada")
	require.NoError(t, err)
	require.Zero(t, at)
	requirePositions(livechat.Position{Waiting: 1}, livechat.Position{Waiting: 1}, one, one)
}

// Queries about the queue must only read waiting requests, no matter how many others exist.
func TestGrowth_Queue(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pending(t, "a1", "bob")
	for i := range endedChats {
		id := "taken" + strconv.Itoa(i)
		s.putOpen(t, id, 1, `, "sentAt": 1, "label": "default", "assignee": "eve", "assignedAt": 2`)
	}
	chats := withHistory(t, s, 2)
	at, err := chats.Position(t.Context(), "a1")
	require.NoError(t, err)
	require.Equal(t, livechat.Position{Place: 1, Waiting: 1}, at)
	_, err = chats.Waiting(t.Context(), "default")
	require.NoError(t, err)
}

// Two agents of a helpdesk write at once in the conversation of an untaken request.
func TestRelay_TwoAgentsTakeByWriting(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pending(t, "a1", "ada", directlyIn("F1", "chat"))
	eves, hasHappened := s.meanwhile(0, func() {
		requireRelayed(t)(s.mine.RelayFromAgent(t.Context(), "help", *event("mallory", "chat", "for ada")))
	})
	requireRelayed(t)(eves.RelayFromAgent(t.Context(), "help", *event("eve", "chat", "for ada, too")))
	require.True(t, hasHappened())
	require.Equal(t, "mallory", s.record(t, "a1").Assignee)
	require.Equal(t, []string{"for ada", "for ada, too"}, s.textsIn("ada-web"))
}

func TestTake_IsWatchedWhereverItBreaks(t *testing.T) {
	t.Parallel()
	for writes := 0; ; writes++ {
		s := newFixture(t)
		r := s.mustAsk(t, `{"setLiveChatAgenda": false}`)
		broken, hasBroken := s.interrupted(writes)
		_, _ = broken.Take(t.Context(), takenBy(r.ID, "eve@desk"))
		if !hasBroken() {
			require.Greater(t, writes, 6)
			return
		}
		if s.record(t, r.ID).State() == livechat.Pending {
			continue
		}
		s.advance(livechat.IdleTimeout)
		for _, due := range s.mine.openAgendas(t, "ada") {
			require.NoError(t, s.afterCrash().Expire(t.Context(), due.Agenda))
		}
		require.Equal(t, livechat.Ended, s.record(t, r.ID).State(), "after %d writes", writes)
	}
}
