package livechat

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/record"
)

// UpdateGroup implements Operations.
func (s *Service) UpdateGroup(ctx context.Context, p UpdateGroupParams) (_ UpdateGroupResult, err error) {
	defer s.guard(ctx, &err)
	id, err := checkGroup(p.Group)
	if err != nil {
		return UpdateGroupResult{}, boterr.In(fieldGroup, err)
	}
	result, err := s.updateGroup(ctx, id, p.Group)
	return result, boterr.In(fieldGroup, err)
}

// checkGroup refuses a change that would leave a group that nobody can read. It returns
// which group is meant.
func checkGroup(given document.Object) (id string, err error) {
	if given.IsZero() {
		return "", boterr.Invalid("", "is missing: give the _id of a group, and the fields to set")
	}
	changed := document.O()
	for path, value := range given.All() {
		changed.Set(path, value)
	}
	if err := changed.Err(); err != nil {
		return "", err
	}
	var g Group
	if err := document.Decode(changed, &g); err != nil {
		return "", err
	}
	if meta, isGiven := changed.Field(fieldMeta); isGiven && meta == nil {
		return "", boterr.Invalid(fieldMeta, "must be an object, got null: {} empties it")
	}
	if g.ID == "" {
		return "", boterr.Invalid(record.FieldID, "is missing: a group is found by its _id")
	}
	return g.ID, nil
}

// UpdateGroupMeta implements Operations.
func (s *Service) UpdateGroupMeta(ctx context.Context, p UpdateGroupMetaParams) (_ UpdateGroupResult, err error) {
	defer s.guard(ctx, &err)
	if p.GroupID == "" {
		return UpdateGroupResult{}, missing("groupId", "a group")
	}
	fields, err := fieldsOfMeta(p.Meta)
	if err != nil {
		return UpdateGroupResult{}, err
	}
	result, err := s.updateGroup(ctx, p.GroupID, fields)
	return result, record.RenameField(err, record.FieldID, "groupId")
}

// InactivateGroup implements Operations.
func (s *Service) InactivateGroup(ctx context.Context, p InactivateGroupParams) (_ RecordUpdate, err error) {
	defer s.guard(ctx, &err)
	if p.GroupID == "" {
		return RecordUpdate{}, missing("groupId", "a group")
	}
	result, err := s.updateGroup(ctx, p.GroupID, document.O(fieldActive, false, fieldValid, false))
	if err != nil {
		return RecordUpdate{}, record.RenameField(err, record.FieldID, "groupId")
	}
	g := result.Docs[0]
	return recordUpdate(g.ID, g.CreatedAt, g.Version), nil
}

// recordUpdate returns what operations tell of a record that they updated.
func recordUpdate(id string, createdAt document.Timestamp, version int64) RecordUpdate {
	return RecordUpdate{
		ID:        id,
		Email:     document.O(),
		CreatedAt: createdAt,
		Apps:      []document.Object{},
		ACLs:      []string{},
		Version:   version,
	}
}

// updateGroup sets fields of a group. NotFound at _id: the app has no such group. Of a field
// that cannot be set the error names the path.
func (s *Service) updateGroup(ctx context.Context, id string, fields document.Object) (UpdateGroupResult, error) {
	found, err := set(ctx, s.groups, groupKind(), id, fields)
	if err != nil {
		return UpdateGroupResult{}, err
	}
	g, err := groupFrom(found.Document)
	if err != nil {
		return UpdateGroupResult{}, err
	}
	return UpdateGroupResult{
		DocsIDs:  DocsIDs{Updated: []string{id}},
		Docs:     []*Group{g},
		Modified: modified(found),
	}, nil
}
