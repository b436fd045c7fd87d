package livechat

import (
	"context"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/send"
)

// recallSent takes the tickets back that were sent, where their platforms can. All are
// tried.
func (s *Service) recallSent(ctx context.Context, r *AssignmentRecord) error {
	var undone unfinished
	for _, ticket := range r.recallable() {
		recaller, canRecall := send.PortOf[TicketRecaller](s.ports.Connectors[ticket.Type])
		if !canRecall || r.Direct != "" {
			continue
		}
		undone.add(ticket.name(), s.onTicket(ctx, r, ticket, fieldRecalledAt, func(c *channel.Channel) error {
			return recaller.RecallTicket(ctx, c, ticket)
		}))
	}
	return undone.err(ctx, "the same call again recalls the rest")
}
