package channel

import (
	"context"
)

// Operations are the operations on channels. A required parameter that is missing is
// InvalidArgument.
type Operations interface {
	// GetChannel tells which app a channel belongs to. It knows the channels of its own
	// app only.
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

// Reference names a channel and its app.
type Reference struct {
	// ChannelID is the channel's id.
	ChannelID string `json:"channelId"`
	// AppID is the app's id.
	AppID string `json:"appId"`
}

// Pairing is an app's setting which outlet channels serve the live chats of an inlet
// channel.
type Pairing struct {
	// App is the app that the channels belong to.
	App string `json:"app"`
	// Inlet is the id of the channel whose members ask for live chat.
	Inlet string `json:"inlet"`
	// Outlets are the ids of the channels where agents answer, in the order in which
	// they are asked.
	Outlets []string `json:"outlets"`
}
