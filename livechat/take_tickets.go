package livechat

import (
	"context"
	"errors"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/send"
)

// DefaultTakenMessage is what tickets show once another one was taken, where the request
// gives no takenMessage, and on platforms other than Charlie.
const DefaultTakenMessage = "Taken by [adminName]."

// adminNamePlaceholder stands for the agent in a taken message.
const adminNamePlaceholder = "[adminName]"

// takenText returns what a ticket shows once an agent of that name has the assignment. What
// the request says is for Charlie alone.
func (r *AssignmentRecord) takenText(ticket Ticket, name string) string {
	text := DefaultTakenMessage
	if r.TakenMessage != "" && ticket.Type == channel.Charlie {
		text = r.TakenMessage
	}
	return strings.ReplaceAll(text, adminNamePlaceholder, name)
}

// showOn makes a ticket show a text, where its platform can.
func (s *tickets) showOn(ctx context.Context, r *AssignmentRecord, ticket Ticket, text string) error {
	updater, canUpdate := send.PortOf[TicketUpdater](s.ports.Connectors[ticket.Type])
	if !canUpdate {
		return nil
	}
	return s.onTicket(ctx, r, ticket, fieldTakenAt, func(c *channel.Channel) error {
		return updater.ShowTaken(ctx, c, ticket, text)
	})
}

// recallTickets takes the tickets back that were sent, where their platforms can. All are
// tried.
func (s *tickets) recallTickets(ctx context.Context, r *AssignmentRecord, undone *unfinished) {
	for _, ticket := range r.recallable() {
		recaller, canRecall := send.PortOf[TicketRecaller](s.ports.Connectors[ticket.Type])
		if !canRecall || r.Direct != "" {
			continue
		}
		undone.add(ticket.name(), s.onTicket(ctx, r, ticket, fieldRecalledAt, func(c *channel.Channel) error {
			return recaller.RecallTicket(ctx, c, ticket)
		}))
	}
}

// onTicket does something to a ticket on its platform, and notes in a field when. A ticket
// that is not there any more needs nothing done.
func (s *tickets) onTicket(
	ctx context.Context, r *AssignmentRecord, ticket Ticket, field string, do func(c *channel.Channel) error,
) error {
	c, err := s.ports.Channels.Load(ctx, ticket.Channel)
	if err != nil {
		return err
	}
	if err := do(c); err != nil && !errors.Is(err, boterr.NotFound) {
		return send.PlatformError(ctx, c.Type, err)
	}
	_, err = s.assignments.Where(record.FieldID, r.ID).Update(context.WithoutCancel(ctx), record.Patch{
		Patch:        document.O(fieldTickets+".$[ticket]."+field, document.At(s.env.Now())),
		ArrayFilters: []document.Object{equal("ticket.id", ticket.ID)},
	})
	return err
}

// name is what errors call a ticket.
func (t Ticket) name() string { return "ticket of " + t.Group.ID + " in " + t.Channel }

// admin returns the agent with an id on an outlet's platform, the zero Admin where none is
// known.
func (s *core) admin(ctx context.Context, externalID string) (Admin, error) {
	found, err := s.admins.Find(ctx, record.Query{Filter: equal(fieldExternalID, externalID), Limit: 1})
	if err != nil || len(found) == 0 {
		return Admin{}, err
	}
	a, err := adminFrom(found[0])
	if err != nil {
		return Admin{}, err
	}
	return *a, nil
}

// adminName returns what others read for an agent: the name, or else the id on the platform.
func (s *core) adminName(ctx context.Context, externalID string) (string, error) {
	a, err := s.admin(ctx, externalID)
	if err != nil || a.Name == "" {
		return externalID, err
	}
	return a.Name, nil
}
