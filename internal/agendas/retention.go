package agendas

import (
	"context"
	"log/slog"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
)

// retentionPause is the time between two removals by Run.
const retentionPause = time.Hour

// RemoveCompleted removes the completed agendas whose last scheduled time is longer ago than
// SchedulerConfig.Retention, and the agendas that failed for good longer ago than FailedRetention, by the
// store's clock. It returns their number. Run calls it each hour. Errors come from the store.
func (s *Scheduler) RemoveCompleted(ctx context.Context) (removed int64, err error) {
	now, err := s.store.Now(ctx)
	if err != nil {
		return 0, err
	}
	if err := s.agendas.EnsureIndex(ctx, store.Ascending(timesIndex()...)); err != nil {
		return 0, err
	}
	if s.config.Retention >= 0 {
		which := record.Removal{Filter: completedBefore(now.Add(-s.config.Retention))}
		if removed, err = s.records.Remove(ctx, which); err != nil {
			return removed, err
		}
	}
	if s.config.FailedRetention < 0 {
		return removed, nil
	}
	failed, err := s.records.Remove(ctx, record.Removal{Filter: failedBefore(now.Add(-s.config.FailedRetention))})
	return removed + failed, err
}

// completedBefore returns a filter for completed agendas whose last scheduled time is before a time.
func completedBefore(at time.Time) document.Object {
	return document.O(fieldCompleted, true, fieldFailedAt, nil, fieldNextRunAt, document.O("$lt", millis(at)))
}

// failedBefore returns a filter for agendas that failed for good before a time.
func failedBefore(at time.Time) document.Object {
	return document.O(fieldCompleted, false, fieldFailedAt, document.O("$gt", 0, "$lt", millis(at)))
}

// runRetention removes completed agendas each hour, until ctx ends.
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

// applyRetention removes old agendas and logs an error.
func (s *Scheduler) applyRetention(ctx context.Context) {
	back := s.inFlight.begin("the removal of completed agendas")
	defer back()
	defer s.recovered(ctx, "store panicked", nil)
	if _, err := s.RemoveCompleted(ctx); err != nil && ctx.Err() == nil {
		s.log.LogAttrs(ctx, slog.LevelWarn, "agenda: completed agendas not removed", slog.String("error", display.Text(err)))
	}
}

// EraseMember removes all agendas of a member and returns their number. A run in progress finishes, but its result is
// not stored. EraseMember works in batches; after an error, call it again. It returns InvalidArgument if the id of
// the app or the member is missing. Other errors come from the store.
func EraseMember(ctx context.Context, env record.Env, app, memberID string) (removed int64, err error) {
	switch {
	case app == "":
		return 0, boterr.Missing("app", "the id of the member's app")
	case memberID == "":
		return 0, boterr.Missing("memberId", "the id of the member to erase")
	}
	return record.OfApp(env, schema, app).Remove(ctx, record.Removal{Filter: document.O(fieldMember, memberID)})
}
