package livechat

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/record"
)

// InletEndLiveChat implements Operations.
func (s *Service) InletEndLiveChat(ctx context.Context, p InletEndLiveChatParams) (_ EndLiveChatResult, err error) {
	defer s.guard(ctx, &err)
	m, err := s.memberInInlet(ctx, p)
	if err != nil {
		return EndLiveChatResult{}, err
	}
	r, err := s.endable(ctx, m)
	if err != nil {
		return EndLiveChatResult{}, err
	}
	if p.Options.RecallRelayMessage {
		if err := s.tickets.requireRecall(ctx, r); err != nil {
			return EndLiveChatResult{}, at("options.recallRelayMessage", err)
		}
	}
	ending, err := s.machine.end(ctx, r, EndedByInlet)
	if err != nil {
		return EndLiveChatResult{}, boterr.In(fieldMember, err)
	}
	ending.isRecalled = bool(p.Options.RecallRelayMessage)
	err = ending.reconcile(ctx, wantClosed)
	others := endedOf(r.Member).With(record.FieldID, document.O("$ne", r.ID))
	if err := joined(err, s.machine.closeEnded(ctx, others)); err != nil {
		return EndLiveChatResult{}, err
	}
	return ending.result(ctx)
}

// memberInInlet returns the member that a call names, or the scope's own, which is in the
// channel that it names.
func (s *Service) memberInInlet(ctx context.Context, p InletEndLiveChatParams) (*member.Member, error) {
	id := s.scope.Member
	switch {
	case p.Member != nil && p.Member.ID == "":
		return nil, boterr.Invalid("member._id", "is missing: it is what a member is found by")
	case p.Member != nil:
		id = p.Member.ID
	case id == "":
		return nil, boterr.Invalid(fieldMember, "is missing: this context has no member of its own")
	}
	m, err := s.ports.Members.GetMember(ctx, member.GetMemberParams{MemberID: id})
	if err != nil {
		return nil, at(fieldMember, err)
	}
	if p.Channel == nil {
		return m, nil
	}
	inlet, err := s.channelParameter(ctx, p.Channel, "")
	if err == nil && inlet.ID != m.Channel {
		err = boterr.Invalid(fieldChannel, "is %s, and the member %s is in the channel %s: give its own", inlet.ID, m.ID, m.Channel)
	}
	return m, err
}

// endable returns the assignment of a member that the inlet can end: the one that counts, or
// the last one of which ending was interrupted.
func (s *Service) endable(ctx context.Context, m *member.Member) (*AssignmentRecord, error) {
	r, err := s.machine.current(ctx, m.ID)
	if err != nil || r != nil {
		return r, err
	}
	interrupted, err := s.findAssignments(ctx, record.Query{Filter: endedOf(m.ID), SortBy: oldestFirst()})
	if err != nil {
		return nil, err
	}
	if len(interrupted) == 0 {
		return nil, boterr.New(boterr.FailedPrecondition, fieldMember, "the member %s is in no live chat and has asked for none", m.ID)
	}
	return interrupted[len(interrupted)-1], nil
}

// requireRecall refuses an assignment with a ticket that cannot be recalled.
func (s *tickets) requireRecall(ctx context.Context, r *AssignmentRecord) error {
	if r.Direct != "" {
		direct, err := s.ports.Channels.Load(ctx, r.Direct)
		if err != nil {
			return err
		}
		return direct.RequireType(channel.Charlie, channel.Delta)
	}
	for _, ticket := range r.recallable() {
		at := &channel.Channel{ID: ticket.Channel, Type: ticket.Type}
		if err := at.RequireType(channel.Charlie, channel.Delta); err != nil {
			return err
		}
		if _, err := portOf[TicketRecaller](s.core, at, "recall tickets"); err != nil {
			return err
		}
	}
	return nil
}

// recallable returns the tickets that were sent and not recalled.
func (r *AssignmentRecord) recallable() []Ticket {
	var tickets []Ticket
	for _, ticket := range r.Tickets {
		if !ticket.SentAt.IsZero() && ticket.RecalledAt.IsZero() {
			tickets = append(tickets, ticket)
		}
	}
	return tickets
}
