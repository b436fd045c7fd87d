package agenda

import (
	"context"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/store"
)

const (
	// retentionPause is how often Run removes old agendas, and retentionBatch how many it removes
	// with one write, so that others can write in between.
	retentionPause = time.Hour
	retentionBatch = 500
)

// RemoveCompleted removes the agendas that were completed longer ago than SchedulerConfig.Retention, or
// failed for good longer ago than FailedRetention, by the store's clock, and returns their number. Run
// does so each hour; hosts that call RunNext instead may call it. The errors are those of the store.
func (s *Scheduler) RemoveCompleted(ctx context.Context) (removed int64, err error) {
	now, err := s.store.Now(ctx)
	if err != nil {
		return 0, err
	}
	if err := s.agendas.EnsureIndex(ctx, ascendingIndex(timesIndex()...)); err != nil {
		return 0, err
	}
	if s.retention >= 0 {
		if removed, err = removeAll(ctx, s.agendas, completedBefore(now.Add(-s.retention))); err != nil {
			return removed, err
		}
	}
	if s.failedRetention < 0 {
		return removed, nil
	}
	failed, err := removeAll(ctx, s.agendas, failedBefore(now.Add(-s.failedRetention)))
	return removed + failed, err
}

// completedBefore is the filter for completed agendas that were scheduled before a time.
func completedBefore(at time.Time) document.Object {
	return document.O(fieldCompleted, true, fieldFailedAt, nil, fieldNextRunAt, document.O("$lt", millis(at)))
}

// failedBefore is the filter for agendas that failed for good before a time.
func failedBefore(at time.Time) document.Object {
	return document.O(fieldCompleted, false, fieldFailedAt, document.O("$gt", 0, "$lt", millis(at)))
}

// removeAll removes the agendas that a filter matches, some at a time, and returns how many it removed.
func removeAll(ctx context.Context, agendas store.Collection, which document.Object) (removed int64, err error) {
	for {
		found, deleted, err := removeBatch(ctx, agendas, which)
		removed += deleted
		if err != nil || found < retentionBatch {
			return removed, err
		}
	}
}

// removeBatch removes some of the agendas that a filter matches, and returns how many it found
// and removed.
func removeBatch(ctx context.Context, agendas store.Collection, which document.Object) (found int, deleted int64, err error) {
	filter, err := query.CompileFilter(which)
	if err != nil {
		return 0, 0, err
	}
	batch, err := agendas.Find(ctx, filter, store.FindOptions{Limit: retentionBatch})
	if err != nil || len(batch) == 0 {
		return 0, 0, err
	}
	ids := make([]any, len(batch))
	for i, o := range batch {
		ids[i], _ = o.Field(record.FieldID)
	}
	filter, err = query.CompileFilter(which.With(record.FieldID, document.O("$in", document.A(ids...))))
	if err != nil {
		return 0, 0, err
	}
	deleted, err = agendas.Delete(ctx, filter, store.DeleteOptions{Multi: true})
	return len(batch), deleted, err
}

// runRetention removes completed agendas now and then, until ctx ends.
func (s *Scheduler) runRetention(ctx context.Context) {
	ticker := time.NewTicker(retentionPause)
	defer ticker.Stop()
	for ctx.Err() == nil {
		s.applyRetention(ctx)
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// applyRetention removes completed agendas, and logs what keeps it from that.
func (s *Scheduler) applyRetention(ctx context.Context) {
	back := s.inFlight.begin("the removal of completed agendas")
	defer back()
	defer func() {
		if thrown := recover(); thrown != nil {
			s.log.LogAttrs(ctx, slog.LevelError, "agenda: store panicked",
				slog.String("panic", boterr.Text(thrown)), slog.String("stack", string(debug.Stack())))
		}
	}()
	if _, err := s.RemoveCompleted(ctx); err != nil && ctx.Err() == nil {
		s.log.LogAttrs(ctx, slog.LevelWarn, "agenda: completed ones not removed", slog.String("error", boterr.Text(err)))
	}
}

// ascendingIndex is an index of paths.
func ascendingIndex(paths ...string) store.Index {
	var index store.Index
	for _, path := range paths {
		index.Keys = append(index.Keys, store.IndexKey{Path: path, Kind: query.Ascending})
	}
	return index
}
