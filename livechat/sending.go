package livechat

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/send"
)

// sendTicket sends a ticket, or the request to the channel that has it directly. It returns
// the ticket with what the outlet answered. The message has the ticket's id, also when it is
// sent again, so that a platform that looks at it does not show it twice.
func (s *tickets) sendTicket(ctx context.Context, r *AssignmentRecord, m *member.Member, ticket Ticket) (Ticket, error) {
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
		ticket.SentAt = document.At(s.env.Now())
		return ticket, err
	}
	message, err := s.messageOf(r, m, to.Type)
	if err != nil {
		return ticket, err
	}
	sent, err := s.deliver(ctx, send.Message{ID: ticket.ID, Channel: to, To: ticket.Group.ID, Response: message})
	ticket.MessageID, ticket.ChatID = sent.MessageEvent.MessageID, sent.ChatID
	ticket.SentAt = document.At(s.env.Now())
	return ticket, err
}

// keepTicket stores that a ticket was sent, and that the call goes on. Where the request was
// withdrawn meanwhile, the ticket is taken back: Conflict.
func (s *machine) keepTicket(ctx context.Context, r *AssignmentRecord, sent Ticket) (*AssignmentRecord, error) {
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
	alone.Tickets = []Ticket{sent}
	var undone unfinished
	s.tickets.recallTickets(ctx, &alone, &undone)
	return nil, joined(withdrawn(r), undone.err(ctx, wantClosed.then()))
}

// noteSent stores that a ticket was sent, unless it is stored, and further fields, if the
// assignment is open and meets a condition. It returns nil where it does not.
func (s *machine) noteSent(
	ctx context.Context, r *AssignmentRecord, sent Ticket, condition, fields document.Object,
) (*AssignmentRecord, error) {
	const path = fieldTickets + ".$[ticket]."
	found, err := s.assignments.Where(record.FieldID, r.ID).FindAndModify(ctx, record.Patch{
		Filter:       condition.With(fieldEndedAt, isAbsent()),
		Patch:        fields.With(path+"messageId", sent.MessageID).With(path+"chatId", sent.ChatID).With(path+fieldSentAt, sent.SentAt),
		ArrayFilters: []document.Object{equal("ticket.id", sent.ID).With("ticket."+fieldSentAt, isAbsent())},
	}, true)
	if err != nil || !found.Matched {
		return nil, err
	}
	return assignmentFrom(found.Document)
}

// groupOfAPI returns the group that a live-chat API made.
func groupOfAPI(r *AssignmentRecord, m *member.Member) Group {
	g := Group{
		Inlet: r.Inlet, Outlet: r.Direct, Name: r.GroupName, Meta: document.O(), Active: true, Valid: true,
		ExternalID: r.Tickets[0].ChatID, Type: r.Tickets[0].Type, Assignment: r.ID, Member: r.Member,
		InletGroupExternalID: r.inletGroup(),
	}
	if g.Name == "" {
		g.Name = nameOf(m)
	}
	return g
}
