package fakes

import (
	"context"

	"github.com/botctx/go-sdk/send"
)

// custom is the connector to a host's own live-chat API.
type custom struct{ plain }

// Send implements send.Connector.
func (c custom) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	return c.deliver(ctx, message, c)
}

// chatID returns "" for agents: the platform does not say what it calls the conversation
// with them.
func (c custom) chatID(sent Sent) string {
	if sent.Member == "" && c.group(sent.Channel, sent.To) == nil {
		return ""
	}
	return c.plain.chatID(sent)
}
