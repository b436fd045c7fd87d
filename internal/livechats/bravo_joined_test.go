package livechats_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// lateStore is a store in which something happens, once, before the next write to the groups.
// As in a database, an upsert looks for a document first and inserts one afterwards, which only
// a unique index can refuse.
type lateStore struct {
	store.Store

	happens func()
}

func (s *lateStore) Collection(name string) store.Collection {
	if name != "groups" {
		return s.Store.Collection(name)
	}
	return lateGroups{Collection: s.Store.Collection(name), store: s}
}

// write is what each write does first.
func (s *lateStore) write() {
	happens := s.happens
	s.happens = func() {}
	happens()
}

type lateGroups struct {
	store.Collection

	store *lateStore
}

func (c lateGroups) Insert(ctx context.Context, documents ...document.Object) error {
	c.store.write()
	return c.Collection.Insert(ctx, documents...)
}

func (c lateGroups) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	found, err := c.Find(ctx, filter, store.FindOptions{Limit: 1})
	if err != nil || len(found) > 0 || !options.Upsert {
		return c.Collection.FindAndModify(ctx, filter, change, options)
	}
	made, err := memstore.New().Collection("groups").FindAndModify(ctx, filter, change, options)
	if err != nil {
		return made, err
	}
	return made, c.Insert(ctx, made.Document)
}

// joins makes eve join a room of the channel phone.
const joins = `{"channel": {"_id": "phone"}, "externalId": "eve", "bravoGroupId": "room"}`

func TestHandleAdminJoinedGroup_TwiceAtOnce(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	late := &lateStore{Store: s.store, happens: func() { must(t, s.mine.HandleAdminJoinedGroup, joins) }}
	env := s.mine.env
	env.Store = late
	must(t, livechats.New(env, s.mine.scope, s.mine.ports).HandleAdminJoinedGroup, joins)
	require.Len(t, s.groups(t, document.O()), 1)
}

func TestHandleAdminJoinedGroup_WhileItEnds(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	late := &lateStore{Store: s.store, happens: func() {
		must(t, s.mine.HandleAdminJoinedGroup, joins)
		must(t, s.mine.EndBravoLiveChat, `{"channelId": "phone", "adminExternalId": "eve", "bravoGroupId": "room"}`)
	}}
	env := s.mine.env
	env.Store = late
	must(t, livechats.New(env, s.mine.scope, s.mine.ports).HandleAdminJoinedGroup, joins)
	require.Len(t, s.groups(t, document.O()), 2)
	require.Len(t, s.groups(t, document.O("active", true)), 1)
}

func TestHandleAdminJoinedGroup_AfterTheEnd(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	for nth := range 3 {
		must(t, s.mine.HandleAdminJoinedGroup, joins)
		must(t, s.mine.HandleAdminJoinedGroup, joins)
		require.Len(t, s.groups(t, document.O()), nth+1)
		require.Len(t, s.groups(t, document.O("active", true)), 1)
		must(t, s.mine.EndBravoLiveChat, `{"channelId": "phone", "adminExternalId": "eve", "bravoGroupId": "room"}`)
	}
}

func TestHandleAdminJoinedGroup_RecordMovedAway(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	must(t, s.mine.HandleAdminJoinedGroup, joins)
	moved := s.groups(t, document.O())[0].ID
	must(t, s.mine.UpdateGroup, `{"group": {"_id": "`+moved+`", "externalId": "hall"}}`)
	must(t, s.mine.HandleAdminJoinedGroup, joins)
	require.Len(t, s.groups(t, document.O("externalId", "room")), 1)
}

func TestHandleAdminJoinedGroup_ManyAtOnce(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	const agents, times = 5, 20
	errs := make([]error, agents*times)
	var joining sync.WaitGroup
	for i := range errs {
		joining.Go(func() {
			_, errs[i] = s.mine.HandleAdminJoinedGroup(t.Context(), livechat.HandleAdminJoinedGroupParams{
				Channel: &channel.Channel{ID: "phone"}, ExternalID: "agent-" + strconv.Itoa(i%agents), BravoGroupID: "room",
			})
		})
	}
	joining.Wait()
	require.NoError(t, errors.Join(errs...))
	recorded := map[string]int{}
	for _, g := range s.groups(t, document.O("active", true)) {
		recorded[g.AdminExternalID]++
	}
	require.Len(t, recorded, agents)
	for agent, records := range recorded {
		require.Equal(t, 1, records, agent)
	}
}

// namer is a connector to Bravo that tells what groups are called.
type namer struct {
	send.Connector
	livechat.InviteLinker

	tell func() (string, error)
}

func (n namer) GroupName(context.Context, *channel.Channel, string) (string, error) { return n.tell() }

// thatNames makes the connector to Bravo answer so to who asks for the name of a group.
func thatNames(tell func() (string, error)) func(*livechats.Ports) {
	return func(p *livechats.Ports) {
		linker, _ := p.Connectors[channel.Bravo].(livechat.InviteLinker)
		p.Connectors[channel.Bravo] = namer{Connector: p.Connectors[channel.Bravo], InviteLinker: linker, tell: tell}
	}
}

func TestHandleAdminJoinedGroup_Name(t *testing.T) {
	t.Parallel()
	s := newFixture(t, thatNames(func() (string, error) { return "Kettles", nil }))
	r := s.mustAsk(t, `{"assignmentDetails": {"groupName": "Order 7"}}`)
	must(t, s.mine.HandleAdminJoinedGroup, joins)
	g := s.groups(t, document.O())[0]
	require.Equal(t, "Kettles", g.Name)
	must(t, s.mine.UpdateAssignmentGroup, `{"assignmentId": "`+r.ID+`", "group": {"_id": "`+g.ID+`"}}`)
	require.Equal(t, "Kettles", s.group(t, g.ID).Name, "that of the request does not take its place")
}

func TestHandleAdminJoinedGroup_NameOfRequest(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]func(*livechats.Ports){
		"no port": nil, "no name": {thatNames(func() (string, error) { return "", nil })},
	} {
		s := newFixture(t, options...)
		r := s.mustAsk(t, `{"assignmentDetails": {"groupName": "Order 7"}}`)
		must(t, s.mine.HandleAdminJoinedGroup, joins)
		g := s.groups(t, document.O())[0]
		require.Empty(t, g.Name, name)
		must(t, s.mine.UpdateAssignmentGroup, `{"assignmentId": "`+r.ID+`", "group": {"_id": "`+g.ID+`"}}`)
		require.Equal(t, "Order 7", s.group(t, g.ID).Name, name)
	}
}

func TestHandleAdminJoinedGroup_NameFails(t *testing.T) {
	t.Parallel()
	for code, field := range map[boterr.Code]string{boterr.Unavailable: "", boterr.NotFound: "bravoGroupId"} {
		s := newFixture(t, thatNames(func() (string, error) { return "", boterr.New(code, "", "no") }))
		_, err := call(t, s.mine.HandleAdminJoinedGroup, joins)
		require.ErrorIs(t, err, code)
		refusal, _ := boterr.AsError(err)
		require.Equal(t, field, refusal.Field)
		require.Empty(t, s.groups(t, document.O()))
	}
}

func TestEndLiveChat_GroupOfTheSecondAgent(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	group := s.taken(t, "a1", "ada", "eve@phone").Group.ExternalID
	must(t, s.mine.HandleAdminJoinedGroup, `{"channel": {"_id": "phone"}, "externalId": "hedy", "bravoGroupId": "`+group+`"}`)
	said := `{"channel": {"_id": "phone"}, "messageEvent": {"from": "hedy", "to": "` + group + `"}}`
	must(t, s.mine.SaveGroupIDToMember, said)
	require.NotEqual(t, s.record(t, "a1").Group, s.mine.member(t, "ada").Group, "it is hedy's record of the conversation")
	must(t, s.mine.EndLiveChat, said)
	require.Empty(t, s.mine.member(t, "ada").Group)
}
