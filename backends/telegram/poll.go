package telegram

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/lease"
)

// The waits after a failure, doubled from the first to the longest one.
const (
	firstWait   = time.Second
	longestWait = 30 * time.Second
)

// maxUpdates is the maximum number of updates that one request asks for.
const maxUpdates = 100

// Poll requests a channel's updates from Telegram and passes them to accept, until ctx ends; then it returns
// nil. It needs no public address. Package telegram describes the events.
//
// Telegram forgets an update when a later request asks for newer ones, and Poll does so only after accept has
// returned nil for it. So no update is lost in a crash, and Runtime.Accept recognises the repeated ones. If
// accept fails, Poll waits and requests the same update again. An update that accept refuses with
// InvalidArgument is dropped and counted.
//
// Only one process can poll a bot. With Config.Store, other processes wait for their turn. Without it,
// Telegram interrupts the earlier one (409), which waits and tries again; no update is lost.
//
// Poll returns an error only if waiting cannot help. NotFound, InvalidArgument: there is no such channel.
// FailedPrecondition: it has no token, the token was revoked, or the bot has a webhook. Other failures are
// logged.
func (c *Connector) Poll(ctx context.Context, app, channelID string, accept Accept) error {
	p := poller{Connector: c, app: app, channel: channelID, accept: accept, limit: maxUpdates}
	defer func() {
		if p.lease != nil {
			_ = p.lease.Release(context.WithoutCancel(ctx)) // If it fails, the lease expires.
		}
	}()
	wait := firstWait
	for ctx.Err() == nil {
		err := p.hold(ctx)
		if err == nil {
			err = p.next(ctx)
		}
		switch code := boterr.CodeOf(err); {
		case err == nil:
			wait = firstWait
		case ctx.Err() != nil:
		case code == boterr.FailedPrecondition, code == boterr.NotFound, code == boterr.InvalidArgument:
			return err
		default:
			c.config.Logger.LogAttrs(ctx, slog.LevelWarn, "telegram: poll failed",
				slog.String("app", app), slog.String("channel", channelID), slog.String("error", err.Error()))
			select { // A random part keeps two processes from interrupting each other in step.
			case <-time.After(max(boterr.RetryAfter(err), wait+rand.N(wait))): //nolint:gosec // It only spreads load.
			case <-ctx.Done():
			}
			wait = min(2*wait, longestWait)
		}
	}
	return nil
}

// poller polls one channel.
type poller struct {
	*Connector

	app, channel string
	accept       Accept
	// offset is the id of the first update that was not accepted, or 0 before the first one.
	offset int64
	// limit is the number of updates to ask for.
	limit int
	// lease is the right to poll with Config.Store.
	lease *lease.Lease
}

// hold returns once this process may poll. If it loses the lease during a request, Telegram refuses one of
// the two pollers.
func (p *poller) hold(ctx context.Context) (err error) {
	if p.leases != nil && (p.lease == nil || p.lease.Err() != nil) {
		p.lease, err = p.leases.Acquire(ctx, "telegram poll "+p.app+"/"+p.channel, "telegram poll", func(error) {})
	}
	return err
}

// next makes one request and takes the updates, up to the first that accept refuses for now.
func (p *poller) next(ctx context.Context) error {
	in, of, err := p.load(ctx, p.app, p.channel)
	if err != nil {
		return err
	}
	params := document.O("timeout", max(1, int64(p.config.PollTime/time.Second)), // 0 would mean not to wait.
		"limit", p.limit, "allowed_updates", p.config.Updates)
	if p.offset != 0 {
		params = params.With("offset", p.offset)
	}
	result, err := p.call(ctx, in, methodUpdates, params)
	if _, isTooLong := errors.AsType[*bounded.TooLongError](err); isTooLong {
		p.limit = 1
	}
	if err != nil {
		return err
	}
	p.limit = min(2*p.limit, maxUpdates)
	updates, isList := result.(document.Array)
	if !isList {
		return errors.New("telegram's updates cannot be read")
	}
	var taps sync.WaitGroup
	defer taps.Wait()
	for _, told := range updates.All() {
		told, _ := told.(document.Object)
		u := readUpdate(in, of, told)
		if u.id == 0 {
			return errors.New("telegram returned an update without an id")
		}
		if err := p.take(ctx, u, p.accept); err != nil { // Whatever its code, the same update may be accepted later.
			return boterr.New(boterr.Unavailable, "", "the update was not accepted, and will be requested again: %w", err)
		}
		p.offset = u.id + 1
		taps.Go(func() { p.acknowledge(context.WithoutCancel(ctx), u) })
	}
	return nil
}
