package livechat

import (
	"context"
)

// UpdateGroup implements Operations.
func (s *Service) UpdateGroup(context.Context, UpdateGroupParams) (UpdateGroupResult, error) {
	return UpdateGroupResult{}, notThereYet()
}

// UpdateGroupMeta implements Operations.
func (s *Service) UpdateGroupMeta(context.Context, UpdateGroupMetaParams) (UpdateGroupResult, error) {
	return UpdateGroupResult{}, notThereYet()
}

// InactivateGroup implements Operations.
func (s *Service) InactivateGroup(context.Context, InactivateGroupParams) (RecordUpdate, error) {
	return RecordUpdate{}, notThereYet()
}
