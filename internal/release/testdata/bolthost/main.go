// Command bolthost is a small host over bolt: the store's address is its argument.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/botctx/go-sdk/backends/bolt"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/send"

	"example.com/outside/bot"
)

// printer is a connector that prints what members are told.
type printer struct{}

func (printer) Send(_ context.Context, message send.Message) (send.Delivery, error) {
	fmt.Println("to", message.To+":", message.Response.Text())
	return send.Delivery{}, nil
}

func main() {
	if err := run(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, address string) error {
	store, err := bolt.Open(address)
	if err != nil {
		return err
	}
	defer store.Close()
	rt, err := botctx.New(botctx.Config{
		Store:      store,
		Connectors: map[channel.Type]send.Connector{channel.Webchat: printer{}},
	})
	if err != nil {
		return err
	}
	if err := botctx.EnsureIndexes(ctx, rt.Env().Store); err != nil {
		return err
	}
	web, err := channel.New(rt.Env(), record.Scope{App: "app"}).Save(ctx, &channel.Channel{Type: channel.Webchat, On: true})
	if err != nil {
		return err
	}
	rt.HandleFunc(bot.Echo)
	return rt.Receive(ctx, botctx.Inbound{App: "app", Channel: web.ID, Event: send.MessageEvent{
		From: "ada", Type: send.TypeText, Data: document.O("text", "hi"),
	}})
}
