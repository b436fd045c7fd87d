package chatplatform

import (
	"context"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

var (
	_ send.Connector            = (*Connector)(nil)
	_ send.BatchSender          = (*Connector)(nil)
	_ send.Broadcaster          = (*Connector)(nil)
	_ send.AttachmentUploader   = (*Connector)(nil)
	_ send.ThreadPasser         = (*Connector)(nil)
	_ send.Labeler              = (*Connector)(nil)
	_ send.Tagger               = (*Connector)(nil)
	_ send.ConversationArchiver = (*Connector)(nil)
	_ send.MessageUpdater       = (*Connector)(nil)
	_ livechat.GroupCreator     = (*Connector)(nil)
	_ livechat.InviteLinker     = (*Connector)(nil)
	_ livechat.GroupNamer       = (*Connector)(nil)
	_ livechat.GroupIconSetter  = (*Connector)(nil)
	_ livechat.TicketUpdater    = (*Connector)(nil)
	_ livechat.TicketRecaller   = (*Connector)(nil)
	_ livechat.ChannelCreator   = (*Connector)(nil)
)

// SendBatch implements send.BatchSender.
func (c *Connector) SendBatch(ctx context.Context, messages []send.Message) (send.Batch, error) {
	batch := send.Batch{ID: "batch-" + messages[0].ID, Status: "OK"}
	for _, message := range messages {
		delivery, err := c.Send(ctx, message)
		batch.Outcomes = append(batch.Outcomes, send.Outcome{Delivery: delivery, Err: err})
		if ctx.Err() != nil {
			return send.Batch{}, ctx.Err()
		}
	}
	return batch, nil
}

// CreateBroadcast implements send.Broadcaster.
func (c *Connector) CreateBroadcast(ctx context.Context, in *channel.Channel, response send.Response) ([]send.StoredMessage, error) {
	reply, err := c.Call(ctx, in, "store", document.O("response", response.Object()))
	if err != nil {
		return nil, err
	}
	return []send.StoredMessage{{Response: reply, AccessToken: channel.NewSecret(TokenOf(in))}}, nil
}

// SendBroadcast implements send.Broadcaster.
func (c *Connector) SendBroadcast(ctx context.Context, in *channel.Channel, broadcast send.Broadcast) (int64, error) {
	reply, err := c.Call(ctx, in, "broadcast", document.O("stored", broadcast.MessageID, "label", broadcast.LabelID))
	return document.Get(reply, "number", int64(0)), err
}

// UploadAttachment implements send.AttachmentUploader.
func (c *Connector) UploadAttachment(ctx context.Context, in *channel.Channel, kind send.Type, url string) (string, error) {
	reply, err := c.Call(ctx, in, "upload", document.O("kind", string(kind), "url", url))
	return document.Get(reply, "id", ""), err
}

// PassThreadControl implements send.ThreadPasser.
func (c *Connector) PassThreadControl(ctx context.Context, in *channel.Channel, to string, handover send.ThreadHandover) error {
	_, err := c.Call(ctx, in, "pass", document.O("to", to, "app", handover.TargetAppID, "metadata", handover.Metadata))
	return err
}

// SaveLabel implements send.Labeler.
func (c *Connector) SaveLabel(ctx context.Context, in *channel.Channel, to, labelID string) (int64, error) {
	reply, err := c.Call(ctx, in, "label", document.O("to", to, "label", labelID))
	return document.Get(reply, "number", int64(0)), err
}

// RemoveLabel implements send.Labeler.
func (c *Connector) RemoveLabel(ctx context.Context, in *channel.Channel, to, labelID string) error {
	_, err := c.Call(ctx, in, "unlabel", document.O("to", to, "label", labelID))
	return err
}

// SaveTag implements send.Tagger.
func (c *Connector) SaveTag(ctx context.Context, in *channel.Channel, to string, tagID int64) (send.TagReply, error) {
	reply, err := c.Call(ctx, in, "tag", document.O("to", to, "tag", tagID))
	return send.TagReply{Code: document.Get(reply, "code", int64(0)), Message: document.Get(reply, "message", "")}, err
}

// ArchiveConversation implements send.ConversationArchiver.
func (c *Connector) ArchiveConversation(ctx context.Context, in *channel.Channel, conversationID string) error {
	_, err := c.Call(ctx, in, "archive", document.O("group", conversationID))
	return err
}

// UpdateMessage implements send.MessageUpdater.
func (c *Connector) UpdateMessage(ctx context.Context, in *channel.Channel, update send.MessageUpdate) (document.Object, error) {
	return c.Call(ctx, in, "update", document.O("id", update.MessageID, "text", update.Text))
}

// CreateGroup implements livechat.GroupCreator.
func (c *Connector) CreateGroup(ctx context.Context, in *channel.Channel, group livechat.NewGroup) (livechat.CreatedGroup, error) {
	reply, err := c.Call(ctx, in, "group", document.O("key", group.Key, "name", group.Name))
	return livechat.CreatedGroup{ExternalID: document.Get(reply, "id", ""), InvitationLink: document.Get(reply, "link", "")}, err
}

// RenewInviteLink implements livechat.InviteLinker.
func (c *Connector) RenewInviteLink(ctx context.Context, in *channel.Channel, groupExternalID string) (string, error) {
	reply, err := c.Call(ctx, in, "link", document.O("group", groupExternalID))
	return document.Get(reply, "link", ""), err
}

// DisableInviteLink implements livechat.InviteLinker.
func (c *Connector) DisableInviteLink(ctx context.Context, in *channel.Channel, groupExternalID string) error {
	_, err := c.Call(ctx, in, "unlink", document.O("group", groupExternalID))
	return err
}

// GroupName implements livechat.GroupNamer.
func (c *Connector) GroupName(ctx context.Context, in *channel.Channel, groupExternalID string) (string, error) {
	reply, err := c.Call(ctx, in, "name", document.O("group", groupExternalID))
	return document.Get(reply, "name", ""), err
}

// SetGroupIcon implements livechat.GroupIconSetter.
func (c *Connector) SetGroupIcon(ctx context.Context, in *channel.Channel, groupExternalID string, icon livechat.Picture) error {
	_, err := c.Call(ctx, in, "icon", document.O("group", groupExternalID, "type", icon.ContentType))
	return err
}

// ShowTaken implements livechat.TicketUpdater.
func (c *Connector) ShowTaken(ctx context.Context, in *channel.Channel, ticket livechat.Ticket, text string) error {
	_, err := c.Call(ctx, in, "update", document.O("id", ticket.MessageID, "text", text))
	return err
}

// RecallTicket implements livechat.TicketRecaller.
func (c *Connector) RecallTicket(ctx context.Context, in *channel.Channel, ticket livechat.Ticket) error {
	_, err := c.Call(ctx, in, "recall", document.O("id", ticket.MessageID))
	return err
}

// CreateChannel implements livechat.ChannelCreator.
func (c *Connector) CreateChannel(ctx context.Context, in *channel.Channel, groupID, displayName string) (document.Object, error) {
	return c.Call(ctx, in, "channel", document.O("group", groupID, "name", displayName))
}
