package fakes

import (
	"context"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// hotelMessage is the form of Hotel's ids of messages.
const hotelMessage = "post-%06d"

// hotel is the connector to Hotel, where channels can be made.
type hotel struct{ plain }

var _ livechat.ChannelCreator = hotel{}

// Send implements send.Connector.
func (h hotel) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	return h.deliver(ctx, message, h)
}

func (h hotel) messageID(Sent) string { return h.platform.ids.formed(hotelMessage) }

// CreateChannel implements livechat.ChannelCreator.
func (h hotel) CreateChannel(ctx context.Context, in *channel.Channel, groupID, displayName string) (document.Object, error) {
	return h.createChannel(ctx, in, groupID, displayName)
}
