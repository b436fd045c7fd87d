package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// The one app of the program and its one channel, the terminal.
const (
	appID     = "concierge"
	channelID = "terminal"
)

// Host is what stands around the bot: a Runtime over a store in memory, and a channel
// whose messages are printed.
type Host struct {
	runtime *botctx.Runtime
	tally   *Tally
}

// NewHost returns a host that prints messages to out, and counts in tally. Further
// interceptors stand inside of the one that counts.
func NewHost(ctx context.Context, out io.Writer, tally *Tally, further ...botctx.Interceptor) (*Host, error) {
	runtime, err := botctx.New(botctx.Config{
		Store:        memstore.New(),
		Connectors:   map[channel.Type]send.Connector{channel.Webchat: printer{out: out, tally: tally}},
		Interceptors: append([]botctx.Interceptor{tally.Count}, further...),
	})
	if err != nil {
		return nil, err
	}
	channels := channel.New(runtime.Env(), record.Scope{App: appID})
	if _, err := channels.Save(ctx, &channel.Channel{ID: channelID, Type: channel.Webchat, On: true}); err != nil {
		return nil, err
	}
	return &Host{runtime: runtime, tally: tally}, nil
}

// Handle adds nodes to those that answer what guests say.
func (h *Host) Handle(nodes ...*botctx.Node) error { return h.runtime.Handle(nodes...) }

// HandleFunc sets the action that answers what guests say where no node does.
func (h *Host) HandleFunc(action botctx.Action) { h.runtime.HandleFunc(action) }

// Operations returns the operations of the app, for loading its data sources.
func (h *Host) Operations() *botctx.Context {
	return h.runtime.Operations(record.Scope{App: appID})
}

// Receive runs the bot for what a guest says.
func (h *Host) Receive(ctx context.Context, event send.MessageEvent) error {
	h.tally.AddTurn()
	return h.runtime.Receive(ctx, botctx.Inbound{App: appID, Channel: channelID, Event: event})
}

// printer is the connector of the channel: it prints what the bot says.
type printer struct {
	out   io.Writer
	tally *Tally
}

// Send implements send.Connector.
func (p printer) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	if err := ctx.Err(); err != nil {
		return send.Delivery{}, err
	}
	p.tally.AddMessage()
	text := strings.ReplaceAll(message.Response.Text(), "\n", "\n           ")
	_, err := fmt.Fprintf(p.out, "Concierge: %s\n", text)
	return send.Delivery{}, err
}
