package inbound

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
)

// Accept calls a host's function with an event. If the function panics, the error is Internal.
func Accept[Event any](ctx context.Context, event Event, accept func(context.Context, Event) error) (err error) {
	defer boterr.Recover(&err)
	return accept(ctx, event)
}
