package fakes

import (
	"cmp"
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// behavior decides how a platform handles messages. The outbox's mutex is held during its methods.
type behavior interface {
	// refusal returns the reason why the platform refuses a message, or nil.
	refusal(sent Sent) error
	// chatID returns the id of the conversation that a message belongs to. messageID returns the id of a new
	// message.
	chatID(sent Sent) string
	messageID(sent Sent) string
	// reply returns the platform's answer to a message.
	reply(sent Sent) document.Object
}

// fake is a fake platform: a connector and its behavior.
type fake interface {
	send.Connector
	behavior
}

// plain is the part common to all platforms, and the whole of webchat. Each other platform's connector embeds it and
// adds its ports.
type plain struct{ *outbox }

func (p plain) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	return p.deliver(ctx, message)
}

func (plain) refusal(Sent) error { return nil }

func (p plain) chatID(sent Sent) string {
	if p.group(sent.Channel, sent.To) != nil {
		return sent.To
	}
	return "chat-" + sent.To
}

// forms are the forms of the platforms' ids: of users, messages and created groups. A user id is scoped to a page on
// Alpha; on Bravo it is a country code and a telephone number.
var forms = map[channel.Type]struct{ user, message, group string }{
	channel.Alpha:   {user: "1000000%09d", message: "m_%06d"},
	channel.Bravo:   {user: "1555%07d", message: "wamid.%06d", group: "1555%07d-group"},
	channel.Charlie: {user: "U%06d", group: "C%06d"},
	channel.Delta:   {message: "dm-%06d", group: "room-%06d"},
	channel.Echo:    {user: "o_%06d", message: "1000%09d"},
	channel.Foxtrot: {message: "msg_%06d"},
	channel.Hotel:   {message: "post-%06d"},
}

// userID returns a platform's id for a new user, given the user's id in the test.
func (o *outbox) userID(platform channel.Type, id string) string {
	if form := forms[platform].user; form != "" {
		return o.platform.ids.formed(form)
	}
	return "external-" + id
}

func (p plain) messageID(sent Sent) string {
	if form := forms[sent.Type].message; form != "" {
		return p.platform.ids.formed(form)
	}
	return p.platform.ids.next("message")
}

func (plain) reply(sent Sent) document.Object { return document.O("id", sent.MessageID) }

func (o *outbox) connectors() map[channel.Type]send.Connector {
	platforms := channel.Types()
	all := make(map[channel.Type]send.Connector, len(platforms))
	for _, platform := range platforms {
		all[platform] = o.fakeOf(platform)
	}
	return all
}

// fakeOf returns the fake platform for a channel type.
func (o *outbox) fakeOf(platform channel.Type) fake {
	common := plain{o}
	switch platform {
	case channel.Alpha:
		return alpha{common}
	case channel.Bravo:
		return bravo{common}
	case channel.Charlie:
		return charlie{editable{common}}
	case channel.Delta:
		return delta{editable{common}}
	case channel.Echo:
		return echo{common}
	case channel.Foxtrot:
		return foxtrot{common}
	case channel.Hotel:
		return hotel{common}
	case channel.Custom:
		return custom{common}
	default:
		return common
	}
}

// partOfChannel returns the part of the messaging platforms that serves a channel.
func partOfChannel(in *channel.Channel) part {
	return part{ServiceMessages, cmp.Or(in.App, DefaultApp), in.ID}
}

// atPlatform makes a request to a channel's platform, which does its work under the mutex.
func atPlatform[T any](ctx context.Context, o *outbox, in *channel.Channel, do func() (T, error)) (none T, err error) {
	if err := cmp.Or(ctx.Err(), send.RequireChannel(in)); err != nil {
		return none, err
	}
	asked := asking{partOfChannel(in), "ask", in.ID}
	return requested(ctx, o.platform, asked, func() (T, error) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if err := o.platform.downErr(asked.at); err != nil {
			return none, err
		}
		return do()
	})
}

// change is atPlatform for a request that only has an error as its answer.
func (o *outbox) change(ctx context.Context, in *channel.Channel, do func() error) error {
	_, err := atPlatform(ctx, o, in, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

// askedOnce reaches a channel's platform and carries out a request as answered does.
func askedOnce[T any](ctx context.Context, o *outbox, in *channel.Channel, what string, do func() (T, error)) (T, error) {
	return atPlatform(ctx, o, in, func() (T, error) { return answered(ctx, o, in.ID, what, do) })
}

// answered carries out a request to a channel's platform. If an earlier request had the same key of ctx, it
// returns the earlier answer instead, like platforms with idempotency keys. The caller holds the mutex.
func answered[T any](ctx context.Context, o *outbox, channelID, what string, do func() (T, error)) (T, error) {
	return answeredUnder(o, channelID, what, send.KeyOf(ctx), do)
}

// answeredUnder is answered with an explicit key. Without a key the request is always carried out.
func answeredUnder[T any](o *outbox, channelID, what, key string, do func() (T, error)) (T, error) {
	if key == "" {
		return do()
	}
	of := what + " in " + channelID + " as " + key
	if known, ok := o.kept.answers[of].(T); ok {
		return known, nil
	}
	answer, err := do()
	if err == nil {
		put(&o.kept.answers, of, any(answer))
	}
	return answer, err
}

// hasType returns an error for a message of a type that only another platform has, such as Echo's articles. Unknown
// types are accepted, because they may be the platform's own.
func hasType(platform channel.Type, response send.Response) error {
	if owner, isOwned := channel.OwnerOf(string(response.Type())); isOwned && platform != owner {
		return boterr.New(boterr.Unsupported, "type",
			"channels of type %s have no messages of type %s: send those only to channels of type %s",
			platform, response.Type(), owner)
	}
	return nil
}

// custom is the connector to a host's own live-chat API.
type custom struct{ plain }

// chatID returns "" for agents, because a custom platform does not report its id for their conversation.
func (c custom) chatID(sent Sent) string {
	if sent.Member == "" && c.group(sent.Channel, sent.To) == nil {
		return ""
	}
	return c.plain.chatID(sent)
}

// hotel is the connector to Hotel, a platform on which channels can be created.
type hotel struct{ plain }

var _ livechat.ChannelCreator = hotel{}

func (h hotel) CreateChannel(ctx context.Context, in *channel.Channel, groupID, displayName string) (document.Object, error) {
	return askedOnce(ctx, h.outbox, in, "a channel", func() (document.Object, error) {
		created := CreatedChannel{
			Channel: in.ID, ID: h.platform.ids.next(string(in.Type) + "-channel"), GroupID: groupID, DisplayName: displayName,
		}
		h.kept.channels = append(h.kept.channels, created)
		h.platform.notef("%s made the channel %s: %q", in.ID, created.ID, displayName)
		return document.O("id", created.ID, "groupId", groupID, "displayName", displayName), nil
	})
}
