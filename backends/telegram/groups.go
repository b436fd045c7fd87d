package telegram

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"mime/multipart"
	"net/textproto"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// CreateGroup implements livechat.GroupCreator. It creates a topic in the group of agents that the channel's
// metadata names as agentsChat, since bots cannot create groups. Its id is "group/topic", and its link is the
// group's.
//
// Without agentsChat, the conversation is the agent's own with the bot, in which an agent has one live chat
// at a time. The agent must have written to the bot before. Telegram has no idempotency keys: if a process
// dies during the call, a topic may stay unused. A topic's name has at most 128 characters; the rest is cut
// off.
func (c *Connector) CreateGroup(
	ctx context.Context, in *channel.Channel, group livechat.NewGroup,
) (livechat.CreatedGroup, error) {
	if err := send.RequireChannel(in); err != nil {
		return livechat.CreatedGroup{}, err
	}
	chat := addressOf(cmp.Or(document.Get(in.Metadata, "agentsChat", ""), idText(in.Metadata, "agentsChat")))
	if chat.chat == "" && group.AdminExternalID != "" {
		return livechat.CreatedGroup{ExternalID: group.AdminExternalID}, nil
	}
	if chat.chat == "" {
		return livechat.CreatedGroup{}, boterr.New(boterr.FailedPrecondition, "",
			"the channel %s has no group for agents: set agentsChat in its metadata to the id of a group with topics", in.ID)
	}
	name := []rune(cmp.Or(strings.TrimSpace(group.Name), "Conversation"))
	result, err := c.call(ctx, in, "createForumTopic",
		document.O("chat_id", chat.chatID(), "name", string(name[:min(len(name), 128)])))
	if err != nil {
		return livechat.CreatedGroup{}, err
	}
	topic, _ := result.(document.Object)
	created := livechat.CreatedGroup{ExternalID: address{chat.chat, idText(topic, "message_thread_id")}.String()}
	if created.ExternalID == chat.chat {
		return livechat.CreatedGroup{}, errors.New("telegram did not return the new topic")
	}
	if group.NeedsInvitationLink {
		created.InvitationLink, err = c.RenewInviteLink(ctx, in, chat.chat)
	}
	return created, err
}

// RenewInviteLink implements livechat.InviteLinker for the primary link of a group. Links that people have
// created in Telegram stay valid.
func (c *Connector) RenewInviteLink(ctx context.Context, in *channel.Channel, groupExternalID string) (string, error) {
	result, err := c.call(ctx, in, "exportChatInviteLink", document.O("chat_id", addressOf(groupExternalID).chatID()))
	link, _ := result.(string)
	if err == nil && link == "" {
		err = errors.New("telegram did not return the new link")
	}
	return link, err
}

// DisableInviteLink implements livechat.InviteLinker. Telegram always has a primary link; the new one is
// discarded.
func (c *Connector) DisableInviteLink(ctx context.Context, in *channel.Channel, groupExternalID string) error {
	_, err := c.RenewInviteLink(ctx, in, groupExternalID)
	return err
}

// SetGroupIcon implements livechat.GroupIconSetter. A topic has its group's icon.
func (c *Connector) SetGroupIcon(ctx context.Context, in *channel.Channel, groupExternalID string, icon livechat.Picture) error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	errChat := form.WriteField("chat_id", addressOf(groupExternalID).chat)
	file, err := form.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="photo"; filename="icon"`}, "Content-Type": {icon.ContentType},
	})
	if err == nil {
		_, err = file.Write(icon.Bytes)
	}
	if err := errors.Join(errChat, err, form.Close()); err != nil {
		return err
	}
	_, err = c.post(ctx, in, "setChatPhoto", form.FormDataContentType(), body.Bytes())
	return err
}
