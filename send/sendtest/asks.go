package sendtest

import (
	"context"
	"slices"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// ask is something that a platform is asked for, by a method of a port.
type ask struct {
	name string
	// isOffered reports whether the connector has the port.
	isOffered func(h *Harness) bool
	// do asks in a channel. The platform may have nothing of what it is asked about.
	do func(t *trial, ctx context.Context, in *channel.Channel) error
}

// asks returns what the connector of a harness can ask for: first of all, to send.
func asks(h *Harness) []ask {
	return slices.DeleteFunc(slices.Clone(allAsks), func(a ask) bool { return !a.isOffered(h) })
}

// portAsk is an ask by a method of a further port.
func portAsk[Port any](name string, do func(t *trial, ctx context.Context, in *channel.Channel, p Port) error) ask {
	return ask{name: name, isOffered: offers[Port], do: func(t *trial, ctx context.Context, in *channel.Channel) error {
		return do(t, ctx, in, port[Port](t))
	}}
}

// allAsks has a row for each method of a port.
var allAsks = []ask{
	{"Send", func(*Harness) bool { return true }, func(t *trial, ctx context.Context, in *channel.Channel) error {
		_, err := t.Connector.Send(ctx, t.messageIn(in))
		return err
	}},
	portAsk("SendBatch", func(t *trial, ctx context.Context, in *channel.Channel, p send.BatchSender) error {
		batch, err := p.SendBatch(ctx, []send.Message{t.messageIn(in)})
		if err == nil && len(batch.Outcomes) > 0 {
			err = batch.Outcomes[0].Err
		}
		return err
	}),
	portAsk("CreateBroadcast", func(_ *trial, ctx context.Context, in *channel.Channel, p send.Broadcaster) error {
		_, err := p.CreateBroadcast(ctx, in, send.Text("Hello"))
		return err
	}),
	portAsk("SendBroadcast", func(_ *trial, ctx context.Context, in *channel.Channel, p send.Broadcaster) error {
		_, err := p.SendBroadcast(ctx, in, send.Broadcast{MessageID: "3000000001", LabelID: labelID, NotificationType: "REGULAR"})
		return err
	}),
	portAsk("UploadAttachment", func(_ *trial, ctx context.Context, in *channel.Channel, p send.AttachmentUploader) error {
		_, err := p.UploadAttachment(ctx, in, send.TypeImage, "https://files.example.com/a.png")
		return err
	}),
	portAsk("PassThreadControl", func(t *trial, ctx context.Context, in *channel.Channel, p send.ThreadPasser) error {
		return p.PassThreadControl(ctx, in, t.Members[0].ExternalID, send.ThreadHandover{})
	}),
	portAsk("SaveLabel", func(t *trial, ctx context.Context, in *channel.Channel, p send.Labeler) error {
		_, err := p.SaveLabel(ctx, in, t.Members[0].ExternalID, labelID)
		return err
	}),
	portAsk("RemoveLabel", func(t *trial, ctx context.Context, in *channel.Channel, p send.Labeler) error {
		return p.RemoveLabel(ctx, in, t.Members[0].ExternalID, labelID)
	}),
	portAsk("SaveTag", func(t *trial, ctx context.Context, in *channel.Channel, p send.Tagger) error {
		_, err := p.SaveTag(ctx, in, t.Members[0].ExternalID, 7)
		return err
	}),
	portAsk("ArchiveConversation", func(t *trial, ctx context.Context, in *channel.Channel, p send.ConversationArchiver) error {
		return p.ArchiveConversation(ctx, in, t.Group)
	}),
	portAsk("UpdateMessage", func(t *trial, ctx context.Context, in *channel.Channel, p send.MessageUpdater) error {
		_, err := p.UpdateMessage(ctx, in, send.MessageUpdate{
			ConversationID: t.Members[0].ExternalID, MessageID: "1700000000.000100", Text: "Hello", Attachments: []document.Object{},
		})
		return err
	}),
	portAsk("CreateGroup", func(_ *trial, ctx context.Context, in *channel.Channel, p livechat.GroupCreator) error {
		_, err := p.CreateGroup(ctx, in, livechat.NewGroup{Key: "key-1"})
		return err
	}),
	portAsk("RenewInviteLink", func(t *trial, ctx context.Context, in *channel.Channel, p livechat.InviteLinker) error {
		_, err := p.RenewInviteLink(ctx, in, t.Group)
		return err
	}),
	portAsk("DisableInviteLink", func(t *trial, ctx context.Context, in *channel.Channel, p livechat.InviteLinker) error {
		return p.DisableInviteLink(ctx, in, t.Group)
	}),
	portAsk("GroupName", func(t *trial, ctx context.Context, in *channel.Channel, p livechat.GroupNamer) error {
		_, err := p.GroupName(ctx, in, t.Group)
		return err
	}),
	portAsk("SetGroupIcon", func(t *trial, ctx context.Context, in *channel.Channel, p livechat.GroupIconSetter) error {
		return p.SetGroupIcon(ctx, in, t.Group, picture())
	}),
	portAsk("ShowTaken", func(t *trial, ctx context.Context, in *channel.Channel, p livechat.TicketUpdater) error {
		return p.ShowTaken(ctx, in, t.ticket("1700000000.000100", t.Group), "Taken")
	}),
	portAsk("RecallTicket", func(t *trial, ctx context.Context, in *channel.Channel, p livechat.TicketRecaller) error {
		return p.RecallTicket(ctx, in, t.ticket("1700000000.000100", t.Group))
	}),
	portAsk("CreateChannel", func(t *trial, ctx context.Context, in *channel.Channel, p livechat.ChannelCreator) error {
		_, err := p.CreateChannel(ctx, in, t.Group, "Orders")
		return err
	}),
}

// messageIn returns a new message in a channel.
func (t *trial) messageIn(in *channel.Channel) send.Message {
	message := t.message(send.Text("Hello"))
	message.Channel = in
	return message
}
