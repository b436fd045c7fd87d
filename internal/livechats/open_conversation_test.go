package livechats_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/livechat"
)

// directlyIn makes a request one that help has directly, and that it sent to a chat.
func directlyIn(group, chatID string) func(*livechat.AssignmentRecord) {
	return func(r *livechat.AssignmentRecord) {
		r.Direct, r.IsZendesk = "help", true
		r.Tickets = []livechat.Ticket{{
			ID: "t", Channel: "help", Type: channel.Foxtrot, Group: channel.BroadcastGroupMember{ID: group}, ChatID: chatID, SentAt: 1,
		}}
	}
}

func TestTake_ChatOfSeveralRequests(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ group, chat, chatOfBob string }{
		"the group that it was sent to":   {"team-1", "team-1", ""},
		"a broadcast group of the outlet": {"", "F1", ""},
		"that of another open request":    {"F1", "chat-F1", "chat-F1"},
	} {
		s := newFixture(t)
		s.pending(t, "a2", "bob", directlyIn(test.group, test.chatOfBob))
		took := s.taken(t, "a1", "ada", "eve@help", directlyIn(test.group, test.chat))
		require.Equal(t, "eve", took.Group.ExternalID, name)
	}
}

func TestTake_ChatInUse(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	require.Equal(t, "chat", s.taken(t, "a1", "ada", "eve@help", directlyIn("F1", "chat")).Group.ExternalID)
	s.change(t, "assignments", document.O("_id", "a1"), document.Set("tickets.0.chatId", "")) // Only its group is there.
	require.Equal(t, "mallory", s.taken(t, "a2", "bob", "mallory@help", directlyIn("F1", "chat")).Group.ExternalID)
	requireRelayed(t)(s.mine.RelayFromAgent(t.Context(), "help", *event("eve", "chat", "for ada")))
	requireRelayed(t)(s.mine.RelayFromAgent(t.Context(), "help", *event("mallory", "help", "for bob")))
	require.Equal(t, []string{"web: send to ada-web: for ada", "web: send to bob-web: for bob"}, s.platform.did())
}

func TestTake_GroupLeftLive(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	old := s.taken(t, "a1", "ada", "eve@help", directlyIn("F1", "chat")).Group
	s.change(t, "assignments", document.O("_id", "a1"), document.Set("endedAt", s.at(0), "endedBy", "outlet", "slot", "ended/a1"))
	require.Equal(t, "chat", s.taken(t, "a2", "bob", "eve@help", directlyIn("F1", "chat")).Group.ExternalID)
	require.False(t, s.group(t, old.ID).Active)
}

func TestTake_ConversationLeftLive(t *testing.T) {
	t.Parallel()
	s := newFixture(t, thatOnlySends(channel.Charlie))
	old := s.taken(t, "a1", "ada", "eve@desk").Group
	s.change(t, "assignments", document.O("_id", "a1"), document.Set("endedAt", s.at(0), "endedBy", "outlet", "slot", "ended/a1"))
	require.Equal(t, "eve", s.taken(t, "a2", "bob", "eve@desk").Group.ExternalID)
	require.False(t, s.group(t, old.ID).Active)
}

// sameRoom is a platform that calls every group alike.
type sameRoom struct{ *platform }

// CreateGroup implements livechat.GroupCreator.
func (p sameRoom) CreateGroup(ctx context.Context, in *channel.Channel, group livechat.NewGroup) (livechat.CreatedGroup, error) {
	_, err := p.platform.CreateGroup(ctx, in, group)
	return livechat.CreatedGroup{ExternalID: "room"}, err
}

func TestTake_GroupOfAnother(t *testing.T) {
	t.Parallel()
	s := newFixture(t, func(p *livechats.Ports) {
		all, ok := p.Connectors[channel.Charlie].(*platform)
		require.True(t, ok)
		p.Connectors[channel.Charlie] = sameRoom{all}
	})
	s.pending(t, "a1", "ada")
	s.pending(t, "a2", "bob")
	errs := map[string]error{}
	var both sync.WaitGroup
	var mutex sync.Mutex
	for _, id := range []string{"a1", "a2"} {
		both.Go(func() {
			_, err := s.mine.Take(t.Context(), livechat.TakeParams{AssignmentID: id, ChannelID: "desk", AdminExternalID: "of-" + id})
			mutex.Lock()
			defer mutex.Unlock()
			errs[id] = err
		})
	}
	both.Wait()
	require.LessOrEqual(t, len(s.groups(t, document.O("active", true))), 1)
	for id, err := range errs {
		require.Equal(t, err == nil, s.record(t, id).State() == livechat.Taken)
		if err != nil {
			require.ErrorIs(t, err, boterr.FailedPrecondition)
			require.ErrorContains(t, err, "the conversation room in the channel desk is that of the assignment a")
		}
	}
}

func TestCreateGroup_RoomInUse(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.mine.pair(t, "shop")
	s.web.Add("POST", shopAPI, web.JSON(200, `{"groupId": "room"}`), web.JSON(200, `{"groupId": "room"}`))
	first := s.mustAsk(t, `{"createGroup": {}}`)
	asBob := s.mine.as("web", "bob")
	ask := func() error {
		return errorOf(call(t, asBob.CreateAssignment, `{"createGroup": {}}`))
	}
	for range 2 {
		err := ask()
		require.ErrorIs(t, err, boterr.FailedPrecondition)
		require.ErrorContains(t, err, first.ID)
		require.False(t, s.mine.member(t, "bob").BotMeta.LiveChat())
		require.Len(t, s.groups(t, document.O()), 1)
	}
	requireRelayed(t)(s.mine.RelayFromAgent(t.Context(), "shop", *event("eve", "room", "card 42")))
	require.Equal(t, []string{"web: send to ada-web: card 42"}, s.platform.did())

	must(t, s.mine.InletEndLiveChat, `{}`)
	require.NoError(t, ask(), "the room is free again")
	require.Len(t, s.web.Requests(), 2, "the API has told already")
	require.True(t, s.mine.member(t, "bob").BotMeta.LiveChat())
}
