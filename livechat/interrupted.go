package livechat

import (
	"context"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/record"
)

// isInterrupted reports whether ending the assignment, in this way, was interrupted.
func (r *AssignmentRecord) isInterrupted(by EndedBy) bool {
	return r.isUnclosed() && r.EndedBy == by
}

// isUnclosed reports whether ending the assignment was interrupted.
func (r *AssignmentRecord) isUnclosed() bool { return r.State() == Ended && r.ClosedAt.IsZero() }

// completeEnd does what is left of ending an assignment, whoever has ended it.
func (s *Service) completeEnd(ctx context.Context, r *AssignmentRecord) error {
	switch {
	case !r.isUnclosed():
		return nil
	case r.EndedBy == EndedByRemoval:
		return s.remove(ctx, r)
	case r.EndedBy == EndedByReassign:
		return s.closeHandedOn(ctx, r)
	default:
		_, err := s.closeEnded(ctx, r)
		return err
	}
}

// closeInterrupted closes the assignments of a member of which ending was interrupted.
func (s *Service) closeInterrupted(ctx context.Context, memberID string) error {
	return s.closeThose(ctx, memberID, func(*AssignmentRecord) bool { return true })
}

// closeOthers closes the assignments of a member of which ending was interrupted, but one.
func (s *Service) closeOthers(ctx context.Context, but *AssignmentRecord) error {
	return s.closeThose(ctx, but.Member, func(r *AssignmentRecord) bool { return r.ID != but.ID })
}

// closeConversations closes those assignments of a member of which ending was interrupted
// that an agent had: of others only tickets can be left, and a platform that does not take
// these back is no reason to refuse a new request.
func (s *Service) closeConversations(ctx context.Context, memberID string) error {
	return s.closeThose(ctx, memberID, func(r *AssignmentRecord) bool { return r.Assignee != "" })
}

// closeThose closes those assignments of a member of which ending was interrupted that are
// meant.
func (s *Service) closeThose(ctx context.Context, memberID string, isMeant func(*AssignmentRecord) bool) error {
	found, err := s.interrupted(ctx, memberID)
	for _, r := range found {
		if err == nil && isMeant(r) {
			err = s.completeEnd(ctx, r)
		}
	}
	return err
}

// interrupted returns the assignments of a member of which ending was interrupted, the oldest
// first.
func (s *Service) interrupted(ctx context.Context, memberID string) ([]*AssignmentRecord, error) {
	return s.FindAssignments(ctx, record.Query{
		Filter: equal(fieldMember, memberID).
			With(fieldEndedAt, document.O("$exists", true)).
			With(fieldClosedAt, isAbsent()),
		SortBy: oldestFirst(),
	})
}

// expireInterrupted completes what was interrupted of a member who is in no live chat. A
// handover that goes on at this moment gets the agenda back that has come for it; one that
// was interrupted has been idle, and is withdrawn.
func (s *Service) expireInterrupted(ctx context.Context, memberID string) error {
	next, err := s.openOrHandedOn(ctx, memberID)
	if err != nil {
		return err
	}
	if next != nil {
		claimed, err := s.claimSending(ctx, next.ID, document.O(fieldSentAt, isAbsent()))
		if err != nil {
			return err
		}
		if claimed == nil {
			return s.restoreAlarm(ctx, next)
		}
		if err := s.remove(ctx, claimed); err != nil {
			return err
		}
	}
	return s.closeInterrupted(ctx, memberID)
}
