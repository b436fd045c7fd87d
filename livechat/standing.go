package livechat

import (
	"context"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/record"
)

// openAssignment returns the open assignment of a member, nil where there is none.
func (s *Service) openAssignment(ctx context.Context, memberID string) (*AssignmentRecord, error) {
	found, err := s.assignments.Find(ctx, record.Query{Filter: document.O(fieldSlot, openSlot(memberID)), Limit: 1})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return assignmentFrom(found[0])
}

// stand makes a request stand of which all was sent: idle time is watched from now on, and
// agents can take it. Where the outlet named the conversation, it is taken.
func (s *Service) stand(ctx context.Context, r *AssignmentRecord) (*AssignmentRecord, error) {
	now := document.At(s.env.Now())
	fields := document.O(fieldSentAt, now)
	if r.LiveChatAgenda {
		expiry := document.At(s.env.Now().Add(s.ports.IdleTimeout))
		if err := s.setIdleAgenda(ctx, r.Member, expiry); err != nil {
			return nil, err
		}
		fields = fields.With(fieldExpiry, expiry)
	}
	if r.Direct != "" && r.Group != "" {
		fields = fields.With(fieldAssignedAt, now).With(fieldAssignee, r.Opening.GroupExternalID)
	}
	unset, _ := document.Unset(fieldSender).Field("$unset")
	standing, err := s.changeOpen(ctx, document.O(record.FieldID, r.ID), document.O("$set", fields, "$unset", unset))
	if err == nil && standing == nil {
		err = withdrawn(r)
	}
	return standing, err
}

// setIdleAgenda sets the agenda that ends the live chat of a member who is idle.
func (s *Service) setIdleAgenda(ctx context.Context, memberID string, at document.Timestamp) error {
	_, err := s.ports.Agendas.NewAgenda(ctx, agenda.NewAgendaParams{
		MemberID: memberID, NodeCompositeID: "livechat:idle", NextRunAt: at, Replace: true, Tag: "livechat:idle",
	})
	return err
}

// enterLiveChat sets whether the member of an assignment is in live chat, and returns it.
func (s *Service) enterLiveChat(ctx context.Context, r *AssignmentRecord, isLive bool) (*member.Member, error) {
	patched, err := s.ports.Members.PatchMembers(ctx, member.PatchMembersParams{
		Channel:  &channel.Channel{ID: r.Inlet},
		MemberID: r.Member,
		Patch:    document.O("botMeta.liveChat", isLive),
	})
	if err != nil {
		return nil, boterr.New(boterr.CodeOf(err), fieldMember, "whether the member is in live chat could not be stored: %w", err)
	}
	if patched.Result == nil {
		return nil, boterr.New(boterr.NotFound, fieldMember, "there is no member %s in the channel %s any more", r.Member, r.Inlet)
	}
	return patched.Result, nil
}
