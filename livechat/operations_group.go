package livechat

import (
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// GetGroupParams are the parameters of GetGroup.
type GetGroupParams struct {
	// GroupID is the id of the group. Required.
	GroupID string `json:"groupId,omitzero"`
}

// GetGroupByExternalIDParams are the parameters of GetGroupByExternalID.
type GetGroupByExternalIDParams struct {
	// AdminExternalID is the agent's id on the outlet's platform. Required without GroupID.
	AdminExternalID string `json:"adminExternalId,omitzero"`
	// GroupID is the group's id on the outlet's platform. Required without
	// AdminExternalID; with it, both must fit.
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
	// DocsIDs are the ids of what was updated.
	DocsIDs DocsIDs `json:"_docsIds"`
	// Docs holds the group after the change.
	Docs []*Group `json:"_docs"`
	// Modified is 1, or 0 where the group had these values already.
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

// RecordUpdate is what InactivateGroup and the operations that end a live chat tell of the
// record that they updated.
type RecordUpdate struct {
	// ID is the id of the record that was updated, CreatedAt when it was made, and Version
	// counts its changes.
	ID string `json:"_id"`
	// Email holds e-mail addresses: none, groups and assignments have none.
	Email     document.Object    `json:"email"`
	CreatedAt document.Timestamp `json:"createdAt"`
	// Apps and ACLs are further apps and access rights: none.
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
	// IsRenewGroupInviteLink is whether a new invitation link is made. The default is true.
	IsRenewGroupInviteLink *bool `json:"isRenewGroupInviteLink,omitzero"`
}

// CreateBravoGroupParams are the parameters of CreateBravoGroup.
type CreateBravoGroupParams struct {
	// ChannelID is the id of the Bravo channel. The default is the context's own.
	ChannelID string `json:"channelId,omitzero"`
	// Name is the group's name. Required.
	Name string `json:"name,omitzero"`
	// RequireInvitationLink is whether an invitation link is made. The default is true.
	RequireInvitationLink *bool `json:"requireInvitationLink,omitzero"`
}

// CreateBravoGroupResult is the result of CreateBravoGroup.
type CreateBravoGroupResult struct {
	// GroupID is the group's id on Bravo.
	GroupID string `json:"groupId"`
	// InvitationLink is the address of the invitation link, "" where none was asked for.
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
	// ImageURL is where the picture is. Required.
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
	// MessageEvent is the event in the outlet conversation, which leads to the member.
	// Required.
	MessageEvent *send.MessageEvent `json:"messageEvent,omitzero"`
	// Response is the message. Required.
	Response send.Response `json:"response"`
}

// SendMessageToInletGroupParams are the parameters of SendMessageToInletGroup.
type SendMessageToInletGroupParams struct {
	// Group or GroupID is the group of the live chat. Of a group that is given only the id
	// is looked at. One of both is required.
	Group   *Group `json:"group,omitzero"`
	GroupID string `json:"groupId,omitzero"`
	// Response is the message. Required.
	Response send.Response `json:"response"`
}

// SendMessageToOutletGroupParams are the parameters of SendMessageToOutletGroup.
type SendMessageToOutletGroupParams struct {
	// Group or GroupID is the group of the live chat. Of a group that is given only the id
	// is looked at. One of both is required.
	Group   *Group `json:"group,omitzero"`
	GroupID string `json:"groupId,omitzero"`
	// Response is the message. Required.
	Response send.Response `json:"response"`
	// ResponseURL is, on Charlie, where an interactive component wants the message posted
	// back. The default is the group's conversation.
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
