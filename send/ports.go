package send

import (
	"context"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

// The ports below are what platforms can do beside sending to one recipient. A connector
// offers those that its platform has; where one is missing, the operation that needs it is
// Unsupported.
//
// What holds for Connector holds for them: one connector serves every channel of its type
// from many goroutines, a method returns when the platform has done or refused what was
// asked, and does not change what it is given. Errors that a caller can act on have a code
// of boterr; one without a code means that the platform did not answer. KeyOf gives the key of what is
// asked for, for platforms that take one.

// Wrapper is a connector around another one, such as one that limits or observes it. PortOf
// finds the ports of the inner one.
type Wrapper interface {
	Connector
	// Unwrap returns the inner connector.
	Unwrap() Connector
}

// PortWrapper is a Wrapper that stands around further ports of the inner connector, too.
type PortWrapper interface {
	Wrapper
	// WrapPort returns what PortOf gives in the place of a port of the inner connector. wanted
	// is a nil pointer to the type of the port, such as (*Labeler)(nil), and inner the port.
	// Anything that is no such port, nil included, leaves the inner one.
	WrapPort(wanted, inner any) any
}

// PortOf returns a further port that a connector, or one that it wraps, offers:
//
//	labeler, ok := send.PortOf[send.Labeler](connector)
//
// The outermost that offers it counts, within those that stand around it as PortWrapper.
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

// BatchSender sends messages to several recipients by one request. SendDeltaResponse needs
// it.
type BatchSender interface {
	// SendBatch sends messages of one channel, at least one. Its error means that the request as a
	// whole failed; their outcomes tell what became of single messages.
	SendBatch(ctx context.Context, messages []Message) (Batch, error)
}

// Batch is a platform's answer to a request for several messages.
type Batch struct {
	// ID is the platform's id of the request, Status its status in the platform's words.
	ID     string
	Status string
	// Outcomes say what came of each message, in their order. nil means that the platform
	// took all and says nothing of each.
	Outcomes []Outcome
}

// Outcome is what came of one message of several.
type Outcome struct {
	Delivery Delivery
	// Err is why the platform did not take the message.
	Err error
}

// Broadcaster stores messages and sends them to all members with a label.
type Broadcaster interface {
	// CreateBroadcast stores a message, which has passed Response.Validate. It returns an
	// element for each message that was stored, at least one.
	CreateBroadcast(ctx context.Context, in *channel.Channel, response Response) ([]StoredMessage, error)
	// SendBroadcast sends a stored message and returns the platform's number of the
	// broadcast. NotFound: the platform has no such message or label.
	SendBroadcast(ctx context.Context, in *channel.Channel, broadcast Broadcast) (int64, error)
}

// Broadcast is a stored message on its way to all members with a label.
type Broadcast struct {
	// MessageID is the platform's id of the stored message.
	MessageID string
	// LabelID is the label of the members who get it.
	LabelID string
	// NotificationType is how the members are notified, in the platform's words.
	NotificationType string
}

// AttachmentUploader takes files that messages use by id.
type AttachmentUploader interface {
	// UploadAttachment makes the platform fetch the file at an address of HTTP or HTTPS, and
	// returns the id by which messages use it. kind is TypeImage, TypeAudio, TypeVideo or
	// TypeFile.
	UploadAttachment(ctx context.Context, in *channel.Channel, kind Type, url string) (string, error)
}

// ThreadPasser hands conversations to other applications of the platform.
type ThreadPasser interface {
	// PassThreadControl hands on the conversation with a recipient.
	PassThreadControl(ctx context.Context, in *channel.Channel, to string, handover ThreadHandover) error
}

// ThreadHandover says to whom a conversation is handed.
type ThreadHandover struct {
	// TargetAppID is the application that gets the conversation. "" leaves the choice to the
	// platform.
	TargetAppID string
	// Metadata is handed to that application.
	Metadata string
}

// Labeler puts labels on recipients.
type Labeler interface {
	// SaveLabel puts a label on a recipient and returns the platform's number of the label.
	// One that is there already is no error.
	SaveLabel(ctx context.Context, in *channel.Channel, to, labelID string) (int64, error)
	// RemoveLabel takes a label off a recipient. One that is not there is no error.
	RemoveLabel(ctx context.Context, in *channel.Channel, to, labelID string) error
}

// Tagger puts tags on recipients.
type Tagger interface {
	// SaveTag puts a tag on a recipient. What the platform refuses, such as one tag more than
	// a recipient can have, is in its reply and no error.
	SaveTag(ctx context.Context, in *channel.Channel, to string, tagID int64) (TagReply, error)
}

// TagReply is what a platform says to a tag.
type TagReply struct {
	// Code is 0 where the recipient has the tag now, and else the platform's own.
	Code int64
	// Message is "ok", or why the recipient does not have it.
	Message string
}

// ConversationArchiver archives conversations.
type ConversationArchiver interface {
	// ArchiveConversation archives a conversation. One that is archived already is no error.
	// NotFound: the platform has no such conversation.
	ArchiveConversation(ctx context.Context, in *channel.Channel, conversationID string) error
}

// MessageUpdater changes messages that were sent.
type MessageUpdater interface {
	// UpdateMessage changes a message and returns the platform's reply. Its fields ok, channel, ts
	// and text are read, and may be absent. NotFound: the platform has no such message.
	UpdateMessage(ctx context.Context, in *channel.Channel, update MessageUpdate) (document.Object, error)
}

// MessageUpdate is what a message is changed to.
type MessageUpdate struct {
	// ConversationID is the conversation, MessageID the message in it.
	ConversationID string
	MessageID      string
	// Text is the new text, "" where it stays.
	Text string
	// Attachments are the new attachments in the platform's words, nil where they stay.
	Attachments []document.Object
}
