package livechats

import (
	"context"
	"errors"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

// The member's flag botMeta.liveChat and the agenda for idle time are not part of the assignment's record. A call
// that changes either of them checks afterwards whether the assignments have changed meanwhile. So the last of
// several concurrent calls makes both consistent with the assignments.

// isInLiveChat returns the value of the parameter liveChat, which is true by default.
func isInLiveChat(given *bool) bool { return given == nil || *given }

// letIn sets the member's flag to the value that the call or else the record requests. If the assignment has
// ended meanwhile, it clears the flag.
func (p *pass) letIn(ctx context.Context) error {
	if p.isOut != nil && *p.isOut != p.r.OutOfLiveChat {
		noted, err := p.modify(ctx, p.r.ID, document.O(), document.Set(fieldOutOfLiveChat, *p.isOut))
		if err != nil {
			return err
		}
		if noted != nil {
			p.r = noted
		}
	}
	changed, err := p.setLiveChat(ctx, p.r, !p.r.OutOfLiveChat)
	if err != nil {
		return boterr.WithField(fieldMember, err)
	}
	p.member = changed
	if p.r.OutOfLiveChat {
		return nil
	}
	// A call that ends the assignment clears the flag afterwards. If the assignment ended before this read, that
	// call may have cleared the flag before it was set here.
	open, err := p.openAssignment(ctx, p.r.Member)
	if err != nil || open != nil {
		return err
	}
	p.member, err = p.leaveLiveChat(ctx, p.r)
	return boterr.WithField(fieldMember, err)
}

// leaveLiveChat takes the member of an ended assignment out of live chat, unless another assignment is open, or is about
// to open because the ended one was handed on. It returns the changed member, or nil.
func (s *Service) leaveLiveChat(ctx context.Context, r *livechat.AssignmentRecord) (*member.Member, error) {
	for {
		open, err := s.openAssignment(ctx, r.Member)
		if err == nil && open == nil && wasHandedOn(r) {
			open, err = s.nextOf(ctx, r.ID)
		}
		if err != nil || open != nil {
			return nil, err
		}
		left, err := s.clearLiveChat(ctx, r)
		if err != nil {
			return nil, err
		}
		if open, err = s.openAssignment(ctx, r.Member); err != nil || open == nil {
			return left, err
		}
		err = s.setAlarm(ctx, open.Member, s.alarmOf(open))
		if err == nil && left != nil {
			err = s.restoreFlag(ctx, open)
		}
		if err != nil {
			return nil, err
		}
	}
}

// clearLiveChat clears the flag of a member and removes the idle agenda. It returns the changed member, or nil if the
// flag was not set or the member was removed.
func (s *Service) clearLiveChat(ctx context.Context, r *livechat.AssignmentRecord) (*member.Member, error) {
	left, err := s.setLiveChat(ctx, r, false)
	if err != nil && !errors.Is(err, boterr.NotFound) {
		return nil, err
	}
	_, err = s.ports.Agendas.DeleteMemberAgenda(ctx, agenda.DeleteParams{MemberID: r.Member, Tag: idleTag})
	if errors.Is(err, boterr.NotFound) {
		err = nil
	}
	return left, err
}

// restoreFlag sets the flag of an open assignment's member again after the flag was cleared.
func (s *Service) restoreFlag(ctx context.Context, open *livechat.AssignmentRecord) error {
	if open.State() == livechat.Sending || open.OutOfLiveChat {
		return nil
	}
	_, err := s.setLiveChat(ctx, open, true)
	return err
}

// setLiveChat sets the flag of an assignment's member. It returns nil if the flag already had that value.
func (s *Service) setLiveChat(ctx context.Context, r *livechat.AssignmentRecord, isInLiveChat bool) (*member.Member, error) {
	const path = "botMeta.liveChat"
	patched, err := s.ports.Members.PatchMembers(ctx, member.PatchParams{
		Channel:  &channel.Channel{ID: r.Inlet},
		MemberID: r.Member,
		Filter:   document.O(path, document.O("$ne", isInLiveChat)),
		Patch:    document.O(path, isInLiveChat),
	})
	return patched.Result, err
}

// The expiry of an assignment is the time at which it ends because it is idle. An agenda, the alarm, is set to
// that time. After a crash, the alarm may fire before the expiry; then it is set again.

// idleTag is the tag of the agendas that end idle live chats, and the id of their node.
const idleTag = agenda.LiveChatTagPrefix + "idle"

// Expire handles a due agenda with the idle tag. It ends the member's live chat if its expiry has passed, or
// completes an interrupted end or hand-over. Untaken tickets are recalled if the platform can do that. An
// agenda may be handled twice or late.
func (s *Service) Expire(ctx context.Context, due agenda.Agenda) error {
	r, err := s.openAssignment(ctx, due.Member)
	if err != nil {
		return err
	}
	if r == nil {
		return s.expireInterrupted(ctx, due.Member)
	}
	now := document.TimestampOf(s.env.Now())
	switch {
	case r.Expiry.IsZero():
		return nil
	case r.Expiry > now:
		_, err := s.keepWatch(ctx, r)
		return err
	}
	// The condition keeps the live chat open if a message has moved the expiry since the read.
	run, err := s.endIf(ctx, r, livechat.EndedByIdle, document.O(fieldExpiry, document.O("$lte", now)))
	if run == nil {
		return err
	}
	return joined(err, s.closeEnded(ctx, endedOf(due.Member)))
}

// expireInterrupted completes interrupted work for a member without an open assignment. An interrupted
// hand-over is withdrawn. If a call is still sending the next assignment, the alarm is set again.
func (s *Service) expireInterrupted(ctx context.Context, memberID string) error {
	next, err := s.current(ctx, memberID)
	if err != nil {
		return err
	}
	if next != nil {
		isGone, err := s.withdrawUnsent(ctx, next)
		switch {
		case err != nil:
			return err
		case !isGone:
			return s.setAlarm(ctx, memberID, s.alarmOf(next))
		}
	}
	return s.closeEnded(ctx, endedOf(memberID))
}

// isWatched reports whether the assignment ends once it is idle: an agent has taken it, or the request set
// LiveChatAgenda.
func isWatched(r *livechat.AssignmentRecord) bool { return r.LiveChatAgenda || r.Assignee != "" }

// watchIdle restarts the idle time of an assignment if it is watched and open.
func (s *Service) watchIdle(ctx context.Context, r *livechat.AssignmentRecord) error {
	if !isWatched(r) {
		return nil
	}
	// With $max, the later of two concurrent messages counts.
	watched, err := s.modify(ctx, r.ID, document.O(fieldEndedAt, isAbsent),
		document.O("$max", document.O(fieldExpiry, s.nextExpiry())))
	if err == nil && watched != nil {
		_, err = s.keepWatch(ctx, watched)
	}
	return err
}

// keepWatch sets the alarm of an open assignment, and then loads the assignment. If it has ended meanwhile,
// keepWatch removes the alarm and returns nil. A call that ends an assignment likewise checks for an open one
// afterwards, so the last of several concurrent calls leaves the right alarm.
func (s *Service) keepWatch(ctx context.Context, r *livechat.AssignmentRecord) (*livechat.AssignmentRecord, error) {
	if err := s.setAlarm(ctx, r.Member, r.Expiry); err != nil {
		return nil, err
	}
	now, err := s.findAssignment(ctx, r.ID)
	if err != nil || now != nil && now.State() != livechat.Ended {
		return now, err
	}
	_, err = s.leaveLiveChat(ctx, r)
	return nil, err
}

// nextExpiry returns the expiry of an assignment that was active just now.
func (s *Service) nextExpiry() document.Timestamp {
	return document.TimestampOf(s.env.Now().Add(s.ports.IdleTimeout))
}

// alarmOf returns the time for the alarm of an open assignment, or 0 for none. While an assignment is being sent, it
// has an alarm but no expiry.
func (s *Service) alarmOf(open *livechat.AssignmentRecord) document.Timestamp {
	if isWatched(open) && open.Expiry.IsZero() {
		return s.nextExpiry()
	}
	return open.Expiry
}

// setAlarm sets the agenda that ends a member's live chat. It does nothing if when is 0.
func (s *Service) setAlarm(ctx context.Context, memberID string, when document.Timestamp) error {
	if when.IsZero() {
		return nil
	}
	_, err := s.ports.Agendas.NewAgenda(ctx, agenda.NewParams{
		MemberID:        memberID,
		NodeCompositeID: idleTag,
		NextRunAt:       when,
		Replace:         true,
		Tag:             idleTag,
	})
	return err
}
