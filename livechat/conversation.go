package livechat

import (
	"context"
	"errors"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/send"
)

// conversations are where agents and members write.
type conversations struct{ *core }

// GroupOf returns the live group that an event in an outlet channel belongs to, nil where it
// belongs to none. The event is in the group whose external id it goes to; or, where it goes
// to the bot, in the direct conversation with the agent who wrote it. To the bot goes an
// event without To, or to the id of the channel, of the bot in the info of one on Charlie, in the
// group, or in the scope's member where that is the agent. What an agent writes elsewhere is
// in no group. It is for hosts, which give the group to bot logic as the context's.
func (s *Service) GroupOf(ctx context.Context, outletChannelID string, event send.MessageEvent) (_ *Group, err error) {
	defer s.guard(ctx, &err)
	live, err := s.conversations.liveGroups(ctx, outletChannelID, event)
	if err != nil || len(live) == 0 {
		return nil, err
	}
	return live[0], nil
}

// liveGroups returns the live groups of an outlet that an event belongs to: those of the
// agent who wrote it first, then the newest.
func (s *conversations) liveGroups(ctx context.Context, outletID string, event send.MessageEvent) ([]*Group, error) {
	found, err := s.findGroups(ctx, equal(fieldOutlet, outletID).
		With(fieldExternalID, document.O("$in", document.A(event.To, event.From))).
		With(fieldActive, true))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	isMeant := func(g *Group) bool { return g.ExternalID == event.To }
	if !slices.ContainsFunc(found, isMeant) {
		ids, err := s.botIDs(ctx, outletID, event.From)
		if err != nil {
			return nil, err
		}
		isMeant = func(g *Group) bool { return g.isDirect() && g.hearsBot(event.To, ids) }
	}
	found = slices.DeleteFunc(found, func(g *Group) bool { return !isMeant(g) })
	slices.Reverse(found)
	slices.SortStableFunc(found, func(a, b *Group) int { return rank(a, event.From) - rank(b, event.From) })
	return found, nil
}

// groupsOf returns the groups of an outlet that an event belongs to: live ones, or else the
// last that it belonged to. There may be none.
func (s *conversations) groupsOf(ctx context.Context, outletID string, event send.MessageEvent) ([]*Group, error) {
	live, err := s.liveGroups(ctx, outletID, event)
	if err != nil || len(live) > 0 {
		return live, err
	}
	last, err := s.latestGroup(ctx, equal(fieldOutlet, outletID).With(fieldExternalID, document.O("$eq", event.To)))
	if err == nil {
		return []*Group{last}, nil
	}
	if !errors.Is(err, boterr.NotFound) {
		return nil, err
	}
	return s.lastDirect(ctx, outletID, event)
}

// lastDirect returns the last direct conversation with the agent who wrote to the bot. There
// may be none.
func (s *conversations) lastDirect(ctx context.Context, outletID string, event send.MessageEvent) ([]*Group, error) {
	from := document.O("$eq", event.From)
	last, err := s.latestGroup(ctx, equal(fieldOutlet, outletID).With(fieldExternalID, from).With(fieldAdminExternalID, from))
	if errors.Is(err, boterr.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ids, err := s.botIDs(ctx, outletID, event.From)
	if err != nil || !last.hearsBot(event.To, ids) {
		return nil, err
	}
	return []*Group{last}, nil
}

// groupsIn returns the groups of an outlet with an external id, the newest first.
func (s *core) groupsIn(ctx context.Context, outletID, externalID string) ([]*Group, error) {
	found, err := s.findGroups(ctx, equal(fieldOutlet, outletID).With(fieldExternalID, document.O("$eq", externalID)))
	slices.Reverse(found)
	return found, err
}

// rank orders live groups for an event of an agent.
func rank(g *Group, agent string) int {
	if g.AdminExternalID == agent {
		return 0
	}
	return 1
}

// isDirect reports whether the group is the conversation with one agent, and none that was
// made for it.
func (g *Group) isDirect() bool { return g.ExternalID == g.AdminExternalID }

// hearsBot reports whether what goes to an id goes to the bot that is in the group.
func (g *Group) hearsBot(to string, botIDs []string) bool {
	return to == "" || to == g.BotID || slices.Contains(botIDs, to)
}

// botIDs returns what the bot is called in what an agent writes to it in a channel.
func (s *conversations) botIDs(ctx context.Context, channelID, agent string) ([]string, error) {
	c, err := s.ports.Channels.Load(ctx, channelID)
	if err != nil {
		return nil, err
	}
	ids := []string{c.ID}
	if info, isCharlie := c.Info.(channel.CharlieInfo); isCharlie {
		ids = append(ids, info.BotID)
	}
	if s.scope.Member == "" {
		return ids, nil
	}
	m, err := s.ports.Members.GetMember(ctx, member.GetMemberParams{MemberID: s.scope.Member})
	switch {
	case errors.Is(err, boterr.NotFound):
		return ids, nil
	case err != nil:
		return nil, err
	case m.Channel == channelID && m.ExternalID == agent:
		return append(ids, m.BotID), nil
	default:
		return ids, nil
	}
}

// findGroups returns the groups that match, the oldest first.
func (s *core) findGroups(ctx context.Context, filter document.Object) ([]*Group, error) {
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
func (s *conversations) eventAssignment(
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
func (s *core) assignmentOf(ctx context.Context, g *Group) (*AssignmentRecord, error) {
	found, err := s.findAssignments(ctx, record.Query{Filter: equal(fieldGroup, g.ID), SortBy: oldestFirst()})
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
func (s *core) openAssignment(ctx context.Context, memberID string) (*AssignmentRecord, error) {
	return s.oneAssignment(ctx, equal(fieldSlot, openSlot(memberID)))
}

// oneAssignment returns an assignment that matches, nil where there is none.
func (s *core) oneAssignment(ctx context.Context, filter document.Object) (*AssignmentRecord, error) {
	found, err := s.findAssignments(ctx, record.Query{Filter: filter, Limit: 1})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// modify changes an assignment if it meets a condition, and returns it as it is then, nil
// where it does not.
func (s *core) modify(ctx context.Context, id string, condition, update document.Object) (*AssignmentRecord, error) {
	found, err := s.assignments.Where(record.FieldID, id).FindAndModify(ctx, record.Patch{
		Filter: condition, Patch: update, WithModifier: true,
	}, true)
	if err != nil || !found.Matched {
		return nil, err
	}
	return assignmentFrom(found.Document)
}
