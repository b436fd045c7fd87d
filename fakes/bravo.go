package fakes

import (
	"context"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// The forms of Bravo's ids. Those of users are the code of a country and a telephone number.
const (
	bravoUser    = "1555%07d"
	bravoMessage = "wamid.%06d"
	bravoGroup   = "1555%07d-group"
)

// bravo is the connector to Bravo, where agents join groups by links.
type bravo struct{ plain }

var (
	_ livechat.GroupCreator    = bravo{}
	_ livechat.InviteLinker    = bravo{}
	_ livechat.GroupNamer      = bravo{}
	_ livechat.GroupIconSetter = bravo{}
)

// Send implements send.Connector.
func (b bravo) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	return b.deliver(ctx, message, b)
}

func (b bravo) messageID(Sent) string { return b.platform.ids.formed(bravoMessage) }

func (b bravo) userID(string) string { return b.platform.ids.formed(bravoUser) }

// reply names who gets the message, and the message.
func (bravo) reply(sent Sent) document.Object {
	return document.O(
		"contacts", document.A(document.O("input", sent.To, "wa_id", sent.To)),
		"messages", document.A(document.O("id", sent.MessageID)),
	)
}

// CreateGroup implements livechat.GroupCreator.
func (b bravo) CreateGroup(ctx context.Context, in *channel.Channel, group livechat.NewGroup) (livechat.CreatedGroup, error) {
	return b.createGroup(ctx, in, group, bravoGroup)
}

// RenewInviteLink implements livechat.InviteLinker.
func (b bravo) RenewInviteLink(ctx context.Context, in *channel.Channel, groupExternalID string) (string, error) {
	return b.renewLink(ctx, in, groupExternalID)
}

// DisableInviteLink implements livechat.InviteLinker.
func (b bravo) DisableInviteLink(ctx context.Context, in *channel.Channel, groupExternalID string) error {
	return b.disableLink(ctx, in, groupExternalID)
}

// GroupName implements livechat.GroupNamer.
func (b bravo) GroupName(ctx context.Context, in *channel.Channel, groupExternalID string) (string, error) {
	return b.groupName(ctx, in, groupExternalID)
}

// SetGroupIcon implements livechat.GroupIconSetter.
func (b bravo) SetGroupIcon(ctx context.Context, in *channel.Channel, groupExternalID string, icon livechat.Picture) error {
	return b.setIcon(ctx, in, groupExternalID, icon)
}
