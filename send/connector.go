package send

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/nearest"
	"github.com/botctx/go-sdk/member"
)

// Connector is the port to a messaging platform. One connector serves every channel of its type, of
// every app, and must be safe for concurrent use.
//
// A connector may implement further interfaces for labels, broadcasts, hand-over and other
// features; see Wrapper and the ports below it.
type Connector interface {
	// Send sends a message to its recipient and returns the platform's answer. It returns once the
	// platform has accepted or refused the message, and must not modify message.
	//
	// The message has passed Response.Validate. Unknown types and the platform's own limits are
	// left to the connector. It may retry a request only if the platform cannot send the message
	// twice as a result, for example because Message.ID serves as the idempotency key.
	//
	// Errors that a caller can act on have a code of boterr:
	//   - InvalidArgument: the platform cannot show the message. Field is the path in the response.
	//   - Unsupported: the platform does not have this type of message. Field is the path in the
	//     response.
	//   - NotFound: the platform does not know the recipient.
	//   - FailedPrecondition: the recipient may not be written to now, or the channel's credentials
	//     are missing or not accepted.
	//   - ResourceExhausted: a rate limit was reached. It wraps a *RetryAfterError if the platform
	//     names the time to wait.
	//
	// If the recipient is gone for good (the member blocked the bot, the conversation is archived),
	// the code is NotFound or the error wraps a *GoneError. No error contains a credential. An
	// error without a code means that the platform did not answer, or that its answer does not say
	// whether the message was sent; callers see Unavailable. If ctx ends, Send returns its error.
	Send(ctx context.Context, message Message) (Delivery, error)
}

// Message is a message to one recipient.
type Message struct {
	// ID is unique to each recipient of each send. A retried run uses the same ID again, so the
	// platform or the receiver can detect repeats.
	ID string
	// Channel is the channel as of the start of the run, or as stored if the send is not part of a
	// run. Its Info holds the credentials. It is shared between messages and must not be modified.
	Channel *channel.Channel
	// To is the recipient's id on the platform. It is "" only if IsRequest is true.
	To string
	// IsRequest is true if the message asks the agents of a channel for a person. To is then the id of a
	// broadcast group, even one that the channel's record does not have, or "" if the request goes to the
	// channel itself, on a platform without tickets.
	IsRequest bool
	// Member is the member who receives the message. It is nil for messages to groups and agents.
	Member *member.Member
	// AuthorID is the id of the member who wrote the message, if a live chat passes it on to an agent.
	// It is "" for all other messages: the bot wrote them, or the live chat itself.
	AuthorID string
	// Response is the content, with placeholders already filled.
	Response Response
	// MessagingType and MessagingTag are used on Alpha only.
	MessagingType string
	MessagingTag  string
	// ReceiverType is the kind of receiver on Hotel, such as ReceiverUser. GroupID is the Hotel
	// group in which a user receives the message. Both are "" on other platforms.
	ReceiverType string
	GroupID      string
}

// Validate returns InvalidArgument for a message without a channel, a recipient or a response; a
// request needs no recipient. The operations never pass on such a message, but connectors should
// call Validate because other callers may.
func (m Message) Validate() error {
	switch {
	case m.Channel == nil:
		return RequireChannel(nil)
	case m.To == "" && !m.IsRequest:
		return boterr.Missing("to", "the recipient's id on the platform")
	case m.Response.IsZero():
		return m.Response.Validate()
	default:
		return nil
	}
}

// RequireChannel returns InvalidArgument if in is nil. Connectors call it first in the methods of
// their optional ports.
func RequireChannel(in *channel.Channel) error {
	if in == nil {
		return boterr.Missing("channel", "the channel, with its credentials")
	}
	return nil
}

// The kinds of receivers on Hotel. Other values are passed on unchanged.
const (
	ReceiverUser  = "user"
	ReceiverGroup = "group"
)

// Delivery is a platform's answer to a message. Every field is optional.
type Delivery struct {
	// Reply is the platform's raw answer. On Charlie it has ok, channel, ts and message; on Echo it
	// has msgType and the fields of that kind of message. Fields that JSON cannot represent, such
	// as NaN, are left out of the result.
	Reply document.Object
	// MessageID is the platform's id of the message; the default is Message.ID.
	MessageID string
	// ChatID is the platform's id of the conversation. For its meaning in live-chat requests see
	// livechat.GroupCreator.
	ChatID string
	// From is the bot's id on the platform. The default is the member's botId.
	From string
	// Timestamp is the time at which the platform accepted the message. The default is the time of
	// the answer.
	Timestamp document.Timestamp
}

// Connectors holds the host's connectors by channel type.
type Connectors map[channel.Type]Connector

// Of returns the connector for a channel's platform, or Unsupported.
func (c Connectors) Of(in *channel.Channel) (Connector, error) {
	if connector := c[in.Type]; connector != nil {
		return connector, nil
	}
	hint := ""
	if meant := nearest.To(in.Type, slices.Sorted(maps.Keys(c))); meant != "" {
		hint = fmt.Sprintf("; did you mean %q?", meant)
	}
	return nil, boterr.New(boterr.Unsupported, "",
		"channel %s has type %q, for which this host has no connector; add one to Config.Connectors%s", in.ID, in.Type, hint)
}

// RequirePort returns an optional port of a channel's connector, or Unsupported. what completes the error "this
// host's connector ... cannot", such as "upload files".
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

type keyKey struct{}

// KeyOf returns the idempotency key of a call to an optional port, such as a broadcast. A retried
// run uses the same key again; every other call has its own. Pass the key to platforms that accept
// one, usually as Idempotency-Key. KeyOf returns "" if the host itself called the port. Messages,
// also in a batch, have Message.ID instead.
func KeyOf(ctx context.Context) string {
	key, _ := ctx.Value(keyKey{}).(string)
	return key
}

// WithKey returns a context for which KeyOf returns key. Hosts that call a port themselves use it.
func WithKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, keyKey{}, key)
}

// UndeliveredError names the members who did not receive a message. The errors of SendResponse and
// of the operations for several members wrap it, even if there is only one member.
//
//	if undelivered, ok := errors.AsType[*send.UndeliveredError](err); ok { ... }
type UndeliveredError struct {
	// Failures are the members who did not receive it, in the order of memberId.
	Failures []Failure
	// Of is the total number of members.
	Of int
}

// Failure is a member who did not receive a message, and the reason.
type Failure struct {
	// MemberID is "" if the message was for a group.
	MemberID string
	Err      error
}

// Error names the members, shortened if there are many. For a single member it is only the reason;
// the error that wraps it has code and field.
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

// reason returns the message of err without its code or field.
func reason(err error) string {
	if e, ok := err.(*boterr.Error); ok && e != nil { //nolint:errorlint // Only the outermost error has a code and a field.
		return e.Message()
	}
	return display.Text(err)
}

// Unwrap returns the error of each member.
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

// GoneError marks an error as permanent for its recipient: the member blocked the bot or closed the
// account, or the conversation is archived. Connectors wrap it in an error with a code. A live chat
// with such a recipient ends.
//
//	boterr.New(boterr.FailedPrecondition, "", "the user has blocked the bot: %w", &send.GoneError{})
//
// Do not use it if someone can fix the cause, such as a revoked token, a bot that must be invited,
// or a period after which only templates are allowed. NotFound for a recipient has the same meaning
// and needs no GoneError.
type GoneError struct{}

// Error returns a fixed text.
func (*GoneError) Error() string { return "the recipient is gone for good" }

// IsGone reports whether the recipient of a failed send is gone for good: err has the code NotFound
// or wraps a *GoneError.
func IsGone(err error) bool {
	if err == nil {
		return false
	}
	_, isGone := errors.AsType[*GoneError](err)
	return isGone || boterr.CodeOf(err) == boterr.NotFound
}

// PanicError is a recovered panic, for example of a connector. It is wrapped in an Internal error.
type PanicError = boterr.PanicError
