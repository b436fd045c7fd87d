package otel

import (
	"context"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

// wrapLiveChatPort is WrapPort for the ports of live chats.
func (c *connector) wrapLiveChatPort(wanted, inner any) any {
	switch wanted.(type) {
	case *livechat.GroupCreator:
		return groups{c, as[livechat.GroupCreator](inner)}
	case *livechat.InviteLinker:
		return invitations{c, as[livechat.InviteLinker](inner)}
	case *livechat.GroupIconSetter:
		return icons{c, as[livechat.GroupIconSetter](inner)}
	case *livechat.TicketUpdater:
		return ticketUpdates{c, as[livechat.TicketUpdater](inner)}
	case *livechat.TicketRecaller:
		return recalls{c, as[livechat.TicketRecaller](inner)}
	case *livechat.ChannelCreator:
		return channels{c, as[livechat.ChannelCreator](inner)}
	default:
		return nil // A port that this package does not know is used as it is.
	}
}

// The types below are ports of connectors that are reported of.
type (
	groups struct {
		c     *connector
		inner livechat.GroupCreator
	}
	invitations struct {
		c     *connector
		inner livechat.InviteLinker
	}
	icons struct {
		c     *connector
		inner livechat.GroupIconSetter
	}
	ticketUpdates struct {
		c     *connector
		inner livechat.TicketUpdater
	}
	recalls struct {
		c     *connector
		inner livechat.TicketRecaller
	}
	channels struct {
		c     *connector
		inner livechat.ChannelCreator
	}
)

// CreateGroup implements livechat.GroupCreator.
func (g groups) CreateGroup(
	ctx context.Context, in *channel.Channel, group livechat.NewGroup,
) (livechat.CreatedGroup, error) {
	return ask(ctx, g.c, "createGroup", in, func(ctx context.Context) (livechat.CreatedGroup, error) {
		return g.inner.CreateGroup(ctx, in, group)
	})
}

// RenewInviteLink implements livechat.InviteLinker.
func (i invitations) RenewInviteLink(ctx context.Context, in *channel.Channel, groupExternalID string) (string, error) {
	return ask(ctx, i.c, "renewInviteLink", in, func(ctx context.Context) (string, error) {
		return i.inner.RenewInviteLink(ctx, in, groupExternalID)
	})
}

// DisableInviteLink implements livechat.InviteLinker.
func (i invitations) DisableInviteLink(ctx context.Context, in *channel.Channel, groupExternalID string) error {
	return do(ctx, i.c, "disableInviteLink", in, func(ctx context.Context) error {
		return i.inner.DisableInviteLink(ctx, in, groupExternalID)
	})
}

// SetGroupIcon implements livechat.GroupIconSetter.
func (i icons) SetGroupIcon(
	ctx context.Context, in *channel.Channel, groupExternalID string, icon livechat.Picture,
) error {
	return do(ctx, i.c, "setGroupIcon", in, func(ctx context.Context) error {
		return i.inner.SetGroupIcon(ctx, in, groupExternalID, icon)
	})
}

// ShowTaken implements livechat.TicketUpdater.
func (t ticketUpdates) ShowTaken(ctx context.Context, in *channel.Channel, ticket livechat.Ticket, text string) error {
	return do(ctx, t.c, "showTaken", in, func(ctx context.Context) error {
		return t.inner.ShowTaken(ctx, in, ticket, text)
	})
}

// RecallTicket implements livechat.TicketRecaller.
func (r recalls) RecallTicket(ctx context.Context, in *channel.Channel, ticket livechat.Ticket) error {
	return do(ctx, r.c, "recallTicket", in, func(ctx context.Context) error {
		return r.inner.RecallTicket(ctx, in, ticket)
	})
}

// CreateChannel implements livechat.ChannelCreator.
func (c channels) CreateChannel(
	ctx context.Context, in *channel.Channel, groupID, displayName string,
) (document.Object, error) {
	return ask(ctx, c.c, "createChannel", in, func(ctx context.Context) (document.Object, error) {
		return c.inner.CreateChannel(ctx, in, groupID, displayName)
	})
}
