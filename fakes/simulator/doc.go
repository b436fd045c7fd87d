// Package simulator is a page in the browser to try a bot, on a platform in memory.
//
//   - To try a bot of nodes, use [Serve].
//   - To try a bot that needs more (data, channels, accounts, agents), use [Simulator] and its
//     [Simulator.Serve].
//   - To serve the page from your own program, use [Simulator.Handler].
//
// A program passes its nodes, and prints the address of the page:
//
//	func main() {
//		if err := simulator.Serve(context.Background(), nodes()...); err != nil {
//			log.Fatal(err)
//		}
//	}
//
// On the page you can:
//   - chat as several members on channels of several platforms, each with its form of buttons, quick replies and
//     cards, and answer as the agent;
//   - move the time, and make calls fail;
//   - see which node answered and why, and the place of each member in the graph of nodes;
//   - watch members, data, agendas, requests for a person, outboxes, mails, files and payments change;
//   - go back in time, fork, and save the actions as a Go test or as a conversation.
//
// Reload of [Simulator] replaces the nodes while the page is open, and a [Log] shows the bot's log on the page.
//
// # State
//
// All state is in the process: the page shows one JSON text, which it loads again when an event announces a
// change. So the state survives a reload, and several tabs see the same. An action is a POST.
//
// # Access
//
// The page is only reachable from this machine unless Address is set. Requests must name the host by a
// number, by "localhost" or by one of Hosts, and must not come from scripts of other sites. There are no
// users and no passwords: anyone who can reach the page can do everything that it offers. Do not
// expose it beyond a development machine.
package simulator
