package livechats_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// The errors of connectors to recipients that are gone for good, and to those that are not.
var (
	gone = map[string]error{
		"archived": boterr.New(boterr.FailedPrecondition, "", "the conversation is archived: %w", &send.GoneError{}),
		"unknown":  boterr.New(boterr.NotFound, "", "there is no such user"),
	}
	notGone = map[string]error{
		"down":       errDown,
		"token":      boterr.New(boterr.FailedPrecondition, "", "the token was revoked"),
		"too often":  boterr.New(boterr.ResourceExhausted, "", "too many messages"),
		"not shown":  boterr.Invalid("text", "is too long"),
		"no such":    boterr.New(boterr.Unsupported, "", "there is no such type"),
		"unexpected": boterr.New(boterr.Internal, "", "unexpected"),
	}
)

// sides are what writes to a side of a live chat: of the member ada, in the inlet web, and of the agent eve, in
// group1 of the outlet desk.
func sides(t *testing.T) map[string]struct {
	target, other string
	by            livechat.EndedBy
	text          string
	write         func(s *fixture) error
} {
	t.Helper()
	texts := livechat.DefaultTexts()
	type side = struct {
		target, other string
		by            livechat.EndedBy
		text          string
		write         func(s *fixture) error
	}
	return map[string]side{
		"the member writes": {"group1", "ada-web", livechat.EndedByAgentGone, texts.AgentGone, func(s *fixture) error {
			_, err := s.mine.RelayFromMember(t.Context(), "ada", *event("ada-web", "bot", "hi"))
			return err
		}},
		"the agent writes": {"ada-web", "group1", livechat.EndedByMemberGone, texts.MemberGone, func(s *fixture) error {
			_, err := s.mine.RelayFromAgent(t.Context(), "desk", *event("eve", "group1", "hi"))
			return err
		}},
		"the bot writes to the member": {"ada-web", "group1", livechat.EndedByMemberGone, texts.MemberGone, func(s *fixture) error {
			_, err := call(t, s.mine.SendMessageToInlet,
				`{"channel": {"_id": "desk"}, "messageEvent": {"from": "eve", "to": "group1"}, "response": {"type": "TEXT", "text": "hi"}}`)
			return err
		}},
		"the bot writes to the agent": {"group1", "ada-web", livechat.EndedByAgentGone, texts.AgentGone, func(s *fixture) error {
			_, err := call(t, s.mine.SendMessageToOutletGroup,
				`{"groupId": "`+s.record(t, "a1").Group+`", "response": {"type": "TEXT", "text": "hi"}}`)
			return err
		}},
	}
}

func TestGone_EndsTheLiveChat(t *testing.T) {
	t.Parallel()
	for name, side := range sides(t) {
		for how, err := range gone {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				s := newFixture(t)
				s.taken(t, "a1", "ada", "eve@desk")
				s.platform.fail(side.target, err)
				failed := side.write(s)
				if name == "the member writes" || name == "the agent writes" {
					require.NoError(t, failed)
				} else {
					require.Equal(t, boterr.CodeOf(err), boterr.CodeOf(failed), "bot logic sees why")
				}
				s.requireOver(t, "a1", "ada", side.by)
				require.NotEmpty(t, s.record(t, "a1").EndReason)
				require.Equal(t, []string{side.text}, s.textsIn(side.other), "the other side is told")
			})
		}
	}
}

func TestGone_OtherFailuresLeaveTheIdleTime(t *testing.T) {
	t.Parallel()
	for name, side := range sides(t) {
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
				require.Equal(t, expiry, s.mine.onlyAgenda(t, "ada").NextRunAt)

				s.advance(10 * time.Minute)
				require.NoError(t, s.mine.Expire(t.Context(), idleAgenda()))
				s.requireOver(t, "a1", "ada", livechat.EndedByIdle)
			})
		}
	}
}

// The other side cannot be told, or not now: the live chat has ended all the same.
func TestGone_NobodyCanBeTold(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{"gone as well": gone["archived"], "down": errDown} {
		s := newFixture(t)
		s.taken(t, "a1", "ada", "eve@desk")
		s.platform.fail("ada-web", gone["archived"])
		s.platform.fail("group1", err)
		_, failed := s.mine.RelayFromAgent(t.Context(), "desk", *event("eve", "group1", "hi"))
		require.Equal(t, errors.Is(failed, boterr.Unavailable), name == "down", name)
		s.requireOver(t, "a1", "ada", livechat.EndedByMemberGone)
	}
}

func TestGone_WhileNobodyHasTakenIt(t *testing.T) {
	t.Parallel()
	s := newFixture(t, thatOnlySends(channel.Bravo))
	s.pending(t, "a1", "ada")
	s.says(t, s.mine.Service, "hi", livechats.OutcomeKept)
	s.platform.forget()
	s.platform.fail("ada-web", gone["archived"])
	require.NoError(t, s.mine.TellWaiting(t.Context(), "ada", livechats.OutcomeKept))
	s.requireOver(t, "a1", "ada", livechat.EndedByMemberGone)
	require.Contains(t, s.platform.did(), "desk: recall the ticket of C1")
}

func TestGone_AtTheTake(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pending(t, "a1", "ada", func(r *livechat.AssignmentRecord) { r.Summary = "" })
	s.says(t, s.mine.Service, "hi", livechats.OutcomeKept)
	s.platform.fail("group1", gone["archived"])
	_, err := takes(s.mine.Service)(t)
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	s.requireOver(t, "a1", "ada", livechat.EndedByAgentGone)
	require.Equal(t, []string{livechat.DefaultTexts().AgentGone}, s.textsIn("ada-web"))
}

func TestGone_EndedAgainSaysWhy(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.taken(t, "a1", "ada", "eve@desk")
	s.platform.fail("ada-web", gone["archived"])
	_, err := s.mine.RelayFromAgent(t.Context(), "desk", *event("eve", "group1", "hi"))
	require.NoError(t, err)
	_, err = call(t, s.mine.EndLiveChat, endByEve)
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.ErrorContains(t, err, "the member cannot be reached any more")
}

// An agent who is known by From alone: nothing says where the event goes.
func TestAgentKnownByFrom(t *testing.T) {
	t.Parallel()
	from := func(text string) send.MessageEvent { return *event("eve", "", text) }
	texts := livechat.DefaultTexts()
	s := newFixture(t, thatOnlySends(channel.Charlie))
	s.pending(t, "a1", "ada", onlyIn("desk"))
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
	_, err = s.mine.EndLiveChat(t.Context(), livechat.EndLiveChatParams{Channel: desk(), MessageEvent: &said})
	require.NoError(t, err)
	requireOutcome(t, livechats.OutcomeAnswered)(s.mine.RelayFromAgent(t.Context(), "desk", from("One more thing")))
	requireNotRelayed(t)(s.mine.RelayFromAgent(t.Context(), "desk", from("And another")))
	require.Equal(t, []string{"Where?", "Goodbye!"}, s.textsIn("ada-web"))
	require.Equal(t, []string{"Order 7, for {{firstName}}", "Written before (1):", "before", texts.Over}, s.textsIn("eve"))

	// The member is gone.
	s.taken(t, "a2", "ada", "eve@desk")
	s.platform.fail("ada-web", gone["archived"])
	requireOutcome(t, livechats.OutcomeAnswered)(s.mine.RelayFromAgent(t.Context(), "desk", from("Hello?")))
	s.requireOver(t, "a2", "ada", livechat.EndedByMemberGone)
	require.Equal(t, []string{texts.MemberGone}, s.textsIn("eve"))
}

func TestTellOver_HandedOn(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.taken(t, "a1", "ada", "eve@desk")
	_, err := s.mine.ReassignAssignment(t.Context(), paramsOf[livechat.ReassignAssignmentParams](t,
		`{"channel": {"_id": "desk"}, "label": "sales", "previousAssignment": {"_id": "a1"}}`))
	require.NoError(t, err)
	requireOutcome(t, livechats.OutcomeAnswered)(s.mine.RelayFromAgent(t.Context(), "desk", *event("eve", "group1", "hi")))
	require.Equal(t, []string{livechat.DefaultTexts().Over}, s.textsIn("group1"))
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
}

func TestRelayFromMember_ClosesAnInterruptedEnd(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.taken(t, "a1", "ada", "eve@desk")
	broken, _ := s.interrupted(1)
	_, err := call(t, broken.EndLiveChat, endByEve)
	require.ErrorIs(t, err, errInterrupted)
	require.True(t, s.mine.member(t, "ada").BotMeta.LiveChat())
	s.says(t, s.mine.Service, "Hello?", livechats.OutcomeNone)
	s.requireOver(t, "a1", "ada", livechat.EndedByOutlet)
}

func TestTellLate(t *testing.T) {
	t.Parallel()
	texts := livechat.DefaultTexts()
	tap := tapOf("mallory", "C1", document.O("payload", livechat.TakePayload, "value", "a1"))
	for name, test := range map[string]struct {
		end  func(t *testing.T, s *fixture)
		want string
	}{
		"taken back": {func(t *testing.T, s *fixture) { t.Helper(); must(t, s.mine.InletEndLiveChat, `{}`) }, texts.Late},
		"withdrawn": {func(t *testing.T, s *fixture) {
			t.Helper()
			must(t, s.mine.RemovePendingAssignmentByMemberID, `{"memberId": "ada"}`)
		}, texts.Late},
		"by somebody": {func(t *testing.T, s *fixture) {
			t.Helper()
			_, err := takes(s.mine.Service)(t)
			require.NoError(t, err)
		}, "Taken by eve."},
		"after its end": {func(t *testing.T, s *fixture) {
			t.Helper()
			s.advance(livechat.IdleTimeout)
			require.NoError(t, s.mine.Expire(t.Context(), idleAgenda()))
		}, texts.Late},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			s.pending(t, "a1", "ada", onlyIn("desk"))
			test.end(t, s)
			s.platform.forget()
			isTaken, late := s.mine.TakeByTap(t.Context(), "desk", tap)
			require.Error(t, late)
			require.False(t, isTaken)
			require.NoError(t, s.mine.TellLate(t.Context(), "desk", tap, late))
			require.Equal(t, []string{test.want}, s.textsIn("C1"))
		})
	}
}

// A request that the member takes back shows so on its tickets, where they stay and the platform can.
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
