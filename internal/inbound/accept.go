package inbound

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
)

// Accept calls accept with an event. If accept panics, the error is Internal.
func Accept[Event any](ctx context.Context, event Event, accept func(context.Context, Event) error) (err error) {
	defer boterr.Recover(&err)
	return accept(ctx, event)
}
