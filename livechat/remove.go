package livechat

import (
	"context"
	"errors"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/record"
)

// A request is removed in steps: it is marked as withdrawn, so that nobody takes it any more;
// the member leaves live chat; its tickets are recalled; and the record goes. What was
// interrupted is found by the mark.

// RemovePendingAssignmentByMemberID implements Operations.
func (s *Service) RemovePendingAssignmentByMemberID(
	ctx context.Context, p RemovePendingAssignmentByMemberIDParams,
) (_ RemovePendingAssignmentByMemberIDResult, err error) {
	defer s.guard(ctx, &err)
	if p.MemberID == "" {
		return RemovePendingAssignmentByMemberIDResult{}, missing("memberId", "a member")
	}
	found, err := s.FindAssignments(ctx, record.Query{
		Filter: equal(fieldMember, p.MemberID).
			With(fieldAssignedAt, isAbsent()).
			With("$or", document.A(document.O(fieldEndedAt, isAbsent()), equal(fieldEndedBy, string(EndedByRemoval)))),
	})
	if err != nil {
		return RemovePendingAssignmentByMemberIDResult{}, err
	}
	for _, r := range found {
		if err := s.remove(ctx, r); err != nil {
			return RemovePendingAssignmentByMemberIDResult{}, err
		}
	}
	if err := s.closeInterrupted(ctx, p.MemberID); err != nil {
		return RemovePendingAssignmentByMemberIDResult{}, err
	}
	return RemovePendingAssignmentByMemberIDResult{ClientMutationID: s.env.NewID()}, nil
}

// remove withdraws and removes an assignment, unless it was taken or has ended otherwise.
func (s *Service) remove(ctx context.Context, r *AssignmentRecord) error {
	if r.EndedBy != EndedByRemoval {
		marked, err := s.markEnded(ctx, r, EndedByRemoval, document.O(fieldAssignedAt, isAbsent()))
		if err != nil || marked == nil {
			return err
		}
		r = marked
	}
	if _, err := s.release(ctx, r); err != nil && !errors.Is(err, boterr.NotFound) { // The member may be gone.
		return err
	}
	if err := s.closePrevious(ctx, r); err != nil {
		return err
	}
	if err := s.recallSent(ctx, r); err != nil {
		return err
	}
	_, err := s.assignments.Delete(ctx, equal(record.FieldID, r.ID))
	return err
}

// withdraw removes an assignment that cannot stand, and returns why.
func (s *Service) withdraw(ctx context.Context, r *AssignmentRecord, why error) error {
	if err := s.remove(context.WithoutCancel(ctx), r); err != nil {
		return errors.Join(why, err)
	}
	return why
}
