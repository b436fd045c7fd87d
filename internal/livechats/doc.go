// Package livechats carries out the operations of live chat: it routes requests, sends tickets,
// opens conversations and relays what both sides write. Its Service is what botctx calls, for bot
// logic and when a platform reports what happened there: an agent took a ticket, the agent or the
// member wrote, a conversation was idle.
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
package livechats
