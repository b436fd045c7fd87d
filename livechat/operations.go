package livechat

import (
	"context"

	"github.com/botctx/go-sdk/send"
)

// Operations are the operations of live chat: on assignments, on groups and agents, and
// the sends that need one of these.
//
// Records of another app do not exist for them. A record that is passed in is an address.
// Where a channel or a member is not given, the context's own is meant.
type Operations interface {
	AssignmentOperations
	AssignmentLookUps
	GroupOperations
	BravoOperations
	AdminOperations
	SendOperations
}

// AssignmentOperations are the operations that make, change and end assignments.
type AssignmentOperations interface {
	// CreateAssignment asks for a person to take over the conversation with a member. The
	// member's botMeta.liveChat is true when it returns.
	//
	// Targets say where the request goes. Without them it goes to the channels that are
	// paired with the member's own and are on, and in these to the broadcast groups with
	// Label. The first of these channels that has no tickets, which is one of type custom, or
	// one of type foxtrot with a broadcast group of that label, takes it alone; else each
	// broadcast group of all of them gets a ticket.
	//
	// Where a request of the member is open already, that one comes back and nothing is
	// sent. Where an earlier call sent it in part, the rest is sent as that call said; where
	// a call sends it at this moment, this one waits for it. Where an assignment was about to
	// be handed on when a crash came between, that is completed.
	//
	// InvalidArgument: the member is missing, Targets hold something that is no target, or a
	// message breaks a limit of its type. NotFound: the app has no such member, or no channel
	// of a target. FailedPrecondition: nothing can take the request, and the error says which
	// rule found nothing; the member's channel is off; or the member has no id on the
	// platform. Unsupported: the host has no connector for the outlet's type, or no HTTP
	// client for a live-chat API, or gives no addresses of histories and History is true.
	// Unavailable: an outlet did not take it; the error names each target that is missing,
	// *UnsentError behind it has them, and the same call again sends only these. Where all of
	// them refused it for good, as groups do that are not there, the request is open without
	// them, and the member is in live chat; where nobody else got it, there is no request.
	// Conflict: another call has been sending the request for long, or it was withdrawn
	// meanwhile.
	//
	// Specification: Live-chat operations.
	CreateAssignment(ctx context.Context, p CreateAssignmentParams) (CreateAssignmentResult, error)

	// AddNewTargetsToAssignment sends the ticket of a request that nobody has taken to
	// further targets. Those that have it already get no second one.
	//
	// InvalidArgument: AssignmentID or Targets is missing, or Targets hold something that is
	// neither a target nor a broadcast group. NotFound: the app has no such assignment, or no
	// channel of a target. FailedPrecondition: the assignment has been taken or has ended, or
	// a target can take nothing. Unsupported: the host has no connector for the outlet's
	// type. Unavailable: an outlet did not take it; the same call again sends what is
	// missing, but for what was refused for good. Conflict: as in CreateAssignment.
	//
	// Specification: Live-chat operations.
	AddNewTargetsToAssignment(ctx context.Context, p AddNewTargetsToAssignmentParams) (AddNewTargetsToAssignmentResult, error)

	// ReassignAssignment hands a live chat on to others: the previous assignment ends, and a
	// new one has it as its parent. What is not given comes from the previous one. It is for
	// outlet channels of type bravo, charlie and delta.
	//
	// The new one goes where a request of the member with that label would go, or to a
	// channel that is not paired where that hands it on. Until all of it was sent, the
	// previous one goes on. Handing it on again gives the new one while nobody has taken it.
	//
	// InvalidArgument: both of Label and Targets, or both of MessageEvent and
	// PreviousAssignment are missing, or PreviousAssignment is not the one that MessageEvent
	// leads to. NotFound: the app has no such channel or assignment, or none belongs to the
	// event. FailedPrecondition: the previous assignment has ended, or nothing can take the
	// request, or InletGroup is true and the conversation is no group there. Unsupported: the
	// channel is of another type, or the host has no connector for an outlet's type.
	// Unavailable: an outlet did not take it; the same call again sends what is missing. Where
	// that was refused for good, it was handed on to the others, as in CreateAssignment.
	// Conflict: as there.
	//
	// Specification: Live-chat operations.
	ReassignAssignment(ctx context.Context, p ReassignAssignmentParams) (ReassignAssignmentResult, error)

	// UpdateAssignmentGroup sets the group of an assignment. Both then name each other, and a
	// request that is open is taken by the agent who is in the group, with all that belongs to
	// that: the summary goes into the group, and the tickets show who has it. In place of Group
	// the BravoGroupID alone may be given, also before an agent has joined: then
	// HandleAdminJoinedGroup does the rest. A group that is not live, or that of another live
	// chat, and one for an assignment that has ended, are set without that.
	//
	// InvalidArgument: AssignmentID is missing, or both of Group and BravoGroupID. NotFound: the
	// app has no such assignment or group. Unavailable: the agent has the request, and the
	// summary or a ticket could not be sent; the same call again does the rest.
	//
	// Specification: Live-chat operations.
	UpdateAssignmentGroup(ctx context.Context, p UpdateAssignmentGroupParams) (UpdateAssignmentResult, error)

	// UpdateAssignmentMeta sets the given fields of an assignment's meta; others stay. A
	// field may be a dotted path.
	//
	// InvalidArgument: AssignmentID or Meta is missing, or a field of Meta cannot be set.
	// NotFound: the app has no such assignment.
	//
	// Specification: Live-chat operations.
	UpdateAssignmentMeta(ctx context.Context, p UpdateAssignmentMetaParams) (UpdateAssignmentResult, error)

	// RemovePendingAssignmentByMemberID withdraws the request of a member that nobody has
	// taken: the record is removed, its tickets are recalled where the platform can, and the
	// member is in live chat no more. That there is none is no error.
	//
	// InvalidArgument: MemberID is missing. Unavailable: a ticket could not be recalled; the
	// request is withdrawn all the same, and the same call again does the rest.
	//
	// Specification: Live-chat operations.
	RemovePendingAssignmentByMemberID(
		ctx context.Context, p RemovePendingAssignmentByMemberIDParams) (RemovePendingAssignmentByMemberIDResult, error)

	// EndLiveChat ends a live chat from the outlet's side. The assignment is the one that
	// MessageEvent belongs to.
	//
	// InvalidArgument: MessageEvent is missing. NotFound: the app has no such channel, or no
	// assignment belongs to the event. FailedPrecondition: the assignment has ended.
	//
	// Specification: Live-chat operations.
	EndLiveChat(ctx context.Context, p EndLiveChatParams) (EndLiveChatResult, error)

	// InletEndLiveChat ends the live chat of a member from the inlet's side.
	//
	// InvalidArgument: the member is missing, or is in another channel than Channel.
	// NotFound: the app has no such channel or member. FailedPrecondition: the member has no
	// assignment that is open. Unsupported: Options.RecallRelayMessage is true, and the
	// outlet cannot recall tickets.
	//
	// Specification: Live-chat operations.
	InletEndLiveChat(ctx context.Context, p InletEndLiveChatParams) (EndLiveChatResult, error)
}

// AssignmentLookUps are the operations that read assignments.
type AssignmentLookUps interface {
	// GetAssignment reads an assignment by its id.
	//
	// InvalidArgument: AssignmentID is missing. NotFound: the app has no such assignment.
	//
	// Specification: Live-chat operations.
	GetAssignment(ctx context.Context, p GetAssignmentParams) (*Assignment, error)

	// GetAssignmentByOutlet reads the newest assignment in an outlet channel that has not
	// ended: one that was taken there or that the channel has directly, or, while nobody has
	// taken it, one with a ticket there. Where its meta is a filter, one that has operators,
	// the context's member must match it; an assignment whose meta does not match is passed
	// over.
	//
	// InvalidArgument: ChannelID is missing. NotFound: the app has no such channel, or no
	// open assignment is there.
	//
	// Specification: Live-chat operations.
	GetAssignmentByOutlet(ctx context.Context, p GetAssignmentByOutletParams) (*Assignment, error)

	// GetAssignmentByBravoGroupID reads the newest assignment of a group on Bravo.
	//
	// InvalidArgument: BravoGroupID is missing. NotFound: the app has no assignment of that
	// group.
	//
	// Specification: Live-chat operations.
	GetAssignmentByBravoGroupID(ctx context.Context, p GetAssignmentByBravoGroupIDParams) (*Assignment, error)

	// GetAssignmentsByMemberID reads all assignments of a member, the ended ones included.
	//
	// InvalidArgument: MemberID is missing, or SortBy is no order.
	//
	// Specification: Live-chat operations.
	GetAssignmentsByMemberID(ctx context.Context, p GetAssignmentsByMemberIDParams) ([]*Assignment, error)

	// GetAssignmentsByMeta reads the assignments whose meta holds the given data: each field
	// of it is there and equal, as a filter of package document compares; other fields may
	// stand beside. A field may be a dotted path.
	//
	// InvalidArgument: Meta is missing, or has an operator in the place of a field or a
	// value.
	//
	// Specification: Live-chat operations.
	GetAssignmentsByMeta(ctx context.Context, p GetAssignmentsByMetaParams) ([]*Assignment, error)

	// GetAssignmentsByParentAssignmentID reads the assignments that one was handed on to.
	//
	// InvalidArgument: AssignmentID is missing.
	//
	// Specification: Live-chat operations.
	GetAssignmentsByParentAssignmentID(ctx context.Context, p GetAssignmentsByParentAssignmentIDParams) ([]*Assignment, error)
}

// GroupOperations are the operations on groups, those of Bravo aside.
type GroupOperations interface {
	// GetGroup reads a group by its id.
	//
	// InvalidArgument: GroupID is missing. NotFound: the app has no such group.
	//
	// Specification: Group and admin operations.
	GetGroup(ctx context.Context, p GetGroupParams) (*Group, error)

	// GetGroupByExternalID reads the newest group of an agent, or with the given id, in an
	// outlet channel. One that is live comes before one that is not.
	//
	// InvalidArgument: both of AdminExternalID and GroupID are missing, or the channel is.
	// NotFound: no group fits.
	//
	// Specification: Group and admin operations.
	GetGroupByExternalID(ctx context.Context, p GetGroupByExternalIDParams) (*Group, error)

	// GetGroupByGroupExternalID reads the newest group with an id on the outlet's platform.
	// One that is live comes before one that is not.
	//
	// InvalidArgument: GroupExternalID is missing. NotFound: the app has no such group.
	//
	// Specification: Group and admin operations.
	GetGroupByGroupExternalID(ctx context.Context, p GetGroupByGroupExternalIDParams) (*Group, error)

	// GetGroupByInletGroup reads the newest group that belongs to a group conversation on the
	// inlet's side. One that is live comes before one that is not.
	//
	// InvalidArgument: Inlet or InletGroupExternalID is missing. NotFound: the app has no
	// such group.
	//
	// Specification: Group and admin operations.
	GetGroupByInletGroup(ctx context.Context, p GetGroupByInletGroupParams) (*Group, error)

	// GetGroupByMemberID reads the newest group of a member of an inlet channel. One that is
	// live comes before one that is not.
	//
	// InvalidArgument: Inlet or MemberID is missing. NotFound: the app has no such group.
	//
	// Specification: Group and admin operations.
	GetGroupByMemberID(ctx context.Context, p GetGroupByMemberIDParams) (*Group, error)

	// UpdateGroup sets the given fields of a group; fields that are not given stay.
	//
	// InvalidArgument: Group has no _id, a value of another type than the field has, or
	// another app or createdAt than the group. NotFound: the app has no such group.
	//
	// Specification: Group and admin operations.
	UpdateGroup(ctx context.Context, p UpdateGroupParams) (UpdateGroupResult, error)

	// UpdateGroupMeta sets the given fields of a group's meta; others stay. A field may be a
	// dotted path.
	//
	// InvalidArgument: GroupID or Meta is missing, or a field of Meta cannot be set.
	// NotFound: the app has no such group.
	//
	// Specification: Group and admin operations.
	UpdateGroupMeta(ctx context.Context, p UpdateGroupMetaParams) (UpdateGroupResult, error)

	// InactivateGroup marks a group as no longer live and no longer valid.
	//
	// InvalidArgument: GroupID is missing. NotFound: the app has no such group.
	//
	// Specification: Group and admin operations.
	InactivateGroup(ctx context.Context, p InactivateGroupParams) (RecordUpdate, error)

	// CreateHotelChannel makes a channel on Hotel. It makes no channel of the app.
	//
	// InvalidArgument: HotelGroupID or DisplayName is missing. NotFound: the app has no such
	// channel. Unsupported: the channel is not of type hotel, or the host's connector makes no
	// channels.
	//
	// Specification: Group and admin operations.
	CreateHotelChannel(ctx context.Context, p CreateHotelChannelParams) (CreateHotelChannelResult, error)
}

// BravoOperations are the operations on groups on Bravo and their live chats.
type BravoOperations interface {
	// EndBravoLiveChat ends the live chats of an agent in a group on Bravo. The result has
	// one element for each assignment that ended. A live group of the agent without one is
	// put out of use, and has an element without an assignment.
	//
	// InvalidArgument: AdminExternalID or BravoGroupID is missing, or Channel and ChannelID
	// name different channels. NotFound: the app has no such channel, or the channel no such
	// group. Unsupported: the channel is not of type bravo.
	//
	// Specification: Live-chat operations.
	EndBravoLiveChat(ctx context.Context, p EndBravoLiveChatParams) ([]EndBravoLiveChatResult, error)

	// HandleAdminJoinedGroup records that an agent joined a group on Bravo: it makes the
	// group's record, puts the invitation link out of use, and makes a new one unless
	// IsRenewGroupInviteLink is false. The result is the new link, "" without one. Where a
	// request knows the group by its id on Bravo, the agent takes it, as UpdateAssignmentGroup
	// says.
	//
	// InvalidArgument: ExternalID or BravoGroupID is missing. NotFound: the app has no such
	// channel, or the channel no such group. Unsupported: the channel is not of type bravo,
	// or the host's connector has no invitation links.
	//
	// Specification: Group and admin operations.
	HandleAdminJoinedGroup(ctx context.Context, p HandleAdminJoinedGroupParams) (string, error)

	// CreateBravoGroup makes a group on Bravo.
	//
	// InvalidArgument: Name or the channel is missing. NotFound: the app has no such channel.
	// Unsupported: the channel is not of type bravo, or the host's connector makes no groups.
	// Unavailable: Bravo did not answer, so whether the group was made is not known.
	//
	// Specification: Group and admin operations.
	CreateBravoGroup(ctx context.Context, p CreateBravoGroupParams) (CreateBravoGroupResult, error)

	// DisableBravoGroupInviteLink puts the invitation link of a group on Bravo out of use.
	//
	// InvalidArgument: ExternalID is missing. NotFound: the app has no such channel, or the
	// channel no such group. Unsupported: the channel is not of type bravo, or the host's
	// connector has no invitation links.
	//
	// Specification: Group and admin operations.
	DisableBravoGroupInviteLink(ctx context.Context, p DisableBravoGroupInviteLinkParams) (DisableBravoGroupInviteLinkResult, error)

	// SetBravoGroupIcon gives a group on Bravo the picture at an address.
	//
	// InvalidArgument: a parameter is missing, or ImageURL is no address of a picture that
	// the host allows. NotFound: the app has no such channel, or the channel no such group.
	// ResourceExhausted: the picture is larger than the host allows. Unsupported: the channel
	// is not of type bravo, or the host's connector sets no icons. Unavailable: the picture
	// could not be fetched.
	//
	// Specification: Group and admin operations.
	SetBravoGroupIcon(ctx context.Context, p SetBravoGroupIconParams) (SetBravoGroupIconResult, error)
}

// AdminOperations are the operations on agents.
type AdminOperations interface {
	// GetAdmin reads an agent by the id.
	//
	// InvalidArgument: AdminID is missing. NotFound: the app has no such agent.
	//
	// Specification: Group and admin operations.
	GetAdmin(ctx context.Context, p GetAdminParams) (*Admin, error)

	// GetAdminByExternalID reads an agent by the id on the outlet's platform.
	//
	// InvalidArgument: ExternalID is missing. NotFound: the app has no such agent.
	//
	// Specification: Group and admin operations.
	GetAdminByExternalID(ctx context.Context, p GetAdminByExternalIDParams) (*Admin, error)
}

// SendOperations are the sends that need a group or an assignment.
type SendOperations interface {
	// SendMessageToInlet sends a message from the outlet conversation that MessageEvent
	// belongs to, to the member. {{path}} in it is filled from the member.
	//
	// InvalidArgument: MessageEvent is missing, or Response breaks a limit of its type (the
	// field is the path, such as response.buttons[2].title). NotFound: the app has no such
	// channel, or no assignment belongs to the event. FailedPrecondition: the member has no id
	// on the platform. Unsupported: the host has no connector for the inlet's type.
	// ResourceExhausted: the platform's rate limit was reached. Unavailable: the platform did
	// not answer, so whether the message arrived is not known.
	//
	// Specification: Sending operations.
	SendMessageToInlet(ctx context.Context, p SendMessageToInletParams) (send.Result, error)

	// SendMessageToInletGroup sends a message to the group conversation on the inlet's side.
	// It is for inlets of type bravo and delta.
	//
	// InvalidArgument: both of Group and GroupID are missing or name different groups, or
	// Response breaks a limit of its type. NotFound: the app has no such group.
	// FailedPrecondition: the group is not live any more, or the conversation on the inlet's
	// side is no group. Unsupported: the inlet is of another type, or the host has no connector for it. ResourceExhausted and
	// Unavailable: as in SendMessageToInlet.
	//
	// Specification: Sending operations.
	SendMessageToInletGroup(ctx context.Context, p SendMessageToInletGroupParams) (send.Result, error)

	// SendMessageToOutletGroup sends a message to the group conversation on the outlet's
	// side. It is for outlets of type bravo, charlie and delta.
	//
	// InvalidArgument: both of Group and GroupID are missing or name different groups,
	// Response breaks a limit of its type, or ResponseURL is no address that the host allows.
	// NotFound: the app has no such group. FailedPrecondition: the group is not live any more.
	// Unsupported: the outlet is of another type, or the host has no connector for it.
	// ResourceExhausted and Unavailable: as in SendMessageToInlet.
	//
	// Specification: Sending operations.
	SendMessageToOutletGroup(ctx context.Context, p SendMessageToOutletGroupParams) (send.Result, error)

	// SaveGroupIDToMember keeps the group that an event belongs to in the group of the
	// member.
	//
	// InvalidArgument: MessageEvent is missing. NotFound: the app has no such channel, or no
	// group or member belongs to the event.
	//
	// Specification: Sending operations.
	SaveGroupIDToMember(ctx context.Context, p SaveGroupIDToMemberParams) (SaveGroupIDToMemberResult, error)
}
