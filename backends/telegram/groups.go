package telegram

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/calls"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// CreateGroup implements livechat.GroupCreator. Bots cannot create groups, so it creates a topic in the agents'
// group, whose id is agentsChat in the channel's metadata. The id of the new group is "group/topic", and its
// link is the link of the agents' group.
//
// Without agentsChat, the group is the agent's private chat with the bot, and an agent can have one live chat
// at a time. The agent must have written to the bot before. Telegram has no idempotency keys: if its answer is
// lost, an unused topic may remain. Names of topics are cut to 128 characters.
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

// RenewInviteLink implements livechat.InviteLinker. It replaces the primary link of a group. Links that people
// have created in Telegram stay valid.
func (c *Connector) RenewInviteLink(ctx context.Context, in *channel.Channel, groupExternalID string) (string, error) {
	result, err := c.call(ctx, in, "exportChatInviteLink", document.O("chat_id", addressOf(groupExternalID).chatID()))
	link, _ := result.(string)
	if err == nil && link == "" {
		err = errors.New("telegram did not return the new link")
	}
	return link, err
}

// DisableInviteLink implements livechat.InviteLinker. A group always has a primary link, so DisableInviteLink
// replaces it and discards the new one.
func (c *Connector) DisableInviteLink(ctx context.Context, in *channel.Channel, groupExternalID string) error {
	_, err := c.RenewInviteLink(ctx, in, groupExternalID)
	return err
}

// SetGroupIcon implements livechat.GroupIconSetter. For a topic it sets the icon of the topic's group.
func (c *Connector) SetGroupIcon(ctx context.Context, in *channel.Channel, groupExternalID string, icon livechat.Picture) error {
	chat := map[string]string{"chat_id": addressOf(groupExternalID).chat}
	body, bodyType := calls.Form(chat, "photo", "icon", icon.ContentType, icon.Bytes)
	_, err := c.post(ctx, in, "setChatPhoto", calls.Request{Body: body, BodyType: bodyType})
	return err
}
