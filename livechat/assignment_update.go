package livechat

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/record"
)

// UpdateAssignmentGroup implements Operations.
func (s *Service) UpdateAssignmentGroup(ctx context.Context, p UpdateAssignmentGroupParams) (UpdateAssignmentResult, error) {
	if p.AssignmentID == "" {
		return UpdateAssignmentResult{}, missing("assignmentId", "an assignment")
	}
	g, err := s.addressedGroup(ctx, p.Group)
	if err != nil {
		return UpdateAssignmentResult{}, err
	}
	info := g.info()
	if p.BravoGroupID != "" {
		if s.ports.IsStrict && g.Type != channel.Bravo {
			return UpdateAssignmentResult{}, boterr.Invalid(fieldBravoGroupID,
				"is for bravo alone, and the group is of type %q", g.Type)
		}
		info = info.With(fieldBravoGroupID, p.BravoGroupID)
	}
	return s.updateAssignment(ctx, p.AssignmentID, document.O(fieldGroup, g.ID, fieldGroupInfo, info))
}

// UpdateAssignmentMeta implements Operations.
func (s *Service) UpdateAssignmentMeta(ctx context.Context, p UpdateAssignmentMetaParams) (UpdateAssignmentResult, error) {
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
	return UpdateAssignmentResult{
		DocsIDs:  DocsIDs{Updated: []string{id}},
		Docs:     []*Assignment{&r.Assignment},
		Modified: modified(found),
	}, nil
}
