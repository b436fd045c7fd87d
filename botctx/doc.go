// Package botctx is the context that bot logic is given: the current channel and
// member, and every operation of the specification as a method.
//
//   - To write a bot, make each step a [Node], with a trigger such as [TextIs], and [Do], [Say]
//     and [To].
//   - To act and to answer in an [Action], call [Context.Reply], and the operations, which are
//     methods of [Context].
//   - To host it, use [New], [Runtime.Handle], [Runtime.Accept] and [Runtime.Run].
//
// Bot logic is an Action, a function over *Context:
//
//	func Greet(ctx context.Context, bot *botctx.Context) error {
//		return bot.Reply(ctx, send.Template("Hello {{firstName}}"))
//	}
//
// Actions belong to nodes, which say when they answer, what they send and where the
// conversation goes on:
//
//	&botctx.Node{ID: "hello", Trigger: botctx.TextIs("hello"), Pre: botctx.Do(Greet)}
//
// A host makes a Runtime with New, gives it the nodes with Handle, hands it what arrives on
// its channels with Accept, which keeps it in the store, and lets it run that and agendas with Run.
// Receive answers within the call, and keeps nothing: a process that dies loses what arrived. Package
// fakes is the same Runtime over a platform in memory.
//
// # Runs
//
// A run begins with an event, an agenda or a redirect. It is one member's turn: the member
// is read when the turn comes, nodes run one after the other along their redirects, and
// when all of them have ended well, what they changed of botMeta, meta, customLocale and
// group of Context.Member is written back, path by path. Runs of one member take turns,
// in a process in the order in which they came, and in all that share a store by a lease in it, unless
// Config.ParallelRuns says otherwise. The operations that find and modify in one step, and the write-back
// by paths, keep what others change of the member meanwhile.
package botctx
