package livechats

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
)

// GetGroup implements Operations.
func (s *Service) GetGroup(ctx context.Context, p livechat.GetGroupParams) (*livechat.Group, error) {
	return s.namedGroup(ctx, groupByID(p.GroupID))
}

// GetGroupByExternalID implements Operations.
func (s *Service) GetGroupByExternalID(ctx context.Context, p livechat.GetGroupByExternalIDParams) (*livechat.Group, error) {
	if p.AdminExternalID == "" && p.GroupID == "" {
		return nil, boterr.Missing(fieldAdminExternalID, "the id of an agent on the outlet's platform, or groupId")
	}
	outlet, err := channels.ByID(s.scope, fieldChannelID, p.ChannelID).Resolve()
	if err != nil {
		return nil, err
	}
	filter, field := equal(fieldOutlet, outlet), fieldGroupID
	if p.AdminExternalID != "" {
		filter, field = filter.With(fieldAdminExternalID, document.O("$eq", p.AdminExternalID)), fieldAdminExternalID
	}
	if p.GroupID != "" {
		filter = filter.With(fieldExternalID, document.O("$eq", p.GroupID))
	}
	if p.Type != "" {
		filter = filter.With(fieldType, document.O("$eq", string(p.Type)))
	}
	g, err := s.latestGroup(ctx, filter)
	return g, boterr.PrefixField(field, err)
}

// GetGroupByGroupExternalID implements Operations.
func (s *Service) GetGroupByGroupExternalID(ctx context.Context, p livechat.GetGroupByGroupExternalIDParams) (*livechat.Group, error) {
	if p.GroupExternalID == "" {
		return nil, boterr.Missing("groupExternalId", "the id of a group on the outlet's platform")
	}
	g, err := s.latestGroup(ctx, equal(fieldExternalID, p.GroupExternalID))
	return g, boterr.PrefixField("groupExternalId", err)
}

// GetGroupByInletGroup implements Operations.
func (s *Service) GetGroupByInletGroup(ctx context.Context, p livechat.GetGroupByInletGroupParams) (*livechat.Group, error) {
	switch {
	case p.Inlet == "":
		return nil, boterr.Missing(fieldInlet, "the id of the inlet channel")
	case p.InletGroupExternalID == "":
		return nil, boterr.Missing(fieldInletGroupExternalID, "the id of a group on the inlet's platform")
	}
	g, err := s.latestGroup(ctx, document.O(
		fieldInletGroupExternalID, document.O("$eq", p.InletGroupExternalID), fieldInlet, document.O("$eq", p.Inlet)))
	return g, boterr.PrefixField(fieldInletGroupExternalID, err)
}

// GetGroupByMemberID implements Operations.
func (s *Service) GetGroupByMemberID(ctx context.Context, p livechat.GetGroupByMemberIDParams) (*livechat.Group, error) {
	if p.Inlet == "" {
		return nil, boterr.Missing(fieldInlet, "the id of the inlet channel")
	}
	if _, err := members.ByRequiredID(p.MemberID).Resolve(); err != nil {
		return nil, err
	}
	g, err := s.latestGroup(ctx, document.O(
		fieldMember, document.O("$eq", p.MemberID), fieldInlet, document.O("$eq", p.Inlet)))
	return g, boterr.PrefixField("memberId", err)
}

// UpdateGroup implements Operations.
func (s *Service) UpdateGroup(ctx context.Context, p livechat.UpdateGroupParams) (livechat.UpdateGroupResult, error) {
	id, err := checkGroup(p.Group)
	if err != nil {
		return livechat.UpdateGroupResult{}, boterr.PrefixField(fieldGroup, err)
	}
	result, err := s.updateGroup(ctx, id, p.Group)
	return result, boterr.PrefixField(fieldGroup, err)
}

// checkGroup refuses a change that would leave a group that nobody can read. It returns
// which group is meant.
func checkGroup(given document.Object) (id string, err error) {
	if given.IsZero() {
		return "", boterr.Missing("", "the _id of a group, and the fields to set")
	}
	changed := document.O()
	for path, value := range given.All() {
		changed.Set(path, value)
	}
	if err := changed.Err(); err != nil {
		return "", err
	}
	var g livechat.Group
	if err := document.Decode(changed, &g); err != nil {
		return "", err
	}
	if meta, isGiven := changed.Field(fieldMeta); isGiven && meta == nil {
		return "", boterr.Invalid(fieldMeta, "must be an object, got null: {} empties it")
	}
	if g.ID == "" {
		return "", record.MissingID(groupKind.Name)
	}
	return g.ID, nil
}

// UpdateGroupMeta implements Operations.
func (s *Service) UpdateGroupMeta(ctx context.Context, p livechat.UpdateGroupMetaParams) (livechat.UpdateGroupResult, error) {
	if _, err := groupByID(p.GroupID).Resolve(); err != nil {
		return livechat.UpdateGroupResult{}, err
	}
	fields, err := fieldsOfMeta(p.Meta)
	if err != nil {
		return livechat.UpdateGroupResult{}, err
	}
	result, err := s.updateGroup(ctx, p.GroupID, fields)
	return result, record.RenameField(err, record.FieldID, fieldGroupID)
}

// InactivateGroup implements Operations.
func (s *Service) InactivateGroup(ctx context.Context, p livechat.InactivateGroupParams) (livechat.RecordUpdate, error) {
	if _, err := groupByID(p.GroupID).Resolve(); err != nil {
		return livechat.RecordUpdate{}, err
	}
	result, err := s.updateGroup(ctx, p.GroupID, document.O(fieldActive, false, fieldValid, false))
	if err != nil {
		return livechat.RecordUpdate{}, record.RenameField(err, record.FieldID, fieldGroupID)
	}
	g := result.Docs[0]
	return recordUpdate(g.ID, g.CreatedAt, g.Version), nil
}

// recordUpdate returns what operations tell of a record that they updated.
func recordUpdate(id string, createdAt document.Timestamp, version int64) livechat.RecordUpdate {
	return livechat.RecordUpdate{
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
func (s *Service) updateGroup(ctx context.Context, id string, fields document.Object) (livechat.UpdateGroupResult, error) {
	found, err := set(ctx, s.groups(), groupKind, id, fields)
	if err != nil {
		return livechat.UpdateGroupResult{}, err
	}
	g, err := groupFrom(found.Document)
	if err != nil {
		return livechat.UpdateGroupResult{}, err
	}
	return livechat.UpdateGroupResult{
		DocsIDs:  livechat.DocsIDs{Updated: []string{id}},
		Docs:     []*livechat.Group{g},
		Modified: modified(found),
	}, nil
}
