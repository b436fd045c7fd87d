// Package livechat hands the conversation with a member over to a person: it keeps the
// requests for that, sends them to where agents answer, and relays what both sides write
// until it ends.
//
//   - To ask for a person, call CreateAssignment of botctx.Context with
//     [CreateAssignmentParams].
//   - To end a live chat, call EndLiveChat for the agent and InletEndLiveChat for the member,
//     see [Operations].
//   - To report that an agent took a ticket on the outlet's platform, give [TakeParams] to
//     TakeTicket of a botctx.Runtime in a host.
//
// A member of an inlet channel asks for a person. The request is an Assignment. Outlet channels get it: most
// as Tickets, one for each of their broadcast groups, and one agent takes one of them; a custom channel or a
// helpdesk takes the request directly. The conversation between the agent and the member is a Group. State is
// the progress of an assignment.
//
// Bot logic calls Operations. A host calls methods of botctx.Runtime, such as SaveAdmin and TakeTicket.
// Connectors of platforms where agents answer offer the ports, such as GroupCreator.
package livechat

import (
	"context"

	"github.com/botctx/go-sdk/send"
)

// Operations are the operations of live chat: on assignments, on groups and agents, and
// the sends that need one of these.
//
// Records of another app do not exist for them. A record passed as a parameter is only a reference. Without a
// channel or a member, the operations use the context's own. A required parameter that is missing is
// InvalidArgument.
type Operations interface {
	// CreateAssignment asks for a person to take over the conversation with a member. The
	// member's botMeta.liveChat is true when it returns.
	//
	// Targets say where the request goes. Without them it goes to the channels that are paired with
	// the member's own and are on. The first of these that has no tickets takes it alone: one of
	// type custom, or one of type foxtrot with a broadcast group of Label. If there is none, each
	// broadcast group with Label, in all of these channels, gets a ticket.
	//
	// If a request of the member is open already, the call returns it and sends nothing. If an earlier call
	// sent it in part, this call sends the rest, as that call asked. If another call is sending it at this
	// moment, this call waits for that one. A hand-over that a crash interrupted is completed.
	//
	// Outlets that refuse it for good, such as a group that does not exist, are left out: the request is open
	// without them, and the member is in live chat. If no outlet got it, there is no request.
	//
	// Errors:
	//   - InvalidArgument: Targets hold something that is no target, or a message breaks a
	//     limit of its type.
	//   - NotFound: the member, or the channel of a target, does not exist in the app.
	//   - FailedPrecondition: nothing can take the request: no channel is paired, none has
	//     broadcast groups of that label, or the channel is off.
	//   - FailedPrecondition: the member has no id on the platform.
	//   - Unsupported: the host has no connector for an outlet's type, or no HTTP client for
	//     a live-chat API, or gives no addresses of histories and History is true.
	//   - Unavailable: an outlet did not answer. Repeating the call sends only what is
	//     missing. The error names each target that is missing, and *UnsentError behind it
	//     has them.
	//   - Conflict: another call has been sending the request for long, or it was withdrawn
	//     meanwhile.
	//
	// Specification: Live-chat operations.
	CreateAssignment(ctx context.Context, p CreateAssignmentParams) (CreateAssignmentResult, error)

	// AddNewTargetsToAssignment sends the ticket of an untaken request to further targets. A target
	// that already got it gets no second one.
	//
	// Errors:
	//   - InvalidArgument: Targets hold something that is neither a target nor a broadcast
	//     group.
	//   - NotFound: the app has no assignment with that id, or no channel of a target.
	//   - FailedPrecondition: the assignment has been taken or has ended, or a target can
	//     take nothing.
	//   - Unavailable: an outlet did not answer. Repeating the call sends only what is
	//     missing, but for what was refused for good.
	//   - Conflict: another call has been sending the request for long, or it was withdrawn
	//     meanwhile.
	//
	// Specification: Live-chat operations.
	AddNewTargetsToAssignment(ctx context.Context, p AddNewTargetsToAssignmentParams) (AddNewTargetsToAssignmentResult, error)

	// ReassignAssignment hands a live chat on to others: the previous assignment ends, and a new one names it
	// as its parent. Values that the call does not give come from the previous one. It is for outlet channels
	// of type bravo, charlie and delta.
	//
	// The new one goes where a request of the member with that label would go; if a channel that is not
	// paired hands it on, it goes to that channel. Until all of it is sent, the previous one goes on. While
	// the new one is untaken, the same call again returns it. If an outlet refuses it for good, it is handed
	// on to the others.
	//
	// Errors:
	//   - InvalidArgument: PreviousAssignment is not the assignment that MessageEvent leads
	//     to.
	//   - NotFound: no assignment belongs to the event, or the app has none with that _id,
	//     or has no such channel.
	//   - FailedPrecondition: the previous assignment has ended, or nothing can take the
	//     request, or InletGroup is true and the conversation is no group there.
	//   - Unsupported: the channel is not of type bravo, charlie or delta; or the host has
	//     no connector for an outlet's type.
	//   - Unavailable: an outlet did not answer. Repeating the call sends only what is
	//     missing.
	//   - Conflict: another call has been sending the request for long, or it was withdrawn
	//     meanwhile.
	//
	// Specification: Live-chat operations.
	ReassignAssignment(ctx context.Context, p ReassignAssignmentParams) (ReassignAssignmentResult, error)

	// UpdateAssignmentGroup sets the group of an assignment. Both then name each other, and a
	// request that is open is taken by the agent who is in the group, with all that belongs to that:
	// the summary goes into the group, and the tickets show who has it. In place of Group the
	// BravoGroupID alone may be given, also before an agent has joined: then HandleAdminJoinedGroup
	// does the rest. If the group is not live or belongs to another live chat, or the assignment
	// has ended, the group is set and nothing more. If the summary or a ticket could not be sent,
	// the agent has the request, the error is Unavailable, and the same call again does the rest.
	//
	// Errors:
	//   - NotFound: the app has no assignment with that id, or no group with that _id.
	//
	// Specification: Live-chat operations.
	UpdateAssignmentGroup(ctx context.Context, p UpdateAssignmentGroupParams) (UpdateAssignmentResult, error)

	// UpdateAssignmentMeta sets the given fields of an assignment's meta; others stay. A
	// field may be a dotted path. One that cannot be set is InvalidArgument.
	//
	// Errors:
	//   - NotFound: the app has no assignment with that id.
	//
	// Specification: Live-chat operations.
	UpdateAssignmentMeta(ctx context.Context, p UpdateAssignmentMetaParams) (UpdateAssignmentResult, error)

	// RemovePendingAssignmentByMemberID withdraws the untaken request of a member: the record is removed, its
	// tickets are recalled if the platform can do that, and the member is no longer in live chat. A member
	// without such a request is no error. If a ticket could not be recalled, the error is Unavailable; the
	// request is withdrawn all the same, and the same call again does the rest.
	//
	// Specification: Live-chat operations.
	RemovePendingAssignmentByMemberID(
		ctx context.Context, p RemovePendingAssignmentByMemberIDParams) (RemovePendingAssignmentByMemberIDResult, error)

	// EndLiveChat ends a live chat from the outlet's side. The assignment is the one that
	// MessageEvent belongs to.
	//
	// Errors:
	//   - NotFound: the channel does not exist in the app, or no assignment belongs to the
	//     event.
	//   - FailedPrecondition: the assignment has ended.
	//
	// Specification: Live-chat operations.
	EndLiveChat(ctx context.Context, p EndParams) (EndResult, error)

	// InletEndLiveChat ends the live chat of a member from the inlet's side. A channel that the
	// member is not in is InvalidArgument.
	//
	// Errors:
	//   - NotFound: the channel or the member does not exist in the app.
	//   - FailedPrecondition: the member has no assignment that is open.
	//   - Unsupported: Options.RecallRelayMessage is true, and the outlet cannot recall
	//     tickets.
	//
	// Specification: Live-chat operations.
	InletEndLiveChat(ctx context.Context, p InletEndParams) (EndResult, error)

	// GetAssignment reads an assignment by its id.
	//
	// Errors:
	//   - NotFound: the app has no assignment with that id.
	//
	// Specification: Live-chat operations.
	GetAssignment(ctx context.Context, p GetAssignmentParams) (*Assignment, error)

	// GetAssignmentByOutlet reads the newest assignment in an outlet channel that has not ended: taken there,
	// sent to the channel directly, or not taken yet and with a ticket there. If its meta is a filter, one
	// that has operators, the context's member must match it; an assignment whose meta does not match is
	// passed over.
	//
	// Errors:
	//   - NotFound: the channel does not exist in the app, or no open assignment is there.
	//
	// Specification: Live-chat operations.
	GetAssignmentByOutlet(ctx context.Context, p GetAssignmentByOutletParams) (*Assignment, error)

	// GetAssignmentByBravoGroupID reads the newest assignment of a group on Bravo.
	//
	// Errors:
	//   - NotFound: the app has no assignment of that group.
	//
	// Specification: Live-chat operations.
	GetAssignmentByBravoGroupID(ctx context.Context, p GetAssignmentByBravoGroupIDParams) (*Assignment, error)

	// GetAssignmentsByMemberID reads all assignments of a member, the ended ones included.
	//
	// Errors:
	//   - InvalidArgument: SortBy holds something other than 1 and -1.
	//
	// Specification: Live-chat operations.
	GetAssignmentsByMemberID(ctx context.Context, p GetAssignmentsByMemberIDParams) ([]*Assignment, error)

	// GetAssignmentsByMeta reads the assignments whose meta holds the given data: each of its fields
	// is there and equal, as a filter compares; meta may have other fields. A field may be a dotted
	// path.
	//
	// Errors:
	//   - InvalidArgument: Meta has an operator in the place of a field or a value.
	//
	// Specification: Live-chat operations.
	GetAssignmentsByMeta(ctx context.Context, p GetAssignmentsByMetaParams) ([]*Assignment, error)

	// GetAssignmentsByParentAssignmentID reads the assignments that one was handed on to.
	//
	// Specification: Live-chat operations.
	GetAssignmentsByParentAssignmentID(ctx context.Context, p GetAssignmentsByParentAssignmentIDParams) ([]*Assignment, error)

	// GetGroup reads a group by its id.
	//
	// Errors:
	//   - NotFound: the app has no group with that id.
	//
	// Specification: Group and admin operations.
	GetGroup(ctx context.Context, p GetGroupParams) (*Group, error)

	// GetGroupByExternalID reads the newest group of an agent, or with the given id, in an
	// outlet channel. One that is live comes before one that is not.
	//
	// Errors:
	//   - NotFound: no group fits.
	//
	// Specification: Group and admin operations.
	GetGroupByExternalID(ctx context.Context, p GetGroupByExternalIDParams) (*Group, error)

	// GetGroupByGroupExternalID reads the newest group with an id on the outlet's platform.
	// One that is live comes before one that is not.
	//
	// Errors:
	//   - NotFound: the app has no such group.
	//
	// Specification: Group and admin operations.
	GetGroupByGroupExternalID(ctx context.Context, p GetGroupByGroupExternalIDParams) (*Group, error)

	// GetGroupByInletGroup reads the newest group that belongs to a group conversation on the
	// inlet's side. One that is live comes before one that is not.
	//
	// Errors:
	//   - NotFound: no group fits.
	//
	// Specification: Group and admin operations.
	GetGroupByInletGroup(ctx context.Context, p GetGroupByInletGroupParams) (*Group, error)

	// GetGroupByMemberID reads the newest group of a member of an inlet channel. One that is
	// live comes before one that is not.
	//
	// Errors:
	//   - NotFound: no group fits.
	//
	// Specification: Group and admin operations.
	GetGroupByMemberID(ctx context.Context, p GetGroupByMemberIDParams) (*Group, error)

	// UpdateGroup sets the given fields of a group; fields that are not given stay.
	//
	// Errors:
	//   - InvalidArgument: Group has no _id, or a value of another type than the field has,
	//     or would change app or createdAt.
	//   - NotFound: the app has no group with that _id.
	//
	// Specification: Group and admin operations.
	UpdateGroup(ctx context.Context, p UpdateGroupParams) (UpdateGroupResult, error)

	// UpdateGroupMeta sets the given fields of a group's meta; others stay. A field may be a
	// dotted path. One that cannot be set is InvalidArgument.
	//
	// Errors:
	//   - NotFound: the app has no group with that id.
	//
	// Specification: Group and admin operations.
	UpdateGroupMeta(ctx context.Context, p UpdateGroupMetaParams) (UpdateGroupResult, error)

	// InactivateGroup marks a group as no longer live and no longer valid.
	//
	// Errors:
	//   - NotFound: the app has no group with that id.
	//
	// Specification: Group and admin operations.
	InactivateGroup(ctx context.Context, p InactivateGroupParams) (RecordUpdate, error)

	// CreateHotelChannel makes a channel on Hotel. It makes no channel of the app.
	//
	// Errors:
	//   - NotFound: the channel does not exist in the app.
	//   - Unsupported: the channel is not of type hotel; or the host's connector makes no
	//     channels.
	//
	// Specification: Group and admin operations.
	CreateHotelChannel(ctx context.Context, p CreateHotelChannelParams) (CreateHotelChannelResult, error)

	// EndBravoLiveChat ends the live chats of an agent in a group on Bravo. The result has
	// one element for each assignment that ended. A live group of the agent without one is
	// put out of use, and has an element without an assignment.
	//
	// Errors:
	//   - InvalidArgument: Channel and ChannelID name different records.
	//   - NotFound: the channel does not exist in the app, or has no such group.
	//   - Unsupported: the channel is not of type bravo; or the host's connector does not
	//     offer this.
	//
	// Specification: Live-chat operations.
	EndBravoLiveChat(ctx context.Context, p EndBravoParams) ([]EndBravoResult, error)

	// HandleAdminJoinedGroup records that an agent joined a group on Bravo: it makes the group's record, puts
	// the invitation link out of use, and makes a new one unless IsRenewGroupInviteLink is false. The result
	// is the new link, "" without one. If a request has the group by its id on Bravo, the agent takes it, as
	// with UpdateAssignmentGroup.
	//
	// Errors:
	//   - NotFound: the channel does not exist in the app, or has no such group.
	//   - Unsupported: the channel is not of type bravo; or the host's connector has no
	//     invitation links.
	//
	// Specification: Group and admin operations.
	HandleAdminJoinedGroup(ctx context.Context, p HandleAdminJoinedGroupParams) (string, error)

	// CreateBravoGroup makes a group on Bravo. If Bravo did not answer, whether the group was
	// made is not known, and the error is Unavailable.
	//
	// Errors:
	//   - NotFound: the channel does not exist in the app.
	//   - Unsupported: the channel is not of type bravo; or the host's connector makes no
	//     groups.
	//
	// Specification: Group and admin operations.
	CreateBravoGroup(ctx context.Context, p CreateBravoGroupParams) (CreateBravoGroupResult, error)

	// DisableBravoGroupInviteLink puts the invitation link of a group on Bravo out of use.
	//
	// Errors:
	//   - NotFound: the channel does not exist in the app, or has no such group.
	//   - Unsupported: the channel is not of type bravo; or the host's connector has no
	//     invitation links.
	//
	// Specification: Group and admin operations.
	DisableBravoGroupInviteLink(ctx context.Context, p DisableBravoGroupInviteLinkParams) (DisableBravoGroupInviteLinkResult, error)

	// SetBravoGroupIcon gives a group on Bravo the picture at an address. One that could not be
	// fetched is Unavailable.
	//
	// Errors:
	//   - InvalidArgument: ImageURL is no HTTP address, or one that the host does not allow.
	//   - NotFound: the channel does not exist in the app, or has no such group.
	//   - ResourceExhausted: the picture is larger than the host allows.
	//   - Unsupported: the channel is not of type bravo; or the host's connector sets no
	//     icons.
	//
	// Specification: Group and admin operations.
	SetBravoGroupIcon(ctx context.Context, p SetBravoGroupIconParams) (SetBravoGroupIconResult, error)

	// GetAdmin reads an agent by the id.
	//
	// Errors:
	//   - NotFound: the app has no agent with that id.
	//
	// Specification: Group and admin operations.
	GetAdmin(ctx context.Context, p GetAdminParams) (*Admin, error)

	// GetAdminByExternalID reads an agent by the id on the outlet's platform.
	//
	// Errors:
	//   - NotFound: the app has no agent with that id.
	//
	// Specification: Group and admin operations.
	GetAdminByExternalID(ctx context.Context, p GetAdminByExternalIDParams) (*Admin, error)

	// SendMessageToInlet sends a message from the outlet conversation that MessageEvent
	// belongs to, to the member. {{path}} in it is filled from the member.
	//
	// Errors:
	//   - InvalidArgument: Response breaks a limit of its type; the error has the path, such
	//     as response.buttons[3].title.
	//   - NotFound: the channel does not exist in the app, or no assignment belongs to the
	//     event.
	//   - Unsupported: the host has no connector for the channel's type.
	//   - ResourceExhausted: the platform's rate limit was reached.
	//   - Unavailable: the platform did not answer, so whether the message arrived is not
	//     known.
	//   - FailedPrecondition: the member has no id on the platform.
	//
	// Specification: Sending operations.
	SendMessageToInlet(ctx context.Context, p SendMessageToInletParams) (send.Result, error)

	// SendMessageToInletGroup sends a message to the group conversation on the inlet's side.
	// It is for inlets of type bravo and delta.
	//
	// Errors:
	//   - InvalidArgument: Group and GroupID name different groups.
	//   - InvalidArgument: Response breaks a limit of its type; the error has the path, such
	//     as response.buttons[3].title.
	//   - NotFound: the app has no group with that id.
	//   - FailedPrecondition: the group is not live any more, or the conversation on the
	//     inlet's side is no group.
	//   - Unsupported: the channel is not of type delta or bravo; or the host has no
	//     connector for it.
	//   - ResourceExhausted: the platform's rate limit was reached.
	//   - Unavailable: the platform did not answer, so whether the message arrived is not
	//     known.
	//
	// Specification: Sending operations.
	SendMessageToInletGroup(ctx context.Context, p SendMessageToInletGroupParams) (send.Result, error)

	// SendMessageToOutletGroup sends a message to the group conversation on the outlet's
	// side. It is for outlets of type bravo, charlie and delta.
	//
	// Errors:
	//   - InvalidArgument: Group and GroupID name different groups.
	//   - InvalidArgument: Response breaks a limit of its type; the error has the path, such
	//     as response.buttons[3].title.
	//   - InvalidArgument: ResponseURL is no HTTP address, or one that the host does not
	//     allow.
	//   - NotFound: the app has no group with that id.
	//   - FailedPrecondition: the group is not live any more.
	//   - Unsupported: the channel is not of type delta, bravo or charlie; or the host has
	//     no connector for it.
	//   - ResourceExhausted: the platform's rate limit was reached.
	//   - Unavailable: the platform did not answer, so whether the message arrived is not
	//     known.
	//
	// Specification: Sending operations.
	SendMessageToOutletGroup(ctx context.Context, p SendMessageToOutletGroupParams) (send.Result, error)

	// SaveGroupIDToMember keeps the group that an event belongs to in the group of the
	// member.
	//
	// Errors:
	//   - NotFound: the channel does not exist in the app, or no group or member belongs to
	//     the event.
	//
	// Specification: Sending operations.
	SaveGroupIDToMember(ctx context.Context, p SaveGroupIDToMemberParams) (SaveGroupIDToMemberResult, error)
}
