// Package livechat hands the conversation with a member over to a person: it keeps the
// requests for that, sends them to where agents answer, and relays what both sides write
// until it ends.
//
// A member of an inlet channel asks for a person. The request is an Assignment. Outlet
// channels get it: most as Tickets, one for each of their broadcast groups, of which one
// agent takes one; a custom channel or a helpdesk takes it directly. What the agent and
// the member then have is a Group. State says how far an assignment is.
//
// Operations are what bot logic calls. The further methods of Service are for hosts, which
// call them when a platform reports what happened there: an agent took a ticket, one of
// both wrote, a conversation was idle.
package livechat
