package fakes

import (
	"context"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// Platforms differ in what they can do beside sending. The connector to each offers the
// ports of package livechat that its platform has, and no other.

// bravo is the connector to Bravo, where agents join groups by links.
type bravo struct{ *outbox }

// workplace is the connector to Charlie and to Delta, where tickets can be changed.
type workplace struct{ *outbox }

// hotel is the connector to Hotel.
type hotel struct{ *outbox }

var (
	_ livechat.GroupCreator    = bravo{}
	_ livechat.InviteLinker    = bravo{}
	_ livechat.GroupIconSetter = bravo{}
	_ livechat.GroupCreator    = workplace{}
	_ livechat.TicketUpdater   = workplace{}
	_ livechat.TicketRecaller  = workplace{}
	_ livechat.ChannelCreator  = hotel{}
)

// connectors returns the connectors to all types of channels.
func (o *outbox) connectors() map[channel.Type]send.Connector {
	return map[channel.Type]send.Connector{
		channel.Alpha:   o,
		channel.Bravo:   bravo{o},
		channel.Charlie: workplace{o},
		channel.Delta:   workplace{o},
		channel.Echo:    o,
		channel.Foxtrot: o,
		channel.Hotel:   hotel{o},
		channel.Custom:  o,
		channel.Webchat: o,
	}
}

// CreateGroup implements livechat.GroupCreator.
func (b bravo) CreateGroup(ctx context.Context, in *channel.Channel, group livechat.NewGroup) (livechat.CreatedGroup, error) {
	return b.createGroup(ctx, in, group)
}

// RenewInviteLink implements livechat.InviteLinker.
func (b bravo) RenewInviteLink(ctx context.Context, in *channel.Channel, groupExternalID string) (string, error) {
	return b.renewLink(ctx, in, groupExternalID)
}

// DisableInviteLink implements livechat.InviteLinker.
func (b bravo) DisableInviteLink(ctx context.Context, in *channel.Channel, groupExternalID string) error {
	return b.disableLink(ctx, in, groupExternalID)
}

// SetGroupIcon implements livechat.GroupIconSetter.
func (b bravo) SetGroupIcon(ctx context.Context, in *channel.Channel, groupExternalID string, icon livechat.Picture) error {
	return b.setIcon(ctx, in, groupExternalID, icon)
}

// CreateGroup implements livechat.GroupCreator.
func (w workplace) CreateGroup(ctx context.Context, in *channel.Channel, group livechat.NewGroup) (livechat.CreatedGroup, error) {
	return w.createGroup(ctx, in, group)
}

// ShowTaken implements livechat.TicketUpdater.
func (w workplace) ShowTaken(ctx context.Context, in *channel.Channel, ticket livechat.Ticket, text string) error {
	return w.showTaken(ctx, in, ticket.MessageID, text)
}

// RecallTicket implements livechat.TicketRecaller.
func (w workplace) RecallTicket(ctx context.Context, in *channel.Channel, ticket livechat.Ticket) error {
	return w.recall(ctx, in, ticket.MessageID)
}

// CreateChannel implements livechat.ChannelCreator.
func (h hotel) CreateChannel(ctx context.Context, in *channel.Channel, groupID, displayName string) (document.Object, error) {
	return h.createChannel(ctx, in, groupID, displayName)
}
