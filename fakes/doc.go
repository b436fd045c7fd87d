// Package fakes is a whole platform in memory, for tests of bot logic and for programs that need no
// infrastructure: channels, members, data sources, messaging platforms and the web, with one virtual clock. The
// bot runs in a botctx.Runtime as in production; only the store and the services around it are in memory.
//   - To begin a test, use [New] with [For], [Platform.Handle] and [Platform.AddMember].
//   - To act and to check, use [Actor.Says], [Actor.TapsOn] and [Actor.Sees], and [Platform.Data] and so on.
//   - To move the time, use [Platform.Advance]; to make something fail, [Platform.Inject] with a [Fault]; to
//     lose the process, [Platform.Crash].
//
// A first test:
//
//	func TestGreeting(t *testing.T) {
//		p := fakes.New(fakes.For(t))
//		p.HandleFunc(greet)
//		ada := p.AddMember(member.Member{FirstName: "Ada"})
//		ada.Says("hi")
//		ada.Sees("Hello Ada")
//	}
//
// For live chats, Pair connects an inlet to outlets, and AddAgent adds an agent to an outlet. An agent sees
// tickets, takes one, writes and reads. Nodes of the bot may answer an agent's messages as commands. The
// live-chat API of custom outlets is served by HTTP.
//
// Each messaging platform has its own ids, answers and rules. For example, Charlie's ids of messages are
// timestamps, which updateMessage needs. An archived conversation, or one that another application controls,
// accepts no messages. A file is sent by the id of its upload. A user has at most send.MaxMemberTags tags. Only
// Echo has articles, and only Bravo has templates.
//
// Sent returns each message as it was sent and as it shows now. Other effects on messaging platforms are
// returned by Actor.Labels, Tags and Thread, and by Platform.Broadcasts, Attachments, IsArchived and
// PostComments. Mails and Mailbox return mails, and Files returns uploaded files. AddAccount adds a payment
// account, which charges, declines and refunds, and delivers events as the time moves.
//
// Expectations read the messages to members and agents in order: Sees expects the next message, and
// SeesNothing expects that there is none. With EveryMessageExpected, a message that no expectation has read
// fails the test. Last and Messages return messages without reading them, for tests that check one thing.
// MailReader reads the mails of an address in the same way.
//
// A test can begin anywhere: SetPosition sets a member's position to a node, and Patch, AddAgenda, AddAssignment
// and AddConversation set up the rest. Since returns the changes since a Snapshot, as values and as text.
//
// Calls returns the calls of operations. Transcript shows everything that happened, and is printed if a test
// fails. Advance moves the virtual time and runs the agendas that fall due on the way. A platform can be
// restored to a Snapshot, and forked. Ids, times and order are the same in each run of a test.
//
// # Crashes
//
// Crash ends the process in which the bot runs: its runs are lost, and everything stored and sent remains.
// Restart starts the bot again, and Advance runs the remaining work. The faults Crashes and CrashesAfter end the
// process at a call of an operation. With them a test can show that the bot loses no message and answers no
// message twice:
//
//	p := fakes.New(fakes.For(t), fakes.WithInbox())  // What members say goes through Runtime.Accept.
//	p.Inject(Crashes(botctx.OpSendResponse))
//	ada.Says("one kettle")                           // The process ends before the bot answers.
//	p.Restart()
//	p.Advance(time.Second)                           // The pause after a run that was lost.
//	ada.SaysAgain()                                  // The platform repeats the message, under its id.
//
// DeadLetters returns the events that were given up, RetryDeadLetter puts one back into the inbox, and Restart
// accepts the nodes of a corrected bot.
//
// # Faults
//
// Each call of Inject plans one Fault. A fault affects a call of an operation, named by a constant of botctx,
// or a request to a service that operations use: one recipient of several, one mail, one charge.
//
//	p.Inject(fakes.Fails(botctx.OpSendResponse, boterr.Unavailable))        // The next call fails without effect.
//	p.Inject(fakes.Fails(botctx.OpSendResponse, boterr.Unavailable).At(3))  // The third call from now on fails.
//	p.Inject(fakes.Delays(botctx.OpSendResponse, 20*time.Second))           // The call takes 20 s of virtual time.
//	p.Inject(fakes.TimesOut(fakes.ServiceStore).At(7))                      // The request has its effect, but its answer is lost.
//	p.Inject(fakes.Crashes(botctx.OpSendResponse))                          // The process ends. CrashesAfter ends it after the call.
//	p.Inject(fakes.Fails(fakes.ServicePayments, err).Of("shop"))            // One account fails with any error.
//	p.Inject(fakes.Declines("shop", "expired_card"))                        // The next charge is declined.
//	p.Inject(fakes.Repeats(fakes.ServiceMessages))                          // A message to the bot arrives twice.
//	p.ReplyHTTP("GET", url, web.Fail(err), web.Text(200, "ok"))             // The first request to a URL fails.
//
// Package explore searches for the faults that break a bot.
//
// If no call meets a fault, the test fails at its end, unless the fault is optional:
//
//	p.Inject(fakes.Fails(botctx.OpSendResponse, boterr.Unavailable)).Optional()
//
// Outages, refused recipients and rate limits last until Lift, or for a time; they begin at once, or with a request:
//
//	p.Inject(fakes.Down(fakes.ServiceMail))                              // No mail can be sent.
//	p.Inject(fakes.Down(fakes.ServiceMessages).Of(channelID))            // One channel; also a data source or an account.
//	p.Lift(fakes.Down(fakes.ServiceMail))                                // Mail can be sent again.
//	p.Inject(fakes.Down(fakes.ServiceMail).Lasting(time.Hour).At(2))     // From the second mail on, for an hour.
//	p.Inject(fakes.Refuses(ada, boterr.FailedPrecondition))              // Messages to Ada, who has blocked the bot.
//	p.Inject(fakes.Refuses("gone@example.com", boterr.InvalidArgument))  // Mails to the address.
//	p.Inject(fakes.Limits(channelID, 2, time.Minute))                    // At most two messages a minute, in virtual time.
//
// A channel can also be switched off, as its operator does:
//
//	p.SwitchChannel(channelID, false)
package fakes
