// Package livechat hands the conversation with a member over to a person: it stores requests for a person,
// sends them to agents, and relays the messages of both sides until the live chat ends.
//
//   - To ask for a person, call CreateAssignment of botctx.Context with [CreateAssignmentParams].
//   - To end a live chat, call EndLiveChat for the agent or InletEndLiveChat for the member; see
//     [Operations].
//   - To report that an agent took a ticket on the outlet's platform, call TakeTicket of botctx.Runtime with
//     [TakeParams].
//
// A member of an inlet channel asks for a person. The request is an Assignment. It goes to outlet channels:
// most get Tickets, one for each of their broadcast groups, and one agent takes one of them; a custom channel
// or a helpdesk takes the request directly. The conversation between the agent and the member is a Group.
// State is the progress of an assignment.
//
// Bot logic calls Operations. A host calls methods of botctx.Runtime, such as SaveAdmin and TakeTicket.
// Connectors of platforms with agents offer ports such as GroupCreator.
package livechat

import (
	"context"

	"github.com/botctx/go-sdk/send"
)

// Operations are the operations of live chat: on assignments, on groups and agents, and the sends within live
// chats.
//
// They cannot see records of another app. A record passed as a parameter is only a reference: its id is used,
// and other fields are ignored. If the parameters name no channel or member, the context's own is used. A
// missing required parameter is InvalidArgument.
type Operations interface {
	// CreateAssignment asks for a person to take over the conversation with a member. The member's
	// botMeta.liveChat is true when it returns.
	//
	// Targets are the recipients of the request. By default they are the channels that are paired with the
	// member's own and switched on. The first of these without tickets takes it alone: a channel of type
	// custom, or of type foxtrot with a broadcast group of Label. If there is none, each broadcast group with
	// Label, in all of these channels, gets a ticket.
	//
	// If a request of the member is already open, the call returns it and sends nothing. If an earlier call
	// sent it partly, this call sends the rest, with that call's parameters. If another call is sending it at
	// this moment, this call waits for that one. An interrupted hand-over is completed.
	//
	// Outlets that refuse the request for good, for example because a group does not exist, are left out: the
	// request is open without them, and the member is in live chat. If no outlet got it, there is no request.
	//
	// Errors:
	//   - InvalidArgument: Targets has an invalid target, or a message breaks a limit of its type.
	//   - NotFound: the member, or the channel of a target, does not exist in the app.
	//   - FailedPrecondition: no outlet can take the request: no channel is paired, none has broadcast groups
	//     with that label, or the channel is switched off.
	//   - FailedPrecondition: the member has no id on the platform.
	//   - Unsupported: the host has no connector for an outlet's type, or no HTTP client for a live-chat API,
	//     or has no addresses for histories and History is true.
	//   - Unavailable: an outlet did not answer. Repeating the call sends only the missing messages. The
	//     error names each missing target, and wraps an *UnsentError that lists them.
	//   - Conflict: another call has been sending the request for too long, or it was withdrawn meanwhile.
	//
	// Specification: Live-chat operations.
	CreateAssignment(ctx context.Context, p CreateAssignmentParams) (CreateAssignmentResult, error)

	// AddNewTargetsToAssignment sends the ticket of an untaken request to further targets. A target that
	// already has the ticket gets no second one.
	//
	// Errors:
	//   - InvalidArgument: Targets has an element that is neither a target nor a broadcast group.
	//   - NotFound: the app has no assignment with that id, or no channel of a target.
	//   - FailedPrecondition: the assignment has been taken or has ended, or a target cannot take a ticket.
	//   - Unavailable: an outlet did not answer. Repeating the call sends only the missing tickets, except
	//     those refused for good.
	//   - Conflict: another call has been sending the request for too long, or it was withdrawn meanwhile.
	//
	// Specification: Live-chat operations.
	AddNewTargetsToAssignment(ctx context.Context, p AddNewTargetsToAssignmentParams) (AddNewTargetsToAssignmentResult, error)

	// ReassignAssignment hands a live chat on to other agents: the previous assignment ends, and its id
	// becomes the parentAssignment of a new one. Values that the call omits come from the previous one. It is
	// for outlet channels of type bravo, charlie, delta and desk.
	//
	// The new assignment goes to the same targets as a new request of the member with that label, and to the
	// channel that hands it on, even if that channel is not paired. The previous assignment stays open until
	// everything is sent. While the new assignment is untaken, a repeated call returns it. Outlets that refuse
	// it for good are left out.
	//
	// Errors:
	//   - InvalidArgument: PreviousAssignment is not the assignment that MessageEvent belongs to.
	//   - NotFound: no assignment belongs to the event, the app has no assignment with that _id, or the
	//     channel does not exist in the app.
	//   - FailedPrecondition: the previous assignment has ended, or no outlet can take the request, or
	//     InletGroup is true and the conversation on the inlet's side is not a group.
	//   - Unsupported: the channel is not of type bravo, charlie, delta or desk; or the host has no connector for an
	//     outlet's type.
	//   - Unavailable: an outlet did not answer. Repeating the call sends only the missing messages.
	//   - Conflict: another call has been sending the request for too long, or it was withdrawn meanwhile.
	//
	// Specification: Live-chat operations.
	ReassignAssignment(ctx context.Context, p ReassignAssignmentParams) (ReassignAssignmentResult, error)

	// UpdateAssignmentGroup sets the group of an assignment. Both then refer to each other, and the agent
	// in the group takes an open request: the summary goes into the group, and the tickets show who has the
	// request. Without Group, BravoGroupID may be given before an agent has joined; HandleAdminJoinedGroup
	// then completes the work. If the group is not live or belongs to another live chat, or if the assignment
	// has ended, only the group is set. If the summary or a ticket could not be sent, the agent has the
	// request, the error is Unavailable, and a repeated call completes the work.
	//
	// Errors:
	//   - NotFound: the app has no assignment with that id, or no group with that _id.
	//
	// Specification: Live-chat operations.
	UpdateAssignmentGroup(ctx context.Context, p UpdateAssignmentGroupParams) (UpdateAssignmentResult, error)

	// UpdateAssignmentMeta sets the given fields of an assignment's meta and keeps the others. A field may be
	// a dotted path. A field that cannot be set is InvalidArgument.
	//
	// Errors:
	//   - NotFound: the app has no assignment with that id.
	//
	// Specification: Live-chat operations.
	UpdateAssignmentMeta(ctx context.Context, p UpdateAssignmentMetaParams) (UpdateAssignmentResult, error)

	// RemovePendingAssignmentByMemberID withdraws the untaken request of a member: the record is removed, its
	// tickets are recalled if the platform can do that, and the member is no longer in live chat. It is not
	// an error if the member has no such request. If a ticket could not be recalled, the error is
	// Unavailable; the request is still withdrawn, and a repeated call recalls the rest.
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

	// InletEndLiveChat ends the live chat of a member from the inlet's side. A channel other than the
	// member's is InvalidArgument.
	//
	// Errors:
	//   - NotFound: the channel or the member does not exist in the app.
	//   - FailedPrecondition: the member has no open assignment.
	//   - Unsupported: Options.RecallRelayMessage is true, and the outlet cannot recall tickets.
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

	// GetAssignmentByOutlet reads the newest open assignment in an outlet channel: one taken there, sent to
	// the channel directly, or untaken with a ticket there. An assignment whose meta contains filter operators
	// is skipped if the context's member does not match the filter.
	//
	// Errors:
	//   - NotFound: the channel does not exist in the app, or has no open assignment.
	//
	// Specification: Live-chat operations.
	GetAssignmentByOutlet(ctx context.Context, p GetAssignmentByOutletParams) (*Assignment, error)

	// GetAssignmentByBravoGroupID reads the newest assignment of a group on Bravo.
	//
	// Errors:
	//   - NotFound: the app has no assignment with that group.
	//
	// Specification: Live-chat operations.
	GetAssignmentByBravoGroupID(ctx context.Context, p GetAssignmentByBravoGroupIDParams) (*Assignment, error)

	// GetAssignmentsByMemberID reads all assignments of a member, including ended ones.
	//
	// Errors:
	//   - InvalidArgument: SortBy has a value other than 1 and -1.
	//
	// Specification: Live-chat operations.
	GetAssignmentsByMemberID(ctx context.Context, p GetAssignmentsByMemberIDParams) ([]*Assignment, error)

	// GetAssignmentsByMeta reads the assignments whose meta contains the given data: each given field must
	// exist and be equal in the sense of filters; meta may have other fields. A field may be a dotted path.
	//
	// Errors:
	//   - InvalidArgument: Meta has an operator instead of a field or a value.
	//
	// Specification: Live-chat operations.
	GetAssignmentsByMeta(ctx context.Context, p GetAssignmentsByMetaParams) ([]*Assignment, error)

	// GetAssignmentsByParentAssignmentID reads the assignments to which an assignment was handed on.
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

	// GetGroupByExternalID reads the newest group in an outlet channel that has the given agent, the given id
	// on the platform, or both. Live groups take precedence.
	//
	// Errors:
	//   - NotFound: no group matches.
	//
	// Specification: Group and admin operations.
	GetGroupByExternalID(ctx context.Context, p GetGroupByExternalIDParams) (*Group, error)

	// GetGroupByGroupExternalID reads the newest group with an id on the outlet's platform. Live groups take
	// precedence.
	//
	// Errors:
	//   - NotFound: the app has no such group.
	//
	// Specification: Group and admin operations.
	GetGroupByGroupExternalID(ctx context.Context, p GetGroupByGroupExternalIDParams) (*Group, error)

	// GetGroupByInletGroup reads the newest group that belongs to a group conversation on the inlet's side.
	// Live groups take precedence.
	//
	// Errors:
	//   - NotFound: no group matches.
	//
	// Specification: Group and admin operations.
	GetGroupByInletGroup(ctx context.Context, p GetGroupByInletGroupParams) (*Group, error)

	// GetGroupByMemberID reads the newest group of a member of an inlet channel. Live groups take precedence.
	//
	// Errors:
	//   - NotFound: no group matches.
	//
	// Specification: Group and admin operations.
	GetGroupByMemberID(ctx context.Context, p GetGroupByMemberIDParams) (*Group, error)

	// UpdateGroup sets the given fields of a group and keeps the others.
	//
	// Errors:
	//   - InvalidArgument: Group has no _id, has a value that does not have the type of its field, or would
	//     change app or createdAt.
	//   - NotFound: the app has no group with that _id.
	//
	// Specification: Group and admin operations.
	UpdateGroup(ctx context.Context, p UpdateGroupParams) (UpdateGroupResult, error)

	// UpdateGroupMeta sets the given fields of a group's meta and keeps the others. A field may be a dotted
	// path. A field that cannot be set is InvalidArgument.
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

	// CreateHotelChannel creates a channel on Hotel. It does not add a channel to the app.
	//
	// Errors:
	//   - NotFound: the channel does not exist in the app.
	//   - Unsupported: the channel is not of type hotel, or the host's connector cannot create channels.
	//
	// Specification: Group and admin operations.
	CreateHotelChannel(ctx context.Context, p CreateHotelChannelParams) (CreateHotelChannelResult, error)

	// EndBravoLiveChat ends the live chats of an agent in a group on Bravo. The result has one element for
	// each assignment that ended. A live group of the agent without an assignment is deactivated, and has an
	// element without an assignment.
	//
	// Errors:
	//   - InvalidArgument: Channel and ChannelID name different records.
	//   - NotFound: the channel does not exist in the app, or has no such group.
	//   - Unsupported: the channel is not of type bravo, or the host's connector does not support this.
	//
	// Specification: Live-chat operations.
	EndBravoLiveChat(ctx context.Context, p EndBravoParams) ([]EndBravoResult, error)

	// HandleAdminJoinedGroup records that an agent joined a group on Bravo: it creates the group's record,
	// disables the invitation link, and creates a new one unless IsRenewGroupInviteLink is false. The result
	// is the new link, or "". If a request refers to the group by its id on Bravo, the agent takes it, as
	// with UpdateAssignmentGroup.
	//
	// Errors:
	//   - NotFound: the channel does not exist in the app, or has no such group.
	//   - Unsupported: the channel is not of type bravo, or the host's connector does not support invitation
	//     links.
	//
	// Specification: Group and admin operations.
	HandleAdminJoinedGroup(ctx context.Context, p HandleAdminJoinedGroupParams) (string, error)

	// CreateBravoGroup creates a group on Bravo. If Bravo did not answer, the error is Unavailable, and the
	// group may or may not exist.
	//
	// Errors:
	//   - NotFound: the channel does not exist in the app.
	//   - Unsupported: the channel is not of type bravo, or the host's connector cannot create groups.
	//
	// Specification: Group and admin operations.
	CreateBravoGroup(ctx context.Context, p CreateBravoGroupParams) (CreateBravoGroupResult, error)

	// DisableBravoGroupInviteLink disables the invitation link of a group on Bravo.
	//
	// Errors:
	//   - NotFound: the channel does not exist in the app, or has no such group.
	//   - Unsupported: the channel is not of type bravo, or the host's connector does not support invitation
	//     links.
	//
	// Specification: Group and admin operations.
	DisableBravoGroupInviteLink(ctx context.Context, p DisableBravoGroupInviteLinkParams) (DisableBravoGroupInviteLinkResult, error)

	// SetBravoGroupIcon sets the icon of a group on Bravo to the picture at an address. If the picture could
	// not be fetched, the error is Unavailable.
	//
	// Errors:
	//   - InvalidArgument: ImageURL is not an HTTP address, or is one that the host does not allow.
	//   - NotFound: the channel does not exist in the app, or has no such group.
	//   - ResourceExhausted: the picture is larger than the host allows.
	//   - Unsupported: the channel is not of type bravo, or the host's connector cannot set icons.
	//
	// Specification: Group and admin operations.
	SetBravoGroupIcon(ctx context.Context, p SetBravoGroupIconParams) (SetBravoGroupIconResult, error)

	// GetAdmin reads an agent by id.
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

	// SendMessageToInlet sends a message to the member of the live chat that MessageEvent belongs to.
	// {{path}} in it is filled from the member.
	//
	// Errors:
	//   - InvalidArgument: Response breaks a limit of its type; the error has the path, such as
	//     response.buttons[3].title.
	//   - NotFound: the channel does not exist in the app, or no assignment belongs to the event.
	//   - Unsupported: the host has no connector for the channel's type.
	//   - ResourceExhausted: the platform's rate limit was reached.
	//   - Unavailable: the platform did not answer, so the message may or may not have arrived.
	//   - FailedPrecondition: the member has no id on the platform.
	//
	// Specification: Sending operations.
	SendMessageToInlet(ctx context.Context, p SendMessageToInletParams) (send.Result, error)

	// SendMessageToInletGroup sends a message to the group conversation on the inlet's side. It is for inlets
	// of type bravo and delta.
	//
	// Errors:
	//   - InvalidArgument: Group and GroupID name different groups.
	//   - InvalidArgument: Response breaks a limit of its type; the error has the path, such as
	//     response.buttons[3].title.
	//   - NotFound: the app has no group with that id.
	//   - FailedPrecondition: the group is no longer live, or the conversation on the inlet's side is not a
	//     group.
	//   - Unsupported: the channel is not of type delta or bravo, or the host has no connector for it.
	//   - ResourceExhausted: the platform's rate limit was reached.
	//   - Unavailable: the platform did not answer, so the message may or may not have arrived.
	//
	// Specification: Sending operations.
	SendMessageToInletGroup(ctx context.Context, p SendMessageToInletGroupParams) (send.Result, error)

	// SendMessageToOutletGroup sends a message to the group conversation on the outlet's side. It is for
	// outlets of type bravo, charlie, delta and desk.
	//
	// Errors:
	//   - InvalidArgument: Group and GroupID name different groups.
	//   - InvalidArgument: Response breaks a limit of its type; the error has the path, such as
	//     response.buttons[3].title.
	//   - InvalidArgument: ResponseURL is not an HTTP address, or is one that the host does not allow.
	//   - NotFound: the app has no group with that id.
	//   - FailedPrecondition: the group is no longer live.
	//   - FailedPrecondition: the address in ResponseURL refuses the message; it may have expired.
	//   - Unsupported: the channel is not of type delta, bravo, charlie or desk, or the host has no connector for
	//     it.
	//   - ResourceExhausted: the platform's rate limit was reached.
	//   - Unavailable: the platform did not answer, so the message may or may not have arrived.
	//
	// Specification: Sending operations.
	SendMessageToOutletGroup(ctx context.Context, p SendMessageToOutletGroupParams) (send.Result, error)

	// SaveGroupIDToMember stores the id of the group that an event belongs to in the member's group field.
	//
	// Errors:
	//   - NotFound: the channel does not exist in the app, or no group or member belongs to the event.
	//
	// Specification: Sending operations.
	SaveGroupIDToMember(ctx context.Context, p SaveGroupIDToMemberParams) (SaveGroupIDToMemberResult, error)
}
