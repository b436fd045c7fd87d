package send

import (
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

// SendHotelResponseParams are the parameters of SendHotelResponse.
type SendHotelResponseParams struct {
	// Channel is the channel; its ID is enough. The default is the context's own.
	Channel *channel.Channel `json:"channel,omitzero"`
	// Response is the message. Required.
	Response Response `json:"response"`
	// RecipientID is the user, by the id in Hotel. It or HotelGroupID is required; with both
	// the user gets the message in that group.
	RecipientID string `json:"recipientId,omitzero"`
	// ReceiverType is what kind of receiver it is, in Hotel's words. The default is
	// ReceiverUser with a RecipientID, and else ReceiverGroup.
	ReceiverType string `json:"receiverType,omitzero"`
	// HotelGroupID is the group, by its id in Hotel. Required without RecipientID.
	HotelGroupID string `json:"hotelGroupId,omitzero"`
}

// SendDeltaResponseParams are the parameters of SendDeltaResponse.
type SendDeltaResponseParams struct {
	// Channel or ChannelID is the channel; the default is the context's own. Of a
	// channel that is given only the id is looked at.
	Channel   *channel.Channel `json:"channel,omitzero"`
	ChannelID string           `json:"channelId,omitzero"`
	// Member or MemberID is who gets the message, one member or several of the channel; the
	// default is the context's own. Of a member that is given only the id is looked at. A
	// member that is named twice gets one message.
	Member   *member.Member             `json:"member,omitzero"`
	MemberID document.OneOrMany[string] `json:"memberId,omitzero"`
	// Response is the message. Required.
	Response Response `json:"response"`
}

// SendDeltaResponseResult is what Delta made of a request.
type SendDeltaResponseResult struct {
	// ID is Delta's id of the request, Status its status in Delta's words.
	ID     string `json:"id"`
	Status string `json:"STATUS"`
	// Results are what came of each member's message, in the order in which MemberID first
	// names them. JSON does not have them.
	Results []Result `json:"-"`
}

// HasOutcomes reports whether there is anything to tell beside an error.
func (r SendDeltaResponseResult) HasOutcomes() bool { return r.ID != "" || len(r.Results) > 0 }

// CharlieArchiveConversationParams are the parameters of CharlieArchiveConversation.
type CharlieArchiveConversationParams struct {
	// Channel is the channel; its ID is enough. The default is the context's own.
	Channel *channel.Channel `json:"channel,omitzero"`
	// MessageEvent is an event in the conversation; To says in which. Required.
	MessageEvent *MessageEvent `json:"messageEvent,omitzero"`
}

// CharlieArchiveConversationResult is the result of CharlieArchiveConversation.
type CharlieArchiveConversationResult struct {
	// OK is true.
	OK bool `json:"ok"`
}

// UpdateMessageParams are the parameters of UpdateMessage.
type UpdateMessageParams struct {
	// Attachments are the new attachments, in the platform's words. They or Text are
	// required. nil leaves those that there are, an empty list takes them away.
	Attachments []document.Object `json:"attachments,omitzero"`
	// ExternalChannelID is the conversation, by its id on the platform. Required.
	ExternalChannelID string `json:"externalChannelId,omitzero"`
	// Channel is the channel; its ID is enough. The default is the context's own.
	Channel *channel.Channel `json:"channel,omitzero"`
	// MessageTS or MessageEvent is the message: its timestamp on the platform, or the event
	// that it was sent or came as, whose MessageID is that. One of both is required.
	MessageTS    MessageTS     `json:"messageTs,omitzero"`
	MessageEvent *MessageEvent `json:"messageEvent,omitzero"`
	// Text is the new text. Required without Attachments.
	Text string `json:"text,omitzero"`
}

// UpdateMessageResult is the result of UpdateMessage.
type UpdateMessageResult struct {
	// OK is whether the platform changed it.
	OK bool `json:"ok"`
	// Channel is the conversation, by its id on the platform.
	Channel string `json:"channel"`
	// TS is the message's timestamp on the platform.
	TS MessageTS `json:"ts"`
	// Text is the new text.
	Text string `json:"text"`
}

// EchoSaveMemberTagParams are the parameters of EchoSaveMemberTag.
type EchoSaveMemberTagParams struct {
	// Channel is the channel; its ID is enough. The default is the context's own.
	Channel *channel.Channel `json:"channel,omitzero"`
	// Member is the member; its ID is enough. The default is the context's own.
	Member *member.Member `json:"member,omitzero"`
	// TagID is the tag. Required.
	TagID *int64 `json:"tagId,omitzero"`
}

// EchoSaveMemberTagResult is what Echo said.
type EchoSaveMemberTagResult struct {
	// ErrCode is 0 where the member has the tag now.
	ErrCode int64 `json:"errcode"`
	// ErrMsg is "ok", or why the member does not have it.
	ErrMsg string `json:"errmsg"`
}

// SavePostCommentAnalyticsParams are the parameters of SavePostCommentAnalytics.
type SavePostCommentAnalyticsParams struct {
	// Comment is the text of the comment. Required.
	Comment string `json:"comment,omitzero"`
	// ChannelID is the channel of the post. The default is the context's own.
	ChannelID string `json:"channelId,omitzero"`
	// FbID is the id on the platform of the user who commented. Required.
	FbID string `json:"fbId,omitzero"`
	// IsMatched is whether the comment is the trigger that the post waits for. The default
	// is false.
	IsMatched bool `json:"isMatched,omitzero"`
	// MemberID is the member. The default is the context's own.
	MemberID string `json:"memberId,omitzero" document:"listOfOne"`
	// Name is the user's name. Required.
	Name string `json:"name,omitzero"`
	// PostID is the post. Required.
	PostID string `json:"postId,omitzero"`
}

// SavePostCommentAnalyticsResult is the result of SavePostCommentAnalytics.
type SavePostCommentAnalyticsResult struct {
	// ClientMutationID is a new id each time.
	ClientMutationID string `json:"clientMutationId"`
}
