package botctxtest

import (
	"context"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// groupCalls are one call of each operation on groups and agents, and of the sends that need a
// group or an assignment.
var groupCalls = []call{
	{domain: LiveChats, op: botctx.OpGetGroup, make: func(ctx context.Context, p *place) error {
		return errorOf(p.GetGroup(ctx, livechat.GetGroupParams{GroupID: p.groupID()}))
	}},
	{domain: LiveChats, op: botctx.OpGetGroupByExternalID, make: func(ctx context.Context, p *place) error {
		return errorOf(p.GetGroupByExternalID(ctx, livechat.GetGroupByExternalIDParams{
			GroupID: p.groupExternalID(), ChannelID: p.outlet().ID,
		}))
	}},
	{domain: LiveChats, op: botctx.OpGetGroupByGroupExternalID, make: func(ctx context.Context, p *place) error {
		return errorOf(p.GetGroupByGroupExternalID(ctx, livechat.GetGroupByGroupExternalIDParams{GroupExternalID: p.groupExternalID()}))
	}},
	{domain: LiveChats, op: botctx.OpGetGroupByInletGroup, mayFail: true, make: func(ctx context.Context, p *place) error {
		return errorOf(p.GetGroupByInletGroup(ctx, livechat.GetGroupByInletGroupParams{
			Inlet: p.scope.Channel, InletGroupExternalID: "family",
		}))
	}},
	{domain: LiveChats, op: botctx.OpGetGroupByMemberID, make: func(ctx context.Context, p *place) error {
		return errorOf(p.GetGroupByMemberID(ctx, livechat.GetGroupByMemberIDParams{Inlet: p.scope.Channel, MemberID: p.scope.Member}))
	}},
	{domain: LiveChats, op: botctx.OpUpdateGroup, make: func(ctx context.Context, p *place) error {
		return errorOf(p.UpdateGroup(ctx, livechat.UpdateGroupParams{Group: document.O("_id", p.groupID(), "name", "Called")}))
	}},
	{domain: LiveChats, op: botctx.OpUpdateGroupMeta, make: func(ctx context.Context, p *place) error {
		return errorOf(p.UpdateGroupMeta(ctx, livechat.UpdateGroupMetaParams{GroupID: p.groupID(), Meta: document.O("called", true)}))
	}},
	{domain: LiveChats, op: botctx.OpInactivateGroup, mayFail: true, make: func(ctx context.Context, p *place) error {
		return errorOf(p.InactivateGroup(ctx, livechat.InactivateGroupParams{GroupID: p.groupID()}))
	}},
	{domain: LiveChats, op: botctx.OpHandleAdminJoinedGroup, mayFail: true, make: func(ctx context.Context, p *place) error {
		return errorOf(p.HandleAdminJoinedGroup(ctx, livechat.HandleAdminJoinedGroupParams{
			Channel: p.outlet(), ExternalID: "agent", BravoGroupID: p.groupExternalID(),
		}))
	}},
	{domain: LiveChats, op: botctx.OpCreateBravoGroup, mayFail: true, make: func(ctx context.Context, p *place) error {
		return errorOf(p.CreateBravoGroup(ctx, livechat.CreateBravoGroupParams{ChannelID: p.outlet().ID, Name: "Orders"}))
	}},
	{domain: LiveChats, op: botctx.OpDisableBravoGroupInviteLink, mayFail: true, make: func(ctx context.Context, p *place) error {
		return errorOf(p.DisableBravoGroupInviteLink(ctx, livechat.DisableBravoGroupInviteLinkParams{
			Channel: p.outlet(), ExternalID: p.groupExternalID(),
		}))
	}},
	{domain: LiveChats, op: botctx.OpSetBravoGroupIcon, mayFail: true, make: func(ctx context.Context, p *place) error {
		return errorOf(p.SetBravoGroupIcon(ctx, livechat.SetBravoGroupIconParams{
			ChannelID: p.outlet().ID, ImageURL: "https://pictures.example/icon", BravoGroupID: p.groupExternalID(),
		}))
	}},
	{domain: LiveChats, op: botctx.OpCreateHotelChannel, mayFail: true, make: func(ctx context.Context, p *place) error {
		return errorOf(p.CreateHotelChannel(ctx, livechat.CreateHotelChannelParams{
			Channel: p.outlet(), HotelGroupID: "floor", DisplayName: "Lobby",
		}))
	}},
	{domain: LiveChats, op: botctx.OpGetAdmin, make: func(ctx context.Context, p *place) error {
		return errorOf(p.GetAdmin(ctx, livechat.GetAdminParams{AdminID: p.agent().AdminID}))
	}},
	{domain: LiveChats, op: botctx.OpGetAdminByExternalID, make: func(ctx context.Context, p *place) error {
		return errorOf(p.GetAdminByExternalID(ctx, livechat.GetAdminByExternalIDParams{ExternalID: p.agent().ExternalID}))
	}},
	{domain: LiveChats, op: botctx.OpSendMessageToInlet, make: func(ctx context.Context, p *place) error {
		return errorOf(p.SendMessageToInlet(ctx, livechat.SendMessageToInletParams{
			Channel: p.outlet(), MessageEvent: p.chat.event, Response: send.Text("Hello"),
		}))
	}},
	{domain: LiveChats, op: botctx.OpSendMessageToInletGroup, mayFail: true, make: func(ctx context.Context, p *place) error {
		return errorOf(p.SendMessageToInletGroup(ctx, livechat.SendMessageToInletGroupParams{
			GroupID: p.groupID(), Response: send.Text("Hello"),
		}))
	}},
	{domain: LiveChats, op: botctx.OpSendMessageToOutletGroup, make: func(ctx context.Context, p *place) error {
		return errorOf(p.SendMessageToOutletGroup(ctx, livechat.SendMessageToOutletGroupParams{
			GroupID: p.groupID(), Response: send.Text("Hello"),
		}))
	}},
	{domain: LiveChats, op: botctx.OpSaveGroupIDToMember, make: func(ctx context.Context, p *place) error {
		return errorOf(p.SaveGroupIDToMember(ctx, livechat.SaveGroupIDToMemberParams{Channel: p.outlet(), MessageEvent: p.chat.event}))
	}},
}

// agent returns the agent of the live chat that was begun.
func (p *place) agent() *Agent {
	if p.chat.desk == nil {
		return &Agent{ExternalID: "agent", AdminID: "admin"}
	}
	return p.chat.desk.agent
}
