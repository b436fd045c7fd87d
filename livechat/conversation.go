package livechat

import (
	"context"
	"errors"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/send"
)

// GroupOf returns the live group that an event in an outlet channel belongs to, nil where it
// belongs to none. The event is in the group whose external id it goes to; or, where it goes
// to no group and to no broadcast group of the channel, in the direct conversation with the
// agent who wrote it. It is for hosts, which give it to bot logic as the context's group.
func (s *Service) GroupOf(ctx context.Context, outletChannelID string, event send.MessageEvent) (*Group, error) {
	found, err := s.groupsOf(ctx, outletChannelID, event)
	if err != nil || len(found) == 0 || !found[0].Active {
		return nil, err
	}
	return found[0], nil
}

// groupsOf returns the groups of an outlet that an event belongs to: live ones first, and
// among them those of the agent who wrote it, then the newest.
func (s *Service) groupsOf(ctx context.Context, outletID string, event send.MessageEvent) ([]*Group, error) {
	found, err := s.findGroups(ctx, document.O(
		fieldExternalID, document.O("$in", document.A(event.To, event.From)), fieldOutlet, document.O("$eq", outletID)))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	isThere := func(g *Group) bool { return g.ExternalID == event.To }
	if !slices.ContainsFunc(found, isThere) {
		talksElsewhere, err := s.isBroadcastGroup(ctx, outletID, event.To)
		if err != nil || talksElsewhere {
			return nil, err
		}
		isThere = (*Group).isDirect
	}
	found = slices.DeleteFunc(found, func(g *Group) bool { return !isThere(g) })
	slices.Reverse(found)
	slices.SortStableFunc(found, func(a, b *Group) int { return rank(a, event.From) - rank(b, event.From) })
	return found, nil
}

// groupsIn returns the groups of an outlet with an external id, the newest first.
func (s *Service) groupsIn(ctx context.Context, outletID, externalID string) ([]*Group, error) {
	found, err := s.findGroups(ctx, document.O(
		fieldExternalID, document.O("$eq", externalID), fieldOutlet, document.O("$eq", outletID)))
	slices.Reverse(found)
	return found, err
}

// rank orders groups for an event of an agent.
func rank(g *Group, agent string) int {
	switch {
	case g.Active && g.AdminExternalID == agent:
		return 0
	case g.Active:
		return 1
	default:
		return 2
	}
}

// isDirect reports whether the group is the conversation with one agent, and none that was
// made for it.
func (g *Group) isDirect() bool { return g.ExternalID == g.AdminExternalID }

// isBroadcastGroup reports whether an id is that of a broadcast group of a channel, in which
// agents may talk about other things.
func (s *Service) isBroadcastGroup(ctx context.Context, channelID, id string) (bool, error) {
	c, err := s.ports.Channels.Load(ctx, channelID)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(c.BroadcastGroups, func(g channel.BroadcastGroup) bool {
		return slices.ContainsFunc(g.Groups, func(m channel.BroadcastGroupMember) bool { return m.ID == id })
	}), nil
}

// findGroups returns the groups that match, the oldest first.
func (s *Service) findGroups(ctx context.Context, filter document.Object) ([]*Group, error) {
	found, err := s.groups.Find(ctx, record.Query{Filter: filter, SortBy: oldestFirst()})
	if err != nil {
		return nil, err
	}
	groups := make([]*Group, len(found))
	for i, o := range found {
		if groups[i], err = groupFrom(o); err != nil {
			return nil, err
		}
	}
	return groups, nil
}

// eventAssignment returns the assignment that the parameter messageEvent of an operation
// belongs to. NotFound: there is none.
func (s *Service) eventAssignment(
	ctx context.Context, outlet *channel.Channel, event *send.MessageEvent,
) (*AssignmentRecord, error) {
	if event == nil {
		return nil, boterr.Invalid(fieldMessageEvent, "is missing: give the event in the conversation that is meant")
	}
	found, err := s.groupsOf(ctx, outlet.ID, *event)
	if err != nil {
		return nil, err
	}
	for _, g := range found {
		r, err := s.assignmentOf(ctx, g)
		if err != nil {
			return nil, boterr.In(fieldMessageEvent, err)
		}
		if r != nil {
			return r, nil
		}
	}
	return nil, boterr.New(boterr.NotFound, fieldMessageEvent,
		"no live chat in the channel %s belongs to an event from %q to %q", outlet.ID, event.From, event.To)
}

// assignmentOf returns the assignment of a group: the newest whose group it is, or else the
// one that the group names. nil where there is none.
func (s *Service) assignmentOf(ctx context.Context, g *Group) (*AssignmentRecord, error) {
	found, err := s.FindAssignments(ctx, record.Query{Filter: equal(fieldGroup, g.ID), SortBy: oldestFirst()})
	switch {
	case err != nil:
		return nil, err
	case len(found) > 0:
		return found[len(found)-1], nil
	case g.Assignment == "":
		return nil, nil
	}
	r, err := s.loadAssignment(ctx, g.Assignment)
	if errors.Is(err, boterr.NotFound) {
		return nil, nil
	}
	return r, err
}

// openAssignment returns the open assignment of a member, nil where there is none.
func (s *Service) openAssignment(ctx context.Context, memberID string) (*AssignmentRecord, error) {
	found, err := s.FindAssignments(ctx, record.Query{Filter: equal(fieldSlot, openSlot(memberID)), Limit: 1})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// modify changes an assignment if it meets a condition, and returns it as it is then, nil
// where it does not.
func (s *Service) modify(ctx context.Context, id string, condition, update document.Object) (*AssignmentRecord, error) {
	found, err := s.assignments.Where(record.FieldID, id).FindAndModify(ctx, record.Patch{
		Filter: condition, Patch: update, WithModifier: true,
	}, true)
	if err != nil || !found.Matched {
		return nil, err
	}
	return assignmentFrom(found.Document)
}

// isAbsent is a condition on a field that is not there.
func isAbsent() document.Object { return document.O("$exists", false) }
