package livechat

import (
	"context"
)

// AddNewTargetsToAssignment implements Operations.
func (s *Service) AddNewTargetsToAssignment(context.Context, AddNewTargetsToAssignmentParams) (AddNewTargetsToAssignmentResult, error) {
	return AddNewTargetsToAssignmentResult{}, notThereYet()
}
