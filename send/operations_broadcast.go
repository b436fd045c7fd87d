package send

import (
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

// AlphaCreateBroadcastParams are the parameters of AlphaCreateBroadcast.
type AlphaCreateBroadcastParams struct {
	// Channel is the channel; its ID is enough. The default is the context's own.
	Channel *channel.Channel `json:"channel,omitzero"`
	// Response is the message. JSON may give it as an object or as text that holds one.
	// Required.
	Response Response `json:"response"`
}

// AlphaCreateBroadcastResult is the result of AlphaCreateBroadcast.
type AlphaCreateBroadcastResult struct {
	// OK is 1.
	OK int64 `json:"ok"`
	// Result has one element for each message that was stored.
	Result []StoredMessage `json:"result"`
}

// ForCaller returns the result with its tokens, which the caller needs; everything else shows
// them redacted.
func (r AlphaCreateBroadcastResult) ForCaller() (document.Object, error) { return document.Encode(r) }

// StoredMessage is a message that Alpha has stored, to be sent as a broadcast.
type StoredMessage struct {
	// Response is Alpha's reply, which has the id as message_creative_id.
	Response document.Object `json:"response"`
	// AccessToken is the token that it was stored with.
	AccessToken channel.Secret `json:"accessToken"`
}

// ID returns the id by which AlphaSendBroadcast sends the message, "" where Alpha's reply has
// none.
func (m StoredMessage) ID() BroadcastID {
	id, err := broadcastID(m.Response)
	if err != nil {
		return ""
	}
	return BroadcastID(id)
}

// AlphaSendBroadcastParams are the parameters of AlphaSendBroadcast.
type AlphaSendBroadcastParams struct {
	// Channel is the channel; its ID is enough. The default is the context's own.
	Channel *channel.Channel `json:"channel,omitzero"`
	// BroadcastID is the stored message. Required.
	BroadcastID BroadcastID `json:"broadcastId,omitzero"`
	// LabelID is the label of the members who get it. Required.
	LabelID string `json:"labelId,omitzero"`
	// NotificationType is how the members are notified, in Alpha's words. Required.
	NotificationType string `json:"notificationType,omitzero"`
}

// AlphaSendBroadcastResult is the result of AlphaSendBroadcast.
type AlphaSendBroadcastResult struct {
	// BroadcastID is Alpha's number of the broadcast.
	BroadcastID int64 `json:"broadcast_id"`
}
