package fakes

import (
	"context"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// behavior is how a platform takes messages. The outbox's mutex is held while its methods
// run.
type behavior interface {
	// refusal returns why the platform does not take a message, nil where it does.
	refusal(sent Sent) error
	// chatID returns the id of the conversation that a message belongs to, messageID the id
	// of a new message.
	chatID(sent Sent) string
	messageID(sent Sent) string
	// reply returns what the platform answers to a message.
	reply(sent Sent) document.Object
	// userID returns the id of a new user, whom the platform under test calls id.
	userID(id string) string
}

// fake is a platform: its connector, and how it takes messages.
type fake interface {
	send.Connector
	behavior
}

// plain is what platforms have in common. The connector to each is built on it and offers
// the ports that its platform has, and no other.
type plain struct{ *outbox }

func (plain) refusal(Sent) error { return nil }

func (p plain) chatID(sent Sent) string {
	if p.group(sent.Channel, sent.To) != nil {
		return sent.To
	}
	return "chat-" + sent.To
}

func (p plain) messageID(Sent) string { return p.platform.ids.next("message") }

func (plain) reply(sent Sent) document.Object { return document.O("id", sent.MessageID) }

func (plain) userID(id string) string { return "external-" + id }

// connectors returns the connectors to all types of channels.
func (o *outbox) connectors() map[channel.Type]send.Connector {
	platforms := channel.Types()
	all := make(map[channel.Type]send.Connector, len(platforms))
	for _, platform := range platforms {
		all[platform] = o.fakeOf(platform)
	}
	return all
}

// fakeOf returns the platform of a type of channels, nil where there is none.
func (o *outbox) fakeOf(platform channel.Type) fake {
	common := plain{o}
	switch platform {
	case channel.Alpha:
		return alpha{common}
	case channel.Bravo:
		return bravo{common}
	case channel.Charlie:
		return charlie{common}
	case channel.Delta:
		return delta{common}
	case channel.Echo:
		return echo{common}
	case channel.Foxtrot:
		return foxtrot{common}
	case channel.Hotel:
		return hotel{common}
	case channel.Custom:
		return custom{common}
	case channel.Webchat:
		return webchat{common}
	default:
		return nil
	}
}

// reach returns why a platform cannot be asked for anything now.
func (o *outbox) reach(ctx context.Context, in *channel.Channel) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := send.RequireChannel(in); err != nil {
		return err
	}
	o.platform.begins(ctx, asking{ServiceMessages, "ask", in.ID})
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.connectionError(in.ID)
}
