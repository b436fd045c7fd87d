package livechat

import (
	"context"
	"errors"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

// stand makes a request stand of which all was sent: idle time is watched from now on, and
// agents can take it. A live-chat API that made a group has taken it.
func (s *Service) stand(ctx context.Context, r *AssignmentRecord) (*AssignmentRecord, error) {
	if err := s.endPrevious(ctx, r); err != nil {
		return nil, err
	}
	fields := document.O(fieldSentAt, document.At(s.env.Now()), fieldSlot, openSlot(r.Member))
	if r.LiveChatAgenda {
		watched := *r
		watched.Expiry = s.nextExpiry()
		if err := s.setAlarm(ctx, &watched); err != nil {
			return nil, err
		}
		fields = fields.With(fieldExpiry, watched.Expiry)
	}
	if r.Group != "" {
		fields = fields.With(fieldAssignedAt, document.At(s.env.Now()))
	}
	standing, err := s.modify(ctx, r.ID, document.O(fieldEndedAt, isAbsent()),
		document.O("$set", fields, "$unset", document.O(fieldSender, "")))
	switch {
	case errors.Is(err, boterr.AlreadyExists):
		return nil, s.withdraw(ctx, r, boterr.New(boterr.Conflict, "",
			"the member %s made another request while the assignment %s was handed on", r.Member, r.ParentAssignment))
	case err == nil && standing == nil: // The agenda may have come after who withdrew it looked for one.
		_, err = s.leaveLiveChat(context.WithoutCancel(ctx), r)
		return nil, errors.Join(withdrawn(r), err)
	default:
		return standing, err
	}
}

// enterLiveChat sets that the member of an assignment is in live chat, and returns the
// member. Where the assignment has ended meanwhile, the member is not.
func (s *Service) enterLiveChat(ctx context.Context, r *AssignmentRecord) (*member.Member, error) {
	m, err := s.memberWithLiveChat(ctx, r, true)
	if err != nil {
		return nil, err
	}
	// Who ends the assignment clears the flag afterwards. Only an end that came before this
	// look may have cleared it before it was set.
	open, err := s.openAssignment(ctx, r.Member)
	if err != nil || open != nil {
		return m, err
	}
	m, err = s.leaveLiveChat(ctx, r)
	return m, at(fieldMember, err)
}

// memberWithLiveChat returns the member of an assignment once botMeta.liveChat is as said.
func (s *Service) memberWithLiveChat(ctx context.Context, r *AssignmentRecord, isInLiveChat bool) (*member.Member, error) {
	m, err := s.setLiveChat(ctx, r, isInLiveChat)
	if err == nil && m == nil {
		m, err = s.memberOf(ctx, r)
	}
	return m, at(fieldMember, err)
}

// memberAsked returns the member of an assignment, in live chat or not, as a parameter says:
// by default in it.
func (s *Service) memberAsked(ctx context.Context, r *AssignmentRecord, liveChat *bool) (*member.Member, error) {
	if isOut := !isInLiveChat(liveChat); isOut != r.OutOfLiveChat {
		noted, err := s.modify(ctx, r.ID, document.O(), document.Set(fieldOutOfLiveChat, isOut))
		if err != nil {
			return nil, err
		}
		if noted != nil {
			r = noted
		}
	}
	return s.memberAsRequested(ctx, r)
}

// isInLiveChat returns what a parameter means that says whether the member is in live chat.
func isInLiveChat(given *bool) bool { return given == nil || *given }

// memberAsRequested returns the member of an assignment, in live chat or not, as its record
// says.
func (s *Service) memberAsRequested(ctx context.Context, r *AssignmentRecord) (*member.Member, error) {
	if r.OutOfLiveChat {
		return s.memberWithLiveChat(ctx, r, false)
	}
	return s.enterLiveChat(ctx, r)
}
