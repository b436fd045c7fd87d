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

// printer is a connector that prints messages.
type printer struct{}

func (printer) Send(_ context.Context, message send.Message) (send.Delivery, error) {
	fmt.Println("to", message.To+":", message.Response.Text())
	return send.Delivery{}, nil
}

// counted returns an interceptor that counts calls of operations.
func counted(calls *int) botctx.Interceptor {
	return func(ctx context.Context, _ *botctx.Call, next botctx.Next) (any, error) {
		*calls++
		return next(ctx)
	}
}

// A host has a store, a connector, a channel and bot logic. It passes an event to Receive.
func ExampleNew() {
	ctx := context.Background()
	calls := 0
	database := memstore.New()
	rt, err := botctx.New(botctx.Config{
		Store:        database,
		Connectors:   map[channel.Type]send.Connector{channel.Webchat: printer{}},
		Interceptors: []botctx.Interceptor{counted(&calls)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := botctx.EnsureIndexes(ctx, database); err != nil {
		fmt.Println(err)
		return
	}
	web, err := rt.SaveChannel(ctx, "app-1", &channel.Channel{Type: channel.Webchat, On: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	rt.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		return bot.Reply(ctx, send.Text("You said: "+bot.MessageEvent.Text()))
	})

	err = rt.Receive(ctx, botctx.Inbound{App: "app-1", Channel: web.ID, Event: send.MessageEvent{
		From: "visitor-9", Type: send.TypeText, Data: document.O("text", "hi"),
	}})

	fmt.Println(err, calls)
	// Output:
	// to visitor-9: You said: hi
	// <nil> 1
}
