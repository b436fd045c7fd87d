package send

import (
	"context"
	"strconv"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
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
		return Result{}, boterr.PrefixField("response", err)
	}
	return deliver(ctx, env.WithDefaults(), connector, message)
}

// deliver sends one message that was checked.
func deliver(ctx context.Context, env record.Env, connector Connector, message Message) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, boterr.New(boterr.Canceled, "", "the message was not sent: %w", err)
	}
	if message.ID == "" {
		message.ID = env.SendID(ctx, message.recipient())
	}
	delivery, err := record.Once(ctx, env, message.ID, func(ctx context.Context) (Delivery, error) {
		delivery, err := connector.Send(ctx, message)
		return delivery.writable(), atResponse(PlatformError(ctx, message.Channel.Type, err))
	})
	if err != nil {
		return Result{}, err
	}
	return message.result(delivery, document.TimestampOf(env.Now())), nil
}

// writable returns a platform's answer that can be kept and written as JSON.
func (d Delivery) writable() Delivery {
	d.Reply = writableReply(d.Reply)
	return d
}

// recipient returns who gets a message, in one text.
func (m Message) recipient() string {
	var room [128]byte
	text := append(room[:0], "message"...)
	for _, part := range []string{m.Channel.ID, m.To, m.GroupID} {
		text = strconv.AppendQuote(append(text, ' '), part)
	}
	return string(text)
}

// result returns what came of a message that was delivered, whose reply is writable, in the shape of
// its platform.
func (m Message) result(d Delivery, now document.Timestamp) Result {
	result := Result{Reply: d.Reply, MessageEvent: m.event(d, now), ChatID: d.ChatID}
	return result.For(m.Channel.Type)
}
