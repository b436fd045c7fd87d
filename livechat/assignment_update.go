package livechat

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/record"
)

// UpdateAssignmentGroup implements Operations.
func (s *Service) UpdateAssignmentGroup(ctx context.Context, p UpdateAssignmentGroupParams) (_ UpdateAssignmentResult, err error) {
	defer s.guard(ctx, &err)
	if p.AssignmentID == "" {
		return UpdateAssignmentResult{}, missing("assignmentId", "an assignment")
	}
	update := s.linkGivenGroup
	if p.Group == nil && p.BravoGroupID != "" {
		update = s.linkBravoGroup
	}
	r, isChanged, err := update(ctx, p)
	if err != nil {
		return UpdateAssignmentResult{}, err
	}
	result := updatedAssignment(r, 0)
	if isChanged {
		result.Modified = 1
	}
	return result, nil
}

// linkGivenGroup makes the group that a call names that of an assignment.
func (s *Service) linkGivenGroup(ctx context.Context, p UpdateAssignmentGroupParams) (*AssignmentRecord, bool, error) {
	g, err := s.conversations.addressedGroup(ctx, p.Group)
	if err != nil {
		return nil, false, err
	}
	if p.BravoGroupID != "" && s.ports.IsStrict && g.Type != channel.Bravo {
		return nil, false, boterr.Invalid(fieldBravoGroupID, "is for bravo alone, and the group is of type %q", g.Type)
	}
	r, err := s.loadAssignment(ctx, p.AssignmentID)
	if err != nil {
		return nil, false, boterr.In("assignmentId", err)
	}
	return s.machine.linkGroup(ctx, r, g, p.BravoGroupID)
}

// UpdateAssignmentMeta implements Operations.
func (s *Service) UpdateAssignmentMeta(ctx context.Context, p UpdateAssignmentMetaParams) (_ UpdateAssignmentResult, err error) {
	defer s.guard(ctx, &err)
	if p.AssignmentID == "" {
		return UpdateAssignmentResult{}, missing("assignmentId", "an assignment")
	}
	fields, err := fieldsOfMeta(p.Meta)
	if err != nil {
		return UpdateAssignmentResult{}, err
	}
	return s.updateAssignment(ctx, p.AssignmentID, fields)
}

// fieldsOfMeta returns the fields to set that an update of meta means.
func fieldsOfMeta(meta document.Object) (document.Object, error) {
	if meta.IsZero() {
		return document.Object{}, boterr.Invalid(fieldMeta, "is missing: give the fields to set")
	}
	pairs := make([]any, 0, 2*meta.Len())
	for path, value := range meta.All() {
		if err := checkMetaPath(path); err != nil {
			return document.Object{}, err
		}
		pairs = append(pairs, fieldMeta+"."+path, value)
	}
	return document.O(pairs...), boterr.In(fieldMeta, meta.Err())
}

// updateAssignment sets fields of an assignment. Of a field that cannot be set the error
// names the path.
func (s *Service) updateAssignment(ctx context.Context, id string, fields document.Object) (UpdateAssignmentResult, error) {
	found, err := set(ctx, s.assignments, assignmentKind(), id, fields)
	if err != nil {
		return UpdateAssignmentResult{}, record.RenameField(err, record.FieldID, "assignmentId")
	}
	r, err := assignmentFrom(found.Document)
	if err != nil {
		return UpdateAssignmentResult{}, err
	}
	return updatedAssignment(r, modified(found)), nil
}

// updatedAssignment tells of an assignment that an update matched.
func updatedAssignment(r *AssignmentRecord, modified int64) UpdateAssignmentResult {
	return UpdateAssignmentResult{
		DocsIDs: DocsIDs{Updated: []string{r.ID}}, Docs: []*Assignment{&r.Assignment}, Modified: modified,
	}
}
