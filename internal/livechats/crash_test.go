package livechats_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

func TestCreateAssignment_AfterCrash(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]struct{ outlets, params string }{
		"tickets": {"desk", `{"assignmentDetails": {"summary": "s"}}`},
		"direct":  {"help", `{"assignmentDetails": {"summary": "s"}}`},
		"api":     {"shop", `{"createGroup": {"externalId": "room-1"}}`},
	} {
		for how, by := range map[string]interruption{"crash": (*fixture).interrupted, "failure": (*fixture).failing} {
			t.Run(name+" "+how, func(t *testing.T) {
				t.Parallel()
				wasBroken := true
				for calls := 0; wasBroken; calls++ {
					wasBroken = requireCompleted(t, ask.outlets, ask.params, by, calls)
				}
			})
		}
	}
}

// interruption returns the fixture's live chats on a store that fails after a number of calls, and a function that reports
// whether it has failed.
type interruption = func(s *fixture, calls int) (*livechats.Service, func() bool)

// requireCompleted makes a request on a store that fails after a number of calls, and then checks that the same call
// completes the request. It reports whether the store failed.
func requireCompleted(t *testing.T, outlet, params string, by interruption, calls int) bool {
	t.Helper()
	s := newFixture(t)
	s.web.Add("POST", shopAPI, web.JSON(200, `{"ok": true}`))
	s.mine.pair(t, outlet)
	p := paramsOf[livechat.CreateAssignmentParams](t, params)
	service, hasBroken := by(s, calls)
	_, err := service.CreateAssignment(t.Context(), p)
	if !hasBroken() {
		require.NoError(t, err)
		return false
	}
	if err != nil { // The call returns no error if only the release of the sender failed.
		require.ErrorIs(t, err, errInterrupted)
	}
	result, err := s.afterCrash().CreateAssignment(t.Context(), p)
	require.NoError(t, err, "after %d calls", calls)
	records := s.adas(t)
	require.Len(t, records, 1)
	require.Equal(t, result.AssignmentID, records[0].ID)
	require.NotEqual(t, livechat.Sending, records[0].State())
	require.True(t, s.mine.member(t, "ada").BotMeta.LiveChat())
	require.Equal(t, records[0].Expiry, s.mine.onlyAgenda(t).NextRunAt)
	require.Equal(t, records[0].Group, result.GroupID)
	for _, ticket := range records[0].Tickets {
		require.NotZero(t, ticket.SentAt)
	}
	if p.CreateGroup != nil {
		require.Len(t, s.groups(t, document.O("assignment", records[0].ID)), 1, "after %d calls", calls)
	}
	kept := map[string]bool{}
	for _, ticket := range records[0].Tickets {
		kept[ticket.ID] = true
	}
	seen := map[string]int{}
	for _, message := range s.platform.sent() {
		seen[message.ID]++
	}
	for id, times := range seen {
		require.True(t, kept[id], "%s is the id of no ticket of the request", id)
		require.LessOrEqual(t, times, 2, "%s: only what was not noted is sent again, with its id", id)
	}
	return true
}

func TestCreateAssignment_CanceledAtEachSend(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 3; n++ {
		var sends int
		ctx, cancel := context.WithCancel(t.Context())
		s := before(func(*fixture, send.Message) {
			sends++
			if sends == n {
				cancel()
			}
		})(t)
		_, err := s.mine.CreateAssignment(ctx, livechat.CreateAssignmentParams{})
		require.Equal(t, boterr.Canceled, boterr.CodeOf(err))
		unsent := unsentOf(t, err)
		require.Len(t, unsent.Failures, 4-n, "what comes after the end of the call is not sent")
		require.Len(t, s.sentTo(), n-1)
		require.False(t, s.mine.member(t, "ada").BotMeta.LiveChat())
		require.Equal(t, unsent.AssignmentID, s.mustAsk(t, `{}`).ID)
		require.Equal(t, []string{"desk C1", "desk U1", "team D1"}, s.sentTo())
	}
}

func TestCreateAssignment_WaitsForCrashedSender(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFixture(t)
		service, _ := s.interrupted(1)
		_, err := service.CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
		require.ErrorIs(t, err, errInterrupted)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		before := s.stored(t)
		_, err = s.mine.CreateAssignment(ctx, livechat.CreateAssignmentParams{})
		require.ErrorIs(t, err, boterr.Canceled)
		require.Equal(t, before, s.stored(t))
		s.mustAsk(t, `{}`)
	})
}

func TestCreateAssignment_WaitsTooLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFixture(t)
		s.store = atNoon(s.store)
		service, _ := s.interrupted(1)
		_, err := service.CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
		require.ErrorIs(t, err, errInterrupted)
		s.platform.forget()
		_, err = s.on(s.store).CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
		require.ErrorIs(t, err, boterr.Conflict)
		require.ErrorContains(t, err, "another call is sending this request")
		require.Empty(t, s.sentTo())
	})
}

func TestCreateAssignment_WithdrawnWhileSent(t *testing.T) {
	t.Parallel()
	s := before(func(s *fixture, m send.Message) {
		if m.To == "U1" {
			must(t, s.mine.RemovePendingAssignmentByMemberID, `{"memberId": "ada"}`)
		}
	})(t)
	_, err := s.ask(t, `{}`)
	require.ErrorIs(t, err, boterr.Conflict)
	require.ErrorContains(t, err, "was withdrawn while it was being sent")
	did := s.platform.did()
	require.Contains(t, did, "desk: recall the ticket of C1")
	require.Contains(t, did, "desk: recall the ticket of U1")
	require.Equal(t, []string{"desk C1", "desk U1"}, s.sentTo(), "no more is sent")
	require.Empty(t, s.adas(t))
	require.False(t, s.mine.member(t, "ada").BotMeta.LiveChat())
}

func TestCreateAssignment_AnotherCallTakesItsPlace(t *testing.T) {
	t.Parallel()
	isLate := false
	everyMoment(t, 6, func(writes int) bool {
		s := newFixture(t)
		first, hasHappened := s.meanwhile(writes, func() {
			if len(s.adas(t)) == 0 {
				return
			}
			_, err := s.afterCrash().CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
			require.NoError(t, err, "after %d writes", writes)
			isLate = true
		})
		if _, err := first.CreateAssignment(t.Context(), livechat.CreateAssignmentParams{}); err != nil {
			require.ErrorIs(t, err, boterr.Conflict)
			require.ErrorContains(t, err, "another call continued with it", "after %d writes", writes)
		}
		require.Len(t, s.adas(t), 1)
		require.Equal(t, livechat.Pending, s.adas(t)[0].State())
		require.Equal(t, s.adas(t)[0].Expiry, s.mine.onlyAgenda(t).NextRunAt)
		require.True(t, s.mine.member(t, "ada").BotMeta.LiveChat())
		return hasHappened()
	})
	require.True(t, isLate)
}

func TestCreateAssignment_EndedMeanwhile(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		outlet, params string
		end            func(s *fixture)
	}{
		"tickets": {"desk", `{}`, func(s *fixture) { must(s.t, s.mine.InletEndLiveChat, `{}`) }},
		"withdrawn": {"desk", `{}`, func(s *fixture) {
			must(s.t, s.mine.RemovePendingAssignmentByMemberID, `{"memberId": "ada"}`)
		}},
		"api": {"shop", `{"createGroup": {"externalId": "room-1"}}`, func(s *fixture) {
			must(s.t, s.mine.InletEndLiveChat, `{}`)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everyMoment(t, 5, func(writes int) bool {
				s := newFixture(t)
				s.web.Add("POST", shopAPI, web.JSON(200, `{"ok": true}`))
				s.mine.pair(t, test.outlet)
				isEnded, wasSending := false, false
				mine, hasHappened := s.meanwhile(writes, func() {
					if isEnded = len(s.adas(t)) > 0; isEnded {
						wasSending = s.adas(t)[0].State() == livechat.Sending
						test.end(s)
					}
				})
				result, err := mine.CreateAssignment(t.Context(), paramsOf[livechat.CreateAssignmentParams](t, test.params))
				if wasSending || err != nil {
					require.ErrorIs(t, err, boterr.Conflict, "after %d writes", writes)
				}
				if isEnded {
					require.True(t, err != nil || !result.Member.BotMeta.LiveChat(), "after %d writes", writes)
					s.requireNothingLeft()
				}
				return hasHappened()
			})
		})
	}
}

// endings are the ways in which ada's live chat a1 ends. agent is the agent who has it, or "".
var endings = map[string]struct {
	agent string
	by    livechat.EndedBy
	end   func(s *fixture, l *livechats.Service) error
}{
	"ended in the outlet": {"eve@desk", livechat.EndedByOutlet, func(s *fixture, l *livechats.Service) error {
		return errorOf(call(s.t, l.EndLiveChat, endByEve))
	}},
	"ended on Bravo": {"eve@phone", livechat.EndedByOutlet, func(s *fixture, l *livechats.Service) error {
		return errorOf(call(s.t, l.EndBravoLiveChat, `{"channelId": "phone", "adminExternalId": "eve", "bravoGroupId": "group1"}`))
	}},
	"ended in the inlet": {"eve@desk", livechat.EndedByInlet, func(s *fixture, l *livechats.Service) error {
		return errorOf(call(s.t, l.InletEndLiveChat, `{}`))
	}},
	"idle": {"eve@desk", livechat.EndedByIdle, func(s *fixture, l *livechats.Service) error {
		return l.Expire(s.t.Context(), idleAgenda())
	}},
	"its member is erased": {"eve@desk", livechat.EndedByMemberGone, func(s *fixture, l *livechats.Service) error {
		return l.EndErased(s.t.Context(), "ada")
	}},
	"withdrawn": {"", "", func(s *fixture, l *livechats.Service) error {
		return errorOf(call(s.t, l.RemovePendingAssignmentByMemberID, `{"memberId": "ada"}`))
	}},
	"handed on": {"eve@desk", livechat.EndedByReassign, func(s *fixture, l *livechats.Service) error {
		_, err := l.ReassignAssignment(s.t.Context(), handOn)
		return err
	}},
}

func errorOf[R any](_ R, err error) error { return err }

// eachInterruption ends a live chat in each way, and interrupts the end after each possible number of writes. After
// each interruption it calls then.
func eachInterruption(t *testing.T, then func(s *fixture, l *livechats.Service, how string)) {
	t.Helper()
	for how, ending := range endings {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			everyMoment(t, 4, func(writes int) bool {
				s := newFixture(t)
				s.pending(t, "a1", "ada")
				if ending.agent != "" {
					s.take(t, "a1", ending.agent)
				}
				s.platform.forget()
				s.advance(livechat.IdleTimeout)
				broken, hasBroken := s.interrupted(writes)
				if err := ending.end(s, broken); !hasBroken() {
					require.NoError(t, err)
					return false
				}
				t.Logf("interrupted after %d writes", writes)
				if how != "handed on" && s.mine.member(t, "ada").BotMeta.LiveChat() {
					require.Empty(t, s.groups(t, document.O("active", false)), "a repeated end finds the conversation")
				}
				then(s, s.afterCrash(), how)
				return true
			})
		})
	}
}

// requireClosed checks that ada's assignments are closed if they have ended.
func (s *fixture) requireClosed() {
	s.t.Helper()
	for _, r := range s.adas(s.t) {
		require.Equal(s.t, r.EndedAt.IsZero(), r.ClosedAt.IsZero(), "%+v", r)
	}
}

// requireOut checks that ada is not in live chat, and that nothing is open.
func (s *fixture) requireOut() {
	s.t.Helper()
	require.False(s.t, s.mine.member(s.t, "ada").BotMeta.LiveChat())
	require.Empty(s.t, s.mine.openAgendas(s.t, "ada"))
	require.Empty(s.t, s.assignmentsThat(s.t, document.O("member", "ada", "endedAt", nil)))
}

// requireNothingLeft is requireOut, and checks that no group is live and all is closed.
func (s *fixture) requireNothingLeft() {
	s.t.Helper()
	s.requireOut()
	require.Empty(s.t, s.groups(s.t, document.O("active", true)))
	s.requireClosed()
}

// Whatever comes first after an interrupted end completes the end.
func TestEnd_AfterInterruption(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]func(s *fixture, l *livechats.Service, how string){
		"ended again": func(s *fixture, l *livechats.Service, how string) {
			if how == "handed on" {
				return // See TestReassignAssignment_AfterCrash.
			}
			require.NoError(s.t, endings[how].end(s, l))
			if by := endings[how].by; by != "" {
				s.requireOver(s.t, "a1", "ada", by)
			}
			s.requireNothingLeft()
			switch how {
			case "its member is erased":
				require.Equal(s.t, []string{livechat.DefaultTexts().MemberGone}, s.textsIn("group1"))
			case "withdrawn":
				require.Contains(s.t, s.platform.did(), "team: recall the ticket of D1")
			}
		},
		"idle": func(s *fixture, l *livechats.Service, _ string) {
			s.advance(2 * livechat.IdleTimeout)
			for _, due := range s.mine.openAgendas(s.t, "ada") {
				require.NoError(s.t, l.Expire(s.t.Context(), due.Agenda))
			}
			s.requireOut()
			require.NoError(s.t, l.Expire(s.t.Context(), idleAgenda()), "an agenda may be handled late")
			s.requireNothingLeft()
		},
		"ended in the inlet": func(s *fixture, l *livechats.Service, _ string) {
			_, _ = call(s.t, l.InletEndLiveChat, `{}`) // This completes the end, even if it returns an error.
			s.requireNothingLeft()
		},
		"the member writes": func(s *fixture, l *livechats.Service, how string) {
			_, err := l.RelayFromMember(s.t.Context(), "ada", *event("ada-web", "bot", "Hello?"))
			require.NoError(s.t, err)
			if how != "handed on" {
				s.requireClosed()
			}
		},
		"the member asks again": func(s *fixture, l *livechats.Service, _ string) {
			created, err := l.CreateAssignment(s.t.Context(), livechat.CreateAssignmentParams{})
			require.NoError(s.t, err)
			require.True(s.t, s.mine.member(s.t, "ada").BotMeta.LiveChat())
			require.Equal(s.t, s.record(s.t, created.AssignmentID).Expiry, s.mine.onlyAgenda(s.t).NextRunAt)
			for _, g := range s.groups(s.t, document.O("active", true)) {
				require.Equal(s.t, created.AssignmentID, g.Assignment)
			}
		},
		"withdrawn": func(s *fixture, l *livechats.Service, _ string) {
			must(s.t, l.RemovePendingAssignmentByMemberID, `{"memberId": "ada"}`)
			s.requireClosed()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachInterruption(t, then)
		})
	}
}

// A host may remove a channel during a live chat.
func TestEnd_ChannelRemoved(t *testing.T) {
	t.Parallel()
	for _, removed := range []string{"web", "desk", "team"} {
		for _, how := range []string{"idle", "its member is erased", "withdrawn"} {
			s := newFixture(t)
			s.pending(t, "a1", "ada")
			if agent := endings[how].agent; agent != "" {
				s.take(t, "a1", agent)
				s.change(t, "members", document.O("_id", "ada"), document.Set("group", s.record(t, "a1").Group))
			}
			s.advance(livechat.IdleTimeout)
			which, err := query.CompileFilter(document.O("_id", removed))
			require.NoError(t, err)
			_, err = s.store.Collection("channels").Delete(t.Context(), which, store.DeleteOptions{})
			require.NoError(t, err)
			require.NoError(t, endings[how].end(s, s.mine.as("phone", "")), "%s without %s", how, removed)
			require.Empty(t, s.groups(t, document.O("active", true)), "%s without %s", how, removed)
			s.requireClosed()
		}
	}
}

func TestExpire_DuringHandover(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.taken(t, "a1", "ada", "eve@desk")
	due := s.mine.onlyAgenda(t)
	expire := func() {
		s.advance(livechat.IdleTimeout)
		_, err := s.mine.agendas.DeleteMemberAgenda(t.Context(), agenda.DeleteParams{MemberID: "ada", Tag: due.Tag})
		require.NoError(t, err)
		require.NoError(t, s.mine.Expire(t.Context(), due.Agenda))
		require.Len(t, s.mine.openAgendas(t, "ada"), 1)
	}
	const endedPrevious = 3
	handing, hasHappened := s.meanwhile(endedPrevious, expire)
	result, err := handing.ReassignAssignment(t.Context(), handOn)
	require.NoError(t, err)
	require.True(t, hasHappened())
	require.Equal(t, livechat.Pending, s.record(t, result.AssignmentID).State())
	require.Equal(t, s.record(t, result.AssignmentID).Expiry, s.mine.onlyAgenda(t).NextRunAt)
}

// everyMoment calls between with 0, 1, 2 and so on, until between returns false, because the tested call makes no
// more writes than that. everyMoment fails if the tested call makes fewer writes than least.
func everyMoment(t *testing.T, least int, between func(writes int) bool) {
	t.Helper()
	for writes := 0; between(writes); writes++ {
		least--
	}
	require.LessOrEqual(t, least, 0, "the tested call makes fewer writes than expected")
}

func TestTake_DoubleClick(t *testing.T) {
	t.Parallel()
	everyMoment(t, 6, func(writes int) bool {
		s := newFixture(t)
		s.pending(t, "a1", "ada")
		take := takenBy("a1", "eve@desk")
		var other *livechat.TakeResult
		mine, hasHappened := s.meanwhile(writes, func() {
			var err error
			other, err = s.mine.Take(t.Context(), take)
			require.NoError(t, err)
		})
		took, err := mine.Take(t.Context(), take)
		require.NoError(t, err)
		groups := s.groups(t, document.O())
		require.Len(t, groups, 1, "after %d writes", writes)
		require.Equal(t, groups[0].ID, s.record(t, "a1").Group)
		require.Equal(t, groups[0].ID, took.Group.ID)
		if other != nil {
			require.Equal(t, groups[0].ID, other.Group.ID)
		}
		return hasHappened()
	})
}

func TestTake_EndsMeanwhile(t *testing.T) {
	t.Parallel()
	everyMoment(t, 6, func(writes int) bool {
		s := newFixture(t)
		s.pending(t, "a1", "ada")
		mine, hasHappened := s.meanwhile(writes, func() { must(t, s.mine.InletEndLiveChat, `{}`) })
		_, err := mine.Take(t.Context(), takenBy("a1", "eve@desk"))
		if err != nil {
			require.ErrorIs(t, err, boterr.FailedPrecondition, "after %d writes", writes)
			require.Equal(t, "assignmentId", fieldOf(t, err))
		}
		if hasHappened() {
			s.requireOver(t, "a1", "ada", livechat.EndedByInlet)
		}
		return hasHappened()
	})
}

// sameRoom is a platform that returns the same id for every group.
type sameRoom struct{ *platform }

func (p sameRoom) CreateGroup(ctx context.Context, in *channel.Channel, group livechat.NewGroup) (livechat.CreatedGroup, error) {
	_, err := p.platform.CreateGroup(ctx, in, group)
	return livechat.CreatedGroup{ExternalID: "room"}, err
}

func TestTake_AnotherTicketMeanwhile(t *testing.T) {
	t.Parallel()
	for other, test := range map[string]struct {
		change func(*livechats.Ports)
		says   string
	}{
		"eve@desk": {thatOnlySends(channel.Charlie), "the agent eve is in the conversation"},
		"mallory@desk": {
			func(p *livechats.Ports) {
				p.Connectors[channel.Charlie] = sameRoom{p.Connectors[channel.Charlie].(*platform)}
			},
			"the conversation room in the channel desk belongs to the assignment a",
		},
	} {
		t.Run(other, func(t *testing.T) {
			t.Parallel()
			everyMoment(t, 6, func(writes int) bool {
				s := newFixture(t, test.change)
				s.pending(t, "a1", "ada")
				s.pending(t, "a2", "bob")
				take := func(l *livechats.Service, id, agent string) bool {
					_, err := l.Take(t.Context(), takenBy(id, agent))
					if err != nil {
						require.ErrorIs(t, err, boterr.FailedPrecondition)
						require.ErrorContains(t, err, test.says)
					}
					return err == nil
				}
				tookOther := false
				mine, hasHappened := s.meanwhile(writes, func() { tookOther = take(s.mine.Service, "a2", other) })
				tookOne := take(mine, "a1", "eve@desk")
				require.False(t, tookOne && tookOther, "after %d writes", writes)
				require.LessOrEqual(t, len(s.groups(t, document.O("active", true))), 1, "after %d writes", writes)
				require.Equal(t, tookOne, s.record(t, "a1").State() == livechat.Taken)
				require.Equal(t, tookOther, s.record(t, "a2").State() == livechat.Taken)
				return hasHappened()
			})
		})
	}
}

func TestEndLiveChat_NewRequestMeanwhile(t *testing.T) {
	t.Parallel()
	for _, isSending := range []bool{false, true} {
		everyMoment(t, 4, func(writes int) bool {
			s := newFixture(t)
			s.taken(t, "a1", "ada", "eve@desk")
			// A new request is possible only after the first write, which frees the member's slot.
			mine, hasHappened := s.meanwhile(writes+1, func() {
				s.pending(t, "a2", "ada")
				if isSending { // Its agenda is set before it opens.
					s.change(t, "assignments", document.O("_id", "a2"), document.Unset("sentAt", "expiry"))
				}
			})
			must(t, mine.EndLiveChat, endByEve)
			if hasHappened() {
				require.True(t, isSending || s.mine.member(t, "ada").BotMeta.LiveChat(), "after %d writes", writes)
				require.Equal(t, s.at(livechat.IdleTimeout), s.mine.onlyAgenda(t).NextRunAt, "after %d writes", writes)
				require.NotEqual(t, livechat.Ended, s.record(t, "a2").State())
			}
			require.Equal(t, livechat.Ended, s.record(t, "a1").State())
			return hasHappened()
		})
	}
}

func TestRelayFromMember_EndsMeanwhile(t *testing.T) {
	t.Parallel()
	everyMoment(t, 2, func(writes int) bool {
		s := newFixture(t)
		s.taken(t, "a1", "ada", "eve@desk")
		s.advance(time.Minute)
		mine, hasHappened := s.meanwhile(writes, func() { must(t, s.mine.EndLiveChat, endByEve) })
		_, err := mine.RelayFromMember(t.Context(), "ada", *event("ada-web", "bot", "hi"))
		require.NoError(t, err)
		if hasHappened() {
			s.requireOver(t, "a1", "ada", livechat.EndedByOutlet)
		}
		return hasHappened()
	})
}

func TestExpire_MessageAtTheLastMoment(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.taken(t, "a1", "ada", "eve@desk")
	s.advance(livechat.IdleTimeout)
	mine, hasHappened := s.meanwhile(0, func() {
		requireRelayed(t)(s.mine.RelayFromMember(t.Context(), "ada", *event("ada-web", "bot", "wait")))
	})
	require.NoError(t, mine.Expire(t.Context(), idleAgenda()))
	require.True(t, hasHappened())
	require.Equal(t, livechat.Taken, s.record(t, "a1").State())
	require.Equal(t, s.at(livechat.IdleTimeout), s.mine.onlyAgenda(t).NextRunAt)
}

// The suite of the operations tests the operations in the same way.
func TestService_StoreFails(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	waits := func(s *fixture) { s.pending(s.t, "a1", "ada") }
	talks := func(agent string) func(s *fixture) { return func(s *fixture) { s.taken(s.t, "a1", "ada", agent) } }
	for name, c := range map[string]struct {
		before func(s *fixture)
		call   func(l *livechats.Service) (any, error)
	}{
		"the member waits": {waits, func(l *livechats.Service) (any, error) {
			kept, err := l.RelayFromMember(ctx, "ada", *event("ada-web", "bot", "hi"))
			return kept, errors.Join(err, l.TellWaiting(ctx, "ada", kept))
		}},
		"the member writes": {talks("eve@desk"), func(l *livechats.Service) (any, error) {
			return l.RelayFromMember(ctx, "ada", *event("ada-web", "bot", "hi"))
		}},
		"the agent writes": {talks("eve@desk"), func(l *livechats.Service) (any, error) {
			return l.RelayFromAgent(ctx, "desk", *event("eve", "group1", "hi"))
		}},
		"the agent writes to the bot": {talks("eve@team"), func(l *livechats.Service) (any, error) {
			return l.RelayFromAgent(ctx, "team", *event("eve", "bot", "hi"))
		}},
		"an agent takes it": {waits, func(l *livechats.Service) (any, error) { return l.Take(ctx, takenBy("a1", "eve@desk")) }},
		"an agent takes it where a helpdesk opened a conversation": {
			func(s *fixture) { s.pending(s.t, "a1", "ada", inHelpdesk("case-9")) },
			func(l *livechats.Service) (any, error) { return l.Take(ctx, takenBy("a1", "eve@help")) },
		},
		"an agent takes it in the group of a shop": {
			func(s *fixture) { s.inGroupOfShop(s.t) },
			func(l *livechats.Service) (any, error) { return l.Take(ctx, takenBy("a1", "eve@shop")) },
		},
		"a group is linked to it": {
			func(s *fixture) {
				s.pending(s.t, "a1", "ada")
				s.put(s.t, "groups", `{"_id": "g1", "app": "mine", "outlet": "phone", "externalId": "room", "active": true, "name": "Room"}`)
			},
			func(l *livechats.Service) (any, error) {
				return l.UpdateAssignmentGroup(ctx, livechat.UpdateAssignmentGroupParams{AssignmentID: "a1", Group: &livechat.Group{ID: "g1"}})
			},
		},
		"it is handed on with a kept message": {
			func(s *fixture) {
				s.pending(s.t, "a1", "ada")
				s.says(s.t, s.mine.Service, "hi", livechats.OutcomeKept)
			},
			func(l *livechats.Service) (any, error) { return l.ReassignAssignment(ctx, handOn) },
		},
		"an agent takes one without an alarm": {
			func(s *fixture) {
				s.pending(s.t, "a1", "ada", func(r *livechat.AssignmentRecord) { r.Expiry, r.LiveChatAgenda = 0, false })
			},
			func(l *livechats.Service) (any, error) { return l.Take(ctx, takenBy("a1", "eve@desk")) },
		},
		"an agent taps": {waits, func(l *livechats.Service) (any, error) {
			return l.TakeByTap(ctx, "desk", tapOf("eve", "U1", document.O("payload", livechat.TakePayload, "value", "a1")))
		}},
		"an agent is saved": {waits, func(l *livechats.Service) (any, error) {
			return l.SaveAdmin(ctx, livechat.Admin{AdminID: "1", ExternalID: "eve"})
		}},
		"it is idle":           {waits, func(l *livechats.Service) (any, error) { return nil, l.Expire(ctx, idleAgenda()) }},
		"it has ended":         {func(*fixture) {}, func(l *livechats.Service) (any, error) { return nil, l.Expire(ctx, idleAgenda()) }},
		"the member is erased": {talks("eve@desk"), func(l *livechats.Service) (any, error) { return nil, l.EndErased(ctx, "ada") }},
		"the queue":            {waits, func(l *livechats.Service) (any, error) { return l.PositionOfMember(ctx, "ada") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sharedtest.EachFailure(t, func(failing func(store.Store) store.Store) error {
				s := newFixture(t)
				c.before(s)
				s.advance(livechat.IdleTimeout)
				return errorOf(c.call(s.on(failing(s.store))))
			})
		})
	}
}
