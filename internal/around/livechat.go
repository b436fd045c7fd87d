package around

import (
	"context"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

func liveChatPort(wanted, inner any, call Call) any {
	switch wanted.(type) {
	case *livechat.GroupCreator:
		return groups{call, as[livechat.GroupCreator](inner)}
	case *livechat.InviteLinker:
		return invitations{call, as[livechat.InviteLinker](inner)}
	case *livechat.GroupNamer:
		return groupNames{call, as[livechat.GroupNamer](inner)}
	case *livechat.GroupIconSetter:
		return icons{call, as[livechat.GroupIconSetter](inner)}
	case *livechat.TicketUpdater:
		return ticketUpdates{call, as[livechat.TicketUpdater](inner)}
	case *livechat.TicketRecaller:
		return recalls{call, as[livechat.TicketRecaller](inner)}
	case *livechat.ChannelCreator:
		return channels{call, as[livechat.ChannelCreator](inner)}
	default:
		return nil
	}
}

// The types below wrap the ports of package livechat.
type (
	groups        wrapped[livechat.GroupCreator]
	invitations   wrapped[livechat.InviteLinker]
	groupNames    wrapped[livechat.GroupNamer]
	icons         wrapped[livechat.GroupIconSetter]
	ticketUpdates wrapped[livechat.TicketUpdater]
	recalls       wrapped[livechat.TicketRecaller]
	channels      wrapped[livechat.ChannelCreator]
)

func (g groups) CreateGroup(
	ctx context.Context, in *channel.Channel, group livechat.NewGroup,
) (livechat.CreatedGroup, error) {
	return ask(ctx, g.call, "createGroup", in, func(ctx context.Context) (livechat.CreatedGroup, error) {
		return g.inner.CreateGroup(ctx, in, group)
	})
}

func (i invitations) RenewInviteLink(ctx context.Context, in *channel.Channel, groupExternalID string) (string, error) {
	return ask(ctx, i.call, "renewInviteLink", in, func(ctx context.Context) (string, error) {
		return i.inner.RenewInviteLink(ctx, in, groupExternalID)
	})
}

func (i invitations) DisableInviteLink(ctx context.Context, in *channel.Channel, groupExternalID string) error {
	return i.call(ctx, "disableInviteLink", in, func(ctx context.Context) error {
		return i.inner.DisableInviteLink(ctx, in, groupExternalID)
	})
}

func (g groupNames) GroupName(ctx context.Context, in *channel.Channel, groupExternalID string) (string, error) {
	return ask(ctx, g.call, "groupName", in, func(ctx context.Context) (string, error) {
		return g.inner.GroupName(ctx, in, groupExternalID)
	})
}

func (i icons) SetGroupIcon(
	ctx context.Context, in *channel.Channel, groupExternalID string, icon livechat.Picture,
) error {
	return i.call(ctx, "setGroupIcon", in, func(ctx context.Context) error {
		return i.inner.SetGroupIcon(ctx, in, groupExternalID, icon)
	})
}

func (t ticketUpdates) ShowTaken(ctx context.Context, in *channel.Channel, ticket livechat.Ticket, text string) error {
	return t.call(ctx, "showTaken", in, func(ctx context.Context) error {
		return t.inner.ShowTaken(ctx, in, ticket, text)
	})
}

func (r recalls) RecallTicket(ctx context.Context, in *channel.Channel, ticket livechat.Ticket) error {
	return r.call(ctx, "recallTicket", in, func(ctx context.Context) error {
		return r.inner.RecallTicket(ctx, in, ticket)
	})
}

func (c channels) CreateChannel(
	ctx context.Context, in *channel.Channel, groupID, displayName string,
) (document.Object, error) {
	return ask(ctx, c.call, "createChannel", in, func(ctx context.Context) (document.Object, error) {
		return c.inner.CreateChannel(ctx, in, groupID, displayName)
	})
}
