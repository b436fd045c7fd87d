package channel

import "context"

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
	GetChannel(ctx context.Context, p GetChannelParams) (*Reference, error)
}

// GetChannelParams are the parameters of GetChannel.
type GetChannelParams struct {
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
