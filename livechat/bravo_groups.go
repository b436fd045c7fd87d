package livechat

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/send"
)

// CreateBravoGroup implements Operations.
func (s *Service) CreateBravoGroup(ctx context.Context, p CreateBravoGroupParams) (_ CreateBravoGroupResult, err error) {
	defer s.guard(ctx, &err)
	if p.Name == "" {
		return CreateBravoGroupResult{}, boterr.Invalid(fieldName, "is missing: give the name of the new group")
	}
	in, err := s.bravoByID(ctx, p.ChannelID)
	if err != nil {
		return CreateBravoGroupResult{}, err
	}
	creator, err := portOf[GroupCreator](s.core, in, "make groups")
	if err != nil {
		return CreateBravoGroupResult{}, at(fieldChannelID, err)
	}
	needsLink := p.RequireInvitationLink == nil || *p.RequireInvitationLink
	created, err := creator.CreateGroup(ctx, in, NewGroup{
		Key: s.env.SendID(ctx, fmt.Sprintf("group %q %q", in.ID, p.Name)), Name: p.Name, NeedsInvitationLink: needsLink,
	})
	switch {
	case err != nil:
		return CreateBravoGroupResult{}, send.PlatformError(ctx, in.Type, err)
	case created.ExternalID == "" || needsLink && created.InvitationLink == "":
		return CreateBravoGroupResult{}, boterr.New(boterr.Unavailable, "",
			"the platform made the group %q with the id %q, and told not all that was asked for", p.Name, created.ExternalID)
	case !needsLink:
		created.InvitationLink = ""
	}
	return CreateBravoGroupResult{GroupID: created.ExternalID, InvitationLink: created.InvitationLink}, nil
}

// DisableBravoGroupInviteLink implements Operations.
func (s *Service) DisableBravoGroupInviteLink(
	ctx context.Context, p DisableBravoGroupInviteLinkParams,
) (_ DisableBravoGroupInviteLinkResult, err error) {
	defer s.guard(ctx, &err)
	if p.ExternalID == "" {
		return DisableBravoGroupInviteLinkResult{}, missing(fieldExternalID, "a group on Bravo")
	}
	in, err := s.bravo(ctx, p.Channel, "")
	if err != nil {
		return DisableBravoGroupInviteLinkResult{}, err
	}
	linker, err := portOf[InviteLinker](s.core, in, "change invitation links")
	if err != nil {
		return DisableBravoGroupInviteLinkResult{}, at(fieldChannel, err)
	}
	if err := linker.DisableInviteLink(ctx, in, p.ExternalID); err != nil {
		return DisableBravoGroupInviteLinkResult{}, aboutGroup(fieldExternalID, send.PlatformError(ctx, in.Type, err))
	}
	return DisableBravoGroupInviteLinkResult{ClientMutationID: s.env.NewID()}, nil
}

// HandleAdminJoinedGroup implements Operations.
//
// The platform comes first, since it knows whether there is such a group. Whatever is
// interrupted, the same call again completes it.
func (s *Service) HandleAdminJoinedGroup(ctx context.Context, p HandleAdminJoinedGroupParams) (_ string, err error) {
	defer s.guard(ctx, &err)
	switch {
	case p.ExternalID == "":
		return "", missing(fieldExternalID, "the agent on Bravo")
	case p.BravoGroupID == "":
		return "", missing(fieldBravoGroupID, "the group on Bravo")
	}
	in, err := s.bravo(ctx, p.Channel, "")
	if err != nil {
		return "", err
	}
	linker, err := portOf[InviteLinker](s.core, in, "change invitation links")
	if err != nil {
		return "", at(fieldChannel, err)
	}
	if err := linker.DisableInviteLink(ctx, in, p.BravoGroupID); err != nil {
		return "", aboutGroup(fieldBravoGroupID, send.PlatformError(ctx, in.Type, err))
	}
	if err := s.conversations.recordJoined(ctx, in, p); err != nil {
		return "", err
	}
	if err := s.machine.linkRoom(ctx, p.BravoGroupID); err != nil {
		return "", err
	}
	if p.IsRenewGroupInviteLink != nil && !*p.IsRenewGroupInviteLink {
		return "", nil
	}
	link, err := linker.RenewInviteLink(ctx, in, p.BravoGroupID)
	if err != nil {
		return "", aboutGroup(fieldBravoGroupID, send.PlatformError(ctx, in.Type, err))
	}
	return link, nil
}

// aboutGroup names the parameter of the group where an error says that there is none.
func aboutGroup(field string, err error) error {
	if boterr.CodeOf(err) == boterr.NotFound {
		return at(field, err)
	}
	return err
}
