package livechat

import (
	"context"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/send"
)

// conversation returns the group in which the agent who has an assignment talks with the
// member. It is made where there is none; one that an earlier call made is used.
func (s *machine) conversation(ctx context.Context, outlet *channel.Channel, r *AssignmentRecord) (*Group, error) {
	if r.Group != "" {
		return s.joined(ctx, r)
	}
	found, err := s.findGroups(ctx, document.O(
		fieldAssignment, document.O("$eq", r.ID), fieldOutlet, document.O("$eq", outlet.ID)))
	if err != nil {
		return nil, err
	}
	var g *Group
	if len(found) > 0 {
		g = found[0]
	} else if g, err = s.newConversation(ctx, outlet, r); err != nil {
		return nil, err
	}
	return s.attach(ctx, outlet, r, g)
}

// joined returns the group that an assignment has, with the agent who has the assignment.
func (s *machine) joined(ctx context.Context, r *AssignmentRecord) (*Group, error) {
	g, err := s.loadGroup(ctx, r.Group)
	if err != nil || g.AdminExternalID != "" {
		return g, err
	}
	admin, err := s.admin(ctx, r.Assignee)
	if err != nil {
		return nil, err
	}
	joined := document.O(fieldAdminExternalID, r.Assignee)
	if admin.AdminID != "" {
		joined = joined.With(fieldAdmin, admin.AdminID)
	}
	found, err := s.groups.Where(record.FieldID, g.ID).FindAndModify(ctx, record.Patch{Patch: joined}, true)
	if err != nil || !found.Matched {
		return g, err
	}
	return groupFrom(found.Document)
}

// newConversation makes the group of an assignment, on the platform and as a record.
func (s *machine) newConversation(ctx context.Context, outlet *channel.Channel, r *AssignmentRecord) (*Group, error) {
	m, err := s.memberOf(ctx, r)
	if err != nil {
		return nil, err
	}
	admin, err := s.admin(ctx, r.Assignee)
	if err != nil {
		return nil, err
	}
	g := Group{
		Inlet: r.Inlet, Outlet: outlet.ID, Name: r.GroupName, Meta: document.O(), Active: true, Valid: true,
		BotID: outlet.BotID(), Type: outlet.Type, AdminExternalID: r.Assignee, Admin: admin.AdminID, Assignment: r.ID, Member: r.Member,
		InletGroupExternalID: r.inletGroup(),
	}
	if g.Name == "" {
		g.Name = nameOf(m)
	}
	if g.ExternalID, err = s.openOnPlatform(ctx, outlet, r, g.Name); err != nil {
		return nil, err
	}
	return s.insertGroup(ctx, g)
}

// insertGroup adds the record of a group.
func (s *core) insertGroup(ctx context.Context, g Group) (*Group, error) {
	encoded, err := document.Encode(g)
	if err != nil {
		return nil, err
	}
	inserted, err := s.groups.Insert(ctx, encoded)
	if err != nil {
		return nil, err
	}
	return groupFrom(inserted)
}

// openOnPlatform returns the external id of the conversation with the agent: a group that is
// made for it; the conversation that a direct outlet opened; or the agent.
func (s *machine) openOnPlatform(ctx context.Context, outlet *channel.Channel, r *AssignmentRecord, name string) (string, error) {
	if chat, err := s.openedChat(ctx, outlet, r); err != nil || chat != "" {
		return chat, err
	}
	if s.talksDirectly(outlet, r) {
		return r.Assignee, nil
	}
	creator, err := portOf[GroupCreator](s.core, outlet, "make groups")
	if err != nil {
		return "", err
	}
	created, err := creator.CreateGroup(ctx, outlet, NewGroup{Key: r.ID, Name: name, AdminExternalID: r.Assignee})
	if err != nil {
		return "", send.PlatformError(ctx, outlet.Type, err)
	}
	if created.ExternalID == "" {
		return "", boterr.New(boterr.Unavailable, "", "the platform of type %s did not say which group it made", outlet.Type)
	}
	return created.ExternalID, nil
}

// talksDirectly reports whether no group is made for an assignment in an outlet.
func (s *machine) talksDirectly(outlet *channel.Channel, r *AssignmentRecord) bool {
	_, makesGroups := send.PortOf[GroupCreator](s.ports.Connectors[outlet.Type])
	return r.Direct != "" || !makesGroups
}

// attach makes a group that of an assignment. Of two calls at once one group stays.
func (s *machine) attach(ctx context.Context, outlet *channel.Channel, r *AssignmentRecord, g *Group) (*Group, error) {
	requireOwn := s.requireOwn
	if g.isDirect() {
		requireOwn = func(ctx context.Context, _ *Group) error { return s.requireFree(ctx, outlet, r.Assignee, r.ID) }
	}
	if err := requireOwn(ctx, g); err != nil {
		return nil, s.refuseAgent(context.WithoutCancel(ctx), r, g, err)
	}
	attached, err := s.modify(ctx, r.ID, document.O(fieldGroup, isAbsent(), fieldEndedAt, isAbsent()),
		document.Set(fieldGroup, g.ID, fieldGroupInfo, g.info()))
	if err != nil || attached != nil {
		return g, err
	}
	now, err := s.loadAssignment(ctx, r.ID)
	switch {
	case err != nil:
		return nil, err
	case now.Group == g.ID:
		return g, nil
	case now.Group != "":
		if _, err := s.groups.Delete(ctx, equal(record.FieldID, g.ID)); err != nil {
			return nil, err
		}
		return s.loadGroup(ctx, now.Group)
	default:
		if err := s.deactivate(ctx, equal(record.FieldID, g.ID)); err != nil {
			return nil, err
		}
		return nil, endedMeanwhile(r)
	}
}

// requireFree refuses an agent who is in a direct conversation for another assignment: what
// the agent writes could be for either member.
func (s *machine) requireFree(ctx context.Context, outlet *channel.Channel, agent, assignmentID string) error {
	found, err := s.findGroups(ctx, document.O(
		fieldOutlet, document.O("$eq", outlet.ID), fieldExternalID, document.O("$eq", agent),
		fieldActive, true, fieldAssignment, document.O("$ne", assignmentID)))
	if err != nil {
		return err
	}
	for _, g := range found {
		isOver, err := s.closeOver(ctx, g)
		if err != nil {
			return err
		}
		if !isOver {
			return boterr.New(boterr.FailedPrecondition, fieldAdminExternalID,
				"the agent %s is in the conversation %q of the assignment %s: end that first", agent, g.Name, g.Assignment)
		}
	}
	return nil
}

// refuseAgent makes an assignment pending again whose agent cannot have the conversation with
// the member, and returns why.
func (s *machine) refuseAgent(ctx context.Context, r *AssignmentRecord, g *Group, why error) error {
	_, err := s.groups.Delete(ctx, equal(record.FieldID, g.ID))
	if err == nil {
		_, err = s.move(ctx, r, givingBack, equal(fieldAssignee, r.Assignee).With(fieldGroup, isAbsent()),
			document.Unset(fieldAssignee, fieldAssignedAt, fieldOutlet))
	}
	if err != nil {
		return err
	}
	return why
}

// memberOf returns the member of an assignment.
func (s *core) memberOf(ctx context.Context, r *AssignmentRecord) (*member.Member, error) {
	return s.ports.Members.GetMember(ctx, member.GetMemberParams{MemberID: r.Member})
}

// nameOf returns what agents read for a member: at most longestName code points.
func nameOf(m *member.Member) string {
	if name := strings.TrimSpace(m.FirstName + " " + m.LastName); name != "" {
		return shortened(name, longestName)
	}
	return m.ID
}
