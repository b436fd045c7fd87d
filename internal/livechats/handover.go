package livechats

import (
	"context"
	"errors"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
)

// An assignment is handed on in steps: the next one is stored in a slot of its own and sent,
// while the previous one goes on; the previous one is marked as ended, the next one takes
// its place, and what is left of the previous one ends. Where nobody can take the next one,
// the previous one is as before.

// parentOf returns the assignment in whose place one comes, nil where it is gone.
func (s *machine) parentOf(ctx context.Context, next *livechat.AssignmentRecord) (*livechat.AssignmentRecord, error) {
	previous, err := s.loadAssignment(ctx, next.ParentAssignment)
	if errors.Is(err, boterr.NotFound) {
		return nil, nil
	}
	return previous, err
}

// nextOf returns the open assignment that another one is handed on to, nil where there is
// none.
func (s *machine) nextOf(ctx context.Context, previousID string) (*livechat.AssignmentRecord, error) {
	return s.oneAssignment(ctx, equal(fieldParentAssignment, previousID).With(fieldEndedAt, isAbsent()))
}

// current returns the assignment of a member that counts: the open one, else the one that
// takes the place of another, which has ended for that. nil: there is none.
func (s *machine) current(ctx context.Context, memberID string) (*livechat.AssignmentRecord, error) {
	open, err := s.openAssignment(ctx, memberID)
	if err != nil || open != nil {
		return open, err
	}
	next, err := s.oneAssignment(ctx, equal(fieldMember, memberID).With(fieldClosedAt, isAbsent()).With(fieldSlot, isHandoverSlot()))
	if err != nil || next == nil {
		return nil, err
	}
	previous, err := s.parentOf(ctx, next)
	if err != nil || canFollow(previous) {
		return next, err
	}
	return nil, s.remove(ctx, next) // What it was to go on with is over.
}

// canFollow reports whether another assignment can take the place of one: it is open, or was
// handed on.
func canFollow(previous *livechat.AssignmentRecord) bool {
	return previous != nil && (previous.State() != livechat.Ended || wasHandedOn(previous))
}

// openHandover returns the assignment that another one is being handed on to, nil where none
// was made yet. FailedPrecondition: it is too late to hand it on.
func (s *machine) openHandover(ctx context.Context, previousID string) (*livechat.AssignmentRecord, error) {
	previous, err := s.loadAssignment(ctx, previousID)
	if err != nil {
		return nil, boterr.PrefixField(fieldPreviousAssignment, err)
	}
	next, err := s.nextOf(ctx, previousID)
	switch {
	case err != nil:
		return nil, err
	case next == nil && previous.State() == livechat.Ended:
		if err := s.finish(ctx, previous); err != nil {
			return nil, err
		}
		return nil, boterr.New(boterr.FailedPrecondition, fieldPreviousAssignment,
			"the assignment %s has ended: %s", previousID, endingText(previous))
	case next != nil && next.State() == livechat.Sending && !canFollow(previous):
		return nil, s.withdraw(ctx, next, endedDuringHandover(previous))
	case next != nil && next.State() == livechat.Taken:
		return nil, boterr.New(boterr.FailedPrecondition, fieldPreviousAssignment,
			"the assignment %s was handed on already, and %s has the next one, %s", previousID, next.Assignee, next.ID)
	default:
		return next, nil
	}
}

// endPrevious ends the assignment in whose place one comes that was sent. Where it has ended
// otherwise, there is nothing to hand on any more: FailedPrecondition.
func (p *pass) endPrevious(ctx context.Context) error {
	previous, err := p.loadAssignment(ctx, p.r.ParentAssignment)
	if errors.Is(err, boterr.NotFound) {
		return p.withdraw(ctx, p.r, boterr.WithField(fieldPreviousAssignment, err))
	}
	if err != nil {
		return err
	}
	if ended, err := p.markEnded(ctx, previous, livechat.EndedByReassign, document.O()); err != nil || ended != nil {
		return err
	}
	if previous, err = p.loadAssignment(ctx, previous.ID); err != nil || canFollow(previous) {
		return err
	}
	return p.withdraw(ctx, p.r, endedDuringHandover(previous))
}

// finishPrevious closes the assignment in whose place one was to come, where it has ended.
// Whoever comes by a handover that was interrupted does so, whatever became of the next one;
// and that is open, whatever is left of the previous one.
func (p *pass) finishPrevious(ctx context.Context) error {
	if err := p.finishParent(ctx, p.r); err != nil {
		p.errs = append(p.errs, err)
	}
	return nil
}

// finishParent closes the assignment in whose place one was to come, where it has ended.
func (s *machine) finishParent(ctx context.Context, next *livechat.AssignmentRecord) error {
	if isFirst(next) {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // It has ended.
	previous, err := s.parentOf(ctx, next)
	if err != nil || previous == nil || previous.State() != livechat.Ended {
		return err
	}
	return s.finish(ctx, previous)
}

// endedDuringHandover is the error of a call that hands on what has ended.
func endedDuringHandover(previous *livechat.AssignmentRecord) error {
	return boterr.New(boterr.FailedPrecondition, fieldPreviousAssignment,
		"the assignment %s ended while it was handed on: %s", previous.ID, endingText(previous))
}

// followsOpen reports whether an assignment that was just stored comes in time: one that is to
// take the place of another, which has ended by now, is removed again.
func (s *machine) followsOpen(ctx context.Context, r *livechat.AssignmentRecord) (bool, error) {
	if isFirst(r) {
		return true, nil
	}
	previous, err := s.parentOf(ctx, r)
	if err != nil || previous != nil && previous.State() != livechat.Ended {
		return err == nil, err
	}
	_, err = s.assignments().Delete(ctx, equal(record.FieldID, r.ID))
	return false, err
}
