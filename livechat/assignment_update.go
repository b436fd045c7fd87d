package livechat

import (
	"context"
)

// UpdateAssignmentGroup implements Operations.
func (s *Service) UpdateAssignmentGroup(context.Context, UpdateAssignmentGroupParams) (UpdateAssignmentResult, error) {
	return UpdateAssignmentResult{}, notThereYet()
}

// UpdateAssignmentMeta implements Operations.
func (s *Service) UpdateAssignmentMeta(context.Context, UpdateAssignmentMetaParams) (UpdateAssignmentResult, error) {
	return UpdateAssignmentResult{}, notThereYet()
}
