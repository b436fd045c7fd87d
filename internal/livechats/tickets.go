package livechats

import (
	"context"
	"errors"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// sendTicket sends a ticket, or the request to the channel that has it directly. It returns
// the ticket with what the outlet answered. The message has the ticket's id, also when it is
// sent again, so that a platform that looks at it does not show it twice.
func (s *tickets) sendTicket(
	ctx context.Context, r *livechat.AssignmentRecord, m *member.Member, ticket livechat.Ticket,
) (livechat.Ticket, error) {
	to, err := s.ports.Channels.Load(ctx, ticket.Channel)
	if err != nil {
		return ticket, err
	}
	address, err := s.apiOf(r, to)
	if err != nil {
		return ticket, err
	}
	if address != "" {
		ticket.ChatID, err = s.askAPI(ctx, address, r, m, to)
		ticket.SentAt = document.TimestampOf(s.env.Now())
		return ticket, err
	}
	message, err := s.messageOf(r, m, to.Type)
	if err != nil {
		return ticket, err
	}
	sent, err := s.deliver(ctx, send.Message{ID: ticket.ID, Channel: to, To: ticket.Group.ID, Response: message})
	ticket.MessageID, ticket.ChatID = sent.MessageEvent.MessageID, sent.ChatID
	ticket.SentAt = document.TimestampOf(s.env.Now())
	return ticket, err
}

// keepTicket stores that a ticket was sent, and that the call goes on. Where the request was
// withdrawn meanwhile, the ticket is taken back: Conflict.
func (s *machine) keepTicket(ctx context.Context, r *livechat.AssignmentRecord, sent livechat.Ticket) (*livechat.AssignmentRecord, error) {
	until, err := s.leaseEnd(ctx)
	if err != nil {
		return nil, err
	}
	kept, err := s.noteSent(ctx, r, sent, equal(fieldSender+".id", r.Sender.ID), document.O(fieldSender+".until", until))
	if err != nil || kept != nil {
		return kept, err
	}
	if kept, err = s.noteSent(ctx, r, sent, document.O(), document.O()); err != nil {
		return nil, err
	}
	if kept != nil {
		return nil, boterr.New(boterr.Conflict, "",
			"an outlet of the assignment %s took so long that another call has gone on with it: repeat to see how far it is", r.ID)
	}
	alone := *r
	alone.Tickets = []livechat.Ticket{sent}
	var undone unfinished
	s.tickets.recallTickets(ctx, &alone, &undone)
	return nil, joined(withdrawn(r), undone.err(ctx, wantClosed.then()))
}

// noteSent stores that a ticket was sent, unless it is stored, and further fields, if the
// assignment is open and meets a condition. It returns nil where it does not.
func (s *machine) noteSent(
	ctx context.Context, r *livechat.AssignmentRecord, sent livechat.Ticket, condition, fields document.Object,
) (*livechat.AssignmentRecord, error) {
	const path = fieldTickets + ".$[ticket]."
	found, err := s.assignments().Where(record.FieldID, r.ID).FindAndModify(ctx, record.Patch{
		Filter:       condition.With(fieldEndedAt, isAbsent()),
		Patch:        fields.With(path+"messageId", sent.MessageID).With(path+"chatId", sent.ChatID).With(path+fieldSentAt, sent.SentAt),
		ArrayFilters: []document.Object{equal("ticket.id", sent.ID).With("ticket."+fieldSentAt, isAbsent())},
	}, true)
	if err != nil || !found.Matched {
		return nil, err
	}
	return assignmentFrom(found.Document)
}

// adminNamePlaceholder stands for the agent in a taken message.
const adminNamePlaceholder = "[adminName]"

// takenText returns what a ticket shows once an agent of that name has the assignment. What
// the request says is for Charlie alone.
func takenText(r *livechat.AssignmentRecord, ticket livechat.Ticket, name string) string {
	text := livechat.DefaultTakenMessage
	if r.TakenMessage != "" && ticket.Type.Has(channel.TakenMessages) {
		text = r.TakenMessage
	}
	return withName(text, name)
}

// withName fills the name of an agent into a text.
func withName(text, name string) string { return strings.ReplaceAll(text, adminNamePlaceholder, name) }

// showOn makes a ticket show a text, where its platform can.
func (s *tickets) showOn(ctx context.Context, r *livechat.AssignmentRecord, ticket livechat.Ticket, text string) error {
	updater, canUpdate := send.PortOf[livechat.TicketUpdater](s.ports.Connectors[ticket.Type])
	if !canUpdate {
		return nil
	}
	return s.onTicket(ctx, r, ticket, fieldTakenAt, func(c *channel.Channel) error {
		return updater.ShowTaken(ctx, c, ticket, text)
	})
}

// recallTickets takes the tickets back that were sent, where their platforms can. All are
// tried.
func (s *tickets) recallTickets(ctx context.Context, r *livechat.AssignmentRecord, undone *unfinished) {
	for _, ticket := range recallable(r) {
		recaller, canRecall := send.PortOf[livechat.TicketRecaller](s.ports.Connectors[ticket.Type])
		if !canRecall || r.Direct != "" {
			continue
		}
		undone.add(ticketName(ticket), s.onTicket(ctx, r, ticket, fieldRecalledAt, func(c *channel.Channel) error {
			return recaller.RecallTicket(ctx, c, ticket)
		}))
	}
}

// onTicket does something to a ticket on its platform, and notes in a field when. A ticket
// that is not there any more needs nothing done.
func (s *tickets) onTicket(
	ctx context.Context, r *livechat.AssignmentRecord, ticket livechat.Ticket, field string, do func(c *channel.Channel) error,
) error {
	c, err := s.ports.Channels.Load(ctx, ticket.Channel)
	if err != nil {
		return err
	}
	if err := do(c); err != nil && !errors.Is(err, boterr.NotFound) {
		return sends.PlatformError(ctx, c.Type, err)
	}
	_, err = s.assignments().Where(record.FieldID, r.ID).Update(context.WithoutCancel(ctx), record.Patch{
		Patch:        document.O(fieldTickets+".$[ticket]."+field, document.TimestampOf(s.env.Now())),
		ArrayFilters: []document.Object{equal("ticket.id", ticket.ID)},
	})
	return err
}

// ticketName is what errors call a ticket.
func ticketName(t livechat.Ticket) string { return "ticket of " + t.Group.ID + " in " + t.Channel }
