// Package console lets one talk to a bot in a terminal, on a platform in memory.
//
//   - To talk to a bot of nodes, use [Run].
//   - To talk to one that needs more (data, channels, accounts, several members), use [Console] and
//     its [Console.Run].
//   - To make a test of what was said, type /save; [Test] says how the test makes the bot. A file that
//     ends in .chat is a conversation of package conversation.
//
// A program hands over its nodes, and has a chat:
//
//	func main() {
//		if err := console.Run(context.Background(), nodes()...); err != nil {
//			log.Fatal(err)
//		}
//	}
//
// What is typed is said to the bot. The number or the title of a button or a quick reply that the last
// answer shows taps it. A line that begins with / is a command, and // says a line that does:
//
//	/as bob          speak as Bob, who is made where nobody has the name
//	/advance 24h     let time pass: agendas run (2d, 1w, 90m)
//	/agent           sit as the agent: /take takes a ticket, /end ends the live chat
//	/data orders     what is in a data source; /data lists them
//	/state           the member, where the conversation stands, agendas, requests for a person
//	/why             which node answered the last event and why, or what each refused
//	/save book.go    the conversation as a Go test that passes, in book_test.go
//	/save book.chat  the conversation as a file that people can read and write
//	/help            all commands
//
// A bot that needs more than nodes (data sources, channels, accounts) gets its own platform, with the
// members and agents that are on it:
//
//	p := fakes.New(fakes.Config(withFlow))
//	p.Handle(nodes()...)
//	p.AddData("coupons", document.O("code", "SPRING"))
//	err := console.Console{Platform: p, Members: []*fakes.Actor{p.AddMember(ada)}}.Run(ctx)
//
// # Terminals and other files
//
// In a terminal a line is edited, completed by Tab and found again by the arrow up; texts are wrapped to its
// width, in colours unless NO_COLOR is set. If standard input or output is no terminal, lines are plain, and
// typed lines are printed, too: a file of lines makes a transcript. Ctrl-D, Ctrl-C, /quit and the end of the
// context all end it, and Run returns nil.
//
// Messages of members and bots never control the terminal: control characters are shown as \x1b, and so are
// characters that change the direction of text. An error of the bot is shown with its code, and the
// conversation continues.
package console
