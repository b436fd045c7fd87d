package send

import (
	"context"
	"errors"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/record"
)

// connector returns the connector to a platform, or Unsupported.
func (s *Service) connector(platform channel.Type) (Connector, error) {
	if connector := s.ports.Connectors[platform]; connector != nil {
		return connector, nil
	}
	return nil, boterr.New(boterr.Unsupported, "", "this host has no connector for channels of type %q", platform)
}

// Deliver checks a message that is filled already and sends it through a connector, as the
// operations do, and returns what came of it in the shape of its platform. It is for
// packages whose messages go where no operation of this one sends to, such as groups of
// agents. An ID is made where the message has none; of the environment the clock and the
// ids are used.
//
// The errors are those of SendResponse that are about one message.
func Deliver(ctx context.Context, env record.Env, connector Connector, message Message) (Result, error) {
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
		message.ID = env.NewID()
	}
	delivery, err := connector.Send(ctx, message)
	if err != nil {
		return Result{}, deliveryError(ctx, message.Channel.Type, err)
	}
	result := Result{
		Reply:        present(delivery.Reply),
		MessageEvent: message.event(delivery, document.At(env.Now())),
		ChatID:       delivery.ChatID,
	}
	return result.For(message.Channel.Type), nil
}

// deliverAll sends every message, whatever becomes of the others.
func (s *Service) deliverAll(ctx context.Context, connector Connector, messages []Message) (SendResponseResult, error) {
	results := make([]Result, len(messages))
	var failures []Failure
	for i, message := range messages {
		result, err := s.deliver(ctx, connector, message)
		if err != nil {
			result = Result{Err: err}
			failures = append(failures, Failure{MemberID: message.Member.ID, Err: err})
		}
		results[i] = result
	}
	return SendResponseResult{Results: results}, undelivered(ctx, failures, len(messages))
}

// deliveryError gives the error of a connector its code: its own, Canceled where the
// caller's context ended, and else Unavailable, a time-out of the connector's own
// included. What the platform cannot show is a field of the response.
func deliveryError(ctx context.Context, platform channel.Type, err error) error {
	_, isError := boterr.AsError(err)
	_, isCode := errors.AsType[boterr.Code](err)
	switch {
	case boterr.CodeOf(err) == boterr.InvalidArgument:
		return boterr.In("response", err)
	case isError || isCode:
		return boterr.In("", err)
	case ctx.Err() != nil:
		return boterr.New(boterr.Canceled, "", "whether the message arrived is not known: %w", err)
	default:
		return boterr.New(boterr.Unavailable, "", "the platform of type %s gave no answer: %w", platform, err)
	}
}
