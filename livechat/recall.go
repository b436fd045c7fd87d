package livechat

import (
	"context"
	"errors"

	"github.com/botctx/go-sdk/boterr"
)

// recall takes a ticket back where its platform can.
func (s *Service) recall(ctx context.Context, ticket Ticket) error {
	in, err := s.ports.Channels.Load(ctx, ticket.Channel)
	if errors.Is(err, boterr.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	recaller, ok := s.ports.Connectors[in.Type].(TicketRecaller)
	if !ok {
		return nil
	}
	err = recaller.RecallTicket(ctx, in, ticket)
	if errors.Is(err, boterr.NotFound) {
		return nil
	}
	return err
}
