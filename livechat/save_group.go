package livechat

import (
	"context"
	"errors"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// SaveGroupIDToMember implements Operations.
func (s *Service) SaveGroupIDToMember(ctx context.Context, p SaveGroupIDToMemberParams) (_ SaveGroupIDToMemberResult, err error) {
	defer s.guard(ctx, &err)
	if p.MessageEvent == nil {
		return SaveGroupIDToMemberResult{}, boterr.Invalid(fieldMessageEvent, "is missing: give the event in the group")
	}
	in, err := s.channelParameter(ctx, p.Channel, "")
	if err != nil {
		return SaveGroupIDToMemberResult{}, err
	}
	g, err := s.conversations.groupOnEitherSide(ctx, in, *p.MessageEvent)
	if err != nil {
		return SaveGroupIDToMemberResult{}, err
	}
	m, err := s.conversations.memberOfGroup(ctx, g)
	if err != nil {
		return SaveGroupIDToMemberResult{}, at(fieldMessageEvent, err)
	}
	_, err = s.ports.Members.PatchMembers(ctx, member.PatchMembersParams{
		Channel: &channel.Channel{ID: m.Channel}, MemberID: m.ID, Patch: document.O(fieldGroup, g.ID),
	})
	if err != nil {
		return SaveGroupIDToMemberResult{}, err
	}
	return SaveGroupIDToMemberResult{ClientMutationID: s.env.NewID()}, nil
}

// memberOfGroup returns the member of a group, or of its assignment where the group knows
// none.
func (s *conversations) memberOfGroup(ctx context.Context, g *Group) (*member.Member, error) {
	m, err := s.groupMember(ctx, g)
	if err != nil || m != nil {
		return m, err
	}
	r, err := s.assignmentOf(ctx, g)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, boterr.New(boterr.NotFound, "", "the group %s has no member", g.ID)
	}
	return s.memberOf(ctx, r)
}

// groupOnEitherSide returns the group that an event belongs to: one in an outlet, or one
// whose conversation on the inlet's side is a group.
func (s *conversations) groupOnEitherSide(ctx context.Context, in *channel.Channel, event send.MessageEvent) (*Group, error) {
	found, err := s.groupsOf(ctx, in.ID, event)
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		return found[0], nil
	}
	g, err := s.latestGroup(ctx, document.O(
		fieldInlet, document.O("$eq", in.ID), fieldInletGroupExternalID, document.O("$eq", event.To)))
	if errors.Is(err, boterr.NotFound) {
		return nil, boterr.New(boterr.NotFound, fieldMessageEvent,
			"no group in the channel %s belongs to an event from %q to %q", in.ID, event.From, event.To)
	}
	return g, err
}
