package livechats

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// EndLiveChat implements Operations.
func (s *Service) EndLiveChat(ctx context.Context, p livechat.EndParams) (livechat.EndResult, error) {
	outlet, err := channels.Load(ctx, s.ports.Channels, channels.ByRecord(s.scope, p.Channel))
	if err != nil {
		return livechat.EndResult{}, err
	}
	of := "end from the outlet " + conversationNamed(outlet, p.MessageEvent)
	run, err := s.assignmentOnce(ctx, of, func(ctx context.Context) (*pass, error) {
		r, err := s.eventAssignment(ctx, outlet, p.MessageEvent)
		if err != nil {
			return nil, err
		}
		run, err := s.end(ctx, r, livechat.EndedByOutlet, fieldHeardUntil, s.timeOf(p.MessageEvent))
		if err != nil {
			return nil, boterr.PrefixField(fieldMessageEvent, err)
		}
		err = run.reconcile(ctx, wantClosed)
		return run, err
	})
	if err != nil {
		return livechat.EndResult{}, err
	}
	return run.result(ctx)
}

// conversationNamed returns a text that identifies the conversation of an event, for the keys of once.
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
	open, err := s.FindAssignments(ctx, record.Query{
		Filter: document.O(
			fieldMember, p.MemberID, fieldClosedAt, isAbsent, fieldAssignedAt, isAbsent, fieldEndedAt, isAbsent),
	})
	if err != nil {
		return livechat.RemovePendingAssignmentByMemberIDResult{}, err
	}
	for _, r := range open {
		if err := s.remove(ctx, r); err != nil {
			return livechat.RemovePendingAssignmentByMemberIDResult{}, err
		}
	}
	if err := s.closeEnded(ctx, endedOf(p.MemberID)); err != nil {
		return livechat.RemovePendingAssignmentByMemberIDResult{}, err
	}
	return livechat.RemovePendingAssignmentByMemberIDResult{ClientMutationID: s.env.NewID()}, nil
}

// timeOf returns the time of an event, or the present time if it has none or one in the future.
func (s *Service) timeOf(event *send.MessageEvent) document.Timestamp {
	now := document.TimestampOf(s.env.Now())
	if event == nil || event.Timestamp.IsZero() {
		return now
	}
	return min(event.Timestamp, now)
}

// end marks an assignment as ended, sets further fields, and returns a pass that can close it. It also returns one for
// an assignment that the same side has already ended, if an interruption left it unclosed. If the assignment has ended
// otherwise, end closes it and returns FailedPrecondition.
func (s *Service) end(ctx context.Context, r *livechat.AssignmentRecord, by livechat.EndedBy, further ...any) (*pass, error) {
	ended, err := s.markEnded(ctx, r, by, document.O(), further...)
	if err != nil || ended != nil {
		return &pass{Service: s, r: ended}, err
	}
	if ended, err = s.loadAssignment(ctx, r.ID); err != nil {
		return nil, err
	}
	if isInterrupted(ended, by) {
		return &pass{Service: s, r: ended}, nil
	}
	if err := s.finish(ctx, ended); err != nil {
		return nil, err
	}
	return nil, boterr.New(boterr.FailedPrecondition, "", "the live chat of the assignment %s has already ended: %s",
		ended.ID, endingText(ended))
}

// result returns the ended assignment and its member.
func (p *pass) result(ctx context.Context) (livechat.EndResult, error) {
	m, err := p.memberNow(ctx)
	if err != nil && !errors.Is(err, boterr.NotFound) { // Removing a member also ends the live chat.
		return livechat.EndResult{}, err
	}
	return livechat.EndResult{RecordUpdate: recordUpdate(p.r.ID, p.r.CreatedAt, p.r.Version), Member: m}, nil
}

// endedOf matches a member's assignments that have ended but are not closed.
func endedOf(memberID string) document.Object {
	return document.O(fieldMember, memberID).With(fieldEndedAt, isPresent).With(fieldClosedAt, isAbsent)
}

// closeEnded closes all matching ended assignments. It continues after failures.
func (s *Service) closeEnded(ctx context.Context, which document.Object) error {
	found, err := s.FindAssignments(ctx, record.Query{Filter: which, SortBy: oldestFirst()})
	errs := []error{err}
	for _, r := range found {
		errs = append(errs, s.finish(ctx, r))
	}
	return joined(errs...)
}

// endIf ends and closes an open assignment that meets a condition, and sets further fields. The result is nil if the
// condition is not met.
func (s *Service) endIf(
	ctx context.Context, r *livechat.AssignmentRecord, by livechat.EndedBy, condition document.Object, further ...any,
) (*pass, error) {
	ended, err := s.markEnded(ctx, r, by, condition, further...)
	if err != nil || ended == nil {
		return nil, err
	}
	run := &pass{Service: s, r: ended}
	err = run.reconcile(ctx, wantClosed)
	return run, err
}

// remove withdraws and removes an assignment, unless it is taken or has ended.
func (s *Service) remove(ctx context.Context, r *livechat.AssignmentRecord) error {
	_, err := s.endIf(ctx, r, livechat.EndedByRemoval, document.O())
	return err
}

// withdrawUnsent removes an assignment that is not open yet, and reports whether it did. It does nothing while
// another call is sending the assignment.
func (s *Service) withdrawUnsent(ctx context.Context, r *livechat.AssignmentRecord) (bool, error) {
	claimed, err := s.claimSending(ctx, r.ID, document.O(fieldSentAt, isAbsent))
	if err != nil || claimed == nil {
		return false, err
	}
	return true, s.remove(ctx, claimed)
}

// withdraw removes an assignment that cannot be opened because of why. It returns why, joined with any error
// of the removal.
func (s *Service) withdraw(ctx context.Context, r *livechat.AssignmentRecord, why error) error {
	return joined(why, s.remove(context.WithoutCancel(ctx), r))
}

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
func (s *Service) InletEndLiveChat(ctx context.Context, p livechat.InletEndParams) (livechat.EndResult, error) {
	m, err := s.memberInInlet(ctx, p)
	if err != nil {
		return livechat.EndResult{}, err
	}
	run, err := s.assignmentOnce(ctx, fmt.Sprintf("end from the inlet %q", m.ID), func(ctx context.Context) (*pass, error) {
		return s.endAtInlet(ctx, m, p.Options)
	})
	if err != nil {
		return livechat.EndResult{}, err
	}
	return run.result(ctx)
}

// endAtInlet ends a member's live chat, or withdraws the request.
func (s *Service) endAtInlet(ctx context.Context, m *member.Member, options livechat.InletEndLiveChatOptions) (*pass, error) {
	r, err := s.endable(ctx, m)
	if err != nil {
		return nil, err
	}
	if options.RecallRelayMessage {
		if err := s.requireRecall(ctx, r); err != nil {
			return nil, boterr.WithField("options.recallRelayMessage", err)
		}
	}
	run, err := s.end(ctx, r, livechat.EndedByInlet)
	if err != nil {
		return nil, boterr.PrefixField(fieldMember, err)
	}
	run.isRecalled = bool(options.RecallRelayMessage)
	err = run.reconcile(ctx, wantClosed)
	others := endedOf(r.Member).With(record.FieldID, document.O("$ne", r.ID))
	return run, joined(err, s.closeEnded(ctx, others))
}

// memberInInlet returns the member that a call names, or the scope's member. The member must be in the channel that
// the call names.
func (s *Service) memberInInlet(ctx context.Context, p livechat.InletEndParams) (*member.Member, error) {
	m, err := members.Load(ctx, s.ports.Members, members.ByRecord(s.scope, p.Member))
	if err != nil {
		return nil, err
	}
	if p.Channel == nil {
		return m, nil
	}
	inlet, err := channels.Load(ctx, s.ports.Channels, channels.ByRecord(s.scope, p.Channel))
	if err == nil {
		err = boterr.WithField(fieldChannel, m.RequireChannel(inlet.ID))
	}
	return m, err
}

// endable returns the assignment of a member that the inlet can end: the current one, or the last one if its end was
// interrupted.
func (s *Service) endable(ctx context.Context, m *member.Member) (*livechat.AssignmentRecord, error) {
	r, err := s.current(ctx, m.ID)
	if err != nil || r != nil {
		return r, err
	}
	interrupted, err := s.FindAssignments(ctx, record.Query{Filter: endedOf(m.ID), SortBy: oldestFirst()})
	if err != nil {
		return nil, err
	}
	if len(interrupted) == 0 {
		return nil, boterr.New(boterr.FailedPrecondition, fieldMember, "the member %s is not in a live chat and has not asked for one", m.ID)
	}
	return interrupted[len(interrupted)-1], nil
}

// requireRecall returns an error if a ticket of an assignment cannot be recalled.
func (s *Service) requireRecall(ctx context.Context, r *livechat.AssignmentRecord) error {
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

// EndBravoLiveChat implements Operations.
func (s *Service) EndBravoLiveChat(ctx context.Context, p livechat.EndBravoParams) ([]livechat.EndBravoResult, error) {
	switch {
	case p.AdminExternalID == "":
		return nil, boterr.Missing(fieldAdminExternalID, "the id of an agent on Bravo")
	case p.BravoGroupID == "":
		return nil, boterr.Missing(fieldBravoGroupID, "the id of a group on Bravo")
	}
	in, err := channels.Load(ctx, s.ports.Channels, channels.ByRecordOrID(s.scope, p.Channel, p.ChannelID), channel.Bravo)
	if err != nil {
		return nil, err
	}
	of := fmt.Sprintf("end on Bravo %q %q %q", in.ID, p.BravoGroupID, p.AdminExternalID)
	return once(ctx, s, of, func(ctx context.Context) ([]livechat.EndBravoResult, error) { return s.endAllOf(ctx, in, p) })
}

// endAllOf ends all live chats of an agent in a group.
func (s *Service) endAllOf(
	ctx context.Context, in *channel.Channel, p livechat.EndBravoParams,
) ([]livechat.EndBravoResult, error) {
	chosen := inConversation(in.ID, p.BravoGroupID)
	last, err := s.newestGroup(ctx, chosen, liveFirst)
	if err != nil {
		return nil, err
	}
	if last == nil {
		return nil, boterr.New(boterr.NotFound, fieldBravoGroupID, "the channel %s has no group %s", in.ID, p.BravoGroupID)
	}
	found, err := s.liveGroupsIn(ctx, in.ID, p.BravoGroupID)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(g *livechat.Group) bool { return g.AdminExternalID != p.AdminExternalID })
	slices.Reverse(found)
	over, err := s.newestGroup(ctx, chosen.With(fieldAdminExternalID, document.O("$eq", p.AdminExternalID)), onlyOver)
	if err != nil {
		return nil, err
	}
	if over != nil && (len(found) == 0 || over.CreatedAt >= found[0].CreatedAt) {
		found = slices.Insert(found, 0, over) // Only the end of the last one can have been interrupted.
	}
	results := []livechat.EndBravoResult{}
	for _, g := range found {
		result, err := s.endOne(ctx, g)
		if err != nil {
			return nil, err
		}
		if result != nil {
			results = append(results, *result)
		}
	}
	return results, nil
}

// endOne ends the live chat of a group. If the group has no live chat, endOne deactivates the group. The result is
// nil if the group was already inactive, or if another call ended the live chat meanwhile.
func (s *Service) endOne(ctx context.Context, g *livechat.Group) (*livechat.EndBravoResult, error) {
	r, err := s.assignmentOf(ctx, g)
	if err != nil {
		return nil, err
	}
	if r != nil && (r.State() != livechat.Ended || isInterrupted(r, livechat.EndedByOutlet)) {
		run, err := s.end(ctx, r, livechat.EndedByOutlet, fieldHeardUntil, s.timeOf(nil))
		if errors.Is(err, boterr.FailedPrecondition) { // Another call ended it meanwhile.
			return nil, nil
		}
		if err == nil {
			err = run.reconcile(ctx, wantClosed)
		}
		if err != nil {
			return nil, err
		}
		return &livechat.EndBravoResult{ClientMutationID: s.env.NewID(), AssignmentRaw: &run.r.Assignment}, nil
	}
	left, err := s.groups().Where(record.FieldID, g.ID).Update(ctx, record.Patch{Patch: document.O(fieldActive, false)})
	if err != nil || left.Modified == 0 {
		return nil, err
	}
	return &livechat.EndBravoResult{ClientMutationID: s.env.NewID()}, nil
}

// If one side is gone for good (send.IsGone), such as an archived conversation or a member who blocked the bot, the
// live chat ends and the other side gets a text. After any other failed message, the live chat continues unchanged,
// including its idle time.

// mostReason is the maximum length, in Unicode code points, of a platform's error that an assignment stores.
const mostReason = 500

// endGone ends an assignment because one side is gone. It reports whether the other side got a text. It does nothing
// if the assignment is no longer open.
func (s *Service) endGone(ctx context.Context, r *livechat.AssignmentRecord, by livechat.EndedBy, why error) (bool, error) {
	run, err := s.endIf(ctx, r, by, document.O(), fieldEndReason, shortened(display.Text(why), mostReason))
	return run != nil && run.isTold, err
}

// EndErased ends a member's open live chat before the member is erased. The agent gets the text MemberGone, and the
// tickets of an untaken request are recalled or show that it is over, if the platform can do that. Errors come from the
// store and from the platforms.
func (s *Service) EndErased(ctx context.Context, memberID string) error {
	r, err := s.current(ctx, memberID)
	if err != nil {
		return err
	}
	if r != nil {
		_, err = s.endGone(ctx, r, livechat.EndedByMemberGone, errErased)
	}
	return joined(err, s.closeEnded(ctx, endedOf(memberID)))
}

// errErased is the reason of the end of an erased member's live chat.
var errErased = errors.New("the member was erased")

// sendInChat sends a message of a live chat, and then restarts the idle time. r is nil for a group without an
// assignment. If the recipient is gone, the assignment ends with gone as its EndedBy, unless gone is "".
func (s *Service) sendInChat(
	ctx context.Context, r *livechat.AssignmentRecord, message send.Message, gone livechat.EndedBy,
) (send.Result, error) {
	result, err := s.deliver(ctx, message)
	switch {
	case r == nil:
		return result, err
	case gone != "" && send.IsGone(err):
		_, lost := s.endGone(ctx, r, gone, err)
		return send.Result{}, joined(err, lost)
	case err == nil:
		err = s.watchIdle(ctx, r)
	}
	if err != nil {
		return send.Result{}, err
	}
	return result, nil
}

// lastWords returns the text for the other side when the assignment ends, or "". isForMember is true if the other
// side is the member. The side that ends the live chat gets no text.
func (p *pass) lastWords() (text string, isForMember bool) {
	switch p.r.EndedBy {
	case livechat.EndedByMemberGone:
		return p.texts.MemberGone, false
	case livechat.EndedByAgentGone:
		return p.texts.AgentGone, true
	case livechat.EndedByIdle, livechat.EndedByOutlet:
		if len(p.r.Kept) > 0 {
			return p.texts.Unread, true
		}
	default:
	}
	return "", false
}

// sayLastWords sends the text for the other side, if there is one. A failure does not prevent the following steps.
func (p *pass) sayLastWords(ctx context.Context) error {
	text, isForMember := p.lastWords()
	if text == "" || !isForMember && p.r.Group == "" {
		return nil
	}
	id := p.r.ID + "/end"
	var err error
	if isForMember {
		err = p.tellMember(ctx, p.r, id, text)
	} else {
		var g *livechat.Group
		if g, err = p.loadGroup(ctx, p.r.Group); err == nil {
			err = p.tellAgent(ctx, g, id, text)
		}
	}
	if err != nil && !send.IsGone(err) { // If the reader is gone or a record is missing, there is nothing to retry.
		p.errs = append(p.errs, err)
	}
	p.isTold = err == nil
	return nil
}

// tellOver sends the text Over to an agent who writes in an ended conversation, once per group.
func (s *Service) tellOver(ctx context.Context, r *livechat.AssignmentRecord, g *livechat.Group) (Outcome, error) {
	if s.texts.Over == "" || slices.Contains(r.OverTold, g.ID) {
		return OutcomeNone, nil
	}
	told := s.tellAgent(ctx, g, r.ID+"/over/"+g.ID, s.texts.Over)
	if told != nil && !send.IsGone(told) {
		return OutcomeNone, told
	}
	_, err := s.modify(context.WithoutCancel(ctx), r.ID, document.O(), document.AddToSet(fieldOverTold, g.ID))
	if err != nil || told != nil {
		return OutcomeNone, err
	}
	return OutcomeAnswered, nil
}

// TellLate answers an agent whose tap on a ticket came too late, because the request has ended or another agent
// has it. The agent gets a message, and the ticket shows its text if the platform can change messages. late is
// the error from TakeByTap. Errors come from the send.
func (s *Service) TellLate(ctx context.Context, channelID string, event send.MessageEvent, late error) error {
	text := s.texts.Late
	tooLate, isLate := errors.AsType[*livechat.TooLateError](late)
	if isLate && tooLate.AdminName != "" {
		text = withName(s.texts.LateTaken, tooLate.AdminName)
	}
	if text == "" {
		return nil
	}
	outlet, err := s.ports.Channels.Load(ctx, channelID)
	if err != nil {
		return err
	}
	to := event.From
	if channels.HasBroadcastGroup(outlet, event.To) {
		to = event.To
	}
	if isLate {
		s.showLate(ctx, tooLate.Assignment.ID, channelID, event.To, text)
	}
	err = s.tellIn(ctx, outlet, to, s.env.SendID(ctx, "late "+to), text)
	if send.IsGone(err) {
		return nil
	}
	return err
}

// showLate shows a text on the ticket in a broadcast group, unless the ticket already shows one. Errors are
// ignored, because the agent who tapped also gets a message.
func (s *Service) showLate(ctx context.Context, assignmentID, channelID, groupID, text string) {
	r, err := s.loadAssignment(ctx, assignmentID)
	if err != nil {
		return
	}
	ticket := ticketOf(r, channelID, groupID)
	if ticket != nil && ticket.TakenAt.IsZero() && ticket.RecalledAt.IsZero() {
		_ = s.showOn(ctx, r, *ticket, text)
	}
}

// isUntakenEnd reports whether the assignment ended before an agent had it. If the outlet itself closed the conversation
// that it opened, agents know.
func (p *pass) isUntakenEnd() bool {
	return p.r.Assignee == "" && (p.r.Direct == "" || p.r.Group == "" && p.r.EndedBy != livechat.EndedByOutlet)
}

// showOver shows on the tickets that the request has ended, if the platform can change messages and the
// tickets are not recalled. In the conversation that a direct outlet opened for the request, it sends a text. Errors are
// ignored, because the request has ended anyway.
func (p *pass) showOver(ctx context.Context) error {
	if p.texts.Late == "" {
		return nil
	}
	if p.r.Direct != "" {
		_ = p.tellOpened(ctx)
		return nil
	}
	for _, ticket := range shownTaken(p.r, "") {
		_, canRecall := send.PortOf[livechat.TicketRecaller](p.ports.Connectors[ticket.Type])
		if !canRecall || !p.wantsRecall() {
			_ = p.showOn(ctx, p.r, ticket, p.texts.Late)
		}
	}
	return nil
}

// tellOpened sends the text Late to the conversation that a direct outlet opened for the request, if it did.
func (p *pass) tellOpened(ctx context.Context) error {
	outlet, err := p.ports.Channels.Load(ctx, p.r.Direct)
	if err != nil {
		return err
	}
	chat, err := p.openedChat(ctx, outlet, p.r)
	if err != nil || chat == "" {
		return err
	}
	return p.tellIn(ctx, outlet, chat, p.r.ID+"/end", p.texts.Late)
}
