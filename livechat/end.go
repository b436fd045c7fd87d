package livechat

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/record"
)

// EndLiveChat implements Operations.
func (s *Service) EndLiveChat(ctx context.Context, p EndLiveChatParams) (_ EndLiveChatResult, err error) {
	defer s.guard(ctx, &err)
	outlet, err := s.channelParameter(ctx, p.Channel, "")
	if err != nil {
		return EndLiveChatResult{}, err
	}
	r, err := s.conversations.eventAssignment(ctx, outlet, p.MessageEvent)
	if err != nil {
		return EndLiveChatResult{}, err
	}
	ending, err := s.machine.end(ctx, r, EndedByOutlet)
	if err != nil {
		return EndLiveChatResult{}, boterr.In(fieldMessageEvent, err)
	}
	if err := ending.reconcile(ctx, wantClosed); err != nil {
		return EndLiveChatResult{}, err
	}
	return ending.result(ctx)
}

// RemovePendingAssignmentByMemberID implements Operations.
func (s *Service) RemovePendingAssignmentByMemberID(
	ctx context.Context, p RemovePendingAssignmentByMemberIDParams,
) (_ RemovePendingAssignmentByMemberIDResult, err error) {
	defer s.guard(ctx, &err)
	if p.MemberID == "" {
		return RemovePendingAssignmentByMemberIDResult{}, missing("memberId", "a member")
	}
	open, err := s.findAssignments(ctx, record.Query{
		Filter: equal(fieldMember, p.MemberID).With(fieldAssignedAt, isAbsent()).With(fieldEndedAt, isAbsent()),
	})
	if err != nil {
		return RemovePendingAssignmentByMemberIDResult{}, err
	}
	for _, r := range open {
		if err := s.machine.remove(ctx, r); err != nil {
			return RemovePendingAssignmentByMemberIDResult{}, err
		}
	}
	if err := s.machine.closeEnded(ctx, endedOf(p.MemberID)); err != nil {
		return RemovePendingAssignmentByMemberIDResult{}, err
	}
	return RemovePendingAssignmentByMemberIDResult{ClientMutationID: s.env.NewID()}, nil
}

// end marks an assignment as ended, which is to be closed then. One that the same side has
// ended, and that is not closed yet, is so again; one of another side is closed at once.
// FailedPrecondition: it has ended.
func (s *machine) end(ctx context.Context, r *AssignmentRecord, by EndedBy) (*pass, error) {
	ended, err := s.markEnded(ctx, r, by, document.O())
	if err != nil || ended != nil {
		return &pass{machine: s, r: ended}, err
	}
	if ended, err = s.loadAssignment(ctx, r.ID); err != nil {
		return nil, err
	}
	if ended.isInterrupted(by) {
		return &pass{machine: s, r: ended}, nil
	}
	if err := s.finish(ctx, ended); err != nil {
		return nil, err
	}
	return nil, boterr.New(boterr.FailedPrecondition, "", "the live chat of the assignment %s has ended already: %s",
		ended.ID, ended.endingText())
}

// isInterrupted reports whether ending the assignment, in this way, was interrupted.
func (r *AssignmentRecord) isInterrupted(by EndedBy) bool {
	return r.State() == Ended && r.EndedBy == by && r.ClosedAt.IsZero()
}

// result tells of an assignment that has ended and its member.
func (p *pass) result(ctx context.Context) (EndLiveChatResult, error) {
	m, err := p.memberNow(ctx)
	if err != nil {
		return EndLiveChatResult{}, err
	}
	return EndLiveChatResult{RecordUpdate: recordUpdate(p.r.ID, p.r.CreatedAt, p.r.Version), Member: m}, nil
}

// endedOf matches the assignments of a member that have ended and are not closed.
func endedOf(memberID string) document.Object {
	return equal(fieldMember, memberID).With(fieldEndedAt, isPresent()).With(fieldClosedAt, isAbsent())
}

// closeEnded closes the assignments that match, which have ended. All are tried.
func (s *machine) closeEnded(ctx context.Context, which document.Object) error {
	found, err := s.findAssignments(ctx, record.Query{Filter: which, SortBy: oldestFirst()})
	errs := []error{err}
	for _, r := range found {
		errs = append(errs, s.finish(ctx, r))
	}
	return joined(errs...)
}

// remove withdraws and removes an assignment, unless it was taken or has ended.
func (s *machine) remove(ctx context.Context, r *AssignmentRecord) error {
	marked, err := s.markEnded(ctx, r, EndedByRemoval, document.O())
	if err != nil || marked == nil {
		return err
	}
	return s.finish(ctx, marked)
}

// withdraw removes an assignment that cannot stand, and returns why.
func (s *machine) withdraw(ctx context.Context, r *AssignmentRecord, why error) error {
	return joined(why, s.remove(context.WithoutCancel(ctx), r))
}

// endingText says how the assignment ended.
func (r *AssignmentRecord) endingText() string {
	switch r.EndedBy {
	case EndedByOutlet:
		return "it was ended in the outlet"
	case EndedByInlet:
		return "it was ended in the inlet"
	case EndedByIdle:
		return "it was idle"
	case EndedByReassign:
		return "it was handed on"
	case EndedByRemoval:
		return "it was withdrawn"
	default:
		return "nothing is left to end"
	}
}
