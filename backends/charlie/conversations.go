package charlie

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"strings"
	"unicode"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/pieces"
	"github.com/botctx/go-sdk/livechat"
)

// ArchiveConversation implements send.ConversationArchiver.
func (c *Connector) ArchiveConversation(ctx context.Context, in *channel.Channel, conversationID string) error {
	_, err := c.call(ctx, in, "conversations.archive", url.Values{fieldChannel: {conversationID}})
	if isRefusedWith(err, "already_archived") {
		return nil
	}
	return err
}

// CreateGroup implements livechat.GroupCreator. It creates a private conversation and invites the agent. The
// conversation's name is the group's name, reduced to the letters that the tool allows, and a suffix derived
// from the key. A repeated call finds the conversation by that name, and groups with the same name get different
// conversations. The tool has no invite links.
//
// NotFound: the tool does not know the agent. FailedPrecondition: the group already exists and is archived.
func (c *Connector) CreateGroup(
	ctx context.Context, in *channel.Channel, group livechat.NewGroup,
) (livechat.CreatedGroup, error) {
	name := conversationName(group.Name, group.Key)
	id, err := c.create(ctx, in, name)
	if isRefusedWith(err, "name_taken") && group.Key != "" {
		id, err = c.find(ctx, in, name)
	}
	if err != nil {
		return livechat.CreatedGroup{}, err
	}
	if err := c.invite(ctx, in, id, group.AdminExternalID); err != nil {
		return livechat.CreatedGroup{}, err
	}
	return livechat.CreatedGroup{ExternalID: id}, nil
}

// create creates a private conversation and returns its id.
func (c *Connector) create(ctx context.Context, in *channel.Channel, name string) (string, error) {
	reply, err := c.call(ctx, in, "conversations.create", url.Values{"name": {name}, "is_private": {"true"}})
	id := document.Get(reply, "channel.id", "")
	if err == nil && id == "" {
		err = errors.New("the workspace chat tool returned no id for the new conversation")
	}
	return id, err
}

// invite adds a user to a conversation. It does nothing if the user is "" or already a participant.
func (c *Connector) invite(ctx context.Context, in *channel.Channel, conversationID, user string) error {
	if user == "" {
		return nil
	}
	_, err := c.call(ctx, in, "conversations.invite", url.Values{fieldChannel: {conversationID}, "users": {user}})
	if isRefusedWith(err, "already_in_channel", "cant_invite_self") {
		return nil
	}
	return err
}

// Limits of the search for a conversation by name. The tool only lists the bot's conversations, which include
// all that it created.
const (
	pageSize = "200"
	maxPages = 100
)

// find returns the id of the bot's private conversation with this name.
func (c *Connector) find(ctx context.Context, in *channel.Channel, name string) (string, error) {
	search := url.Values{"types": {"private_channel"}, "limit": {pageSize}}
	for range maxPages {
		reply, err := c.call(ctx, in, "users.conversations", search)
		if err != nil {
			return "", err
		}
		for _, found := range pieces.Objects(reply, "channels") {
			if document.Get(found, "name", "") != name {
				continue
			}
			if document.Get(found, "is_archived", false) {
				return "", boterr.New(boterr.FailedPrecondition, "", "the conversation %s of this group is archived", name)
			}
			return document.Get(found, "id", ""), nil
		}
		cursor := document.Get(reply, "response_metadata.next_cursor", "")
		if cursor == "" {
			break
		}
		search.Set("cursor", cursor)
	}
	return "", boterr.New(boterr.AlreadyExists, "",
		"the workspace has a conversation %s that the bot is not in: rename it, or invite the bot", name)
}

// maxNameLength is the longest name of a conversation, in code points.
const maxNameLength = 80

// conversationName reduces a name to the letters that the tool allows: lower case letters, digits, and hyphens
// in place of everything else. It adds a suffix derived from the key.
func conversationName(name, key string) string {
	var allowed strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_':
			allowed.WriteRune(r)
		case !strings.HasSuffix(allowed.String(), "-"):
			allowed.WriteByte('-')
		}
	}
	ending := ""
	if key != "" {
		sum := sha256.Sum256([]byte(key))
		ending = "-" + hex.EncodeToString(sum[:6])
	}
	begin := strings.Trim(allowed.String(), "-_")
	if begin == "" {
		begin = "conversation"
	}
	if letters, most := []rune(begin), maxNameLength-len(ending); len(letters) > most {
		begin = strings.TrimRight(string(letters[:most]), "-_")
	}
	return begin + ending
}
