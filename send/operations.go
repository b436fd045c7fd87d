package send

import (
	"context"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

// Operations are the operations that send messages. A missing required parameter is
// InvalidArgument.
//
// Specification: Sending operations.
type Operations interface {
	// SendResponse sends a message to one member or several, on any platform. Without a
	// channel and a member, it goes to the context's member, or to the group in which that member
	// talks to the bot. A member that is named receives it privately.
	//
	// {{path}} in a template is filled from each member. For the run's own member, this includes the
	// changes to meta, botMeta, customLocale and group that are not stored yet. All records, the
	// connector and the message of each member are checked before the first message is sent. Then
	// all members are tried, each once. The result has the platform's answers in the order of the
	// members; the result of a member who did not receive the message has Err. If a message was tried
	// and did not arrive, the error wraps *UndeliveredError, which names the members, even if there
	// is only one.
	//
	// In the run of an agenda, a member whose botMeta.subscribe is false gets nothing. The call
	// succeeds, and the member's result is empty.
	//
	// Errors:
	//   - InvalidArgument: Channel and ChannelID, or Member and MemberID, name different records.
	//   - InvalidArgument: a member is not in the channel that the message goes to, or MemberID is
	//     an empty list.
	//   - InvalidArgument: Response breaks a limit of its type; the error has the path, such as
	//     response.buttons[3].title.
	//   - NotFound: the channel or the member does not exist in the app.
	//   - FailedPrecondition: the member has no id on the platform.
	//   - Unsupported: the host has no connector for the channel's type.
	//   - ResourceExhausted: the platform's rate limit was reached.
	//   - Unavailable: the platform did not answer, so the message may or may not have arrived.
	//   - Unavailable: the platform did not accept the message for some of several members. All
	//     were tried; the error names them, and the results are returned with it.
	//
	// Specification: Sending operations.
	SendResponse(ctx context.Context, p SendResponseParams) (SendResponseResult, error)

	// SendAlphaResponse sends a message to one member of an Alpha channel, like SendResponse.
	//
	// Errors:
	//   - InvalidArgument: Channel and ChannelID, or Member and MemberID, name different records.
	//   - InvalidArgument: Response breaks a limit of its type; the error has the path, such as
	//     response.buttons[3].title.
	//   - InvalidArgument: the member is not in the channel of the call.
	//   - NotFound: the channel or the member does not exist in the app.
	//   - FailedPrecondition: the member has no id on the platform.
	//   - Unsupported: the channel is not of type alpha, or the host has no connector for it.
	//   - ResourceExhausted: the platform's rate limit was reached.
	//   - Unavailable: the platform did not answer, so the message may or may not have arrived.
	//
	// Specification: Sending operations.
	SendAlphaResponse(ctx context.Context, p SendAlphaResponseParams) (Result, error)

	// SendAlphaResponseToMemberIDs sends a message to several members of an Alpha channel, like
	// SendResponse: all are tried. The result has an element for each member in the order in which
	// MemberID first names them, even if there is only one. If MemberID names one member who does
	// not receive the message, the error has the code of that failure and wraps *UndeliveredError,
	// and the result is returned with it.
	//
	// Errors:
	//   - InvalidArgument: Channel and ChannelID name different records.
	//   - InvalidArgument: Response breaks a limit of its type; the error has the path, such as
	//     response.buttons[3].title.
	//   - InvalidArgument: the member is not in the channel of the call.
	//   - NotFound: the channel or the member does not exist in the app.
	//   - FailedPrecondition: the member has no id on the platform.
	//   - Unsupported: the channel is not of type alpha, or the host has no connector for it.
	//   - ResourceExhausted: the platform's rate limit was reached.
	//   - Unavailable: the platform did not accept the message for some of several members. All
	//     were tried; the error names them, and the results are returned with it.
	//
	// Specification: Sending operations.
	SendAlphaResponseToMemberIDs(ctx context.Context, p SendAlphaResponseToMemberIDsParams) (SendAlphaResponseToMemberIDsResult, error)

	// SendHotelResponse sends a message to a user or a group on Hotel, who need not be a member.
	// {{path}} in the message is filled from the context's own member, if it has one. If that member
	// is the receiver and has unsubscribed, SendResponse's rule for agendas holds.
	//
	// Errors:
	//   - InvalidArgument: ReceiverType is ReceiverUser and RecipientID is missing.
	//   - InvalidArgument: Response breaks a limit of its type; the error has the path, such as
	//     response.buttons[3].title.
	//   - NotFound: the channel or the context's own member does not exist in the app.
	//   - Unsupported: the channel is not of type hotel, or the host has no connector for it.
	//   - ResourceExhausted: the platform's rate limit was reached.
	//   - Unavailable: the platform did not answer, so the message may or may not have arrived.
	//
	// Specification: Sending operations.
	SendHotelResponse(ctx context.Context, p SendHotelResponseParams) (Result, error)

	// SendDeltaResponse sends a message to one member or several of a Delta channel in one request.
	// It makes the same checks as SendResponse, and leaves out the same members. It returns Delta's
	// answer to the request; ID and Status are empty if no member was left. If some members did not
	// receive the message, the result is returned with an error that wraps *UndeliveredError. The
	// code is then Unavailable, or the code of the failure if there is only one member.
	//
	// Errors:
	//   - InvalidArgument: Channel and ChannelID, or Member and MemberID, name different records.
	//   - InvalidArgument: Response breaks a limit of its type; the error has the path, such as
	//     response.buttons[3].title.
	//   - InvalidArgument: the member is not in the channel of the call.
	//   - NotFound: the channel or the member does not exist in the app.
	//   - FailedPrecondition: the member has no id on the platform.
	//   - Unsupported: the channel is not of type delta, or its connector is not a BatchSender.
	//   - ResourceExhausted: the platform's rate limit was reached.
	//   - Unavailable: the platform did not answer, so the message may or may not have arrived.
	//   - Unavailable: the platform did not accept the message for some of several members. All
	//     were tried; the error names them, and the result is returned with it.
	//
	// Specification: Sending operations.
	SendDeltaResponse(ctx context.Context, p SendDeltaResponseParams) (SendDeltaResponseResult, error)

	// AlphaCreateBroadcast stores a message on Alpha, for AlphaSendBroadcast to send. {{path}} is
	// not filled, because the message goes to many.
	//
	// Errors:
	//   - InvalidArgument: Response breaks a limit of its type; the error has the path, such as
	//     response.buttons[3].title.
	//   - NotFound: the channel does not exist in the app.
	//   - Unsupported: the channel is not of type alpha, or its connector is not a Broadcaster.
	//
	// Specification: Sending operations.
	AlphaCreateBroadcast(ctx context.Context, p AlphaCreateBroadcastParams) (AlphaCreateBroadcastResult, error)

	// AlphaSendBroadcast sends a stored message to all members with a label.
	//
	// Errors:
	//   - InvalidArgument: BroadcastID is an object without an id.
	//   - NotFound: the channel does not exist in the app, or has no such message or label.
	//   - Unsupported: the channel is not of type alpha, or its connector is not a Broadcaster.
	//   - ResourceExhausted: the platform's rate limit was reached.
	//   - Unavailable: the platform did not answer, so the broadcast may or may not be sent.
	//
	// Specification: Sending operations.
	AlphaSendBroadcast(ctx context.Context, p AlphaSendBroadcastParams) (AlphaSendBroadcastResult, error)

	// AlphaGetAttachmentID uploads a file to Alpha and returns the id that messages use:
	// Attachment(TypeImage, id).
	//
	// The platform fetches the file, and refuses a URL that it cannot reach.
	//
	// Errors:
	//   - InvalidArgument: Type is not a kind of file, or URL is not an HTTP address.
	//   - NotFound: the channel does not exist in the app.
	//   - Unsupported: the channel is not of type alpha, or its connector is not an
	//     AttachmentUploader.
	//
	// Specification: Sending operations.
	AlphaGetAttachmentID(ctx context.Context, p AlphaGetAttachmentIDParams) (AlphaGetAttachmentIDResult, error)

	// AlphaPassThreadControl passes the conversation with a member to another application on Alpha,
	// such as an agent's inbox.
	//
	// Errors:
	//   - InvalidArgument: the member is not in the channel of the call.
	//   - NotFound: the channel or the member does not exist in the app.
	//   - FailedPrecondition: the member has no id on the platform, or another application
	//     controls the conversation.
	//   - Unsupported: the channel is not of type alpha, or its connector is not a ThreadPasser.
	//
	// Specification: Sending operations.
	AlphaPassThreadControl(ctx context.Context, p AlphaPassThreadControlParams) (AlphaPassThreadControlResult, error)

	// AlphaSaveCustomLabel puts a label on a member on Alpha. It succeeds if the member already has
	// the label.
	//
	// Errors:
	//   - InvalidArgument: the member is not in the channel of the call.
	//   - NotFound: the channel or the member does not exist in the app.
	//   - FailedPrecondition: the member has no id on the platform.
	//   - Unsupported: the channel is not of type alpha, or its connector is not a Labeler.
	//
	// Specification: Sending operations.
	AlphaSaveCustomLabel(ctx context.Context, p AlphaSaveCustomLabelParams) (AlphaSaveCustomLabelResult, error)

	// AlphaRemoveCustomLabel removes a label from a member on Alpha. It succeeds if the member does
	// not have the label.
	//
	// Errors:
	//   - InvalidArgument: the member is not in the channel of the call.
	//   - NotFound: the channel or the member does not exist in the app.
	//   - FailedPrecondition: the member has no id on the platform.
	//   - Unsupported: the channel is not of type alpha, or its connector is not a Labeler.
	//
	// Specification: Sending operations.
	AlphaRemoveCustomLabel(ctx context.Context, p AlphaRemoveCustomLabelParams) (AlphaRemoveCustomLabelResult, error)

	// SavePostCommentAnalytics records that a user commented on a post. Each call creates a record;
	// hosts read them with botctx.Runtime.PostComments.
	//
	// Errors:
	//   - InvalidArgument: the member is not in the channel of the call.
	//   - NotFound: the channel or the member does not exist in the app.
	//
	// Specification: Sending operations.
	SavePostCommentAnalytics(ctx context.Context, p SavePostCommentAnalyticsParams) (SavePostCommentAnalyticsResult, error)

	// CharlieArchiveConversation archives a conversation on Charlie. It succeeds if the
	// conversation is already archived.
	//
	// Errors:
	//   - InvalidArgument: MessageEvent.To does not name a conversation.
	//   - NotFound: the channel does not exist in the app, or has no such conversation.
	//   - Unsupported: the channel is not of type charlie, or its connector is not a
	//     ConversationArchiver.
	//
	// Specification: Sending operations.
	CharlieArchiveConversation(ctx context.Context, p CharlieArchiveConversationParams) (CharlieArchiveConversationResult, error)

	// UpdateMessage changes a sent message, on platforms whose connector is a MessageUpdater.
	// {{path}} is not filled.
	//
	// Errors:
	//   - InvalidArgument: MessageTs and MessageEvent name different messages.
	//   - InvalidArgument: Text has more than MaxText characters.
	//   - NotFound: the channel does not exist in the app, or has no such message.
	//   - Unsupported: the channel's connector is not a MessageUpdater: it cannot change messages.
	//
	// Specification: Sending operations.
	UpdateMessage(ctx context.Context, p UpdateMessageParams) (UpdateMessageResult, error)

	// EchoSaveMemberTag puts a tag on a member on Echo. If Echo refuses, for example because the
	// user already has MaxMemberTags tags, the result says so and there is no error.
	//
	// Errors:
	//   - InvalidArgument: the member is not in the channel of the call.
	//   - InvalidArgument: TagID is negative.
	//   - NotFound: the channel or the member does not exist in the app.
	//   - FailedPrecondition: the member has no id on the platform.
	//   - Unsupported: the channel is not of type echo, or its connector is not a Tagger.
	//
	// Specification: Sending operations; Limits.
	EchoSaveMemberTag(ctx context.Context, p EchoSaveMemberTagParams) (EchoSaveMemberTagResult, error)
}

// SendResponseParams are the parameters of SendResponse.
type SendResponseParams struct {
	// Channel or ChannelID is the channel; the default is the context's own. Only the id of a given
	// channel is used.
	Channel   *channel.Channel `json:"channel,omitzero"`
	ChannelID string           `json:"channelId,omitzero"`
	// Member or MemberID names the receivers, one member or several of the channel; the default is
	// the context's own. Only the id of a given member is used. A member named twice receives one
	// message.
	Member   *member.Member             `json:"member,omitzero"`
	MemberID document.OneOrMany[string] `json:"memberId,omitzero"`
	// Response is the message. Required.
	Response Response `json:"response"`
	// MessagingType and MessagingTag state, in Alpha's terms, why and under which exception the
	// message is sent. On other platforms they are ignored or, in strict mode, InvalidArgument.
	MessagingType string `json:"messagingType,omitzero"`
	MessagingTag  string `json:"messagingTag,omitzero"`
}

// SendResponseResult is the result of SendResponse. Its JSON is a single result for one member, and
// an array for several.
type SendResponseResult struct {
	// Results has one element for each member, in the order in which MemberID first names them.
	Results []Result
}

// Result returns the first result, which for one member is the only one. Its MessageEvent is zero if
// nothing was sent.
func (r SendResponseResult) Result() Result {
	if len(r.Results) == 0 {
		return Result{}
	}
	return r.Results[0]
}

// HasOutcomes reports whether there are results to return together with an error.
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
	// Channel or ChannelID is the channel; the default is the context's own. Only the id of a given
	// channel is used.
	Channel   *channel.Channel `json:"channel,omitzero"`
	ChannelID string           `json:"channelId,omitzero"`
	// Member or MemberID is the receiver; the default is the context's own member. Only the id of a
	// given member is used.
	Member   *member.Member `json:"member,omitzero"`
	MemberID string         `json:"memberId,omitzero" document:"listOfOne"`
	// Response is the message. Required.
	Response Response `json:"response"`
}

// SendAlphaResponseToMemberIDsParams are the parameters of SendAlphaResponseToMemberIDs.
type SendAlphaResponseToMemberIDsParams struct {
	// Channel or ChannelID is the channel; the default is the context's own. Only the id of a given
	// channel is used.
	Channel   *channel.Channel `json:"channel,omitzero"`
	ChannelID string           `json:"channelId,omitzero"`
	// MemberID names the members of the channel who receive the message. A member named twice
	// receives one message. Required.
	MemberID document.OneOrMany[string] `json:"memberId,omitzero"`
	// Response is the message. Required.
	Response Response `json:"response"`
}

// SendAlphaResponseToMemberIDsResult is the result of SendAlphaResponseToMemberIDs. Its JSON is an
// array.
type SendAlphaResponseToMemberIDsResult struct {
	// Results has one element for each member, in the order in which MemberID first names them.
	Results []Result
}

// HasOutcomes reports whether there are results to return together with an error.
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
	// URL is the address from which Alpha fetches the file. Required.
	URL string `json:"url,omitzero"`
}

// AlphaGetAttachmentIDResult is the result of AlphaGetAttachmentID.
type AlphaGetAttachmentIDResult struct {
	// AttachmentID is the id that messages use for the file.
	AttachmentID string `json:"attachment_id"`
}

// AlphaPassThreadControlParams are the parameters of AlphaPassThreadControl.
type AlphaPassThreadControlParams struct {
	// Channel is the channel; its ID is enough. The default is the context's own.
	Channel *channel.Channel `json:"channel,omitzero"`
	// Member is the member; its ID is enough. The default is the context's own.
	Member *member.Member `json:"member,omitzero"`
	// TargetAppID is the application that receives the conversation. With "" the platform chooses.
	TargetAppID string `json:"targetAppId,omitzero" document:"orNumber"`
	// Metadata is passed to that application.
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
	// LabelID is the label: its name or its number. Required.
	LabelID string `json:"labelId,omitzero" document:"orNumber"`
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
	// LabelID is the label: its name or its number. Required.
	LabelID string `json:"labelId,omitzero" document:"orNumber"`
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
	// Response is the message. JSON may give it as an object or as a string of JSON. Required.
	Response Response `json:"response"`
}

// AlphaCreateBroadcastResult is the result of AlphaCreateBroadcast.
type AlphaCreateBroadcastResult struct {
	// OK is 1.
	OK int64 `json:"ok"`
	// Result has one element for each stored message.
	Result []StoredMessage `json:"result"`
}

// ForCaller returns the result with its tokens, which the caller needs. All other forms redact
// them.
func (r AlphaCreateBroadcastResult) ForCaller() (document.Object, error) { return document.Encode(r) }

// StoredMessage is a message stored by Alpha, to be sent as a broadcast.
type StoredMessage struct {
	// Response is Alpha's reply, with the id as message_creative_id.
	Response document.Object `json:"response"`
	// AccessToken is the token that the message was stored with.
	AccessToken channel.Secret `json:"accessToken"`
}

// ID returns the id for AlphaSendBroadcast, or "" if Alpha's reply has none.
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
	// LabelID is the label of the receivers. Required.
	LabelID string `json:"labelId,omitzero" document:"orNumber"`
	// NotificationType is Alpha's name for how members are notified. Required.
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
	// RecipientID is the user's id on Hotel. It or HotelGroupID is required; with both, the user
	// receives the message in that group.
	RecipientID string `json:"recipientId,omitzero"`
	// ReceiverType is the kind of receiver on Hotel. The default is ReceiverUser with a
	// RecipientID, and else ReceiverGroup.
	ReceiverType string `json:"receiverType,omitzero"`
	// HotelGroupID is the group's id on Hotel. Required without RecipientID.
	HotelGroupID string `json:"hotelGroupId,omitzero"`
}

// SendDeltaResponseParams are the parameters of SendDeltaResponse.
type SendDeltaResponseParams struct {
	// Channel or ChannelID is the channel; the default is the context's own. Only the id of a given
	// channel is used.
	Channel   *channel.Channel `json:"channel,omitzero"`
	ChannelID string           `json:"channelId,omitzero"`
	// Member or MemberID names the receivers, one member or several of the channel; the default is
	// the context's own. Only the id of a given member is used. A member named twice receives one
	// message.
	Member   *member.Member             `json:"member,omitzero"`
	MemberID document.OneOrMany[string] `json:"memberId,omitzero"`
	// Response is the message. Required.
	Response Response `json:"response"`
}

// SendDeltaResponseResult is Delta's answer to a request.
type SendDeltaResponseResult struct {
	// ID is Delta's id of the request; Status is Delta's status text.
	ID     string `json:"id"`
	Status string `json:"STATUS"`
	// Results has one element for each member, in the order in which MemberID first names them. It
	// is not part of the JSON.
	Results []Result `json:"-"`
}

// HasOutcomes reports whether there are results to return together with an error.
func (r SendDeltaResponseResult) HasOutcomes() bool { return r.ID != "" || len(r.Results) > 0 }

// CharlieArchiveConversationParams are the parameters of CharlieArchiveConversation.
type CharlieArchiveConversationParams struct {
	// Channel is the channel; its ID is enough. The default is the context's own.
	Channel *channel.Channel `json:"channel,omitzero"`
	// MessageEvent is an event in the conversation, which its To names. Required.
	MessageEvent *MessageEvent `json:"messageEvent,omitzero"`
}

// CharlieArchiveConversationResult is the result of CharlieArchiveConversation.
type CharlieArchiveConversationResult struct {
	// OK is true.
	OK bool `json:"ok"`
}

// UpdateMessageParams are the parameters of UpdateMessage.
type UpdateMessageParams struct {
	// Attachments are the new attachments in the platform's format. They or Text are required. nil
	// keeps the old attachments; an empty list removes them.
	Attachments []document.Object `json:"attachments,omitzero"`
	// ExternalChannelID is the conversation's id on the platform. Required.
	ExternalChannelID string `json:"externalChannelId,omitzero"`
	// Channel is the channel; its ID is enough. The default is the context's own.
	Channel *channel.Channel `json:"channel,omitzero"`
	// MessageTS or MessageEvent is the message: its timestamp on the platform, or the event of the
	// message, whose MessageID is the timestamp. One of both is required.
	MessageTS    MessageTS     `json:"messageTs,omitzero"`
	MessageEvent *MessageEvent `json:"messageEvent,omitzero"`
	// Text is the new text. Required without Attachments.
	Text string `json:"text,omitzero"`
}

// UpdateMessageResult is the result of UpdateMessage.
type UpdateMessageResult struct {
	// OK reports whether the platform changed the message.
	OK bool `json:"ok"`
	// Channel is the conversation's id on the platform.
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

// EchoSaveMemberTagResult is Echo's answer.
type EchoSaveMemberTagResult struct {
	// ErrCode is 0 if the member now has the tag.
	ErrCode int64 `json:"errcode"`
	// ErrMsg is "ok", or the reason of the refusal.
	ErrMsg string `json:"errmsg"`
}

// SavePostCommentAnalyticsParams are the parameters of SavePostCommentAnalytics.
type SavePostCommentAnalyticsParams struct {
	// Comment is the text of the comment. It is "" for a comment without text, such as a picture.
	Comment string `json:"comment,omitzero"`
	// ChannelID is the post's channel. The default is the context's own.
	ChannelID string `json:"channelId,omitzero"`
	// FbID is the commenting user's id on the platform. Required.
	FbID string `json:"fbId,omitzero"`
	// IsMatched reports whether the comment is the trigger that the post waits for. The default is
	// false.
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
	// ClientMutationID is a new id for each call.
	ClientMutationID string `json:"clientMutationId"`
}

// PostComment is the record created by SavePostCommentAnalytics.
type PostComment struct {
	// ID is the primary key.
	ID string `json:"_id"`
	// App is the app that it belongs to.
	App string `json:"app"`
	// Channel is the id of the post's channel; Member is the id of the member who commented.
	Channel string `json:"channel"`
	Member  string `json:"member"`
	// Comment is the text.
	Comment string `json:"comment"`
	// ExternalID is the commenting user's id on the platform; Name is their name.
	ExternalID string `json:"externalId"`
	Name       string `json:"name"`
	// IsMatched reports whether the comment is the trigger that the post waits for.
	IsMatched bool `json:"isMatched"`
	// PostID is the post.
	PostID string `json:"postId"`
	// CreatedAt is the time of creation.
	CreatedAt document.Timestamp `json:"createdAt"`
}

// String returns the comment as JSON with readable times and without credentials, for logs and test
// failures.
func (c *PostComment) String() string { return document.Text(c) }

// GoString returns String, so that test failures are readable.
func (c *PostComment) GoString() string { return c.String() }
