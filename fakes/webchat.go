package fakes

import (
	"context"

	"github.com/botctx/go-sdk/send"
)

// webchat is the connector to pages of the host.
type webchat struct{ plain }

// Send implements send.Connector.
func (w webchat) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	return w.deliver(ctx, message, w)
}
