package hotel

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/calls"
	"github.com/botctx/go-sdk/internal/pieces"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// maxChannelName is the longest name of a channel, in code points.
const maxChannelName = 50

// CreateChannel implements livechat.ChannelCreator. groupID is the id of a team in the organisation's
// directory. The reply is the platform's description of the channel; its id is a conversation to which messages
// can be sent.
//
// The platform has no idempotency keys, so the key of the call (send.KeyOf) becomes the channel's description.
// If an earlier call with the same key created the channel, CreateChannel returns it. For that, the application
// needs the permission ChannelSettings.Read.Group for the team.
//
// AlreadyExists: the team already has a channel of that name. FailedPrecondition: the application lacks the
// permission Channel.Create.Group for the team. NotFound: there is no such team. InvalidArgument: the name has
// more than 50 characters, or the platform does not accept it.
func (c *Connector) CreateChannel(ctx context.Context, in *channel.Channel, groupID, displayName string) (document.Object, error) {
	of, err := c.botOf(in)
	if err != nil {
		return document.Object{}, err
	}
	if length := utf8.RuneCountInString(displayName); length == 0 || length > maxChannelName {
		return document.Object{}, boterr.Invalid("displayName", "is %d characters long; give a name of 1 to %d", length, maxChannelName)
	}
	body, key := document.O("displayName", displayName, "membershipType", "standard"), send.KeyOf(ctx)
	if key != "" {
		body = body.With(fieldDescription, markOf(key))
	}
	reply, err := c.call(ctx, of, request{method: http.MethodPost, part: scopeGraph, path: []string{"teams", groupID, "channels"}, body: body})
	switch {
	case boterr.CodeOf(err) == boterr.AlreadyExists && key != "":
		made, errFind := c.createdWith(ctx, of, groupID, displayName, key)
		if !made.IsZero() || errFind != nil && boterr.CodeOf(errFind) != boterr.FailedPrecondition {
			return made, errFind
		}
	case err == nil && document.Get(reply, "id", "") == "":
		err = calls.ErrUnreadable
	}
	return reply, err
}

const fieldDescription = "description"

// markOf returns the description of a channel that a call with this key creates.
func markOf(key string) string { return "ref: " + key }

// createdWith returns the channel of this name that a call with this key created, or the zero Object if there is none.
// FailedPrecondition: the application may not list the team's channels.
func (c *Connector) createdWith(ctx context.Context, of bot, groupID, displayName, key string) (document.Object, error) {
	listed, err := c.call(ctx, of, request{
		method: http.MethodGet, part: scopeGraph, path: []string{"teams", groupID, "channels"},
		query: url.Values{"$filter": {"displayName eq '" + strings.ReplaceAll(displayName, "'", "''") + "'"}},
	})
	for _, found := range pieces.Objects(listed, "value") {
		if document.Get(found, fieldDescription, "") == markOf(key) {
			return found, nil
		}
	}
	return document.Object{}, err
}

// GroupName implements livechat.GroupNamer. groupExternalID is the id of a team's general channel. The platform
// does not give bots the names of group chats.
func (c *Connector) GroupName(ctx context.Context, in *channel.Channel, groupExternalID string) (string, error) {
	of, err := c.botOf(in)
	if err != nil {
		return "", err
	}
	reply, err := c.call(ctx, of, request{
		method: http.MethodGet, part: scopeService, path: []string{pathVersion, "teams", withoutThread(groupExternalID)},
	})
	if err == nil && document.Get(reply, "id", "") == "" {
		err = calls.ErrUnreadable
	}
	return document.Get(reply, "name", ""), err
}

func withoutThread(conversation string) string {
	conversation, _, _ = strings.Cut(conversation, ";")
	return conversation
}

// Profile returns the platform's information about a user: FirstName, LastName, Email and, as Profile, the
// platform's own object. NotFound: the platform does not know the user.
func (c *Connector) Profile(ctx context.Context, in *channel.Channel, externalID string) (member.Member, error) {
	of, err := c.botOf(in)
	if err != nil {
		return member.Member{}, err
	}
	at := recipient{of.key, externalID, ""}
	conversation := c.conversations.Get(at)
	if conversation == "" {
		if conversation, err = c.begin(ctx, of, at); err != nil {
			return member.Member{}, err
		}
	}
	reply, err := c.call(ctx, of, request{
		method: http.MethodGet, part: scopeService, path: []string{pathVersion, pathConversations, conversation, "members", externalID},
	})
	if err == nil && document.Get(reply, "id", "") == "" {
		err = calls.ErrUnreadable
	}
	if err != nil {
		return member.Member{}, err
	}
	return profileOf(reply), nil
}

// Limits of the list of a group's members.
const (
	membersPerPage = "200"
	maxMemberPages = 125
)

// Members returns the users in a group chat or a team, with the same fields as Profile. groupExternalID may be
// any conversation of the team. ResourceExhausted: the group has more than 25,000 members.
func (c *Connector) Members(ctx context.Context, in *channel.Channel, groupExternalID string) ([]member.Member, error) {
	of, err := c.botOf(in)
	if err != nil {
		return nil, err
	}
	var all []member.Member
	query := url.Values{"pageSize": {membersPerPage}}
	for range maxMemberPages {
		reply, err := c.call(ctx, of, request{
			method: http.MethodGet, part: scopeService, query: query,
			path: []string{pathVersion, pathConversations, withoutThread(groupExternalID), "pagedmembers"},
		})
		if err != nil {
			return nil, err
		}
		page, isList := document.Get(reply, "members", any(nil)).(document.Array)
		if !isList {
			return nil, calls.ErrUnreadable
		}
		for _, listed := range page.All() {
			if user, isObject := listed.(document.Object); isObject && !isBot(user) {
				all = append(all, profileOf(user))
			}
		}
		next := document.Get(reply, "continuationToken", "")
		if next == "" {
			return all, nil
		}
		query.Set("continuationToken", next)
	}
	return nil, boterr.New(boterr.ResourceExhausted, "", "the group has too many members to list: look up single members with Profile")
}

// profileOf converts a user of the platform to a member.
func profileOf(account document.Object) member.Member {
	found := member.Member{
		ExternalID: document.Get(account, "id", ""), FirstName: document.Get(account, "givenName", ""),
		LastName: document.Get(account, "surname", ""), Email: document.Get(account, "email", ""), Profile: account,
	}
	if found.FirstName == "" && found.LastName == "" {
		found.FirstName = document.Get(account, "name", "")
	}
	return found
}

func isBot(account document.Object) bool {
	return document.Get(account, "role", "") == "bot" || strings.HasPrefix(document.Get(account, "id", ""), botPrefix)
}
