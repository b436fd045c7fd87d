package livechats

import (
	"context"
	"slices"
	"sync"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/store/query"
)

// GetAssignment implements Operations.
func (s *Service) GetAssignment(ctx context.Context, p livechat.GetAssignmentParams) (*livechat.Assignment, error) {
	found, err := s.namedAssignment(ctx, assignmentByID(p.AssignmentID))
	if err != nil {
		return nil, err
	}
	return &found.Assignment, nil
}

// GetAssignmentByBravoGroupID implements Operations.
func (s *Service) GetAssignmentByBravoGroupID(
	ctx context.Context, p livechat.GetAssignmentByBravoGroupIDParams,
) (*livechat.Assignment, error) {
	if p.BravoGroupID == "" {
		return nil, boterr.Missing("bravoGroupId", "the id of a group on Bravo")
	}
	found, ok, err := newest(ctx, s.assignments(), equal(fieldGroupInfo+"."+fieldBravoGroupID, p.BravoGroupID))
	if err == nil && !ok {
		err = boterr.New(boterr.NotFound, "bravoGroupId", "there is no assignment of a group %s on Bravo here", p.BravoGroupID)
	}
	if err != nil {
		return nil, err
	}
	r, err := assignmentFrom(found)
	if err != nil {
		return nil, err
	}
	return &r.Assignment, nil
}

// GetAssignmentsByMemberID implements Operations.
func (s *Service) GetAssignmentsByMemberID(ctx context.Context, p livechat.GetAssignmentsByMemberIDParams) ([]*livechat.Assignment, error) {
	if _, err := members.ByRequiredID(p.MemberID).Resolve(); err != nil {
		return nil, err
	}
	return s.shownAssignments(ctx, record.Query{Filter: equal(fieldMember, p.MemberID), SortBy: p.SortBy})
}

// GetAssignmentsByParentAssignmentID implements Operations.
func (s *Service) GetAssignmentsByParentAssignmentID(
	ctx context.Context, p livechat.GetAssignmentsByParentAssignmentIDParams,
) ([]*livechat.Assignment, error) {
	if _, err := assignmentByID(p.AssignmentID).Resolve(); err != nil {
		return nil, err
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
func (s *Service) FindAssignments(ctx context.Context, query record.Query) ([]*livechat.AssignmentRecord, error) {
	return s.findAssignments(ctx, query)
}

// shownAssignments returns the assignments that match, as operations show them.
func (s *Service) shownAssignments(ctx context.Context, query record.Query) ([]*livechat.Assignment, error) {
	records, err := s.findAssignments(ctx, query)
	if err != nil {
		return nil, err
	}
	shown := make([]*livechat.Assignment, len(records))
	for i, r := range records {
		shown[i] = &r.Assignment
	}
	return shown, nil
}

// GetAssignmentByOutlet implements Operations.
func (s *Service) GetAssignmentByOutlet(ctx context.Context, p livechat.GetAssignmentByOutletParams) (*livechat.Assignment, error) {
	if _, err := s.namedChannel(ctx, channels.ByRequiredID(p.ChannelID)); err != nil {
		return nil, err
	}
	there, err := s.findAssignments(ctx, record.Query{Filter: openIn(p.ChannelID), SortBy: oldestFirst()})
	if err != nil {
		return nil, err
	}
	own := sync.OnceValues(func() (document.Object, error) { return s.ownMember(ctx) })
	asking := query.NewEvaluation(ctx)
	for _, r := range slices.Backward(there) {
		isMeant, err := matches(asking, metaFilter(r.Meta), own)
		if err != nil {
			return nil, err
		}
		if isMeant {
			return &r.Assignment, nil
		}
	}
	return nil, boterr.New(boterr.NotFound, fieldChannelID, "there is no open assignment in the channel %s", p.ChannelID)
}

// matches reports whether a document, which is asked for where there is a filter, matches.
func matches(asking *query.Evaluation, filter *query.Filter, asked func() (document.Object, error)) (bool, error) {
	if filter == nil {
		return true, nil
	}
	o, err := asked()
	if err != nil {
		return false, err
	}
	isMatch, failed := asking.Check(filter, o)
	if asking.Err() != nil {
		return false, asking.Err()
	}
	return isMatch && failed == nil, nil // A filter that fails on the member does not match.
}

// openIn is a filter on the open assignments in an outlet: one that was taken there or that
// it has directly; while it is nobody's, one with a ticket there.
func openIn(outlet string) document.Object {
	ticketThere := document.O(
		record.FieldChannel, document.O("$eq", outlet),
		fieldSentAt, document.O("$gt", 0),
		fieldRecalledAt, document.O("$not", document.O("$gt", 0)))
	return document.O(
		fieldSlot, isOpenSlot(),
		"$or", document.A(
			equal(fieldOutlet, outlet),
			document.O(fieldOutlet, nil, fieldTickets, document.O("$elemMatch", ticketThere))))
}

// ownMember returns the context's member as a document, an empty one where the context has
// none.
func (s *Service) ownMember(ctx context.Context) (document.Object, error) {
	if s.scope.Member == "" {
		return document.O(), nil
	}
	own, err := members.Load(ctx, s.ports.Members, members.ByRecord(s.scope, nil))
	if err != nil {
		return document.Object{}, err
	}
	return document.Encode(own)
}
