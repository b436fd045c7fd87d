package livechats

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

// An assignment and its group name each other, and a request whose group has an agent is
// taken. Bot logic brings them together in any order: updateAssignmentGroup says which group
// it is, handleAdminJoinedGroup who is in it, createAssignment that all was sent. Each of them
// stores what it knows, looks for what the others know, and does what is left. So the last of
// them, or the same call again after a crash, leaves everything as it should be.

// linkable returns the live records of the conversation of a group, each with its links to
// an assignment, which are not stored yet. There are none where the assignment has ended, the
// group is not live, or the conversation is that of another open assignment.
func (s *machine) linkable(ctx context.Context, r *livechat.AssignmentRecord, g *livechat.Group) ([]*livechat.Group, error) {
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
	m, err := s.memberOf(ctx, r)
	if err != nil {
		return nil, boterr.WithField(fieldMember, err)
	}
	for _, one := range records {
		linkGroup(one, r, m)
	}
	return records, nil
}

// linkGroup makes the group that of an assignment, in memory.
func linkGroup(g *livechat.Group, r *livechat.AssignmentRecord, m *member.Member) {
	g.Inlet, g.Member, g.Assignment = r.Inlet, r.Member, r.ID
	if inletGroupID(r) != "" {
		g.InletGroupExternalID = inletGroupID(r)
	}
	if g.Name == "" {
		g.Name = cmp.Or(r.GroupName, nameOf(m))
	}
}

// haveOther reports whether one of the records of a conversation belongs to another
// assignment, which is open.
func (s *machine) haveOther(ctx context.Context, records []*livechat.Group, r *livechat.AssignmentRecord) (bool, error) {
	ids, named := []string{}, []string{}
	for _, g := range records {
		ids = append(ids, g.ID)
		if g.Assignment != "" && g.Assignment != r.ID {
			named = append(named, g.Assignment)
		}
	}
	for _, others := range []document.Object{
		document.O(fieldGroup, document.O("$in", ids), record.FieldID, document.O("$ne", r.ID), fieldEndedAt, isAbsent()),
		document.O(record.FieldID, document.O("$in", named), fieldEndedAt, isAbsent()),
	} {
		if other, err := s.oneAssignment(ctx, others); err != nil || other != nil {
			return err == nil, err
		}
	}
	return false, nil
}

// storeLinks stores the links of the live records of a conversation.
func (s *machine) storeLinks(ctx context.Context, records []*livechat.Group) error {
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

// takeByGroup gives a request that has a group to the agent who is in it, if there is one, and
// does what belongs to that. It returns the assignment as it is then.
func (s *machine) takeByGroup(ctx context.Context, r *livechat.AssignmentRecord, g *livechat.Group) (*livechat.AssignmentRecord, error) {
	if g.AdminExternalID == "" {
		return r, nil
	}
	outlet, err := s.ports.Channels.Load(ctx, g.Outlet)
	if err != nil {
		return nil, err
	}
	taken, err := s.markTaken(ctx, r, outlet.ID, g.AdminExternalID)
	if err == nil && taken == nil {
		if taken, err = s.loadAssignment(ctx, r.ID); errors.Is(err, boterr.NotFound) { // It was withdrawn.
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
	if err := (&pass{machine: s, r: taken}).reconcile(ctx, wantConversation); err != nil {
		return nil, err
	}
	return s.loadAssignment(ctx, r.ID)
}

// linkByBravoGroupID brings a group on Bravo together with the open assignment that knows it by its id
// there, as far as both are known.
func (s *machine) linkByBravoGroupID(ctx context.Context, bravoGroupID string) error {
	open, err := s.findAssignments(ctx, record.Query{
		Filter: equal(fieldGroupInfo+"."+fieldBravoGroupID, bravoGroupID).With(fieldEndedAt, isAbsent()),
		SortBy: oldestFirst(),
	})
	if err != nil || len(open) == 0 {
		return err
	}
	r := open[len(open)-1]
	live, err := s.findGroups(ctx, equal(fieldExternalID, bravoGroupID).
		With(fieldType, string(channel.Bravo)).With(fieldActive, true))
	if err != nil || len(live) == 0 {
		return err
	}
	i := max(0, slices.IndexFunc(live, func(g *livechat.Group) bool { return g.ID == r.Group }))
	if r.Group != "" && r.Group != live[i].ID {
		return nil // It has another one.
	}
	_, _, err = s.linkGroup(ctx, r, live[i], bravoGroupID)
	return err
}

// linkGroup makes a group that of an assignment, and gives the assignment to the agent who is
// in the group. Of one on Bravo bravoGroupID is the id there, "" for its external id. It
// returns the assignment as it is then, and whether it changed.
func (s *machine) linkGroup(
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
	found, err := set(ctx, s.assignments(), assignmentKind, r.ID, document.O(fieldGroup, g.ID, fieldGroupInfo, info))
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

// linkBravoGroup sets by which id on Bravo an assignment is found, and brings it together with
// the group of that id where an agent has joined it already.
func (s *Service) linkBravoGroup(ctx context.Context, p livechat.UpdateAssignmentGroupParams) (*livechat.AssignmentRecord, bool, error) {
	before, err := s.namedAssignment(ctx, assignmentByID(p.AssignmentID))
	if err != nil {
		return nil, false, err
	}
	_, err = set(ctx, s.assignments(), assignmentKind, p.AssignmentID,
		document.O(fieldGroupInfo+"."+fieldBravoGroupID, p.BravoGroupID))
	if err == nil {
		err = s.machine.linkByBravoGroupID(ctx, p.BravoGroupID)
	}
	if err != nil {
		return nil, false, err
	}
	now, err := s.loadAssignment(ctx, p.AssignmentID)
	return now, err == nil && now.Version != before.Version, err
}
