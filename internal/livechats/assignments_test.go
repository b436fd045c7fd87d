package livechats_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/livechat"
)

// putAssignment stores an ended assignment of ada. fields is additional JSON that starts with a comma.
func (s *fixture) putAssignment(t *testing.T, id string, createdAt int64, fields string) {
	t.Helper()
	s.put(t, "assignments", fmt.Sprintf(`{"_id": %q, "app": "mine", "_version": 1, "createdAt": %d, "updatedAt": %d, "etag": "e",
		"inlet": "web", "member": "ada", "slot": "ended/%s", "endedAt": 5 %s}`, id, createdAt, createdAt, id, fields))
}

// withField returns the value at a path of a JSON object.
func withField(t *testing.T, text, path string) any {
	t.Helper()
	value, _ := object(t, text).Lookup(path)
	return value
}

func TestGet_EmptyFields(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.putAssignment(t, "a1", 1, ``)
	require.JSONEq(t, `{"_id": "a1", "app": "mine", "_version": 1, "createdAt": 1, "updatedAt": 1, "etag": "e", "inlet": "web",
		"member": "ada", "history": false, "isZendesk": false, "meta": {}, "targets": []}`,
		must(t, s.mine.GetAssignment, `{"assignmentId": "a1"}`))
	s.put(t, "groups", `{"_id": "g1", "app": "mine"}`)
	require.JSONEq(t, `{"_id": "g1", "app": "mine", "meta": {}, "active": false, "valid": false}`,
		must(t, s.mine.GetGroup, `{"groupId": "g1"}`))
}

// putOpen stores an open assignment of a new member. fields is additional JSON that starts with a comma.
func (s *fixture) putOpen(t *testing.T, id string, createdAt int64, fields string) {
	t.Helper()
	s.put(t, "assignments", fmt.Sprintf(`{"_id": %q, "app": "mine", "_version": 1, "createdAt": %d, "updatedAt": %d, "etag": "e",
		"inlet": "web", "member": "member of %s", "slot": "member/member of %s" %s}`, id, createdAt, createdAt, id, id, fields))
}

// atDesk returns the id of the assignment that GetAssignmentByOutlet returns for the desk.
func atDesk(t *testing.T, s *livechats.Service) any {
	t.Helper()
	return withField(t, must(t, s.GetAssignmentByOutlet, `{"channelId": "desk"}`), "_id")
}

const ticketAtDesk = `, "sentAt": 1, "tickets": [{"id": "1", "channel": "desk", "sentAt": 1}]`

func TestGetAssignmentByOutlet_IsThere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fields string
		is     bool
	}{
		"a ticket is there":           {ticketAtDesk, true},
		"it was taken there":          {ticketAtDesk + `, "assignee": "eve", "outlet": "desk"`, true},
		"it was taken elsewhere":      {ticketAtDesk + `, "assignee": "eve", "outlet": "team"`, false},
		"the channel has it directly": {`, "sentAt": 1, "direct": "desk", "outlet": "desk", "tickets": []`, true},
		"its tickets are elsewhere":   {`, "sentAt": 1, "tickets": [{"id": "1", "channel": "team", "sentAt": 1}]`, false},
		"one of its tickets is there": {`, "tickets": [{"channel": "team", "sentAt": 1}, {"channel": "desk", "sentAt": 1}]`, true},
		"the ticket is not sent yet":  {`, "tickets": [{"channel": "desk"}, {"channel": "team", "sentAt": 1}]`, false},
		"the ticket was recalled":     {`, "tickets": [{"channel": "desk", "sentAt": 1, "recalledAt": 2}]`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			s.putOpen(t, "a1", 1, c.fields)
			s.putAssignment(t, "ended", 2, `, "outlet": "desk"`)
			if c.is {
				require.Equal(t, "a1", atDesk(t, s.mine.Service))
				return
			}
			requireRefused(t, s, s.mine.GetAssignmentByOutlet, refused{`{"channelId": "desk"}`, boterr.NotFound, "channelId"})
		})
	}
}

func TestGetAssignmentByOutlet_Unreadable(t *testing.T) {
	t.Parallel()
	var unreadable []error
	s := newFixture(t, func(p *livechats.Ports) {
		p.Unreadable = func(_ context.Context, err error) { unreadable = append(unreadable, err) }
	})
	s.putOpen(t, "good", 1, ticketAtDesk)
	s.putOpen(t, "bad", 2, ticketAtDesk+`, "expiry": "soon"`)
	require.Equal(t, "good", atDesk(t, s.mine.Service))
	require.Len(t, unreadable, 1)
	require.ErrorContains(t, unreadable[0], "the stored assignment bad cannot be read")
}

func TestGetAssignmentByOutlet_MetaAsFilter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meta string
		is   bool
	}{
		"data is no condition":              {`{"locale": "fr", "topic": {"id": 1}}`, true},
		"an operator matches":               {`{"locale": {"$in": ["de", "fr"]}}`, true},
		"an operator does not match":        {`{"locale": {"$in": ["en"]}}`, false},
		"a path":                            {`{"meta.team": {"$eq": "sales"}}`, true},
		"conditions beside data":            {`{"topic": "bill", "locale": {"$ne": "de"}}`, false},
		"all conditions hold":               {`{"locale": {"$in": ["de"]}, "meta.team": {"$ne": "sales"}}`, false},
		"an operator at the top":            {`{"$or": [{"locale": "en"}, {"meta.team": "sales"}]}`, true},
		"an operator at the top that fails": {`{"$nor": [{"locale": "de"}]}`, false},
		"no filter can have it":             {`{"price": {"$": 5}}`, true},
		"an empty one":                      {`{}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			s.mine.addMember(t, `{"_id": "eve", "channel": "desk", "locale": "de", "meta": {"team": "sales"}}`)
			s.putOpen(t, "for everyone", 1, ticketAtDesk)
			s.putOpen(t, "asked", 2, ticketAtDesk+`, "meta": `+c.meta)
			want := map[bool]string{true: "asked", false: "for everyone"}[c.is]
			require.Equal(t, want, atDesk(t, s.mine.as("desk", "eve")))
		})
	}
}

func TestGetAssignmentByOutlet_WithoutMember(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.putOpen(t, "asked", 2, ticketAtDesk+`, "meta": {"locale": {"$in": ["de"]}}`)
	requireRefused(t, s, s.mine.as("desk", "").GetAssignmentByOutlet,
		refused{`{"channelId": "desk"}`, boterr.NotFound, "channelId"})
	requireRefused(t, s, s.mine.as("desk", "gone").GetAssignmentByOutlet,
		refused{`{"channelId": "desk"}`, boterr.NotFound, "member"})
}

// putGroup stores a group in mine. fields is JSON to add, beginning with a comma.
func (s *fixture) putGroup(t *testing.T, id string, fields string) {
	t.Helper()
	s.put(t, "groups", `{"_id": "`+id+`", "app": "mine", "_version": 1, "active": true, "valid": true`+fields+`}`)
}

func TestUpdateAssignmentGroup_BravoGroupIDOfAnother(t *testing.T) {
	t.Parallel()
	const given = `{"assignmentId": "a1", "group": {"_id": "g1"}, "bravoGroupId": "B"}`
	s := newFixture(t, strict)
	s.putAssignment(t, "a1", 1, ``)
	s.putGroup(t, "g1", `, "externalId": "G1", "type": "charlie"`)
	requireRefused(t, s, s.mine.UpdateAssignmentGroup, refused{given, boterr.InvalidArgument, "bravoGroupId"})
	s.mine.ports.IsStrict = false
	must(t, s.mine.as("web", "ada").UpdateAssignmentGroup, given)
	require.JSONEq(t, `{"externalId": "G1", "name": "", "type": "charlie"}`, s.record(t, "a1").GroupInfo.String())
}

func TestUpdateAssignmentMeta_OperatorsAreData(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.putAssignment(t, "a1", 1, ``)
	s.putGroup(t, "g1", ``)
	const meta = `{"for": {"$in": ["de"]}}`
	must(t, s.mine.UpdateAssignmentMeta, `{"assignmentId": "a1", "meta": `+meta+`}`)
	require.JSONEq(t, meta, s.record(t, "a1").Meta.String())
	must(t, s.mine.UpdateGroupMeta, `{"groupId": "g1", "meta": `+meta+`}`)
	require.JSONEq(t, meta, s.group(t, "g1").Meta.String())
}

// steps are the calls of bot logic that creates a Bravo group for a request and brings agents into it, by name. by is the
// Service for the call, which a test may interrupt.
var steps = map[string]func(s *fixture, by *livechats.Service) error{
	"ask": func(s *fixture, by *livechats.Service) error {
		_, err := call(s.t, by.CreateAssignment, `{"targets": [{"channel": "phone", "broadcastGroups": [{"id": "B1"}]}],
			"assignmentDetails": {"summary": "A kettle.", "groupName": "Kettles"}}`)
		return err
	},
	"join": func(s *fixture, by *livechats.Service) error {
		_, err := call(s.t, by.HandleAdminJoinedGroup, `{"channel": {"_id": "phone"}, "externalId": "eve", "bravoGroupId": "room"}`)
		return err
	},
	"give": func(s *fixture, by *livechats.Service) error {
		_, err := call(s.t, by.UpdateAssignmentGroup, fmt.Sprintf(`{"assignmentId": %q, "group": {"_id": %q}, "bravoGroupId": "room"}`,
			s.assignment().ID, s.room().ID))
		return err
	},
	"give by id": func(s *fixture, by *livechats.Service) error {
		_, err := call(s.t, by.UpdateAssignmentGroup, fmt.Sprintf(`{"assignmentId": %q, "bravoGroupId": "room"}`, s.assignment().ID))
		return err
	},
}

// assignment returns Ada's only assignment.
func (s *fixture) assignment() *livechat.AssignmentRecord {
	s.t.Helper()
	found := s.adas(s.t)
	require.Len(s.t, found, 1)
	return found[0]
}

func (s *fixture) room() *livechat.Group {
	s.t.Helper()
	found := s.groups(s.t, document.O())
	require.Len(s.t, found, 1)
	return found[0]
}

// orders are possible orders of the steps. Rules of botctxtest hold the results without a crash.
var orders = [][]string{
	{"ask", "join", "give"},
	{"join", "ask", "give"},
	{"ask", "join", "give by id"},
	{"join", "ask", "give by id"},
	{"ask", "give by id", "join"},
	{"ask", "give by id", "join", "give"},
}

// requireConnected checks that Eve has Ada's request and that they are connected.
func (s *fixture) requireConnected() {
	s.t.Helper()
	r, g := s.assignment(), s.room()
	require.Equal(s.t, livechat.Taken, r.State())
	require.Equal(s.t, []string{"eve", g.ID, "phone"}, []string{r.Assignee, r.Group, r.Outlet})
	require.JSONEq(s.t, `{"externalId": "room", "name": "Kettles", "type": "bravo", "bravoGroupId": "room"}`, r.GroupInfo.String())
	require.NotZero(s.t, r.AssignedAt)
	require.NotZero(s.t, r.SummarySentAt)
	require.Equal(s.t, []string{r.ID, "ada", "web", "Kettles", "eve"}, []string{g.Assignment, g.Member, g.Inlet, g.Name, g.AdminExternalID})
	require.True(s.t, g.Active)
	require.Equal(s.t, r.Expiry, s.mine.onlyAgenda(s.t).NextRunAt)
	require.True(s.t, s.mine.member(s.t, "ada").BotMeta.LiveChat())

	found := must(s.t, s.mine.GetGroupByMemberID, `{"inlet": "web", "memberId": "ada"}`)
	require.Equal(s.t, g.ID, document.Get(object(s.t, found), "_id", ""))
	requireRelayed(s.t)(s.mine.RelayFromMember(s.t.Context(), "ada", *event("ada-web", "bot", "It leaks.")))
	require.Equal(s.t, "It leaks.", s.lastSent(s.t).Text())
	requireRelayed(s.t)(s.mine.RelayFromAgent(s.t.Context(), "phone", *event("eve", "room", "Where?")))
	require.Equal(s.t, []string{"web ada-web"}, s.sentTo()[len(s.sentTo())-1:])
}

func TestLinks_AfterCrash(t *testing.T) {
	t.Parallel()
	for _, order := range orders {
		for i, crashing := range order {
			t.Run(strings.Join(order, ", ")+", crash at "+crashing, func(t *testing.T) {
				t.Parallel()
				for writes, isBroken := 0, true; isBroken; writes++ {
					s := newFixture(t)
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
		s := newFixture(t)
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
	s := newFixture(t)
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

func TestUpdateAssignmentGroup_WithdrawnMeanwhile(t *testing.T) {
	t.Parallel()
	everyMoment(t, 3, func(writes int) bool {
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

func TestLinks_EndedRequest(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	require.NoError(t, steps["ask"](s, s.mine.Service))
	must(t, s.mine.InletEndLiveChat, `{}`)
	require.NoError(t, steps["join"](s, s.mine.Service))
	require.NoError(t, steps["give"](s, s.mine.Service))
	require.Equal(t, livechat.Ended, s.assignment().State())
	require.Empty(t, s.room().Assignment)
	require.True(t, s.room().Active)
}
