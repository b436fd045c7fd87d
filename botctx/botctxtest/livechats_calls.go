package botctxtest

import (
	"context"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

// assignmentCalls are one call of each operation on assignments.
var assignmentCalls = []call{
	{domain: LiveChats, op: botctx.OpCreateAssignment, make: func(ctx context.Context, p *place) error {
		return errorOf(p.CreateAssignment(ctx, livechat.CreateAssignmentParams{}))
	}},
	{domain: LiveChats, op: botctx.OpAddNewTargetsToAssignment, make: func(ctx context.Context, p *place) error {
		params := livechat.AddNewTargetsToAssignmentParams{AssignmentID: "assignment", Targets: []livechat.NewTarget{{ID: "group"}}}
		if d := p.chat.desk; d != nil {
			params.AssignmentID = p.chat.waiting.ID
			params.Targets = []livechat.NewTarget{{ID: d.sales.ID, Type: d.sales.Type}}
		}
		return errorOf(p.AddNewTargetsToAssignment(ctx, params))
	}},
	{domain: LiveChats, op: botctx.OpReassignAssignment, mayFail: true, make: func(ctx context.Context, p *place) error {
		return errorOf(p.ReassignAssignment(ctx, livechat.ReassignAssignmentParams{
			Channel: p.outlet(), Label: "sales", PreviousAssignment: &livechat.Assignment{ID: p.assignmentID()},
		}))
	}},
	{domain: LiveChats, op: botctx.OpGetAssignment, make: func(ctx context.Context, p *place) error {
		return errorOf(p.GetAssignment(ctx, livechat.GetAssignmentParams{AssignmentID: p.assignmentID()}))
	}},
	{domain: LiveChats, op: botctx.OpGetAssignmentByOutlet, make: func(ctx context.Context, p *place) error {
		return errorOf(p.GetAssignmentByOutlet(ctx, livechat.GetAssignmentByOutletParams{ChannelID: p.outlet().ID}))
	}, needs: OutletLookups},
	{domain: LiveChats, op: botctx.OpGetAssignmentByBravoGroupID, mayFail: true, make: func(ctx context.Context, p *place) error {
		return errorOf(p.GetAssignmentByBravoGroupID(ctx, livechat.GetAssignmentByBravoGroupIDParams{BravoGroupID: p.groupExternalID()}))
	}},
	{domain: LiveChats, op: botctx.OpGetAssignmentsByMemberID, make: func(ctx context.Context, p *place) error {
		return errorOf(p.GetAssignmentsByMemberID(ctx, livechat.GetAssignmentsByMemberIDParams{MemberID: p.scope.Member}))
	}},
	{domain: LiveChats, op: botctx.OpGetAssignmentsByMeta, make: func(ctx context.Context, p *place) error {
		return errorOf(p.GetAssignmentsByMeta(ctx, livechat.GetAssignmentsByMetaParams{Meta: document.O()}))
	}},
	{domain: LiveChats, op: botctx.OpGetAssignmentsByParentAssignmentID, make: func(ctx context.Context, p *place) error {
		return errorOf(p.GetAssignmentsByParentAssignmentID(ctx, livechat.GetAssignmentsByParentAssignmentIDParams{
			AssignmentID: p.assignmentID(),
		}))
	}},
	{domain: LiveChats, op: botctx.OpUpdateAssignmentGroup, make: func(ctx context.Context, p *place) error {
		return errorOf(p.UpdateAssignmentGroup(ctx, livechat.UpdateAssignmentGroupParams{
			AssignmentID: p.assignmentID(), Group: &livechat.Group{ID: p.groupID()},
		}))
	}},
	{domain: LiveChats, op: botctx.OpUpdateAssignmentMeta, make: func(ctx context.Context, p *place) error {
		return errorOf(p.UpdateAssignmentMeta(ctx, livechat.UpdateAssignmentMetaParams{
			AssignmentID: p.assignmentID(), Meta: document.O("called", true),
		}))
	}},
	{domain: LiveChats, op: botctx.OpRemovePendingAssignmentByMemberID, make: func(ctx context.Context, p *place) error {
		return errorOf(p.RemovePendingAssignmentByMemberID(ctx, livechat.RemovePendingAssignmentByMemberIDParams{
			MemberID: p.scope.Member,
		}))
	}},
	{domain: LiveChats, op: botctx.OpEndLiveChat, mayFail: true, make: func(ctx context.Context, p *place) error {
		return errorOf(p.EndLiveChat(ctx, livechat.EndLiveChatParams{Channel: p.outlet(), MessageEvent: p.chat.event}))
	}},
	{domain: LiveChats, op: botctx.OpInletEndLiveChat, mayFail: true, make: func(ctx context.Context, p *place) error {
		return errorOf(p.InletEndLiveChat(ctx, livechat.InletEndLiveChatParams{}))
	}},
	{domain: LiveChats, op: botctx.OpEndBravoLiveChat, mayFail: true, make: func(ctx context.Context, p *place) error {
		return errorOf(p.EndBravoLiveChat(ctx, livechat.EndBravoLiveChatParams{
			AdminExternalID: "agent", BravoGroupID: p.groupExternalID(), ChannelID: p.outlet().ID,
		}))
	}},
}

// outlet returns the outlet of the live chat that was begun, as an address.
func (p *place) outlet() *channel.Channel {
	if p.chat.desk == nil {
		return &channel.Channel{ID: p.scope.Channel}
	}
	return &channel.Channel{ID: p.chat.desk.ID}
}

// assignmentID returns the id of the assignment of the live chat that was begun.
func (p *place) assignmentID() string {
	if p.chat.assignment == nil {
		return "assignment"
	}
	return p.chat.assignment.ID
}

// groupID returns the id of the group of the live chat that was begun.
func (p *place) groupID() string {
	if p.chat.group == nil {
		return "group"
	}
	return p.chat.group.ID
}

// groupExternalID returns the id on the platform of the group of the live chat that was begun.
func (p *place) groupExternalID() string {
	if p.chat.group == nil {
		return "group"
	}
	return p.chat.group.ExternalID
}
