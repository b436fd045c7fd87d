package livechats

import (
	"context"
	"errors"
	"fmt"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// EndLiveChat implements Operations.
func (s *Service) EndLiveChat(ctx context.Context, p livechat.EndLiveChatParams) (livechat.EndLiveChatResult, error) {
	outlet, err := s.namedChannel(ctx, channels.ByRecord(s.scope, p.Channel))
	if err != nil {
		return livechat.EndLiveChatResult{}, err
	}
	of := "end from the outlet " + conversationNamed(outlet, p.MessageEvent)
	run, err := s.assignmentOnce(ctx, of, func(ctx context.Context) (*pass, error) {
		r, err := s.conversations.eventAssignment(ctx, outlet, p.MessageEvent)
		if err != nil {
			return nil, err
		}
		run, err := s.machine.end(ctx, r, livechat.EndedByOutlet)
		if err != nil {
			return nil, boterr.PrefixField(fieldMessageEvent, err)
		}
		err = run.reconcile(ctx, wantClosed)
		return run, err
	})
	if err != nil {
		return livechat.EndLiveChatResult{}, err
	}
	return run.result(ctx)
}

// conversationNamed tells a conversation that an event names from others, for what a run remembers.
func conversationNamed(outlet *channel.Channel, event *send.MessageEvent) string {
	if event == nil {
		return fmt.Sprintf("%q", outlet.ID)
	}
	return fmt.Sprintf("%q %q %q", outlet.ID, event.From, event.To)
}

// RemovePendingAssignmentByMemberID implements Operations.
func (s *Service) RemovePendingAssignmentByMemberID(
	ctx context.Context, p livechat.RemovePendingAssignmentByMemberIDParams,
) (livechat.RemovePendingAssignmentByMemberIDResult, error) {
	if _, err := members.ByRequiredID(p.MemberID).Resolve(); err != nil {
		return livechat.RemovePendingAssignmentByMemberIDResult{}, err
	}
	open, err := s.findAssignments(ctx, record.Query{
		Filter: equal(fieldMember, p.MemberID).With(fieldClosedAt, isAbsent()).With(fieldAssignedAt, isAbsent()).With(fieldEndedAt, isAbsent()),
	})
	if err != nil {
		return livechat.RemovePendingAssignmentByMemberIDResult{}, err
	}
	for _, r := range open {
		if err := s.machine.remove(ctx, r); err != nil {
			return livechat.RemovePendingAssignmentByMemberIDResult{}, err
		}
	}
	if err := s.machine.closeEnded(ctx, endedOf(p.MemberID)); err != nil {
		return livechat.RemovePendingAssignmentByMemberIDResult{}, err
	}
	return livechat.RemovePendingAssignmentByMemberIDResult{ClientMutationID: s.env.NewID()}, nil
}

// end marks an assignment as ended, which is to be closed then. One that the same side has
// ended, and that is not closed yet, is so again; one of another side is closed at once.
// FailedPrecondition: it has ended.
func (s *machine) end(ctx context.Context, r *livechat.AssignmentRecord, by livechat.EndedBy) (*pass, error) {
	ended, err := s.markEnded(ctx, r, by, document.O())
	if err != nil || ended != nil {
		return &pass{machine: s, r: ended}, err
	}
	if ended, err = s.loadAssignment(ctx, r.ID); err != nil {
		return nil, err
	}
	if isInterrupted(ended, by) {
		return &pass{machine: s, r: ended}, nil
	}
	if err := s.finish(ctx, ended); err != nil {
		return nil, err
	}
	return nil, boterr.New(boterr.FailedPrecondition, "", "the live chat of the assignment %s has ended already: %s",
		ended.ID, endingText(ended))
}

// result tells of an assignment that has ended and its member.
func (p *pass) result(ctx context.Context) (livechat.EndLiveChatResult, error) {
	m, err := p.memberNow(ctx)
	if err != nil && !errors.Is(err, boterr.NotFound) { // Also that of a member who was removed meanwhile has ended.
		return livechat.EndLiveChatResult{}, err
	}
	return livechat.EndLiveChatResult{RecordUpdate: recordUpdate(p.r.ID, p.r.CreatedAt, p.r.Version), Member: m}, nil
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
func (s *machine) remove(ctx context.Context, r *livechat.AssignmentRecord) error {
	marked, err := s.markEnded(ctx, r, livechat.EndedByRemoval, document.O())
	if err != nil || marked == nil {
		return err
	}
	return s.finish(ctx, marked)
}

// withdrawUnsent removes an assignment that is not open yet, unless a call sends it at this
// moment, which finds out itself. It reports whether it did.
func (s *machine) withdrawUnsent(ctx context.Context, r *livechat.AssignmentRecord) (bool, error) {
	claimed, err := s.claimSending(ctx, r.ID, document.O(fieldSentAt, isAbsent()))
	if err != nil || claimed == nil {
		return false, err
	}
	return true, s.remove(ctx, claimed)
}

// withdraw removes an assignment that cannot be opened, and returns why.
func (s *machine) withdraw(ctx context.Context, r *livechat.AssignmentRecord, why error) error {
	return joined(why, s.remove(context.WithoutCancel(ctx), r))
}

// endingText says how the assignment ended.
func endingText(r *livechat.AssignmentRecord) string {
	switch r.EndedBy {
	case livechat.EndedByOutlet:
		return "it was ended in the outlet"
	case livechat.EndedByInlet:
		return "it was ended in the inlet"
	case livechat.EndedByIdle:
		return "it was idle"
	case livechat.EndedByReassign:
		return "it was handed on"
	case livechat.EndedByRemoval:
		return "it was withdrawn"
	case livechat.EndedByMemberGone:
		return "the member cannot be reached any more"
	case livechat.EndedByAgentGone:
		return "the conversation with the agent is gone"
	default:
		return "nothing is left to end"
	}
}

// InletEndLiveChat implements Operations.
func (s *Service) InletEndLiveChat(ctx context.Context, p livechat.InletEndLiveChatParams) (livechat.EndLiveChatResult, error) {
	m, err := s.memberInInlet(ctx, p)
	if err != nil {
		return livechat.EndLiveChatResult{}, err
	}
	run, err := s.assignmentOnce(ctx, fmt.Sprintf("end from the inlet %q", m.ID), func(ctx context.Context) (*pass, error) {
		return s.endAtInlet(ctx, m, p.Options)
	})
	if err != nil {
		return livechat.EndLiveChatResult{}, err
	}
	return run.result(ctx)
}

// endAtInlet ends the live chat of a member, or takes the request back.
func (s *Service) endAtInlet(ctx context.Context, m *member.Member, options livechat.InletEndLiveChatOptions) (*pass, error) {
	r, err := s.endable(ctx, m)
	if err != nil {
		return nil, err
	}
	if options.RecallRelayMessage {
		if err := s.tickets.requireRecall(ctx, r); err != nil {
			return nil, boterr.WithField("options.recallRelayMessage", err)
		}
	}
	run, err := s.machine.end(ctx, r, livechat.EndedByInlet)
	if err != nil {
		return nil, boterr.PrefixField(fieldMember, err)
	}
	run.isRecalled = bool(options.RecallRelayMessage)
	err = run.reconcile(ctx, wantClosed)
	others := endedOf(r.Member).With(record.FieldID, document.O("$ne", r.ID))
	return run, joined(err, s.machine.closeEnded(ctx, others))
}

// memberInInlet returns the member that a call names, or the scope's own, which is in the
// channel that it names.
func (s *Service) memberInInlet(ctx context.Context, p livechat.InletEndLiveChatParams) (*member.Member, error) {
	m, err := members.Load(ctx, s.ports.Members, members.ByRecord(s.scope, p.Member))
	if err != nil {
		return nil, err
	}
	if p.Channel == nil {
		return m, nil
	}
	inlet, err := s.namedChannel(ctx, channels.ByRecord(s.scope, p.Channel))
	if err == nil {
		err = boterr.WithField(fieldChannel, m.RequireChannel(inlet.ID))
	}
	return m, err
}

// endable returns the assignment of a member that the inlet can end: the one that counts, or
// the last one whose end was interrupted.
func (s *Service) endable(ctx context.Context, m *member.Member) (*livechat.AssignmentRecord, error) {
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
func (s *tickets) requireRecall(ctx context.Context, r *livechat.AssignmentRecord) error {
	if r.Direct != "" {
		direct, err := s.ports.Channels.Load(ctx, r.Direct)
		if err != nil {
			return err
		}
		return direct.Require(channel.TicketRecall)
	}
	for _, ticket := range recallable(r) {
		at := &channel.Channel{ID: ticket.Channel, Type: ticket.Type}
		if err := at.Require(channel.TicketRecall); err != nil {
			return err
		}
		if _, err := send.RequirePort[livechat.TicketRecaller](s.ports.Connectors, at, "recall tickets"); err != nil {
			return err
		}
	}
	return nil
}
