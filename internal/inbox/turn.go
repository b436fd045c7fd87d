package inbox

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/store/query"
)

// claim begins a turn of a lane, nil where somebody had one since it was seen.
func (b *Inbox) claim(ctx context.Context, w work) (*lease.Turn, error) {
	now, err := b.turns.Roughly(ctx)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(w.events))
	for i, e := range w.events {
		ids[i] = e.id
	}
	return b.turns.Claim(ctx, w.lane, w.seen, now, lease.Work{Purpose: purpose, Items: ids})
}

// countLost counts the start of a lane's first event that never came back, if the turn before was to handle
// it: as a failure, or as the loss of a suspect. Events that the turn handled before it are not there any
// more. It returns what came of that.
func (b *Inbox) countLost(
	ctx context.Context, turn *lease.Turn, first stored, part func(time.Duration) time.Duration,
) (outcome, error) {
	work, wasLost := turn.Lost()
	if !wasLost || work.Purpose != purpose || !slices.Contains(work.Items, first.id) {
		return outcome{}, nil
	}
	if turn.WasAlone() {
		return b.fail(ctx, first, ErrNeverCameBack, part)
	}
	return b.lose(ctx, first)
}

// lose stores that a start of an event never came back beside others. It is handled again at once, as a
// suspect.
func (b *Inbox) lose(ctx context.Context, e stored) (outcome, error) {
	result := outcome{failure: ErrNeverCameBack}
	now, err := b.turns.Roughly(ctx)
	if err != nil {
		return result, err
	}
	filter, err := query.CompileFilter(asClaimed(e))
	if err != nil {
		return result, err
	}
	b.report(ctx, slog.LevelWarn, "inbox: lost beside others", e, ErrNeverCameBack)
	changed, err := b.setAll(ctx, filter, document.O(fieldLost, e.lost+1), document.O(fieldBegun, true))
	if err != nil {
		return result, err
	}
	result.retryAt = now
	return result, wasLost(changed)
}

// end ends a turn: it is released, unless it is lost. Then nobody is to renew it.
func (b *Inbox) end(ctx context.Context, turn *lease.Turn, err error) {
	if isLost(err) {
		turn.Abandon()
	} else {
		b.release(ctx, turn)
	}
}

// release ends a turn. Where that fails, its lease passes.
func (b *Inbox) release(ctx context.Context, turn *lease.Turn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.turns.Lease())
	defer cancel()
	if err := turn.Release(ctx); err != nil {
		b.log.LogAttrs(ctx, slog.LevelWarn, "inbox: turn not released",
			slog.String("lane", turn.Lane()), slog.String("error", display.Text(err)))
	}
}
