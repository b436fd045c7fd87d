package livechat

import (
	"context"
)

// RemovePendingAssignmentByMemberID implements Operations.
func (s *Service) RemovePendingAssignmentByMemberID(
	context.Context, RemovePendingAssignmentByMemberIDParams,
) (RemovePendingAssignmentByMemberIDResult, error) {
	return RemovePendingAssignmentByMemberIDResult{}, notThereYet()
}
