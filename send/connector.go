package send

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

// Connector is the port to a messaging platform. One connector serves every channel
// of its type, of every app, from many goroutines at once.
//
// What else a platform can do (labels, broadcasts, hand-over and so on) are further
// interfaces that a connector may implement.
type Connector interface {
	// Send sends a message to its recipient and returns what the platform answered. It
	// returns when the platform has taken or refused the message, and does not change
	// what it is given.
	//
	// The message has passed Response.Validate, so that types that are not known and the platform's
	// own limits are left to the connector. It retries a request only where the platform cannot
	// send the message twice for it, such as with Message.ID as the idempotency key.
	//
	// Errors that a caller can act on have a code of boterr: InvalidArgument for a message that the
	// platform cannot show, and Unsupported for one of a type that it does not have (the Field is
	// the path in the response), NotFound for a recipient that it does not know, FailedPrecondition
	// for one that may not be written to now, and for a channel whose credentials are missing or not
	// accepted, ResourceExhausted for a rate limit, with a *RetryAfterError behind it where the
	// platform says for how long. A recipient that is gone for good (who has blocked the bot, a
	// conversation that is archived) has NotFound, or a *GoneError behind its error. No error holds a credential. An error without
	// a code means that the platform did not answer, or that its answer does not tell what became
	// of the message; callers see Unavailable. When ctx ends, Send returns its error.
	Send(ctx context.Context, message Message) (Delivery, error)
}

// Message is a message on its way to one recipient.
type Message struct {
	// ID is a new id for each recipient of each send. It is the same again where the run that
	// sends is tried again, so that a platform which knows such ids, or whoever receives the
	// message, can tell a repetition.
	ID string
	// Channel is the channel as it was when the run began, or is stored where no run sends; its Info holds the
	// credentials. Other messages have the same one: it is not to be changed.
	Channel *channel.Channel
	// To is the recipient's id on the platform.
	To string
	// Member is the member that it goes to. nil where it goes to no member: to a group, or
	// to agents.
	Member *member.Member
	// Response is what is sent, filled from the member that it is for or about.
	Response Response
	// MessagingType and MessagingTag are Alpha's, "" on other platforms.
	MessagingType string
	MessagingTag  string
	// ReceiverType is Hotel's word for what To is, such as ReceiverUser, and GroupID the
	// group on Hotel in which a user gets the message. Both are "" on other platforms.
	ReceiverType string
	GroupID      string
}

// Validate returns InvalidArgument for a message that no connector can send: one without a channel,
// a recipient or a response. The operations hand on no such message; a connector asks for itself,
// since others may call it.
func (m Message) Validate() error {
	switch {
	case m.Channel == nil:
		return RequireChannel(nil)
	case m.To == "":
		return boterr.Missing("to", "the recipient's id on the platform")
	case m.Response.IsZero():
		return m.Response.Validate()
	default:
		return nil
	}
}

// RequireChannel returns InvalidArgument where there is no channel to ask a platform in: what a
// connector asks first in the methods of its further ports.
func RequireChannel(in *channel.Channel) error {
	if in == nil {
		return boterr.Missing("channel", "the channel, with its credentials")
	}
	return nil
}

// memberID returns the id of the member that it goes to, "" where it goes to none.
func (m Message) memberID() string {
	if m.Member == nil {
		return ""
	}
	return m.Member.ID
}

// The kinds of receivers on Hotel. Any other text passes through.
const (
	ReceiverUser  = "user"
	ReceiverGroup = "group"
)

// Delivery is a platform's answer to a message. Every field may be absent.
type Delivery struct {
	// Reply is the answer in the platform's own words. On Charlie it has ok, channel,
	// ts and message; on Echo msgType and the fields of that kind of message. Fields that
	// JSON cannot hold, such as NaN, are left out of the result.
	Reply document.Object
	// MessageID is the platform's id of the message; the default is Message.ID.
	MessageID string
	// ChatID is the platform's id of the conversation. livechat.Ports say what it is of a
	// request for a person.
	ChatID string
	// From is the bot's id on the platform; the default is the member's botId.
	From string
	// Timestamp is when the platform took the message; the default is the time at
	// which the answer came.
	Timestamp document.Timestamp
}

// event returns the message event of a message that was delivered.
func (m Message) event(d Delivery, now document.Timestamp) MessageEvent {
	event := MessageEvent{
		From:      d.From,
		To:        m.To,
		Data:      m.Response.Data(),
		Type:      m.Response.Type(),
		Timestamp: d.Timestamp,
		MessageID: d.MessageID,
	}
	if event.From == "" && m.Member != nil {
		event.From = m.Member.BotID
	}
	if event.From == "" && m.Channel != nil {
		event.From = m.Channel.BotID()
	}
	if event.Timestamp.IsZero() {
		event.Timestamp = now
	}
	if event.MessageID == "" {
		event.MessageID = m.ID
	}
	return event
}
