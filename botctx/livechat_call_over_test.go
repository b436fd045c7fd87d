package botctx_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// idsOf puts ids in the place of what stands for them.
type idsOf func(text string) string

// What is typed on one side of a door and JSON on the other is the same as what is typed on
// both: of two platforms that are alike, one is called through a door.
func TestLiveChatsOverCallAreTheSame(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(context.Context, botctx.Operations, idsOf) (any, error){
		"createAssignment": func(ctx context.Context, bot botctx.Operations, _ idsOf) (any, error) {
			return bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{
				AssignmentDetails: livechat.AssignmentDetails{
					Summary: "It leaks.", GroupName: "Kettles", Unknown: document.O("queue", "vip"),
					RelayMessage: map[channel.Type]send.Response{channel.Charlie: send.Text("{{firstName}} asks.")},
				},
				Label: "sales", History: true, Meta: document.O("b", 1, "a", 2), SetLiveChatAgenda: new(false),
				Targets: []livechat.Target{{Channel: "desk", BroadcastGroups: []channel.BroadcastGroupMember{{Type: "user", ID: "u"}}}},
			})
		},
		"addNewTargetsToAssignment": func(ctx context.Context, bot botctx.Operations, ids idsOf) (any, error) {
			return bot.AddNewTargetsToAssignment(ctx, livechat.AddNewTargetsToAssignmentParams{
				AssignmentID: ids("<bob's assignment>"), LiveChat: new(false),
				Targets: []livechat.NewTarget{{ID: "sales", Type: "public_channel"}, {Channel: "phone", Label: "sales"}},
			})
		},
		"reassignAssignment": func(ctx context.Context, bot botctx.Operations, ids idsOf) (any, error) {
			return bot.ReassignAssignment(ctx, livechat.ReassignAssignmentParams{
				Channel:            &channel.Channel{ID: "desk"},
				MessageEvent:       &send.MessageEvent{Type: send.TypeText, From: ids("<gus's agent>"), To: ids("<gus's conversation>"), Data: document.O("text", "hi")},
				Label:              "sales",
				PreviousAssignment: &livechat.Assignment{ID: ids("<gus's assignment>")}, Meta: document.O("a.b", 1),
			})
		},
		"getAssignmentsByMeta": func(ctx context.Context, bot botctx.Operations, _ idsOf) (any, error) {
			return bot.GetAssignmentsByMeta(ctx, livechat.GetAssignmentsByMetaParams{Meta: document.O("who", "dora")})
		},
		"getGroupByInletGroup": func(ctx context.Context, bot botctx.Operations, _ idsOf) (any, error) {
			return bot.GetGroupByInletGroup(ctx, livechat.GetGroupByInletGroupParams{Inlet: "family", InletGroupExternalID: "family of hal"})
		},
		"updateGroup": func(ctx context.Context, bot botctx.Operations, ids idsOf) (any, error) {
			return bot.UpdateGroup(ctx, livechat.UpdateGroupParams{
				Group: document.O("_id", ids("<dora's group>"), "meta", document.O("z", 1, "a", nil), "valid", false),
			})
		},
		"inletEndLiveChat": func(ctx context.Context, bot botctx.Operations, _ idsOf) (any, error) {
			return bot.InletEndLiveChat(ctx, livechat.InletEndLiveChatParams{
				Member: &member.Member{ID: "fay"}, Options: livechat.InletEndLiveChatOptions{RecallRelayMessage: true},
			})
		},
		"endBravoLiveChat": func(ctx context.Context, bot botctx.Operations, ids idsOf) (any, error) {
			return bot.EndBravoLiveChat(ctx, livechat.EndBravoLiveChatParams{
				AdminExternalID: ids("<hal's agent>"), BravoGroupID: ids("<hal's conversation>"), ChannelID: "phone",
			})
		},
		"handleAdminJoinedGroup": func(ctx context.Context, bot botctx.Operations, ids idsOf) (any, error) {
			return bot.HandleAdminJoinedGroup(ctx, livechat.HandleAdminJoinedGroupParams{
				Channel: &channel.Channel{ID: "phone"}, ExternalID: ids("<hal's agent>"), BravoGroupID: ids("<hal's conversation>"),
			})
		},
		"setBravoGroupIcon": func(ctx context.Context, bot botctx.Operations, ids idsOf) (any, error) {
			return bot.SetBravoGroupIcon(ctx, livechat.SetBravoGroupIconParams{
				ChannelID: "phone", ImageURL: icon, BravoGroupID: ids("<hal's conversation>"),
			})
		},
		"createHotelChannel": func(ctx context.Context, bot botctx.Operations, _ idsOf) (any, error) {
			return bot.CreateHotelChannel(ctx, livechat.CreateHotelChannelParams{
				Channel: &channel.Channel{ID: "hotel"}, HotelGroupID: "lobby", DisplayName: "Kettles",
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			here, bot := newCaller(t)
			want, err := call(t.Context(), bot, idsOfLiveChats(t, here).Replace)
			require.NoError(t, err)
			there, caller := newCaller(t)
			got, err := call(t.Context(), botctx.OverCall(caller), idsOfLiveChats(t, there).Replace)
			require.NoError(t, err)
			require.Equal(t, want, got)
			require.Equal(t, stateOf(t, here), stateOf(t, there))
		})
	}
}

// A send to Charlie and to Echo answers without a message event, so that what comes through
// a door is what the JSON has.
func TestSendsOfLiveChatsOverCallHaveWhatTheJSONHas(t *testing.T) {
	t.Parallel()
	p, bot := newCaller(t)
	typed := botctx.OverCall(bot)
	ids := idsOfLiveChats(t, p)
	toInlet, err := typed.SendMessageToInlet(t.Context(), livechat.SendMessageToInletParams{
		Channel:      &channel.Channel{ID: "desk"},
		MessageEvent: &send.MessageEvent{From: ids.Replace("<dora's agent>"), To: ids.Replace("<dora's conversation>")},
		Response:     send.Text("Hello"),
	})
	require.NoError(t, err)
	last := p.Sent()[len(p.Sent())-1]
	require.Equal(t, "dora", last.Member)
	require.Equal(t, last.MessageID, toInlet.MessageEvent.MessageID)
	require.Equal(t, send.Text("Hello"), toInlet.MessageEvent.Response())

	toGroup, err := typed.SendMessageToInletGroup(t.Context(), livechat.SendMessageToInletGroupParams{
		GroupID: ids.Replace("<hal's group>"), Response: send.Text("Hello"),
	})
	require.NoError(t, err)
	require.Equal(t, "family of hal", toGroup.MessageEvent.To)

	_, err = typed.SendMessageToOutletGroup(t.Context(), livechat.SendMessageToOutletGroupParams{
		Group: &livechat.Group{ID: ids.Replace("<dora's group>")}, Response: send.Text("Bye"),
	})
	require.NoError(t, err)
	require.Equal(t, "Bye", p.Sent()[len(p.Sent())-1].Response.Text())
}

func TestErrorsOfLiveChatsComeThroughADoor(t *testing.T) {
	t.Parallel()
	_, bot := newCaller(t)
	typed := botctx.OverCall(bot)
	_, err := typed.GetGroup(t.Context(), livechat.GetGroupParams{GroupID: "none"})
	requireFailure(t, err, "getGroup", boterr.NotFound, "groupId")
	_, err = typed.CreateBravoGroup(t.Context(), livechat.CreateBravoGroupParams{ChannelID: "desk", Name: "x"})
	requireFailure(t, err, "createBravoGroup", boterr.Unsupported, "channelId")
	_, err = typed.EndLiveChat(t.Context(), livechat.EndLiveChatParams{})
	requireFailure(t, err, "endLiveChat", boterr.InvalidArgument, "messageEvent")
}
