package livechat

import (
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// CreateAssignmentParams are the parameters of CreateAssignment.
type CreateAssignmentParams struct {
	// Member is the member who makes the request; its ID is enough. The default is the context's own.
	Member *member.Member `json:"member,omitzero"`
	// AssignmentDetails go to the outlet. A custom outlet gets the whole object unchanged.
	AssignmentDetails AssignmentDetails `json:"assignmentDetails,omitzero"`
	// Label selects the broadcast groups of the outlet channels that get the ticket. The default is
	// DefaultLabel.
	Label string `json:"label,omitzero"`
	// History adds the address of the conversation's history to the request. The default is false.
	History bool `json:"history,omitzero"`
	// Targets are the recipients of the request, instead of the ones determined by Label, the pairing and the
	// broadcast groups. An empty list is the same as none.
	Targets []Target `json:"targets,omitzero"`
	// Meta is stored in the assignment.
	Meta document.Object `json:"meta,omitzero"`
	// CreateGroup asks the live-chat API of a custom outlet to create a group. Other outlets ignore it.
	CreateGroup *CreateGroup `json:"createGroup,omitzero"`
	// SetLiveChatAgenda makes the idle time count from the start, so that an untaken request ends, too.
	// Otherwise it counts once an agent takes the request. The default is true.
	SetLiveChatAgenda *bool `json:"setLiveChatAgenda,omitzero"`
}

// CreateGroup asks a custom outlet for a group.
type CreateGroup struct {
	// ExternalID is the id that the outlet should give the group. By default the outlet chooses one.
	ExternalID string `json:"externalId,omitzero"`
}

// CreateAssignmentResult is the result of CreateAssignment.
type CreateAssignmentResult struct {
	// Member is the member, in live chat now.
	Member *member.Member `json:"member"`
	// AssignmentID is the id of the assignment.
	AssignmentID string `json:"assignmentId"`
	// GroupID is the id of the group that CreateGroup asked for, or "" without it.
	GroupID string `json:"groupId,omitzero"`
}

// AddNewTargetsToAssignmentParams are the parameters of AddNewTargetsToAssignment.
type AddNewTargetsToAssignmentParams struct {
	// AssignmentID is the id of the assignment. Required.
	AssignmentID string `json:"assignmentId,omitzero"`
	// LiveChat determines whether the member is in live chat afterwards. The default is true.
	LiveChat *bool `json:"liveChat,omitzero"`
	// Targets are the further recipients of the ticket. Required.
	Targets []NewTarget `json:"targets,omitzero"`
}

// AddNewTargetsToAssignmentResult is the result of AddNewTargetsToAssignment.
type AddNewTargetsToAssignmentResult struct {
	// Member is the member, with the current botMeta.liveChat.
	Member *member.Member `json:"member"`
	// AssignmentID is the id of the assignment.
	AssignmentID string `json:"assignmentId"`
}

// ReassignAssignmentParams are the parameters of ReassignAssignment.
type ReassignAssignmentParams struct {
	// Channel is the outlet channel of the previous assignment; its ID is enough. The default is the context's
	// own.
	Channel *channel.Channel `json:"channel,omitzero"`
	// GroupName is the name of the new outlet conversation. The default is the previous name.
	GroupName string `json:"groupName,omitzero"`
	// Label selects the broadcast groups that get the new ticket. Required without Targets.
	Label string `json:"label,omitzero"`
	// LiveChat determines whether the member is in live chat afterwards. The default is true.
	LiveChat *bool `json:"liveChat,omitzero"`
	// InletGroup determines whether the conversation on the inlet's side is a group. The default is
	// false.
	InletGroup bool `json:"inletGroup,omitzero"`
	// Meta is set in the new assignment, on top of the previous one's meta.
	Meta document.Object `json:"meta,omitzero"`
	// MessageEvent is an event in the outlet conversation of the previous assignment. Required without
	// PreviousAssignment.
	MessageEvent *send.MessageEvent `json:"messageEvent,omitzero"`
	// PreviousAssignment is the assignment that is handed on; its ID is enough. Required
	// without MessageEvent.
	PreviousAssignment *Assignment `json:"previousAssignment,omitzero"`
	// RelayMessage is the text of the ticket. The default is the ticket of the previous
	// assignment.
	RelayMessage string `json:"relayMessage,omitzero"`
	// Summary is sent to the agent who takes the ticket. The default is the previous assignment's summary. A
	// custom outlet gets the previous details, with GroupName, RelayMessage and Summary replaced if the call
	// gives these.
	Summary string `json:"summary,omitzero"`
	// TakenMessage is the text of the ticket on Charlie once it is taken; [adminName] in it is replaced by
	// the agent's name.
	TakenMessage string `json:"takenMessage,omitzero"`
	// Targets are the recipients of the new request, instead of the ones determined by Label, the pairing and
	// the broadcast groups. Required without Label.
	Targets []Target `json:"targets,omitzero"`
}

// ReassignAssignmentResult is the result of ReassignAssignment.
type ReassignAssignmentResult struct {
	// Member is the member, with the current botMeta.liveChat.
	Member *member.Member `json:"member"`
	// AssignmentID is the id of the new assignment.
	AssignmentID string `json:"assignmentId"`
}

// GetAssignmentParams are the parameters of GetAssignment.
type GetAssignmentParams struct {
	// AssignmentID is the id of the assignment. Required.
	AssignmentID string `json:"assignmentId,omitzero"`
}

// GetAssignmentByOutletParams are the parameters of GetAssignmentByOutlet.
type GetAssignmentByOutletParams struct {
	// ChannelID is the id of the outlet channel. Required.
	ChannelID string `json:"channelId,omitzero"`
}

// GetAssignmentByBravoGroupIDParams are the parameters of GetAssignmentByBravoGroupID.
type GetAssignmentByBravoGroupIDParams struct {
	// BravoGroupID is the group's id on Bravo. Required.
	BravoGroupID string `json:"bravoGroupId,omitzero"`
}

// GetAssignmentsByMemberIDParams are the parameters of GetAssignmentsByMemberID.
type GetAssignmentsByMemberIDParams struct {
	// MemberID is the id of the member. Required.
	MemberID string `json:"memberId,omitzero"`
	// SortBy is the order, such as O("createdAt", -1). The default is the order of creation.
	SortBy document.Object `json:"sortBy,omitzero"`
}

// GetAssignmentsByMetaParams are the parameters of GetAssignmentsByMeta.
type GetAssignmentsByMetaParams struct {
	// Meta is the data to find. A name with dots is a path. An empty object matches all assignments. Required.
	Meta document.Object `json:"meta,omitzero"`
}

// GetAssignmentsByParentAssignmentIDParams are the parameters of
// GetAssignmentsByParentAssignmentID.
type GetAssignmentsByParentAssignmentIDParams struct {
	// AssignmentID is the id of the parent. Required.
	AssignmentID string `json:"assignmentId,omitzero"`
}

// UpdateAssignmentGroupParams are the parameters of UpdateAssignmentGroup.
type UpdateAssignmentGroupParams struct {
	// AssignmentID is the id of the assignment. Required.
	AssignmentID string `json:"assignmentId,omitzero"`
	// Group is the group; its ID is enough. Required without BravoGroupID.
	Group *Group `json:"group,omitzero"`
	// BravoGroupID is the group's id on Bravo, by which GetAssignmentByBravoGroupID finds the assignment. The
	// default is the external id of Group if its type is bravo. Required without Group.
	BravoGroupID string `json:"bravoGroupId,omitzero"`
}

// UpdateAssignmentMetaParams are the parameters of UpdateAssignmentMeta.
type UpdateAssignmentMetaParams struct {
	// AssignmentID is the id of the assignment. Required.
	AssignmentID string `json:"assignmentId,omitzero"`
	// Meta holds the fields to set. Required.
	Meta document.Object `json:"meta,omitzero"`
}

// UpdateAssignmentResult is the result of an update of an assignment.
type UpdateAssignmentResult struct {
	// DocsIDs are the ids of the updated records.
	DocsIDs DocsIDs `json:"_docsIds"`
	// Docs holds the assignment after the change.
	Docs []*Assignment `json:"_docs"`
	// Modified is 1, or 0 if the assignment had these values already.
	Modified int64 `json:"modified"`
}

// DocsIDs holds the ids of updated records.
type DocsIDs struct {
	// Updated is the id of the record that matched, whether it changed or not.
	Updated []string `json:"updated"`
}

// RemovePendingAssignmentByMemberIDParams are the parameters of
// RemovePendingAssignmentByMemberID.
type RemovePendingAssignmentByMemberIDParams struct {
	// MemberID is the id of the member. Required.
	MemberID string `json:"memberId,omitzero"`
}

// RemovePendingAssignmentByMemberIDResult is the result of
// RemovePendingAssignmentByMemberID.
type RemovePendingAssignmentByMemberIDResult struct {
	// ClientMutationID is a new id each time.
	ClientMutationID string `json:"clientMutationId"`
}

// EndParams are the parameters of EndLiveChat.
type EndParams struct {
	// Channel is the outlet channel; its ID is enough. The default is the context's own.
	Channel *channel.Channel `json:"channel,omitzero"`
	// MessageEvent is an event in the outlet conversation of the assignment. Required.
	MessageEvent *send.MessageEvent `json:"messageEvent,omitzero"`
}

// EndResult is the result of EndLiveChat and InletEndLiveChat.
type EndResult struct {
	RecordUpdate

	// Member is the member, no longer in live chat.
	Member *member.Member `json:"member"`
}

// InletEndParams are the parameters of InletEndLiveChat.
type InletEndParams struct {
	// Channel is the inlet channel; its ID is enough. The default is the member's channel.
	Channel *channel.Channel `json:"channel,omitzero"`
	// Member is the member; its ID is enough. The default is the context's own.
	Member *member.Member `json:"member,omitzero"`
	// Options control the end.
	Options InletEndLiveChatOptions `json:"options,omitzero"`
}

// InletEndLiveChatOptions control how InletEndLiveChat ends a live chat.
type InletEndLiveChatOptions struct {
	// RecallRelayMessage recalls the tickets from the outlet's broadcast groups, on Charlie, Delta and the desk. The
	// default is false. JSON may have a value of any type, which is converted as in JavaScript.
	RecallRelayMessage Truthy `json:"recallRelayMessage,omitzero"`
}

// EndBravoParams are the parameters of EndBravoLiveChat.
type EndBravoParams struct {
	// AdminExternalID is the agent's id on Bravo. Required.
	AdminExternalID string `json:"adminExternalId,omitzero"`
	// BravoGroupID is the group's id on Bravo. Required.
	BravoGroupID string `json:"bravoGroupId,omitzero"`
	// Channel or ChannelID is the channel; the default is the context's own. Only the id of a given channel
	// is used.
	Channel   *channel.Channel `json:"channel,omitzero"`
	ChannelID string           `json:"channelId,omitzero"`
}

// EndBravoResult is an assignment that EndBravoLiveChat ended.
type EndBravoResult struct {
	// ClientMutationID is a new id each time.
	ClientMutationID string `json:"clientMutationId"`
	// AssignmentRaw is the assignment in its current state.
	AssignmentRaw *Assignment `json:"assignmentRaw,omitzero"`
}

// Truthy is a condition that JSON may write as a value of any type: as in JavaScript, false, null, 0, NaN and
// "" are false, and all others are true.
type Truthy bool

// DecodeValue reads a value of any type.
func (t *Truthy) DecodeValue(value any) error {
	switch v := value.(type) {
	case nil:
		*t = false
	case bool:
		*t = Truthy(v)
	case string:
		*t = v != ""
	case int64:
		*t = v != 0
	case float64:
		*t = v < 0 || v > 0
	default:
		*t = true
	}
	return nil
}

// AssignmentDetails describe a request to an outlet. A custom outlet gets all details unchanged.
type AssignmentDetails struct {
	// Summary is sent unchanged into the outlet conversation when that is created. It may contain text of the
	// member.
	Summary string `json:"summary,omitzero"`
	// GroupName is the name of the outlet conversation.
	GroupName string `json:"groupName,omitzero"`
	// RelayMessage maps each platform to its ticket or, if the platform has no tickets, to the first message
	// of the conversation. {{path}} in it is filled from the member. The default is a text with the name of
	// the member, and on a ticket a button with TakePayload.
	//
	// An agent takes a ticket by a tap: an event of type PAYLOAD, with any payload, whose value is the
	// assignment's id, unless a node of the outlet's bot answers it. So on a ticket of type BUTTON or
	// CAROUSEL each postback payload without a value gets that id: "go" becomes {"payload": "go", "value":
	// "<id>"}. The payload of a quick reply is a string; on a ticket of type QUICK_REPLIES the id becomes the
	// reply's value, a separate field, which the connector must pass on with the tap. A button that already
	// has a value keeps it. Agents cannot tap on a ticket of another type: the host, or a node that knows the
	// assignment, must take it for them.
	RelayMessage map[channel.Type]send.Response `json:"relayMessage,omitzero"`
	// Unknown holds fields that AssignmentDetails does not define, and the fields above if their values have
	// other types. Only custom outlets accept other types, and get all of these fields.
	Unknown document.Object `json:"-"`
}

// typedField returns a pointer to the field with a name, or nil for an unknown name.
func (d *AssignmentDetails) typedField(name string) any {
	switch name {
	case "summary":
		return &d.Summary
	case "groupName":
		return &d.GroupName
	case "relayMessage":
		return &d.RelayMessage
	default:
		return nil
	}
}

// EncodeValue returns the details with their unknown fields.
func (d AssignmentDetails) EncodeValue() (any, error) {
	type typedDetails AssignmentDetails // The type has no EncodeValue, so Encode does not call this method again.
	typed, err := document.Encode(typedDetails(d))
	if err != nil {
		return nil, err
	}
	if err := d.Unknown.Err(); err != nil {
		return nil, err
	}
	var pairs []any
	for name, value := range d.Unknown.All() {
		if _, isThere := typed.Field(name); !isThere {
			pairs = append(pairs, name, value)
		}
	}
	for name, value := range typed.All() {
		pairs = append(pairs, name, value)
	}
	return document.O(pairs...), nil
}

// DecodeValue reads details. Empty values, and values that do not have the type of their field, are kept
// among the unknown fields.
func (d *AssignmentDetails) DecodeValue(value any) error {
	var given document.Object
	if err := document.DecodeValue(value, &given); err != nil {
		return err
	}
	read := AssignmentDetails{}
	var unknown []any
	for name, value := range given.All() {
		into := read.typedField(name)
		if into == nil || saysNothing(value) || document.DecodeValue(value, into) != nil {
			unknown = append(unknown, name, value)
		}
	}
	if len(unknown) > 0 {
		read.Unknown = document.O(unknown...)
	}
	*d = read
	return nil
}

// saysNothing reports whether a value is null or "", which means the same as an absent field.
func saysNothing(value any) bool { return value == nil || value == "" }

// MarshalJSON writes the details with their unknown fields.
func (d AssignmentDetails) MarshalJSON() ([]byte, error) {
	value, err := d.EncodeValue()
	if err != nil {
		return nil, err
	}
	return document.AppendJSON(nil, value)
}

// UnmarshalJSON reads details and keeps unknown fields.
func (d *AssignmentDetails) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, d) }

// GetGroupParams are the parameters of GetGroup.
type GetGroupParams struct {
	// GroupID is the id of the group. Required.
	GroupID string `json:"groupId,omitzero"`
}

// GetGroupByExternalIDParams are the parameters of GetGroupByExternalID.
type GetGroupByExternalIDParams struct {
	// AdminExternalID is the agent's id on the outlet's platform. Required without GroupID.
	AdminExternalID string `json:"adminExternalId,omitzero"`
	// GroupID is the group's id on the outlet's platform. Required without AdminExternalID. If both are given,
	// the group must match both.
	GroupID string `json:"groupId,omitzero"`
	// ChannelID is the id of the outlet channel. The default is the context's own.
	ChannelID string `json:"channelId,omitzero"`
	// Type is the type of the outlet channel. The default is any.
	Type channel.Type `json:"type,omitzero"`
}

// GetGroupByGroupExternalIDParams are the parameters of GetGroupByGroupExternalID.
type GetGroupByGroupExternalIDParams struct {
	// GroupExternalID is the group's id on the outlet's platform. Required.
	GroupExternalID string `json:"groupExternalId,omitzero"`
}

// GetGroupByInletGroupParams are the parameters of GetGroupByInletGroup.
type GetGroupByInletGroupParams struct {
	// Inlet is the id of the inlet channel. Required.
	Inlet string `json:"inlet,omitzero"`
	// InletGroupExternalID is the id of the inlet's group on its platform. Required.
	InletGroupExternalID string `json:"inletGroupExternalId,omitzero"`
}

// GetGroupByMemberIDParams are the parameters of GetGroupByMemberID.
type GetGroupByMemberIDParams struct {
	// Inlet is the id of the inlet channel. Required.
	Inlet string `json:"inlet,omitzero"`
	// MemberID is the id of the member. Required.
	MemberID string `json:"memberId,omitzero"`
}

// UpdateGroupParams are the parameters of UpdateGroup.
type UpdateGroupParams struct {
	// Group holds the _id of the group, and the fields to set. Required.
	Group document.Object `json:"group,omitzero"`
}

// UpdateGroupResult is the result of an update of a group.
type UpdateGroupResult struct {
	// DocsIDs are the ids of the updated records.
	DocsIDs DocsIDs `json:"_docsIds"`
	// Docs holds the group after the change.
	Docs []*Group `json:"_docs"`
	// Modified is 1, or 0 if the group had these values already.
	Modified int64 `json:"modified"`
}

// UpdateGroupMetaParams are the parameters of UpdateGroupMeta.
type UpdateGroupMetaParams struct {
	// GroupID is the id of the group. Required.
	GroupID string `json:"groupId,omitzero"`
	// Meta holds the fields to set. Required.
	Meta document.Object `json:"meta,omitzero"`
}

// InactivateGroupParams are the parameters of InactivateGroup.
type InactivateGroupParams struct {
	// GroupID is the id of the group. Required.
	GroupID string `json:"groupId,omitzero"`
}

// RecordUpdate describes an updated record, in the results of InactivateGroup and of the operations that end
// live chats.
type RecordUpdate struct {
	// ID is the id of the updated record. CreatedAt is the time of its creation. Version is the number of its
	// changes.
	ID string `json:"_id"`
	// Email is always empty: groups and assignments have no e-mail addresses.
	Email     document.Object    `json:"email"`
	CreatedAt document.Timestamp `json:"createdAt"`
	// Apps and ACLs are always empty: there are no further apps and access rights.
	Apps    []document.Object `json:"apps"`
	ACLs    []string          `json:"acls"`
	Version int64             `json:"_version"`
}

// HandleAdminJoinedGroupParams are the parameters of HandleAdminJoinedGroup.
type HandleAdminJoinedGroupParams struct {
	// Channel is the Bravo channel; its ID is enough. The default is the context's own.
	Channel *channel.Channel `json:"channel,omitzero"`
	// ExternalID is the agent's id on Bravo. Required.
	ExternalID string `json:"externalId,omitzero"`
	// BravoGroupID is the group's id on Bravo. Required.
	BravoGroupID string `json:"bravoGroupId,omitzero"`
	// IsRenewGroupInviteLink creates a new invitation link. The default is true.
	IsRenewGroupInviteLink *bool `json:"isRenewGroupInviteLink,omitzero"`
}

// CreateBravoGroupParams are the parameters of CreateBravoGroup.
type CreateBravoGroupParams struct {
	// ChannelID is the id of the Bravo channel. The default is the context's own.
	ChannelID string `json:"channelId,omitzero"`
	// Name is the group's name. Required.
	Name string `json:"name,omitzero"`
	// RequireInvitationLink creates an invitation link. The default is true.
	RequireInvitationLink *bool `json:"requireInvitationLink,omitzero"`
}

// CreateBravoGroupResult is the result of CreateBravoGroup.
type CreateBravoGroupResult struct {
	// GroupID is the group's id on Bravo.
	GroupID string `json:"groupId"`
	// InvitationLink is the address of the invitation link, or "" if none was requested.
	InvitationLink string `json:"invitationLink,omitzero"`
}

// DisableBravoGroupInviteLinkParams are the parameters of DisableBravoGroupInviteLink.
type DisableBravoGroupInviteLinkParams struct {
	// ExternalID is the group's id on Bravo. Required.
	ExternalID string `json:"externalId,omitzero"`
	// Channel is the Bravo channel; its ID is enough. The default is the context's own.
	Channel *channel.Channel `json:"channel,omitzero"`
}

// DisableBravoGroupInviteLinkResult is the result of DisableBravoGroupInviteLink.
type DisableBravoGroupInviteLinkResult struct {
	// ClientMutationID is a new id each time.
	ClientMutationID string `json:"clientMutationId"`
}

// SetBravoGroupIconParams are the parameters of SetBravoGroupIcon.
type SetBravoGroupIconParams struct {
	// ChannelID is the id of the Bravo channel. The default is the context's own.
	ChannelID string `json:"channelId,omitzero"`
	// ImageURL is the address of the picture. Required.
	ImageURL string `json:"imageUrl,omitzero"`
	// BravoGroupID is the group's id on Bravo. Required.
	BravoGroupID string `json:"bravoGroupId,omitzero"`
}

// SetBravoGroupIconResult is the result of SetBravoGroupIcon.
type SetBravoGroupIconResult struct {
	// OK is "ok".
	OK string `json:"200"`
}

// CreateHotelChannelParams are the parameters of CreateHotelChannel.
type CreateHotelChannelParams struct {
	// Channel is the Hotel channel of the app; its ID is enough. The default is the
	// context's own.
	Channel *channel.Channel `json:"channel,omitzero"`
	// HotelGroupID is the group on Hotel that the new channel belongs to. Required.
	HotelGroupID string `json:"hotelGroupId,omitzero"`
	// DisplayName is the new channel's name. Required.
	DisplayName string `json:"displayName,omitzero"`
}

// CreateHotelChannelResult is the result of CreateHotelChannel.
type CreateHotelChannelResult struct {
	// OK is 1.
	OK int `json:"ok"`
	// Result is the platform's reply.
	Result document.Object `json:"result"`
}

// GetAdminParams are the parameters of GetAdmin.
type GetAdminParams struct {
	// AdminID is the id of the agent. Required.
	AdminID string `json:"adminId,omitzero"`
}

// GetAdminByExternalIDParams are the parameters of GetAdminByExternalID.
type GetAdminByExternalIDParams struct {
	// ExternalID is the agent's id on the outlet's platform. Required.
	ExternalID string `json:"externalId,omitzero"`
}

// SendMessageToInletParams are the parameters of SendMessageToInlet.
type SendMessageToInletParams struct {
	// Channel is the outlet channel; its ID is enough. The default is the context's own.
	Channel *channel.Channel `json:"channel,omitzero"`
	// MessageEvent is an event in the outlet conversation with the member. Required.
	MessageEvent *send.MessageEvent `json:"messageEvent,omitzero"`
	// Response is the message. Required.
	Response send.Response `json:"response"`
}

// SendMessageToInletGroupParams are the parameters of SendMessageToInletGroup.
type SendMessageToInletGroupParams struct {
	// Group or GroupID is the group of the live chat. Only the id of a given group is used. One of them is
	// required.
	Group   *Group `json:"group,omitzero"`
	GroupID string `json:"groupId,omitzero"`
	// Response is the message. Required.
	Response send.Response `json:"response"`
}

// SendMessageToOutletGroupParams are the parameters of SendMessageToOutletGroup.
type SendMessageToOutletGroupParams struct {
	// Group or GroupID is the group of the live chat. Only the id of a given group is used. One of them is
	// required.
	Group   *Group `json:"group,omitzero"`
	GroupID string `json:"groupId,omitzero"`
	// Response is the message. Required.
	Response send.Response `json:"response"`
	// ResponseURL is the address for the answer to an interactive component on Charlie. The message is posted
	// there in the platform's format if the connector is a send.ResponseFormatter. By default the message goes
	// to the group's conversation.
	ResponseURL string `json:"responseUrl,omitzero"`
}

// SaveGroupIDToMemberParams are the parameters of SaveGroupIDToMember.
type SaveGroupIDToMemberParams struct {
	// Channel is the channel of the event; its ID is enough. The default is the context's
	// own.
	Channel *channel.Channel `json:"channel,omitzero"`
	// MessageEvent is the event in the group. Required.
	MessageEvent *send.MessageEvent `json:"messageEvent,omitzero"`
}

// SaveGroupIDToMemberResult is the result of SaveGroupIDToMember.
type SaveGroupIDToMemberResult struct {
	// ClientMutationID is a new id each time.
	ClientMutationID string `json:"clientMutationId"`
}
