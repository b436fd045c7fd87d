package inbox

import (
	"context"
	"log/slog"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

const (
	// retentionPause is how often Run removes what is old, and retentionBatch how many events at
	// once, so that other writes come between.
	retentionPause = time.Hour
	retentionBatch = 500
	// idleLane is for how long the document of a lane without events is kept: far longer than
	// anybody goes by what he has seen of it.
	idleLane = time.Hour
)

// RemoveOld removes the marks of events that were done longer ago than Config.Retention, the dead
// letters that died longer ago than Config.DeadRetention, and the documents of idle lanes. It returns
// the number of events that it removed. Run calls it each hour; hosts that call RunNext instead may
// call it. The errors are those of the store.
func (b *Inbox) RemoveOld(ctx context.Context) (removed int64, err error) {
	if _, err := b.turns.Sweep(ctx, idleLane); err != nil {
		return 0, err
	}
	now, err := b.turns.Now(ctx)
	if err != nil {
		return 0, err
	}
	for _, kept := range []struct {
		field     string
		retention time.Duration
	}{{fieldDoneAt, b.config.Retention}, {fieldDiedAt, b.config.DeadRetention}} {
		if kept.retention < 0 {
			continue
		}
		old := document.O(kept.field, document.O("$gt", 0, "$lt", int64(document.TimestampOf(now.Add(-kept.retention)))))
		some, err := b.removeAll(ctx, old, func() ([]document.Object, error) { return b.feed.findOld(ctx, old, kept.field) })
		removed += some
		if err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// removeAll removes the events that a filter matches, in batches that find returns, and returns how many
// it removed. What has changed since it was found, so that the filter does not match it, stays.
func (b *Inbox) removeAll(
	ctx context.Context, which document.Object, find func() ([]document.Object, error),
) (removed int64, err error) {
	for {
		batch, err := find()
		if err != nil || len(batch) == 0 {
			return removed, err
		}
		ids := make([]any, len(batch))
		for i, o := range batch {
			ids[i], _ = o.Field(fieldID)
		}
		filter, err := query.CompileFilter(which.With(fieldID, document.O("$in", document.A(ids...))))
		if err != nil {
			return removed, err
		}
		deleted, err := b.events.Delete(ctx, filter, store.DeleteOptions{Multi: true})
		removed += deleted
		if err != nil || len(batch) < retentionBatch {
			return removed, err
		}
	}
}

// findOld implements feed.
func (s *shared) findOld(ctx context.Context, which document.Object, field string) ([]document.Object, error) {
	return s.findSorted(ctx, which, field, store.FindOptions{Limit: retentionBatch})
}

// findOld implements feed. What is done has no index, which each event would pay for: it is looked for once
// an hour, what is old comes first, and the documents are in memory.
func (a *alone) findOld(ctx context.Context, which document.Object, _ string) ([]document.Object, error) {
	return a.find(ctx, which, store.FindOptions{Limit: retentionBatch})
}

// Erase removes all that the inbox has of a sender: events that wait or are being handled, dead letters,
// the marks of events that are done, and the document of the lane. It returns the number of events that
// it removed.
//
// A run that is under way goes on, and nothing of what came of its event is stored. An event that is
// accepted meanwhile may stay, and a repeat of one that was removed is a new event. The document of a lane
// that is in use stays until the lane has been idle for an hour.
//
// InvalidArgument: app, channel or from is missing. The other errors are those of the store: some may be
// removed then, and Erase can be called again.
func (b *Inbox) Erase(ctx context.Context, app, channel, from string) (removed int64, err error) {
	if err := (Event{App: app, Channel: channel, From: from}).check(); err != nil {
		return 0, err
	}
	lane := Lane(app, channel, from)
	for _, which := range []document.Object{document.O(fieldLane, lane), document.O(fieldSender, senderOf(lane))} {
		some, err := b.removeAll(ctx, which, func() ([]document.Object, error) {
			return b.find(ctx, which, store.FindOptions{Limit: retentionBatch})
		})
		removed += some
		if which.Has(fieldLane) {
			b.load.add(app, -some)
		}
		if err != nil {
			return removed, err
		}
	}
	return removed, b.feed.erase(ctx, lane)
}

// erase implements feed.
func (s *shared) erase(ctx context.Context, lane string) error { return s.turns.Forget(ctx, lane) }

// erase implements feed: the note of the seat may name the lane.
func (a *alone) erase(ctx context.Context, _ string) error {
	if isSeated, _ := a.seat(); isSeated {
		a.tellNote(ctx)
	}
	return nil
}

// runRetention removes what is old now and then, until ctx ends.
func (p *pool) runRetention(ctx context.Context) {
	ticker := time.NewTicker(retentionPause)
	defer ticker.Stop()
	for ctx.Err() == nil {
		if _, err := p.RemoveOld(ctx); err != nil && ctx.Err() == nil {
			p.log.LogAttrs(ctx, slog.LevelWarn, "inbox: what is old was not removed", slog.String("error", display.Text(err)))
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}
