package livechats_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// conversation starts a live chat of ada with eve, who took it in desk.
func conversation(t *testing.T, s *fixture) (previous *livechat.AssignmentRecord, group *livechat.Group, event string) {
	t.Helper()
	r := s.mustAsk(t, `{"meta": {"order": 7, "step": {"a": 1}}, "assignmentDetails": {"summary": "s", "groupName": "Order 7",
		"relayMessage": {"charlie": {"type": "BUTTON", "text": "for {{firstName}}", "buttons": [
			{"type": "postback", "title": "Go", "payload": {"payload": "go"}}]}}}}`)
	took := s.take(t, r.ID, "eve@desk")
	s.platform.forget()
	return s.record(t, r.ID), took.Group,
		`"channel": {"_id": "desk"}, "messageEvent": {"type": "TEXT", "from": "eve", "to": "` + took.Group.ExternalID + `", "data": {"text": "transfer"}}`
}

func TestReassignAssignment_NoRoomForTheHistory(t *testing.T) {
	t.Parallel()
	s := newFixture(t, historyAt)
	s.taken(t, "a1", "ada", "eve@desk", func(r *livechat.AssignmentRecord) { r.History = true })
	requireRefused(t, s, s.mine.ReassignAssignment, refused{
		`{"channel": {"_id": "desk"}, "label": "sales", "messageEvent": {"from": "eve", "to": "group1"},
			"relayMessage": "` + strings.Repeat("a", send.MaxText-10) + `"}`,
		boterr.InvalidArgument, "relayMessage.text",
	})
}

// Each hand-over may be in the group on the inlet's side, and it keeps the text of the ticket.
func TestReassignAssignment_InletGroup(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	previous, group, _ := conversation(t, s)
	s.change(t, "groups", document.O("_id", group.ID), document.Set("inletGroupExternalId", "room"))
	next := s.handedOn(t, `{"channel": {"_id": "desk"}, "previousAssignment": {"_id": "`+previous.ID+`"},
		"targets": [{"channel": "phone"}, {"channel": "desk", "label": "sales"}], "inletGroup": true, "relayMessage": "{{firstName}} goes on"}`)
	require.JSONEq(t, `{"externalId": "room"}`, next.InletGroupInfo.String())
	require.Equal(t, []string{"phone B1", "desk C9"}, s.sentTo())
	for _, message := range s.platform.sent() {
		require.Equal(t, send.Buttons("{{firstName}} goes on", send.PostbackValue("Take", livechat.TakePayload, next.ID)).String(), message.Response.String())
	}
	third := s.handedOn(t, `{"channel": {"_id": "desk"}, "previousAssignment": {"_id": "`+next.ID+`"}, "label": "sales", "inletGroup": true}`)
	require.JSONEq(t, `{"externalId": "room"}`, third.InletGroupInfo.String())
	require.Equal(t, "{{firstName}} goes on", s.lastSent(t).Text())
}

func (s *fixture) handedOn(t *testing.T, params string) *livechat.AssignmentRecord {
	t.Helper()
	return s.record(t, document.Get(object(t, must(t, s.mine.ReassignAssignment, params)), "assignmentId", ""))
}

// The label is of an outlet that is not paired, or of one that is paired with others.
func TestReassignAssignment_Pairing(t *testing.T) {
	t.Parallel()
	for _, outlets := range [][]string{nil, {"help", "desk"}} {
		s := newFixture(t)
		_, _, event := conversation(t, s)
		s.mine.pair(t, outlets...)
		s.handedOn(t, `{`+event+`, "label": "sales"}`)
		require.Equal(t, []string{"desk C9"}, s.sentTo())
	}
}

func TestReassignAssignment_CustomOutlet(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ first, given, want string }{
		"what the call says goes before": {
			`{"summary": "s", "queue": 7, "relayMessage": {"charlie": {"type": "TEXT", "text": "t"}}}`,
			`, "summary": "new", "groupName": "Order 8", "relayMessage": "{{firstName}} goes on"`,
			`{"summary": "new", "groupName": "Order 8", "queue": 7,
				"relayMessage": {"custom": {"type": "TEXT", "text": "{{firstName}} goes on"}}}`,
		},
		"what it does not say stays": {`{"summary": "s", "queue": 7}`, ``, `{"summary": "s", "queue": 7}`},
		"no details were there":      {`{}`, `, "groupName": "Order 8"`, `{"groupName": "Order 8"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			s.web.Add("POST", shopAPI, web.JSON(200, `{}`))
			r := s.mustAsk(t, `{"assignmentDetails": `+test.first+`}`)
			handOn := `{"channel": {"_id": "desk"}, "previousAssignment": {"_id": "%s"}, "targets": [{"channel": "%s"}]%s}`
			next := s.handedOn(t, fmt.Sprintf(handOn, r.ID, "shop", test.given))
			toldTheAPI := document.Get(object(t, s.web.Requests()[0].Body), "assignmentDetails", document.Object{})
			require.JSONEq(t, test.want, toldTheAPI.String())

			s.handedOn(t, fmt.Sprintf(handOn, next.ID, "kiosk", ""))
			told := document.Get(object(t, s.lastSent(t).String()), "assignmentDetails", document.Object{})
			require.JSONEq(t, test.want, told.String(), "who gets it then gets the same")
		})
	}
}

func TestReassignAssignment_Refuses(t *testing.T) {
	t.Parallel()
	s := newFixture(t, strict)
	_, _, event := conversation(t, s)
	requireRefused(t, s, s.mine.ReassignAssignment,
		refused{`{"channel": {"_id": "desk"}, "label": "sales"}`, boterr.InvalidArgument, "messageEvent"},
		refused{`{` + event + `, "targets": [{"channel": "closed"}]}`, boterr.FailedPrecondition, "targets[0].channel"},
		refused{`{` + event + `, "label": "sales", "inletGroup": true}`, boterr.FailedPrecondition, "inletGroup"},
		refused{`{` + event + `, "targets": [{"channel": "team"}], "takenMessage": "x"}`, boterr.InvalidArgument, "takenMessage"},
	)
	wired := newFixture(t, withoutConnector(channel.Bravo))
	_, _, event = conversation(t, wired)
	requireRefused(t, wired, wired.mine.ReassignAssignment,
		refused{`{` + event + `, "targets": [{"channel": "phone"}]}`, boterr.Unsupported, "targets[0].channel"})
}

func TestReassignAssignment_SendFails(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	previous, group, event := conversation(t, s)
	s.platform.fail("C9", errDown)
	params := `{` + event + `, "targets": [{"channel": "phone"}, {"channel": "desk", "label": "sales"}]}`
	_, err := call(t, s.mine.ReassignAssignment, params)
	require.ErrorIs(t, err, boterr.Unavailable)
	require.ErrorContains(t, err, "1 of 2 targets did not get the request: desk C9 (")
	require.Equal(t, livechat.Taken, s.record(t, previous.ID).State())
	require.True(t, s.group(t, group.ID).Active)
	requireOutcome(t, livechats.OutcomeDelivered)(s.mine.RelayFromAgent(t.Context(), "desk", *event2(group)))
	repeated := s.mustAsk(t, `{}`)
	require.Equal(t, previous.ID, repeated.ID)

	s.platform.work("C9")
	s.platform.forget()
	next := s.handedOn(t, params)
	require.Equal(t, []string{"desk C9"}, s.sentTo())
	require.Len(t, next.Tickets, 2)
	require.Equal(t, livechat.EndedByReassign, s.record(t, previous.ID).EndedBy)

	s.platform.fail("D1", boterr.New(boterr.NotFound, "", "no D1"))
	before := s.stored(t)
	_, err = call(t, s.mine.ReassignAssignment,
		`{"channel": {"_id": "desk"}, "previousAssignment": {"_id": "`+next.ID+`"}, "targets": [{"channel": "team"}]}`)
	require.ErrorContains(t, err, "there is no request")
	require.Equal(t, before, s.stored(t))
}

// event2 is a text of eve in a group.
func event2(g *livechat.Group) *send.MessageEvent { return event("eve", g.ExternalID, "one moment") }

func TestReassignAssignment_EndsMeanwhile(t *testing.T) {
	t.Parallel()
	s := before(func(s *fixture, m send.Message) {
		if m.To == "C9" {
			must(t, s.mine.InletEndLiveChat, `{}`)
		}
	})(t)
	previous, _, event := conversation(t, s)
	_, err := call(t, s.mine.ReassignAssignment, `{`+event+`, "label": "sales"}`)
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.ErrorContains(t, err, "ended while it was handed on: it was ended in the inlet")
	require.Contains(t, s.platform.did(), "desk: recall the ticket of C9")
	require.Len(t, s.adas(t), 1)
	s.requireOver(t, previous.ID, "ada", livechat.EndedByInlet)
}

func TestReassignAssignment_AfterCrash(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]func(*fixture, livechat.ReassignAssignmentParams) string{
		"by the same call": func(s *fixture, p livechat.ReassignAssignmentParams) string {
			result, err := s.afterCrash().ReassignAssignment(s.t.Context(), p)
			require.NoError(s.t, err)
			return result.AssignmentID
		},
		"by the member, who asks again": func(s *fixture, _ livechat.ReassignAssignmentParams) string {
			result, err := s.afterCrash().CreateAssignment(s.t.Context(), livechat.CreateAssignmentParams{})
			require.NoError(s.t, err)
			return result.AssignmentID
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wasBroken := true
			for writes := 0; wasBroken; writes++ {
				s := newFixture(t)
				previous, group, _ := conversation(t, s)
				p := livechat.ReassignAssignmentParams{Channel: desk(), MessageEvent: event2(group), Label: "sales"}
				service, hasBroken := s.interrupted(writes)
				_, err := service.ReassignAssignment(t.Context(), p)
				if wasBroken = hasBroken(); wasBroken && err != nil {
					require.ErrorIs(t, err, errInterrupted)
				}
				id := again(s, p)
				require.Len(t, s.assignmentsThat(t, document.O("slot", "member/ada")), 1)
				require.True(t, s.mine.member(t, "ada").BotMeta.LiveChat())
				if id == previous.ID { // The hand-over did not start.
					require.Equal(t, livechat.Taken, s.record(t, id).State())
					continue
				}
				next := s.record(t, id)
				require.Equal(t, livechat.Pending, next.State(), "after %d writes", writes)
				require.Equal(t, livechat.EndedByReassign, s.record(t, previous.ID).EndedBy)
				require.Equal(t, next.Expiry, s.mine.onlyAgenda(t).NextRunAt)
			}
		})
	}
}

// handOn are the parameters of a call that hands a1, which eve has in a direct conversation, on to sales.
var handOn = livechat.ReassignAssignmentParams{
	Channel: &channel.Channel{ID: "desk"}, PreviousAssignment: &livechat.Assignment{ID: "a1"}, Label: "sales",
}

// direct returns a fixture in which ada talks to eve in a direct conversation.
func direct(t *testing.T) *fixture {
	t.Helper()
	s := newFixture(t, thatOnlySends(channel.Charlie))
	s.taken(t, "a1", "ada", "eve@desk", onlyInDesk)
	return s
}

// requireFree checks that an assignment that was handed on is closed, and that its agent can take another one.
func requireFree(t *testing.T, s *fixture, writes int) {
	t.Helper()
	s.pending(t, "b1", "bob", onlyInDesk)
	s.take(t, "b1", "eve@desk")
	require.Equal(t, livechat.EndedByReassign, s.record(t, "a1").EndedBy)
	require.NotZero(t, s.record(t, "a1").ClosedAt, "after %d writes", writes)
	require.Empty(t, s.groups(t, document.O("assignment", "a1", "active", true)))
}

func TestReassignAssignment_ClosesPreviousMeanwhile(t *testing.T) {
	t.Parallel()
	// The previous assignment has ended, and the next one is not open yet.
	isBetween := func(s *fixture) bool {
		return s.record(s.t, "a1").State() == livechat.Ended && len(s.assignmentsThat(s.t, document.O("slot", "member/ada"))) == 0
	}
	for name, test := range map[string]struct {
		meanwhile  func(*fixture)
		isConflict bool
	}{
		"the request is withdrawn": {func(s *fixture) {
			must(s.t, s.mine.RemovePendingAssignmentByMemberID, `{"memberId": "ada"}`)
		}, true},
		"the member has another request": {func(s *fixture) {
			if isBetween(s) {
				s.pending(s.t, "a2", "ada")
			}
		}, true},
		"the agent ends the previous one": {func(s *fixture) {
			if isBetween(s) {
				_, err := call(s.t, s.mine.EndLiveChat, `{"channel": {"_id": "desk"}, "messageEvent": {"from": "eve"}}`)
				require.ErrorContains(s.t, err, "it was handed on")
			}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conflicts := 0
			everyMoment(t, 6, func(writes int) bool {
				s := direct(t)
				mine, hasHappened := s.meanwhile(writes, func() { test.meanwhile(s) })
				if _, err := mine.ReassignAssignment(t.Context(), handOn); err != nil {
					conflicts++
					require.ErrorIs(t, err, boterr.Conflict, "after %d writes", writes)
					require.Empty(t, s.assignmentsThat(t, document.O("parentAssignment", "a1")), "the next one is gone")
				}
				if s.record(t, "a1").State() == livechat.Ended {
					requireFree(t, s, writes)
				}
				isOpen := len(s.assignmentsThat(t, document.O("slot", "member/ada"))) > 0
				require.Equal(t, isOpen, s.mine.member(t, "ada").BotMeta.LiveChat(), "after %d writes", writes)
				require.Equal(t, isOpen, len(s.mine.openAgendas(t, "ada")) == 1, "after %d writes", writes)
				return hasHappened()
			})
			require.Equal(t, test.isConflict, conflicts > 0)
		})
	}
}

func TestReassignAssignment_ClosedByWhoComes(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]func(*fixture){
		"the request is withdrawn": func(s *fixture) {
			_, err := s.afterCrash().RemovePendingAssignmentByMemberID(s.t.Context(),
				livechat.RemovePendingAssignmentByMemberIDParams{MemberID: "ada"})
			require.NoError(s.t, err)
		},
		"the member asks again": func(s *fixture) {
			_, err := s.afterCrash().CreateAssignment(s.t.Context(), livechat.CreateAssignmentParams{})
			require.NoError(s.t, err)
			require.True(s.t, s.mine.member(s.t, "ada").BotMeta.LiveChat())
		},
		"the agent hands on again": func(s *fixture) {
			_, err := s.afterCrash().ReassignAssignment(s.t.Context(), handOn)
			require.NoError(s.t, err)
		},
		"the next one is gone, and the agent hands on again": func(s *fixture) {
			s.loseNext(s.t)
			_, err := s.afterCrash().ReassignAssignment(s.t.Context(), handOn)
			require.ErrorIs(s.t, err, boterr.FailedPrecondition)
			require.ErrorContains(s.t, err, "it was handed on")
			s.requireOver(s.t, "a1", "ada", livechat.EndedByReassign)
		},
		"the next one is gone, and the agent takes another": func(s *fixture) {
			s.loseNext(s.t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			met := 0
			everyMoment(t, 6, func(writes int) bool {
				s := direct(t)
				broken, hasBroken := s.interrupted(writes)
				_, err := broken.ReassignAssignment(t.Context(), handOn)
				if !hasBroken() {
					require.NoError(t, err)
					return false
				}
				isEnded := s.record(t, "a1").State() == livechat.Ended
				if isEnded && len(s.groups(t, document.O("assignment", "a1", "active", true))) > 0 {
					met++
					then(s)
					requireFree(t, s, writes)
				}
				return true
			})
			require.NotZero(t, met)
		})
	}
}

func TestReassignAssignment_EndedAfterCrash(t *testing.T) {
	t.Parallel()
	s := direct(t)
	broken, _ := s.interrupted(1) // The next assignment is stored, but not sent.
	_, err := broken.ReassignAssignment(t.Context(), handOn)
	require.ErrorIs(t, err, errInterrupted)
	require.Len(t, s.assignmentsThat(t, document.O("parentAssignment", "a1")), 1)
	s.change(t, "assignments", document.O("_id", "a1"), document.Set("endedAt", s.at(0), "endedBy", "inlet", "slot", "ended/a1"))
	s.platform.forget()
	_, err = s.afterCrash().ReassignAssignment(t.Context(), handOn)
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.ErrorContains(t, err, "ended while it was handed on")
	require.Empty(t, s.sentTo())
	require.Empty(t, s.assignmentsThat(t, document.O("parentAssignment", "a1")))
}

// loseNext removes the assignment to which a1 was handed on, directly in the store.
func (s *fixture) loseNext(t *testing.T) {
	t.Helper()
	which, err := query.CompileFilter(document.O("parentAssignment", "a1"))
	require.NoError(t, err)
	_, err = s.store.Collection("assignments").Delete(t.Context(), which, store.DeleteOptions{})
	require.NoError(t, err)
}

func TestReassignAssignment_DirectOutlet(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	_, _, event := conversation(t, s)
	next := s.handedOn(t, `{`+event+`, "targets": [{"channel": "help"}], "relayMessage": "go on"}`)
	require.Equal(t, send.Text("go on").String(), s.lastSent(t).String())
	require.Equal(t, "help", next.Direct)
}
