package livechats_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

const (
	month = 30 * 24 * time.Hour
	year  = 365 * 24 * time.Hour
)

// atNoon returns a store whose clock always shows noon.
func atNoon(inner store.Store) store.Store {
	return clockStore{inner, func() time.Time { return time.UnixMilli(noon) }}
}

// history is a store at noon with old live chats.
type history struct {
	*fixture

	env record.Env
}

func newHistory(t *testing.T) *history {
	t.Helper()
	s := newFixture(t)
	env := s.mine.env
	env.Store = atNoon(s.store)
	return &history{fixture: s, env: env}
}

// assignment stores an assignment that ended some time ago, or an open one if ago is 0.
func (h *history) assignment(t *testing.T, id string, ago time.Duration, more ...any) {
	t.Helper()
	o := document.O("_id", id, "app", "mine", "member", "m-"+id, "inlet", "web", "createdAt", h.at(-year), "slot", "member/"+id)
	if ago > 0 {
		o = o.With("endedAt", h.at(-ago)).With("slot", "ended/"+id)
	}
	h.insert(t, "assignments", o, more...)
}

// group stores an inactive group of an assignment. Its last change was some time ago.
func (h *history) group(t *testing.T, id, assignment string, ago time.Duration, more ...any) {
	t.Helper()
	h.insert(t, "groups", document.O("_id", id, "app", "mine", "assignment", assignment, "member", "m-"+assignment,
		"active", false, "createdAt", h.at(-year), "updatedAt", h.at(-ago)), more...)
}

func (h *history) insert(t *testing.T, collection string, o document.Object, more ...any) {
	t.Helper()
	for i := 0; i < len(more); i += 2 {
		o = o.With(more[i].(string), more[i+1])
	}
	require.NoError(t, h.store.Collection(collection).Insert(t.Context(), o))
}

// left returns the ids of all records in a collection.
func (h *history) left(t *testing.T, collection string) []string {
	t.Helper()
	all, err := h.store.Collection(collection).Find(t.Context(), nil, store.FindOptions{})
	require.NoError(t, err)
	ids := []string{}
	for _, o := range all {
		ids = append(ids, document.Get(o, "_id", ""))
	}
	return ids
}

func TestRemoveEnded_KeepsWhatIsNeeded(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.assignment(t, "old", 2*month)
	h.assignment(t, "foreign", 2*month, "app", "theirs")
	h.assignment(t, "young", month/2)
	h.assignment(t, "handed on", 2*month, "endedBy", "reassign")
	h.assignment(t, "open", 0, "parentAssignment", "handed on", "group", "in use")
	h.assignment(t, "handed on to what ended", 2*month)
	h.assignment(t, "next, ended", month/2, "parentAssignment", "handed on to what ended")
	h.group(t, "of old", "old", 2*month)
	h.group(t, "left active", "old", 2*month, "active", true)
	h.group(t, "of foreign", "foreign", 2*month, "app", "theirs")
	h.group(t, "of young", "young", month/2)
	h.group(t, "in use", "old", 2*month, "active", true)
	h.group(t, "without an assignment", "", 2*month)
	h.group(t, "live without one", "", 2*month, "active", true)

	for range 2 { // The second call finds nothing to remove.
		_, err := livechats.RemoveEnded(t.Context(), h.env, month)
		require.NoError(t, err)
		require.Equal(t, []string{"young", "handed on", "open", "next, ended"}, h.left(t, "assignments"))
		require.Equal(t, []string{"of young", "in use", "live without one"}, h.left(t, "groups"))
	}
}

func TestRemoveEnded_Count(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	for i := range 3 {
		id := strconv.Itoa(i)
		h.assignment(t, id, 2*month)
		h.group(t, "g"+id, id, 2*month)
	}
	h.group(t, "alone", "", 2*month)
	removed, err := livechats.RemoveEnded(t.Context(), h.env, -1)
	require.NoError(t, err)
	require.Zero(t, removed)
	removed, err = livechats.RemoveEnded(t.Context(), h.env, month)
	require.NoError(t, err)
	require.Equal(t, livechats.Removed{Assignments: 3, Groups: 4}, removed)
	removed, err = livechats.RemoveEnded(t.Context(), h.env, month)
	require.NoError(t, err)
	require.Zero(t, removed)
}

func TestRemoveEnded_ManySpared(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	for i := range record.RemovalBatch + 1 { // More spared records than fit in a batch, all of the same time.
		id := strconv.Itoa(i)
		h.assignment(t, id, 3*month)
		h.assignment(t, "open"+id, 0, "parentAssignment", id)
	}
	for i := range 2*record.RemovalBatch + 1 {
		h.assignment(t, "old"+strconv.Itoa(i), 2*month)
	}
	removed, err := livechats.RemoveEnded(t.Context(), h.env, month)
	require.NoError(t, err)
	require.EqualValues(t, 2*record.RemovalBatch+1, removed.Assignments)
	require.Len(t, h.left(t, "assignments"), 2*record.RemovalBatch+2)
}

func TestEraseMember_OnlyTheirs(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.assignment(t, "ended", month, "member", "ada")
	h.assignment(t, "open", 0, "member", "ada")
	h.assignment(t, "bob's", month)
	h.assignment(t, "foreign", month, "member", "ada", "app", "theirs")
	h.group(t, "by its assignment", "ended", month, "member", "")
	h.group(t, "by the member", "gone", month, "member", "ada", "active", true)
	h.group(t, "of bob", "bob's", month, "active", true)
	h.group(t, "foreign", "foreign", month, "member", "ada", "app", "theirs", "active", true)

	removed, err := livechats.EraseMember(t.Context(), h.env, "mine", "ada")
	require.NoError(t, err)
	require.Equal(t, livechats.Removed{Assignments: 2, Groups: 2}, removed)
	require.Equal(t, []string{"bob's", "foreign"}, h.left(t, "assignments"))
	require.Equal(t, []string{"of bob", "foreign"}, h.left(t, "groups"))
	removed, err = livechats.EraseMember(t.Context(), h.env, "mine", "ada")
	require.NoError(t, err)
	require.Zero(t, removed)

	_, err = livechats.EraseMember(t.Context(), h.env, "mine", "")
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = livechats.EraseMember(t.Context(), h.env, "", "ada")
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

// endedChats is the number of ended live chats between ada and the agent U7, and of ended records of the agent P7 in
// the Bravo group G1.
const endedChats = 100

// withHistory adds ended live chats to a fixture. It returns its live chats, which fail the test if a call may examine
// more than most of their documents.
func withHistory(t *testing.T, s *fixture, most int64) *livechats.Service {
	t.Helper()
	for i := range endedChats {
		id := "old" + strconv.Itoa(i)
		ended := document.O("_id", id, "app", "mine", "member", "ada", "inlet", "web", "slot", "ended/"+id, "group", id,
			"assignee", "U7", "assignedAt", s.at(0), "outlet", "desk", "sentAt", s.at(0), "endedAt", s.at(0), "endedBy", "outlet", "closedAt", s.at(0),
			"groupInfo", document.O("bravoGroupId", "G1"), "createdAt", s.at(time.Duration(i)*time.Second), "_version", 1)
		require.NoError(t, s.store.Collection("assignments").Insert(t.Context(), ended,
			ended.With("_id", "shared"+id).With("slot", "ended/shared"+id).With("group", "shared")))
		group := document.O("_id", id, "app", "mine", "member", "ada", "inlet", "web", "active", false, "outlet", "desk",
			"externalId", "U7", "adminExternalId", "U7", "type", "charlie", "inletGroupExternalId", "family",
			"assignment", id, "createdAt", s.at(time.Duration(i)*time.Second), "updatedAt", s.at(0), "_version", 1)
		onBravo := group.With("_id", "bravo"+id).With("outlet", "phone").With("externalId", "G1").With("adminExternalId", "P7").
			With("type", "bravo").With("assignment", "shared"+id).With("member", "bob")
		require.NoError(t, s.store.Collection("groups").Insert(t.Context(), group, onBravo))
	}
	env := s.mine.env
	env.Store = sharedtest.Examined(s.store.(*memstore.Store), func(collection string, filter *query.Filter, documents int64) {
		if documents > most && slices.Contains([]string{"assignments", "groups", "members"}, collection) {
			t.Errorf("a call examines %d %s: %v", documents, collection, filter.Source())
		}
	})
	ports := s.mine.ports
	channels := channels.New(env, s.mine.scope)
	ports.Members = members.New(env, s.mine.scope, channels)
	return livechats.New(env, s.mine.scope, ports)
}

// liveChatEvents are events of members and agents, handled as bot logic would handle them, and bot logic's queries.
var liveChatEvents = map[string]func(*fixture, *livechats.Service){
	"the member writes": func(s *fixture, l *livechats.Service) {
		requireRelayed(s.t)(l.RelayFromMember(s.t.Context(), "ada", *event("a", "", "hi")))
	},
	"the agent writes": func(s *fixture, l *livechats.Service) {
		requireRelayed(s.t)(l.RelayFromAgent(s.t.Context(), "desk", *event("U7", "", "hi")))
	},
	"an agent without a chat writes": func(s *fixture, l *livechats.Service) {
		_, err := l.GroupOf(s.t.Context(), "phone", *event("P7", "G1", "hi"))
		require.NoError(s.t, err)
	},
	"where it was asked": func(s *fixture, l *livechats.Service) {
		_, err := l.IsAskedHere(s.t.Context(), "ada")
		require.NoError(s.t, err)
	},
	"the member ends it": func(s *fixture, l *livechats.Service) { must(s.t, l.InletEndLiveChat, `{}`) },
	"ended twice": func(s *fixture, l *livechats.Service) {
		const end = `{"channel": {"_id": "desk"}, "messageEvent": {"from": "U7"}}`
		must(s.t, l.EndLiveChat, end)
		require.ErrorIs(s.t, errorOf(call(s.t, l.EndLiveChat, end)), boterr.FailedPrecondition)
	},
	"asked anew": func(s *fixture, l *livechats.Service) {
		must(s.t, l.InletEndLiveChat, `{}`)
		made := object(s.t, must(s.t, l.CreateAssignment, `{}`))
		_, err := l.Take(s.t.Context(), takenBy(document.Get(made, "assignmentId", ""), "U7@desk"))
		require.NoError(s.t, err)
	},
	"withdrawn": func(s *fixture, l *livechats.Service) {
		must(s.t, l.RemovePendingAssignmentByMemberID, `{"memberId": "ada"}`)
	},
	"handed on": func(s *fixture, l *livechats.Service) {
		must(s.t, l.ReassignAssignment, `{"channel": {"_id": "desk"}, "messageEvent": {"from": "U7"}, "relayMessage": "Who?", "label": "default"}`)
	},
	"idle": func(s *fixture, l *livechats.Service) {
		s.advance(livechat.IdleTimeout)
		for range 2 {
			require.NoError(s.t, l.Expire(s.t.Context(), agenda.Agenda{Member: "ada"}))
		}
	},
	"joined on Bravo": func(s *fixture, l *livechats.Service) {
		for range 2 {
			must(s.t, l.HandleAdminJoinedGroup, `{"channel": {"_id": "phone"}, "bravoGroupId": "G1", "externalId": "P7"}`)
		}
		must(s.t, l.UpdateAssignmentGroup, `{"assignmentId": "open", "bravoGroupId": "G1"}`)
	},
	"ended on Bravo": func(s *fixture, l *livechats.Service) {
		must(s.t, l.EndBravoLiveChat, `{"channelId": "phone", "bravoGroupId": "G1", "adminExternalId": "P7"}`)
	},
	"queries": func(s *fixture, l *livechats.Service) {
		must(s.t, l.GetAssignmentByBravoGroupID, `{"bravoGroupId": "G1"}`)
		must(s.t, l.GetGroupByExternalID, `{"channelId": "phone", "adminExternalId": "P7"}`)
		must(s.t, l.GetGroupByExternalID, `{"channelId": "phone", "groupId": "G1"}`)
		must(s.t, l.GetGroupByGroupExternalID, `{"groupExternalId": "G1"}`)
		must(s.t, l.GetGroupByInletGroup, `{"inlet": "web", "inletGroupExternalId": "family"}`)
		must(s.t, l.GetGroupByMemberID, `{"inlet": "web", "memberId": "bob"}`)
		must(s.t, l.GetAssignmentByOutlet, `{"channelId": "desk"}`)
		must(s.t, l.GetAssignmentsByParentAssignmentID, `{"assignmentId": "open"}`)
	},
	"a group kept for the member": func(s *fixture, l *livechats.Service) {
		must(s.t, l.SaveGroupIDToMember, `{"channel": {"_id": "phone"}, "messageEvent": {"from": "P7", "to": "G1"}}`)
	},
}

func TestGrowth_EventsLookAtFew(t *testing.T) {
	t.Parallel()
	for name, do := range liveChatEvents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			thatOnlySends(channel.Charlie)(&s.mine.ports)
			s.taken(t, "open", "ada", "U7@desk")
			do(s, withHistory(t, s, 4))
		})
	}
}

func TestTake_GroupOrItsAssignmentWasRemoved(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pending(t, "a1", "ada", func(r *livechat.AssignmentRecord) { r.Group = "removed" })
	require.NotEqual(t, "removed", s.take(t, "a1", "U7@desk").Group.ID)

	s.putGroup(t, "g2", `, "outlet": "desk", "externalId": "room", "assignment": "removed"`)
	s.pending(t, "a2", "bob", func(r *livechat.AssignmentRecord) { r.Group = "g2" })
	require.Equal(t, "g2", s.take(t, "a2", "U8@desk").Group.ID, "its assignment is gone")
}
