package livechat

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// openConversation finds or makes the group in which the agent talks with the member.
func (p *pass) openConversation(ctx context.Context) error {
	outlet, err := p.ports.Channels.Load(ctx, p.r.Outlet)
	if err != nil {
		return err
	}
	p.outlet = outlet
	p.group, err = p.conversation(ctx, outlet, p.r)
	return err
}

// watch sets the agenda that ends the conversation once it is idle.
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

// sendSummary sends the summary into the conversation. That it cannot be sent does not keep the
// tickets from showing who has it.
func (p *pass) sendSummary(ctx context.Context) error {
	p.unfinished.add("summary", p.trySummary(ctx))
	return nil
}

// trySummary sends the summary, and notes that it was sent.
func (p *pass) trySummary(ctx context.Context) error {
	m, err := p.memberOf(ctx, p.r)
	if err != nil {
		return err
	}
	summary, err := filledSummary(p.r, m)
	if err != nil || summary == "" {
		return err
	}
	message, err := p.messageTo(p.outlet, p.group.ExternalID, m, send.Text(summary).Literal())
	if err != nil {
		return err
	}
	if _, err := p.deliver(ctx, message); err != nil {
		return err
	}
	_, err = p.modify(context.WithoutCancel(ctx), p.r.ID, document.O(), document.Set(fieldSummarySentAt, document.At(p.env.Now())))
	return err
}

// showTaken makes the tickets but the one that was taken show who has the assignment, where
// their platforms can. All are tried.
func (p *pass) showTaken(ctx context.Context) error {
	name, err := p.adminName(ctx, p.r.Assignee)
	if err != nil {
		p.unfinished.add("tickets", err)
		return nil
	}
	for _, ticket := range p.r.shownTaken(p.takenFrom) {
		p.unfinished.add(ticket.name(), p.tickets.showOn(ctx, p.r, ticket, p.r.takenText(ticket, name)))
	}
	return nil
}

// endedMeanwhile is the error of a call that takes an assignment that ends at that moment.
func endedMeanwhile(r *AssignmentRecord) error {
	return boterr.New(boterr.FailedPrecondition, "assignmentId", "the assignment %s ended while it was taken", r.ID)
}
