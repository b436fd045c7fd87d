package livechat

import (
	"context"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/record"
)

// A live chat ends in three steps: its assignment is marked as ended, which one of several
// who end it does; the member's flag, the idle agenda and its groups are put right; and the
// assignment is marked as closed. Who ends it again after it was interrupted goes on with
// what is left.

// EndLiveChat implements Operations.
func (s *Service) EndLiveChat(ctx context.Context, p EndLiveChatParams) (_ EndLiveChatResult, err error) {
	defer s.guard(ctx, &err)
	outlet, err := s.channelParameter(ctx, p.Channel, "")
	if err != nil {
		return EndLiveChatResult{}, err
	}
	r, err := s.eventAssignment(ctx, outlet, p.MessageEvent)
	if err != nil {
		return EndLiveChatResult{}, err
	}
	ended, err := s.end(ctx, r, EndedByOutlet)
	if err != nil {
		return EndLiveChatResult{}, boterr.In(fieldMessageEvent, err)
	}
	return s.closeEnded(ctx, ended)
}

// end marks an assignment as ended. One that the same side has ended, and that is not closed
// yet, comes back as it is; one of another side is closed. FailedPrecondition: it has ended.
func (s *Service) end(ctx context.Context, r *AssignmentRecord, by EndedBy) (*AssignmentRecord, error) {
	ended, err := s.markEnded(ctx, r, by, document.O())
	if err != nil || ended != nil {
		return ended, err
	}
	now, err := s.loadAssignment(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	if now.isInterrupted(by) {
		return now, nil
	}
	if err := s.completeEnd(ctx, now); err != nil {
		return nil, err
	}
	return nil, boterr.New(boterr.FailedPrecondition, "", "the live chat of the assignment %s has ended already: %s",
		now.ID, now.endingText())
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

// markEnded marks an assignment as ended, if it has not ended and meets a condition. It
// returns the assignment as it is then, nil where it does not.
func (s *Service) markEnded(
	ctx context.Context, r *AssignmentRecord, by EndedBy, condition document.Object,
) (*AssignmentRecord, error) {
	return s.modify(ctx, r.ID, condition.With(fieldEndedAt, isAbsent()), document.O(
		"$set", document.O(fieldEndedAt, document.At(s.env.Now()), fieldEndedBy, string(by), fieldSlot, endedSlot(r.ID)),
		"$unset", document.O(fieldExpiry, ""),
	))
}

// closeEnded does what is left of ending an assignment, and tells of it and its member.
func (s *Service) closeEnded(ctx context.Context, r *AssignmentRecord) (EndLiveChatResult, error) {
	m, err := s.release(ctx, r)
	if err != nil {
		return EndLiveChatResult{}, err
	}
	return s.markClosed(ctx, r, m)
}

// release ends what an assignment that has ended leaves: the live chat of its member, who
// comes back and is in its group no longer, and its groups. In this order the bot answers the member again also where it is
// interrupted, and the agent is still in the group where ending it again completes it.
func (s *Service) release(ctx context.Context, r *AssignmentRecord) (*member.Member, error) {
	ctx = context.WithoutCancel(ctx) // It has ended.
	m, err := s.leaveLiveChat(ctx, r)
	if err != nil {
		return nil, err
	}
	left, err := s.leaveGroup(ctx, r)
	if err != nil {
		return nil, err
	}
	if left != nil {
		m = left
	}
	return m, s.deactivateGroups(ctx, r)
}

// leaveGroup clears the current group of the member of an assignment that has ended, where it
// is that of the assignment. The result is the member, nil where it is another one.
func (s *Service) leaveGroup(ctx context.Context, r *AssignmentRecord) (*member.Member, error) {
	if r.Group == "" {
		return nil, nil
	}
	patched, err := s.ports.Members.PatchMembers(ctx, member.PatchMembersParams{
		Channel:      &channel.Channel{ID: r.Inlet},
		MemberID:     r.Member,
		Filter:       equal(fieldGroup, r.Group),
		Patch:        document.Unset(fieldGroup),
		WithModifier: true,
	})
	return patched.Result, err
}

// deactivateGroups marks the groups of an assignment that has ended as no longer live, but
// those that an open assignment has by now, which they name then.
func (s *Service) deactivateGroups(ctx context.Context, r *AssignmentRecord) error {
	live, err := s.findGroups(ctx, equal(fieldAssignment, r.ID).With(fieldActive, true))
	if err != nil {
		return err
	}
	ids := []string{r.Group}
	for _, g := range live {
		ids = append(ids, g.ID)
	}
	inUse, err := s.FindAssignments(ctx, record.Query{
		Filter: document.O(fieldGroup, document.O("$in", ids), fieldEndedAt, isAbsent()),
	})
	if err != nil {
		return err
	}
	for _, open := range inUse {
		ids = slices.DeleteFunc(ids, func(id string) bool { return id == open.Group })
		_, err := s.groups.Where(record.FieldID, open.Group).Update(ctx, record.Patch{
			Filter: equal(fieldAssignment, r.ID),
			Patch:  document.O(fieldAssignment, open.ID, fieldInlet, open.Inlet, fieldMember, open.Member),
		})
		if err != nil {
			return err
		}
	}
	return s.deactivate(ctx, document.O(record.FieldID, document.O("$in", ids), fieldActive, true))
}

// deactivate marks groups as no longer live.
func (s *Service) deactivate(ctx context.Context, which document.Object) error {
	_, err := s.groups.Update(ctx, record.Patch{Filter: which, Patch: document.O(fieldActive, false), Multi: true})
	return err
}

// markClosed marks an assignment as closed, once nothing goes on with it.
func (s *Service) markClosed(ctx context.Context, r *AssignmentRecord, m *member.Member) (EndLiveChatResult, error) {
	if err := s.withdrawNext(ctx, r); err != nil {
		return EndLiveChatResult{}, err
	}
	closed, err := s.modify(context.WithoutCancel(ctx), r.ID, document.O(), document.Set(fieldClosedAt, document.At(s.env.Now())))
	if err != nil {
		return EndLiveChatResult{}, err
	}
	if closed == nil { // It was removed.
		closed = r
	}
	return EndLiveChatResult{RecordUpdate: recordUpdate(closed.ID, closed.CreatedAt, closed.Version), Member: m}, nil
}

// leaveLiveChat takes the member of an assignment that has ended out of live chat, and
// returns the member. A request that the member makes meanwhile has the member's flag and
// agenda: where they were taken from it, it gets them back. So whatever comes at once, the
// last one leaves both as the assignments say.
func (s *Service) leaveLiveChat(ctx context.Context, r *AssignmentRecord) (*member.Member, error) {
	open, err := s.openAssignment(ctx, r.Member)
	for err == nil && open == nil {
		var left *member.Member
		if left, err = s.clearLiveChat(ctx, r); err != nil {
			break
		}
		if open, err = s.openAssignment(ctx, r.Member); err != nil || open == nil {
			return s.orMemberOf(ctx, r, left, err)
		}
		if err = s.restoreAlarm(ctx, open); err == nil && left != nil && open.State() != Sending && !open.OutOfLiveChat {
			_, err = s.setLiveChat(ctx, open, true)
		}
		if err == nil {
			open, err = s.openAssignment(ctx, r.Member)
		}
	}
	return s.orMemberOf(ctx, r, nil, err)
}

// clearLiveChat clears the flag of a member and removes the idle agenda. The result is the
// member, nil where the flag was not set.
func (s *Service) clearLiveChat(ctx context.Context, r *AssignmentRecord) (*member.Member, error) {
	left, err := s.setLiveChat(ctx, r, false)
	if err != nil {
		return nil, err
	}
	return left, s.removeAlarm(ctx, r.Member)
}

// restoreAlarm sets the agenda of an open assignment from which it may have been taken. One
// that is still being sent has an agenda before it has an expiry.
func (s *Service) restoreAlarm(ctx context.Context, open *AssignmentRecord) error {
	watched := *open
	if watched.LiveChatAgenda && watched.Expiry.IsZero() {
		watched.Expiry = s.nextExpiry()
	}
	return s.setAlarm(ctx, &watched)
}

// orMemberOf returns a member that is known, or else that of an assignment.
func (s *Service) orMemberOf(ctx context.Context, r *AssignmentRecord, known *member.Member, err error) (*member.Member, error) {
	if err != nil || known != nil {
		return known, err
	}
	return s.memberOf(ctx, r)
}

// setLiveChat sets the flag of an assignment's member. The result is nil where it had that
// value already.
func (s *Service) setLiveChat(ctx context.Context, r *AssignmentRecord, isInLiveChat bool) (*member.Member, error) {
	const path = "botMeta.liveChat"
	patched, err := s.ports.Members.PatchMembers(ctx, member.PatchMembersParams{
		Channel:  &channel.Channel{ID: r.Inlet},
		MemberID: r.Member,
		Filter:   document.O(path, document.O("$ne", isInLiveChat)),
		Patch:    document.O(path, isInLiveChat),
	})
	return patched.Result, err
}
