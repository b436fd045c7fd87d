package livechat

import (
	"context"
)

// ReassignAssignment implements Operations.
func (s *Service) ReassignAssignment(context.Context, ReassignAssignmentParams) (ReassignAssignmentResult, error) {
	return ReassignAssignmentResult{}, notThereYet()
}
