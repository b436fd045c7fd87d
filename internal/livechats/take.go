package livechats

import (
	"context"
	"errors"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// Take gives a request to the agent who takes it; see TakeTicket of botctx.Runtime. It also sets the member's
// botMeta.liveChat to the requested value again, in case a crash prevented that earlier.
func (s *Service) Take(ctx context.Context, p livechat.TakeParams) (*livechat.TakeResult, error) {
	if _, err := assignmentByID(p.AssignmentID).Resolve(); err != nil {
		return nil, err
	}
	in := channels.ByRequiredID(p.ChannelID)
	if _, err := in.Resolve(); err != nil {
		return nil, err
	}
	if p.AdminExternalID == "" {
		return nil, boterr.Missing(fieldAdminExternalID, "the id of the agent on the outlet's platform")
	}
	outlet, err := channels.Load(ctx, s.ports.Channels, in)
	if err != nil {
		return nil, err
	}
	if _, err := s.ports.Connectors.Of(outlet); err != nil {
		return nil, boterr.WithField(fieldChannelID, err)
	}
	r, err := s.claim(ctx, outlet, p)
	if err != nil {
		return nil, err
	}
	run := &pass{Service: s, r: r, takenFrom: p.BroadcastGroupID}
	if err := run.reconcile(ctx, wantConversation); err != nil {
		return nil, err
	}
	if r, err = s.loadAssignment(ctx, r.ID); err != nil {
		return nil, err
	}
	return &livechat.TakeResult{Assignment: &r.Assignment, Group: run.group}, nil
}

// claim gives the assignment to the agent unless another agent has it.
func (s *Service) claim(ctx context.Context, outlet *channel.Channel, p livechat.TakeParams) (*livechat.AssignmentRecord, error) {
	r, err := s.namedAssignment(ctx, assignmentByID(p.AssignmentID))
	if err != nil {
		return nil, err
	}
	if !isOfferedIn(r, outlet.ID) {
		return nil, boterr.New(boterr.FailedPrecondition, fieldChannelID,
			"the assignment %s was not offered in the channel %s: take it where its ticket is", r.ID, outlet.ID)
	}
	if r.State() == livechat.Pending && s.talksDirectly(outlet, r) {
		if err := s.requireFree(ctx, outlet.ID, p.AdminExternalID, r.ID); err != nil {
			return nil, err
		}
	}
	claimed, err := s.markTaken(ctx, r, outlet.ID, p.AdminExternalID)
	if err != nil || claimed != nil {
		return claimed, err
	}
	return s.claimedBefore(ctx, outlet, p)
}

// markTaken records that an agent in an outlet has an open assignment, and returns the changed assignment. It returns
// nil if the assignment already has an agent or is not open.
func (s *Service) markTaken(
	ctx context.Context, r *livechat.AssignmentRecord, outletID, adminExternalID string,
) (*livechat.AssignmentRecord, error) {
	expiry := s.nextExpiry()
	from := []livechat.State{livechat.Pending, livechat.Taken} // One that opened in a group is taken, but has no agent yet.
	// The alarm is set first, so that after a crash there is no taken assignment without an alarm.
	if r.Expiry.IsZero() && slices.Contains(from, r.State()) {
		if err := s.setAlarm(ctx, r.Member, expiry); err != nil {
			return nil, err
		}
	}
	taken := document.O(
		fieldAssignee, adminExternalID, fieldAssignedAt, document.TimestampOf(s.env.Now()), fieldOutlet, outletID, fieldExpiry, expiry)
	return s.move(ctx, r, from, document.O(fieldAssignee, isAbsent), document.O("$set", taken))
}

// claimedBefore returns the assignment if the same agent already has it. Otherwise it returns the error for the
// failed claim.
func (s *Service) claimedBefore(ctx context.Context, outlet *channel.Channel, p livechat.TakeParams) (*livechat.AssignmentRecord, error) {
	r, err := s.namedAssignment(ctx, assignmentByID(p.AssignmentID))
	if err != nil {
		return nil, err
	}
	switch state := r.State(); {
	case state == livechat.Taken && r.Assignee == p.AdminExternalID && r.Outlet == outlet.ID:
		return r, nil
	case state == livechat.Taken:
		name, err := s.adminName(ctx, r.Assignee)
		if err != nil {
			return nil, err
		}
		return nil, boterr.New(boterr.FailedPrecondition, fieldAssignmentID, "%w",
			&livechat.TooLateError{Assignment: &r.Assignment, AdminName: name})
	case state == livechat.Ended:
		return nil, boterr.New(boterr.FailedPrecondition, fieldAssignmentID, "%w", &livechat.TooLateError{Assignment: &r.Assignment})
	case state == livechat.Sending:
		return nil, boterr.New(boterr.FailedPrecondition, fieldAssignmentID,
			"the assignment %s is still being sent: take it when the request is open", r.ID)
	default:
		return nil, boterr.New(boterr.Conflict, fieldAssignmentID, "the assignment %s has changed: take it again", r.ID)
	}
}

// isOfferedIn reports whether the assignment was offered to agents of a channel.
func isOfferedIn(r *livechat.AssignmentRecord, channelID string) bool {
	if r.Direct != "" {
		return r.Direct == channelID
	}
	for _, ticket := range r.Tickets {
		if ticket.Channel == channelID {
			return true
		}
	}
	return false
}

// conversation returns the group in which the agent who has an assignment talks to the member. It creates the
// group unless an earlier call did.
func (s *Service) conversation(ctx context.Context, outlet *channel.Channel, r *livechat.AssignmentRecord) (*livechat.Group, error) {
	if r.Group != "" {
		g, err := s.ownGroup(ctx, r)
		switch {
		case err != nil:
			return nil, err
		case g != nil:
			return s.joinGroup(ctx, r, g)
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

// ownGroup returns the group that an assignment refers to if it is live and no other open assignment has it.
// Otherwise, and if the group does not exist, it returns nil.
func (s *Service) ownGroup(ctx context.Context, r *livechat.AssignmentRecord) (*livechat.Group, error) {
	g, err := s.liveGroup(ctx, r.Group)
	if err != nil || g == nil || g.Assignment == "" || g.Assignment == r.ID {
		return g, err
	}
	other, err := s.findAssignment(ctx, g.Assignment)
	if err != nil || other != nil && other.State() != livechat.Ended {
		return nil, err
	}
	return g, nil
}

// leaveGroup clears the group of an assignment, because that group cannot be its conversation.
func (s *Service) leaveGroup(ctx context.Context, r *livechat.AssignmentRecord) (*livechat.AssignmentRecord, error) {
	left, err := s.modify(ctx, r.ID, document.O(fieldGroup, r.Group).With(fieldEndedAt, isAbsent),
		document.Unset(fieldGroup, fieldGroupInfo))
	if err == nil && left == nil {
		err = boterr.New(boterr.Conflict, fieldAssignmentID,
			"the assignment %s ended or got another group while it was taken: take it again", r.ID)
	}
	return left, err
}

// joinGroup stores the agent who has an assignment in its group, unless the group has an agent.
func (s *Service) joinGroup(ctx context.Context, r *livechat.AssignmentRecord, g *livechat.Group) (*livechat.Group, error) {
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

// newConversation creates the group of an assignment on the platform and as a record.
func (s *Service) newConversation(ctx context.Context, outlet *channel.Channel, r *livechat.AssignmentRecord) (*livechat.Group, error) {
	m, err := members.Get(ctx, s.ports.Members, r.Member)
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
	case record.IsPermanent(err):
		return nil, s.giveBack(context.WithoutCancel(ctx), r, err)
	case err != nil:
		return nil, err
	}
	return s.insertGroup(ctx, g)
}

// openOnPlatform returns the external id of the conversation with the agent: of a new group, of a conversation that a
// direct outlet opened, or the agent's own id.
func (s *Service) openOnPlatform(ctx context.Context, outlet *channel.Channel, r *livechat.AssignmentRecord, name string) (string, error) {
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
		return "", boterr.New(boterr.Unavailable, "", "the platform of type %s returned no id for the new group", outlet.Type)
	}
	return created.ExternalID, nil
}

// talksDirectly reports whether an assignment in an outlet uses the direct conversation with the agent instead of a
// new group.
func (s *Service) talksDirectly(outlet *channel.Channel, r *livechat.AssignmentRecord) bool {
	_, makesGroups := send.PortOf[livechat.GroupCreator](s.ports.Connectors[outlet.Type])
	return r.Direct != "" || !makesGroups
}

// attach links a group to an assignment. If two calls do so concurrently, only one of the groups remains.
func (s *Service) attach(ctx context.Context, r *livechat.AssignmentRecord, g *livechat.Group) (*livechat.Group, error) {
	var err error
	if isDirect(g) {
		err = s.requireFree(ctx, g.Outlet, r.Assignee, r.ID)
	} else {
		err = s.requireOwn(ctx, g)
	}
	if err != nil {
		ctx = context.WithoutCancel(ctx)
		if _, failed := s.groups().Delete(ctx, document.O(record.FieldID, g.ID)); failed != nil {
			return nil, failed
		}
		return nil, s.giveBack(ctx, r, err)
	}
	attached, err := s.modify(ctx, r.ID, document.O(fieldGroup, isAbsent, fieldEndedAt, isAbsent),
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
		if _, err := s.groups().Delete(ctx, document.O(record.FieldID, g.ID)); err != nil {
			return nil, err
		}
		return s.loadGroup(ctx, now.Group)
	default:
		if err := s.deactivate(ctx, document.O(record.FieldID, g.ID)); err != nil {
			return nil, err
		}
		return nil, endedMeanwhile(r)
	}
}

// requireFree returns an error if an agent has a direct conversation for another assignment, because the agent's
// messages could then be for either member.
func (s *Service) requireFree(ctx context.Context, outletID, agent, assignmentID string) error {
	other, _, err := s.rival(ctx, livechat.Group{Outlet: outletID, ExternalID: agent, Assignment: assignmentID})
	if err != nil || other == nil {
		return err
	}
	return boterr.New(boterr.FailedPrecondition, fieldAdminExternalID,
		"the agent %s is in the conversation %q of the assignment %s: end that first", agent, other.Name, other.Assignment)
}

// giveBack makes an assignment pending again after its agent got no conversation with the member, because of
// why. It returns why, or the error of the write. The alarm stays set, and has no effect while the assignment
// has no expiry.
func (s *Service) giveBack(ctx context.Context, r *livechat.AssignmentRecord, why error) error {
	unset := []string{fieldAssignee, fieldAssignedAt, fieldOutlet}
	if !r.LiveChatAgenda {
		unset = append(unset, fieldExpiry)
	}
	hasNone := document.O(fieldAssignee, r.Assignee).With(fieldGroup, isAbsent)
	if _, err := s.move(ctx, r, []livechat.State{livechat.Taken}, hasNone, document.Unset(unset...)); err != nil {
		return err
	}
	return why
}

// openedChat returns the id of the conversation that a direct outlet opened for an assignment. It returns ""
// if the outlet named none in its answer, named a broadcast group, or named the conversation of another open
// request. A message in a conversation goes to one member, so open live chats never share one.
func (s *Service) openedChat(ctx context.Context, outlet *channel.Channel, r *livechat.AssignmentRecord) (string, error) {
	if r.Direct == "" || len(r.Tickets) == 0 {
		return "", nil
	}
	chat := r.Tickets[0].ChatID
	if chat == "" || chat == r.Tickets[0].Group.ID || channels.HasBroadcastGroup(outlet, chat) {
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

// takeByWriting gives an untaken request to the agent whose event is in the conversation that a direct outlet opened
// for it, because a helpdesk does not report who takes a request. If another agent takes it at the same time, both write
// in the same conversation. It returns the group of the event, or nil.
func (s *Service) takeByWriting(ctx context.Context, outletID string, event send.MessageEvent) (*livechat.Group, error) {
	if event.From == "" {
		return nil, nil
	}
	outlet, err := s.ports.Channels.Load(ctx, outletID)
	if err != nil {
		return nil, err
	}
	r, err := s.untakenIn(ctx, outlet, event.To)
	if err != nil || r == nil {
		return nil, err
	}
	_, err = s.Take(ctx, livechat.TakeParams{AssignmentID: r.ID, ChannelID: outlet.ID, AdminExternalID: event.From})
	late, isLate := errors.AsType[*livechat.TooLateError](err)
	if err != nil && !isLate {
		return nil, err
	}
	g, err := s.GroupOf(ctx, outletID, event)
	if err == nil && g == nil && isLate && late.AdminName != "" {
		err = boterr.New(boterr.Conflict, "", "%s is just taking the request: try again", late.AdminName)
	}
	return g, err
}

// untakenIn returns the untaken request for which a direct outlet opened the conversation, or nil.
func (s *Service) untakenIn(ctx context.Context, outlet *channel.Channel, conversation string) (*livechat.AssignmentRecord, error) {
	if conversation == "" || !outlet.Type.Has(channel.DirectRequests) || channels.HasBroadcastGroup(outlet, conversation) {
		return nil, nil
	}
	r, err := s.oneAssignment(ctx, document.O(
		fieldEndedAt, isAbsent, fieldAssignedAt, isAbsent, // These let the filter use the index of waiting requests.
		fieldDirect, document.O("$eq", outlet.ID), fieldTickets+".chatId", document.O("$eq", conversation)))
	if err != nil || r == nil || r.State() != livechat.Pending {
		return nil, err
	}
	return r, nil
}

// requireOwn returns an error if a group is the conversation of another open assignment. It must be called after the
// group is stored, so that two concurrent calls see each other's groups.
func (s *Service) requireOwn(ctx context.Context, g *livechat.Group) error {
	_, other, err := s.rival(ctx, *g)
	if err != nil || other == nil {
		return err
	}
	return boterr.New(boterr.FailedPrecondition, "",
		"the conversation %s in the channel %s belongs to the assignment %s: open another conversation on the platform, "+
			"or end that assignment first",
		g.ExternalID, g.Outlet, other.ID)
}

// rival returns another live group for the same conversation and its open assignment, which is nil if the group has
// none. If the assignment of a group has ended, a call was interrupted: rival closes the assignment and deactivates
// the group.
func (s *Service) rival(ctx context.Context, g livechat.Group) (*livechat.Group, *livechat.AssignmentRecord, error) {
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

// Waiting returns the number of the app's requests with a label that wait for an agent. An empty label counts
// all of them. The call reads only waiting requests.
func (s *Service) Waiting(ctx context.Context, label string) (int64, error) {
	return s.assignments().Count(ctx, waitingFor(label))
}

// Position returns the place of a request in the queue of the app's waiting requests with the same label. It
// reads only waiting requests. NotFound: the app has no such assignment.
func (s *Service) Position(ctx context.Context, assignmentID string) (livechat.Position, error) {
	r, err := s.namedAssignment(ctx, assignmentByID(assignmentID))
	if err != nil {
		return livechat.Position{}, err
	}
	return s.positionOf(ctx, r)
}

// PositionOfMember is Position for the open request of a member. The result is zero if the member has none.
func (s *Service) PositionOfMember(ctx context.Context, memberID string) (livechat.Position, error) {
	r, err := s.openAssignment(ctx, memberID)
	if err != nil || r == nil {
		return livechat.Position{}, err
	}
	return s.positionOf(ctx, r)
}

func (s *Service) positionOf(ctx context.Context, r *livechat.AssignmentRecord) (livechat.Position, error) {
	waiting, err := s.assignments().Count(ctx, waitingFor(r.Label))
	if err != nil || r.State() != livechat.Pending {
		return livechat.Position{Waiting: waiting}, err
	}
	before, err := s.assignments().Count(ctx, waitingFor(r.Label).
		With(fieldSentAt, document.O("$gt", 0, "$lt", r.SentAt)))
	if err != nil {
		return livechat.Position{}, err
	}
	same, err := s.assignments().Count(ctx, waitingFor(r.Label).
		With(fieldSentAt, r.SentAt).With("_id", document.O("$lt", r.ID)))
	return livechat.Position{Place: before + same + 1, Waiting: max(waiting, before+same+1)}, err
}

// waitingFor matches the requests that wait for an agent, with a label unless it is "". An index serves it.
func waitingFor(label string) document.Object {
	waiting := document.O(fieldEndedAt, nil, fieldAssignedAt, nil, fieldSentAt, document.O("$gt", 0), fieldAssignee, nil)
	if label != "" {
		waiting = waiting.With(fieldLabel, label)
	}
	return waiting
}
