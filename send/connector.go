package send

import (
	"context"
	"errors"
	"fmt"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
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
	// ChatID is the platform's id of the conversation. livechat.GroupCreator says what it is of a
	// request for a person.
	ChatID string
	// From is the bot's id on the platform; the default is the member's botId.
	From string
	// Timestamp is when the platform took the message; the default is the time at
	// which the answer came.
	Timestamp document.Timestamp
}

// Connectors are the platforms that can be sent to, by type of channel.
type Connectors map[channel.Type]Connector

// Of returns the connector to the platform of a channel, or Unsupported.
func (c Connectors) Of(in *channel.Channel) (Connector, error) {
	if connector := c[in.Type]; connector != nil {
		return connector, nil
	}
	return nil, boterr.New(boterr.Unsupported, "",
		"this host has no connector for channels of type %q, of which %s is one", in.Type, in.ID)
}

// RequirePort returns a further port of the connector to a channel's platform, or Unsupported.
// what is what the port does, such as "upload files".
func RequirePort[Port any](connectors Connectors, in *channel.Channel, what string) (Port, error) {
	var none Port
	connector, err := connectors.Of(in)
	if err != nil {
		return none, err
	}
	port, ok := PortOf[Port](connector)
	if !ok {
		return none, boterr.New(boterr.Unsupported, "", "this host's connector for channels of type %q cannot %s", in.Type, what)
	}
	return port, nil
}

// keyKey is the key of what KeyOf returns in a context.Context.
type keyKey struct{}

// KeyOf returns the key of what a connector is asked for by a further port, such as a broadcast, from the
// ctx that it is given: the same where the run that asks is tried again, another one for each other thing.
// A platform that takes such keys (Idempotency-Key is the usual name) does it once. "" where a host calls
// the port by itself. Those of messages are Message.ID, also in a batch.
func KeyOf(ctx context.Context) string {
	key, _ := ctx.Value(keyKey{}).(string)
	return key
}

// WithKey returns a context in which KeyOf returns a key, for a host that asks a port by itself.
func WithKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, keyKey{}, key)
}

// UndeliveredError names the members who did not get a message. It is behind the errors of
// SendResponse and of the operations for several members, also where there is but one member.
// errors.AsType finds it:
//
//	if undelivered, ok := errors.AsType[*send.UndeliveredError](err); ok { ... }
type UndeliveredError struct {
	// Failures are the members that did not get it, in the order of memberId.
	Failures []Failure
	// Of is how many members there were.
	Of int
}

// Failure is one member that did not get a message, and why.
type Failure struct {
	// MemberID is "" where the message was for a group.
	MemberID string
	Err      error
}

// Error names the members, the first of many. For the only member it tells the reason alone: code
// and field are in the error that wraps it.
func (u *UndeliveredError) Error() string {
	if u == nil {
		return "internal: a nil *send.UndeliveredError was returned as an error: return nil itself"
	}
	if u.Of == 1 && len(u.Failures) == 1 {
		return reason(u.Failures[0].Err)
	}
	members := display.List(len(u.Failures), func(i int) string {
		failure := u.Failures[i]
		return fmt.Sprintf("%s (%s)", failure.MemberID, display.Text(failure.Err))
	})
	return fmt.Sprintf("%d of %d members did not get the message: %s", len(u.Failures), u.Of, members)
}

// reason returns the text of an error without its code and field.
func reason(err error) string {
	if e, ok := err.(*boterr.Error); ok && e != nil { //nolint:errorlint // Only the outermost error says these.
		return e.Message()
	}
	return display.Text(err)
}

// Unwrap returns the error of each member. The nil pointer has none.
func (u *UndeliveredError) Unwrap() []error {
	if u == nil {
		return nil
	}
	errs := make([]error, len(u.Failures))
	for i, failure := range u.Failures {
		errs[i] = failure.Err
	}
	return errs
}

// GoneError is put behind an error with a code by a connector whose recipient cannot be written to any more, however
// often it is tried: the member has blocked the bot or closed the account, or the conversation is archived. A live chat
// with such a recipient ends.
//
//	boterr.New(boterr.FailedPrecondition, "", "the user has blocked the bot: %w", &send.GoneError{})
//
// Do not use it if somebody can put the cause right: a token that was revoked, a bot that must be invited, a time after
// which only templates are allowed. NotFound for a recipient says the same without it.
type GoneError struct{}

// Error implements error.
func (*GoneError) Error() string { return "the recipient is gone for good" }

// IsGone reports whether the error of a send says that the recipient is gone for good: its code is NotFound, or a
// *GoneError is behind it.
func IsGone(err error) bool {
	if err == nil {
		return false
	}
	_, isGone := errors.AsType[*GoneError](err)
	return isGone || boterr.CodeOf(err) == boterr.NotFound
}

// PanicError is a panic, such as one of a connector while one of several messages was sent.
// It stands behind an Internal error.
type PanicError = boterr.PanicError
