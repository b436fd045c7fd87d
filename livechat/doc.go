// Package livechat hands the conversation with a member over to a person: it keeps the
// requests for that, sends them to where agents answer, and relays what both sides write
// until it ends.
//
//   - To ask for a person, call CreateAssignment of botctx.Context with
//     [CreateAssignmentParams].
//   - To end a live chat, call EndLiveChat for the agent and InletEndLiveChat for the member,
//     see [Operations].
//   - To report that an agent took a ticket on the outlet's platform, give [TakeParams] to
//     TakeTicket of a botctx.Runtime in a host.
//
// A member of an inlet channel asks for a person. The request is an Assignment. Outlet channels get
// it: most as Tickets, one for each of their broadcast groups, and one agent takes one of them; a
// custom channel or a helpdesk takes the request directly. The conversation that the agent and the
// member then have is a Group. State says how far an assignment is.
//
// Operations are what bot logic calls. A host calls methods of botctx.Runtime, such as SaveAdmin and TakeTicket.
// Connectors of platforms where agents answer offer the ports, such as GroupCreator.
package livechat
