package livechats

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// CreateBravoGroup implements Operations.
func (s *Service) CreateBravoGroup(ctx context.Context, p livechat.CreateBravoGroupParams) (livechat.CreateBravoGroupResult, error) {
	if p.Name == "" {
		return livechat.CreateBravoGroupResult{}, boterr.Missing(fieldName, "the name of the new group")
	}
	in, err := s.namedChannel(ctx, channels.ByID(s.scope, fieldChannelID, p.ChannelID), channel.Bravo)
	if err != nil {
		return livechat.CreateBravoGroupResult{}, err
	}
	creator, err := send.RequirePort[livechat.GroupCreator](s.ports.Connectors, in, "make groups")
	if err != nil {
		return livechat.CreateBravoGroupResult{}, boterr.WithField(fieldChannelID, err)
	}
	needsLink := p.RequireInvitationLink == nil || *p.RequireInvitationLink
	of := fmt.Sprintf("group %q %q", in.ID, p.Name)
	created, err := sends.Once(ctx, s.env, of, func(ctx context.Context) (livechat.CreatedGroup, error) {
		created, err := creator.CreateGroup(ctx, in, livechat.NewGroup{Key: send.KeyOf(ctx), Name: p.Name, NeedsInvitationLink: needsLink})
		if err == nil && (created.ExternalID == "" || needsLink && created.InvitationLink == "") {
			err = boterr.New(boterr.Unavailable, "",
				"the platform made the group %q with the id %q, and told not all that was asked for", p.Name, created.ExternalID)
		}
		return created, sends.PlatformError(ctx, in.Type, err)
	})
	if err != nil {
		return livechat.CreateBravoGroupResult{}, err
	}
	if !needsLink {
		created.InvitationLink = ""
	}
	return livechat.CreateBravoGroupResult{GroupID: created.ExternalID, InvitationLink: created.InvitationLink}, nil
}

// DisableBravoGroupInviteLink implements Operations.
func (s *Service) DisableBravoGroupInviteLink(
	ctx context.Context, p livechat.DisableBravoGroupInviteLinkParams,
) (livechat.DisableBravoGroupInviteLinkResult, error) {
	if p.ExternalID == "" {
		return livechat.DisableBravoGroupInviteLinkResult{}, boterr.Missing(fieldExternalID, "the id of a group on Bravo")
	}
	in, err := s.namedChannel(ctx, channels.ByRecord(s.scope, p.Channel), channel.Bravo)
	if err != nil {
		return livechat.DisableBravoGroupInviteLinkResult{}, err
	}
	linker, err := send.RequirePort[livechat.InviteLinker](s.ports.Connectors, in, "change invitation links")
	if err != nil {
		return livechat.DisableBravoGroupInviteLinkResult{}, boterr.WithField(fieldChannel, err)
	}
	if err := s.disableLink(ctx, linker, in, p.ExternalID); err != nil {
		return livechat.DisableBravoGroupInviteLinkResult{}, aboutGroup(fieldExternalID, err)
	}
	return livechat.DisableBravoGroupInviteLinkResult{ClientMutationID: s.env.NewID()}, nil
}

// HandleAdminJoinedGroup implements Operations.
//
// The platform comes first, since it knows whether there is such a group. Whatever is
// interrupted, the same call again completes it.
func (s *Service) HandleAdminJoinedGroup(ctx context.Context, p livechat.HandleAdminJoinedGroupParams) (string, error) {
	switch {
	case p.ExternalID == "":
		return "", boterr.Missing(fieldExternalID, "the id of the agent on Bravo")
	case p.BravoGroupID == "":
		return "", boterr.Missing(fieldBravoGroupID, "the id of the group on Bravo")
	}
	in, err := s.namedChannel(ctx, channels.ByRecord(s.scope, p.Channel), channel.Bravo)
	if err != nil {
		return "", err
	}
	linker, err := send.RequirePort[livechat.InviteLinker](s.ports.Connectors, in, "change invitation links")
	if err != nil {
		return "", boterr.WithField(fieldChannel, err)
	}
	if err := s.disableLink(ctx, linker, in, p.BravoGroupID); err != nil {
		return "", aboutGroup(fieldBravoGroupID, err)
	}
	if err := s.conversations.recordJoined(ctx, in, p); err != nil {
		return "", err
	}
	if err := s.machine.linkByBravoGroupID(ctx, p.BravoGroupID); err != nil {
		return "", err
	}
	if p.IsRenewGroupInviteLink != nil && !*p.IsRenewGroupInviteLink {
		return "", nil
	}
	link, err := s.renewLink(ctx, linker, in, p.BravoGroupID)
	return link, aboutGroup(fieldBravoGroupID, err)
}

// disableLink puts the link of a group out of use.
func (s *Service) disableLink(ctx context.Context, linker livechat.InviteLinker, in *channel.Channel, groupExternalID string) error {
	_, err := sends.Once(ctx, s.env, fmt.Sprintf("link off %q %q", in.ID, groupExternalID), func(ctx context.Context) (struct{}, error) {
		return struct{}{}, sends.PlatformError(ctx, in.Type, linker.DisableInviteLink(ctx, in, groupExternalID))
	})
	return err
}

// renewLink makes a new link of a group, and returns its address.
func (s *Service) renewLink(
	ctx context.Context, linker livechat.InviteLinker, in *channel.Channel, groupExternalID string,
) (string, error) {
	type renewed struct{ Link string }
	made, err := sends.Once(ctx, s.env, fmt.Sprintf("link %q %q", in.ID, groupExternalID), func(ctx context.Context) (renewed, error) {
		link, err := linker.RenewInviteLink(ctx, in, groupExternalID)
		return renewed{Link: link}, sends.PlatformError(ctx, in.Type, err)
	})
	return made.Link, err
}

// aboutGroup names the parameter of the group where an error says that there is none.
func aboutGroup(field string, err error) error {
	if boterr.CodeOf(err) == boterr.NotFound {
		return boterr.WithField(field, err)
	}
	return err
}

// recordJoined makes the record of an agent's group, unless there is a live one. It belongs
// to the live chat that the group serves already, if it does.
//
// The _id follows from who joined where, and from the agent's record before, so that of two calls at once, which both
// find no live record, one makes it. With an upsert both would, in a store that looks and inserts in two
// steps, and a unique index that refused the second would refuse those after one that is over.
func (s *conversations) recordJoined(ctx context.Context, in *channel.Channel, p livechat.HandleAdminJoinedGroupParams) error {
	admin, err := s.admin(ctx, p.ExternalID)
	if err != nil {
		return err
	}
	for before := ""; ; {
		live, err := s.liveGroupsIn(ctx, in.ID, p.BravoGroupID)
		if err != nil || slices.ContainsFunc(live, func(g *livechat.Group) bool { return g.AdminExternalID == p.ExternalID }) {
			return err
		}
		if before == "" {
			if before, err = s.lastJoined(ctx, in, p); err != nil {
				return err
			}
		}
		g := joinedGroup(s.joinedID(in, p, before), in, p, admin, live)
		if g.Name == "" {
			if g.Name, err = s.groupName(ctx, in, p.BravoGroupID); err != nil {
				return err
			}
		}
		if _, err = s.insertGroup(ctx, g); !errors.Is(err, boterr.AlreadyExists) {
			return err
		}
		before = g.ID // It is over by now, or is found live.
	}
}

// lastJoined returns the id of an agent's newest record of a group that is over, "" for none.
func (s *conversations) lastJoined(ctx context.Context, in *channel.Channel, p livechat.HandleAdminJoinedGroupParams) (string, error) {
	last, err := s.newestOver(ctx, inConversation(in.ID, p.BravoGroupID).
		With(fieldAdminExternalID, document.O("$eq", p.ExternalID)))
	if err != nil || last == nil {
		return "", err
	}
	return last.ID, nil
}

// groupName returns what the platform calls a group, "" where it does not tell.
func (s *conversations) groupName(ctx context.Context, in *channel.Channel, groupExternalID string) (string, error) {
	namer, tells := send.PortOf[livechat.GroupNamer](s.ports.Connectors[in.Type])
	if !tells {
		return "", nil
	}
	name, err := namer.GroupName(ctx, in, groupExternalID)
	return name, aboutGroup(fieldBravoGroupID, sends.PlatformError(ctx, in.Type, err))
}

// joinedID returns the _id of the record of an agent who joins a group, after the record of the time before, "" for
// the first time.
func (s *conversations) joinedID(in *channel.Channel, p livechat.HandleAdminJoinedGroupParams, before string) string {
	name := document.A(s.scope.App, in.ID, p.BravoGroupID, p.ExternalID, before)
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(name.String())).String()
}

// joinedGroup returns the record of an agent's group, beside the live ones of others in it.
func joinedGroup(
	id string, in *channel.Channel, p livechat.HandleAdminJoinedGroupParams, admin livechat.Admin, others []*livechat.Group,
) livechat.Group {
	g := livechat.Group{
		ID: id, Outlet: in.ID, ExternalID: p.BravoGroupID, AdminExternalID: p.ExternalID, Admin: admin.AdminID,
		Meta: document.O(), Active: true, Valid: true, BotID: in.BotID(), Type: in.Type,
	}
	if len(others) > 0 {
		other := others[len(others)-1]
		g.Inlet, g.Name, g.Assignment, g.Member = other.Inlet, other.Name, other.Assignment, other.Member
		g.InletGroupExternalID = other.InletGroupExternalID
	}
	return g
}

// CreateHotelChannel implements Operations.
func (s *Service) CreateHotelChannel(ctx context.Context, p livechat.CreateHotelChannelParams) (livechat.CreateHotelChannelResult, error) {
	switch {
	case p.HotelGroupID == "":
		return livechat.CreateHotelChannelResult{}, boterr.Missing("hotelGroupId", "the id of the group on Hotel")
	case p.DisplayName == "":
		return livechat.CreateHotelChannelResult{}, boterr.Missing("displayName", "the name of the new channel")
	}
	in, err := s.namedChannel(ctx, channels.ByRecord(s.scope, p.Channel), channel.Hotel)
	if err != nil {
		return livechat.CreateHotelChannelResult{}, err
	}
	creator, err := send.RequirePort[livechat.ChannelCreator](s.ports.Connectors, in, "make channels")
	if err != nil {
		return livechat.CreateHotelChannelResult{}, boterr.WithField(fieldChannel, err)
	}
	of := fmt.Sprintf("channel %q %q %q", in.ID, p.HotelGroupID, p.DisplayName)
	return sends.Once(ctx, s.env, of, func(ctx context.Context) (livechat.CreateHotelChannelResult, error) {
		reply, err := creator.CreateChannel(ctx, in, p.HotelGroupID, p.DisplayName)
		if reply.IsZero() {
			reply = document.O()
		}
		return livechat.CreateHotelChannelResult{OK: 1, Result: reply}, sends.PlatformError(ctx, in.Type, err)
	})
}
