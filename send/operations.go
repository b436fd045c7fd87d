package send

import (
	"context"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

// Operations are the operations that send messages. A required parameter that is missing is
// InvalidArgument.
//
// Specification: Sending operations.
type Operations interface {
	// SendResponse sends a message to one member or several, on any platform. Without
	// channel and member it goes to the context's own: where the member talks with the bot
	// in a group, it goes to the group. A member who is named gets it alone.
	//
	// {{path}} of a template is filled from each member. Everything is checked before
	// the first message goes out: the records, the connector, and the message as each
	// member would get it. Then all members are tried, each once. The result holds what
	// the platform answered, for several members in their order; the results of those
	// that failed say why. *UndeliveredError is behind the error of every message that was
	// tried, that for one member included, and names who did not get it.
	//
	// Errors:
	//   - InvalidArgument: Channel and ChannelID, or Member and MemberID, name different
	//     records.
	//   - InvalidArgument: a member is in another channel than the message goes to, or
	//     MemberID is an empty list.
	//   - InvalidArgument: Response breaks a limit of its type; the error has the path, such
	//     as response.buttons[3].title.
	//   - NotFound: the channel or the member does not exist in the app.
	//   - FailedPrecondition: the member has no id on the platform.
	//   - Unsupported: the host has no connector for the channel's type.
	//   - ResourceExhausted: the platform's rate limit was reached.
	//   - Unavailable: the platform did not answer, so whether the message arrived is not
	//     known.
	//   - Unavailable: the platform did not take the message for some of several members.
	//     All were tried; the error names them, and the results come with it.
	//
	// Specification: Sending operations.
	SendResponse(ctx context.Context, p SendResponseParams) (SendResponseResult, error)

	// SendAlphaResponse sends a message to one member of an Alpha channel, as SendResponse does.
	//
	// Errors:
	//   - InvalidArgument: Channel and ChannelID, or Member and MemberID, name different
	//     records.
	//   - InvalidArgument: Response breaks a limit of its type; the error has the path, such
	//     as response.buttons[3].title.
	//   - InvalidArgument: the member is in another channel than the call is for.
	//   - NotFound: the channel or the member does not exist in the app.
	//   - FailedPrecondition: the member has no id on the platform.
	//   - Unsupported: the channel is not of type alpha; or the host has no connector for
	//     it.
	//   - ResourceExhausted: the platform's rate limit was reached.
	//   - Unavailable: the platform did not answer, so whether the message arrived is not
	//     known.
	//
	// Specification: Sending operations.
	SendAlphaResponse(ctx context.Context, p SendAlphaResponseParams) (Result, error)

	// SendAlphaResponseToMemberIDs sends a message to several members of an Alpha channel, as
	// SendResponse does: all are tried. The result has an element for each member in the order
	// in which MemberID first names them, also where there is but one. Where MemberID names one
	// member who does not get the message, the error has the code of that failure,
	// *UndeliveredError is behind it all the same, and the result comes with it.
	//
	// Errors:
	//   - InvalidArgument: Channel and ChannelID name different records.
	//   - InvalidArgument: Response breaks a limit of its type; the error has the path, such
	//     as response.buttons[3].title.
	//   - InvalidArgument: the member is in another channel than the call is for.
	//   - NotFound: the channel or the member does not exist in the app.
	//   - FailedPrecondition: the member has no id on the platform.
	//   - Unsupported: the channel is not of type alpha; or the host has no connector for
	//     it.
	//   - ResourceExhausted: the platform's rate limit was reached.
	//   - Unavailable: the platform did not take the message for some of several members.
	//     All were tried; the error names them, and the results come with it.
	//
	// Specification: Sending operations.
	SendAlphaResponseToMemberIDs(ctx context.Context, p SendAlphaResponseToMemberIDsParams) (SendAlphaResponseToMemberIDsResult, error)

	// SendHotelResponse sends a message to a user or a group on Hotel, who need not be a member.
	// {{path}} in the message is filled from the context's own member, where it has one.
	//
	// Errors:
	//   - InvalidArgument: ReceiverType is ReceiverUser and RecipientID is missing.
	//   - InvalidArgument: Response breaks a limit of its type; the error has the path, such
	//     as response.buttons[3].title.
	//   - NotFound: the channel or the context's own member does not exist in the app.
	//   - Unsupported: the channel is not of type hotel; or the host has no connector for
	//     it.
	//   - ResourceExhausted: the platform's rate limit was reached.
	//   - Unavailable: the platform did not answer, so whether the message arrived is not
	//     known.
	//
	// Specification: Sending operations.
	SendHotelResponse(ctx context.Context, p SendHotelResponseParams) (Result, error)

	// SendDeltaResponse sends a message to one member or several of a Delta channel by one
	// request. What is checked beforehand is what SendResponse checks. Delta tells what it
	// made of the request; where some members did not get the message, the result comes with
	// the error, and *UndeliveredError behind it names them. The code is then Unavailable, and
	// that of the failure where there is but one member.
	//
	// Errors:
	//   - InvalidArgument: Channel and ChannelID, or Member and MemberID, name different
	//     records.
	//   - InvalidArgument: Response breaks a limit of its type; the error has the path, such
	//     as response.buttons[3].title.
	//   - InvalidArgument: the member is in another channel than the call is for.
	//   - NotFound: the channel or the member does not exist in the app.
	//   - FailedPrecondition: the member has no id on the platform.
	//   - Unsupported: the channel is not of type delta; or its connector is no BatchSender.
	//   - ResourceExhausted: the platform's rate limit was reached.
	//   - Unavailable: the platform did not answer, so whether the message arrived is not
	//     known.
	//   - Unavailable: the platform did not take the message for some of several members.
	//     All were tried; the error names them, and the result comes with it.
	//
	// Specification: Sending operations.
	SendDeltaResponse(ctx context.Context, p SendDeltaResponseParams) (SendDeltaResponseResult, error)

	// AlphaCreateBroadcast stores a message on Alpha, to be sent by AlphaSendBroadcast.
	// {{path}} is not filled, since the message is for many.
	//
	// Errors:
	//   - InvalidArgument: Response breaks a limit of its type; the error has the path, such
	//     as response.buttons[3].title.
	//   - NotFound: the channel does not exist in the app.
	//   - Unsupported: the channel is not of type alpha; or its connector is no Broadcaster.
	//
	// Specification: Sending operations.
	AlphaCreateBroadcast(ctx context.Context, p AlphaCreateBroadcastParams) (AlphaCreateBroadcastResult, error)

	// AlphaSendBroadcast sends a stored message to all members with a label.
	//
	// Errors:
	//   - InvalidArgument: BroadcastID is an object that holds no id.
	//   - NotFound: the channel does not exist in the app, or has no such message or label.
	//   - Unsupported: the channel is not of type alpha; or its connector is no Broadcaster.
	//   - ResourceExhausted: the platform's rate limit was reached.
	//   - Unavailable: the platform did not answer, so whether it sends is not known.
	//
	// Specification: Sending operations.
	AlphaSendBroadcast(ctx context.Context, p AlphaSendBroadcastParams) (AlphaSendBroadcastResult, error)

	// AlphaGetAttachmentID gives a file to Alpha and returns the id by which messages use it:
	// Attachment(TypeImage, id).
	//
	// The platform fetches the file, not this host: an address that only this host reaches is
	// refused by the platform, and not here.
	//
	// Errors:
	//   - InvalidArgument: Type is no kind of file, or URL no HTTP address.
	//   - NotFound: the channel does not exist in the app.
	//   - Unsupported: the channel is not of type alpha; or its connector is no
	//     AttachmentUploader.
	//
	// Specification: Sending operations.
	AlphaGetAttachmentID(ctx context.Context, p AlphaGetAttachmentIDParams) (AlphaGetAttachmentIDResult, error)

	// AlphaPassThreadControl hands the conversation with a member to another application on
	// Alpha, such as an agent's inbox.
	//
	// Errors:
	//   - InvalidArgument: the member is in another channel than the call is for.
	//   - NotFound: the channel or the member does not exist in the app.
	//   - FailedPrecondition: the member has no id on the platform, or another application
	//     controls the conversation.
	//   - Unsupported: the channel is not of type alpha; or its connector is no
	//     ThreadPasser.
	//
	// Specification: Sending operations.
	AlphaPassThreadControl(ctx context.Context, p AlphaPassThreadControlParams) (AlphaPassThreadControlResult, error)

	// AlphaSaveCustomLabel puts a label on a member on Alpha. One that the member has already
	// is no error.
	//
	// Errors:
	//   - InvalidArgument: the member is in another channel than the call is for.
	//   - NotFound: the channel or the member does not exist in the app.
	//   - FailedPrecondition: the member has no id on the platform.
	//   - Unsupported: the channel is not of type alpha; or its connector is no Labeler.
	//
	// Specification: Sending operations.
	AlphaSaveCustomLabel(ctx context.Context, p AlphaSaveCustomLabelParams) (AlphaSaveCustomLabelResult, error)

	// AlphaRemoveCustomLabel takes a label off a member on Alpha. One that the member does not
	// have is no error.
	//
	// Errors:
	//   - InvalidArgument: the member is in another channel than the call is for.
	//   - NotFound: the channel or the member does not exist in the app.
	//   - FailedPrecondition: the member has no id on the platform.
	//   - Unsupported: the channel is not of type alpha; or its connector is no Labeler.
	//
	// Specification: Sending operations.
	AlphaRemoveCustomLabel(ctx context.Context, p AlphaRemoveCustomLabelParams) (AlphaRemoveCustomLabelResult, error)

	// SavePostCommentAnalytics records that a user commented on a post. Each call makes a
	// record; hosts read them with botctx.Runtime.PostComments.
	//
	// Errors:
	//   - InvalidArgument: the member is in another channel than the call is for.
	//   - NotFound: the channel or the member does not exist in the app.
	//
	// Specification: Sending operations.
	SavePostCommentAnalytics(ctx context.Context, p SavePostCommentAnalyticsParams) (SavePostCommentAnalyticsResult, error)

	// CharlieArchiveConversation archives a conversation on Charlie. One that is archived
	// already is no error.
	//
	// Errors:
	//   - InvalidArgument: MessageEvent.To does not say which conversation it is of.
	//   - NotFound: the channel does not exist in the app, or has no such conversation.
	//   - Unsupported: the channel is not of type charlie; or its connector is no
	//     ConversationArchiver.
	//
	// Specification: Sending operations.
	CharlieArchiveConversation(ctx context.Context, p CharlieArchiveConversationParams) (CharlieArchiveConversationResult, error)

	// UpdateMessage changes a message that was sent, on platforms whose connector is a
	// MessageUpdater. {{path}} is not filled: the text is as it will be read.
	//
	// Errors:
	//   - InvalidArgument: MessageTs and MessageEvent name different messages.
	//   - InvalidArgument: Text has more than MaxText characters.
	//   - NotFound: the channel does not exist in the app, or has no such message.
	//   - Unsupported: the connector of the channel is no MessageUpdater: it cannot change
	//     messages.
	//
	// Specification: Sending operations.
	UpdateMessage(ctx context.Context, p UpdateMessageParams) (UpdateMessageResult, error)

	// EchoSaveMemberTag puts a tag on a member on Echo. What Echo refuses, such as a tag
	// beyond the MaxMemberTags that one user can have, it says in the result, and there is no error.
	//
	// Errors:
	//   - InvalidArgument: the member is in another channel than the call is for.
	//   - InvalidArgument: TagID is negative.
	//   - NotFound: the channel or the member does not exist in the app.
	//   - FailedPrecondition: the member has no id on the platform.
	//   - Unsupported: the channel is not of type echo; or its connector is no Tagger.
	//
	// Specification: Sending operations; Limits.
	EchoSaveMemberTag(ctx context.Context, p EchoSaveMemberTagParams) (EchoSaveMemberTagResult, error)
}

// SendResponseParams are the parameters of SendResponse.
type SendResponseParams struct {
	// Channel or ChannelID is the channel; the default is the context's own. Of a
	// channel that is given only the id is looked at.
	Channel   *channel.Channel `json:"channel,omitzero"`
	ChannelID string           `json:"channelId,omitzero"`
	// Member or MemberID is who gets the message, one member or several of the channel;
	// the default is the context's own. Of a member that is given only the id is looked
	// at. A member that is named twice gets one message.
	Member   *member.Member             `json:"member,omitzero"`
	MemberID document.OneOrMany[string] `json:"memberId,omitzero"`
	// Response is the message. Required.
	Response Response `json:"response"`
	// MessagingType and MessagingTag say in Alpha's words why and under which exception
	// the message is sent. They are ignored on other platforms, and InvalidArgument
	// there in strict mode.
	MessagingType string `json:"messagingType,omitzero"`
	MessagingTag  string `json:"messagingTag,omitzero"`
}

// SendResponseResult is what came of a SendResponse. Its JSON is the result's own for
// one member, and an array for several.
type SendResponseResult struct {
	// Results has one element for each member, in the order in which MemberID first
	// names them.
	Results []Result
}

// Result returns the result for the only member, or for the first of several. It is
// zero where nothing was sent.
func (r SendResponseResult) Result() Result {
	if len(r.Results) == 0 {
		return Result{}
	}
	return r.Results[0]
}

// HasOutcomes reports whether there is anything to tell beside an error.
func (r SendResponseResult) HasOutcomes() bool { return len(r.Results) > 0 }

// EncodeValue returns the only result, or an array of several.
func (r SendResponseResult) EncodeValue() (any, error) {
	if len(r.Results) == 1 {
		return r.Results[0].EncodeValue()
	}
	return document.ValueOf(r.Results)
}

// DecodeValue reads one result or an array of them. null gives none.
func (r *SendResponseResult) DecodeValue(value any) error {
	var results document.OneOrMany[Result]
	if err := results.DecodeValue(value); err != nil {
		return err
	}
	r.Results = results
	return nil
}

// MarshalJSON writes the only result, or an array of several.
func (r SendResponseResult) MarshalJSON() ([]byte, error) {
	value, err := r.EncodeValue()
	if err != nil {
		return nil, err
	}
	return document.AppendJSON(nil, value)
}

// UnmarshalJSON reads one result or an array of them.
func (r *SendResponseResult) UnmarshalJSON(text []byte) error { return unmarshal(text, r) }

// SendAlphaResponseParams are the parameters of SendAlphaResponse.
type SendAlphaResponseParams struct {
	// Channel or ChannelID is the channel; the default is the context's own. Of a
	// channel that is given only the id is looked at.
	Channel   *channel.Channel `json:"channel,omitzero"`
	ChannelID string           `json:"channelId,omitzero"`
	// Member or MemberID is who gets the message; the default is the context's own member.
	// Of a member that is given only the id is looked at.
	Member   *member.Member `json:"member,omitzero"`
	MemberID string         `json:"memberId,omitzero" document:"listOfOne"`
	// Response is the message. Required.
	Response Response `json:"response"`
}

// SendAlphaResponseToMemberIDsParams are the parameters of SendAlphaResponseToMemberIDs.
type SendAlphaResponseToMemberIDsParams struct {
	// Channel or ChannelID is the channel; the default is the context's own. Of a
	// channel that is given only the id is looked at.
	Channel   *channel.Channel `json:"channel,omitzero"`
	ChannelID string           `json:"channelId,omitzero"`
	// MemberID are the members of the channel who get the message. A member that is named
	// twice gets one message. Required.
	MemberID document.OneOrMany[string] `json:"memberId,omitzero"`
	// Response is the message. Required.
	Response Response `json:"response"`
}

// SendAlphaResponseToMemberIDsResult is what came of a SendAlphaResponseToMemberIDs. Its
// JSON is an array.
type SendAlphaResponseToMemberIDsResult struct {
	// Results has one element for each member, in the order in which MemberID first
	// names them.
	Results []Result
}

// HasOutcomes reports whether there is anything to tell beside an error.
func (r SendAlphaResponseToMemberIDsResult) HasOutcomes() bool { return len(r.Results) > 0 }

// EncodeValue returns the array of results.
func (r SendAlphaResponseToMemberIDsResult) EncodeValue() (any, error) {
	if r.Results == nil {
		return document.A(), nil
	}
	return document.ValueOf(r.Results)
}

// DecodeValue reads an array of results. null gives none.
func (r *SendAlphaResponseToMemberIDsResult) DecodeValue(value any) error {
	return document.DecodeValue(value, &r.Results)
}

// MarshalJSON writes the array of results.
func (r SendAlphaResponseToMemberIDsResult) MarshalJSON() ([]byte, error) {
	value, err := r.EncodeValue()
	if err != nil {
		return nil, err
	}
	return document.AppendJSON(nil, value)
}

// UnmarshalJSON reads an array of results.
func (r *SendAlphaResponseToMemberIDsResult) UnmarshalJSON(text []byte) error {
	return unmarshal(text, r)
}

// AlphaGetAttachmentIDParams are the parameters of AlphaGetAttachmentID.
type AlphaGetAttachmentIDParams struct {
	// Channel is the channel; its ID is enough. The default is the context's own.
	Channel *channel.Channel `json:"channel,omitzero"`
	// Type is the kind of file: TypeImage, TypeAudio, TypeVideo or TypeFile. Required.
	Type AttachmentType `json:"type,omitzero"`
	// URL is where Alpha finds the file. Required.
	URL string `json:"url,omitzero"`
}

// AlphaGetAttachmentIDResult is the result of AlphaGetAttachmentID.
type AlphaGetAttachmentIDResult struct {
	// AttachmentID is the id by which messages use the file.
	AttachmentID string `json:"attachment_id"`
}

// AlphaPassThreadControlParams are the parameters of AlphaPassThreadControl.
type AlphaPassThreadControlParams struct {
	// Channel is the channel; its ID is enough. The default is the context's own.
	Channel *channel.Channel `json:"channel,omitzero"`
	// Member is the member; its ID is enough. The default is the context's own.
	Member *member.Member `json:"member,omitzero"`
	// TargetAppID is the application that gets the conversation. "" leaves the choice to the
	// platform.
	TargetAppID string `json:"targetAppId,omitzero"`
	// Metadata is handed to that application.
	Metadata string `json:"metadata,omitzero"`
}

// AlphaPassThreadControlResult is the result of AlphaPassThreadControl.
type AlphaPassThreadControlResult struct {
	// Success is true.
	Success bool `json:"success"`
}

// AlphaSaveCustomLabelParams are the parameters of AlphaSaveCustomLabel.
type AlphaSaveCustomLabelParams struct {
	// Channel is the channel; its ID is enough. The default is the context's own.
	Channel *channel.Channel `json:"channel,omitzero"`
	// Member is the member; its ID is enough. The default is the context's own.
	Member *member.Member `json:"member,omitzero"`
	// LabelID is the label. Required.
	LabelID string `json:"labelId,omitzero"`
}

// AlphaSaveCustomLabelResult is the result of AlphaSaveCustomLabel.
type AlphaSaveCustomLabelResult struct {
	// ID is Alpha's number of the label.
	ID int64 `json:"id"`
}

// AlphaRemoveCustomLabelParams are the parameters of AlphaRemoveCustomLabel.
type AlphaRemoveCustomLabelParams struct {
	// Channel is the channel; its ID is enough. The default is the context's own.
	Channel *channel.Channel `json:"channel,omitzero"`
	// Member is the member; its ID is enough. The default is the context's own.
	Member *member.Member `json:"member,omitzero"`
	// LabelID is the label. Required.
	LabelID string `json:"labelId,omitzero"`
}

// AlphaRemoveCustomLabelResult is the result of AlphaRemoveCustomLabel.
type AlphaRemoveCustomLabelResult struct {
	// Success is true.
	Success bool `json:"success"`
}

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

// PostComment is the record of a comment on a post, which SavePostCommentAnalytics makes.
type PostComment struct {
	// ID is the primary key.
	ID string `json:"_id"`
	// App is the app that it belongs to.
	App string `json:"app"`
	// Channel is the id of the channel of the post, Member that of the member who commented.
	Channel string `json:"channel"`
	Member  string `json:"member"`
	// Comment is the text.
	Comment string `json:"comment"`
	// ExternalID is the id on the platform of the user who commented, Name the user's name.
	ExternalID string `json:"externalId"`
	Name       string `json:"name"`
	// IsMatched is whether the comment is the trigger that the post waits for.
	IsMatched bool `json:"isMatched"`
	// PostID is the post.
	PostID string `json:"postId"`
	// CreatedAt is when the record was made.
	CreatedAt document.Timestamp `json:"createdAt"`
}

// String returns the comment as JSON with readable times and without credentials, for logs and failures of tests.
func (c *PostComment) String() string { return document.Text(c) }

// GoString is String, for failures of tests.
func (c *PostComment) GoString() string { return c.String() }
