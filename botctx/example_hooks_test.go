package botctx_test

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// Hooks see an event when it is accepted, while it runs and when its result is stored.
func ExampleInboxHooks() {
	ctx := context.Background()
	rt, err := botctx.New(botctx.Config{
		Store: memstore.New(),
		Inbox: botctx.InboxOptions{Hooks: botctx.InboxHooks{
			AroundAccept: func(
				ctx context.Context, event *botctx.InboxEvent, next func(context.Context) (botctx.Accepted, error),
			) (botctx.Accepted, error) {
				event.Trace = "trace-7"
				return next(ctx)
			},
			AroundRun: func(ctx context.Context, attempt botctx.InboxAttempt, next func(context.Context) error) error {
				fmt.Println("attempt", attempt.Attempt, "for", attempt.Event.From, "of", attempt.Event.Trace)
				return next(ctx)
			},
			Settled: func(_ context.Context, settled botctx.SettledAttempt) {
				fmt.Println("attempt", settled.Attempt, "ended with", settled.Err)
			},
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := rt.SaveChannel(ctx, "app-1", &channel.Channel{ID: "web", Type: channel.Webchat, On: true}); err != nil {
		fmt.Println(err)
		return
	}
	rt.HandleFunc(func(_ context.Context, bot *botctx.Context) error {
		fmt.Println("the bot reads:", bot.MessageEvent.Text())
		return nil
	})
	err = rt.Accept(ctx, botctx.Inbound{App: "app-1", Channel: "web", Event: send.MessageEvent{
		From: "ada", Type: send.TypeText, Data: document.O("text", "hi"),
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := rt.RunNextEvent(ctx); err != nil { // A host calls Run, which runs all events.
		fmt.Println(err)
	}
	// Output:
	// attempt 1 for ada of trace-7
	// the bot reads: hi
	// attempt 1 ended with <nil>
}
