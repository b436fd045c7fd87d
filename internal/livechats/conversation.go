package livechats

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// GroupOf returns the live group to which an event in an outlet channel belongs, or nil. An event belongs to the
// group whose external id it is addressed to. An event that an agent addresses to the bot belongs to the agent's
// direct conversation. An event is addressed to the bot if its To is empty, or is the id of the channel, of the bot
// in the info of a Charlie channel, of the bot in the group, or of the scope's member if that is the agent. Other
// messages of an agent belong to no group. The context of bot logic that handles the event contains the same group.
func (s *Service) GroupOf(ctx context.Context, outletChannelID string, event send.MessageEvent) (*livechat.Group, error) {
	live, err := s.liveGroups(ctx, outletChannelID, event)
	if err != nil || len(live) == 0 {
		return nil, err
	}
	return live[0], nil
}

// HasLiveGroup reports whether an event in an outlet channel may belong to a live group of the scope's app, because a
// group has the id of the event's sender or recipient. If not, callers need not create a Service for GroupOf. Errors
// come from the store.
func HasLiveGroup(
	ctx context.Context, env record.Env, scope record.Scope, outletChannelID string, event send.MessageEvent,
) (bool, error) {
	records := Service{env: env, scope: scope}
	for _, externalID := range [...]string{event.To, event.From} {
		if externalID == "" {
			continue
		}
		found, err := records.liveGroupsIn(ctx, outletChannelID, externalID)
		if err != nil || len(found) > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// liveGroups returns the live groups of an outlet to which an event belongs: first groups of the sending agent, then
// newest first.
func (s *Service) liveGroups(ctx context.Context, outletID string, event send.MessageEvent) ([]*livechat.Group, error) {
	found, err := s.groupsFor(ctx, outletID, event, func(externalID string) ([]*livechat.Group, error) {
		return s.liveGroupsIn(ctx, outletID, externalID)
	})
	if err != nil {
		return nil, err
	}
	slices.Reverse(found)
	slices.SortStableFunc(found, func(a, b *livechat.Group) int { return rank(a, event.From) - rank(b, event.From) })
	return found, nil
}

// groupsFor returns the groups to which an event is addressed. For an event addressed to the bot, these are the sender's
// direct conversations. in returns the groups of the outlet with an external id.
func (s *Service) groupsFor(
	ctx context.Context, outletID string, event send.MessageEvent, in func(externalID string) ([]*livechat.Group, error),
) ([]*livechat.Group, error) {
	if event.To != "" {
		found, err := in(event.To)
		if err == nil {
			found, err = s.withoutTalk(ctx, outletID, event.From, found)
		}
		if err != nil || len(found) > 0 {
			return found, err
		}
	}
	found, err := in(event.From)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	ids, err := s.botIDs(ctx, outletID, event.From)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(g *livechat.Group) bool { return !isDirect(g) || !hearsBot(g, event.To, ids) }), nil
}

// groupsOf returns the groups of an outlet to which an event belongs: the live ones or, if there are none, the last
// one.
func (s *Service) groupsOf(ctx context.Context, outletID string, event send.MessageEvent) ([]*livechat.Group, error) {
	live, err := s.liveGroups(ctx, outletID, event)
	if err != nil || len(live) > 0 {
		return live, err
	}
	return s.lastGroups(ctx, outletID, event)
}

// lastGroups returns the newest group of an outlet to which an event would belong if the group were still live, or
// none.
func (s *Service) lastGroups(ctx context.Context, outletID string, event send.MessageEvent) ([]*livechat.Group, error) {
	return s.groupsFor(ctx, outletID, event, func(externalID string) ([]*livechat.Group, error) {
		last, err := s.newestGroup(ctx, inConversation(outletID, externalID), liveFirst)
		if err != nil || last == nil {
			return nil, err
		}
		return []*livechat.Group{last}, nil
	})
}

// withoutTalk returns groups without the direct conversations of agents other than the sender: a message from
// one agent to another is not for a member. If the sender is the bot, it keeps them.
func (s *Service) withoutTalk(ctx context.Context, outletID, from string, groups []*livechat.Group) ([]*livechat.Group, error) {
	isOfOther := func(g *livechat.Group) bool { return isDirect(g) && from != "" && g.AdminExternalID != from }
	if !slices.ContainsFunc(groups, isOfOther) {
		return groups, nil
	}
	ids, err := s.botIDs(ctx, outletID, from)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(groups, func(g *livechat.Group) bool { return isOfOther(g) && !hearsBot(g, from, ids) }), nil
}

// rank is the sort key of a group, by which groups of the agent come first.
func rank(g *livechat.Group, agent string) int {
	if g.AdminExternalID == agent {
		return 0
	}
	return 1
}

// isDirect reports whether the group is the direct conversation with an agent. Otherwise it was created for the live
// chat.
func isDirect(g *livechat.Group) bool { return g.ExternalID == g.AdminExternalID }

// hearsBot reports whether a message with the recipient to is addressed to the bot in the group.
func hearsBot(g *livechat.Group, to string, botIDs []string) bool {
	return to == "" || to == g.BotID || slices.Contains(botIDs, to)
}

// botIDs returns the ids of the bot in messages from an agent in a channel.
func (s *Service) botIDs(ctx context.Context, channelID, agent string) ([]string, error) {
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
	m, err := members.Get(ctx, s.ports.Members, s.scope.Member)
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

// eventAssignment returns the assignment to which an operation's messageEvent belongs, or NotFound.
func (s *Service) eventAssignment(
	ctx context.Context, outlet *channel.Channel, event *send.MessageEvent,
) (*livechat.AssignmentRecord, error) {
	if event == nil {
		return nil, boterr.Missing(fieldMessageEvent, "the event in the conversation")
	}
	found, err := s.groupsOf(ctx, outlet.ID, *event)
	if err != nil {
		return nil, err
	}
	for _, g := range found {
		r, err := s.assignmentOf(ctx, g)
		if err != nil {
			return nil, boterr.PrefixField(fieldMessageEvent, err)
		}
		if r != nil {
			return r, nil
		}
	}
	if r, err := s.untakenIn(ctx, outlet, event.To); err != nil || r != nil {
		return r, err
	}
	return nil, boterr.New(boterr.NotFound, fieldMessageEvent,
		"no live chat in the channel %s belongs to an event from %q to %q", outlet.ID, event.From, event.To)
}

// SaveGroupIDToMember implements Operations.
func (s *Service) SaveGroupIDToMember(
	ctx context.Context, p livechat.SaveGroupIDToMemberParams,
) (livechat.SaveGroupIDToMemberResult, error) {
	if p.MessageEvent == nil {
		return livechat.SaveGroupIDToMemberResult{}, boterr.Missing(fieldMessageEvent, "the event in the group")
	}
	in, err := channels.Load(ctx, s.ports.Channels, channels.ByRecord(s.scope, p.Channel))
	if err != nil {
		return livechat.SaveGroupIDToMemberResult{}, err
	}
	g, err := s.groupOnEitherSide(ctx, in, *p.MessageEvent)
	if err != nil {
		return livechat.SaveGroupIDToMemberResult{}, err
	}
	m, err := s.memberOfGroup(ctx, g)
	if err != nil {
		return livechat.SaveGroupIDToMemberResult{}, boterr.WithField(fieldMessageEvent, err)
	}
	_, err = s.ports.Members.PatchMembers(ctx, member.PatchParams{
		Channel: &channel.Channel{ID: m.Channel}, MemberID: m.ID, Patch: document.O(fieldGroup, g.ID),
	})
	if err != nil {
		return livechat.SaveGroupIDToMemberResult{}, err
	}
	return livechat.SaveGroupIDToMemberResult{ClientMutationID: s.env.NewID()}, nil
}

// memberOfGroup returns the member of a group, or of its assignment if the group has no member.
func (s *Service) memberOfGroup(ctx context.Context, g *livechat.Group) (*member.Member, error) {
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
	return members.Get(ctx, s.ports.Members, r.Member)
}

// groupOnEitherSide returns the group that an event belongs to. The event's channel may be the outlet, or the
// inlet if the conversation with the member is a group there.
func (s *Service) groupOnEitherSide(ctx context.Context, in *channel.Channel, event send.MessageEvent) (*livechat.Group, error) {
	found, err := s.groupsOf(ctx, in.ID, event)
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		return found[0], nil
	}
	g, err := s.newestGroup(ctx, document.O(
		fieldInlet, document.O("$eq", in.ID), fieldInletGroupExternalID, document.O("$eq", event.To)), liveFirst)
	if err == nil && g == nil {
		err = boterr.New(boterr.NotFound, fieldMessageEvent,
			"no group in the channel %s belongs to an event from %q to %q", in.ID, event.From, event.To)
	}
	return g, err
}

// An assignment and its group refer to each other, and a request whose group has an agent is taken. Bot logic
// reports the parts in any order: the group with updateAssignmentGroup, its agent with handleAdminJoinedGroup, and
// the complete request with createAssignment. Each call stores its part, looks for the other parts, and completes as
// much as possible. So the last call completes the link, and so does any call that is repeated after a crash.

// linkable returns the live records of a group's conversation with their links to an assignment set, but not stored.
// It returns none if the assignment has ended, the group is not live, or another open assignment has the
// conversation.
func (s *Service) linkable(ctx context.Context, r *livechat.AssignmentRecord, g *livechat.Group) ([]*livechat.Group, error) {
	if r.State() == livechat.Ended || !g.Active {
		return nil, nil
	}
	records, err := s.findGroups(ctx, inConversation(g.Outlet, g.ExternalID).With(fieldActive, true))
	if err != nil {
		return nil, err
	}
	if isOthers, err := s.haveOther(ctx, records, r); err != nil || isOthers {
		return nil, err
	}
	m, err := members.Get(ctx, s.ports.Members, r.Member)
	if err != nil {
		return nil, boterr.WithField(fieldMember, err)
	}
	for _, one := range records {
		setLinks(one, r, m)
	}
	return records, nil
}

// setLinks sets a group's links to an assignment, in memory.
func setLinks(g *livechat.Group, r *livechat.AssignmentRecord, m *member.Member) {
	g.Inlet, g.Member, g.Assignment = r.Inlet, r.Member, r.ID
	if inletGroupID(r) != "" {
		g.InletGroupExternalID = inletGroupID(r)
	}
	if g.Name == "" {
		g.Name = cmp.Or(r.GroupName, nameOf(m))
	}
}

// haveOther reports whether any of a conversation's records belongs to another open assignment.
func (s *Service) haveOther(ctx context.Context, records []*livechat.Group, r *livechat.AssignmentRecord) (bool, error) {
	ids, named := []string{}, []string{}
	for _, g := range records {
		ids = append(ids, g.ID)
		if g.Assignment != "" && g.Assignment != r.ID {
			named = append(named, g.Assignment)
		}
	}
	for _, others := range []document.Object{
		document.O(fieldGroup, document.O("$in", ids), record.FieldID, document.O("$ne", r.ID), fieldEndedAt, isAbsent),
		document.O(record.FieldID, document.O("$in", named), fieldEndedAt, isAbsent),
	} {
		if other, err := s.oneAssignment(ctx, others); err != nil || other != nil {
			return err == nil, err
		}
	}
	return false, nil
}

// storeLinks stores the links of the live records of a conversation.
func (s *Service) storeLinks(ctx context.Context, records []*livechat.Group) error {
	for _, g := range records {
		links := document.O(fieldInlet, g.Inlet, fieldMember, g.Member, fieldAssignment, g.Assignment, fieldName, g.Name)
		if g.InletGroupExternalID != "" {
			links = links.With(fieldInletGroupExternalID, g.InletGroupExternalID)
		}
		_, err := s.groups().Where(record.FieldID, g.ID).Update(ctx, record.Patch{
			Filter: document.O(fieldActive, true), Patch: links,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// takeByGroup gives a request with a group to the agent in that group, if there is one, and opens their
// conversation. It returns the current assignment.
func (s *Service) takeByGroup(ctx context.Context, r *livechat.AssignmentRecord, g *livechat.Group) (*livechat.AssignmentRecord, error) {
	if g.AdminExternalID == "" {
		return r, nil
	}
	outlet, err := s.ports.Channels.Load(ctx, g.Outlet)
	if err != nil {
		return nil, err
	}
	taken, err := s.markTaken(ctx, r, outlet.ID, g.AdminExternalID)
	if err == nil && taken == nil {
		if taken, err = s.loadAssignment(ctx, r.ID); errors.Is(err, boterr.NotFound) { // The assignment was withdrawn.
			return nil, joined(endedMeanwhile(r), s.deactivateGroups(ctx, r))
		}
	}
	switch {
	case err != nil:
		return nil, err
	case taken.State() == livechat.Ended:
		return taken, s.deactivateGroups(ctx, taken)
	case taken.Group != g.ID || taken.Assignee != g.AdminExternalID:
		return taken, nil
	}
	if err := (&pass{Service: s, r: taken}).reconcile(ctx, wantConversation); err != nil {
		return nil, err
	}
	return s.loadAssignment(ctx, r.ID)
}

// linkByBravoGroupID links a Bravo group to the open assignment that refers to the group's id, if both exist.
func (s *Service) linkByBravoGroupID(ctx context.Context, bravoGroupID string) error {
	open, err := s.FindAssignments(ctx, record.Query{
		Filter: document.O(fieldGroupInfo+"."+fieldBravoGroupID, bravoGroupID).With(fieldEndedAt, isAbsent),
		SortBy: oldestFirst(),
	})
	if err != nil || len(open) == 0 {
		return err
	}
	r := open[len(open)-1]
	live, err := s.findGroups(ctx, document.O(fieldExternalID, bravoGroupID).
		With(fieldType, string(channel.Bravo)).With(fieldActive, true))
	if err != nil || len(live) == 0 {
		return err
	}
	i := max(0, slices.IndexFunc(live, func(g *livechat.Group) bool { return g.ID == r.Group }))
	if r.Group != "" && r.Group != live[i].ID {
		return nil // The assignment has a different group.
	}
	_, _, err = s.linkGroup(ctx, r, live[i], bravoGroupID)
	return err
}

// linkGroup links a group to an assignment and gives the assignment to the group's agent. bravoGroupID is the id of a
// Bravo group; the default is the group's external id. linkGroup returns the assignment and whether it changed.
func (s *Service) linkGroup(
	ctx context.Context, r *livechat.AssignmentRecord, g *livechat.Group, bravoGroupID string,
) (now *livechat.AssignmentRecord, isChanged bool, err error) {
	records, err := s.linkable(ctx, r, g)
	if err != nil {
		return nil, false, err
	}
	if i := slices.IndexFunc(records, func(one *livechat.Group) bool { return one.ID == g.ID }); i >= 0 {
		g = records[i]
	}
	info := groupInfo(g)
	if bravoGroupID != "" {
		info = info.With(fieldBravoGroupID, bravoGroupID)
	}
	found, err := set(ctx, s.assignments(), assignmentSchema, r.ID, document.O(fieldGroup, g.ID, fieldGroupInfo, info))
	if err != nil {
		return nil, false, record.RenameField(err, record.FieldID, fieldAssignmentID)
	}
	if now, err = assignmentFrom(found.Document); err != nil || len(records) == 0 {
		return now, found.Modified, err
	}
	if err := s.storeLinks(ctx, records); err != nil {
		return nil, false, err
	}
	taken, err := s.takeByGroup(ctx, now, g)
	if err != nil {
		return nil, false, err
	}
	return taken, found.Modified || taken.Version != now.Version, nil
}

// linkBravoGroup sets the bravoGroupId of an assignment, by which later calls find the assignment. If an agent has
// already joined the group with that id, linkBravoGroup also links the group.
func (s *Service) linkBravoGroup(ctx context.Context, p livechat.UpdateAssignmentGroupParams) (*livechat.AssignmentRecord, bool, error) {
	before, err := s.namedAssignment(ctx, assignmentByID(p.AssignmentID))
	if err != nil {
		return nil, false, err
	}
	_, err = set(ctx, s.assignments(), assignmentSchema, p.AssignmentID,
		document.O(fieldGroupInfo+"."+fieldBravoGroupID, p.BravoGroupID))
	if err == nil {
		err = s.linkByBravoGroupID(ctx, p.BravoGroupID)
	}
	if err != nil {
		return nil, false, err
	}
	now, err := s.loadAssignment(ctx, p.AssignmentID)
	return now, err == nil && now.Version != before.Version, err
}
