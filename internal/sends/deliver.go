package sends

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/replies"
	"github.com/botctx/go-sdk/send"
)

// Deliver validates a filled message, sends it through a connector, and returns the result as its platform defines
// it. It is for packages that send to recipients that these operations do not support, such as groups of agents. If
// the message's ID is empty, Deliver gets an ID from env.SendID. Deliver uses only the clock and the ids of env.
//
// It returns the errors that SendResponse returns for one message.
func Deliver(ctx context.Context, env record.Env, connector send.Connector, message send.Message) (send.Result, error) {
	if err := send.RequireChannel(message.Channel); err != nil {
		return send.Result{}, err
	}
	if err := message.Response.Validate(); err != nil {
		return send.Result{}, boterr.PrefixField("response", err)
	}
	return deliver(ctx, env.WithDefaults(), connector, message)
}

// deliver sends a validated message, unless its receiver is left out.
func deliver(ctx context.Context, env record.Env, connector send.Connector, message send.Message) (send.Result, error) {
	if isLeftOut(message) {
		return nothing(message), nil
	}
	if err := ctx.Err(); err != nil {
		return send.Result{}, boterr.New(boterr.Canceled, "", "the message was not sent: %w", err)
	}
	if message.ID == "" {
		message.ID = env.SendID(ctx, recipient(message))
	}
	delivery, err := record.Once(ctx, env, message.ID, func(ctx context.Context) (send.Delivery, error) {
		delivery, err := connector.Send(ctx, message)
		delivery.Reply = replies.Writable(delivery.Reply)
		return delivery, atResponse(PlatformError(ctx, message.Channel.Type, err))
	})
	if err != nil {
		return send.Result{}, err
	}
	return result(message, delivery, document.TimestampOf(env.Now())), nil
}

// recipient returns a text that identifies the recipient.
func recipient(m send.Message) string {
	var room [128]byte
	text := append(room[:0], "message"...)
	for _, part := range []string{m.Channel.ID, m.To, m.GroupID} {
		text = strconv.AppendQuote(append(text, ' '), part)
	}
	return string(text)
}

// result returns the result of a delivered message, as its platform defines it.
func result(m send.Message, d send.Delivery, now document.Timestamp) send.Result {
	event := send.MessageEvent{
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
	if event.From == "" {
		event.From = m.Channel.BotID()
	}
	if event.Timestamp.IsZero() {
		event.Timestamp = now
	}
	if event.MessageID == "" {
		event.MessageID = m.ID
	}
	return send.Result{Reply: d.Reply, MessageEvent: event, ChatID: d.ChatID}.For(m.Channel.Type)
}

// nothing returns the result of a message whose receiver is left out: its platform's form, with empty values.
func nothing(m send.Message) send.Result { return send.Result{}.For(m.Channel.Type) }

// memberID returns the id of the receiving member, or "".
func memberID(m send.Message) string {
	if m.Member == nil {
		return ""
	}
	return m.Member.ID
}

// deliverAll sends all messages, Ports.ParallelSends at a time, even if some fail. The results have the order of the
// messages.
func (s *Service) deliverAll(ctx context.Context, connector send.Connector, messages []send.Message) ([]send.Result, error) {
	results := make([]send.Result, len(messages))
	var taken atomic.Int64
	work := func() {
		for i := taken.Add(1) - 1; i < int64(len(messages)); i = taken.Add(1) - 1 {
			results[i] = s.try(ctx, connector, messages[i])
		}
	}
	var others sync.WaitGroup
	for range min(s.ports.ParallelSends, len(messages)) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	return results, undelivered(ctx, messages, results)
}

// try sends one of several messages. A panic of the connector becomes this message's error.
func (s *Service) try(ctx context.Context, connector send.Connector, message send.Message) (result send.Result) {
	defer boterr.Recover(&result.Err)
	result, err := deliver(ctx, s.env, connector, message)
	if err != nil {
		return send.Result{Err: err}
	}
	return result
}

// undelivered returns the error of a send to several members, or nil if all received it. The code is Canceled if ctx
// ended, the failure's code if there is only one member, and otherwise Unavailable.
func undelivered(ctx context.Context, messages []send.Message, results []send.Result) error {
	var failures []send.Failure
	for i, result := range results {
		if result.Err != nil {
			failures = append(failures, send.Failure{MemberID: memberID(messages[i]), Err: result.Err})
		}
	}
	if len(failures) == 0 {
		return nil
	}
	failed := &boterr.Error{Code: boterr.Unavailable, Err: &send.UndeliveredError{Failures: failures, Of: len(results)}}
	only, ok := boterr.AsError(failures[0].Err)
	switch {
	case ctx.Err() != nil:
		failed.Code = boterr.Canceled
	case len(results) == 1 && ok:
		failed.Code, failed.Field = only.Code, only.Field
	}
	return failed
}
