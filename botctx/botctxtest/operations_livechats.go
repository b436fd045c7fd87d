package botctxtest

import (
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
)

// ofAssignment is input with the id of the assignment of the live chat.
func ofAssignment(p *place) document.Object { return document.O("assignmentId", p.assignmentID()) }

// ofEvent is input with what the agent wrote in the group of the live chat.
func ofEvent(p *place) document.Object { return document.O("messageEvent", p.event()) }

var assignmentOperations = []operation{
	{
		op: botctx.OpCreateAssignment, call: calling(botctx.Operations.CreateAssignment), scene: anOpenDesk,
		refuses: badCreateAssignment, findsNot: strangeTargets,
		input: func(*place) document.Object { return document.O("meta", document.O("n", 1)) },
	}, {
		op: botctx.OpAddNewTargetsToAssignment, call: calling(botctx.Operations.AddNewTargetsToAssignment), scene: atInlet,
		names: []string{"assignmentId"}, refuses: badNewTargets, findsNot: strangeNewTargets,
		input: func(p *place) document.Object {
			return document.O("assignmentId", p.waitingID(), "targets", document.A(document.O("channel", p.desk().ID, "label", "sales")))
		},
	}, {
		op: botctx.OpReassignAssignment, call: calling(botctx.Operations.ReassignAssignment), scene: atDesk, isOnce: true,
		names: []string{"messageEvent.to"}, refuses: badReassignments, findsNot: strangeTargets,
		input: func(p *place) document.Object { return document.O("label", "sales", "messageEvent", p.event()) },
	}, {
		op: botctx.OpGetAssignment, call: calling(botctx.Operations.GetAssignment), scene: atInlet,
		names: []string{"assignmentId"}, input: ofAssignment,
	}, {
		op: botctx.OpGetAssignmentByOutlet, call: calling(botctx.Operations.GetAssignmentByOutlet), needs: []Capability{OutletLookups},
		scene: atInlet, names: []string{"channelId"}, findsNot: idleOutlets,
		input: func(p *place) document.Object { return document.O("channelId", p.desk().ID) },
	}, {
		op: botctx.OpGetAssignmentByBravoGroupID, call: calling(botctx.Operations.GetAssignmentByBravoGroupID), scene: atBravoDesk,
		names: []string{"bravoGroupId"},
		input: func(p *place) document.Object { return document.O("bravoGroupId", p.group().ExternalID) },
	}, {
		op: botctx.OpGetAssignmentsByMemberID, call: calling(botctx.Operations.GetAssignmentsByMemberID), scene: atInlet,
		input:   func(p *place) document.Object { return document.O("memberId", p.scope.Member) },
		refuses: func(*trial, *place) []change { return each("sortBy", badSorts) },
	}, {
		op: botctx.OpGetAssignmentsByMeta, call: calling(botctx.Operations.GetAssignmentsByMeta), scene: atInlet,
		input: func(*place) document.Object { return document.O("meta", document.O("text", "x")) }, refuses: noFilters,
	}, {
		op: botctx.OpGetAssignmentsByParentAssignmentID, call: calling(botctx.Operations.GetAssignmentsByParentAssignmentID),
		scene: handedOn, input: ofAssignment,
	}, {
		op: botctx.OpUpdateAssignmentGroup, call: calling(botctx.Operations.UpdateAssignmentGroup), scene: atInlet,
		names: []string{"assignmentId"},
		input: func(p *place) document.Object {
			return document.O("assignmentId", p.waitingID(), "group", document.O("_id", p.group().ID))
		},
	}, {
		op: botctx.OpUpdateAssignmentMeta, call: calling(botctx.Operations.UpdateAssignmentMeta), scene: atInlet,
		names: []string{"assignmentId"}, refuses: noSettings,
		input: func(p *place) document.Object { return ofAssignment(p).With("meta", document.O("called", true)) },
	}, {
		op: botctx.OpRemovePendingAssignmentByMemberID, call: calling(botctx.Operations.RemovePendingAssignmentByMemberID),
		scene: atInlet, input: func(p *place) document.Object { return document.O("memberId", p.scope.Member) },
	}, {
		op: botctx.OpEndLiveChat, call: calling(botctx.Operations.EndLiveChat), scene: atDesk, isOnce: true,
		names: []string{"messageEvent.to"}, findsNot: otherOutlets, input: ofEvent,
	}, {
		op: botctx.OpInletEndLiveChat, call: calling(botctx.Operations.InletEndLiveChat), scene: atInlet, isOnce: true,
		input: func(*place) document.Object { return document.O() },
		refuses: func(_ *trial, p *place) []change {
			return []change{{"another channel than the member's", document.O("channel", document.O("_id", p.desk().ID)), "channel"}}
		},
	}, {
		op: botctx.OpEndBravoLiveChat, call: calling(botctx.Operations.EndBravoLiveChat), scene: atBravoDesk, isOnce: true,
		names: []string{"bravoGroupId"},
		input: func(p *place) document.Object {
			return document.O("adminExternalId", p.desk().agent.ExternalID, "bravoGroupId", p.group().ExternalID)
		},
	},
}

var groupOperations = []operation{
	{
		op: botctx.OpGetGroup, call: calling(botctx.Operations.GetGroup), scene: atInlet, names: []string{"groupId"},
		input: func(p *place) document.Object { return document.O("groupId", p.group().ID) },
	}, {
		op: botctx.OpGetGroupByExternalID, call: calling(botctx.Operations.GetGroupByExternalID), scene: atDesk,
		names: []string{"adminExternalId"}, lookedFor: "adminExternalId",
		input: func(p *place) document.Object { return document.O("adminExternalId", p.desk().agent.ExternalID) },
	}, {
		op: botctx.OpGetGroupByGroupExternalID, call: calling(botctx.Operations.GetGroupByGroupExternalID), scene: atInlet,
		names: []string{"groupExternalId"},
		input: func(p *place) document.Object { return document.O("groupExternalId", p.group().ExternalID) },
	}, {
		op: botctx.OpGetGroupByInletGroup, call: calling(botctx.Operations.GetGroupByInletGroup), scene: inFamily,
		names: []string{"inletGroupExternalId"},
		input: func(p *place) document.Object {
			return document.O("inlet", p.scope.Channel, "inletGroupExternalId", p.scope.GroupExternalID)
		},
	}, {
		op: botctx.OpGetGroupByMemberID, call: calling(botctx.Operations.GetGroupByMemberID), scene: atInlet,
		names: []string{"memberId"},
		input: func(p *place) document.Object {
			return document.O("inlet", p.scope.Channel, "memberId", p.scope.Member)
		},
	}, {
		op: botctx.OpUpdateGroup, call: calling(botctx.Operations.UpdateGroup), scene: atInlet, names: []string{"group._id"},
		refuses: badUpdateGroup,
		input: func(p *place) document.Object {
			return document.O("group", document.O("_id", p.group().ID, "name", "Called", "meta.text", "x"))
		},
	}, {
		op: botctx.OpUpdateGroupMeta, call: calling(botctx.Operations.UpdateGroupMeta), scene: withMeta, names: []string{"groupId"},
		refuses: noSettings,
		input: func(p *place) document.Object {
			return document.O("groupId", p.group().ID, "meta", document.O("called", true))
		},
	}, {
		op: botctx.OpInactivateGroup, call: calling(botctx.Operations.InactivateGroup), scene: atInlet, names: []string{"groupId"},
		isOnce: true, input: func(p *place) document.Object { return document.O("groupId", p.group().ID) },
	}, {
		op: botctx.OpHandleAdminJoinedGroup, call: calling(botctx.Operations.HandleAdminJoinedGroup), scene: atBravoDesk,
		names: []string{"bravoGroupId"}, isOnce: true, findsNot: otherBravoGroups("bravoGroupId"),
		input: func(p *place) document.Object {
			return document.O("externalId", p.desk().agent.ExternalID, "bravoGroupId", p.prepared.bravoGroup)
		},
	}, {
		op: botctx.OpCreateBravoGroup, call: calling(botctx.Operations.CreateBravoGroup), scene: atBravoDesk,
		input: func(*place) document.Object { return document.O("name", "Orders") },
	}, {
		op: botctx.OpDisableBravoGroupInviteLink, call: calling(botctx.Operations.DisableBravoGroupInviteLink), scene: atBravoDesk,
		names: []string{"externalId"}, findsNot: otherBravoGroups("externalId"),
		input: func(p *place) document.Object { return document.O("externalId", p.prepared.bravoGroup) },
	}, {
		op: botctx.OpSetBravoGroupIcon, call: calling(botctx.Operations.SetBravoGroupIcon), scene: atBravoPictures,
		names: []string{"bravoGroupId"}, findsNot: otherBravoGroups("bravoGroupId"), refuses: badPictures,
		input: func(p *place) document.Object {
			return document.O("imageUrl", p.url, "bravoGroupId", p.prepared.bravoGroup)
		},
	}, {
		op: botctx.OpCreateHotelChannel, call: calling(botctx.Operations.CreateHotelChannel), scene: onHotel,
		needs: liveChatNeeds()[1:],
		input: func(*place) document.Object { return document.O("hotelGroupId", "floor", "displayName", "Lobby") },
	}, {
		op: botctx.OpGetAdmin, call: calling(botctx.Operations.GetAdmin), scene: atInlet, names: []string{"adminId"},
		input: func(p *place) document.Object { return document.O("adminId", p.desk().agent.AdminID) },
		findsNot: func(_ *trial, p *place) []change {
			return []change{{"by the id on the platform", document.O("adminId", p.desk().agent.ExternalID), "adminId"}}
		},
	}, {
		op: botctx.OpGetAdminByExternalID, call: calling(botctx.Operations.GetAdminByExternalID), scene: atInlet,
		names: []string{"externalId"},
		input: func(p *place) document.Object { return document.O("externalId", p.desk().agent.ExternalID) },
		findsNot: func(_ *trial, p *place) []change {
			return []change{{"by the agent's own id", document.O("externalId", p.desk().agent.AdminID), "externalId"}}
		},
	},
}

// relayOperations are those that hand what one side of a live chat says on to the other.
var relayOperations = []operation{
	{
		op: botctx.OpSendMessageToInlet, call: calling(botctx.Operations.SendMessageToInlet), scene: atDesk,
		names: []string{"messageEvent.to"}, findsNot: otherOutlets, refuses: badFilled,
		input: func(p *place) document.Object { return saying("messageEvent", p.event())(p) },
	}, {
		op: botctx.OpSendMessageToInletGroup, call: calling(botctx.Operations.SendMessageToInletGroup), scene: inFamily,
		names: []string{"groupId"}, refuses: badGroupSends,
		input: func(p *place) document.Object { return saying("groupId", p.group().ID)(p) },
	}, {
		op: botctx.OpSendMessageToOutletGroup, call: calling(botctx.Operations.SendMessageToOutletGroup), scene: atInlet,
		names: []string{"groupId"}, refuses: badGroupSends,
		input: func(p *place) document.Object { return saying("groupId", p.group().ID)(p) },
	}, {
		op: botctx.OpSaveGroupIDToMember, call: calling(botctx.Operations.SaveGroupIDToMember), scene: atDesk,
		names: []string{"messageEvent.to"}, findsNot: otherOutlets, input: ofEvent,
	},
}
