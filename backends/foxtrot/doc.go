// Package foxtrot connects channels of type foxtrot to a helpdesk: requests for a person become conversations or
// tickets, agents answer there, and members who write in the helpdesk's widget talk to the bot.
//
//   - To send, create a [Connector] with [New], wrap it with [Limited], and list it in the Connectors of
//     botctx.Config.
//   - To receive, serve [Connector.Handler] with the method Accept of a botctx.Runtime, for POST.
//   - To find the channel of an account, set FindChannel of [Config].
//
// # Conversations and tickets
//
// A channel has credentials for one of the two; if its info has both, mode "tickets" chooses tickets.
//
// With appId, keyId and keySecret, requests become conversations in real time, in the member's name. They need a plan
// with the API of conversations. The integration in switchboardIntegration, which is next by default, gets them: the
// agents' workspace. Members can also write to the bot in the widget.
//
// With email and apiToken, requests become tickets, with every plan. Later messages of the member are comments of the
// agent whose token it is; agentId, the agent's id, keeps them from coming back.
//
// Both need subdomain, the first word of the helpdesk's address, or baseUrl, and webhookSecret, the secret of the
// webhook.
//
// # Live chats
//
// A channel of this type takes a request alone if it has a broadcast group with the request's label. The message in
// relayMessage is the first one, or makes the ticket: its fields subject, requester, priority, tags, group_id,
// assignee_id, brand_id, ticket_form_id and custom_fields are the ticket's, and ticketType is its type. A broadcast
// group whose id is a number is the ticket's group.
//
// The first message of an agent takes the request. The agent's id is "agent:" and the name, since reports do not have
// the ids of agents; in tickets it is the id. A ticket that is closed or solved, and a conversation that the agents
// hand back, are MISC events with status: bot logic ends the live chat. To close a request from the other side, send a
// response of type CLOSE.
//
// # Unsupported operations
//
// Labels, tags, groups, and changes and recalls of sent messages. Except for a request, the API has no idempotency keys: if
// a process dies while sending, a message may appear twice.
//
// # Unconfirmed facts
//
// These are general knowledge, and were not found in the platform's documentation:
//
//   - that a message in a member's name may be a text, a picture, a file or a location only;
//   - that the source of agents' messages is zd:agentWorkspace and of the helpdesk's bot zd:answerBot, and that reports
//     about control have a reason;
//   - that passing control with the reason ticketClosed closes the ticket;
//   - that a repeated Idempotency-Key within two hours gives the same ticket;
//   - the fields of reports about tickets.
package foxtrot
