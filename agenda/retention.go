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
	// retentionPause is how often Run removes completed agendas, and retentionBatch how many
	// of them at once, so that other writes come between.
	retentionPause = time.Hour
	retentionBatch = 500
)

// RemoveCompleted removes the completed agendas that were scheduled for the last time longer
// ago than SchedulerConfig.Retention, by the store's clock, and returns their number. Those
// whose last occurrence failed stay. Run does so each hour; it is for hosts that call RunNext
// instead. The errors are those of the store.
func (s *Scheduler) RemoveCompleted(ctx context.Context) (removed int64, err error) {
	if s.retention < 0 {
		return 0, nil
	}
	if err := s.agendas.EnsureIndex(ctx, ascendingIndex(fieldCompleted, fieldNextRunAt)); err != nil {
		return 0, err
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return 0, err
	}
	old := document.O(fieldCompleted, true, fieldNextRunAt, document.O("$lt", millis(now.Add(-s.retention))),
		fieldFailed, document.O("$ne", true))
	for {
		found, deleted, err := s.removeBatch(ctx, old)
		removed += deleted
		if err != nil || found < retentionBatch {
			return removed, err
		}
	}
}

// removeBatch removes some of the agendas that a filter matches, and returns how many it found
// and removed.
func (s *Scheduler) removeBatch(ctx context.Context, old document.Object) (found int, deleted int64, err error) {
	filter, err := query.CompileFilter(old)
	if err != nil {
		return 0, 0, err
	}
	batch, err := s.agendas.Find(ctx, filter, store.FindOptions{Limit: retentionBatch})
	if err != nil || len(batch) == 0 {
		return 0, 0, err
	}
	ids := make([]any, len(batch))
	for i, o := range batch {
		ids[i], _ = o.Field(record.FieldID)
	}
	filter, err = query.CompileFilter(old.With(record.FieldID, document.O("$in", document.A(ids...))))
	if err != nil {
		return 0, 0, err
	}
	deleted, err = s.agendas.Delete(ctx, filter, store.DeleteOptions{Multi: true})
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
