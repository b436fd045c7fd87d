package livechat

import (
	"context"
	"errors"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/send"
)

// send sends what is missing of a request, whose sender the call is, and makes it stand.
func (s *Service) send(ctx context.Context, r *AssignmentRecord, m *member.Member) (*AssignmentRecord, error) {
	sent, err := s.sendMissing(ctx, r, m)
	if err == nil {
		sent, err = s.stand(ctx, sent)
	}
	if err != nil {
		s.releaseSender(ctx, r)
		return nil, err
	}
	return sent, nil
}

// sendMissing sends what is missing, and returns the request with all that was sent.
func (s *Service) sendMissing(ctx context.Context, r *AssignmentRecord, m *member.Member) (*AssignmentRecord, error) {
	if r.Direct != "" {
		return s.open(ctx, r, m)
	}
	var unsent []Unsent
	for _, ticket := range r.Tickets {
		if !ticket.SentAt.IsZero() {
			continue
		}
		sent, err := s.sendTicket(ctx, r, m, ticket)
		if err != nil {
			unsent = append(unsent, Unsent{Channel: ticket.Channel, Group: ticket.Group, Err: err})
			continue
		}
		if r, err = s.keepTicket(ctx, r, ticket, sent); err != nil {
			return nil, err
		}
	}
	if len(unsent) > 0 {
		return nil, s.unsentError(ctx, r, unsent)
	}
	return r, nil
}

// sendTicket sends a ticket.
func (s *Service) sendTicket(ctx context.Context, r *AssignmentRecord, m *member.Member, ticket Ticket) (send.Result, error) {
	to, err := s.ports.Channels.Load(ctx, ticket.Channel)
	if err != nil {
		return send.Result{}, err
	}
	message, err := s.ticketMessage(r, m, to.Type)
	if err != nil {
		return send.Result{}, err
	}
	return s.sendTo(ctx, to, send.Message{ID: ticket.ID, To: ticket.Group.ID, Response: message})
}

// sendTo sends a message to agents of a channel. The message's ID is the same when it is
// sent again, so that a platform that looks at it does not show it twice.
func (s *Service) sendTo(ctx context.Context, to *channel.Channel, message send.Message) (send.Result, error) {
	connector, err := s.connectorTo(to)
	if err != nil {
		return send.Result{}, err
	}
	message.Channel = to
	return send.Deliver(ctx, s.env, connector, message)
}

// keepTicket stores that a ticket was sent. Where the request was withdrawn meanwhile, the
// ticket is taken back: Conflict.
func (s *Service) keepTicket(ctx context.Context, r *AssignmentRecord, ticket Ticket, sent send.Result) (*AssignmentRecord, error) {
	ticket.MessageID, ticket.ChatID = sent.MessageEvent.MessageID, sent.ChatID
	ticket.SentAt = document.At(s.env.Now())
	ctx = context.WithoutCancel(ctx) // It was sent, whatever becomes of the call.
	until, err := s.leaseEnd(ctx)
	if err != nil {
		return nil, err
	}
	const path = fieldTickets + ".$[ticket]."
	found, err := s.assignments.FindAndModify(ctx, record.Patch{
		Filter: document.O(record.FieldID, r.ID, fieldEndedAt, nil),
		Patch: document.Set(
			path+"messageId", ticket.MessageID, path+"chatId", ticket.ChatID, path+fieldSentAt, ticket.SentAt,
			fieldSender+".until", until),
		ArrayFilters: []document.Object{document.O("ticket.id", ticket.ID)},
		WithModifier: true,
	}, true)
	if err != nil {
		return nil, err
	}
	if !found.Matched {
		return nil, errors.Join(withdrawn(r), s.recall(ctx, ticket))
	}
	return assignmentFrom(found.Document)
}

// withdrawn is the error of a call whose request was ended while it was sent.
func withdrawn(r *AssignmentRecord) error {
	return boterr.New(boterr.Conflict, "", "the assignment %s was withdrawn while it was sent", r.ID)
}
