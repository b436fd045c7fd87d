// Package livechat hands the conversation with a member over to a person: it keeps the
// requests for that, sends them to where agents answer, and relays what both sides write
// until it ends.
//
//   - To ask for a person, call CreateAssignment of botctx.Context with
//     [CreateAssignmentParams].
//   - To end a live chat, call EndLiveChat for the agent and InletEndLiveChat for the member,
//     see [Operations].
//   - To report that an agent took a ticket on the outlet's platform, call [Service.Take] in a
//     host.
//
// A member of an inlet channel asks for a person. The request is an Assignment. Outlet channels get
// it: most as Tickets, one for each of their broadcast groups, and one agent takes one of them; a
// custom channel or a helpdesk takes the request directly. The conversation that the agent and the
// member then have is a Group. State says how far an assignment is.
//
// Operations are what bot logic calls. The further methods of Service are for hosts, which call
// them when a platform reports what happened there: an agent took a ticket, the agent or the member
// wrote, a conversation was idle.
//
// # The states of an assignment
//
// A call writes what it wants of an assignment, in one write: that is a transition.
//
//	 request
//	    |                     give back
//	    v               +------------------+
//	 sending            v                  |
//	  | | |   open            take         |
//	  | | +---------> pending --------> taken
//	  | |                |               ^ |
//	  | +----------------|---------------+ |
//	  |          open in a group           |
//	  |                  |                 |
//	  +------------------+-----------------+
//	                     |  end in the outlet, end in the inlet,
//	                     |  expire, hand on, withdraw, lose a side
//	                     v
//	                   ended
//
//	transition        from                    -> to
//	request           -                       -> sending
//	open              sending                 -> pending
//	open in a group   sending                 -> taken
//	take              pending, taken          -> taken
//	give back         taken                   -> pending
//	end in the outlet sending, pending, taken -> ended
//	end in the inlet  sending, pending, taken -> ended
//	expire            pending, taken          -> ended
//	hand on           sending, pending, taken -> ended
//	withdraw          sending, pending        -> ended
//	lose a side       pending, taken          -> ended
//
// Then it reconciles: it takes the assignment through the steps that are due where it is,
// for what the call wants, and that the record does not note as done. A call that comes after
// a crash does the same, so it goes on where the other one stopped.
//
//	step                           due in           for
//	send the tickets               sending, pending open request
//	store the group of the API     sending          open request
//	end the previous one           sending          open request
//	open                           sending          open request
//	take over what was written     pending, taken   open request
//	close the previous one         pending, taken   open request
//	give it to who is in its group pending, taken   open request
//	let the member in              pending, taken   open request
//	send what was written before   taken            open request
//	open the conversation          taken            conversation
//	watch idle time                taken            conversation
//	let the member in              taken            conversation
//	send the summary               taken            conversation
//	send what was written before   taken            conversation
//	show it on the tickets         taken            conversation
//	let the member out             ended            closed
//	clear the member's group       ended            closed
//	put the groups out of use      ended            closed
//	tell who is left               ended            closed
//	close the previous one         ended            closed
//	recall the tickets             ended            closed
//	show that it is over           ended            closed
//	withdraw the next one          ended            closed
//	close                          ended            closed
package livechat
