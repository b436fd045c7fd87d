package livechat

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/record"
)

// findAssignments returns the assignments that match.
func (s *core) findAssignments(ctx context.Context, query record.Query) ([]*AssignmentRecord, error) {
	found, err := s.assignments().Find(ctx, query)
	if err != nil {
		return nil, err
	}
	return record.ReadAll(found, assignmentFrom)
}

// loadAssignment returns the assignment of that id in the app, or NotFound.
func (s *core) loadAssignment(ctx context.Context, id string) (*AssignmentRecord, error) {
	found, err := s.assignments().Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return assignmentFrom(found)
}

// assignmentOf returns the assignment of a group: of those whose group it is the open one that the group names,
// or else the newest, or else the one that the group names. nil where there is none.
func (s *core) assignmentOf(ctx context.Context, g *Group) (*AssignmentRecord, error) {
	found, err := s.findAssignments(ctx, record.Query{Filter: equal(fieldGroup, g.ID), SortBy: oldestFirst()})
	switch {
	case err != nil:
		return nil, err
	case len(found) > 0:
		named := slices.IndexFunc(found, func(r *AssignmentRecord) bool { return r.ID == g.Assignment && r.State() != Ended })
		if named < 0 {
			named = len(found) - 1
		}
		return found[named], nil
	case g.Assignment == "":
		return nil, nil
	}
	r, err := s.loadAssignment(ctx, g.Assignment)
	if errors.Is(err, boterr.NotFound) {
		return nil, nil
	}
	return r, err
}

// openAssignment returns the assignment that has the slot of a member: one that is being sent,
// pending or taken. It is nil where there is none.
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
	found, err := s.assignments().Where(record.FieldID, id).FindAndModify(ctx, record.Patch{
		Filter: condition, Patch: update, WithModifier: true,
	}, true)
	if err != nil || !found.Matched {
		return nil, err
	}
	return assignmentFrom(found.Document)
}

// findGroups returns the groups that match, the oldest first.
func (s *core) findGroups(ctx context.Context, filter document.Object) ([]*Group, error) {
	found, err := s.groups().Find(ctx, record.Query{Filter: filter, SortBy: oldestFirst()})
	if err != nil {
		return nil, err
	}
	return record.ReadAll(found, groupFrom)
}

// liveGroupsIn returns the live groups of an outlet with an external id, the oldest first.
func (s *core) liveGroupsIn(ctx context.Context, outletID, externalID string) ([]*Group, error) {
	found, err := record.FindEqual(ctx, s.env, groupKind, s.scope.App,
		query.FieldValue{Name: fieldExternalID, Value: externalID},
		query.FieldValue{Name: fieldActive, Value: true},
	)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	groups, err := record.ReadAll(found, groupFrom)
	groups = slices.DeleteFunc(groups, func(g *Group) bool { return g.Outlet != outletID })
	slices.SortStableFunc(groups, func(a, b *Group) int { return cmp.Compare(a.CreatedAt, b.CreatedAt) })
	return groups, err
}

// groupsIn returns the groups of an outlet with an external id, the newest first.
func (s *core) groupsIn(ctx context.Context, outletID, externalID string) ([]*Group, error) {
	found, err := s.findGroups(ctx, inConversation(outletID, externalID))
	slices.Reverse(found)
	return found, err
}

// loadGroup returns the group of that id in the app, or NotFound.
func (s *core) loadGroup(ctx context.Context, id string) (*Group, error) {
	found, err := s.groups().Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return groupFrom(found)
}

// latestGroup returns the newest live group that matches, else the newest one, or NotFound.
func (s *core) latestGroup(ctx context.Context, filter document.Object) (*Group, error) {
	g, err := s.newestGroup(ctx, filter)
	if err == nil && g == nil {
		err = boterr.New(boterr.NotFound, "", "no group fits: there is none with these ids here")
	}
	return g, err
}

// newestGroup returns the newest live group that matches, else the newest one, nil for none.
func (s *core) newestGroup(ctx context.Context, filter document.Object) (*Group, error) {
	found, err := s.groups().Find(ctx, record.Query{Filter: filter, SortBy: oldestFirst()})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	slices.Reverse(found)
	isActive := func(o document.Object) bool { return document.Get(o, fieldActive, false) }
	return groupFrom(found[max(0, slices.IndexFunc(found, isActive))])
}

// inConversation matches the groups of an outlet with an external id.
func inConversation(outletID, externalID string) document.Object {
	return document.O(fieldOutlet, outletID, fieldExternalID, externalID)
}

// insertGroup adds the record of a group.
func (s *core) insertGroup(ctx context.Context, g Group) (*Group, error) {
	encoded, err := document.Encode(g)
	if err != nil {
		return nil, err
	}
	inserted, err := s.groups().Insert(ctx, encoded)
	if err != nil {
		return nil, err
	}
	return groupFrom(inserted)
}

// admin returns the agent with an id on an outlet's platform, the zero Admin where none is
// known.
func (s *core) admin(ctx context.Context, externalID string) (Admin, error) {
	found, ok, err := s.admins().First(ctx, query.FieldValue{Name: fieldExternalID, Value: externalID})
	if err != nil || !ok {
		return Admin{}, err
	}
	a, err := adminFrom(found)
	if err != nil {
		return Admin{}, err
	}
	return *a, nil
}

// adminName returns what others read for an agent: the name, or else the id on the platform.
func (s *core) adminName(ctx context.Context, externalID string) (string, error) {
	a, err := s.admin(ctx, externalID)
	if err != nil || a.Name == "" {
		return externalID, err
	}
	return a.Name, nil
}

// memberOf returns the member of an assignment.
func (s *core) memberOf(ctx context.Context, r *AssignmentRecord) (*member.Member, error) {
	return member.Get(ctx, s.ports.Members, r.Member)
}

// groupMember returns the member of a group, nil where it has none.
func (s *core) groupMember(ctx context.Context, g *Group) (*member.Member, error) {
	if g.Member == "" {
		return nil, nil
	}
	return member.Get(ctx, s.ports.Members, g.Member)
}

// equal is a filter on the records whose field is a text.
func equal(field, text string) document.Object {
	return document.O(field, text)
}

// oldestFirst is the order in which records were made, also in a store that was moved.
func oldestFirst() document.Object { return document.O(record.FieldCreatedAt, 1) }
