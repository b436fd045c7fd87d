// Package foxtrot connects channels of type foxtrot to a helpdesk. Requests for a live chat become
// conversations or tickets there, which agents answer. Members who write in the helpdesk's widget talk to the
// bot.
//
//   - To send, create a [Connector] with [New], wrap it with [Limited], and list it in the Connectors of
//     botctx.Config.
//   - To receive, serve [Connector.Handler] with the method Accept of a botctx.Runtime, for POST.
//   - To find the channel of an account, set FindChannel of [Config].
//
// # Conversations and tickets
//
// A channel has credentials for conversations or for tickets. If its info has both, mode "tickets" chooses
// tickets.
//
// With appId, keyId and keySecret, requests become conversations in real time, in the member's name. The
// helpdesk's plan must include the API for conversations. The switchboard integration in switchboardIntegration
// gets the requests. Its default, next, is the agents' workspace. Members can also write to the bot in the
// widget.
//
// With email and apiToken, requests become tickets, on every plan. Later messages of the member become comments
// by the agent who owns the token. agentId is the id of that agent; the Handler drops this agent's comments, so
// they are not sent back to the member.
//
// Both need webhookSecret, the secret of the webhook, and either subdomain, the first word of the helpdesk's
// address, or baseUrl.
//
// # Live chats
//
// A channel of this type only takes a request if it has a broadcast group with the request's label, or if a target
// of the request gives it one. The id of the broadcast group is optional; if it is a number, it is the ticket's
// group. The message in relayMessage is the conversation's first message, or becomes the ticket. Its fields
// subject, requester, priority, tags, group_id, assignee_id, brand_id, ticket_form_id and custom_fields are copied
// to the ticket, and ticketType becomes the ticket's type.
//
// The first message of an agent takes the request. The agent's id is "agent:" and, for a conversation, the
// agent's name, because reports on conversations do not contain ids of agents; for a ticket it is "agent:" and
// the id. When a ticket is closed or solved, or the agents hand a conversation back, the event is MISC with
// status, and bot logic ends the live chat. To close a request from the bot's side, send a response of type
// CLOSE.
//
// # Unsupported operations
//
// Operations with labels, tags and groups are Unsupported, and sent messages cannot be changed or recalled. Except
// for requests, the API has no idempotency keys: if a process dies while sending, a message may appear twice.
//
// # Unconfirmed facts
//
// These are general knowledge, and were not found in the platform's documentation:
//
//   - that a message in a member's name can only be a text, a picture, a file or a location;
//   - that the source of agents' messages is zd:agentWorkspace, the source of messages of the helpdesk's bot is
//     zd:answerBot, and reports about control have a reason;
//   - that passing control with the reason ticketClosed closes the ticket;
//   - that a repeated Idempotency-Key within two hours gives the same ticket;
//   - the fields of reports about tickets.
package foxtrot
