package fakes

import (
	"context"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

// bravo is the connector to Bravo, where agents join groups by links.
type bravo struct{ plain }

var (
	_ livechat.GroupCreator    = bravo{}
	_ livechat.InviteLinker    = bravo{}
	_ livechat.GroupNamer      = bravo{}
	_ livechat.GroupIconSetter = bravo{}
)

// reply returns the message's recipient and id.
func (bravo) reply(sent Sent) document.Object {
	return document.O(
		"contacts", document.A(document.O("input", sent.To, "wa_id", sent.To)),
		"messages", document.A(document.O("id", sent.MessageID)),
	)
}

func (b bravo) CreateGroup(ctx context.Context, in *channel.Channel, group livechat.NewGroup) (livechat.CreatedGroup, error) {
	return b.createGroup(ctx, in, group)
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

func cloneGroups(groups []Group) []Group {
	copies := slices.Clone(groups)
	for i := range copies {
		copies[i].Members = slices.Clone(copies[i].Members)
		copies[i].Icon.Bytes = slices.Clone(copies[i].Icon.Bytes)
	}
	return copies
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

// createGroup creates a group and adds its agent.
func (o *outbox) createGroup(ctx context.Context, in *channel.Channel, group livechat.NewGroup) (livechat.CreatedGroup, error) {
	return atPlatform(ctx, o, in, func() (livechat.CreatedGroup, error) {
		return answeredUnder(o, in.ID, "a group", group.Key, func() (livechat.CreatedGroup, error) { return o.newGroup(in, group), nil })
	})
}

// newGroup creates a group. The caller holds the mutex.
func (o *outbox) newGroup(in *channel.Channel, group livechat.NewGroup) livechat.CreatedGroup {
	created := Group{Channel: in.ID, ExternalID: o.platform.ids.formed(forms[in.Type].group), Name: group.Name}
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

// RenewInviteLink implements livechat.InviteLinker. The new link replaces the old one.
func (b bravo) RenewInviteLink(ctx context.Context, in *channel.Channel, groupExternalID string) (link string, err error) {
	err = b.changeGroup(ctx, in, groupExternalID, func(group *Group) {
		link, _ = answered(ctx, b.outbox, in.ID, "a link", func() (string, error) {
			group.InvitationLink = b.newLink()
			b.platform.notef("%s/%s has a new link", in.ID, groupExternalID)
			return group.InvitationLink, nil
		})
	})
	return link, err
}

func (b bravo) DisableInviteLink(ctx context.Context, in *channel.Channel, groupExternalID string) error {
	return b.changeGroup(ctx, in, groupExternalID, func(group *Group) {
		_, _ = answered(ctx, b.outbox, in.ID, "no link", func() (struct{}, error) {
			group.InvitationLink = ""
			b.platform.notef("%s/%s has no link any more", in.ID, groupExternalID)
			return struct{}{}, nil
		})
	})
}

func (b bravo) GroupName(ctx context.Context, in *channel.Channel, groupExternalID string) (name string, err error) {
	err = b.changeGroup(ctx, in, groupExternalID, func(group *Group) { name = group.Name })
	return name, err
}

func (b bravo) SetGroupIcon(ctx context.Context, in *channel.Channel, groupExternalID string, icon livechat.Picture) error {
	if !strings.HasPrefix(icon.ContentType, "image/") || len(icon.Bytes) == 0 {
		return boterr.Invalid("", "the icon has %d bytes and the type %q; give an image that is not empty", len(icon.Bytes), icon.ContentType)
	}
	return b.changeGroup(ctx, in, groupExternalID, func(group *Group) {
		group.Icon = livechat.Picture{ContentType: icon.ContentType, Bytes: slices.Clone(icon.Bytes)}
		b.platform.notef("%s/%s has a new icon", in.ID, groupExternalID)
	})
}

// changeGroup changes a group. It returns NotFound if the channel's platform has no group with that id.
func (b bravo) changeGroup(ctx context.Context, in *channel.Channel, externalID string, change func(group *Group)) error {
	return b.change(ctx, in, func() error {
		group := b.group(in.ID, externalID)
		if group == nil {
			return boterr.New(boterr.NotFound, "", "the platform of the channel %s has no group %s", in.ID, externalID)
		}
		change(group)
		return nil
	})
}
