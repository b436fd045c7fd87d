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
	// Member is the id of the member it went to, "" where it went to a group or to agents.
	// To is the recipient's id on the platform.
	Member string
	To     string
	// Response is the message, filled from the member.
	Response send.Response
	// MessageID is the platform's id of the message, ChatID that of the conversation.
	MessageID string
	ChatID    string
}

// outbox is what the messaging platforms keep: what was sent, and the tickets, groups and
// channels there. It sends to all platforms.
type outbox struct {
	platform *Platform
	mu       sync.Mutex
	kept     kept
}

// kept is what an outbox keeps.
type kept struct {
	sent []Sent
	// marks say how messages show that were changed since, by their ids.
	marks map[string]mark
	// groups are the conversations that were made, the oldest first.
	groups []Group
	// channels are the channels that were made, the oldest first.
	channels []CreatedChannel
	// agents are the names of those who were added, by channel and id.
	agents map[agentKey]string
}

func newOutbox(p *Platform) *outbox { return &outbox{platform: p, kept: kept{}.clone()} }

// Send implements send.Connector.
func (o *outbox) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	if err := ctx.Err(); err != nil {
		return send.Delivery{}, err
	}
	p := o.platform
	sent := Sent{
		At: document.At(p.Now()), Channel: message.Channel.ID, Type: message.Channel.Type,
		To: message.To, Response: message.Response, MessageID: p.ids.next("message"),
	}
	if message.Member != nil {
		sent.Member = message.Member.ID
	}
	o.mu.Lock()
	sent.ChatID = o.chatOf(sent)
	o.kept.sent = append(o.kept.sent, sent)
	to := o.nameOf(sent, message)
	o.mu.Unlock()
	p.notef("%s <- %s", to, sent.Response)
	return send.Delivery{
		Reply:     replyOf(sent),
		MessageID: sent.MessageID,
		ChatID:    sent.ChatID,
		Timestamp: sent.At,
	}, nil
}

// chatOf returns the platform's id of the conversation that a message belongs to. Foxtrot
// begins a new one for a message that is not to a member, unless it is to one that is there.
// A custom platform does not say what it calls the conversation with its agents. The caller
// holds the mutex.
func (o *outbox) chatOf(sent Sent) string {
	switch {
	case sent.Member != "":
		return "chat-" + sent.To
	case o.group(sent.Channel, sent.To) != nil:
		return sent.To
	case sent.Type == channel.Custom:
		return ""
	case sent.Type == channel.Foxtrot:
		begun := Group{Channel: sent.Channel, ExternalID: o.platform.ids.next("conversation")}
		o.kept.groups = append(o.kept.groups, begun)
		return begun.ExternalID
	default:
		return "chat-" + sent.To
	}
}

// nameOf is what a transcript calls who gets a message. The caller holds the mutex.
func (o *outbox) nameOf(sent Sent, message send.Message) string {
	name, isAgent := o.kept.agents[agentKey{sent.Channel, sent.To}]
	switch {
	case isAgent:
		return name
	case message.Member != nil:
		return nameOf(message.Member)
	default:
		return sent.Channel + "/" + sent.To
	}
}

// replyOf returns what the platform answers to a message.
func replyOf(sent Sent) document.Object {
	switch sent.Type {
	case channel.Alpha:
		return document.O("recipient_id", sent.To, "message_id", sent.MessageID)
	case channel.Charlie:
		return document.O("ok", true, "channel", sent.ChatID, "ts", sent.At, "message", sent.Response.Object())
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
	return slices.Clone(o.kept.sent)
}

// state returns a copy of what is kept.
func (o *outbox) state() kept {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.kept.clone()
}

// set takes over a copy of what another one kept.
func (o *outbox) set(state kept) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kept = state.clone()
}
