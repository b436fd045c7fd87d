package inbox

import (
	"context"
	"log/slog"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// Somebody may edit the records of events, such as an operator in the database. Whatever is written
// there, an event is not run without end, and its lane goes on: a result that matches no record counts as
// a failure, and a record without a lane is given one.

// errEdited is the failure of a run whose result matches no record.
var errEdited = boterr.New(boterr.Internal, "", "the record of the event was changed while its run was under way")

// settleEdited stores what came of an event whose record is not as it was when the run began, although the
// turn may still hold: that is a failure. An event that does not wait any more is over. ErrLost: the turn
// is lost.
func (b *Inbox) settleEdited(
	ctx context.Context, turn *lease.Turn, e stored, failure error, part func(time.Duration) time.Duration,
) (outcome, error) {
	if err := turn.Check(ctx); err != nil {
		return outcome{failure: failure}, err
	}
	which := document.O(fieldID, e.id, fieldState, statePending)
	found, err := b.find(ctx, which, store.FindOptions{Limit: 1})
	if err != nil || len(found) == 0 {
		return outcome{failure: failure, isOver: true}, err
	}
	b.report(ctx, slog.LevelWarn, "inbox: edited while it ran", e, failure)
	if failure == nil || isPostponed(failure) {
		failure = errEdited
	}
	e.failures = max(e.failures, read(found[0]).failures)
	result, err := b.failAs(ctx, which, e, failure, part)
	if isLost(err) {
		return outcome{failure: failure, isOver: true}, nil // It was removed since.
	}
	return result, err
}

// ownLane returns the lane of the sender of an event, for a record that names none.
func ownLane(o document.Object) string {
	return Lane(document.Get(o, fieldApp, ""), document.Get(o, fieldChannel, ""), document.Get(o, fieldFrom, ""))
}

// repairLanes gives the events of a page a lane that wait and name none.
func (s *shared) repairLanes(ctx context.Context, page []document.Object) error {
	for _, o := range page {
		if hasLane(o) {
			continue
		}
		id, _ := o.Field(fieldID)
		which := document.O(fieldID, id, fieldState, statePending)
		found, err := s.find(ctx, which, store.FindOptions{Limit: 1})
		for _, broken := range found {
			err = s.setLane(ctx, which, ownLane(broken))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// setLane sets the lane of an event that a filter matches.
func (s *shared) setLane(ctx context.Context, which document.Object, lane string) error {
	filter, err := query.CompileFilter(which)
	if err != nil {
		return err
	}
	update, err := query.CompileUpdate(document.O("$set", document.O(fieldLane, lane)))
	if err != nil {
		return err
	}
	if _, err = s.update(ctx, filter, update, document.Object{}); err == nil {
		s.lookAt(lane)
	}
	return err
}
