// Package simulator lets one try a bot in the browser, on a platform in memory.
//
//   - To try a bot of nodes, use [Serve].
//   - To try one that needs more (data, channels, accounts, agents), use [Simulator] and its
//     [Simulator.Serve].
//   - To serve the page from a program of one's own, use [Simulator.Handler].
//
// A program hands over its nodes, and prints where the page is:
//
//	func main() {
//		if err := simulator.Serve(context.Background(), nodes()...); err != nil {
//			log.Fatal(err)
//		}
//	}
//
// On the page one chats as several members on channels of several platforms, each with its look of
// buttons, quick replies and cards; sits as the agent; lets time pass; makes calls fail; sees why a node
// answered, or none, and where each member stands in the graph of nodes; watches members, data, agendas,
// requests for a person, outboxes, mails, files and payments change; goes back in time, forks, and saves
// what was done as a Go test or as a conversation.
//
// The nodes may change meanwhile, see Reload of [Simulator], and what the bot logs is seen, see [Log].
//
// # What is where
//
// All state is here in the process: the page shows one JSON text, which it asks for again when
// an event says that it has changed. So it survives a reload, and several tabs see the same. What is done
// is a POST that names it.
//
// # Who may ask
//
// The page listens on this machine alone unless Address says otherwise. It is asked for by a number, by
// "localhost" or by one of Hosts, and not by scripts of other sites. It has no users and no passwords, and
// who can reach it can do all that it offers: it is for one's own machine.
package simulator
