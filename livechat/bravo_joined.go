package livechat

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// recordJoined makes the record of an agent's group, unless there is a live one. It belongs
// to the live chat that the group serves already, if it does.
//
// The _id follows from who joined where, so that of two calls at once, which both find no live
// record, one makes it. With an upsert both would, in a store that looks and inserts in two
// steps, and a unique index that refused the second would refuse those after one that is over.
func (s *conversations) recordJoined(ctx context.Context, in *channel.Channel, p HandleAdminJoinedGroupParams) error {
	admin, err := s.admin(ctx, p.ExternalID)
	if err != nil {
		return err
	}
	for nth := 0; ; nth++ {
		found, err := s.groupsIn(ctx, in.ID, p.BravoGroupID)
		if err != nil || slices.ContainsFunc(found, func(g *Group) bool { return g.Active && g.AdminExternalID == p.ExternalID }) {
			return err
		}
		for slices.ContainsFunc(found, func(g *Group) bool { return g.ID == s.joinedID(in, p, nth) }) {
			nth++
		}
		g := joinedGroup(s.joinedID(in, p, nth), in, p, admin, found)
		if g.Name == "" {
			if g.Name, err = s.groupName(ctx, in, p.BravoGroupID); err != nil {
				return err
			}
		}
		_, err = s.insertGroup(ctx, g)
		if !errors.Is(err, boterr.AlreadyExists) {
			return err
		}
	}
}

// groupName returns what the platform calls a group, "" where it does not tell.
func (s *conversations) groupName(ctx context.Context, in *channel.Channel, groupExternalID string) (string, error) {
	namer, tells := send.PortOf[GroupNamer](s.ports.Connectors[in.Type])
	if !tells {
		return "", nil
	}
	name, err := namer.GroupName(ctx, in, groupExternalID)
	return name, aboutGroup(fieldBravoGroupID, send.PlatformError(ctx, in.Type, err))
}

// joinedID returns the _id of the record of the nth time, from 0 on, that an agent joins a
// group.
func (s *conversations) joinedID(in *channel.Channel, p HandleAdminJoinedGroupParams, nth int) string {
	name := document.A(s.scope.App, in.ID, p.BravoGroupID, p.ExternalID, nth)
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(name.String())).String()
}

// joinedGroup returns the record of an agent's group among those of others in it.
func joinedGroup(id string, in *channel.Channel, p HandleAdminJoinedGroupParams, admin Admin, others []*Group) Group {
	g := Group{
		ID: id, Outlet: in.ID, ExternalID: p.BravoGroupID, AdminExternalID: p.ExternalID, Admin: admin.AdminID,
		Meta: document.O(), Active: true, Valid: true, BotID: in.BotID(), Type: in.Type,
	}
	if i := slices.IndexFunc(others, func(other *Group) bool { return other.Active }); i >= 0 {
		other := others[i]
		g.Inlet, g.Name, g.Assignment, g.Member = other.Inlet, other.Name, other.Assignment, other.Member
		g.InletGroupExternalID = other.InletGroupExternalID
	}
	return g
}
