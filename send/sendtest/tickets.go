package sendtest

import (
	"cmp"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

var ticketRules = []Rule{
	{
		Name:    "TakenTicketsShowTheText",
		Text:    "ShowTaken makes a ticket show a text in place of what it showed; twice is no error, and a ticket that there is not is NotFound",
		applies: offers[livechat.TicketUpdater],
		check: func(t *trial) {
			updater, ticket := port[livechat.TicketUpdater](t), t.sentTicket()
			for range 2 {
				t.do("ShowTaken", func() error { return updater.ShowTaken(t.Context(), t.Channel, ticket, "Grace & <co> took it") })
				require.Equal(t, "Grace & <co> took it", t.only().Text)
			}
			unknown := t.ticket(t.UnknownID, ticket.ChatID)
			t.requireNotFound("ShowTaken", func() error { return updater.ShowTaken(t.Context(), t.Channel, unknown, "Grace took it") })
		},
	},
	{
		Name:    "RecalledTicketsAreGone",
		Text:    "RecallTicket removes a ticket; one that there is not, or not any more, is NotFound",
		applies: offers[livechat.TicketRecaller],
		check: func(t *trial) {
			recaller, ticket := port[livechat.TicketRecaller](t), t.sentTicket()
			t.do("RecallTicket", func() error { return recaller.RecallTicket(t.Context(), t.Channel, ticket) })
			for _, arrival := range t.Arrived() {
				require.True(t, arrival.IsRecalled, "the ticket still shows: %s", arrival.Body)
			}
			for _, gone := range []livechat.Ticket{ticket, t.ticket(t.UnknownID, ticket.ChatID)} {
				t.requireNotFound("RecallTicket", func() error { return recaller.RecallTicket(t.Context(), t.Channel, gone) })
			}
		},
	},
}

// sentTicket sends a ticket to the group.
func (t *trial) sentTicket() livechat.Ticket {
	t.Helper()
	message := t.messageToGroup(t.Group, send.Buttons("Ada needs somebody", send.Postback("Take", "take")))
	delivery := t.mustSend(message)
	return t.ticket(cmp.Or(delivery.MessageID, message.ID), delivery.ChatID)
}

// ticket returns a ticket of the group with the platform's ids.
func (t *trial) ticket(messageID, chatID string) livechat.Ticket {
	return livechat.Ticket{
		ID: "ticket-1", Channel: t.Channel.ID, Type: t.Channel.Type, Group: channel.BroadcastGroupMember{ID: t.Group},
		MessageID: messageID, ChatID: chatID,
	}
}
