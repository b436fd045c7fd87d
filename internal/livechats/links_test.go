package livechats_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/livechat"
)

// scripted is a fixture with bot logic that makes a group on Bravo for a request, and brings
// agents into it, by itself.
type scripted struct {
	*fixture

	t *testing.T
}

// steps are the calls of that logic. Each may be made by a service that breaks on the way.
var steps = map[string]func(s scripted, by *livechats.Service) error{
	"ask": func(s scripted, by *livechats.Service) error {
		_, err := call(s.t, by.CreateAssignment, `{"targets": [{"channel": "phone", "broadcastGroups": [{"id": "B1"}]}],
			"assignmentDetails": {"summary": "A kettle.", "groupName": "Kettles"}}`)
		return err
	},
	"join": func(s scripted, by *livechats.Service) error {
		_, err := call(s.t, by.HandleAdminJoinedGroup, `{"channel": {"_id": "phone"}, "externalId": "eve", "bravoGroupId": "room"}`)
		return err
	},
	"give": func(s scripted, by *livechats.Service) error {
		_, err := call(s.t, by.UpdateAssignmentGroup, fmt.Sprintf(`{"assignmentId": %q, "group": {"_id": %q}, "bravoGroupId": "room"}`,
			s.assignment().ID, s.room().ID))
		return err
	},
	"give by id": func(s scripted, by *livechats.Service) error {
		_, err := call(s.t, by.UpdateAssignmentGroup, fmt.Sprintf(`{"assignmentId": %q, "bravoGroupId": "room"}`, s.assignment().ID))
		return err
	},
}

// assignment is Ada's only one.
func (s scripted) assignment() *livechat.AssignmentRecord {
	s.t.Helper()
	found := s.assignments(s.t, "ada")
	require.Len(s.t, found, 1)
	return found[0]
}

// room is the only group.
func (s scripted) room() *livechat.Group {
	s.t.Helper()
	found := s.groups(s.t, document.O())
	require.Len(s.t, found, 1)
	return found[0]
}

// orders are those in which the calls may come.
var orders = [][]string{
	{"ask", "join", "give"},
	{"join", "ask", "give"},
	{"ask", "join", "give by id"},
	{"join", "ask", "give by id"},
	{"ask", "give by id", "join"},
	{"ask", "give by id", "join", "give"},
}

// requireConnected checks that Eve has the request of Ada, and that they are connected.
func (s scripted) requireConnected() {
	s.t.Helper()
	r, g := s.assignment(), s.room()
	require.Equal(s.t, livechat.Taken, r.State())
	require.Equal(s.t, []string{"eve", g.ID, "phone"}, []string{r.Assignee, r.Group, r.Outlet})
	require.JSONEq(s.t, `{"externalId": "room", "name": "Kettles", "type": "bravo", "bravoGroupId": "room"}`, r.GroupInfo.String())
	require.NotZero(s.t, r.AssignedAt)
	require.NotZero(s.t, r.SummarySentAt)
	require.Equal(s.t, []string{r.ID, "ada", "web", "Kettles", "eve"}, []string{g.Assignment, g.Member, g.Inlet, g.Name, g.AdminExternalID})
	require.True(s.t, g.Active)
	require.Equal(s.t, r.Expiry, s.mine.onlyAgenda(s.t, "ada").NextRunAt)
	require.True(s.t, s.mine.member(s.t, "ada").BotMeta.LiveChat())

	found := must(s.t, s.mine.GetGroupByMemberID, `{"inlet": "web", "memberId": "ada"}`)
	require.Equal(s.t, g.ID, document.Get(object(s.t, found), "_id", ""))
	requireRelayed(s.t)(s.mine.RelayFromMember(s.t.Context(), "ada", *event("ada-web", "bot", "It leaks.")))
	require.Equal(s.t, "It leaks.", s.lastSent(s.t).Text())
	requireRelayed(s.t)(s.mine.RelayFromAgent(s.t.Context(), "phone", *event("eve", "room", "Where?")))
	require.Equal(s.t, []string{"web ada-web"}, s.sentTo()[len(s.sentTo())-1:])
}

func TestLinks_AnyOrder(t *testing.T) {
	t.Parallel()
	for _, order := range orders {
		for times, name := range map[int]string{1: "once", 2: "each twice"} {
			t.Run(strings.Join(order, ", ")+", "+name, func(t *testing.T) {
				t.Parallel()
				s := scripted{newFixture(t), t}
				for _, step := range order {
					for range times {
						require.NoError(t, steps[step](s, s.mine.Service))
					}
				}
				for _, step := range order {
					require.NoError(t, steps[step](s, s.mine.Service))
				}
				summaries := strings.Count(strings.Join(s.platform.did(), "\n"), "send to room: A kettle.")
				require.Equal(t, 1, summaries, "the summary is sent once")
				s.requireConnected()
			})
		}
	}
}

func TestLinks_AfterCrash(t *testing.T) {
	t.Parallel()
	for _, order := range orders {
		for i, crashing := range order {
			t.Run(strings.Join(order, ", ")+", crash at "+crashing, func(t *testing.T) {
				t.Parallel()
				for writes, isBroken := 0, true; isBroken; writes++ {
					s := scripted{newFixture(t), t}
					for _, step := range order[:i] {
						require.NoError(t, steps[step](s, s.mine.Service))
					}
					broken, hasBroken := s.interrupted(writes)
					_ = steps[crashing](s, broken)
					isBroken = hasBroken()
					require.NoError(t, steps[crashing](s, s.afterCrash()))
					for _, step := range order[i+1:] {
						require.NoError(t, steps[step](s, s.mine.Service))
					}
					s.requireConnected()
				}
			})
		}
	}
}

func TestLinks_GroupGivenWhileSending(t *testing.T) {
	t.Parallel()
	for _, give := range []string{"give", "give by id"} {
		s := scripted{newFixture(t), t}
		require.NoError(t, steps["join"](s, s.mine.Service))
		broken, _ := s.interrupted(1)
		require.Error(t, steps["ask"](s, broken))
		require.Equal(t, livechat.Sending, s.assignment().State())
		require.NoError(t, steps[give](s, s.mine.Service))
		require.Equal(t, livechat.Sending, s.assignment().State(), "nobody has it before it is open")
		require.NoError(t, steps["ask"](s, s.afterCrash()))
		s.requireConnected()
	}
}

func TestLinks_SeveralAgents(t *testing.T) {
	t.Parallel()
	s := scripted{newFixture(t), t}
	require.NoError(t, steps["ask"](s, s.mine.Service))
	for _, agent := range []string{"eve", "bert"} {
		must(t, s.mine.HandleAdminJoinedGroup, `{"channel": {"_id": "phone"}, "externalId": "`+agent+`", "bravoGroupId": "room"}`)
	}
	require.NoError(t, steps["give by id"](s, s.mine.Service))
	for _, g := range s.groups(t, document.O()) {
		require.Equal(t, []string{s.assignment().ID, "ada", "web"}, []string{g.Assignment, g.Member, g.Inlet}, g.AdminExternalID)
	}
	requireRelayed(t)(s.mine.RelayFromAgent(t.Context(), "phone", *event("bert", "room", "I can help.")))
	must(t, s.mine.EndBravoLiveChat, `{"channelId": "phone", "adminExternalId": "bert", "bravoGroupId": "room"}`)
	require.Equal(t, livechat.Ended, s.assignment().State())
	require.Empty(t, s.groups(t, document.O("active", true)))
}

func TestLinks_GroupOfAnother(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	g := s.taken(t, "a1", "ada", "eve@phone").Group
	s.pending(t, "a2", "bob")
	for range 2 {
		must(t, s.mine.UpdateAssignmentGroup, `{"assignmentId": "a2", "group": {"_id": "`+g.ID+`"}}`)
		require.Equal(t, livechat.Pending, s.record(t, "a2").State())
		require.Equal(t, "a1", s.group(t, g.ID).Assignment)
	}
}

func TestLinks_EndedRequest(t *testing.T) {
	t.Parallel()
	s := scripted{newFixture(t), t}
	require.NoError(t, steps["ask"](s, s.mine.Service))
	must(t, s.mine.InletEndLiveChat, `{}`)
	require.NoError(t, steps["join"](s, s.mine.Service))
	require.NoError(t, steps["give"](s, s.mine.Service))
	require.Equal(t, livechat.Ended, s.assignment().State())
	require.Empty(t, s.room().Assignment)
	require.True(t, s.room().Active)
}

func TestUpdateAssignmentGroup_WithdrawnMeanwhile(t *testing.T) {
	t.Parallel()
	everyMoment(t, 3, func(t *testing.T, writes int) bool {
		t.Helper()
		s := newFixture(t)
		s.pending(t, "a1", "ada")
		must(t, s.mine.HandleAdminJoinedGroup, `{"channel": {"_id": "phone"}, "externalId": "eve", "bravoGroupId": "R1"}`)
		mine, hasHappened := s.meanwhile(writes, func() {
			must(t, s.mine.RemovePendingAssignmentByMemberID, `{"memberId": "ada"}`)
		})
		group := s.groups(t, document.O())[0]
		_, err := mine.UpdateAssignmentGroup(t.Context(), livechat.UpdateAssignmentGroupParams{AssignmentID: "a1", Group: group})
		if err != nil {
			require.Equal(t, "assignmentId", fieldOf(t, err), "after %d writes", writes)
			group := s.groups(t, document.O())[0]
			require.True(t, group.Assignment == "" || !group.Active, "after %d writes: no live group is that of what is not there", writes)
		}
		return hasHappened()
	})
}
