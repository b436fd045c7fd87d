package livechat

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/record"
)

// GetAssignment implements Operations.
func (s *Service) GetAssignment(ctx context.Context, p GetAssignmentParams) (_ *Assignment, err error) {
	defer s.guard(ctx, &err)
	if p.AssignmentID == "" {
		return nil, missing("assignmentId", "an assignment")
	}
	found, err := s.loadAssignment(ctx, p.AssignmentID)
	if err != nil {
		return nil, boterr.In("assignmentId", err)
	}
	return &found.Assignment, nil
}

// GetAssignmentByBravoGroupID implements Operations.
func (s *Service) GetAssignmentByBravoGroupID(ctx context.Context, p GetAssignmentByBravoGroupIDParams) (_ *Assignment, err error) {
	defer s.guard(ctx, &err)
	if p.BravoGroupID == "" {
		return nil, missing("bravoGroupId", "a group on Bravo")
	}
	found, err := s.findAssignments(ctx, record.Query{
		Filter: equal(fieldGroupInfo+"."+fieldBravoGroupID, p.BravoGroupID),
		SortBy: oldestFirst(),
	})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, boterr.New(boterr.NotFound, "bravoGroupId", "there is no assignment of a group %s on Bravo here", p.BravoGroupID)
	}
	return &found[len(found)-1].Assignment, nil
}

// GetAssignmentsByMemberID implements Operations.
func (s *Service) GetAssignmentsByMemberID(ctx context.Context, p GetAssignmentsByMemberIDParams) (_ []*Assignment, err error) {
	defer s.guard(ctx, &err)
	if p.MemberID == "" {
		return nil, missing("memberId", "a member")
	}
	return s.shownAssignments(ctx, record.Query{Filter: equal(fieldMember, p.MemberID), SortBy: p.SortBy})
}

// GetAssignmentsByParentAssignmentID implements Operations.
func (s *Service) GetAssignmentsByParentAssignmentID(
	ctx context.Context, p GetAssignmentsByParentAssignmentIDParams,
) (_ []*Assignment, err error) {
	defer s.guard(ctx, &err)
	if p.AssignmentID == "" {
		return nil, missing("assignmentId", "the assignment that was handed on")
	}
	return s.shownAssignments(ctx, record.Query{Filter: equal(fieldParentAssignment, p.AssignmentID)})
}

// FindAssignments returns the assignments of the app as the store keeps them, or an empty
// slice. It is for hosts: those that an agent has, for one, are
//
//	livechats.FindAssignments(ctx, record.Query{Filter: document.O("assignee", agent, "endedAt", nil)})
//
// Filter and SortBy name the JSON fields of AssignmentRecord. InvalidArgument: one of them,
// or a number, is wrong. FailedPrecondition: what is stored is no assignment.
func (s *Service) FindAssignments(ctx context.Context, query record.Query) (_ []*AssignmentRecord, err error) {
	defer s.guard(ctx, &err)
	return s.findAssignments(ctx, query)
}

// findAssignments returns the assignments that match.
func (s *core) findAssignments(ctx context.Context, query record.Query) ([]*AssignmentRecord, error) {
	found, err := s.assignments.Find(ctx, query)
	if err != nil {
		return nil, err
	}
	records := make([]*AssignmentRecord, len(found))
	for i, o := range found {
		if records[i], err = assignmentFrom(o); err != nil {
			return nil, err
		}
	}
	return records, nil
}

// loadAssignment returns the assignment of that id in the app, or NotFound.
func (s *core) loadAssignment(ctx context.Context, id string) (*AssignmentRecord, error) {
	found, err := s.assignments.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return assignmentFrom(found)
}

// shownAssignments returns the assignments that match, as operations show them.
func (s *Service) shownAssignments(ctx context.Context, query record.Query) ([]*Assignment, error) {
	records, err := s.findAssignments(ctx, query)
	if err != nil {
		return nil, err
	}
	shown := make([]*Assignment, len(records))
	for i, r := range records {
		shown[i] = &r.Assignment
	}
	return shown, nil
}

// missing is the error for the id of something that was not given.
func missing(field, of string) error {
	return boterr.Invalid(field, "is missing: give the id of %s", of)
}

// equal is a filter on the records whose field is a text.
func equal(field, text string) document.Object {
	return document.O(field, document.O("$eq", text))
}

// oldestFirst is the order in which records were made, also in a store that was moved.
func oldestFirst() document.Object { return document.O(record.FieldCreatedAt, 1) }
