package livechats

import (
	"context"
	"errors"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

// The member's flag botMeta.liveChat and the agenda of idle time are no part of the record of
// an assignment. Who changes them looks afterwards whether the assignments are still as they
// were before: so whatever comes at once, the last one leaves both as the assignments say.

// isInLiveChat returns what a parameter means that says whether the member is in live chat.
func isInLiveChat(given *bool) bool { return given == nil || *given }

// letIn sets whether the member is in live chat: as the call wants it, else as the record says.
// Where the assignment has ended meanwhile, the member is not.
func (p *pass) letIn(ctx context.Context) error {
	if err := p.noteOut(ctx); err != nil {
		return err
	}
	changed, err := p.setLiveChat(ctx, p.r, !p.r.OutOfLiveChat)
	if err != nil {
		return boterr.WithField(fieldMember, err)
	}
	p.member = changed
	if p.r.OutOfLiveChat {
		return nil
	}
	// Who ends the assignment clears the flag afterwards. Only an end that came before this
	// look may have cleared it before it was set.
	open, err := p.openAssignment(ctx, p.r.Member)
	if err != nil || open != nil {
		return err
	}
	p.member, err = p.leaveLiveChat(ctx, p.r)
	return boterr.WithField(fieldMember, err)
}

// noteOut stores whether the call wants the member out of live chat, where it says that.
func (p *pass) noteOut(ctx context.Context) error {
	if p.isOut == nil || *p.isOut == p.r.OutOfLiveChat {
		return nil
	}
	noted, err := p.modify(ctx, p.r.ID, document.O(), document.Set(fieldOutOfLiveChat, *p.isOut))
	if noted != nil {
		p.r = noted
	}
	return err
}

// leaveLiveChat takes the member of an assignment that has ended out of live chat, unless
// another one is open. The result is the member, nil where this did not change it.
func (s *machine) leaveLiveChat(ctx context.Context, r *livechat.AssignmentRecord) (*member.Member, error) {
	for {
		open, err := s.openAssignment(ctx, r.Member)
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

// clearLiveChat clears the flag of a member and removes the idle agenda. The result is the
// member, nil where the flag was not set, or where the member is gone.
func (s *machine) clearLiveChat(ctx context.Context, r *livechat.AssignmentRecord) (*member.Member, error) {
	left, err := s.setLiveChat(ctx, r, false)
	if err != nil && !errors.Is(err, boterr.NotFound) {
		return nil, err
	}
	err = s.removeAlarm(ctx, r.Member)
	if errors.Is(err, boterr.NotFound) {
		err = nil
	}
	return left, err
}

// restoreFlag sets the flag of the member of an open assignment again, from whom it was taken.
func (s *machine) restoreFlag(ctx context.Context, open *livechat.AssignmentRecord) error {
	if open.State() == livechat.Sending || open.OutOfLiveChat {
		return nil
	}
	_, err := s.setLiveChat(ctx, open, true)
	return err
}

// setLiveChat sets the flag of an assignment's member. The result is nil where it had that
// value already.
func (s *machine) setLiveChat(ctx context.Context, r *livechat.AssignmentRecord, isInLiveChat bool) (*member.Member, error) {
	const path = "botMeta.liveChat"
	patched, err := s.ports.Members.PatchMembers(ctx, member.PatchMembersParams{
		Channel:  &channel.Channel{ID: r.Inlet},
		MemberID: r.Member,
		Filter:   document.O(path, document.O("$ne", isInLiveChat)),
		Patch:    document.O(path, isInLiveChat),
	})
	return patched.Result, err
}
