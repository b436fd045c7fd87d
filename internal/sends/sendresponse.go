package sends

import (
	"context"
	"fmt"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// SendResponse implements Operations.
func (s *Service) SendResponse(ctx context.Context, p send.SendResponseParams) (send.SendResponseResult, error) {
	to, messages, err := s.messages(ctx, p)
	if err != nil {
		return send.SendResponseResult{}, err
	}
	connector, err := s.ports.Connectors.Of(to)
	if err != nil {
		return send.SendResponseResult{}, err
	}
	if len(messages) > 1 {
		results, err := s.deliverAll(ctx, connector, messages)
		return send.SendResponseResult{Results: results}, err
	}
	result, err := deliver(ctx, s.env, connector, messages[0])
	if err != nil {
		return send.SendResponseResult{}, undelivered(ctx, messages, []send.Result{{Err: err}})
	}
	return send.SendResponseResult{Results: []send.Result{result}}, nil
}

// messages returns the channel of a call, and the validated message to each member. There is at least one; the message
// to a member who is left out only has its channel. If allowed is not empty, the channel must have one of these types.
func (s *Service) messages(
	ctx context.Context, p send.SendResponseParams, allowed ...channel.Type,
) (*channel.Channel, []send.Message, error) {
	if p.Response.IsZero() {
		return nil, nil, boterr.PrefixField("response", p.Response.Validate())
	}
	var room [1]record.Ref
	recipients, err := s.recipients(p.Member, p.MemberID, room[:0])
	if err != nil {
		return nil, nil, err
	}
	to, err := channels.Load(ctx, s.ports.Channels, channels.ByRecordOrID(s.scope, p.Channel, p.ChannelID), allowed...)
	if err != nil {
		return nil, nil, err
	}
	messaging, err := s.messaging(to.Type, p)
	if err != nil {
		return nil, nil, err
	}
	messages := make([]send.Message, len(recipients))
	for i, r := range recipients {
		m, err := s.loadMember(ctx, to, r)
		if err != nil {
			return nil, nil, err
		}
		if s.ports.Run.IsLeftOut(m) {
			messages[i].Channel = to
			continue
		}
		message, err := s.messageTo(to, r, m, p.Response)
		if err != nil {
			return nil, nil, forMember(recipients, m, err)
		}
		if r.IsOwn() && to.ID == s.scope.Channel {
			message = in(message, s.ports.Run.Thread(ctx))
		}
		message.MessagingType, message.MessagingTag = messaging.kind, messaging.tag
		messages[i] = message
	}
	return to, messages, nil
}

// isLeftOut reports whether the receiver of a message gets nothing.
func isLeftOut(m send.Message) bool { return m.Response.IsZero() }

// messageTo returns the message to a member, or to the group in which the scope's own member talks to the bot. r is
// the call's reference to the member.
func (s *Service) messageTo(to *channel.Channel, r record.Ref, m *member.Member, response send.Response) (send.Message, error) {
	message := send.Message{Channel: to, To: s.scope.GroupExternalID}
	if !r.IsOwn() || message.To == "" {
		externalID, err := m.RequireExternalID()
		if err != nil {
			return send.Message{}, boterr.WithField(r.Field(), err)
		}
		message.To, message.Member = externalID, m
	}
	var err error
	message.Response, err = s.filled(response, m)
	return message, err
}

// forMember adds the member to the error if there are several.
func forMember(recipients []record.Ref, m *member.Member, err error) error {
	e, ok := boterr.AsError(err)
	if !ok || len(recipients) == 1 {
		return err
	}
	named := *e
	named.Err = fmt.Errorf("for member %s: %w", m.ID, e.Err)
	return &named
}

type messaging struct{ kind, tag string }

const notAskedFor = "is only for %s; the channel is of type %s"

// messaging returns the type and the tag on platforms that have them.
func (s *Service) messaging(platform channel.Type, p send.SendResponseParams) (messaging, error) {
	switch {
	case platform.Has(channel.MessagingTypes):
		return messaging{kind: p.MessagingType, tag: p.MessagingTag}, nil
	case s.ports.IsStrict && p.MessagingType != "":
		return messaging{}, boterr.Invalid("messagingType", notAskedFor, channel.MessagingTypes.Owners(), platform)
	case s.ports.IsStrict && p.MessagingTag != "":
		return messaging{}, boterr.Invalid("messagingTag", notAskedFor, channel.MessagingTypes.Owners(), platform)
	default:
		return messaging{}, nil
	}
}

// fieldThread is the thread of a message on platforms with the feature Threads. In an event's data, it is the thread
// of the event. In a response, it is the thread in which the response appears.
const fieldThread = "thread_ts"

// Thread is a thread of a conversation on a platform.
type Thread struct {
	// Conversation is the platform's id of a conversation with several members, or "".
	Conversation string
	// ID is the platform's id of the thread, or "".
	ID string
}

// ThreadOf returns the thread in which an event was written, or the zero Thread.
func ThreadOf(platform channel.Type, event *send.MessageEvent) Thread {
	if event == nil || !platform.Has(channel.Threads) {
		return Thread{}
	}
	thread := Thread{ID: document.Get(event.Data, fieldThread, "")}
	// Ids of conversations with several members begin with one of these letters.
	if thread.ID != "" && (strings.HasPrefix(event.To, "C") || strings.HasPrefix(event.To, "G")) {
		thread.Conversation = event.To
	}
	return thread
}

// fieldAnswered is Alpha's field for the message that an event or a response answers.
const fieldAnswered = "reply_to"

// WithoutReferences returns an event's data without the references to its thread and to the message it answers, so that
// the data can be sent to another conversation.
func WithoutReferences(data document.Object) document.Object {
	return data.Without(fieldThread).Without(fieldAnswered)
}

// in puts a message to the scope's own member into a thread.
func in(m send.Message, thread Thread) send.Message {
	if _, has := m.Response.Object().Field(fieldThread); has || thread.ID == "" {
		return m
	}
	if thread.Conversation != "" {
		m.To, m.Member = thread.Conversation, nil
	}
	m.Response = m.Response.With(fieldThread, thread.ID)
	return m
}

// SendHotelResponse implements Operations.
func (s *Service) SendHotelResponse(ctx context.Context, p send.SendHotelResponseParams) (send.Result, error) {
	message, err := hotelMessage(p)
	if err != nil {
		return send.Result{}, err
	}
	if p.Response.IsZero() {
		return send.Result{}, boterr.PrefixField("response", p.Response.Validate())
	}
	named := channels.ByRecord(s.scope, p.Channel)
	if message.Channel, err = channels.Load(ctx, s.ports.Channels, named, channel.Hotel); err != nil {
		return send.Result{}, err
	}
	connector, err := s.ports.Connectors.Of(message.Channel)
	if err != nil {
		return send.Result{}, boterr.WithField(named.Field(), err)
	}
	about, err := s.ownMemberOrNobody(ctx)
	if err != nil {
		return send.Result{}, err
	}
	toOwn := message.ReceiverType == send.ReceiverUser && message.To == about.ExternalID && about.Channel == message.Channel.ID
	if toOwn && s.ports.Run.IsLeftOut(about) {
		return nothing(message), nil
	}
	if message.Response, err = s.filled(p.Response, about); err != nil {
		return send.Result{}, err
	}
	return deliver(ctx, s.env, connector, message)
}

// hotelMessage returns a message with only the receiver.
func hotelMessage(p send.SendHotelResponseParams) (send.Message, error) {
	message := send.Message{To: p.RecipientID, ReceiverType: p.ReceiverType, GroupID: p.HotelGroupID}
	switch {
	case p.RecipientID == "" && p.HotelGroupID == "":
		return send.Message{}, boterr.Missing("recipientId", "the user's id on Hotel, or a group's as hotelGroupId")
	case p.RecipientID == "" && p.ReceiverType == send.ReceiverUser:
		return send.Message{}, boterr.Missing("recipientId", "the user's id on Hotel, since receiverType is user")
	case p.RecipientID == "":
		message.To, message.GroupID = p.HotelGroupID, ""
	}
	switch {
	case p.ReceiverType != "":
	case p.RecipientID == "":
		message.ReceiverType = send.ReceiverGroup
	default:
		message.ReceiverType = send.ReceiverUser
	}
	return message, nil
}

// ownMemberOrNobody returns the scope's own member, or an empty member if the scope has none.
func (s *Service) ownMemberOrNobody(ctx context.Context) (*member.Member, error) {
	if s.scope.Member == "" {
		return &member.Member{}, nil
	}
	own, err := members.Get(ctx, s.ports.Members, s.scope.Member)
	return own, boterr.WithField("", err)
}
