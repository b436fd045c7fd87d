package livechats

import (
	"context"
	"errors"
	"slices"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// A side that is gone for good (send.IsGone) ends the live chat: an archived conversation, a member
// who blocked the bot. The other side is told. Any other failure of a message leaves it as it was,
// idle time included.

// mostReason is the most of a platform's error that an assignment keeps, in Unicode code points.
const mostReason = 500

// endGone ends an assignment one of whose sides is gone, and reports whether the other side was told.
// If it is not open any more, nothing is done.
func (s *machine) endGone(ctx context.Context, r *livechat.AssignmentRecord, by livechat.EndedBy, why error) (bool, error) {
	ended, err := s.markEnded(ctx, r, by, document.O(), fieldEndReason, shortened(display.Text(why), mostReason))
	if err != nil || ended == nil {
		return false, err
	}
	run := &pass{machine: s, r: ended}
	err = run.reconcile(ctx, wantClosed)
	return run.isTold, err
}

// sendInChat sends a message of a live chat, and starts its idle time anew once it is sent. r is nil
// for a group without an assignment. gone is how the assignment ends if the recipient is gone, "" if
// it goes on.
func (s *Service) sendInChat(
	ctx context.Context, r *livechat.AssignmentRecord, message send.Message, gone livechat.EndedBy,
) (send.Result, error) {
	result, err := s.deliver(ctx, message)
	switch {
	case r == nil:
		return result, err
	case gone != "" && send.IsGone(err):
		_, lost := s.machine.endGone(ctx, r, gone, err)
		return send.Result{}, joined(err, lost)
	case err != nil:
		return send.Result{}, err
	}
	if err := s.machine.watchIdle(ctx, r); err != nil {
		return send.Result{}, err
	}
	return result, nil
}

// lastWords returns what a side is told when the assignment ends, "" for nothing, and whether that is
// the member. The side that ends it by itself is told nothing.
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

// hasLastWords reports whether a side is to be told something.
func (p *pass) hasLastWords() bool {
	text, isForMember := p.lastWords()
	return text != "" && (isForMember || p.r.Group != "")
}

// sayLastWords tells a side that the assignment has ended. That it cannot be sent does not keep the
// rest from ending.
func (p *pass) sayLastWords(ctx context.Context) error {
	text, isForMember := p.lastWords()
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
	if err != nil && !send.IsGone(err) { // Nobody is left to be told, or a record is missing.
		p.errs = append(p.errs, err)
	}
	p.isTold = err == nil
	return nil
}

// tellOver tells an agent who writes in a conversation that is over that nobody reads it, once for
// each group.
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

// tellIfOver is tellOver for an event that belongs to no live group, if it belongs to one that was.
func (s *Service) tellIfOver(ctx context.Context, outletID string, event send.MessageEvent) (Outcome, error) {
	found, err := s.conversations.lastGroups(ctx, outletID, event)
	if err != nil || len(found) == 0 {
		return OutcomeNone, err
	}
	r, err := s.assignmentOf(ctx, found[0])
	if err != nil || r == nil {
		return OutcomeNone, err
	}
	return s.tellOver(ctx, r, found[0])
}

// TellLate tells an agent whose tap on a ticket came too late that the request is over, or who has
// it, and shows it on the ticket if the platform can: where the event is from, or else to the agent.
// late is the error of TakeByTap. It is for hosts; the errors are those of a send.
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
	if hasBroadcastGroup(outlet, event.To) {
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

// showLate shows a text on the ticket in a broadcast group, unless it shows one. It is a help for
// those who come next, so that its failure is none of the tap.
func (s *Service) showLate(ctx context.Context, assignmentID, channelID, groupID, text string) {
	r, err := s.loadAssignment(ctx, assignmentID)
	if err != nil {
		return
	}
	ticket := ticketOf(r, channelID, groupID)
	if ticket != nil && ticket.TakenAt.IsZero() && ticket.RecalledAt.IsZero() {
		_ = s.tickets.showOn(ctx, r, *ticket, text)
	}
}

// isUntakenEnd reports whether the assignment ended before an agent had it.
func (p *pass) isUntakenEnd() bool { return p.r.Assignee == "" && p.r.Direct == "" }

// showOver shows on the tickets that the request is over, unless they are recalled, where platforms
// can. A tap on one that does not show it is answered.
func (p *pass) showOver(ctx context.Context) error {
	if p.texts.Late == "" {
		return nil
	}
	for _, ticket := range shownTaken(p.r, "") {
		_, canRecall := send.PortOf[livechat.TicketRecaller](p.ports.Connectors[ticket.Type])
		if !canRecall || !p.wantsRecall() {
			_ = p.tickets.showOn(ctx, p.r, ticket, p.texts.Late)
		}
	}
	return nil
}
