package fakes

import (
	"context"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// The forms of Bravo's ids. A user id is a country code and a telephone number.
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

func (b bravo) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	return b.deliver(ctx, message, b)
}

func (b bravo) messageID(Sent) string { return b.platform.ids.formed(bravoMessage) }

func (b bravo) userID(string) string { return b.platform.ids.formed(bravoUser) }

// reply returns the message's recipient and id.
func (bravo) reply(sent Sent) document.Object {
	return document.O(
		"contacts", document.A(document.O("input", sent.To, "wa_id", sent.To)),
		"messages", document.A(document.O("id", sent.MessageID)),
	)
}

func (b bravo) CreateGroup(ctx context.Context, in *channel.Channel, group livechat.NewGroup) (livechat.CreatedGroup, error) {
	return b.createGroup(ctx, in, group, bravoGroup)
}

func (b bravo) RenewInviteLink(ctx context.Context, in *channel.Channel, groupExternalID string) (string, error) {
	return b.renewLink(ctx, in, groupExternalID)
}

func (b bravo) DisableInviteLink(ctx context.Context, in *channel.Channel, groupExternalID string) error {
	return b.disableLink(ctx, in, groupExternalID)
}

func (b bravo) GroupName(ctx context.Context, in *channel.Channel, groupExternalID string) (string, error) {
	return b.groupName(ctx, in, groupExternalID)
}

func (b bravo) SetGroupIcon(ctx context.Context, in *channel.Channel, groupExternalID string, icon livechat.Picture) error {
	return b.setIcon(ctx, in, groupExternalID, icon)
}

// Group is a group conversation on a platform.
type Group struct {
	// Channel is the id of the channel. ExternalID is the platform's id of the group.
	Channel    string
	ExternalID string
	// Name is the group's name, or "" if it has none.
	Name string
	// Members are the platform ids of the group's agents and members, in the order in which they joined.
	Members []string
	// InvitationLink is the address by which agents join, or "" if no link works.
	InvitationLink string
	// Icon is the group's picture, or zero if it has none.
	Icon livechat.Picture
}

func (g Group) clone() Group {
	g.Members = slices.Clone(g.Members)
	g.Icon.Bytes = slices.Clone(g.Icon.Bytes)
	return g
}

// CreatedChannel is a channel created on the platform of one of the app's channels.
type CreatedChannel struct {
	// Channel is the id of the app's channel. ID is the platform's id of the new one.
	Channel string
	ID      string
	// GroupID is the platform's id of the group that the new channel belongs to. DisplayName is its name.
	GroupID     string
	DisplayName string
}

func cloneGroups(groups []Group) []Group {
	copies := make([]Group, len(groups))
	for i, group := range groups {
		copies[i] = group.clone()
	}
	return copies
}

// Groups returns the groups on the platform of a channel, the oldest first.
func (p *Platform) Groups(channelID string) []Group {
	groups := p.outbox.state().groups
	return slices.DeleteFunc(groups, func(g Group) bool { return g.Channel != channelID })
}

// CreatedChannels returns the channels created on the platform of a channel, oldest first.
func (p *Platform) CreatedChannels(channelID string) []CreatedChannel {
	channels := p.outbox.state().channels
	return slices.DeleteFunc(channels, func(c CreatedChannel) bool { return c.Channel != channelID })
}

// group returns a group of a channel, or nil if there is none. The caller holds the mutex.
func (o *outbox) group(channelID, externalID string) *Group {
	for i := range o.kept.groups {
		if group := &o.kept.groups[i]; group.Channel == channelID && group.ExternalID == externalID {
			return group
		}
	}
	return nil
}

// join adds an address to a group, and creates the group if it does not exist.
func (o *outbox) join(at address, externalID string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	group := o.group(at.channel, at.externalID)
	if group == nil {
		o.kept.groups = append(o.kept.groups, Group{Channel: at.channel, ExternalID: at.externalID})
		group = &o.kept.groups[len(o.kept.groups)-1]
	}
	group.add(externalID)
}

// add adds an address unless the group already contains it.
func (g *Group) add(externalID string) {
	if !slices.Contains(g.Members, externalID) {
		g.Members = append(g.Members, externalID)
	}
}

// createGroup creates a group with an id of the given form, and adds its agent.
func (o *outbox) createGroup(
	ctx context.Context, in *channel.Channel, group livechat.NewGroup, form string,
) (livechat.CreatedGroup, error) {
	if err := o.reach(ctx, in); err != nil {
		return livechat.CreatedGroup{}, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return answeredUnder(o, in.ID, "a group", group.Key, func() (livechat.CreatedGroup, error) { return o.newGroup(in, group, form), nil })
}

// newGroup creates a group. The caller holds the mutex.
func (o *outbox) newGroup(in *channel.Channel, group livechat.NewGroup, form string) livechat.CreatedGroup {
	created := Group{Channel: in.ID, ExternalID: o.platform.ids.formed(form), Name: group.Name}
	if group.AdminExternalID != "" {
		created.Members = []string{group.AdminExternalID}
	}
	if group.NeedsInvitationLink {
		created.InvitationLink = o.newLink()
	}
	o.kept.groups = append(o.kept.groups, created)
	o.platform.notef("%s/%s was made: %q", in.ID, created.ExternalID, created.Name)
	return livechat.CreatedGroup{ExternalID: created.ExternalID, InvitationLink: created.InvitationLink}
}

func (o *outbox) newLink() string { return "https://invite.example/" + o.platform.ids.next("link") }

// renewLink gives a group a new link, which replaces the old one.
func (o *outbox) renewLink(ctx context.Context, in *channel.Channel, externalID string) (string, error) {
	var link string
	err := o.changeGroup(ctx, in, externalID, func(group *Group) {
		link, _ = answered(ctx, o, in.ID, "a link", func() (string, error) {
			group.InvitationLink = o.newLink()
			o.platform.notef("%s/%s has a new link", in.ID, externalID)
			return group.InvitationLink, nil
		})
	})
	return link, err
}

func (o *outbox) disableLink(ctx context.Context, in *channel.Channel, externalID string) error {
	return o.changeGroup(ctx, in, externalID, func(group *Group) {
		_, _ = answered(ctx, o, in.ID, "no link", func() (struct{}, error) {
			group.InvitationLink = ""
			o.platform.notef("%s/%s has no link any more", in.ID, externalID)
			return struct{}{}, nil
		})
	})
}

func (o *outbox) groupName(ctx context.Context, in *channel.Channel, externalID string) (name string, err error) {
	err = o.changeGroup(ctx, in, externalID, func(group *Group) { name = group.Name })
	return name, err
}

func (o *outbox) setIcon(ctx context.Context, in *channel.Channel, externalID string, icon livechat.Picture) error {
	if !strings.HasPrefix(icon.ContentType, "image/") || len(icon.Bytes) == 0 {
		return boterr.Invalid("", "the icon has %d bytes and the type %q; give an image that is not empty", len(icon.Bytes), icon.ContentType)
	}
	return o.changeGroup(ctx, in, externalID, func(group *Group) {
		group.Icon = livechat.Picture{ContentType: icon.ContentType, Bytes: slices.Clone(icon.Bytes)}
		o.platform.notef("%s/%s has a new icon", in.ID, externalID)
	})
}

// changeGroup changes a group. It returns NotFound if the channel's platform has no group with that id.
func (o *outbox) changeGroup(ctx context.Context, in *channel.Channel, externalID string, change func(group *Group)) error {
	if err := o.reach(ctx, in); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	group := o.group(in.ID, externalID)
	if group == nil {
		return boterr.New(boterr.NotFound, "", "the platform of the channel %s has no group %s", in.ID, externalID)
	}
	change(group)
	return nil
}

func (o *outbox) createChannel(ctx context.Context, in *channel.Channel, groupID, displayName string) (document.Object, error) {
	if err := o.reach(ctx, in); err != nil {
		return document.Object{}, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return answered(ctx, o, in.ID, "a channel", func() (document.Object, error) { return o.newChannel(in, groupID, displayName), nil })
}

// newChannel creates a channel. The caller holds the mutex.
func (o *outbox) newChannel(in *channel.Channel, groupID, displayName string) document.Object {
	created := CreatedChannel{
		Channel: in.ID, ID: o.platform.ids.next(string(in.Type) + "-channel"), GroupID: groupID, DisplayName: displayName,
	}
	o.kept.channels = append(o.kept.channels, created)
	o.platform.notef("%s made the channel %s: %q", in.ID, created.ID, displayName)
	return document.O("id", created.ID, "groupId", groupID, "displayName", displayName)
}
