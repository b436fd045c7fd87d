// Package fakes is a whole platform in memory, for tests of bot logic and for
// programs that need no infrastructure: channels, members, data sources, outboxes
// and the web, with one virtual clock. It is botctx.New over memory ports and
// nothing else, so it obeys the rules of production.
//
//	func TestGreeting(t *testing.T) {
//		p := fakes.New(fakes.For(t))
//		p.HandleFunc(greet)
//		ada := p.AddMember(member.Member{FirstName: "Ada"})
//		ada.Says("hi")
//		require.Equal(t, "Hello Ada", ada.Last())
//	}
//
// Live chats have people at the other end: Pair pairs an inlet with outlets, and AddAgent adds
// who answers there. An agent sees tickets, takes one, writes and reads; her commands are
// nodes of the bot. HTTP is the live-chat API of custom outlets.
//
// Each messaging platform behaves as its own: its ids, its answers, and what there is on it.
// Charlie's ids of messages are timestamps, by which updateMessage finds them. Sent shows
// each message as it was sent and as it shows now. What a bot does on a platform is read
// back from who it was done to: Actor.Labels, Tags and Thread, and Platform.Broadcasts,
// Attachments, IsArchived and PostComments. The rules of a platform hold: a conversation that was
// archived, or that another application controls, takes no messages, a file is sent by an
// id that was given for it, a user has no more tags than send.MaxMemberTags, and articles are Echo's alone, as
// templates are Bravo's.
//
// Platforms fail on demand: LimitSends sets a rate limit in virtual time, RefuseSends makes a
// platform refuse some recipients and take the others, and Disconnect makes it answer
// nothing.
//
// Mails are in Mails and Mailbox, uploaded files in Files. AddAccount adds a payment account,
// which is charged, declines and refunds, and reports by events when the time moves.
//
// Every call of an operation is recorded, and can be made to fail, to be late, or to
// report a time-out. Transcript shows what happened, and is printed where a test
// fails. Advance moves the virtual time and runs the agendas that fall due on the way. A
// platform can be put back to a Snapshot, and forked. Ids, times and order
// are the same each time.
package fakes
