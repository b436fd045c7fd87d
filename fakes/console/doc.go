// Package console is a conversation with a bot in a terminal, on a platform in memory.
//
//   - To talk to a bot of nodes, use [Run].
//   - To talk to a bot that needs more (data, channels, accounts, several members), use [Console] and its
//     [Console.Run].
//   - To save the conversation as a test, type /save; [Test] configures how the test creates the bot. A file
//     that ends in .chat is a conversation of package conversation.
//
// A program passes its nodes:
//
//	func main() {
//		if err := console.Run(context.Background(), nodes()...); err != nil {
//			log.Fatal(err)
//		}
//	}
//
// A typed line is a message to the bot. Type the number or the title of a button or a quick reply in the last
// answer to tap it. A line that begins with / is a command, and // sends a message that begins with /:
//
//	/as bob          speak as Bob, a new member if the name is new
//	/advance 24h     move the time: agendas run (2d, 1w, 90m)
//	/agent           speak as the agent: /take takes a ticket, /end ends the live chat
//	/data orders     the entries of a data source; /data lists data sources
//	/state           the member, the position, agendas, requests for a person
//	/why             the node that answered the last event and why, or why each node refused
//	/save book.go    the conversation as a Go test that passes, in book_test.go
//	/save book.chat  the conversation as a file that people can read and write
//	/help            all commands
//
// A bot that needs more than nodes (data sources, channels, accounts) gets its own platform and passes its
// members and agents:
//
//	p := fakes.New(fakes.Config(withFlow))
//	p.Handle(nodes()...)
//	p.AddData("coupons", document.O("code", "SPRING"))
//	err := console.Console{Platform: p, Members: []*fakes.Actor{p.AddMember(ada)}}.Run(ctx)
//
// # Terminals and other files
//
// A terminal supports line editing, completion with Tab and history with the up arrow; texts are wrapped to
// its width, in colour unless NO_COLOR is set. If standard input or output is not a terminal, lines are
// plain, and typed lines are printed, too: a file of lines makes a transcript. Ctrl-D, Ctrl-C, /quit and the
// end of the context all end the conversation, and Run returns nil.
//
// Messages of members and bots never control the terminal: control characters are shown as \x1b, and so are
// characters that change the direction of text. An error of the bot is shown with its code, and the
// conversation continues.
package console
