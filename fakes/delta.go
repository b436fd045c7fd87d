package fakes

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// deltaRequest is the form of the ids of requests. deltaOK is Delta's status of a message that it took.
const (
	deltaRequest = "req-%06d"
	deltaOK      = "OK"
)

// delta is the connector to Delta, a platform on which one request can have several messages and messages can
// be changed.
type delta struct{ editable }

var (
	_ livechat.GroupCreator   = delta{}
	_ livechat.TicketUpdater  = delta{}
	_ livechat.TicketRecaller = delta{}
	_ send.BatchSender        = delta{}
	_ send.MessageUpdater     = delta{}
)

func (d delta) reply(Sent) document.Object {
	return document.O("id", d.platform.ids.formed(deltaRequest), "STATUS", deltaOK)
}

func (d delta) SendBatch(ctx context.Context, messages []send.Message) (send.Batch, error) {
	if len(messages) == 0 {
		return send.Batch{}, boterr.Invalid("", "a request needs at least one message")
	}
	return atPlatform(ctx, d.outbox, messages[0].Channel, func() (send.Batch, error) { return d.takeAll(ctx, messages), nil })
}

// takeAll takes the messages of a request. The caller holds the mutex.
func (d delta) takeAll(ctx context.Context, messages []send.Message) send.Batch {
	batch := send.Batch{ID: d.platform.ids.formed(deltaRequest), Outcomes: make([]send.Outcome, len(messages))}
	for i, message := range messages {
		sent, err := d.take(ctx, message, d)
		if err != nil {
			batch.Outcomes[i] = send.Outcome{Err: err}
			continue
		}
		batch.Outcomes[i].Delivery = send.Delivery{
			Reply:     document.O("id", batch.ID, "STATUS", deltaOK),
			MessageID: sent.MessageID, ChatID: sent.ChatID, Timestamp: document.TimestampOf(sent.SentAt),
		}
	}
	d.hasSent(ctx)
	return batch
}
