package inbox

import (
	"context"
	"log/slog"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/store"
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

// RemoveDone removes what tells that events are done, where that was longer ago than
// Config.Retention, and the documents of lanes that are idle, and returns the number of events. Run
// does so each hour; it is for hosts that call RunNext instead. The errors are those of the store.
func (b *Inbox) RemoveDone(ctx context.Context) (removed int64, err error) {
	if _, err := b.turns.Sweep(ctx, idleLane); err != nil || b.config.Retention < 0 {
		return 0, err
	}
	now, err := b.turns.Now(ctx)
	if err != nil {
		return 0, err
	}
	old := document.O(fieldDoneAt, document.O("$lt", int64(document.At(now.Add(-b.config.Retention)))))
	for {
		found, deleted, err := b.removeBatch(ctx, old)
		removed += deleted
		if err != nil || found < retentionBatch {
			return removed, err
		}
	}
}

// removeBatch removes some of the events that a filter matches, and returns how many it found and
// removed.
func (b *Inbox) removeBatch(ctx context.Context, old document.Object) (found int, deleted int64, err error) {
	batch, err := b.feed.findDone(ctx, old)
	if err != nil || len(batch) == 0 {
		return 0, 0, err
	}
	ids := make([]any, len(batch))
	for i, o := range batch {
		ids[i], _ = o.Field(fieldID)
	}
	filter, err := query.CompileFilter(old.With(fieldID, document.O("$in", document.A(ids...))))
	if err != nil {
		return 0, 0, err
	}
	deleted, err = b.events.Delete(ctx, filter, store.DeleteOptions{Multi: true})
	return len(batch), deleted, err
}

// findDone implements feed.
func (s *shared) findDone(ctx context.Context, which document.Object) ([]document.Object, error) {
	return s.findSorted(ctx, which, fieldDoneAt, store.FindOptions{Limit: retentionBatch})
}

// findDone implements feed. No index has to be kept with each event for what happens once an hour: what is
// old stands first, and memory is looked through fast.
func (a *alone) findDone(ctx context.Context, which document.Object) ([]document.Object, error) {
	return a.find(ctx, which, store.FindOptions{Limit: retentionBatch})
}

// runRetention removes what is old now and then, until ctx ends.
func (p *pool) runRetention(ctx context.Context) {
	ticker := time.NewTicker(retentionPause)
	defer ticker.Stop()
	for ctx.Err() == nil {
		if _, err := p.RemoveDone(ctx); err != nil && ctx.Err() == nil {
			p.log.LogAttrs(ctx, slog.LevelWarn, "inbox: what is old was not removed", slog.String("error", boterr.Text(err)))
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}
