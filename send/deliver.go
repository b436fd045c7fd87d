package send

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/record"
)

// Deliver checks a message that is filled already and sends it through a connector, as the
// operations do, and returns what came of it in the shape of its platform. It is for
// packages whose messages go where no operation of this one sends to, such as groups of
// agents. An ID is made by the environment's SendID where the message has none; of the
// environment the clock and the ids are used.
//
// The errors are those of SendResponse that are about one message.
func Deliver(ctx context.Context, env record.Env, connector Connector, message Message) (Result, error) {
	if err := RequireChannel(message.Channel); err != nil {
		return Result{}, err
	}
	if err := message.Response.Validate(); err != nil {
		return Result{}, boterr.In("response", err)
	}
	return deliver(ctx, env.WithDefaults(), connector, message)
}

// deliver sends one message.
func (s *Service) deliver(ctx context.Context, connector Connector, message Message) (Result, error) {
	return deliver(ctx, s.env, connector, message)
}

// deliver sends one message that was checked.
func deliver(ctx context.Context, env record.Env, connector Connector, message Message) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, boterr.New(boterr.Canceled, "", "the message was not sent: %w", err)
	}
	if message.ID == "" {
		message.ID = env.SendID(ctx, message.recipient())
	}
	answer, err := env.Once(ctx, message.ID, func(ctx context.Context) (document.Object, error) {
		delivery, err := connector.Send(ctx, message)
		if err != nil {
			return document.Object{}, atResponse(PlatformError(ctx, message.Channel.Type, err))
		}
		return delivery.document(), nil
	})
	if err != nil {
		return Result{}, err
	}
	return message.result(deliveryOf(answer), document.At(env.Now())), nil
}

// The fields of a platform's answer as it is remembered.
const (
	fieldReply     = "reply"
	fieldMessageID = "messageId"
	fieldFrom      = "from"
	fieldTimestamp = "timestamp"
)

// document returns a platform's answer as it is remembered.
func (d Delivery) document() document.Object {
	return document.O(fieldReply, writableReply(d.Reply), fieldMessageID, d.MessageID, fieldChatID, d.ChatID,
		fieldFrom, d.From, fieldTimestamp, int64(d.Timestamp))
}

// deliveryOf returns a platform's answer that was remembered.
func deliveryOf(answer document.Object) Delivery {
	return Delivery{
		Reply:     document.Get(answer, fieldReply, document.Object{}),
		MessageID: document.Get(answer, fieldMessageID, ""),
		ChatID:    document.Get(answer, fieldChatID, ""),
		From:      document.Get(answer, fieldFrom, ""),
		Timestamp: document.Get(answer, fieldTimestamp, document.Timestamp(0)),
	}
}

// recipient returns who gets a message, in one text.
func (m Message) recipient() string {
	return fmt.Sprintf("message %q %q %q", m.Channel.ID, m.To, m.GroupID)
}

// result returns what came of a message that was delivered, in the shape of its platform.
func (m Message) result(d Delivery, now document.Timestamp) Result {
	result := Result{Reply: writableReply(d.Reply), MessageEvent: m.event(d, now), ChatID: d.ChatID}
	return result.For(m.Channel.Type)
}
