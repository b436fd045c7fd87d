package livechats_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/agendas"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// pending stores a request of a member that is open, with a ticket in each of C1 and U1 of
// desk, D1 of team and B1 of phone, and the member's flag and idle agenda.
func (s *fixture) pending(t *testing.T, id, memberID string, changes ...func(*livechat.AssignmentRecord)) {
	t.Helper()
	r := &livechat.AssignmentRecord{
		Assignment: livechat.Assignment{
			ID: id, App: "mine", Version: 1, Inlet: "web", Member: memberID, Meta: document.O(), Targets: []livechat.Target{},
			CreatedAt: s.at(0), UpdatedAt: s.at(0), Expiry: s.at(livechat.IdleTimeout),
		},
		Progress: livechat.Progress{Slot: "member/" + memberID, SentAt: s.at(0)},
		Label:    livechat.DefaultLabel, Summary: "Order 7, for {{firstName}}", GroupName: "Order 7", LiveChatAgenda: true,
	}
	for _, to := range []struct {
		channel, group string
		kind           channel.Type
	}{{"desk", "C1", channel.Charlie}, {"desk", "U1", channel.Charlie}, {"team", "D1", channel.Delta}, {"phone", "B1", channel.Bravo}} {
		r.Tickets = append(r.Tickets, livechat.Ticket{
			ID: "ticket-" + to.group, Channel: to.channel, Type: to.kind, Group: channel.BroadcastGroupMember{ID: to.group},
			MessageID: "message-" + to.group, SentAt: s.at(0),
		})
	}
	for _, change := range changes {
		change(r)
	}
	encoded, err := document.Encode(r)
	require.NoError(t, err)
	require.NoError(t, s.store.Collection("assignments").Insert(t.Context(), encoded))
	if r.State() == livechat.Ended {
		return
	}
	_, err = s.mine.members.PatchMembers(t.Context(), member.PatchMembersParams{
		MemberID: memberID, Patch: document.O("botMeta.liveChat", true),
	})
	require.NoError(t, err)
	if r.LiveChatAgenda {
		_, err = s.mine.agendas.NewAgenda(t.Context(), agenda.NewAgendaParams{
			MemberID: memberID, NodeCompositeID: "livechat:idle", NextRunAt: r.Expiry, Replace: true, Tag: "livechat:idle",
		})
		require.NoError(t, err)
	}
}

// onlyIn leaves the tickets of one channel.
func onlyIn(channelID string) func(*livechat.AssignmentRecord) {
	return func(r *livechat.AssignmentRecord) {
		var left []livechat.Ticket
		for _, ticket := range r.Tickets {
			if ticket.Channel == channelID {
				left = append(left, ticket)
			}
		}
		r.Tickets = left
	}
}

// taken stores a request of a member, and makes an agent take it in a channel, such as
// "eve@desk". What the platform noted of it is forgotten.
func (s *fixture) taken(t *testing.T, id, memberID, by string, changes ...func(*livechat.AssignmentRecord)) *livechat.TakeResult {
	t.Helper()
	s.pending(t, id, memberID, changes...)
	agent, channelID, _ := strings.Cut(by, "@")
	took, err := s.mine.Take(t.Context(), livechat.TakeParams{AssignmentID: id, ChannelID: channelID, AdminExternalID: agent})
	require.NoError(t, err)
	s.platform.forget()
	return took
}

// saveAdmin stores an agent with a name.
func (s *fixture) saveAdmin(t *testing.T, id, externalID, name string) {
	t.Helper()
	s.put(t, "admins", `{"_id": "mine/`+id+`", "app": "mine", "appId": "mine", "adminId": "`+id+`", "externalId": "`+externalID+`", "name": "`+name+`"}`)
}

// group returns a group as it is stored.
func (s *fixture) group(t *testing.T, id string) *livechat.Group {
	t.Helper()
	groups := s.groups(t, document.O("_id", id))
	require.Len(t, groups, 1)
	return groups[0]
}

// groups returns the groups that match, as they are stored.
func (s *fixture) groups(t *testing.T, filter document.Object) []*livechat.Group {
	t.Helper()
	which, err := query.CompileFilter(filter)
	require.NoError(t, err)
	found, err := s.store.Collection("groups").Find(t.Context(), which, store.FindOptions{})
	require.NoError(t, err)
	groups := make([]*livechat.Group, len(found))
	for i, o := range found {
		require.NoError(t, document.Decode(o, &groups[i]))
	}
	return groups
}

// event is a text that somebody wrote somewhere.
func event(from, to, text string) *send.MessageEvent {
	return &send.MessageEvent{From: from, To: to, Type: send.TypeText, Data: document.O("text", text)}
}

// requireOver asserts that the live chat of an assignment has ended with all that belongs to
// it.
func (s *fixture) requireOver(t *testing.T, id, memberID string, by livechat.EndedBy) {
	t.Helper()
	r := s.record(t, id)
	require.Equal(t, livechat.Ended, r.State())
	require.Equal(t, by, r.EndedBy)
	require.Equal(t, "ended/"+id, r.Slot)
	require.NotZero(t, r.ClosedAt)
	require.Zero(t, r.Expiry)
	require.Empty(t, s.groups(t, document.O("assignment", id, "active", true)))
	require.False(t, s.mine.member(t, memberID).BotMeta.LiveChat())
	require.Empty(t, s.mine.openAgendas(t, memberID))
}

// errInterrupted is how a store fails that is interrupted.
var errInterrupted = errors.New("interrupted")

// interrupted returns the live chats of the app on a store that stops to work after so many
// writes, and a function that tells whether it came to that.
func (s *fixture) interrupted(writes int) (*livechats.Service, func() bool) {
	hasBroken := false
	return s.on(&countingStore{Store: s.store, left: writes, then: func() error {
		hasBroken = true
		return boterr.New(boterr.Unavailable, "", "%w", errInterrupted)
	}}), func() bool { return hasBroken }
}

// meanwhile returns the live chats of the app on a store in which something happens between
// so many writes and the next one, and a function that tells whether it came to that.
func (s *fixture) meanwhile(writes int, happens func()) (*livechats.Service, func() bool) {
	hasHappened := false
	return s.on(&countingStore{Store: s.store, left: writes, then: func() error {
		if !hasHappened {
			hasHappened = true
			happens()
		}
		return nil
	}}), func() bool { return hasHappened }
}

// on returns the live chats of mine on another store.
func (s *fixture) on(store store.Store) *livechats.Service {
	a := s.mine
	env := a.env
	env.Store = store
	channels := channels.New(env, a.scope)
	ports := a.ports
	members := members.New(env, a.scope, channels)
	ports.Channels, ports.Members = channels, members
	ports.Agendas = agendas.New(env, a.scope, agendas.Ports{Members: members})
	return livechats.New(env, a.scope, ports)
}

// countingStore is a store that asks before each write once there were some.
type countingStore struct {
	store.Store

	left int
	then func() error
}

func (b *countingStore) Collection(name string) store.Collection {
	return &countingCollection{Collection: b.Store.Collection(name), store: b}
}

func (b *countingStore) write() error {
	if b.left == 0 {
		return b.then()
	}
	b.left--
	return nil
}
