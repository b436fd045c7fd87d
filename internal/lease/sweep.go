package lease

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
	// sweepPause is how often a process that has turns removes idle lanes, and how long they have
	// been idle then.
	sweepPause = time.Hour
	// lostFactor is how much longer than other lanes those are kept whose last turn never came back,
	// so that whoever has the next one learns it.
	lostFactor = 24
	// sweepBatch is the number of lanes that are removed at once, so that other writes come between.
	sweepBatch = 500
)

// Sweep removes the documents of lanes whose last turn ended longer ago than a time, by the store's
// clock, which is to be many leases. Those whose last turn never came back are removed when its lease
// passed 24 times as long ago. A process that has turns does so each hour, for lanes that are idle for
// an hour. The errors are those of the store.
func (t *Turns) Sweep(ctx context.Context, idle time.Duration) (removed int64, err error) {
	for _, field := range []string{fieldFreedAt, FieldUntil} {
		index := store.Index{Keys: []store.IndexKey{{Path: field, Kind: query.Ascending}}, Sparse: true}
		if err := t.records.EnsureIndex(ctx, index); err != nil {
			return 0, err
		}
	}
	now, err := t.store.Now(ctx)
	if err != nil {
		return 0, err
	}
	freed := document.O(fieldFreedAt, before(now.Add(-idle)), FieldUntil, nil)
	if removed, err = t.removeAll(ctx, fieldFreedAt, freed); err != nil {
		return removed, err
	}
	lost, err := t.removeAll(ctx, FieldUntil, document.O(FieldUntil, before(now.Add(-lostFactor*idle))))
	return removed + lost, err
}

// Forget removes the document of a lane that nobody holds, as Sweep does with lanes that are idle. It does
// nothing if the lane is held, or its last turn never came back. The errors are those of the store.
func (t *Turns) Forget(ctx context.Context, lane string) error {
	filter, err := query.CompileFilter(document.O(document.IDField, lane, FieldUntil, nil))
	if err != nil {
		return err
	}
	_, err = t.records.Delete(ctx, filter, store.DeleteOptions{})
	return err
}

// before is the condition of a time before another one.
func before(at time.Time) document.Object { return document.O("$lt", int64(document.TimestampOf(at))) }

// removeAll removes the lanes that a filter matches, which bounds a field that has an index, in
// batches.
func (t *Turns) removeAll(ctx context.Context, field string, which document.Object) (removed int64, err error) {
	for {
		found, deleted, err := t.removeBatch(ctx, field, which)
		removed += deleted
		if err != nil || found < sweepBatch {
			return removed, err
		}
	}
}

// removeBatch removes the first lanes that a filter matches, in the order of a field.
func (t *Turns) removeBatch(ctx context.Context, field string, which document.Object) (found int, deleted int64, err error) {
	filter, err := query.CompileFilter(which)
	if err != nil {
		return 0, 0, err
	}
	order, err := query.CompileSort(document.O(field, 1))
	if err != nil {
		return 0, 0, err
	}
	batch, err := t.records.Find(ctx, filter, store.FindOptions{Sort: order, Limit: sweepBatch})
	if err != nil || len(batch) == 0 {
		return 0, 0, err
	}
	ids := make([]any, len(batch))
	for i, o := range batch {
		ids[i], _ = o.Field(document.IDField)
	}
	// A lane that has had a turn since does not match any more.
	filter, err = query.CompileFilter(which.With(document.IDField, document.O("$in", document.A(ids...))))
	if err != nil {
		return 0, 0, err
	}
	deleted, err = t.records.Delete(ctx, filter, store.DeleteOptions{Multi: true})
	return len(batch), deleted, err
}

// sweepNowAndThen starts a Sweep where the last one is a while ago.
func (t *Turns) sweepNowAndThen() {
	now := t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if since := now.Sub(t.sweptAt); since >= 0 && since < sweepPause {
		return
	}
	t.sweptAt = now
	go func() {
		if _, err := t.Sweep(context.Background(), sweepPause); err != nil {
			t.log.LogAttrs(context.Background(), slog.LevelWarn, "lease: idle lanes were not removed",
				slog.String("error", display.Text(err)))
		}
	}()
}
