package livechats

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/store"
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
		return nil, boterr.Missing(fieldBravoGroupID, "the id of a group on Bravo")
	}
	r, err := newest(ctx, s.assignments(), document.O(fieldGroupInfo+"."+fieldBravoGroupID, p.BravoGroupID), assignmentFrom)
	if err == nil && r == nil {
		err = boterr.New(boterr.NotFound, fieldBravoGroupID, "the app has no assignment with the Bravo group %s", p.BravoGroupID)
	}
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
	return s.shownAssignments(ctx, record.Query{Filter: document.O(fieldMember, p.MemberID), SortBy: p.SortBy})
}

// GetAssignmentsByParentAssignmentID implements Operations.
func (s *Service) GetAssignmentsByParentAssignmentID(
	ctx context.Context, p livechat.GetAssignmentsByParentAssignmentIDParams,
) ([]*livechat.Assignment, error) {
	if _, err := assignmentByID(p.AssignmentID).Resolve(); err != nil {
		return nil, err
	}
	return s.shownAssignments(ctx, record.Query{Filter: document.O(fieldParentAssignment, p.AssignmentID)})
}

// shownAssignments returns the matching assignments as operations return them.
func (s *Service) shownAssignments(ctx context.Context, query record.Query) ([]*livechat.Assignment, error) {
	records, err := s.FindAssignments(ctx, query)
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
	if _, err := channels.Load(ctx, s.ports.Channels, channels.ByRequiredID(p.ChannelID)); err != nil {
		return nil, err
	}
	there, err := s.assignments().Find(ctx, record.Query{Filter: openIn(p.ChannelID), SortBy: oldestFirst()})
	if err != nil {
		return nil, err
	}
	own := sync.OnceValues(func() (document.Object, error) { return s.ownMember(ctx) })
	asking := query.NewEvaluation(ctx)
	for _, o := range slices.Backward(there) {
		r, err := assignmentFrom(o)
		if err != nil { // It must not hide the others.
			s.ports.Unreadable(ctx, err)
			continue
		}
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

// matches reports whether a document matches filter; a nil filter matches all. asked loads the document if
// there is a filter.
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
	return isMatch && failed == nil, nil // A filter that fails on the member counts as no match.
}

// openIn returns the filter for the open assignments of an outlet: taken there, sent there directly, or untaken with
// a ticket there.
func openIn(outlet string) document.Object {
	ticketThere := document.O(
		record.FieldChannel, document.O("$eq", outlet),
		fieldSentAt, document.O("$gt", 0),
		fieldRecalledAt, document.O("$not", document.O("$gt", 0)))
	return document.O(
		fieldSlot, isOpenSlot(),
		"$or", document.A(
			document.O(fieldOutlet, outlet),
			document.O(fieldOutlet, nil, fieldTickets, document.O("$elemMatch", ticketThere))))
}

// ownMember returns the context's member as a document, or an empty document if the context has none.
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

// UpdateAssignmentGroup implements Operations.
func (s *Service) UpdateAssignmentGroup(
	ctx context.Context, p livechat.UpdateAssignmentGroupParams,
) (livechat.UpdateAssignmentResult, error) {
	if _, err := assignmentByID(p.AssignmentID).Resolve(); err != nil {
		return livechat.UpdateAssignmentResult{}, err
	}
	update := s.linkGivenGroup
	if p.Group == nil && p.BravoGroupID != "" {
		update = s.linkBravoGroup
	}
	r, isChanged, err := update(ctx, p)
	if err != nil {
		return livechat.UpdateAssignmentResult{}, err
	}
	return updatedAssignment(r, isChanged), nil
}

// linkGivenGroup links the group that a call names to an assignment.
func (s *Service) linkGivenGroup(ctx context.Context, p livechat.UpdateAssignmentGroupParams) (*livechat.AssignmentRecord, bool, error) {
	g, err := s.namedGroup(ctx, groupByRecord(p.Group))
	if err != nil {
		return nil, false, err
	}
	if p.BravoGroupID != "" && g.Type != channel.Bravo {
		if s.ports.IsStrict {
			return nil, false, boterr.Invalid(fieldBravoGroupID, "is only for bravo, but the group is of type %q: leave it out", g.Type)
		}
		p.BravoGroupID = ""
	}
	r, err := s.namedAssignment(ctx, assignmentByID(p.AssignmentID))
	if err != nil {
		return nil, false, err
	}
	return s.linkGroup(ctx, r, g, p.BravoGroupID)
}

// UpdateAssignmentMeta implements Operations.
func (s *Service) UpdateAssignmentMeta(
	ctx context.Context, p livechat.UpdateAssignmentMetaParams,
) (livechat.UpdateAssignmentResult, error) {
	if _, err := assignmentByID(p.AssignmentID).Resolve(); err != nil {
		return livechat.UpdateAssignmentResult{}, err
	}
	fields, err := fieldsOfMeta(p.Meta)
	if err != nil {
		return livechat.UpdateAssignmentResult{}, err
	}
	found, err := set(ctx, s.assignments(), assignmentSchema, p.AssignmentID, fields)
	if err != nil {
		return livechat.UpdateAssignmentResult{}, record.RenameField(err, record.FieldID, fieldAssignmentID)
	}
	r, err := assignmentFrom(found.Document)
	if err != nil {
		return livechat.UpdateAssignmentResult{}, err
	}
	return updatedAssignment(r, found.Modified), nil
}

// fieldsOfMeta returns the fields to set for an update of meta.
func fieldsOfMeta(meta document.Object) (document.Object, error) {
	if meta.IsZero() {
		return document.Object{}, boterr.Missing(fieldMeta, "the fields to set")
	}
	pairs := make([]any, 0, 2*meta.Len())
	for path, value := range meta.All() {
		if err := checkMetaPath(path); err != nil {
			return document.Object{}, err
		}
		pairs = append(pairs, fieldMeta+"."+path, value)
	}
	return document.O(pairs...), boterr.PrefixField(fieldMeta, meta.Err())
}

func updatedAssignment(r *livechat.AssignmentRecord, isModified bool) livechat.UpdateAssignmentResult {
	return livechat.UpdateAssignmentResult{
		DocsIDs: livechat.DocsIDs{Updated: []string{r.ID}}, Docs: []*livechat.Assignment{&r.Assignment}, Modified: modified(isModified),
	}
}

// GetAssignmentsByMeta implements Operations.
func (s *Service) GetAssignmentsByMeta(ctx context.Context, p livechat.GetAssignmentsByMetaParams) ([]*livechat.Assignment, error) {
	if p.Meta.IsZero() {
		return nil, boterr.Missing(fieldMeta, "the data that meta must contain; {} means all")
	}
	if err := p.Meta.Err(); err != nil {
		return nil, boterr.PrefixField(fieldMeta, err)
	}
	if err := refuseOperators(p.Meta); err != nil {
		return nil, boterr.PrefixField(fieldMeta, err)
	}
	pairs := make([]any, 0, 2*p.Meta.Len())
	for path, value := range p.Meta.All() {
		pairs = append(pairs, fieldMeta+"."+path, document.O("$eq", value, "$exists", true))
	}
	shown, err := s.shownAssignments(ctx, record.Query{Filter: document.O(pairs...)})
	return shown, record.RenameField(err, "filter", "")
}

// refuseOperators returns an error if data contains an operator at any depth: a name that starts with $, also within
// a path. The Field of the error is the path.
func refuseOperators(data document.Object) error {
	for path, value := range data.All() {
		for name := range strings.SplitSeq(path, ".") {
			if isOperator(name) {
				return boterr.Invalid(path, "%s is an operator: give the value itself, which is compared as equal", name)
			}
		}
		if err := refuseOperatorsIn(value); err != nil {
			return boterr.PrefixField(path, err)
		}
	}
	return nil
}

func refuseOperatorsIn(value any) error {
	switch v := value.(type) {
	case document.Object:
		return refuseOperators(v)
	case document.Array:
		for i, item := range v.All() {
			if err := refuseOperatorsIn(item); err != nil {
				return boterr.PrefixField("["+strconv.Itoa(i)+"]", err)
			}
		}
	}
	return nil
}

func isOperator(name string) bool { return strings.HasPrefix(name, "$") }

// metaFilter returns the conditions on the member in an assignment's meta: operators such as $or, or operators
// on a field such as {"locale": {"$in": ["de", "fr"]}}. Other fields are data. It returns nil if there are no
// conditions, or if they do not form a valid filter.
func metaFilter(meta document.Object) *query.Filter {
	conditions := document.O()
	for name, value := range meta.All() {
		operators, _ := value.(document.Object)
		if isOperator(name) || hasOperator(operators) {
			conditions = conditions.With(name, value)
		}
	}
	if conditions.Len() == 0 {
		return nil
	}
	filter, err := query.CompileFilter(conditions)
	if err != nil {
		return nil
	}
	return filter
}

// hasOperator reports whether an object has a name that starts with $.
func hasOperator(o document.Object) bool {
	for name := range o.All() {
		if isOperator(name) {
			return true
		}
	}
	return false
}

// set sets fields of the record with an id, and returns the changed record. If no record has the id, the error is
// NotFound for the field _id, and names the kind of record. Other errors name the field.
func set(
	ctx context.Context, records *record.Collection, kind *record.Schema, id string, fields document.Object,
) (store.FindAndModifyResult, error) {
	found, err := records.Where(record.FieldID, id).FindAndModify(ctx, record.Patch{Patch: fields}, true)
	if err != nil {
		return store.FindAndModifyResult{}, record.RenameField(err, "patch", "")
	}
	if !found.Matched {
		return store.FindAndModifyResult{}, boterr.New(boterr.NotFound, record.FieldID, "there is no %s %s here", kind.Name, id)
	}
	return found, nil
}

// withFields returns an object with the fields at dotted paths set. Like an update in the store, it has a budget.
func withFields(ctx context.Context, o, fields document.Object) (document.Object, error) {
	if fields.Len() == 0 {
		return o, fields.Err()
	}
	update, err := query.CompileUpdate(document.O("$set", fields))
	if err != nil {
		return o, record.RenameField(err, "$set", "")
	}
	if o.IsZero() {
		o = document.O()
	}
	changed, _, err := query.NewEvaluation(ctx).Change(query.Change{Update: update}, nil, o)
	return changed, record.RenameField(err, "update", "")
}

// modified returns how many records an update of one record changed.
func modified(isModified bool) int64 { return map[bool]int64{true: 1}[isModified] }

// checkMetaPath returns an error for a path in meta that contains an operator.
func checkMetaPath(path string) error {
	for name := range strings.SplitSeq(path, ".") {
		if isOperator(name) {
			return boterr.Invalid(fieldMeta+"."+path, "a name cannot begin with $: give the field and its value")
		}
	}
	return nil
}
