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
// Every call of an operation is recorded, and can be made to fail, to be late, or to
// report a time-out. Transcript shows what happened, and is printed where a test
// fails. Advance moves the virtual time and runs the agendas that fall due on the way. A
// platform can be put back to a Snapshot, and forked. Ids, times and order
// are the same each time.
package fakes
