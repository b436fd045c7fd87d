package livechat

import (
	"context"
	"errors"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/record"
)

// An assignment is handed on in steps: the next one is stored in a slot of its own and sent,
// while the previous one goes on; the previous one is marked as ended, the next one stands in
// its place, and what is left of the previous one ends. Where nobody can take the next one,
// the previous one is as before.

// handoverSlots is what the slots of assignments begin with while they take the place of
// another one, which is open still.
const handoverSlots = "handover/"

// handoverSlot is the slot of the assignment that takes the place of another one.
func handoverSlot(previousID string) string { return handoverSlots + previousID }

// isHandoverSlot is a condition that such slots meet: 0 comes next to /.
func isHandoverSlot() document.Object {
	return document.O("$gte", handoverSlots, "$lt", "handover0")
}

// openHandover returns the assignment that another one is being handed on to, nil where none
// was made yet. FailedPrecondition: it is too late to hand it on.
func (s *Service) openHandover(ctx context.Context, previousID string) (*AssignmentRecord, error) {
	previous, err := s.loadAssignment(ctx, previousID)
	if err != nil {
		return nil, boterr.In(fieldPreviousAssignment, err)
	}
	next, err := s.nextOf(ctx, previousID)
	switch {
	case err != nil:
		return nil, err
	case next == nil && previous.State() == Ended:
		if err := s.closeHandedOn(ctx, previous); err != nil {
			return nil, err
		}
		return nil, boterr.New(boterr.FailedPrecondition, fieldPreviousAssignment,
			"the assignment %s has ended: %s", previousID, previous.endingText())
	case next != nil && next.State() == Sending && previous.State() == Ended && previous.EndedBy != EndedByReassign:
		return nil, s.withdraw(ctx, next, endedDuringHandover(previous))
	case next != nil && next.State() == Taken:
		return nil, boterr.New(boterr.FailedPrecondition, fieldPreviousAssignment,
			"the assignment %s was handed on already, and %s has the next one, %s", previousID, next.Assignee, next.ID)
	default:
		return next, nil
	}
}

// unlessHandedOn returns a new assignment as it was stored, and nil where it comes too late:
// then the one in whose place it would come has ended, and it is removed again.
func (s *Service) unlessHandedOn(ctx context.Context, stored document.Object) (*AssignmentRecord, error) {
	r, err := assignmentFrom(stored)
	if err != nil || r.ParentAssignment == "" {
		return r, err
	}
	previous, err := s.loadAssignment(ctx, r.ParentAssignment)
	if err == nil && previous.State() != Ended {
		return r, nil
	}
	if err != nil && !errors.Is(err, boterr.NotFound) {
		return nil, err
	}
	_, err = s.assignments.Delete(ctx, equal(record.FieldID, r.ID))
	return nil, err
}

// nextOf returns the open assignment that another one is handed on to, nil where there is
// none.
func (s *Service) nextOf(ctx context.Context, previousID string) (*AssignmentRecord, error) {
	found, err := s.FindAssignments(ctx, record.Query{
		Filter: equal(fieldParentAssignment, previousID).With(fieldEndedAt, isAbsent()), Limit: 1,
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// openOrHandedOn returns the open assignment of a member, or the one that was about to take
// the place of another, which has ended. nil: there is none.
func (s *Service) openOrHandedOn(ctx context.Context, memberID string) (*AssignmentRecord, error) {
	open, err := s.openAssignment(ctx, memberID)
	if err != nil || open != nil {
		return open, err
	}
	found, err := s.FindAssignments(ctx, record.Query{
		Filter: equal(fieldMember, memberID).With(fieldSlot, isHandoverSlot()), Limit: 1,
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	previous, err := s.loadAssignment(ctx, found[0].ParentAssignment)
	if err == nil && (previous.State() != Ended || previous.EndedBy == EndedByReassign) {
		return found[0], nil
	}
	if err != nil && !errors.Is(err, boterr.NotFound) {
		return nil, err
	}
	return nil, s.remove(ctx, found[0]) // What it was to go on with is over.
}

// endPrevious ends the assignment in whose place one comes that was sent. Where it has ended
// otherwise, there is nothing to hand on any more: FailedPrecondition.
func (s *Service) endPrevious(ctx context.Context, next *AssignmentRecord) error {
	if next.ParentAssignment == "" {
		return nil
	}
	previous, err := s.loadAssignment(ctx, next.ParentAssignment)
	if errors.Is(err, boterr.NotFound) {
		return s.withdraw(ctx, next, at(fieldPreviousAssignment, err))
	}
	if err != nil {
		return err
	}
	if ended, err := s.markEnded(ctx, previous, EndedByReassign, document.O()); err != nil || ended != nil {
		return err
	}
	if previous, err = s.loadAssignment(ctx, previous.ID); err != nil || previous.EndedBy == EndedByReassign {
		return err
	}
	return s.withdraw(ctx, next, endedDuringHandover(previous))
}

// withdrawNext removes what an assignment was about to be handed on to when it ended otherwise:
// nobody can take its tickets any more. A call that sends it at this moment does that itself.
func (s *Service) withdrawNext(ctx context.Context, ended *AssignmentRecord) error {
	if ended.EndedBy == EndedByReassign {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // It has ended.
	next, err := s.nextOf(ctx, ended.ID)
	if err != nil || next == nil || next.State() != Sending {
		return err
	}
	next, err = s.claimSending(ctx, next.ID, document.O(fieldSentAt, isAbsent()))
	if err != nil || next == nil {
		return err
	}
	return s.remove(ctx, next)
}

// endedDuringHandover is the error of a call that hands on what has ended.
func endedDuringHandover(previous *AssignmentRecord) error {
	return boterr.New(boterr.FailedPrecondition, fieldPreviousAssignment,
		"the assignment %s ended while it was handed on: %s", previous.ID, previous.endingText())
}

// closePrevious ends what is left of the assignment in whose place one was to come, where it
// has ended for that. Whoever comes by a handover that was interrupted does that, whatever
// became of the next one.
func (s *Service) closePrevious(ctx context.Context, next *AssignmentRecord) error {
	if next.ParentAssignment == "" {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // It has ended.
	previous, err := s.loadAssignment(ctx, next.ParentAssignment)
	if errors.Is(err, boterr.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.closeHandedOn(ctx, previous)
}

// closeHandedOn ends what is left of an assignment that has ended because it was handed on.
func (s *Service) closeHandedOn(ctx context.Context, previous *AssignmentRecord) error {
	if !previous.isInterrupted(EndedByReassign) {
		return nil
	}
	if previous.Assignee == "" {
		if err := s.recallSent(ctx, previous); err != nil {
			return err
		}
	}
	_, err := s.closeEnded(ctx, previous)
	return err
}
