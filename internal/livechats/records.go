package livechats

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

// The fields of assignments.
const (
	fieldAssignedAt       = "assignedAt"
	fieldAssignee         = "assignee"
	fieldExpiry           = "expiry"
	fieldGroup            = "group"
	fieldGroupInfo        = "groupInfo"
	fieldBravoGroupID     = "bravoGroupId"
	fieldHistory          = "history"
	fieldInlet            = "inlet"
	fieldMember           = "member"
	fieldMeta             = "meta"
	fieldParentAssignment = "parentAssignment"
	fieldRelayMessage     = "relayMessage"
	fieldTargets          = "targets"
	fieldSlot             = "slot"
	fieldLabel            = "label"
	fieldSummary          = "summary"
	fieldGroupName        = "groupName"
	fieldTakenMessage     = "takenMessage"
	fieldCreateGroup      = "createGroup"
	fieldOutOfLiveChat    = "outOfLiveChat"
	fieldTickets          = "tickets"
	fieldDirect           = "direct"
	fieldSender           = "sender"
	fieldOutlet           = "outlet"
	fieldSentAt           = "sentAt"
	fieldSummarySentAt    = "summarySentAt"
	fieldTakenAt          = "takenAt"
	fieldRecalledAt       = "recalledAt"
	fieldEndedAt          = "endedAt"
	fieldEndedBy          = "endedBy"
	fieldClosedAt         = "closedAt"
	fieldHeardUntil       = "heardUntil"
	fieldEndReason        = "endReason"
	fieldKept             = "kept"
	fieldKeptSender       = "keptSender"
	fieldWaitingToldAt    = "waitingToldAt"
	fieldOverTold         = "overTold"
)

var assignmentSchema = &record.Schema{
	Name:       "assignment",
	Collection: "assignments",
	Stamps:     []string{record.FieldCreatedAt, record.FieldUpdatedAt, record.FieldVersion, record.FieldEtag},
	Fixed:      []string{record.FieldCreatedAt, record.FieldApp, fieldInlet, fieldMember},
}

// assignmentFrom decodes a stored assignment. Missing meta and targets become empty.
func assignmentFrom(o document.Object) (*livechat.AssignmentRecord, error) {
	r, err := record.Read[livechat.AssignmentRecord](assignmentSchema, o)
	if err != nil {
		return nil, err
	}
	if r.Meta.IsZero() {
		r.Meta = document.O()
	}
	if r.Targets == nil {
		r.Targets = []livechat.Target{}
	}
	return r, nil
}

// Fields that only groups have.
const (
	fieldName                 = "name"
	fieldActive               = "active"
	fieldValid                = "valid"
	fieldExternalID           = "externalId"
	fieldType                 = "type"
	fieldAdminExternalID      = "adminExternalId"
	fieldAdmin                = "admin"
	fieldAssignment           = "assignment"
	fieldInletGroupExternalID = "inletGroupExternalId"
)

var groupSchema = &record.Schema{
	Name:       "group",
	Collection: "groups",
	Stamps:     []string{record.FieldCreatedAt, record.FieldUpdatedAt, record.FieldVersion},
}

// groupFrom decodes a stored group. A missing meta becomes empty.
func groupFrom(o document.Object) (*livechat.Group, error) {
	g, err := record.Read[livechat.Group](groupSchema, o)
	if err != nil {
		return nil, err
	}
	if g.Meta.IsZero() {
		g.Meta = document.O()
	}
	return g, nil
}

// groupInfo returns the groupInfo of an assignment for its group.
func groupInfo(g *livechat.Group) document.Object {
	info := document.O(fieldExternalID, g.ExternalID, fieldName, g.Name, fieldType, string(g.Type))
	if g.Type == channel.Bravo {
		info = info.With(fieldBravoGroupID, g.ExternalID)
	}
	return info
}

// newGroup returns a new group for an assignment. Its external id is not set.
func newGroup(r *livechat.AssignmentRecord, outletID string, platform channel.Type, m *member.Member) livechat.Group {
	return livechat.Group{
		Inlet: r.Inlet, Outlet: outletID, Name: cmp.Or(r.GroupName, nameOf(m)), Meta: document.O(), Active: true, Valid: true,
		Type: platform, Assignment: r.ID, Member: r.Member, InletGroupExternalID: inletGroupID(r),
	}
}

// nameOf returns a member's name for agents, shortened to longestName code points.
func nameOf(m *member.Member) string {
	if name := strings.TrimSpace(m.FirstName + " " + m.LastName); name != "" {
		return shortened(name, longestName)
	}
	return m.ID
}

// FindAssignments returns the assignments of the app that match, as stored, or an empty slice.
//
// InvalidArgument: the filter, the order or a limit is invalid. FailedPrecondition: a stored record is not an
// assignment.
func (s *Service) FindAssignments(ctx context.Context, query record.Query) ([]*livechat.AssignmentRecord, error) {
	found, err := s.assignments().Find(ctx, query)
	if err != nil {
		return nil, err
	}
	return record.ReadAll(found, assignmentFrom)
}

// ListAssignments is like FindAssignments, but one record does not hide the others: if a stored record is not an
// assignment, unreadable gets the error, and the result has an assignment with only its ID.
func (s *Service) ListAssignments(
	ctx context.Context, query record.Query, unreadable func(context.Context, error),
) ([]*livechat.AssignmentRecord, error) {
	found, err := s.assignments().Find(ctx, query)
	if err != nil {
		return nil, err
	}
	return record.ReadEach(ctx, found, assignmentFrom, unreadable)
}

// loadAssignment returns the app's assignment with an id, or NotFound.
func (s *Service) loadAssignment(ctx context.Context, id string) (*livechat.AssignmentRecord, error) {
	found, err := s.assignments().Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return assignmentFrom(found)
}

// findAssignment is loadAssignment, but returns nil if there is no such assignment.
func (s *Service) findAssignment(ctx context.Context, id string) (*livechat.AssignmentRecord, error) {
	r, err := s.loadAssignment(ctx, id)
	if errors.Is(err, boterr.NotFound) {
		return nil, nil
	}
	return r, err
}

// assignmentOf returns the assignment of a group, or nil. Among the assignments that refer to the group, it prefers
// the open one to which the group refers, then the newest. If none refer to the group, it returns the assignment to
// which the group refers.
func (s *Service) assignmentOf(ctx context.Context, g *livechat.Group) (*livechat.AssignmentRecord, error) {
	var named *livechat.AssignmentRecord
	if g.Assignment != "" {
		var err error
		if named, err = s.findAssignment(ctx, g.Assignment); err != nil {
			return nil, err
		}
		if named != nil && named.Group == g.ID && named.State() != livechat.Ended {
			return named, nil
		}
	}
	found, err := newest(ctx, s.assignments(), document.O(fieldGroup, g.ID), assignmentFrom)
	if err != nil || found == nil {
		return named, err
	}
	return found, nil
}

// newest returns the newest matching record, or nil. If records were created at the same time, it returns the one
// inserted last. With an index for the filter and createdAt, further matches do not slow it down.
func newest[T any](
	ctx context.Context, of *record.Collection, filter document.Object, read func(document.Object) (*T, error),
) (*T, error) {
	last, err := of.Find(ctx, record.Query{Filter: filter, SortBy: document.O(record.FieldCreatedAt, -1), Limit: 2})
	if err != nil || len(last) == 0 {
		return nil, err
	}
	at := last[0].Value(record.FieldCreatedAt)
	if len(last) == 1 || at == document.Missing || !document.Equal(at, last[1].Value(record.FieldCreatedAt)) {
		return read(last[0])
	}
	same, err := of.Find(ctx, record.Query{Filter: filter.With(record.FieldCreatedAt, at)})
	if err != nil {
		return nil, err
	}
	if len(same) == 0 { // They were removed meanwhile.
		same = last[:1]
	}
	return read(same[len(same)-1])
}

// openAssignment returns the assignment in a member's slot, which is being sent, pending or taken, or nil.
func (s *Service) openAssignment(ctx context.Context, memberID string) (*livechat.AssignmentRecord, error) {
	return s.oneAssignment(ctx, document.O(fieldSlot, openSlot(memberID)))
}

// oneAssignment returns a matching assignment, or nil.
func (s *Service) oneAssignment(ctx context.Context, filter document.Object) (*livechat.AssignmentRecord, error) {
	found, err := s.FindAssignments(ctx, record.Query{Filter: filter, Limit: 1})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// modify changes an assignment that meets a condition and returns it. If it does not meet the condition, modify
// returns nil.
func (s *Service) modify(ctx context.Context, id string, condition, update document.Object) (*livechat.AssignmentRecord, error) {
	found, err := s.assignments().Where(record.FieldID, id).FindAndModify(ctx, record.Patch{
		Filter: condition, Patch: update, WithModifier: true,
	}, true)
	if err != nil || !found.Matched {
		return nil, err
	}
	return assignmentFrom(found.Document)
}

// findGroups returns the matching groups, oldest first.
func (s *Service) findGroups(ctx context.Context, filter document.Object) ([]*livechat.Group, error) {
	found, err := s.groups().Find(ctx, record.Query{Filter: filter, SortBy: oldestFirst()})
	if err != nil {
		return nil, err
	}
	return record.ReadAll(found, groupFrom)
}

// liveGroupsIn returns the live groups of an outlet with an external id, oldest first.
func (s *Service) liveGroupsIn(ctx context.Context, outletID, externalID string) ([]*livechat.Group, error) {
	found, err := record.FindEqual(ctx, s.env, groupSchema, s.scope.App,
		query.FieldValue{Name: fieldOutlet, Value: outletID},
		query.FieldValue{Name: fieldExternalID, Value: externalID},
		query.FieldValue{Name: fieldActive, Value: true},
	)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	groups, err := record.ReadAll(found, groupFrom)
	slices.SortStableFunc(groups, func(a, b *livechat.Group) int { return cmp.Compare(a.CreatedAt, b.CreatedAt) })
	return groups, err
}

// loadGroup returns the app's group with an id, or NotFound.
func (s *Service) loadGroup(ctx context.Context, id string) (*livechat.Group, error) {
	found, err := s.groups().Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return groupFrom(found)
}

// liveGroup returns the group with an id if it is live, or nil.
func (s *Service) liveGroup(ctx context.Context, id string) (*livechat.Group, error) {
	g, err := s.loadGroup(ctx, id)
	if errors.Is(err, boterr.NotFound) || err == nil && !g.Active {
		return nil, nil
	}
	return g, err
}

// latestGroup returns the newest matching live group, else the newest matching group. If there is none, the error is
// NotFound for a field.
func (s *Service) latestGroup(ctx context.Context, field string, filter document.Object) (*livechat.Group, error) {
	g, err := s.newestGroup(ctx, filter, liveFirst)
	if err == nil && g == nil {
		err = boterr.New(boterr.NotFound, "", "the app has no group with these ids")
	}
	return g, boterr.PrefixField(field, err)
}

// liveFirst and onlyOver are the values of the active field that newestGroup tries, in this order. nil matches records
// without the field, which other programs may have written.
var (
	liveFirst = []any{true, false, nil}
	onlyOver  = []any{false, nil}
)

// newestGroup tries the given values of the active field in order, and returns the newest matching group with
// the first value that has one, or nil.
func (s *Service) newestGroup(ctx context.Context, filter document.Object, active []any) (*livechat.Group, error) {
	for _, value := range active {
		g, err := newest(ctx, s.groups(), filter.With(fieldActive, value), groupFrom)
		if err != nil || g != nil {
			return g, err
		}
	}
	return nil, nil
}

// inConversation returns the filter for the groups of an outlet with an external id.
func inConversation(outletID, externalID string) document.Object {
	return document.O(fieldOutlet, outletID, fieldExternalID, externalID)
}

func (s *Service) insertGroup(ctx context.Context, g livechat.Group) (*livechat.Group, error) {
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

// admin returns the agent with an id on an outlet's platform, or the zero Admin.
func (s *Service) admin(ctx context.Context, externalID string) (livechat.Admin, error) {
	found, ok, err := s.admins().First(ctx, query.FieldValue{Name: fieldExternalID, Value: externalID})
	if err != nil || !ok {
		return livechat.Admin{}, err
	}
	a, err := adminFrom(found)
	if err != nil {
		return livechat.Admin{}, err
	}
	return *a, nil
}

// adminName returns the name of an agent, or the id on the platform if the agent has no name.
func (s *Service) adminName(ctx context.Context, externalID string) (string, error) {
	a, err := s.admin(ctx, externalID)
	if err != nil || a.Name == "" {
		return externalID, err
	}
	return a.Name, nil
}

// groupMember returns the member of a group, or nil.
func (s *Service) groupMember(ctx context.Context, g *livechat.Group) (*member.Member, error) {
	if g.Member == "" {
		return nil, nil
	}
	return members.Get(ctx, s.ports.Members, g.Member)
}

// oldestFirst sorts records by the time of their creation. Unlike the order of insertion, this order survives a move
// of the store.
func oldestFirst() document.Object { return document.O(record.FieldCreatedAt, 1) }
