package channel

import (
	"context"
)

// Operations are the operations on channels. A missing required parameter is InvalidArgument.
type Operations interface {
	// GetChannel returns the id and the app of a channel. It finds only channels of the context's app.
	//
	// Errors:
	//   - NotFound: the channel does not exist in the app.
	//
	// Specification: Group and admin operations.
	GetChannel(ctx context.Context, p GetParams) (*Reference, error)
}

// GetParams are the parameters of GetChannel.
type GetParams struct {
	// ChannelID is the id of the channel. Required.
	ChannelID string `json:"channelId,omitzero"`
}

// Reference identifies a channel and its app.
type Reference struct {
	// ChannelID is the channel's id.
	ChannelID string `json:"channelId"`
	// AppID is the app's id.
	AppID string `json:"appId"`
}

// Pairing names the outlet channels that serve the live chats of an inlet channel.
type Pairing struct {
	// App is the app that the channels belong to.
	App string `json:"app"`
	// Inlet is the id of the channel whose members ask for live chat.
	Inlet string `json:"inlet"`
	// Outlets are the ids of the channels where agents answer, in the order in which they are
	// tried.
	Outlets []string `json:"outlets"`
}
