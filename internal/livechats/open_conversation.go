package livechats

import (
	"context"
	"errors"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// conversation returns the group in which the agent who has an assignment talks with the
// member. It is made where there is none; one that an earlier call made is used.
func (s *machine) conversation(ctx context.Context, outlet *channel.Channel, r *livechat.AssignmentRecord) (*livechat.Group, error) {
	if r.Group != "" {
		g, err := s.ownGroup(ctx, r)
		switch {
		case err != nil:
			return nil, err
		case g != nil:
			return s.joined(ctx, r, g)
		}
		if r, err = s.leaveGroup(ctx, r); err != nil {
			return nil, err
		}
	}
	found, err := s.findGroups(ctx, document.O(
		fieldAssignment, document.O("$eq", r.ID), fieldOutlet, document.O("$eq", outlet.ID), fieldActive, true))
	if err != nil {
		return nil, err
	}
	var g *livechat.Group
	if len(found) > 0 {
		g = found[0]
	} else if g, err = s.newConversation(ctx, outlet, r); err != nil {
		return nil, err
	}
	return s.attach(ctx, r, g)
}

// ownGroup returns the group that an assignment names if it can be its conversation: it is live, and no other open
// assignment has it. Else nil, also if the group was removed: bot logic may have named any.
func (s *machine) ownGroup(ctx context.Context, r *livechat.AssignmentRecord) (*livechat.Group, error) {
	g, err := s.loadGroup(ctx, r.Group)
	switch {
	case errors.Is(err, boterr.NotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case !g.Active:
		return nil, nil
	case g.Assignment == "" || g.Assignment == r.ID:
		return g, nil
	}
	other, err := s.loadAssignment(ctx, g.Assignment)
	switch {
	case errors.Is(err, boterr.NotFound):
		return g, nil
	case err != nil || other.State() != livechat.Ended:
		return nil, err
	}
	return g, nil
}

// leaveGroup takes a group that cannot be its conversation from an assignment.
func (s *machine) leaveGroup(ctx context.Context, r *livechat.AssignmentRecord) (*livechat.AssignmentRecord, error) {
	left, err := s.modify(ctx, r.ID, equal(fieldGroup, r.Group).With(fieldEndedAt, isAbsent()),
		document.Unset(fieldGroup, fieldGroupInfo))
	if err == nil && left == nil {
		err = boterr.New(boterr.Conflict, fieldAssignmentID,
			"the assignment %s ended or was given another group while it was taken: take it again", r.ID)
	}
	return left, err
}

// joined returns the group of an assignment, with the agent who has the assignment.
func (s *machine) joined(ctx context.Context, r *livechat.AssignmentRecord, g *livechat.Group) (*livechat.Group, error) {
	if g.AdminExternalID != "" {
		return g, nil
	}
	admin, err := s.admin(ctx, r.Assignee)
	if err != nil {
		return nil, err
	}
	joined := document.O(fieldAdminExternalID, r.Assignee)
	if admin.AdminID != "" {
		joined = joined.With(fieldAdmin, admin.AdminID)
	}
	found, err := s.groups().Where(record.FieldID, g.ID).FindAndModify(ctx, record.Patch{Patch: joined}, true)
	if err != nil || !found.Matched {
		return g, err
	}
	return groupFrom(found.Document)
}

// newConversation makes the group of an assignment, on the platform and as a record.
func (s *machine) newConversation(ctx context.Context, outlet *channel.Channel, r *livechat.AssignmentRecord) (*livechat.Group, error) {
	m, err := s.memberOf(ctx, r)
	if err != nil {
		return nil, err
	}
	admin, err := s.admin(ctx, r.Assignee)
	if err != nil {
		return nil, err
	}
	g := newGroup(r, outlet.ID, outlet.Type, m)
	g.BotID, g.AdminExternalID, g.Admin = outlet.BotID(), r.Assignee, admin.AdminID
	switch g.ExternalID, err = s.openOnPlatform(ctx, outlet, r, g.Name); {
	case isRefused(err):
		return nil, s.giveBack(context.WithoutCancel(ctx), r, err)
	case err != nil:
		return nil, err
	}
	return s.insertGroup(ctx, g)
}

// openOnPlatform returns the external id of the conversation with the agent: a group that is
// made for it; the conversation that a direct outlet opened; or the agent.
func (s *machine) openOnPlatform(ctx context.Context, outlet *channel.Channel, r *livechat.AssignmentRecord, name string) (string, error) {
	if chat, err := s.openedChat(ctx, outlet, r); err != nil || chat != "" {
		return chat, err
	}
	if s.talksDirectly(outlet, r) {
		return r.Assignee, nil
	}
	creator, err := send.RequirePort[livechat.GroupCreator](s.ports.Connectors, outlet, "make groups")
	if err != nil {
		return "", err
	}
	created, err := creator.CreateGroup(ctx, outlet, livechat.NewGroup{Key: r.ID, Name: name, AdminExternalID: r.Assignee})
	if err != nil {
		return "", sends.PlatformError(ctx, outlet.Type, err)
	}
	if created.ExternalID == "" {
		return "", boterr.New(boterr.Unavailable, "", "the platform of type %s did not say which group it made", outlet.Type)
	}
	return created.ExternalID, nil
}

// talksDirectly reports whether no group is made for an assignment in an outlet.
func (s *machine) talksDirectly(outlet *channel.Channel, r *livechat.AssignmentRecord) bool {
	_, makesGroups := send.PortOf[livechat.GroupCreator](s.ports.Connectors[outlet.Type])
	return r.Direct != "" || !makesGroups
}

// attach makes a group that of an assignment. Of two calls at once one group stays.
func (s *machine) attach(ctx context.Context, r *livechat.AssignmentRecord, g *livechat.Group) (*livechat.Group, error) {
	var err error
	if isDirect(g) {
		err = s.requireFree(ctx, g.Outlet, r.Assignee, r.ID)
	} else {
		err = s.requireOwn(ctx, g)
	}
	if err != nil {
		return nil, s.refuseAgent(context.WithoutCancel(ctx), r, g, err)
	}
	attached, err := s.modify(ctx, r.ID, document.O(fieldGroup, isAbsent(), fieldEndedAt, isAbsent()),
		document.Set(fieldGroup, g.ID, fieldGroupInfo, groupInfo(g)))
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
		if _, err := s.groups().Delete(ctx, equal(record.FieldID, g.ID)); err != nil {
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
func (s *machine) requireFree(ctx context.Context, outletID, agent, assignmentID string) error {
	other, _, err := s.rival(ctx, livechat.Group{Outlet: outletID, ExternalID: agent, Assignment: assignmentID})
	if err != nil || other == nil {
		return err
	}
	return boterr.New(boterr.FailedPrecondition, fieldAdminExternalID,
		"the agent %s is in the conversation %q of the assignment %s: end that first", agent, other.Name, other.Assignment)
}

// refuseAgent makes an assignment pending again whose agent cannot have the conversation with
// the member, and returns why.
func (s *machine) refuseAgent(ctx context.Context, r *livechat.AssignmentRecord, g *livechat.Group, why error) error {
	if _, err := s.groups().Delete(ctx, equal(record.FieldID, g.ID)); err != nil {
		return err
	}
	return s.giveBack(ctx, r, why)
}

// giveBack makes an assignment pending again whose agent has no conversation with the member, and returns why.
// The alarm stays, and does nothing where the request has no expiry again.
func (s *machine) giveBack(ctx context.Context, r *livechat.AssignmentRecord, why error) error {
	unset := []string{fieldAssignee, fieldAssignedAt, fieldOutlet}
	if !r.LiveChatAgenda {
		unset = append(unset, fieldExpiry)
	}
	hasNone := equal(fieldAssignee, r.Assignee).With(fieldGroup, isAbsent())
	if _, err := s.move(ctx, r, givingBack, hasNone, document.Unset(unset...)); err != nil {
		return err
	}
	return why
}

// What is written in a conversation of an outlet goes to one member. So no two live chats of
// an outlet that are open have the same conversation.

// openedChat returns the conversation that a direct outlet opened for an assignment, "" where
// it opened none: the answer names the conversation that the request was sent to, or that
// of another request.
func (s *machine) openedChat(ctx context.Context, outlet *channel.Channel, r *livechat.AssignmentRecord) (string, error) {
	if r.Direct == "" || len(r.Tickets) == 0 {
		return "", nil
	}
	chat := r.Tickets[0].ChatID
	if chat == "" || chat == r.Tickets[0].Group.ID || hasBroadcastGroup(outlet, chat) {
		return "", nil
	}
	others, err := s.assignments().Count(ctx, document.O(
		fieldSlot, isOpenSlot(), fieldDirect, document.O("$eq", outlet.ID),
		fieldTickets+".chatId", document.O("$eq", chat), record.FieldID, document.O("$ne", r.ID)))
	if err != nil || others > 0 {
		return "", err
	}
	_, other, err := s.rival(ctx, livechat.Group{Outlet: outlet.ID, ExternalID: chat, Assignment: r.ID})
	if err != nil || other != nil {
		return "", err
	}
	return chat, nil
}

// hasBroadcastGroup reports whether an id is that of a broadcast group of a channel, where
// agents may talk about other things.
func hasBroadcastGroup(c *channel.Channel, id string) bool {
	return slices.ContainsFunc(c.BroadcastGroups, func(b channel.BroadcastGroup) bool {
		return slices.ContainsFunc(b.Groups, func(m channel.BroadcastGroupMember) bool { return m.ID == id })
	})
}

// requireOwn refuses a group that is the conversation of another open assignment. It is
// asked when the group is stored: of two at once, each sees the other one's.
func (s *machine) requireOwn(ctx context.Context, g *livechat.Group) error {
	_, other, err := s.rival(ctx, *g)
	if err != nil || other == nil {
		return err
	}
	return boterr.New(boterr.FailedPrecondition, "",
		"the conversation %s in the channel %s is that of the assignment %s: the platform has to open another one, or that one has to end first",
		g.ExternalID, g.Outlet, other.ID)
}

// rival returns another live group that is the same conversation, and its open assignment, nil
// where it names none. A group whose assignment has ended was left by who was interrupted: that
// assignment is closed, and the group is put out of use.
func (s *machine) rival(ctx context.Context, g livechat.Group) (*livechat.Group, *livechat.AssignmentRecord, error) {
	live, err := s.findGroups(ctx, inConversation(g.Outlet, g.ExternalID).
		With(fieldActive, true).With(record.FieldID, document.O("$ne", g.ID)))
	for _, other := range live {
		r, err := s.assignmentOf(ctx, other)
		switch {
		case err != nil:
			return nil, nil, err
		case r == nil || r.State() != livechat.Ended && r.ID != g.Assignment:
			return other, r, nil
		case r.State() == livechat.Ended:
			if err = s.finish(ctx, r); err == nil {
				err = s.deactivateGroups(ctx, r)
			}
			if err != nil {
				return nil, nil, err
			}
		}
	}
	return nil, nil, err
}
