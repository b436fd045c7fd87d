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
	// record; hosts read them with Service.FindPostComments.
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
