package livechat

import (
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/send"
)

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
