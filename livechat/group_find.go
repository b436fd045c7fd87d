package livechat

import (
	"context"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/record"
)

// GetGroup implements Operations.
func (s *Service) GetGroup(ctx context.Context, p GetGroupParams) (_ *Group, err error) {
	defer s.guard(ctx, &err)
	if p.GroupID == "" {
		return nil, missing("groupId", "a group")
	}
	g, err := s.loadGroup(ctx, p.GroupID)
	return g, boterr.In("groupId", err)
}

// GetGroupByExternalID implements Operations.
func (s *Service) GetGroupByExternalID(ctx context.Context, p GetGroupByExternalIDParams) (_ *Group, err error) {
	defer s.guard(ctx, &err)
	outlet := p.ChannelID
	if outlet == "" {
		outlet = s.scope.Channel
	}
	switch {
	case p.AdminExternalID == "" && p.GroupID == "":
		return nil, boterr.Invalid(fieldAdminExternalID, "is missing: give the id of an agent on the outlet's platform, or groupId")
	case outlet == "":
		return nil, boterr.Invalid("channelId", "is missing: this context has no channel of its own")
	}
	filter, field := equal(fieldOutlet, outlet), "groupId"
	if p.AdminExternalID != "" {
		filter, field = filter.With(fieldAdminExternalID, document.O("$eq", p.AdminExternalID)), fieldAdminExternalID
	}
	if p.GroupID != "" {
		filter = filter.With(fieldExternalID, document.O("$eq", p.GroupID))
	}
	if p.Type != "" {
		filter = filter.With(fieldType, document.O("$eq", string(p.Type)))
	}
	g, err := s.latestGroup(ctx, filter)
	return g, boterr.In(field, err)
}

// GetGroupByGroupExternalID implements Operations.
func (s *Service) GetGroupByGroupExternalID(ctx context.Context, p GetGroupByGroupExternalIDParams) (_ *Group, err error) {
	defer s.guard(ctx, &err)
	if p.GroupExternalID == "" {
		return nil, missing("groupExternalId", "a group on the outlet's platform")
	}
	g, err := s.latestGroup(ctx, equal(fieldExternalID, p.GroupExternalID))
	return g, boterr.In("groupExternalId", err)
}

// GetGroupByInletGroup implements Operations.
func (s *Service) GetGroupByInletGroup(ctx context.Context, p GetGroupByInletGroupParams) (_ *Group, err error) {
	defer s.guard(ctx, &err)
	switch {
	case p.Inlet == "":
		return nil, missing(fieldInlet, "the inlet channel")
	case p.InletGroupExternalID == "":
		return nil, missing(fieldInletGroupExternalID, "a group on the inlet's platform")
	}
	g, err := s.latestGroup(ctx, document.O(
		fieldInletGroupExternalID, document.O("$eq", p.InletGroupExternalID), fieldInlet, document.O("$eq", p.Inlet)))
	return g, boterr.In(fieldInletGroupExternalID, err)
}

// GetGroupByMemberID implements Operations.
func (s *Service) GetGroupByMemberID(ctx context.Context, p GetGroupByMemberIDParams) (_ *Group, err error) {
	defer s.guard(ctx, &err)
	switch {
	case p.Inlet == "":
		return nil, missing(fieldInlet, "the inlet channel")
	case p.MemberID == "":
		return nil, missing("memberId", "a member")
	}
	g, err := s.latestGroup(ctx, document.O(
		fieldMember, document.O("$eq", p.MemberID), fieldInlet, document.O("$eq", p.Inlet)))
	return g, boterr.In("memberId", err)
}

// loadGroup returns the group of that id in the app, or NotFound.
func (s *core) loadGroup(ctx context.Context, id string) (*Group, error) {
	found, err := s.groups.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return groupFrom(found)
}

// addressedGroup returns the group that a parameter "group" names.
func (s *conversations) addressedGroup(ctx context.Context, given *Group) (*Group, error) {
	switch {
	case given == nil:
		return nil, boterr.Invalid(fieldGroup, "is missing: give a group, of which the _id is enough")
	case given.ID == "":
		return nil, boterr.Invalid(fieldGroup+"."+record.FieldID, "is missing: a group is found by its _id")
	}
	g, err := s.loadGroup(ctx, given.ID)
	return g, boterr.In(fieldGroup+"."+record.FieldID, err)
}

// latestGroup returns the newest live group that matches, else the newest one, or NotFound.
func (s *core) latestGroup(ctx context.Context, filter document.Object) (*Group, error) {
	found, err := s.groups.Find(ctx, record.Query{Filter: filter, SortBy: oldestFirst()})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, boterr.New(boterr.NotFound, "", "no group fits: there is none with these ids here")
	}
	latest := found[len(found)-1]
	for _, o := range slices.Backward(found) {
		if document.Get(o, fieldActive, false) {
			latest = o
			break
		}
	}
	return groupFrom(latest)
}
