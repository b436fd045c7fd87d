package livechats_test

import (
	"context"
	"maps"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// examined is a store that notes how many documents of live chat its calls look at, at most.
type examined struct {
	store.Store

	inner *memstore.Store
	mu    sync.Mutex
	most  int64
	where string
}

func (e *examined) Collection(name string) store.Collection {
	inner := e.Store.Collection(name)
	if name != "assignments" && name != "groups" && name != "members" {
		return inner
	}
	return &examinedCollection{Collection: inner, store: e, name: name}
}

func (e *examined) look(ctx context.Context, name string, filter *query.Filter, options store.FindOptions) error {
	found, err := e.inner.Explain(ctx, name, filter, options)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if found.Examined > e.most {
		e.most, e.where = found.Examined, name+" "+filter.Source().String()
	}
	return nil
}

type examinedCollection struct {
	store.Collection

	store *examined
	name  string
}

func (c *examinedCollection) Find(ctx context.Context, filter *query.Filter, options store.FindOptions) ([]document.Object, error) {
	if err := c.store.look(ctx, c.name, filter, options); err != nil {
		return nil, err
	}
	return c.Collection.Find(ctx, filter, options)
}

func (c *examinedCollection) Count(ctx context.Context, filter *query.Filter) (int64, error) {
	if err := c.store.look(ctx, c.name, filter, store.FindOptions{}); err != nil {
		return 0, err
	}
	return c.Collection.Count(ctx, filter)
}

func (c *examinedCollection) Update(
	ctx context.Context, filter *query.Filter, change query.Change, options store.UpdateOptions,
) (store.UpdateResult, error) {
	limit := int64(1)
	if options.Multi {
		limit = 0
	}
	if err := c.store.look(ctx, c.name, filter, store.FindOptions{Sort: options.Sort, Limit: limit}); err != nil {
		return store.UpdateResult{}, err
	}
	return c.Collection.Update(ctx, filter, change, options)
}

func (c *examinedCollection) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	if err := c.store.look(ctx, c.name, filter, store.FindOptions{Sort: options.Sort, Limit: 1}); err != nil {
		return store.FindAndModifyResult{}, err
	}
	return c.Collection.FindAndModify(ctx, filter, change, options)
}

func (c *examinedCollection) Delete(ctx context.Context, filter *query.Filter, options store.DeleteOptions) (int64, error) {
	if err := c.store.look(ctx, c.name, filter, store.FindOptions{}); err != nil {
		return 0, err
	}
	return c.Collection.Delete(ctx, filter, options)
}

// endedChats is how many chats of ada with the agent U7 are over, and how often the agent P7 was in the group G1 on
// Bravo.
const endedChats = 100

// withHistory returns the live chats of a fixture with ended chats, and the store that they work on.
func withHistory(t *testing.T, s *fixture) (*livechats.Service, *examined) {
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
	looked := &examined{Store: s.store, inner: s.store.(*memstore.Store)}
	env := s.mine.env
	env.Store = looked
	ports := s.mine.ports
	channels := channels.New(env, s.mine.scope)
	ports.Members = members.New(env, s.mine.scope, channels)
	return livechats.New(env, s.mine.scope, ports), looked
}

// liveChatEvents are what members and agents do, and what bot logic asks when they do.
func liveChatEvents(t *testing.T) map[string]func(*fixture, *livechats.Service) error {
	t.Helper()
	to := func(channelID string) *channel.Channel { return &channel.Channel{ID: channelID} }
	ada := &member.Member{ID: "ada"}
	return map[string]func(*fixture, *livechats.Service) error{
		"the member writes": func(_ *fixture, chats *livechats.Service) error {
			_, err := chats.RelayFromMember(t.Context(), "ada", *event("a", "", "hi"))
			return err
		},
		"the agent writes": func(_ *fixture, chats *livechats.Service) error {
			_, err := chats.RelayFromAgent(t.Context(), "desk", *event("U7", "", "hi"))
			return err
		},
		"an agent without a chat writes": func(_ *fixture, chats *livechats.Service) error {
			_, err := chats.GroupOf(t.Context(), "phone", *event("P7", "G1", "hi"))
			return err
		},
		"where it was asked": func(_ *fixture, chats *livechats.Service) error {
			_, err := chats.IsAskedHere(t.Context(), "ada")
			return err
		},
		"the agent ends it": func(_ *fixture, chats *livechats.Service) error {
			_, err := chats.EndLiveChat(t.Context(), livechat.EndLiveChatParams{Channel: to("desk"), MessageEvent: event("U7", "", "bye")})
			return err
		},
		"the member ends it": func(_ *fixture, chats *livechats.Service) error {
			_, err := chats.InletEndLiveChat(t.Context(), livechat.InletEndLiveChatParams{Member: ada})
			return err
		},
		"ended again": func(_ *fixture, chats *livechats.Service) error {
			end := livechat.EndLiveChatParams{Channel: to("desk"), MessageEvent: event("U7", "", "bye")}
			if _, err := chats.EndLiveChat(t.Context(), end); err != nil {
				return err
			}
			_, err := chats.EndLiveChat(t.Context(), end)
			require.Error(t, err)
			return nil
		},
		"asked anew": func(_ *fixture, chats *livechats.Service) error {
			if _, err := chats.InletEndLiveChat(t.Context(), livechat.InletEndLiveChatParams{Member: ada}); err != nil {
				return err
			}
			made, err := chats.CreateAssignment(t.Context(), livechat.CreateAssignmentParams{Member: ada})
			if err != nil {
				return err
			}
			_, err = chats.Take(t.Context(), livechat.TakeParams{AssignmentID: made.AssignmentID, ChannelID: "desk", AdminExternalID: "U7"})
			return err
		},
		"withdrawn": func(_ *fixture, chats *livechats.Service) error {
			_, err := chats.RemovePendingAssignmentByMemberID(t.Context(), livechat.RemovePendingAssignmentByMemberIDParams{MemberID: "ada"})
			return err
		},
		"handed on": func(_ *fixture, chats *livechats.Service) error {
			_, err := chats.ReassignAssignment(t.Context(), livechat.ReassignAssignmentParams{
				Channel: to("desk"), MessageEvent: event("U7", "", "x"), RelayMessage: "Who?", Label: "default",
			})
			return err
		},
		"idle": func(s *fixture, chats *livechats.Service) error {
			s.advance(livechat.IdleTimeout)
			if err := chats.Expire(t.Context(), agenda.Agenda{Member: "ada"}); err != nil {
				return err
			}
			return chats.Expire(t.Context(), agenda.Agenda{Member: "ada"})
		},
	}
}

// groupEvents are events in groups of Bravo, and what bot logic asks about groups.
func groupEvents(t *testing.T) map[string]func(*fixture, *livechats.Service) error {
	t.Helper()
	to := func(channelID string) *channel.Channel { return &channel.Channel{ID: channelID} }
	return map[string]func(*fixture, *livechats.Service) error{
		"joined on Bravo": func(_ *fixture, chats *livechats.Service) error {
			for range 2 {
				joins := livechat.HandleAdminJoinedGroupParams{Channel: to("phone"), BravoGroupID: "G1", ExternalID: "P7"}
				if _, err := chats.HandleAdminJoinedGroup(t.Context(), joins); err != nil {
					return err
				}
			}
			_, err := chats.UpdateAssignmentGroup(t.Context(), livechat.UpdateAssignmentGroupParams{AssignmentID: "open", BravoGroupID: "G1"})
			return err
		},
		"ended on Bravo": func(_ *fixture, chats *livechats.Service) error {
			_, err := chats.EndBravoLiveChat(t.Context(), livechat.EndBravoLiveChatParams{
				ChannelID: "phone", BravoGroupID: "G1", AdminExternalID: "P7",
			})
			return err
		},
		"its assignment on Bravo": func(_ *fixture, chats *livechats.Service) error {
			_, err := chats.GetAssignmentByBravoGroupID(t.Context(), livechat.GetAssignmentByBravoGroupIDParams{BravoGroupID: "G1"})
			return err
		},
		"groups": func(_ *fixture, chats *livechats.Service) error {
			if _, err := chats.GetGroupByExternalID(t.Context(), livechat.GetGroupByExternalIDParams{ChannelID: "phone", AdminExternalID: "P7"}); err != nil {
				return err
			}
			if _, err := chats.GetGroupByExternalID(t.Context(), livechat.GetGroupByExternalIDParams{ChannelID: "phone", GroupID: "G1"}); err != nil {
				return err
			}
			if _, err := chats.GetGroupByGroupExternalID(t.Context(), livechat.GetGroupByGroupExternalIDParams{GroupExternalID: "G1"}); err != nil {
				return err
			}
			if _, err := chats.GetGroupByInletGroup(t.Context(), livechat.GetGroupByInletGroupParams{Inlet: "web", InletGroupExternalID: "family"}); err != nil {
				return err
			}
			_, err := chats.GetGroupByMemberID(t.Context(), livechat.GetGroupByMemberIDParams{Inlet: "web", MemberID: "bob"})
			return err
		},
		"a group kept for the member": func(_ *fixture, chats *livechats.Service) error {
			_, err := chats.SaveGroupIDToMember(t.Context(), livechat.SaveGroupIDToMemberParams{
				Channel: to("phone"), MessageEvent: event("P7", "G1", "x"),
			})
			return err
		},
		"by outlet": func(_ *fixture, chats *livechats.Service) error {
			_, err := chats.GetAssignmentByOutlet(t.Context(), livechat.GetAssignmentByOutletParams{ChannelID: "desk"})
			return err
		},
	}
}

func TestGrowth_EventsLookAtFew(t *testing.T) {
	t.Parallel()
	events := liveChatEvents(t)
	maps.Copy(events, groupEvents(t))
	for name, do := range events {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			thatOnlySends(channel.Charlie)(&s.mine.ports)
			s.taken(t, "open", "ada", "U7@desk")
			chats, looked := withHistory(t, s)
			require.NoError(t, do(s, chats))
			require.LessOrEqual(t, looked.most, int64(4), looked.where)
		})
	}
}
