// Package botctx provides the context of bot logic: the current channel and member, and every operation of
// the specification as a method.
//   - To write a bot, make each step a [Node], with a trigger such as [TextIs], and [Do], [Say] and [To].
//   - To act and to answer in an [Action], call [Context.Reply], and the operations, which are methods of
//     [Context].
//   - To host it, use [New], [Runtime.Handle], [Runtime.Accept] and [Runtime.Run].
//
// Bot logic is an Action, a function over *Context:
//
//	func Greet(ctx context.Context, bot *botctx.Context) error {
//		return bot.Reply(ctx, send.Template("Hello {{firstName}}"))
//	}
//
// Actions belong to nodes. A node declares when it answers, its messages and where the conversation
// continues:
//
//	&botctx.Node{ID: "hello", Trigger: botctx.TextIs("hello"), Pre: botctx.Do(Greet)}
//
// A host creates a Runtime with New and adds the nodes with Handle. Accept stores the events that arrive on
// its channels, and Run runs them and the agendas. Receive answers within the call and stores nothing: if the
// process dies, the event is lost. Package fakes is the same Runtime over a platform in memory.
//
// # Runs
//
// A run begins with an event, an agenda or a redirect. It is one member's turn: the member is loaded when the
// turn comes, and nodes run one after the other along their redirects. If all of them succeed, their changes
// to botMeta, meta, customLocale and group of Context.Member are written back, path by path. Runs of one
// member take turns unless Config.ParallelRuns is set: within a process in the order in which they came, and
// between processes that share a store by a lease in it. The operations that find and modify in one step, and
// the write-back by paths, preserve concurrent changes to the member.
package botctx
