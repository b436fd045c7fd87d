package livechat

import (
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// CreateAssignmentParams are the parameters of CreateAssignment.
type CreateAssignmentParams struct {
	// Member is who asks; its ID is enough. The default is the context's own.
	Member *member.Member `json:"member,omitzero"`
	// AssignmentDetails is what the outlet is told. A custom outlet gets the whole object as it
	// is, whatever it holds.
	AssignmentDetails AssignmentDetails `json:"assignmentDetails,omitzero"`
	// Label says which broadcast groups of the outlet channels get the ticket. The default
	// is DefaultLabel.
	Label string `json:"label,omitzero"`
	// History is whether the address of the conversation's history goes with the request.
	// The default is false.
	History bool `json:"history,omitzero"`
	// Targets are where the request goes, in place of what Label, the pairing and the
	// broadcast groups say. An empty list is none.
	Targets []Target `json:"targets,omitzero"`
	// Meta is kept in the assignment.
	Meta document.Object `json:"meta,omitzero"`
	// CreateGroup asks the live-chat API of a custom outlet to make a group. Other outlets
	// ignore it.
	CreateGroup *CreateGroup `json:"createGroup,omitzero"`
	// SetLiveChatAgenda is whether idle time is watched at once, so that a request that nobody
	// takes ends, too. Without that it is watched from when an agent takes the request. The
	// default is true.
	SetLiveChatAgenda *bool `json:"setLiveChatAgenda,omitzero"`
}

// CreateGroup asks a custom outlet for a group.
type CreateGroup struct {
	// ExternalID is the id that the group is to have there. The default is one that the
	// outlet chooses.
	ExternalID string `json:"externalId,omitzero"`
}

// CreateAssignmentResult is the result of CreateAssignment.
type CreateAssignmentResult struct {
	// Member is the member, in live chat now.
	Member *member.Member `json:"member"`
	// AssignmentID is the id of the assignment.
	AssignmentID string `json:"assignmentId"`
	// GroupID is the id of the group that CreateGroup asked for, "" without it.
	GroupID string `json:"groupId,omitzero"`
}

// AddNewTargetsToAssignmentParams are the parameters of AddNewTargetsToAssignment.
type AddNewTargetsToAssignmentParams struct {
	// AssignmentID is the id of the assignment. Required.
	AssignmentID string `json:"assignmentId,omitzero"`
	// LiveChat is whether the member is in live chat afterwards. The default is true.
	LiveChat *bool `json:"liveChat,omitzero"`
	// Targets are where the request goes as well: targets, or the id and the type of broadcast
	// groups in the outlet that is there. Required.
	Targets []NewTarget `json:"targets,omitzero"`
}

// AddNewTargetsToAssignmentResult is the result of AddNewTargetsToAssignment.
type AddNewTargetsToAssignmentResult struct {
	// Member is the member, with botMeta.liveChat as it now is.
	Member *member.Member `json:"member"`
	// AssignmentID is the id of the assignment.
	AssignmentID string `json:"assignmentId"`
}

// ReassignAssignmentParams are the parameters of ReassignAssignment.
type ReassignAssignmentParams struct {
	// Channel is the outlet channel that hands it on; its ID is enough. The default is the
	// context's own.
	Channel *channel.Channel `json:"channel,omitzero"`
	// GroupName is the name of the new outlet conversation. The default is that of the
	// previous one.
	GroupName string `json:"groupName,omitzero"`
	// Label says which broadcast groups get the new ticket. Required without Targets.
	Label string `json:"label,omitzero"`
	// LiveChat is whether the member is in live chat afterwards. The default is true.
	LiveChat *bool `json:"liveChat,omitzero"`
	// InletGroup is whether the conversation on the inlet's side is a group. The default is
	// false.
	InletGroup bool `json:"inletGroup,omitzero"`
	// Meta is set in the new assignment, over what the previous one had.
	Meta document.Object `json:"meta,omitzero"`
	// MessageEvent is the event in the outlet conversation, which leads to the previous
	// assignment. Required without PreviousAssignment.
	MessageEvent *send.MessageEvent `json:"messageEvent,omitzero"`
	// PreviousAssignment is the assignment that is handed on; its ID is enough. Required
	// without MessageEvent.
	PreviousAssignment *Assignment `json:"previousAssignment,omitzero"`
	// RelayMessage is the text of the ticket. The default is the ticket of the previous
	// assignment.
	RelayMessage string `json:"relayMessage,omitzero"`
	// Summary is sent to the agent who takes the ticket. The default is that of the previous
	// assignment. A custom outlet gets the previous details with GroupName, RelayMessage and
	// Summary in them, where these are given.
	Summary string `json:"summary,omitzero"`
	// TakenMessage is what the ticket shows once it is taken, on Charlie; [adminName] in it
	// stands for the agent.
	TakenMessage string `json:"takenMessage,omitzero"`
	// Targets are where the new request goes, in place of what Label, the pairing and the
	// broadcast groups say. Required without Label.
	Targets []Target `json:"targets,omitzero"`
}

// ReassignAssignmentResult is the result of ReassignAssignment.
type ReassignAssignmentResult struct {
	// Member is the member, with botMeta.liveChat as it now is.
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
	// SortBy is the order, such as O("createdAt", -1). The default is the order in which
	// they were made.
	SortBy document.Object `json:"sortBy,omitzero"`
}

// GetAssignmentsByMetaParams are the parameters of GetAssignmentsByMeta.
type GetAssignmentsByMetaParams struct {
	// Meta is the data. A name with dots in it is a path. Required; O() matches all.
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
	// BravoGroupID is the group's id on Bravo, by which GetAssignmentByBravoGroupID finds
	// the assignment. The default is the external id of a group of type bravo. Required
	// without Group.
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
	// DocsIDs are the ids of what was updated.
	DocsIDs DocsIDs `json:"_docsIds"`
	// Docs holds the assignment after the change.
	Docs []*Assignment `json:"_docs"`
	// Modified is 1, or 0 where the assignment had these values already.
	Modified int64 `json:"modified"`
}

// DocsIDs are ids by what became of their records.
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

// EndLiveChatParams are the parameters of EndLiveChat.
type EndLiveChatParams struct {
	// Channel is the outlet channel; its ID is enough. The default is the context's own.
	Channel *channel.Channel `json:"channel,omitzero"`
	// MessageEvent is the event in the outlet conversation, which leads to the assignment.
	// Required.
	MessageEvent *send.MessageEvent `json:"messageEvent,omitzero"`
}

// EndLiveChatResult is the result of EndLiveChat and InletEndLiveChat.
type EndLiveChatResult struct {
	RecordUpdate

	// Member is the member, no longer in live chat.
	Member *member.Member `json:"member"`
}

// InletEndLiveChatParams are the parameters of InletEndLiveChat.
type InletEndLiveChatParams struct {
	// Channel is the inlet channel; its ID is enough. The default is the one that the member is in.
	Channel *channel.Channel `json:"channel,omitzero"`
	// Member is the member; its ID is enough. The default is the context's own.
	Member *member.Member `json:"member,omitzero"`
	// Options say how to end.
	Options InletEndLiveChatOptions `json:"options,omitzero"`
}

// InletEndLiveChatOptions say how InletEndLiveChat ends a live chat.
type InletEndLiveChatOptions struct {
	// RecallRelayMessage takes the tickets back from the outlet's broadcast groups, on
	// Charlie and Delta. The default is false. JSON may give a value of any type, which counts
	// as in JavaScript.
	RecallRelayMessage Truthy `json:"recallRelayMessage,omitzero"`
}

// EndBravoLiveChatParams are the parameters of EndBravoLiveChat.
type EndBravoLiveChatParams struct {
	// AdminExternalID is the agent's id on Bravo. Required.
	AdminExternalID string `json:"adminExternalId,omitzero"`
	// BravoGroupID is the group's id on Bravo. Required.
	BravoGroupID string `json:"bravoGroupId,omitzero"`
	// Channel or ChannelID is the channel; the default is the context's own. Of a channel
	// that is given only the id is looked at.
	Channel   *channel.Channel `json:"channel,omitzero"`
	ChannelID string           `json:"channelId,omitzero"`
}

// EndBravoLiveChatResult is one assignment that EndBravoLiveChat ended.
type EndBravoLiveChatResult struct {
	// ClientMutationID is a new id each time.
	ClientMutationID string `json:"clientMutationId"`
	// AssignmentRaw is the assignment as it is now.
	AssignmentRaw *Assignment `json:"assignmentRaw,omitzero"`
}

// Truthy is a condition that JSON may give as a value of any type: as in JavaScript, false,
// null, 0, NaN and "" are false, and all others are true.
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
