package livechats

import (
	"context"
	"errors"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

// The expiry of an assignment says when it ends for being idle. Its agenda is the alarm: it
// is set to the expiry, and where it goes off too early, because a crash came between, it is
// set again.

// TagPrefix is what the tags of the agendas of this package begin with. A host hands agendas
// whose tag begins so to Service.Expire, in place of running a node.
const TagPrefix = agenda.LiveChatTagPrefix

// idleTag is the tag of the agendas that end idle live chats, and the node that they name.
const idleTag = TagPrefix + "idle"

// Expire is what an agenda of this package does when it is due: it ends the live chat of its
// member if it has been idle for the idle time-out, or completes an end or a hand-over that was
// interrupted. Tickets that nobody took are recalled where the platform can do that. In all other
// cases it does nothing, so that an agenda that comes twice or late does no harm.
func (s *Service) Expire(ctx context.Context, due agenda.Agenda) error {
	r, err := s.openAssignment(ctx, due.Member)
	if err != nil {
		return err
	}
	if r == nil {
		return s.machine.expireInterrupted(ctx, due.Member)
	}
	now := document.TimestampOf(s.env.Now())
	switch {
	case r.Expiry.IsZero():
		return nil
	case r.Expiry > now:
		_, err := s.machine.keepWatch(ctx, r)
		return err
	}
	// A message may come at this moment.
	ended, err := s.machine.markEnded(ctx, r, livechat.EndedByIdle, document.O(fieldExpiry, document.O("$lte", now)))
	if err != nil || ended == nil {
		return err
	}
	err = s.machine.finish(ctx, ended)
	return joined(err, s.machine.closeEnded(ctx, endedOf(due.Member)))
}

// expireInterrupted completes what was interrupted of a member who is in no live chat. A
// handover that goes on at this moment gets the agenda back that has come for it; one that
// was interrupted has been idle, and is withdrawn.
func (s *machine) expireInterrupted(ctx context.Context, memberID string) error {
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

// isWatched reports whether the assignment ends once it is idle: where the request says so, and where an agent
// has taken it.
func isWatched(r *livechat.AssignmentRecord) bool { return r.LiveChatAgenda || r.Assignee != "" }

// watchIdle starts the idle time of an assignment anew if it is watched, and has not ended meanwhile.
func (s *machine) watchIdle(ctx context.Context, r *livechat.AssignmentRecord) error {
	if !isWatched(r) {
		return nil
	}
	// $max: of two messages at once the later one counts.
	watched, err := s.modify(ctx, r.ID, document.O(fieldEndedAt, isAbsent()),
		document.O("$max", document.O(fieldExpiry, s.nextExpiry())))
	if err == nil && watched != nil {
		_, err = s.keepWatch(ctx, watched)
	}
	return err
}

// keepWatch sets the agenda of an open assignment, and returns the assignment as it is then.
// nil: it ended meanwhile, and has no agenda. Who sets one looks afterwards whether the
// assignment has ended, as who ends one looks for an open one: so whatever comes at once, the
// last one leaves the agenda as the assignments say.
func (s *machine) keepWatch(ctx context.Context, r *livechat.AssignmentRecord) (*livechat.AssignmentRecord, error) {
	if err := s.setAlarm(ctx, r.Member, r.Expiry); err != nil {
		return nil, err
	}
	now, err := s.loadAssignment(ctx, r.ID)
	if err == nil && now.State() != livechat.Ended {
		return now, nil
	}
	if err == nil || errors.Is(err, boterr.NotFound) { // It was withdrawn.
		_, err = s.leaveLiveChat(ctx, r)
	}
	return nil, err
}

// nextExpiry is when an assignment expires that is not idle now.
func (s *machine) nextExpiry() document.Timestamp {
	return document.TimestampOf(s.env.Now().Add(s.ports.IdleTimeout))
}

// alarmOf returns when the alarm of an open assignment is to go off, 0 for never. One that is
// still being sent has an alarm before it has an expiry.
func (s *machine) alarmOf(open *livechat.AssignmentRecord) document.Timestamp {
	if isWatched(open) && open.Expiry.IsZero() {
		return s.nextExpiry()
	}
	return open.Expiry
}

// setAlarm sets the agenda that ends the live chat of a member, unless its time is 0.
func (s *machine) setAlarm(ctx context.Context, memberID string, when document.Timestamp) error {
	if when.IsZero() {
		return nil
	}
	_, err := s.ports.Agendas.NewAgenda(ctx, agenda.NewAgendaParams{
		MemberID:        memberID,
		NodeCompositeID: idleTag,
		NextRunAt:       when,
		Replace:         true,
		Tag:             idleTag,
	})
	return err
}

// removeAlarm removes the agenda that would end the live chat of a member.
func (s *machine) removeAlarm(ctx context.Context, memberID string) error {
	_, err := s.ports.Agendas.DeleteMemberAgenda(ctx, agenda.DeleteMemberAgendaParams{MemberID: memberID, Tag: idleTag})
	return err
}
