// Package botctx is the context that bot logic is given: the current channel and
// member, and every operation of the specification as a method.
//
// Bot logic is an Action, a function over *Context:
//
//	func Greet(ctx context.Context, bot *botctx.Context) error {
//		return bot.Reply(ctx, send.Text("Hello {{firstName}}"))
//	}
//
// A host makes a Runtime with New, gives it the logic with HandleFunc, and hands it
// what arrives on its channels with Receive. Package fakes is the same Runtime over
// a platform in memory.
package botctx
