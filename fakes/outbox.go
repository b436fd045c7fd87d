package fakes

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// Sent is one message that was sent on the platform.
type Sent struct {
	// At is the virtual time at which it was sent.
	At document.Timestamp
	// Channel is the id of the channel, Type its platform.
	Channel string
	Type    channel.Type
	// Member is the id of the member it went to, To the member's id on the platform.
	Member string
	To     string
	// Response is the message, filled from the member.
	Response send.Response
	// MessageID is the platform's id of the message.
	MessageID string
}

// outbox is every message that was sent. It is the connector of all platforms.
type outbox struct {
	platform *Platform
	mu       sync.Mutex
	sent     []Sent
}

func newOutbox(p *Platform) *outbox { return &outbox{platform: p} }

// connectors returns the connectors of all types of channels.
func (o *outbox) connectors() map[channel.Type]send.Connector {
	all := map[channel.Type]send.Connector{}
	for _, t := range []channel.Type{
		channel.Alpha, channel.Bravo, channel.Charlie, channel.Delta, channel.Echo,
		channel.Foxtrot, channel.Hotel, channel.Custom, channel.Webchat,
	} {
		all[t] = o
	}
	return all
}

// Send implements send.Connector.
func (o *outbox) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	if err := ctx.Err(); err != nil {
		return send.Delivery{}, err
	}
	p := o.platform
	sent := Sent{
		At: document.At(p.Now()), Channel: message.Channel.ID, Type: message.Channel.Type,
		Member: message.Member.ID, To: message.To, Response: message.Response, MessageID: p.ids.next("message"),
	}
	o.mu.Lock()
	o.sent = append(o.sent, sent)
	o.mu.Unlock()
	p.notef("%s <- %s", nameOf(message.Member), sent.Response)
	return send.Delivery{
		Reply:     replyOf(sent),
		MessageID: sent.MessageID,
		ChatID:    "chat-" + sent.To,
		Timestamp: sent.At,
	}, nil
}

// replyOf returns what the platform answers to a message.
func replyOf(sent Sent) document.Object {
	switch sent.Type {
	case channel.Alpha:
		return document.O("recipient_id", sent.To, "message_id", sent.MessageID)
	case channel.Charlie:
		return document.O("ok", true, "channel", "chat-"+sent.To, "ts", sent.At, "message", sent.Response.Object())
	case channel.Delta:
		return document.O("id", sent.MessageID, "STATUS", "OK")
	case channel.Echo:
		return sent.Response.Data().With("msgType", strings.ToLower(string(sent.Response.Type())))
	default:
		return document.O("id", sent.MessageID)
	}
}

// all returns what was sent, in order.
func (o *outbox) all() []Sent {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.sent)
}

func (o *outbox) set(sent []Sent) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sent = slices.Clone(sent)
}
