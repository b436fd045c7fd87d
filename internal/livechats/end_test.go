package livechats_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

const endByEve = `{"channel": {"_id": "desk"}, "messageEvent": {"from": "eve", "to": "group1", "type": "TEXT", "data": {"text": "/done"}}}`

const recall = `{"options": {"recallRelayMessage": true}}`

// A helpdesk has opened a conversation for a request that no agent has taken.
func TestEnd_UntakenInItsConversation(t *testing.T) {
	t.Parallel()
	late := []string{"help: send to chat: " + livechat.DefaultTexts().Late}
	for by, test := range map[livechat.EndedBy]struct {
		end func(s *fixture)
		did []string
	}{
		livechat.EndedByOutlet: {func(s *fixture) { // Its agents close the conversation.
			must(t, s.mine.EndLiveChat, `{"channel": {"_id": "help"}, "messageEvent": {"from": "agent:", "to": "chat", "type": "MISC", "data": {}}}`)
		}, []string{}},
		livechat.EndedByInlet: {func(s *fixture) { must(t, s.mine.InletEndLiveChat, `{}`) }, late},
		// The ticket is the conversation, and is not recalled.
		livechat.EndedByRemoval: {func(s *fixture) { must(t, s.mine.RemovePendingAssignmentByMemberID, `{"memberId": "ada"}`) }, late},
	} {
		s := newFixture(t)
		s.pending(t, "a1", "ada", directlyIn("F1", "chat"))
		s.pending(t, "a2", "bob", directlyIn("F1", "other chat"))
		test.end(s)
		if by != livechat.EndedByRemoval {
			s.requireOver(t, "a1", "ada", by)
		}
		s.requireNothingLeft()
		require.Equal(t, livechat.Pending, s.record(t, "a2").State())
		require.ElementsMatch(t, test.did, s.platform.did(), string(by))
	}
}

func onCharlieAndDelta(r *livechat.AssignmentRecord) { r.Tickets = r.Tickets[:3] }

func TestInletEndLiveChat_RecallUnsupported(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		stand  *fixture
		change func(*livechat.AssignmentRecord)
		text   string
	}{
		"a ticket on bravo":       {newFixture(t), func(*livechat.AssignmentRecord) {}, "charlie, delta"},
		"a channel has it direct": {newFixture(t), func(r *livechat.AssignmentRecord) { r.Direct, r.Tickets = "help", nil }, "charlie, delta"},
		"a connector without it":  {newFixture(t, thatOnlySends(channel.Delta)), onCharlieAndDelta, `"delta" cannot recall tickets`},
	} {
		test.stand.pending(t, "a1", "ada", test.change)
		requireRefused(t, test.stand, test.stand.mine.InletEndLiveChat, refused{recall, boterr.Unsupported, "options.recallRelayMessage"})
		_, err := call(t, test.stand.mine.InletEndLiveChat, recall)
		require.ErrorContains(t, err, test.text, name)
	}
}

func TestEnd_RecallFails(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(s *fixture) error{
		"in the inlet": func(s *fixture) error { return errorOf(call(s.t, s.mine.InletEndLiveChat, recall)) },
		"withdrawn": func(s *fixture) error {
			return errorOf(call(s.t, s.mine.RemovePendingAssignmentByMemberID, `{"memberId": "ada"}`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			s.pending(t, "a1", "ada", onCharlieAndDelta)
			s.platform.fail("C1", errDown)
			s.platform.fail("U1", boterr.New(boterr.NotFound, "", "the ticket is gone"))
			err := end(s)
			require.ErrorIs(t, err, boterr.Unavailable)
			require.ErrorContains(t, err, "ticket of C1 in desk")
			require.NotContains(t, err.Error(), "U1", "a ticket that is gone needs no recall")
			require.Equal(t, livechat.Ended, s.record(t, "a1").State(), "the live chat is over all the same")
			require.False(t, s.mine.member(t, "ada").BotMeta.LiveChat())

			s.platform.work("C1")
			require.NoError(t, end(s))
			require.Equal(t, []string{"team: recall the ticket of D1", "desk: recall the ticket of C1"}, s.platform.did())
			s.requireNothingLeft()
			requireRefused(t, s, s.mine.InletEndLiveChat, refused{recall, boterr.FailedPrecondition, "member"})
		})
	}
}

func TestEndLiveChat_GivenGroup(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	first := s.taken(t, "a1", "ada", "eve@phone").Group
	s.put(t, "groups", `{"_id": "g2", "app": "mine", "outlet": "phone", "externalId": "other", "active": true, "valid": true, "type": "bravo"}`)
	must(t, s.mine.UpdateAssignmentGroup, `{"assignmentId": "a1", "group": {"_id": "g2"}}`)
	requireRelayed(t)(s.mine.RelayFromMember(t.Context(), "ada", *event("ada-web", "bot", "hi")))
	require.Equal(t, []string{"phone: send to other: hi"}, s.platform.did())
	must(t, s.mine.EndLiveChat, `{"channel": {"_id": "phone"}, "messageEvent": {"from": "eve", "to": "other"}}`)
	s.requireOver(t, "a1", "ada", livechat.EndedByOutlet)
	require.False(t, s.group(t, "g2").Active)
	require.False(t, s.group(t, first.ID).Active)
}

func TestEndLiveChat_GroupOfAnotherStays(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pending(t, "a1", "ada")
	s.pending(t, "a2", "bob")
	s.put(t, "groups", `{"_id": "g2", "app": "mine", "outlet": "phone", "externalId": "room", "active": true, "valid": true,
		"type": "bravo", "assignment": "gone"}`)
	for _, id := range []string{"a1", "a2"} {
		must(t, s.mine.UpdateAssignmentGroup, `{"assignmentId": "`+id+`", "group": {"_id": "g2"}}`)
	}
	must(t, s.mine.InletEndLiveChat, `{}`)
	s.requireOver(t, "a1", "ada", livechat.EndedByInlet)
	require.True(t, s.group(t, "g2").Active)
	must(t, s.mine.EndLiveChat, `{"channel": {"_id": "phone"}, "messageEvent": {"from": "eve", "to": "room"}}`)
	s.requireOver(t, "a2", "bob", livechat.EndedByOutlet)
	require.False(t, s.group(t, "g2").Active)
}

// errArchived is the error of a connector after which a recipient is gone for good. notGone are other errors.
var (
	errArchived = boterr.New(boterr.FailedPrecondition, "", "the conversation is archived: %w", &send.GoneError{})
	notGone     = map[string]error{
		"down":       errDown,
		"token":      boterr.New(boterr.FailedPrecondition, "", "the token was revoked"),
		"too often":  boterr.New(boterr.ResourceExhausted, "", "too many messages"),
		"not shown":  boterr.Invalid("text", "is too long"),
		"no such":    boterr.New(boterr.Unsupported, "", "there is no such type"),
		"unexpected": boterr.New(boterr.Internal, "", "unexpected"),
	}
)

func TestGone_OtherFailuresLeaveTheIdleTime(t *testing.T) {
	t.Parallel()
	for name, side := range map[string]struct {
		target string
		write  func(s *fixture) error
	}{
		"the member writes": {"group1", func(s *fixture) error {
			return errorOf(s.mine.RelayFromMember(t.Context(), "ada", *event("ada-web", "bot", "hi")))
		}},
		"the agent writes": {"ada-web", func(s *fixture) error {
			return errorOf(s.mine.RelayFromAgent(t.Context(), "desk", *event("eve", "group1", "hi")))
		}},
		"the bot writes to the member": {"ada-web", func(s *fixture) error {
			return errorOf(call(t, s.mine.SendMessageToInlet,
				`{"channel": {"_id": "desk"}, "messageEvent": {"from": "eve", "to": "group1"}, "response": {"type": "TEXT", "text": "hi"}}`))
		}},
		"the bot writes to the agent": {"group1", func(s *fixture) error {
			return errorOf(call(t, s.mine.SendMessageToOutletGroup,
				`{"groupId": "`+s.record(t, "a1").Group+`", "response": {"type": "TEXT", "text": "hi"}}`))
		}},
	} {
		for how, err := range notGone {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				s := newFixture(t)
				s.taken(t, "a1", "ada", "eve@desk")
				expiry := s.record(t, "a1").Expiry
				s.advance(20 * time.Minute)
				s.platform.fail(side.target, err)
				require.Error(t, side.write(s))
				require.Equal(t, livechat.Taken, s.record(t, "a1").State())
				require.Equal(t, expiry, s.record(t, "a1").Expiry)
				require.Equal(t, expiry, s.mine.onlyAgenda(t).NextRunAt)

				s.advance(10 * time.Minute)
				require.NoError(t, s.mine.Expire(t.Context(), idleAgenda()))
				s.requireOver(t, "a1", "ada", livechat.EndedByIdle)
			})
		}
	}
}

// The live chat ends even if the other side cannot be reached either.
func TestGone_NobodyCanBeTold(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{"gone as well": errArchived, "down": errDown} {
		s := newFixture(t)
		s.taken(t, "a1", "ada", "eve@desk")
		s.platform.fail("ada-web", errArchived)
		s.platform.fail("group1", err)
		_, failed := s.mine.RelayFromAgent(t.Context(), "desk", *event("eve", "group1", "hi"))
		require.Equal(t, errors.Is(failed, boterr.Unavailable), name == "down", name)
		s.requireOver(t, "a1", "ada", livechat.EndedByMemberGone)
		require.Contains(t, s.record(t, "a1").EndReason, "archived", name)
	}
}

func TestGone_WhileNobodyHasTakenIt(t *testing.T) {
	t.Parallel()
	s := newFixture(t, thatOnlySends(channel.Bravo))
	s.pending(t, "a1", "ada")
	s.says(t, s.mine.Service, "hi", livechats.OutcomeKept)
	s.platform.forget()
	s.platform.fail("ada-web", errArchived)
	require.NoError(t, s.mine.TellWaiting(t.Context(), "ada", livechats.OutcomeKept))
	s.requireOver(t, "a1", "ada", livechat.EndedByMemberGone)
	require.Contains(t, s.platform.did(), "desk: recall the ticket of C1")
}

func TestGone_AtTheTake(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pending(t, "a1", "ada", func(r *livechat.AssignmentRecord) { r.Summary = "" })
	s.says(t, s.mine.Service, "hi", livechats.OutcomeKept)
	s.platform.fail("group1", errArchived)
	_, err := s.mine.Take(t.Context(), takenBy("a1", "eve@desk"))
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	s.requireOver(t, "a1", "ada", livechat.EndedByAgentGone)
	require.Equal(t, []string{livechat.DefaultTexts().AgentGone}, s.textsIn("ada-web"))
}

// Only From names the agent, and no field names the event's recipient.
func TestAgentKnownByFrom(t *testing.T) {
	t.Parallel()
	from := func(text string) send.MessageEvent { return *event("eve", "", text) }
	texts := livechat.DefaultTexts()
	s := newFixture(t, thatOnlySends(channel.Charlie))
	s.pending(t, "a1", "ada", onlyInDesk)
	s.says(t, s.mine.Service, "before", livechats.OutcomeKept)
	requireNotRelayed(t)(s.mine.RelayFromAgent(t.Context(), "desk", from("Hello?")))
	isTaken, err := s.mine.TakeByTap(t.Context(), "desk", tapOf("eve", "", document.O("payload", livechat.TakePayload, "value", "a1")))
	require.NoError(t, err)
	require.True(t, isTaken)
	requireRelayed(t)(s.mine.RelayFromAgent(t.Context(), "desk", from("Where?")))
	said := from("Goodbye")
	_, err = s.mine.SendMessageToInlet(t.Context(), livechat.SendMessageToInletParams{
		Channel: desk(), MessageEvent: &said, Response: send.Text("Goodbye!"),
	})
	require.NoError(t, err)
	_, err = s.mine.EndLiveChat(t.Context(), livechat.EndParams{Channel: desk(), MessageEvent: &said})
	require.NoError(t, err)
	requireOutcome(t, livechats.OutcomeAnswered)(s.mine.RelayFromAgent(t.Context(), "desk", from("One more thing")))
	requireNotRelayed(t)(s.mine.RelayFromAgent(t.Context(), "desk", from("And another")))
	require.Equal(t, []string{"Where?", "Goodbye!"}, s.textsIn("ada-web"))
	require.Equal(t, []string{"Order 7, for {{firstName}}", "Written before (1):", "before", texts.Over}, s.textsIn("eve"))

	// Now the member is gone.
	s.taken(t, "a2", "ada", "eve@desk")
	s.platform.fail("ada-web", errArchived)
	requireOutcome(t, livechats.OutcomeAnswered)(s.mine.RelayFromAgent(t.Context(), "desk", from("Hello?")))
	s.requireOver(t, "a2", "ada", livechat.EndedByMemberGone)
	require.Equal(t, []string{texts.MemberGone}, s.textsIn("eve"))
}

func TestTellOver_SentAgainUnderTheSameID(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.taken(t, "a1", "ada", "eve@desk")
	must(t, s.mine.EndLiveChat, endByEve)
	broken, _ := s.interrupted(0)
	_, err := broken.RelayFromAgent(t.Context(), "desk", *event("eve", "group1", "hi"))
	require.ErrorIs(t, err, errInterrupted)
	requireOutcome(t, livechats.OutcomeAnswered)(s.mine.RelayFromAgent(t.Context(), "desk", *event("eve", "group1", "hi")))
	sent := s.platform.sent()
	require.Len(t, sent, 2)
	require.Equal(t, sent[0].ID, sent[1].ID)

	s.taken(t, "a2", "ada", "eve@desk")
	must(t, s.mine.InletEndLiveChat, `{}`)
	to := s.group(t, s.record(t, "a2").Group).ExternalID
	s.platform.fail(to, errArchived)
	requireNotRelayed(t)(s.mine.RelayFromAgent(t.Context(), "desk", *event("eve", to, "hi"))) // No one can be told.
}

func TestTellLate_NobodyToTell(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pending(t, "a1", "ada", onlyInDesk)
	must(t, s.mine.InletEndLiveChat, `{}`)
	tap := tapOf("mallory", "C1", document.O("payload", livechat.TakePayload, "value", "a1"))
	_, late := s.mine.TakeByTap(t.Context(), "desk", tap)
	require.Error(t, late)
	s.platform.fail("C1", errArchived)
	require.NoError(t, s.mine.TellLate(t.Context(), "desk", tap, late))
}

func TestInletEndLiveChat_ShowsOnTheTickets(t *testing.T) {
	t.Parallel()
	s := newFixture(t, thatOnlySends(channel.Bravo))
	s.pending(t, "a1", "ada")
	s.platform.fail("D1", errDown)
	must(t, s.mine.InletEndLiveChat, `{}`)
	late := livechat.DefaultTexts().Late
	require.Equal(t, []string{"desk: show on the ticket of C1: " + late, "desk: show on the ticket of U1: " + late}, s.platform.did())
	s.requireOver(t, "a1", "ada", livechat.EndedByInlet)
}

// idleAgenda returns the agenda of ada's live chat, which is due.
func idleAgenda() agenda.Agenda {
	return agenda.Agenda{App: "mine", Channel: "web", Member: "ada", Tag: agenda.LiveChatTagPrefix + "idle"}
}

func TestExpire_TooEarly(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.taken(t, "a1", "ada", "eve@desk")
	s.advance(10 * time.Minute)
	broken, _ := s.interrupted(1) // The crash comes after the write of the expiry, before the agenda is set.
	isRelayed, err := broken.RelayFromMember(t.Context(), "ada", *event("ada-web", "bot", "hi"))
	require.ErrorIs(t, err, errInterrupted)
	require.Equal(t, livechats.OutcomeNone, isRelayed)
	require.Equal(t, []string{"desk: send to group1: hi"}, s.platform.did())
	expiry := s.at(livechat.IdleTimeout)
	require.Equal(t, expiry, s.record(t, "a1").Expiry)
	require.Equal(t, s.at(20*time.Minute), s.mine.onlyAgenda(t).NextRunAt)

	s.advance(20 * time.Minute)
	require.NoError(t, s.mine.Expire(t.Context(), s.mine.onlyAgenda(t).Agenda))
	require.Equal(t, livechat.Taken, s.record(t, "a1").State())
	require.Equal(t, expiry, s.mine.onlyAgenda(t).NextRunAt)
}
