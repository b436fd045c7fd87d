// Package botctx provides the context of bot logic: the current channel and member, and every operation of
// the specification as a method.
//   - To write a bot, make each step a [Node], with a trigger such as [TextIs], and [Do], [Say] and [To].
//   - To answer in an [Action], call [Context.Reply]. The operations are methods of [Context], too.
//   - To host a bot, use [New], [Runtime.Handle], [Runtime.Accept] and [Runtime.Run].
//
// Bot logic consists of Actions, which are functions over *Context:
//
//	func Greet(ctx context.Context, bot *botctx.Context) error {
//		return bot.Reply(ctx, send.Template("Hello {{firstName}}"))
//	}
//
// Actions belong to nodes. A node declares when it answers, its messages and the next node:
//
//	&botctx.Node{ID: "hello", Trigger: botctx.TextIs("hello"), Pre: botctx.Do(Greet)}
//
// A host creates a Runtime with New and adds the nodes with Handle. Accept stores the events that arrive on
// the host's channels, and Run runs the bot logic for these events and for agendas. Receive runs the logic
// within the call instead and does not store the event, so the event is lost if the process dies. Package
// fakes provides the same Runtime over a platform in memory, for tests.
//
// # Runs
//
// A run is the execution of bot logic for one member. An event, an agenda or a redirect starts it. The Runtime
// loads the member and runs the first node and the nodes that it redirects to, one after the other. If all
// nodes succeed, changes to botMeta, meta, customLocale and group of Context.Member are written back. Only the
// changed paths are written, so changes that other writers make during the run are preserved.
//
// Runs of one member take turns unless Config.ParallelRuns is set: the member has a queue, called a lane. Within a
// process, runs of a lane start in the order of their arrival. Processes that share a store use a lease on the lane,
// and there is no particular order between them.
package botctx
