package inbound

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
)

// FindChannel calls find, the FindChannel of a connector's Config, and returns the channel, or nil if there is none.
// FailedPrecondition: find is nil.
func FindChannel[From, Channel any](
	ctx context.Context, find func(context.Context, From) (*Channel, error), from From,
) (*Channel, error) {
	if find == nil {
		return nil, boterr.New(boterr.FailedPrecondition, "", "the connector has no FindChannel: set it in its Config")
	}
	in, err := find(ctx, from)
	if boterr.CodeOf(err) == boterr.NotFound {
		return nil, nil
	}
	return in, err
}

// Accept calls accept with an event. If accept panics, the error is Internal.
func Accept[Event any](ctx context.Context, event Event, accept func(context.Context, Event) error) (err error) {
	defer boterr.Recover(&err)
	return accept(ctx, event)
}
