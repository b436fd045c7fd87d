package send

import (
	"context"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

// The ports below are optional features of a platform. A connector implements the ones that its
// platform supports. An operation whose port is missing returns Unsupported.
//
// The contract of Connector applies: ports must be safe for concurrent use, return once the
// platform has done or refused the request, and must not modify their arguments. Errors that a
// caller can act on have a code of boterr; an error without a code means that the platform did not
// answer. KeyOf returns the idempotency key for platforms that accept one.

// Wrapper is a connector that wraps another one, for example to limit or observe it. PortOf finds
// the ports of the inner connector.
type Wrapper interface {
	Connector
	// Unwrap returns the inner connector.
	Unwrap() Connector
}

// PortWrapper is a Wrapper that also wraps optional ports of the inner connector.
type PortWrapper interface {
	Wrapper
	// WrapPort returns the port that PortOf returns instead of the inner one. wanted is a nil
	// pointer to the port's type, such as (*Labeler)(nil), and inner is the port. If the result
	// does not implement the port, for example because it is nil, PortOf returns inner.
	WrapPort(wanted, inner any) any
}

// PortOf returns an optional port of a connector or of a connector that it wraps:
//
//	labeler, ok := send.PortOf[send.Labeler](connector)
//
// The outermost connector that has the port provides it, wrapped by every PortWrapper around it.
func PortOf[Port any](connector Connector) (Port, bool) {
	if port, ok := connector.(Port); ok {
		return port, true
	}
	wrapper, ok := connector.(Wrapper)
	if !ok {
		var none Port
		return none, false
	}
	port, ok := PortOf[Port](wrapper.Unwrap())
	if around, stands := wrapper.(PortWrapper); ok && stands {
		if wrapped, ok := around.WrapPort((*Port)(nil), port).(Port); ok {
			return wrapped, true
		}
	}
	return port, ok
}

// BatchSender sends messages to several recipients in one request. SendDeltaResponse needs it.
type BatchSender interface {
	// SendBatch sends one or more messages of one channel. Its error means that the whole request
	// failed; outcomes describe single messages.
	SendBatch(ctx context.Context, messages []Message) (Batch, error)
}

// Batch is a platform's answer to a request for several messages.
type Batch struct {
	// ID is the platform's id of the request; Status is the platform's status text. The default of
	// Status is OK, PARTIAL or FAILED, by the outcomes.
	ID     string
	Status string
	// Outcomes has one element per message, in order. nil means that the platform accepted all of
	// them.
	Outcomes []Outcome
}

// Outcome is the result of one message of a batch.
type Outcome struct {
	Delivery Delivery
	// Err is the reason if the platform did not accept the message.
	Err error
}

// Broadcaster stores messages and sends them to all members with a label.
type Broadcaster interface {
	// CreateBroadcast stores a message that has passed Response.Validate. It returns at least one
	// element, one for each stored message.
	CreateBroadcast(ctx context.Context, in *channel.Channel, response Response) ([]StoredMessage, error)
	// SendBroadcast sends a stored message and returns the platform's number of the broadcast. It
	// returns NotFound if the platform does not know the message or the label.
	SendBroadcast(ctx context.Context, in *channel.Channel, broadcast Broadcast) (int64, error)
}

// Broadcast is a stored message to send to all members with a label.
type Broadcast struct {
	// MessageID is the platform's id of the stored message.
	MessageID string
	// LabelID is the name or the number of the receivers' label.
	LabelID string
	// NotificationType is the platform's name for how members are notified.
	NotificationType string
}

// ResponseFormatter writes messages for the response URLs of interactions; see
// livechat.SendMessageToOutletGroupParams. Without it, the response itself is posted there.
type ResponseFormatter interface {
	// FormatResponse returns a response in the platform's format, as a request to a response URL has it.
	// The response has passed Response.Validate. Errors are as for Connector.Send.
	FormatResponse(response Response) (document.Object, error)
}

// AttachmentUploader uploads files that messages then use by id.
type AttachmentUploader interface {
	// UploadAttachment makes the platform fetch the file at an HTTP or HTTPS URL and returns the id
	// for use in messages. kind is TypeImage, TypeAudio, TypeVideo or TypeFile.
	UploadAttachment(ctx context.Context, in *channel.Channel, kind Type, url string) (string, error)
}

// ThreadPasser passes conversations to other applications of the platform.
type ThreadPasser interface {
	// PassThreadControl passes on the conversation with a recipient.
	PassThreadControl(ctx context.Context, in *channel.Channel, to string, handover ThreadHandover) error
}

// ThreadHandover describes the new owner of a conversation.
type ThreadHandover struct {
	// TargetAppID is the application that receives the conversation. With "" the platform chooses.
	TargetAppID string
	// Metadata is passed to that application.
	Metadata string
}

// Labeler puts labels on recipients.
type Labeler interface {
	// SaveLabel puts a label on a recipient and returns the platform's number of the label. labelID is
	// the label's name or number. SaveLabel succeeds if the label is already there.
	SaveLabel(ctx context.Context, in *channel.Channel, to, labelID string) (int64, error)
	// RemoveLabel removes a label from a recipient. It succeeds even if the recipient does not have the
	// label.
	RemoveLabel(ctx context.Context, in *channel.Channel, to, labelID string) error
}

// Tagger puts tags on recipients.
type Tagger interface {
	// SaveTag puts a tag on a recipient. If the platform refuses, for example because the recipient
	// has too many tags, the reply says so and the error is nil.
	SaveTag(ctx context.Context, in *channel.Channel, to string, tagID int64) (TagReply, error)
}

// TagReply is the platform's answer to SaveTag.
type TagReply struct {
	// Code is 0 if the recipient now has the tag, else the platform's error code.
	Code int64
	// Message is "ok", or the reason of the refusal.
	Message string
}

// ConversationArchiver archives conversations.
type ConversationArchiver interface {
	// ArchiveConversation archives a conversation. It succeeds if the conversation is already
	// archived, and returns NotFound if the platform does not know it.
	ArchiveConversation(ctx context.Context, in *channel.Channel, conversationID string) error
}

// MessageUpdater changes sent messages.
type MessageUpdater interface {
	// UpdateMessage changes a message and returns the platform's reply, in which the fields
	// ok, channel, ts and text are optional. It returns NotFound if the platform does not know
	// the message.
	UpdateMessage(ctx context.Context, in *channel.Channel, update MessageUpdate) (document.Object, error)
}

// MessageUpdate is a change of a message.
type MessageUpdate struct {
	// ConversationID and MessageID identify the message.
	ConversationID string
	MessageID      string
	// Text is the new text. "" keeps the old one.
	Text string
	// Attachments are the new attachments in the platform's format. nil keeps the old ones.
	Attachments []document.Object
}

// RecordKeeper stores records about members: messages, files, tickets. A Runtime removes them together
// with the SDK's records. Both methods work in batches; after an error the same call removes the rest.
type RecordKeeper interface {
	// EraseMember removes everything about a member, who may be of any channel. App, ID, Channel and ExternalID
	// of m are set. Runtime.EraseMember calls it before it removes the SDK's records.
	EraseMember(ctx context.Context, m *member.Member) error
	// RemoveOld removes records that are older than the connector's configuration allows. A Runtime calls it every
	// hour.
	RemoveOld(ctx context.Context) error
}
