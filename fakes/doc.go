// Package fakes is a whole platform in memory, for tests of bot logic and for programs that need no
// infrastructure: channels, members, data sources, outboxes and the web, with one virtual clock. It is
// botctx.New over memory ports and nothing else, so it obeys the rules of production.
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
// Live chats have people at the other end: Pair pairs an inlet with outlets, and AddAgent adds an agent who
// answers there. An agent sees tickets, takes one, writes and reads; an agent's commands are nodes of the
// bot. HTTP is the live-chat API of custom outlets.
//
// Each messaging platform behaves in its own way, with its ids and its answers. Charlie's ids of messages are
// timestamps, by which updateMessage finds them. Sent has each message as it was sent and as it shows now.
// The effects of a bot on a platform are shown by actors and the platform: Actor.Labels, Tags and Thread, and
// Platform.Broadcasts, Attachments, IsArchived and PostComments. The rules of a platform hold: a conversation
// that was archived, or that another application controls, takes no messages, a file is sent by the id that
// was given for it, a user has no more tags than send.MaxMemberTags, and only Echo has articles and only
// Bravo templates.
//
// Mails are in Mails and Mailbox, uploaded files in Files. AddAccount adds a payment account, which is
// charged, declines and refunds, and reports by events as the time moves.
//
// Expectations read the messages to members and agents in order: Sees expects the next message, and
// SeesNothing expects that there is none. With EveryMessageExpected, a message that no expectation has read
// fails the test. Last and Messages return messages without reading them, for tests that check one thing.
// MailReader reads the mails of an address in the same way.
//
// A test can begin anywhere: SetPosition puts a member at a node, and Patch, AddAgenda, AddAssignment and
// AddConversation set up the rest. Since returns the changes since a Snapshot, typed and as text.
//
// Every call of an operation is recorded. Transcript shows everything that happened, and is printed if a test
// fails. Advance moves the virtual time and runs the agendas that fall due on the way. A platform can be put
// back to a Snapshot, and forked. Ids, times and order are the same each time, and all times are time.Time of
// the virtual clock.
//
// # Crashes
//
// Crash ends the process in which the bot runs: its runs are lost, and everything stored and sent remains.
// Restart starts the bot again, and Advance runs the remaining work. Crashes and CrashesAfter are faults that
// crash at a call of an operation. With them a test can show that the bot loses no message and answers none
// twice:
//
//	p := fakes.New(fakes.For(t), fakes.WithInbox())  // What members say goes through Runtime.Accept.
//	p.Inject(Crashes(botctx.OpSendResponse))
//	ada.Says("one kettle")                           // The bot dies before it answers.
//	p.Restart()
//	p.Advance(time.Second)                           // The pause after a run that was lost.
//	ada.SaysAgain()                                  // The platform repeats the message, under its id.
//
// DeadLetters has the events that were given up, RetryDeadLetter puts one back, and Restart takes the nodes
// of a corrected bot.
//
// # Faults
//
// Each call of Inject plans one Fault. A fault affects a call of an operation, named by a constant of botctx,
// or a request to a service that operations use: one recipient of several, one mail, one charge.
//
//	p.Inject(fakes.Fails(botctx.OpSendResponse, boterr.Unavailable))        // The next call fails, and does nothing.
//	p.Inject(fakes.Fails(botctx.OpSendResponse, boterr.Unavailable).At(3))  // The third one from now on.
//	p.Inject(fakes.Delays(botctx.OpSendResponse, 20*time.Second))           // It is late by virtual time.
//	p.Inject(fakes.TimesOut(fakes.ServiceStore).At(7))                      // It is done, and its answer is lost.
//	p.Inject(fakes.Crashes(botctx.OpSendResponse))                          // CrashesAfter: once it is done.
//	p.Inject(fakes.Fails(fakes.ServicePayments, err).Of("shop"))            // One account. Err is any error.
//	p.Inject(fakes.Declines("shop", "expired_card"))                        // The next charge.
//	p.Inject(fakes.Repeats(fakes.ServiceMessages))                          // A message arrives twice; a webhook of ServicePayments.
//	p.ReplyHTTP("GET", url, web.Fail(err), web.Text(200, "ok"))             // The first request for a URL.
//
// Package explore searches for the faults that break a bot.
//
// If no call meets a fault, the test fails at its end, unless the fault is optional:
//
//	p.Inject(fakes.Fails(botctx.OpSendResponse, boterr.Unavailable)).Optional()
//
// An outage lasts until Lift, or for a time; it begins at once, or with a request:
//
//	p.Inject(fakes.Down(fakes.ServiceMail))                      // The store, data sources, mail, files, payments, HTTP, messages.
//	p.Inject(fakes.Down(fakes.ServiceMessages).Of(channelID))    // One messaging platform; so one data source, one account.
//	p.Lift(fakes.Down(fakes.ServiceMail))                        // It is back.
//	p.Inject(fakes.Down(fakes.ServiceMail).Lasting(time.Hour).At(2))
//	p.RefuseSends(boterr.FailedPrecondition, ada)                // AcceptSends: some recipients. RefuseSendsTo names them by id.
//	p.RefuseMailTo("gone@example.com")                           // For good.
//	p.LimitSends(channelID, 2, time.Minute)                      // LiftLimit: a rate limit in virtual time.
//	p.SwitchChannel(channelID, false)                            // A channel that is switched off.
package fakes
