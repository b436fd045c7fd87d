package botctx

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/record"
)

// LiveChat is what a host decides about live chats. The zero value of each field means its
// default.
type LiveChat struct {
	// Pairing returns the ids of the outlets that serve the live chats of an inlet of an
	// app, in the order in which they are asked. The default is what channel.Service.Pair
	// has stored.
	Pairing func(ctx context.Context, app, inlet string) ([]string, error)
	// CustomAPI returns the URL of a custom channel's live-chat API, "" where it has none:
	// then requests go through the connector. The default is liveChatApi of the channel's
	// metadata.
	CustomAPI func(c *channel.Channel) (string, error)
	// HistoryURL returns where the history of a conversation can be read. Without it a
	// request with its history is Unsupported.
	HistoryURL func(a *livechat.Assignment) (string, error)
	// IdleTimeout is how long a conversation may be idle before it ends. The default is
	// livechat.IdleTimeout.
	IdleTimeout time.Duration
}

// LiveChats returns the live chats of an app, for what the host's outlet platforms report:
// that an agent takes a ticket, for one. What agents and members write comes by Receive. A part
// of the host that panics there is the method's error, as in an operation.
func (r *Runtime) LiveChats(app string) *livechat.Service {
	scope := record.Scope{App: app}
	ports := r.liveChatPorts(scope, r.channels(scope), r.parts(scope, nil))
	ports.Panicked = func(ctx context.Context, cause any) error { return r.orPanic(ctx, place{scope: scope}, nil, cause) }
	return livechat.New(r.envOf(nil), scope, ports)
}

// liveChats returns the SDK's own live chats of a scope, with the other parts.
func (r *Runtime) liveChats(scope record.Scope, in *run, from channels, parts Parts) *livechat.Service {
	return livechat.New(r.envOf(in), scope, r.liveChatPorts(scope, from, parts))
}

// liveChatPorts returns what the live chats of a scope work with.
func (r *Runtime) liveChatPorts(scope record.Scope, from channels, parts Parts) livechat.Ports {
	pairing := func(ctx context.Context, inlet string) ([]string, error) {
		paired, err := channel.New(r.guarded, scope).Pairing(ctx, inlet)
		if err != nil {
			return nil, err
		}
		return paired.Outlets, nil
	}
	if own := r.config.LiveChat.Pairing; own != nil {
		pairing = func(ctx context.Context, inlet string) ([]string, error) { return own(ctx, scope.App, inlet) }
	}
	return livechat.Ports{
		Members:     parts.Members,
		Channels:    from,
		Pairing:     pairing,
		Agendas:     parts.Agendas,
		Connectors:  r.config.Connectors,
		HTTP:        r.config.HTTP,
		CustomAPI:   r.config.LiveChat.CustomAPI,
		HistoryURL:  r.config.LiveChat.HistoryURL,
		IdleTimeout: r.config.LiveChat.IdleTimeout,
		Pause:       r.config.Pause,
		IsStrict:    r.config.Strict,
	}
}

// ownLiveChats returns the SDK's own live chats, nil where the host has its own.
func (c *Context) ownLiveChats() *livechat.Service {
	own, _ := c.parts.LiveChats.(*livechat.Service)
	return own
}

// findGroup finds the live chat, and its group, that the event of a run belongs to: the group
// in which an agent wrote it, or that of the member's own live chat.
func (r *run) findGroup(ctx context.Context) error {
	own := r.bot.ownLiveChats()
	m, event := r.bot.Member, r.bot.MessageEvent
	if own == nil {
		r.isInLiveChat = m.BotMeta.LiveChat()
		return nil
	}
	group, err := own.GroupOf(ctx, r.bot.Channel.ID, *event)
	// An agent who asks for a person herself writes to the bot in her own live chat.
	if err != nil || group != nil && (!m.BotMeta.LiveChat() || group.ExternalID == event.To) {
		r.bot.Group, r.byAgent = group, group != nil
		return err
	}
	if !m.BotMeta.LiveChat() {
		return nil
	}
	if r.isInLiveChat, err = own.IsAskedHere(ctx, m.ID); err != nil || !r.isInLiveChat {
		return err
	}
	group, err = own.GetGroupByMemberID(ctx, livechat.GetGroupByMemberIDParams{Inlet: r.bot.Channel.ID, MemberID: m.ID})
	if errors.Is(err, boterr.NotFound) {
		return nil // Nobody has taken the request yet.
	}
	if err == nil && group.Active {
		r.bot.Group = group
	}
	return err
}

// passOn hands an event that no node answers to the live chat that it belongs to: what the
// member writes to the agent, what the agent writes to the member, and the tap on a
// ticket. It reports whether that has taken the event.
func (r *run) passOn(ctx context.Context) (bool, error) {
	own, event := r.bot.ownLiveChats(), *r.bot.MessageEvent
	if own == nil {
		return false, nil
	}
	if isTaken, err := own.TakeByTap(ctx, r.bot.Channel.ID, event); isTaken || err != nil {
		return true, err
	}
	switch {
	case r.byAgent:
		return own.RelayFromAgent(ctx, r.bot.Channel.ID, event)
	case r.isInLiveChat:
		return own.RelayFromMember(ctx, r.bot.Member.ID, event)
	default:
		return false, nil
	}
}

// isOfLiveChat reports whether an agenda is one that live chats have set, by its tag and its
// node. Bot logic may set agendas with such tags for nodes of its own.
func isOfLiveChat(a agenda.Agenda) bool {
	return strings.HasPrefix(a.Tag, livechat.TagPrefix) && strings.HasPrefix(a.NodeCompositeID, livechat.TagPrefix)
}

// expire ends the live chat of an agenda if it is idle.
func (r *run) expire(ctx context.Context, due agenda.Agenda) error {
	if own := r.bot.ownLiveChats(); own != nil {
		return own.Expire(ctx, due)
	}
	return nil
}
