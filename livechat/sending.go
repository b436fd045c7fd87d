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

// send sends what is missing of a request, whose sender the call is, and makes it stand
// unless it does. The assignment in whose place it was to come is closed where it has ended,
// also where the request does not stand.
//
// Where some targets refused the request for good, it stands without them: then it comes
// back beside the error that names them.
func (s *Service) send(ctx context.Context, r *AssignmentRecord, m *member.Member) (sent *AssignmentRecord, err error) {
	defer func() { // Also where a connector panics: nobody has to wait for it then.
		if sent == nil || sent.Sender != nil {
			s.releaseSender(ctx, r)
		}
	}()
	sent, unsent := s.sendMissing(ctx, r, m)
	if sent != nil && sent.SentAt.IsZero() {
		sent, err = s.stand(ctx, sent)
	}
	return sent, joined(unsent, err, s.closePrevious(ctx, r))
}

// sendMissing sends what is missing, and returns the request with all that was sent: beside
// the error that names the targets that refused it for good, nil where others may get it yet.
func (s *Service) sendMissing(ctx context.Context, r *AssignmentRecord, m *member.Member) (*AssignmentRecord, error) {
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
		if r, err = s.keepTicket(context.WithoutCancel(ctx), r, sent); err != nil {
			return nil, err // What was sent has to be known before more is.
		}
	}
	if len(unsent) == 0 {
		return s.withGroup(ctx, r, m)
	}
	if r.wasSentNowhere() || !areRefused(unsent) {
		return nil, s.unsentError(ctx, r, unsent)
	}
	return s.withoutRefused(ctx, r, unsent)
}

// withoutRefused removes the tickets of targets that refused a request for good, and returns
// it as it is then, beside the error that names them.
func (s *Service) withoutRefused(ctx context.Context, r *AssignmentRecord, unsent []Unsent) (*AssignmentRecord, error) {
	failure := &UnsentError{AssignmentID: r.ID, Failures: unsent, Of: len(r.Tickets), Stands: true}
	left, err := s.modify(context.WithoutCancel(ctx), r.ID,
		equal(fieldSender+".id", r.Sender.ID).With(fieldEndedAt, isAbsent()),
		document.Pull(fieldTickets, document.O(fieldSentAt, isAbsent())))
	switch {
	case err != nil:
		return nil, err
	case left == nil:
		return nil, withdrawn(r)
	default:
		return left, &boterr.Error{Code: boterr.Unavailable, Err: failure}
	}
}

// sendTicket sends a ticket, or the request to the channel that has it directly. It returns
// the ticket with what the outlet answered. The message has the ticket's id, also when it is
// sent again, so that a platform that looks at it does not show it twice.
func (s *Service) sendTicket(ctx context.Context, r *AssignmentRecord, m *member.Member, ticket Ticket) (Ticket, error) {
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
func (s *Service) keepTicket(ctx context.Context, r *AssignmentRecord, sent Ticket) (*AssignmentRecord, error) {
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
	r.Tickets = []Ticket{sent}
	return nil, errors.Join(withdrawn(r), s.recallSent(ctx, r))
}

// noteSent stores that a ticket was sent, unless it is stored, and further fields, if the
// assignment is open and meets a condition. It returns nil where it does not.
func (s *Service) noteSent(
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

// withGroup returns a request that has all that was sent with its group, where a live-chat
// API made one.
func (s *Service) withGroup(ctx context.Context, r *AssignmentRecord, m *member.Member) (*AssignmentRecord, error) {
	if r.Group != "" || len(r.Tickets) == 0 || r.CreateGroup == nil || r.Tickets[0].Type != channel.Custom {
		return r, nil
	}
	known, err := s.findGroups(ctx, equal(fieldAssignment, r.ID))
	if err != nil {
		return nil, err
	}
	var g *Group
	if len(known) > 0 {
		g = known[0]
	} else if g, err = s.insertGroup(ctx, groupOfAPI(r, m)); err != nil {
		return nil, err
	}
	if err := s.requireOwn(ctx, g); err != nil {
		_, undone := s.groups.Delete(context.WithoutCancel(ctx), equal(record.FieldID, g.ID))
		return nil, errors.Join(err, undone)
	}
	grouped, err := s.modify(ctx, r.ID, document.O(fieldEndedAt, isAbsent()), document.Set(fieldGroup, g.ID, fieldGroupInfo, g.info()))
	if err == nil && grouped == nil {
		err = errors.Join(withdrawn(r), s.deactivate(ctx, equal(record.FieldID, g.ID)))
	}
	return grouped, err
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

// withdrawn is the error of a call whose request was ended while it was sent.
func withdrawn(r *AssignmentRecord) error {
	return boterr.New(boterr.Conflict, "", "the assignment %s was withdrawn while it was sent", r.ID)
}
