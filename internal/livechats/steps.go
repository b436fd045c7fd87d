package livechats

import (
	"context"
	"errors"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// send sends the tickets that were not sent yet. If some targets refuse theirs for good, the request continues
// without these targets, and an error that names them is added to errs.
func (p *pass) send(ctx context.Context) error {
	var unsent []livechat.Unsent
	for _, ticket := range p.r.Tickets {
		if !ticket.SentAt.IsZero() {
			continue
		}
		sent, err := p.sendTicket(ctx, p.r, p.asking, ticket)
		if err != nil {
			unsent = append(unsent, livechat.Unsent{Channel: ticket.Channel, Group: ticket.Group, Err: err})
			continue
		}
		kept, err := p.keepTicket(context.WithoutCancel(ctx), p.r, sent)
		if err != nil {
			return err // Each message must be recorded before the next is sent.
		}
		p.r = kept
		if kept.State() == livechat.Taken { // An agent took the request meanwhile, so this ticket shows that, too.
			name, err := p.adminName(ctx, kept.Assignee)
			if err == nil {
				err = p.showOn(ctx, kept, sent, takenText(kept, sent, name))
			}
			return joined(requireUntaken(kept), err)
		}
	}
	switch {
	case len(unsent) == 0:
		return nil
	case wasSentNowhere(p.r) || !areRefused(unsent):
		return p.unsentError(ctx, p.r, unsent)
	default:
		return p.dropRefused(ctx, unsent)
	}
}

// dropRefused removes the tickets of targets that refused the request for good.
func (p *pass) dropRefused(ctx context.Context, unsent []livechat.Unsent) error {
	failure := &livechat.UnsentError{AssignmentID: p.r.ID, Failures: unsent, Of: len(p.r.Tickets), IsOpen: true}
	left, err := p.modify(context.WithoutCancel(ctx), p.r.ID,
		document.O(fieldSender+".id", p.sender).With(fieldEndedAt, isAbsent),
		document.Pull(fieldTickets, document.O(fieldSentAt, isAbsent)))
	switch {
	case err != nil:
		return err
	case left == nil:
		return withdrawn(p.r)
	}
	p.r = left
	p.errs = append(p.errs, &boterr.Error{Code: boterr.Unavailable, Err: failure})
	return nil
}

// storeGroupOfAPI links the group that a live-chat API created to the request.
func (p *pass) storeGroupOfAPI(ctx context.Context) error {
	known, err := p.findGroups(ctx, document.O(fieldAssignment, p.r.ID))
	if err != nil {
		return err
	}
	var g *livechat.Group
	if len(known) > 0 {
		g = known[0]
	} else {
		made := newGroup(p.r, p.r.Direct, p.r.Tickets[0].Type, p.asking)
		made.ExternalID = p.r.Tickets[0].ChatID
		if g, err = p.insertGroup(ctx, made); err != nil {
			return err
		}
	}
	if err := p.requireOwn(ctx, g); err != nil {
		_, undone := p.groups().Delete(context.WithoutCancel(ctx), document.O(record.FieldID, g.ID))
		return errors.Join(err, undone)
	}
	grouped, err := p.modify(ctx, p.r.ID, document.O(fieldEndedAt, isAbsent), document.Set(fieldGroup, g.ID, fieldGroupInfo, groupInfo(g)))
	if err == nil && grouped == nil {
		err = errors.Join(withdrawn(p.r), p.deactivate(ctx, document.O(record.FieldID, g.ID)))
	}
	if err != nil {
		return err
	}
	p.r = grouped
	return nil
}

// open opens the request, which starts the idle time. It returns Conflict if this assignment replaces another
// one, and a new request of the member was opened meanwhile.
func (p *pass) open(ctx context.Context) error {
	fields := document.O(fieldSentAt, document.TimestampOf(p.env.Now()), fieldSlot, openSlot(p.r.Member))
	if p.r.LiveChatAgenda {
		expiry := p.nextExpiry()
		if err := p.setAlarm(ctx, p.r.Member, expiry); err != nil {
			return err
		}
		fields = fields.With(fieldExpiry, expiry)
	}
	if p.r.Group != "" && asksForGroup(p.r) { // A live-chat API has created the group, so the request is taken at once.
		fields = fields.With(fieldAssignedAt, document.TimestampOf(p.env.Now()))
	}
	opened, err := p.move(ctx, p.r, []livechat.State{livechat.Sending}, document.O(),
		document.O("$set", fields, "$unset", document.O(fieldSender, "")))
	switch {
	case errors.Is(err, boterr.AlreadyExists):
		return p.withdraw(ctx, p.r, boterr.New(boterr.Conflict, "",
			"the member %s made another request while the assignment %s was being handed on, so the new assignment is withdrawn",
			p.r.Member, p.r.ParentAssignment))
	case err != nil:
		return err
	case opened == nil:
		return p.adoptOpen(ctx)
	}
	p.r = opened
	return nil
}

// adoptOpen continues with a request that another call has opened, after that call replaced this one as the
// sender. It returns Conflict if the request was withdrawn.
func (p *pass) adoptOpen(ctx context.Context) error {
	now, err := p.findAssignment(ctx, p.r.ID)
	switch {
	case err != nil:
		return err
	case now != nil && now.State() != livechat.Ended:
		p.r = now
		return nil
	}
	// This call may have set the agenda after the call that withdrew the request had removed the member's agendas.
	_, err = p.leaveLiveChat(context.WithoutCancel(ctx), p.r)
	return joined(withdrawn(p.r), err, p.finishParent(ctx, p.r))
}

// takeByItsGroup gives a request to the agent in its group, if bot logic set the group before the request opened.
func (p *pass) takeByItsGroup(ctx context.Context) error {
	g, err := p.loadGroup(ctx, p.r.Group)
	if err != nil || !g.Active || g.Assignment != p.r.ID {
		return nil //nolint:nilerr // Without its group, the assignment stays untaken.
	}
	taken, err := p.takeByGroup(ctx, p.r, g)
	if err != nil {
		return err
	}
	p.r = taken
	return nil
}

// withdrawn returns the error for a request that was ended while it was being sent.
func withdrawn(r *livechat.AssignmentRecord) error {
	return boterr.New(boterr.Conflict, "", "the assignment %s was withdrawn while it was being sent", r.ID)
}

// openConversation finds or creates the group in which agent and member talk.
func (p *pass) openConversation(ctx context.Context) error {
	outlet, err := p.ports.Channels.Load(ctx, p.r.Outlet)
	if err != nil {
		return err
	}
	p.outlet = outlet
	p.group, err = p.conversation(ctx, outlet, p.r)
	return err
}

// watch sets the agenda that ends the conversation when it is idle.
func (p *pass) watch(ctx context.Context) error {
	open, err := p.keepWatch(ctx, p.r)
	switch {
	case err != nil:
		return err
	case open == nil:
		return endedMeanwhile(p.r)
	}
	p.r = open
	return nil
}

// sendSummary sends the summary into the conversation. A failure does not prevent the later steps.
func (p *pass) sendSummary(ctx context.Context) error {
	p.unfinished.add("summary", p.trySummary(ctx))
	return nil
}

// trySummary sends the summary and records that it was sent.
func (p *pass) trySummary(ctx context.Context) error {
	message, err := p.messageTo(p.outlet, p.group.ExternalID, nil, send.Text(shortened(p.r.Summary, send.MaxText)))
	if err != nil {
		return err
	}
	message.ID = p.r.ID + "/summary/" + p.group.ID // A repeated call sends it with the same ID.
	if _, err := p.deliver(ctx, message); err != nil {
		return err
	}
	_, err = p.modify(context.WithoutCancel(ctx), p.r.ID, document.O(), document.Set(fieldSummarySentAt, document.TimestampOf(p.env.Now())))
	return err
}

// showTaken shows the agent on all tickets except the taken one, if the platform can change messages. It
// attempts all tickets.
func (p *pass) showTaken(ctx context.Context) error {
	name, err := p.adminName(ctx, p.r.Assignee)
	if err != nil {
		p.unfinished.add("tickets", err)
		return nil
	}
	for _, ticket := range shownTaken(p.r, p.takenFrom) {
		p.unfinished.add(ticketName(ticket), p.showOn(ctx, p.r, ticket, takenText(p.r, ticket, name)))
	}
	return nil
}

// endedMeanwhile returns the error for taking an assignment that has just ended.
func endedMeanwhile(r *livechat.AssignmentRecord) error {
	return boterr.New(boterr.FailedPrecondition, fieldAssignmentID, "the assignment %s ended while it was taken", r.ID)
}

// The steps after an end continue even if the call's context is canceled. The member's flag comes first, so
// that after an interruption the bot answers the member again. The groups come later, so that a repeated end
// still finds the conversation and completes the rest.

// letOut clears the member's flag and removes the alarm.
func (p *pass) letOut(ctx context.Context) (err error) {
	p.member, err = p.leaveLiveChat(context.WithoutCancel(ctx), p.r)
	return err
}

// clearGroup clears the member's current group if it belongs to the assignment. A Bravo conversation has one record
// per agent in it, and the member may refer to any of these records.
func (p *pass) clearGroup(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	groups, err := p.findGroups(ctx, document.O(fieldAssignment, p.r.ID))
	if err != nil {
		return err
	}
	ids := []string{p.r.Group}
	for _, g := range groups {
		ids = append(ids, g.ID)
	}
	patched, err := p.ports.Members.PatchMembers(ctx, member.PatchParams{
		Channel:      &channel.Channel{ID: p.r.Inlet},
		MemberID:     p.r.Member,
		Filter:       document.O(fieldGroup, document.O("$in", ids)),
		Patch:        document.Unset(fieldGroup),
		WithModifier: true,
	})
	if patched.Result != nil {
		p.member = patched.Result
	}
	if errors.Is(err, boterr.NotFound) { // The member's channel was removed.
		return nil
	}
	return err
}

func (p *pass) endGroups(ctx context.Context) error {
	return p.deactivateGroups(context.WithoutCancel(ctx), p.r)
}

// wantsRecall reports whether the tickets should be recalled after the end.
func (p *pass) wantsRecall() bool {
	switch p.r.EndedBy {
	case livechat.EndedByRemoval:
		return true
	case livechat.EndedByIdle, livechat.EndedByReassign, livechat.EndedByMemberGone:
		return p.r.Assignee == ""
	default:
		return p.isRecalled
	}
}

// recall recalls the tickets. It continues after failures.
func (p *pass) recall(ctx context.Context) error {
	p.recallTickets(ctx, p.r, &p.unfinished)
	return nil
}

// withdrawNext withdraws the assignment that should have replaced this one, after this one ended in another
// way.
func (p *pass) withdrawNext(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	next, err := p.nextOf(ctx, p.r.ID)
	if err != nil || next == nil || next.State() != livechat.Sending {
		return err
	}
	_, err = p.withdrawUnsent(ctx, next)
	return err
}

// canClose reports whether all steps succeeded. After an idle end it returns true in any case, so that failed
// recalls are not repeated.
func (p *pass) canClose() bool {
	return len(p.unfinished.failures) == 0 || p.r.EndedBy == livechat.EndedByIdle
}

// close records that everything has ended. It removes a withdrawn request.
func (p *pass) close(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	if p.r.EndedBy == livechat.EndedByRemoval {
		_, err := p.assignments().Delete(ctx, document.O(record.FieldID, p.r.ID))
		return err
	}
	closed, err := p.modify(ctx, p.r.ID, document.O(), document.Set(fieldClosedAt, document.TimestampOf(p.env.Now())))
	if closed != nil { // Otherwise, the assignment was removed.
		p.r = closed
	}
	return err
}

// deactivateGroups marks the groups of an ended assignment as no longer live. Groups that now belong to an open
// assignment stay live and get links to it.
func (s *Service) deactivateGroups(ctx context.Context, r *livechat.AssignmentRecord) error {
	live, err := s.findGroups(ctx, document.O(fieldAssignment, r.ID).With(fieldActive, true))
	if err != nil {
		return err
	}
	ids := []string{r.Group}
	for _, g := range live {
		ids = append(ids, g.ID)
	}
	inUse, err := s.FindAssignments(ctx, record.Query{
		Filter: document.O(fieldGroup, document.O("$in", ids), fieldEndedAt, isAbsent),
	})
	if err != nil {
		return err
	}
	for _, open := range inUse {
		ids = slices.DeleteFunc(ids, func(id string) bool { return id == open.Group })
		_, err := s.groups().Where(record.FieldID, open.Group).Update(ctx, record.Patch{
			Filter: document.O(fieldAssignment, r.ID),
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
	_, err := s.groups().Update(ctx, record.Patch{Filter: which, Patch: document.O(fieldActive, false), Multi: true})
	return err
}
