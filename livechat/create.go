package livechat

import (
	"context"
)

// CreateAssignment implements Operations.
func (s *Service) CreateAssignment(context.Context, CreateAssignmentParams) (CreateAssignmentResult, error) {
	return CreateAssignmentResult{}, notThereYet()
}
