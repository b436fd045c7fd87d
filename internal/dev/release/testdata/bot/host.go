package bot

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

// printer is a connector that prints messages.
type printer struct{}

func (printer) Send(_ context.Context, message send.Message) (send.Delivery, error) {
	fmt.Println("to", message.To+":", message.Response.Text())
	return send.Delivery{}, nil
}

// Host stores one message and has the bot answer it.
func Host(ctx context.Context, s store.Store) error {
	rt, err := botctx.New(botctx.Config{
		Store:      s,
		Connectors: map[channel.Type]send.Connector{channel.Webchat: printer{}},
	})
	if err != nil {
		return err
	}
	if err := botctx.EnsureIndexes(ctx, s); err != nil {
		return err
	}
	web, err := rt.SaveChannel(ctx, "app", &channel.Channel{Type: channel.Webchat, On: true})
	if err != nil {
		return err
	}
	rt.HandleFunc(Echo)
	return rt.Receive(ctx, botctx.Inbound{App: "app", Channel: web.ID, Event: send.MessageEvent{
		From: "ada", Type: send.TypeText, Data: document.O("text", "hi"),
	}})
}
