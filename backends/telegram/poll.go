package telegram

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/timelimit"
)

// The wait after a failure doubles from firstWait up to longestWait.
const (
	firstWait   = time.Second
	longestWait = 30 * time.Second
)

// maxUpdates is the largest number of updates in one request.
const maxUpdates = 100

// Poll requests a channel's updates from Telegram and passes their events to accept, until ctx ends; then it
// returns nil. It needs no public address. The package documentation describes the events.
//
// Telegram deletes an update when a later request asks for newer ones. Poll does so only after accept has
// returned nil, so a crash loses no update, and Runtime.Accept recognises repeated ones. If accept fails, Poll
// waits and requests the same update again. If accept returns InvalidArgument, the update is dropped and
// counted.
//
// Only one process at a time can poll a bot. With Config.Store, other processes wait for their turn. Without
// it, Telegram interrupts the earlier poller with a 409. That process waits and tries again, and no update is
// lost.
//
// Poll only returns an error if trying again cannot help. NotFound, InvalidArgument: there is no such channel.
// FailedPrecondition: the Config has neither Store nor LoadChannel, the channel has no token, the token was revoked,
// or the bot has a webhook. Other failures are logged.
func (c *Connector) Poll(ctx context.Context, app, channelID string, accept Accept) error {
	isDropped := func(err error) bool { return errors.Is(err, boterr.InvalidArgument) } // The loop logs all other errors.
	p := poller{Connector: c, app: app, channel: channelID, receiver: c.receiver(app, channelID, accept, isDropped), limit: maxUpdates}
	defer func() {
		if p.lease != nil {
			_ = p.lease.Release(context.WithoutCancel(ctx)) // If this fails, the lease expires.
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
			// The random part keeps two processes from interrupting each other repeatedly.
			_ = timelimit.Wait(ctx, max(boterr.RetryAfter(err), wait+rand.N(wait))) //nolint:gosec // It only spreads the load.
			wait = min(2*wait, longestWait)
		}
	}
	return nil
}

type poller struct {
	*Connector

	app, channel string
	receiver     inbound.Receiver
	// offset is the id of the first update that was not accepted. It is 0 if Telegram has no accepted update left.
	offset int64
	// bot is the id of the bot whose updates offset counts.
	bot string
	// limit is the number of updates to request.
	limit int
	// lease gives the right to poll if there is a Config.Store.
	lease *lease.Lease
}

// hold waits until this process may poll. If the process loses the lease during a request, two processes may
// poll, and Telegram then refuses one of them.
func (p *poller) hold(ctx context.Context) (err error) {
	if p.leases != nil && (p.lease == nil || p.lease.Err() != nil) {
		p.lease, err = p.leases.Acquire(ctx, fmt.Sprintf("telegram poll %q %q", p.app, p.channel), "telegram poll", func(error) {})
		p.offset = 0 // Another process may have polled meanwhile, and newer updates may have lower ids.
	}
	return err
}

// next requests updates once, and takes them in order. It stops at the first update that is not accepted.
func (p *poller) next(ctx context.Context) error {
	in, of, err := p.load(ctx, p.app, p.channel)
	if err != nil {
		return err
	}
	if of.botID() != p.bot { // The channel's token is now another bot's, whose ids may be lower.
		p.bot, p.offset = of.botID(), 0
	}
	params := document.O("timeout", max(1, int64(p.config.PollTime/time.Second)), // With 0, Telegram would not wait.
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
		return errors.New("telegram's answer to getUpdates is not a list")
	}
	if updates.Len() == 0 {
		p.offset = 0 // Accepted updates are deleted. After a week without updates, later ones may have lower ids.
	}
	var taps sync.WaitGroup
	defer taps.Wait()
	for _, told := range updates.All() {
		told, _ := told.(document.Object)
		u := readUpdate(in, of, told)
		if u.id == 0 {
			return errors.New("telegram returned an update without an id")
		}
		if err := take(ctx, u, p.receiver); err != nil { // The update may be accepted later, whatever the error.
			return boterr.New(boterr.Unavailable, "", "the update was not accepted, and will be requested again: %w", err)
		}
		p.offset = u.id + 1
		taps.Go(func() { p.acknowledge(context.WithoutCancel(ctx), u) })
	}
	return nil
}
